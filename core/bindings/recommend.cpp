#include "bindings/common.hpp"
#include "recommend/local_regressions.hpp"
#include "recommend/strongest_residuals.hpp"

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

  m.def(
      "strongest_residuals",
      [](const Ints& start, const Indices& columns, const In<double>& counts,
         const Ints& near_start, const Indices& near, const In<double>& weights,
         const In<double>& shift, const In<double>& scale, std::int64_t most, int n_jobs) {
        const auto n = static_cast<std::int64_t>(shift.shape(0));
        require(start.shape(0) == shift.shape(0) + 1, "start has not an entry for each item");
        require(near_start.shape(0) == start.shape(0), "near_start has not an entry for each item");
        require(weights.shape(0) == near.shape(0), "weights has not an entry for each neighbour");
        require(scale.shape(0) == shift.shape(0), "scale has not an entry for each item");
        for (std::int64_t j = 0; j < n; ++j) {
          require(near_start.data()[j + 1] - near_start.data()[j] <= most,
                  "an item has more neighbours than most");
        }
        const SparseSquare gram{n, start.data(), columns.data(), counts.data()};
        Buffer<std::int32_t> found(static_cast<std::size_t>(n * most));
        Buffer<std::int64_t> n_found(static_cast<std::size_t>(n));
        std::fill(found.data(), found.data() + n * most, -1);
        run([&] {
          strongest_residuals(gram, near_start.data(), near.data(), weights.data(), shift.data(),
                              scale.data(), most, found.data(), n_found.data(), n_jobs,
                              signal_pending);
        });
        const auto rows = static_cast<std::size_t>(n), width = static_cast<std::size_t>(most);
        return nb::make_tuple(to_numpy(std::move(found), {rows, width}),
                              to_numpy(std::move(n_found), {rows}));
      },
      nb::arg("start"), nb::arg("columns"), nb::arg("counts"), nb::arg("near_start"),
      nb::arg("near"), nb::arg("weights"), nb::arg("shift"), nb::arg("scale"), nb::arg("most"),
      nb::arg("n_jobs"),
      nb::sig("def strongest_residuals(start: Ints, columns: Indices, counts: Floats, "
              "near_start: Ints, near: Indices, weights: Floats, shift: Floats, scale: Floats, "
              "most: int, n_jobs: int) -> tuple[Indices, Ints]"),
      "The items that regressions of items lack most, beside those that they have.");
}

}  // namespace tacit::bindings
