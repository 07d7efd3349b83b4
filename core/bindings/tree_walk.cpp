#include "tree_walk.hpp"

#include "common.hpp"

namespace tacit::bindings {
namespace {

using Indptr = In<std::int64_t>;
using Nodewise = In<std::int32_t>;

// The arrays of one tree or of a forest, after checking that every walk stays inside them and ends.
struct CheckedNodes {
  WalkNodes nodes;
  std::int32_t size;
  std::int64_t n_children;

  CheckedNodes(const Nodewise& column, const Nodewise& low, const Nodewise& high,
               const In<std::uint8_t>& complete, const Nodewise& first, const Nodewise& children)
      : nodes{column.data(), low.data(), high.data(),
              complete.data(), first.data(), children.data()},
        n_children(static_cast<std::int64_t>(children.size())) {
    const std::size_t n = column.size();
    if (n == 0 || n > INT32_MAX || low.size() != n || high.size() != n || complete.size() != n ||
        first.size() != n)
      throw std::invalid_argument("column, low, high, complete and first must be equally many");
    size = static_cast<std::int32_t>(n);
  }

  // Nodes of one tree: [begin, end).
  void check(std::int64_t begin, std::int64_t end, std::int64_t n_values) const {
    for (std::int64_t node = begin; node < end; ++node) {
      if (nodes.column[node] < 0) continue;
      const std::int64_t low = nodes.low[node], high = nodes.high[node];
      if (low < 0 || low >= high || high > n_values)
        throw std::invalid_argument("low and high must be a range of value ids");
      const std::int64_t from = nodes.first[node];
      const std::int64_t n = nodes.complete[node] ? high - low + 1 : 2;
      if (from < 0 || from > n_children - n)
        throw std::invalid_argument("first must be a place in children");
      for (std::int64_t k = from; k < from + n; ++k)
        if (nodes.children[k] <= node || nodes.children[k] >= end)
          throw std::invalid_argument("children must be nodes of the tree, behind their parents");
    }
  }
};

nb::object bind_leaves(const Indptr& indptr, const AnyIn& values, const Nodewise& column,
                       const Nodewise& low, const Nodewise& high, const In<std::uint8_t>& complete,
                       const Nodewise& first, const Nodewise& children, int n_jobs) {
  const CheckedNodes tree(column, low, high, complete, first, children);
  tree.check(0, tree.size, INT32_MAX);
  return with_values(values.dtype(), [&](auto v) {
    const auto records =
        as_records<decltype(v)>(indptr, values, INT32_MAX, std::nullopt, std::nullopt);
    const auto m = static_cast<std::size_t>(records.n_records);
    Buffer<std::int32_t> leaves(m);
    run([&] { tree_leaves(records, tree.nodes, leaves.data(), n_jobs, signal_pending); });
    return nb::cast(to_numpy(std::move(leaves), {m}));
  });
}

}  // namespace

void register_tree_walk(nb::module_& m) {
  m.def("tree_leaves", bind_leaves, nb::arg("indptr"), nb::arg("values"), nb::arg("column"),
        nb::arg("low"), nb::arg("high"), nb::arg("complete"), nb::arg("first"),
        nb::arg("children"), nb::arg("n_jobs"),
        nb::sig("def tree_leaves(indptr: Ints, values: Values, column: Indices, low: Indices, "
                "high: Indices, complete: Flags, first: Indices, children: Indices, "
                "n_jobs: int) -> Indices"),
        "Return the leaf of every record in a tree or a graph.");
}

}  // namespace tacit::bindings
