#include <algorithm>

#include "bindings/common.hpp"
#include "tree/forest_walk.hpp"
#include "tree/walk.hpp"

namespace tacit::bindings {
namespace {

WalkNodes as_nodes(const Indices& column, const Indices& low, const Indices& high,
                   const Flags& complete, const Indices& first, const Indices& children,
                   const Indices& also) {
  const std::size_t n = column.size();
  if (n == 0 || n > INT32_MAX || low.size() != n || high.size() != n || complete.size() != n ||
      first.size() != n || also.size() != n)
    throw std::invalid_argument("column, low, high, complete, first and also must be equally many");
  const bool some = std::any_of(also.data(), also.data() + n, [](auto id) { return id != -1; });
  return {column.data(),
          low.data(),
          high.data(),
          complete.data(),
          first.data(),
          children.data(),
          some ? also.data() : nullptr,
          static_cast<std::int64_t>(n),
          static_cast<std::int64_t>(children.size())};
}

nb::object bind_leaves(const RecordArrays& given, const Indices& column, const Indices& low,
                       const Indices& high, const Flags& complete, const Indices& first,
                       const Indices& children, const Indices& also, int n_jobs) {
  const WalkNodes nodes = as_nodes(column, low, high, complete, first, children, also);
  nodes.check(0, nodes.size, INT32_MAX);
  Buffer<std::int32_t> leaves(given.size());
  given.visit([&](const auto& records) {
    run([&] { tree_leaves(records, nodes, leaves.data(), n_jobs, signal_pending); });
  });
  return nb::cast(to_numpy(std::move(leaves), {given.size()}));
}

// A tree for each column and a table with a number for each node and code, as Python hands them
// over: keeps the arrays.
class ForestArrays {
 public:
  ForestArrays(Ints roots, Indices column, Indices low, Indices high, Flags complete, Indices first,
               Indices children, Indices also, Ints offsets, Ints defaults, In<double> table,
               Ints table_start)
      : ints_{std::move(roots), std::move(offsets), std::move(defaults), std::move(table_start)},
        indices_{std::move(column), std::move(low),      std::move(high),
                 std::move(first),  std::move(children), std::move(also)},
        complete_(std::move(complete)),
        table_(std::move(table)) {
    const std::size_t n = ints_[2].size();
    if (n == 0 || ints_[0].size() != n + 1 || ints_[1].size() != n + 1 || ints_[3].size() != n + 1)
      throw std::invalid_argument("a forest has a tree for each column");
    forest_ = {as_nodes(indices_[0], indices_[1], indices_[2], complete_, indices_[3], indices_[4],
                        indices_[5]),
               static_cast<std::int64_t>(n),
               ints_[0].data(),
               ints_[1].data(),
               ints_[2].data(),
               table_.data(),
               ints_[3].data()};
    forest_.check(static_cast<std::int64_t>(table_.size()));
  }

  const WalkForest& forest() const { return forest_; }

 private:
  Ints ints_[4];
  Indices indices_[6];
  Flags complete_;
  In<double> table_;
  WalkForest forest_;
};

nb::object bind_scores(const RecordArrays& given, const ForestArrays& trees, int n_jobs) {
  Buffer<double> scores(given.size());
  given.visit([&](const auto& records) {
    run([&] { forest_scores(records, trees.forest(), scores.data(), n_jobs, signal_pending); });
  });
  return nb::cast(to_numpy(std::move(scores), {given.size()}));
}

nb::object bind_probabilities(const RecordArrays& given, const ForestArrays& trees, int n_jobs) {
  const auto n = static_cast<std::size_t>(trees.forest().n_values());
  Buffer<double> out(given.size() * n);
  given.visit([&](const auto& records) {
    run([&] { forest_probabilities(records, trees.forest(), out.data(), n_jobs, signal_pending); });
  });
  return nb::cast(to_numpy(std::move(out), {given.size(), n}));
}

using Codes = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::object bind_gibbs(const Codes& codes, const Ints& seeds, std::int64_t first_sweep,
                      std::int64_t n_sweeps, const ForestArrays& trees, int n_jobs) {
  const WalkForest& forest = trees.forest();
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

void register_tree_walk(nb::module_& m) {
  nb::class_<ForestArrays>(m, "Forest",
                           "A tree for each column, and a number for each node and code.")
      .def(nb::init<Ints, Indices, Indices, Indices, Flags, Indices, Indices, Indices, Ints, Ints,
                    In<double>, Ints>(),
           nb::arg("roots"), nb::arg("column"), nb::arg("low"), nb::arg("high"),
           nb::arg("complete"), nb::arg("first"), nb::arg("children"), nb::arg("also"),
           nb::arg("offsets"), nb::arg("defaults"), nb::arg("table"), nb::arg("table_start"),
           nb::sig(
               "def __init__(self, roots: Ints, column: Indices, low: Indices, high: Indices, "
               "complete: Flags, first: Indices, children: Indices, also: Indices, offsets: Ints, "
               "defaults: Ints, table: Floats, table_start: Ints) -> None"));
  m.def(
      "tree_leaves", bind_leaves, nb::arg("records"), nb::arg("column"), nb::arg("low"),
      nb::arg("high"), nb::arg("complete"), nb::arg("first"), nb::arg("children"), nb::arg("also"),
      nb::arg("n_jobs"),
      nb::sig("def tree_leaves(records: Records, column: Indices, low: Indices, high: Indices, "
              "complete: Flags, first: Indices, children: Indices, also: Indices, n_jobs: int) -> "
              "Indices"),
      "Return the leaf of every record in a tree or a graph.");
  m.def("forest_scores", bind_scores, nb::arg("records"), nb::arg("forest"), nb::arg("n_jobs"),
        nb::sig("def forest_scores(records: Records, forest: Forest, n_jobs: int) -> Floats"),
        "Sum, for every record, the table's numbers of its leaves and its codes over all trees.");
  m.def("forest_probabilities", bind_probabilities, nb::arg("records"), nb::arg("forest"),
        nb::arg("n_jobs"),
        nb::sig("def forest_probabilities(records: Records, forest: Forest, n_jobs: int) "
                "-> Floats"),
        "Return the table's number for every value id, given each record's other values.");
  m.def("forest_gibbs", bind_gibbs, nb::arg("codes"), nb::arg("seeds"), nb::arg("first_sweep"),
        nb::arg("n_sweeps"), nb::arg("forest"), nb::arg("n_jobs"),
        nb::sig("def forest_gibbs(codes: Indices, seeds: Ints, first_sweep: int, n_sweeps: int, "
                "forest: Forest, n_jobs: int) -> Indices"),
        "Draw every column anew given the others, sweep after sweep; return the codes.");
}

}  // namespace tacit::bindings
