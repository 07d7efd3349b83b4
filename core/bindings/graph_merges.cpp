#include "near/graph_merges.hpp"

#include "bindings/common.hpp"

namespace tacit::bindings {
namespace {

using Points = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::tuple bind_merges(const Ints& indptr, const Indices& indices, const In<double>& distances,
                      const Ints& sizes, const std::optional<Points>& points) {
  const auto n = static_cast<std::int64_t>(sizes.size());
  require(n >= 1 && n < std::int64_t{1} << 30, "there are too many objects, or none");
  require(indptr.size() == sizes.size() + 1, "indptr and sizes do not belong together");
  const std::int64_t* const starts = indptr.data();
  for (std::int64_t i = 0; i < n; ++i)
    require(starts[i] <= starts[i + 1], "indptr must not descend");
  require(starts[0] == 0 && starts[n] == static_cast<std::int64_t>(indices.size()) &&
              indices.size() == distances.size(),
          "indptr, indices and distances do not belong together");
  for (std::size_t e = 0; e < indices.size(); ++e)
    require(indices.data()[e] >= 0 && indices.data()[e] < n, "an edge leads nowhere");
  for (std::int64_t i = 0; i < n; ++i) require(sizes.data()[i] > 0, "sizes must be positive");
  if (points) require(points->shape(0) == sizes.size(), "points must have a row for each object");
  const WeightedGraph graph{starts, indices.data(), distances.data(), sizes.data(), n};
  GraphMerges merges;
  run([&] {
    merges = points ? ward_merges(graph, points->data(),
                                  static_cast<std::int64_t>(points->shape(1)), signal_pending)
                    : average_merges(graph, signal_pending);
  });
  return nb::make_tuple(copied(merges.first), copied(merges.second), copied(merges.heights),
                        copied(merges.sizes));
}

}  // namespace

void register_graph_merges(nb::module_& m) {
  m.def("graph_merges", bind_merges, nb::arg("indptr"), nb::arg("indices"), nb::arg("distances"),
        nb::arg("sizes"), nb::arg("points").none(),
        nb::sig("def graph_merges(indptr: Ints, indices: Indices, distances: Floats, sizes: Ints, "
                "points: Floats | None) -> tuple[Indices, Indices, Floats, Ints]"),
        "Merge along the edges of a graph, by Ward's distance of points, or without points by the "
        "mean length of edges: the two nodes of each merge, its height and its size.");
}

}  // namespace tacit::bindings
