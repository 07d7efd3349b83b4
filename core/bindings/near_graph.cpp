#include "bindings/common.hpp"
#include "near/graph_check.hpp"

namespace tacit::bindings {
namespace {

nb::tuple bind_check(const Ints& indptr, const Indices& indices, const AnyIn& weights,
                     bool zeros_are_edges, bool directed) {
  require(indptr.size() > 0, "indptr must not be empty");
  const auto n = static_cast<std::int64_t>(indptr.size()) - 1;
  const std::int64_t* const starts = indptr.data();
  for (std::int64_t i = 0; i < n; ++i)
    require(starts[i] <= starts[i + 1], "indptr must not descend");
  require(starts[0] == 0 && starts[n] == static_cast<std::int64_t>(indices.size()) &&
              indices.size() == weights.size(),
          "indptr, indices and weights do not belong together");
  GraphCheck check{};
  with_floats(weights.dtype(), "weights", [&](auto x) {
    run([&] {
      check = check_graph(starts, indices.data(), static_cast<const decltype(x)*>(weights.data()),
                          n, zeros_are_edges, directed, signal_pending);
    });
  });
  return nb::make_tuple(static_cast<int>(check.fault), check.row, check.column);
}

}  // namespace

void register_near_graph(nb::module_& m) {
  m.def("check_graph", bind_check, nb::arg("indptr"), nb::arg("indices"), nb::arg("weights"),
        nb::arg("zeros_are_edges"), nb::arg("directed"),
        nb::sig("def check_graph(indptr: Ints, indices: Indices, weights: Numbers, "
                "zeros_are_edges: bool, directed: bool) -> tuple[int, int, int]"),
        "What is wrong with a graph in CSR form, 0 for nothing, and in which row and column.");
}

}  // namespace tacit::bindings
