#include "near/reach_tree.hpp"

#include <cmath>

#include "bindings/common.hpp"
#include "near/merge_tree.hpp"

namespace tacit::bindings {
namespace {

template <class T>
using Square = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using AnySquare = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::tuple as_tuple(const ReachTree& tree) {
  const auto distance = [&](double square) { return std::sqrt(square) / tree.scale; };
  return nb::make_tuple(
      copied<std::int32_t>(tree.edges, [](const ReachEdge& e) { return e.a; }),
      copied<std::int32_t>(tree.edges, [](const ReachEdge& e) { return e.b; }),
      copied<double>(tree.edges, [&](const ReachEdge& e) { return distance(e.reach); }),
      copied<double>(tree.cores, [&](double core) { return distance(core); }));
}

nb::tuple bind_reach(const nb::object& numbers, std::int64_t width, const Square<double>& coords,
                     const Square<std::int32_t>& nearest, const In<std::int64_t>& counts,
                     std::int64_t n_core, int n_jobs) {
  const std::size_t n = coords.shape(0);
  require(n >= 1 && nearest.shape(0) == n && counts.size() == n,
          "coords, nearest and counts must have a row for each object, at least one");
  require(n_core >= 1 && nearest.shape(1) >= 1, "n_core must be at least 1");
  require(n < std::size_t{1} << 31, "there are too many objects");
  const ReachLists lists{nearest.data(), static_cast<std::int64_t>(nearest.shape(1)), n_core,
                         counts.data()};
  const auto n_coords = static_cast<std::int64_t>(coords.shape(1));
  ReachTree tree;
  const auto grow = [&]<class Store>(const typename Store::Rows& rows, const Store*) {
    run([&] {
      tree = reach_tree<Store>(rows, coords.data(), n_coords, lists, n_jobs, signal_pending);
    });
  };
  const auto n_rows = static_cast<std::int64_t>(n);
  if (nb::isinstance<nb::tuple>(numbers)) {
    const nb::tuple parts = nb::cast<nb::tuple>(numbers);
    const auto indptr = nb::cast<In<std::int64_t>>(parts[0], false);
    const auto indices = nb::cast<In<std::int32_t>>(parts[1], false);
    const auto values = nb::cast<AnyIn>(parts[2], false);
    require(indptr.size() == n + 1 && indices.size() == values.size() &&
                indptr.data()[n] == static_cast<std::int64_t>(values.size()),
            "indptr, indices and numbers do not belong together");
    with_floats(values.dtype(), "numbers", [&](auto x) {
      using X = decltype(x);
      grow(SparseNumbers<X>{indptr.data(), indices.data(), static_cast<const X*>(values.data()),
                            n_rows, width},
           static_cast<const SparseStore<X>*>(nullptr));
    });
    return as_tuple(tree);
  }
  const auto dense = nb::cast<AnySquare>(numbers, false);
  require(dense.shape(0) == n && static_cast<std::int64_t>(dense.shape(1)) == width,
          "numbers must have a row for each object, as wide as width says");
  with_floats(dense.dtype(), "numbers", [&](auto x) {
    using X = decltype(x);
    grow(DenseNumbers<X>{static_cast<const X*>(dense.data()), n_rows, width},
         static_cast<const DenseStore<X>*>(nullptr));
  });
  return as_tuple(tree);
}

void check_objects(const In<std::int32_t>& nodes, std::int64_t n) {
  for (std::size_t i = 0; i < nodes.size(); ++i)
    require(nodes.data()[i] >= 0 && nodes.data()[i] < n, "an edge has an object that is not there");
}

nb::tuple bind_merges(const In<std::int32_t>& a, const In<std::int32_t>& b,
                      std::int64_t n_objects) {
  require(a.size() == b.size(), "edges must have two ends");
  check_objects(a, n_objects);
  check_objects(b, n_objects);
  Merges merges;
  run([&] {
    merges = merge_edges(a.data(), b.data(), static_cast<std::int64_t>(a.size()), n_objects);
  });
  return nb::make_tuple(copied(merges.first), copied(merges.second), copied(merges.sizes));
}

nb::tuple bind_condense(const In<std::int32_t>& a, const In<std::int32_t>& b,
                        const In<double>& heights, std::int64_t n_objects,
                        std::int64_t least_size) {
  require(a.size() == b.size() && heights.size() == a.size() &&
              static_cast<std::int64_t>(a.size()) == n_objects - 1 && n_objects > 1,
          "edges must be those of a tree");
  require(least_size > 1, "least_size must be at least 2");
  check_objects(a, n_objects);
  check_objects(b, n_objects);
  CondensedTree tree;
  run([&] {
    const Merges merges =
        merge_edges(a.data(), b.data(), static_cast<std::int64_t>(a.size()), n_objects);
    require(merges.first.size() == a.size(), "edges must be those of a tree");
    tree = condense(merges, heights.data(), n_objects, least_size);
  });
  return nb::make_tuple(copied(tree.parent), copied(tree.child), copied(tree.height),
                        copied(tree.size));
}

}  // namespace

void register_reach_tree(nb::module_& m) {
  m.def("reach_tree", bind_reach, nb::arg("numbers"), nb::arg("width"),
        nb::arg("coords").noconvert(), nb::arg("nearest").noconvert(), nb::arg("counts"),
        nb::arg("n_core"), nb::arg("n_jobs"),
        nb::sig("def reach_tree(numbers: Numbers | tuple[Ints, Indices, Numbers], width: int, "
                "coords: Floats, nearest: Indices, counts: Ints, n_core: int, n_jobs: int) "
                "-> tuple[Indices, Indices, Floats, Floats]"),
        "The minimum spanning tree of mutual reachability: the ends of its edges, ascending, and "
        "their lengths; and the core distance of each object.");
  m.def("merge_edges", bind_merges, nb::arg("a"), nb::arg("b"), nb::arg("n_objects"),
        nb::sig("def merge_edges(a: Indices, b: Indices, n_objects: int) "
                "-> tuple[Indices, Indices, Ints]"),
        "Merge along edges, one after another: the two nodes of each merge, and its size.");
  m.def("condense_tree", bind_condense, nb::arg("a"), nb::arg("b"), nb::arg("heights"),
        nb::arg("n_objects"), nb::arg("least_size"),
        nb::sig("def condense_tree(a: Indices, b: Indices, heights: Floats, n_objects: int, "
                "least_size: int) -> tuple[Indices, Indices, Floats, Ints]"),
        "The clusters of a spanning tree: parents, children, heights at which these leave, sizes.");
}

}  // namespace tacit::bindings
