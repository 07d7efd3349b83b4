#include "bindings/common.hpp"
#include "tree/forest_walk.hpp"
#include "tree/walk.hpp"

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
      : nodes{column.data(),   low.data(),   high.data(),
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

// A forest, one tree for each column, and a table with a number for each node and code.
struct CheckedForest {
  WalkForest forest;

  CheckedForest(const CheckedNodes& nodes, const Nodewise& column, const Indptr& roots,
                const Indptr& offsets, const Indptr& defaults, const In<double>& table,
                const Indptr& table_start) {
    const auto n_trees = static_cast<std::int64_t>(defaults.size());
    if (n_trees == 0 || roots.size() != defaults.size() + 1 || offsets.size() != roots.size() ||
        table_start.size() != roots.size())
      throw std::invalid_argument("a forest has a tree for each column");
    forest = {nodes.nodes,     n_trees,      roots.data(),      offsets.data(),
              defaults.data(), table.data(), table_start.data()};
    if (forest.roots[0] != 0 || forest.roots[n_trees] != nodes.size || forest.table_start[0] != 0 ||
        forest.table_start[n_trees] != static_cast<std::int64_t>(table.size()) ||
        forest.offsets[0] != 0 || forest.n_values() > INT32_MAX)
      throw std::invalid_argument("roots, table_start and offsets must begin and end with theirs");
    for (std::int64_t t = 0; t < n_trees; ++t) {
      const std::int64_t begin = forest.roots[t], end = forest.roots[t + 1];
      const std::int64_t arity = forest.arity(t),
                         size = forest.table_start[t + 1] - forest.table_start[t];
      if (begin < 0 || begin >= end || end > nodes.size)
        throw std::invalid_argument("roots must ascend");
      if (arity < 1 || forest.defaults[t] < 0 || forest.defaults[t] >= arity)
        throw std::invalid_argument("offsets and defaults must be those of columns");
      if (size % arity != 0 || size / arity != end - begin)
        throw std::invalid_argument("table must have a number for each node and code");
      nodes.check(begin, end, forest.n_values());
      for (std::int64_t node = begin; node < end; ++node) {
        const std::int64_t asked = column.data()[node];
        if (asked >= n_trees) throw std::invalid_argument("column must be one of the columns");
        if (asked >= 0 && (nodes.nodes.low[node] < forest.offsets[asked] ||
                           nodes.nodes.high[node] > forest.offsets[asked + 1]))
          throw std::invalid_argument("low and high must be a range of the column's value ids");
      }
    }
  }
};

// What the kernels on forests take first, as one type for all of them.
#define TACIT_FOREST_ARGUMENTS                                                            \
  const Indptr &roots, const Nodewise &column, const Nodewise &low, const Nodewise &high, \
      const In<std::uint8_t>&complete, const Nodewise &first, const Nodewise &children,   \
      const Indptr &offsets, const Indptr &defaults, const In<double>&table,              \
      const Indptr &table_start
#define TACIT_FOREST                                                                       \
  CheckedForest(CheckedNodes(column, low, high, complete, first, children), column, roots, \
                offsets, defaults, table, table_start)                                     \
      .forest

nb::object bind_scores(const Indptr& indptr, const AnyIn& values, TACIT_FOREST_ARGUMENTS,
                       int n_jobs) {
  const WalkForest forest = TACIT_FOREST;
  return with_values(values.dtype(), [&](auto v) {
    const auto records =
        as_records<decltype(v)>(indptr, values, forest.n_values(), std::nullopt, std::nullopt);
    const auto m = static_cast<std::size_t>(records.n_records);
    Buffer<double> scores(m);
    run([&] { forest_scores(records, forest, scores.data(), n_jobs, signal_pending); });
    return nb::cast(to_numpy(std::move(scores), {m}));
  });
}

nb::object bind_probabilities(const Indptr& indptr, const AnyIn& values, TACIT_FOREST_ARGUMENTS,
                              int n_jobs) {
  const WalkForest forest = TACIT_FOREST;
  return with_values(values.dtype(), [&](auto v) {
    const auto records =
        as_records<decltype(v)>(indptr, values, forest.n_values(), std::nullopt, std::nullopt);
    const auto m = static_cast<std::size_t>(records.n_records);
    const auto n = static_cast<std::size_t>(forest.n_values());
    Buffer<double> out(m * n);
    run([&] { forest_probabilities(records, forest, out.data(), n_jobs, signal_pending); });
    return nb::cast(to_numpy(std::move(out), {m, n}));
  });
}

using Square = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::object bind_gibbs(const Square& codes, const Indptr& seeds, std::int64_t first_sweep,
                      std::int64_t n_sweeps, TACIT_FOREST_ARGUMENTS, int n_jobs) {
  const WalkForest forest = TACIT_FOREST;
  const std::size_t n_chains = codes.shape(0), n_columns = codes.shape(1);
  if (seeds.size() != n_chains) throw std::invalid_argument("seeds must be as many as chains");
  if (static_cast<std::int64_t>(n_columns) != forest.n_trees)
    throw std::invalid_argument("codes must have a column for each tree");
  Buffer<std::int32_t> drawn(n_chains * n_columns);
  for (std::size_t k = 0; k < n_chains * n_columns; ++k) {
    drawn[k] = codes.data()[k];
    if (drawn[k] < 0 || drawn[k] >= forest.arity(static_cast<std::int64_t>(k % n_columns)))
      throw std::invalid_argument("codes must be codes of their columns");
  }
  run([&] {
    forest_gibbs(forest, static_cast<std::int64_t>(n_chains), seeds.data(), first_sweep, n_sweeps,
                 drawn.data(), n_jobs, signal_pending);
  });
  return nb::cast(to_numpy(std::move(drawn), {n_chains, n_columns}));
}

}  // namespace

#define TACIT_FOREST_NAMES                                                                   \
  nb::arg("roots"), nb::arg("column"), nb::arg("low"), nb::arg("high"), nb::arg("complete"), \
      nb::arg("first"), nb::arg("children"), nb::arg("offsets"), nb::arg("defaults"),        \
      nb::arg("table"), nb::arg("table_start"), nb::arg("n_jobs")
#define TACIT_FOREST_TYPES                                                                       \
  "roots: Ints, column: Indices, low: Indices, high: Indices, complete: Flags, first: Indices, " \
  "children: Indices, offsets: Ints, defaults: Ints, table: Floats, table_start: Ints, "         \
  "n_jobs: int"

void register_tree_walk(nb::module_& m) {
  m.def("tree_leaves", bind_leaves, nb::arg("indptr"), nb::arg("values"), nb::arg("column"),
        nb::arg("low"), nb::arg("high"), nb::arg("complete"), nb::arg("first"), nb::arg("children"),
        nb::arg("n_jobs"),
        nb::sig("def tree_leaves(indptr: Ints, values: Values, column: Indices, low: Indices, "
                "high: Indices, complete: Flags, first: Indices, children: Indices, "
                "n_jobs: int) -> Indices"),
        "Return the leaf of every record in a tree or a graph.");
  m.def(
      "forest_scores", bind_scores, nb::arg("indptr"), nb::arg("values"), TACIT_FOREST_NAMES,
      nb::sig("def forest_scores(indptr: Ints, values: Values, " TACIT_FOREST_TYPES ") -> Floats"),
      "Sum, for every record, the table's numbers of its leaves and own codes over all trees.");
  m.def("forest_probabilities", bind_probabilities, nb::arg("indptr"), nb::arg("values"),
        TACIT_FOREST_NAMES,
        nb::sig("def forest_probabilities(indptr: Ints, values: Values, " TACIT_FOREST_TYPES
                ") -> Floats"),
        "Return the table's number for every value id, given each record's other values.");
  m.def("forest_gibbs", bind_gibbs, nb::arg("codes"), nb::arg("seeds"), nb::arg("first_sweep"),
        nb::arg("n_sweeps"), TACIT_FOREST_NAMES,
        nb::sig("def forest_gibbs(codes: Indices, seeds: Ints, first_sweep: int, n_sweeps: "
                "int, " TACIT_FOREST_TYPES ") -> Indices"),
        "Draw every column anew given the others, sweep after sweep; return the codes.");
}

}  // namespace tacit::bindings
