#include "tree/tree.hpp"

#include <algorithm>

#include "bindings/tree_arguments.hpp"

namespace tacit::bindings {
namespace {

nb::tuple bind_grow_tree(const TreeTableArrays& given, const std::vector<std::int64_t>& excluded,
                         const std::optional<Indices>& classes, std::int64_t n_classes,
                         const std::optional<std::pair<Ints, Ints>>& moments,
                         const nb::dict& settings) {
  const TreeRules rules = as_rules(settings, given.n_columns());
  const std::size_t n_records = given.n_records();
  const bool regression =
      rules.criterion == TreeCriterion::kSquaredError || rules.criterion == TreeCriterion::kNormal;
  require(regression == moments.has_value() && regression != classes.has_value(),
          "numbers need moments, classes need classes");
  if (classes) {
    require(classes->size() == n_records, "classes must be as many as records");
    std::uint32_t highest = 0;  // a negative class is a very high one
    for (std::size_t r = 0; r < n_records; ++r)
      highest = std::max(highest, static_cast<std::uint32_t>(classes->data()[r]));
    require(n_classes >= 1 && highest < n_classes, "classes must be in [0, n_classes)");
  } else {
    require(moments->first.size() == n_records && moments->second.size() == n_records,
            "moments must be as many as records");
  }
  for (const std::int64_t column : excluded)
    require(column >= 0 && column < given.n_columns(), "excluded must be columns");
  const TreeTarget target{classes ? classes->data() : nullptr, n_classes,
                          moments ? moments->first.data() : nullptr,
                          moments ? moments->second.data() : nullptr};
  GrownTree tree;
  given.run_with(
      [&](const auto& table) { tree = grow_tree(table, target, excluded, rules, signal_pending); });
  Buffer<std::int64_t> stats(tree.stats.size());
  std::copy(tree.stats.begin(), tree.stats.end(), stats.begin());
  return nb::make_tuple(
      copy_out(tree.column), copy_out(tree.low), copy_out(tree.high), copy_out(tree.complete),
      copy_out(tree.left), copy_out(tree.right), copy_out(tree.first), copy_out(tree.children),
      copy_out(tree.gain), copy_out(tree.prior_fraction), copy_out(tree.also),
      to_numpy(std::move(stats),
               {static_cast<std::size_t>(tree.n_nodes()), static_cast<std::size_t>(tree.n_stats)}));
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from, T plus = T{0}) {
  for (const T x : from) to.push_back(static_cast<T>(x + plus));
}

// One tree after another, under global numbers of nodes and children.
struct GrownForest {
  GrownTree all;
  std::vector<std::int64_t> roots{0}, stat_start{0};

  explicit GrownForest(const std::vector<GrownTree>& trees) {
    for (const GrownTree& tree : trees) {
      const auto nodes = static_cast<std::int32_t>(all.column.size());
      const auto kids = static_cast<std::int32_t>(all.children.size());
      require(all.column.size() + tree.column.size() < (std::size_t{1} << 31),
              "there are too many nodes");
      append(all.column, tree.column);
      append(all.low, tree.low);
      append(all.high, tree.high);
      append(all.complete, tree.complete);
      append(all.left, tree.left);
      append(all.right, tree.right);
      append(all.first, tree.first, kids);
      append(all.children, tree.children, nodes);
      append(all.gain, tree.gain);
      append(all.prior_fraction, tree.prior_fraction);
      append(all.also, tree.also);
      append(all.stats, tree.stats);
      all.counting_seconds += tree.counting_seconds;
      roots.push_back(static_cast<std::int64_t>(all.column.size()));
      stat_start.push_back(static_cast<std::int64_t>(all.stats.size()));
    }
  }
};

nb::tuple bind_grow_forest(const TreeTableArrays& given, const Ints& targets,
                           const std::optional<Ints>& pairs, const nb::dict& settings, int n_jobs) {
  const TreeRules rules = as_rules(settings, given.n_columns());
  require(
      rules.criterion != TreeCriterion::kSquaredError && rules.criterion != TreeCriterion::kNormal,
      "a forest predicts classes");
  const std::vector<std::int64_t> columns(targets.data(), targets.data() + targets.size());
  for (const std::int64_t column : columns)
    require(column >= 0 && column < given.n_columns(), "targets must be columns");
  const auto n_values = static_cast<std::size_t>(given.n_values());
  require(!pairs || pairs->size() == n_values * n_values, "pairs must be n_values squared");
  std::vector<GrownTree> trees;
  given.run_with([&](const auto& table) {
    trees =
        grow_forest(table, columns, pairs ? pairs->data() : nullptr, rules, n_jobs, signal_pending);
  });
  const GrownForest forest(trees);
  const GrownTree& all = forest.all;
  const nb::tuple result = nb::make_tuple(
      copy_out(forest.roots), copy_out(all.column), copy_out(all.low), copy_out(all.high),
      copy_out(all.complete), copy_out(all.left), copy_out(all.right), copy_out(all.first),
      copy_out(all.children), copy_out(all.gain), copy_out(all.prior_fraction), copy_out(all.also),
      copy_out(all.stats), copy_out(forest.stat_start));
  if (!rules.timed) return result;
  return nb::make_tuple(result, all.counting_seconds);
}

}  // namespace

void register_tree(nb::module_& m) {
  nb::class_<TreeTableArrays>(m, "TreeTable", "A table by record and by value, to grow trees of.")
      .def(nb::init<Ints, AnyIn, Ints, Indices, Ints, Ints, std::optional<Flags>,
                    std::optional<Ints>>(),
           nb::arg("indptr"), nb::arg("values"), nb::arg("start"), nb::arg("rows"),
           nb::arg("offsets"), nb::arg("defaults"), nb::arg("ordered").none(),
           nb::arg("weights").none(),
           nb::sig("def __init__(self, indptr: Ints, values: Values, start: Ints, rows: Indices, "
                   "offsets: Ints, defaults: Ints, ordered: Flags | None, "
                   "weights: Ints | None) -> None"));
  m.def("grow_tree", &bind_grow_tree, nb::arg("table"), nb::arg("excluded"),
        nb::arg("classes").none(), nb::arg("n_classes"), nb::arg("moments").none(),
        nb::arg("settings"),
        nb::sig("def grow_tree(table: TreeTable, excluded: Sequence[int], classes: Indices | None, "
                "n_classes: int, moments: tuple[Ints, Ints] | None, settings: dict[str, Any]) "
                "-> tuple[Any, ...]"),
        "Grow a tree or a graph; the arrays of tree/nodes.py.");
  m.def("grow_forest", &bind_grow_forest, nb::arg("table"), nb::arg("targets"),
        nb::arg("pairs").none(), nb::arg("settings"), nb::arg("n_jobs"),
        nb::sig("def grow_forest(table: TreeTable, targets: Ints, pairs: Ints | None, "
                "settings: dict[str, Any], n_jobs: int) -> tuple[Any, ...]"),
        "Grow a tree for each target column given all others; the trees follow each other. Where "
        "settings has timed, a pair: the trees and the seconds spent on counting.");
}

}  // namespace tacit::bindings
