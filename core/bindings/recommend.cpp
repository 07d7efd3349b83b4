#include "bindings/common.hpp"
#include "recommend/local_regressions.hpp"

namespace tacit::bindings {

void register_recommend(nb::module_& m) {
  m.def(
      "local_regressions",
      [](const Ints& start, const Indices& columns, const In<double>& counts,
         const Ints& near_start, const Indices& near, const In<double>& shift, double l2,
         int n_jobs) {
        const auto n = static_cast<std::int64_t>(shift.shape(0));
        require(start.shape(0) == shift.shape(0) + 1, "start has not an entry for each item");
        require(near_start.shape(0) == start.shape(0), "near_start has not an entry for each item");
        const SparseSquare gram{n, start.data(), columns.data(), counts.data()};
        Buffer<double> weights(near.shape(0));
        run([&] {
          local_regressions(gram, near_start.data(), near.data(), shift.data(), l2, weights.data(),
                            n_jobs, signal_pending);
        });
        return to_numpy(std::move(weights), {near.shape(0)});
      },
      nb::arg("start"), nb::arg("columns"), nb::arg("counts"), nb::arg("near_start"),
      nb::arg("near"), nb::arg("shift"), nb::arg("l2"), nb::arg("n_jobs"),
      nb::sig("def local_regressions(start: Ints, columns: Indices, counts: Floats, "
              "near_start: Ints, near: Indices, shift: Floats, l2: float, n_jobs: int) -> Floats"),
      "Ridge regressions of items on a few others each.");
}

}  // namespace tacit::bindings
