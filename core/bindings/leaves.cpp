#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>
#include <vector>

#include "bindings/tree_arguments.hpp"
#include "tree/leaf_counts.hpp"
#include "tree/leaf_splits.hpp"
#include "tree/scores.hpp"

namespace tacit::bindings {
namespace {

void require_starts(const Ints& start, std::size_t n, const char* message) {
  require(start.size() == n + 1 && start.data()[0] == 0, message);
  for (std::size_t k = 0; k < n; ++k) require(start.data()[k] <= start.data()[k + 1], message);
}

void require_ranges(const Indices& low, const Indices& high, std::int64_t n, const char* message) {
  for (std::size_t i = 0; i < low.size(); ++i)
    require(low.data()[i] >= 0 && low.data()[i] <= high.data()[i] && high.data()[i] <= n, message);
}

// The conditions on the ways to leaves, after checking that they are of the table's ids.
struct CheckedPaths {
  std::vector<std::int64_t> out_start{0};
  LeafPaths paths;

  CheckedPaths(const Ints& start, const Indices& low, const Indices& high, const Flags& inside,
               const Indices& targets, const Flags& dense, const Ints& ahead_start,
               const Indices& ahead_low, const Indices& ahead_high, const Flags& ordered,
               const Ints& offsets) {
    const std::size_t n_leaves = targets.size();
    require(dense.size() == n_leaves && ordered.size() == n_leaves,
            "dense and ordered must be as many as leaves");
    require_starts(start, n_leaves,
                   "path_start must be one more than leaves, begin with 0 and not fall");
    require_starts(ahead_start, n_leaves,
                   "ahead_start must be one more than leaves, begin with 0 and not fall");
    const auto n = static_cast<std::size_t>(start.data()[n_leaves]);
    require(low.size() == n && high.size() == n && inside.size() == n,
            "low, high and inside must be as many as conditions");
    const auto n_ahead = static_cast<std::size_t>(ahead_start.data()[n_leaves]);
    require(ahead_low.size() == n_ahead && ahead_high.size() == n_ahead,
            "ahead_low and ahead_high must be as many as candidates");
    const auto n_columns = static_cast<std::int64_t>(offsets.size()) - 1;
    const std::int64_t n_values = offsets.data()[n_columns];
    require_ranges(low, high, n_values, "low and high must be ranges of value ids");
    require_ranges(ahead_low, ahead_high, n_values,
                   "ahead_low and ahead_high must be ranges of value ids");
    for (std::size_t k = 0; k < n_leaves; ++k) {
      const std::int64_t n_listed = ahead_start.data()[k + 1] - ahead_start.data()[k];
      require(n_listed <= (dense.data()[k] ? 0 : kMostCandidates),
              "there must not be more candidates");
      const std::int64_t column = targets.data()[k];
      require(column >= 0 && column < n_columns, "targets must be columns");
      const std::int64_t arity = offsets.data()[column + 1] - offsets.data()[column] + 1;
      require(n_values == 0 || arity <= (INT64_MAX / 8 - out_start.back()) / n_values,
              "there are too many counts");
      out_start.push_back(out_start.back() + (dense.data()[k] ? arity * n_values : 0));
    }
    paths = {static_cast<std::int64_t>(n_leaves),
             start.data(),
             low.data(),
             high.data(),
             inside.data(),
             targets.data(),
             dense.data(),
             ahead_start.data(),
             ahead_low.data(),
             ahead_high.data(),
             ordered.data(),
             out_start.data()};
  }
};

// Hands a vector to NumPy without copying it.
template <class T>
Array<T> move_out(std::vector<T>&& from) {
  auto moved = std::make_unique<std::vector<T>>(std::move(from));
  T* const data = moved->data();
  const std::size_t size = moved->size();
  if (size == 0) return copy_out(*moved);
  const nb::capsule owner(moved.get(),
                          [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  moved.release();
  return Array<T>(data, {size}, owner);
}

nb::tuple disjoint_cells_out(DisjointCells&& cells) {
  return nb::make_tuple(move_out(std::move(cells.leaf)), move_out(std::move(cells.mask)),
                        move_out(std::move(cells.start)), move_out(std::move(cells.keys)),
                        move_out(std::move(cells.counts)));
}

nb::tuple bind_leaf_counts(const TreeTableArrays& given, const Ints& path_start, const Indices& low,
                           const Indices& high, const Flags& inside, const Indices& targets,
                           const Flags& dense, const Ints& ahead_start, const Indices& ahead_low,
                           const Indices& ahead_high, const Flags& in_order, int n_jobs) {
  const CheckedPaths checked(path_start, low, high, inside, targets, dense, ahead_start, ahead_low,
                             ahead_high, in_order, given.offsets());
  Buffer<std::int64_t> out(static_cast<std::size_t>(checked.out_start.back()));
  DisjointCells rest;
  given.run_with([&](const auto& table) {
    rest = leaf_counts(table, checked.paths, out.data(), n_jobs, signal_pending);
  });
  const std::size_t size = out.size();
  return nb::make_tuple(to_numpy(std::move(out), {size}), disjoint_cells_out(std::move(rest)));
}

// Disjoint cells as they are given, after checking that they are of leaves and in order.
DisjointCellView as_disjoint_cells(const Ints& leaf, const Ints& mask, const Ints& start,
                                   const Ints& keys, const Ints& counts) {
  const std::size_t n = leaf.size();
  require(mask.size() == n, "mask must be as many as disjoint cells");
  require_starts(start, n, "start must be one more than disjoint cells, begin with 0 and not fall");
  const auto n_keys = static_cast<std::size_t>(start.data()[n]);
  require(keys.size() == n_keys && counts.size() == n_keys,
          "keys and counts must be as many as start says");
  return {static_cast<std::int64_t>(n),
          leaf.data(),
          mask.data(),
          start.data(),
          keys.data(),
          counts.data()};
}

nb::tuple bind_add_disjoint_cells(const Ints& leaf, const Ints& mask, const Ints& start,
                                  const Ints& keys, const Ints& counts, const Ints& other_leaf,
                                  const Ints& other_mask, const Ints& other_start,
                                  const Ints& other_keys, const Ints& other_counts) {
  const DisjointCellView one = as_disjoint_cells(leaf, mask, start, keys, counts);
  const DisjointCellView other =
      as_disjoint_cells(other_leaf, other_mask, other_start, other_keys, other_counts);
  DisjointCells all;
  run([&] { all = add_disjoint_cells(one, other); });
  return disjoint_cells_out(std::move(all));
}

nb::tuple bind_take_disjoint_cells(const Ints& leaf, const Ints& mask, const Ints& start,
                                   const Ints& keys, const Ints& counts, const Ints& begin,
                                   const Ints& end, const Ints& bit, const Ints& used,
                                   const Ints& n_classes, std::int64_t n_values) {
  const DisjointCellView cells = as_disjoint_cells(leaf, mask, start, keys, counts);
  const std::size_t n = begin.size();
  require(end.size() == n && bit.size() == n && used.size() == n && n_classes.size() == n,
          "begin, end, bit, used and n_classes must be as many as leaves");
  std::vector<CellChoice> choices;
  for (std::size_t k = 0; k < n; ++k) {
    const CellChoice choice{begin.data()[k], end.data()[k], bit.data()[k], used.data()[k],
                            n_classes.data()[k]};
    require(0 <= choice.begin && choice.begin <= choice.end && choice.end <= cells.n_cells,
            "begin and end must be ranges of disjoint cells");
    require(choice.bit >= -1 && choice.bit < kMostCandidates, "bit must be a candidate's");
    require(n_values > 0 && choice.n_classes > 0 && choice.n_classes <= INT64_MAX / 8 / n_values,
            "n_values and n_classes must be positive");
    for (std::int64_t c = cells.start[choice.begin]; c < cells.start[choice.end]; ++c)
      require(cells.keys[c] >= 0 && cells.keys[c] < choice.n_classes * n_values,
              "keys must be those of histograms");
    choices.push_back(choice);
  }
  TakenLeaves taken;
  run([&] { taken = take_disjoint_cells(cells, choices, n_values); });
  return nb::make_tuple(move_out(std::move(taken.id_start)),
                        move_out(std::move(taken.histogram_start)), move_out(std::move(taken.ids)),
                        move_out(std::move(taken.histograms)));
}

using Counts = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void bind_subtract_histograms(const Ints& n_classes, const std::vector<Indices>& ids,
                              const std::vector<Counts>& histograms,
                              const std::vector<Indices>& part_ids,
                              const std::vector<Ints>& parts) {
  const std::size_t n = n_classes.size();
  require(ids.size() == n && histograms.size() == n && part_ids.size() == n && parts.size() == n,
          "ids, histograms, part_ids and parts must be as many as n_classes");
  for (std::size_t k = 0; k < n; ++k) {
    const std::int64_t rows = n_classes.data()[k];
    require(rows > 0, "n_classes must be positive");
    const auto wide = static_cast<std::int64_t>(histograms[k].size()) / rows;
    const auto n_part = static_cast<std::int64_t>(parts[k].size()) / rows;
    require(static_cast<std::int64_t>(histograms[k].size()) == rows * wide &&
                static_cast<std::int64_t>(parts[k].size()) == rows * n_part,
            "histograms and parts must have as many counts in each histogram");
    const bool all = ids[k].size() == 0, every = part_ids[k].size() == 0;
    require(all || static_cast<std::int64_t>(ids[k].size()) == wide,
            "histograms must have a count for each id");
    require(every ? n_part == 0 || (all && n_part == wide)
                  : static_cast<std::int64_t>(part_ids[k].size()) == n_part,
            "parts must have a count for each id");
    const LeafCells whole{all ? nullptr : ids[k].data(), wide};
    const LeafCells part{every ? nullptr : part_ids[k].data(), n_part};
    require(subtract_histograms(rows, whole, histograms[k].data(), part, parts[k].data()),
            "part_ids must be among ids");
  }
}

// Arrays of a thing for each leaf that has n_classes of them.
struct ClassStarts {
  std::vector<std::int64_t> start{0};
  explicit ClassStarts(const Ints& n_classes) {
    for (std::size_t k = 0; k < n_classes.size(); ++k) {
      require(n_classes.data()[k] >= 1 && n_classes.data()[k] < (std::int64_t{1} << 31),
              "n_classes must be positive");
      start.push_back(start.back() + n_classes.data()[k]);
    }
  }
};

TreeRules class_rules(TreeRules rules) {
  require(
      rules.criterion != TreeCriterion::kSquaredError && rules.criterion != TreeCriterion::kNormal,
      "leaves must be of classes");
  return rules;
}

nb::object bind_worth_splitting(const Ints& n_classes, const Ints& wholes, const Ints& depths,
                                const nb::dict& settings) {
  const TreeRules rules = class_rules(as_rules(settings));
  const ClassStarts at(n_classes);
  const std::size_t n = n_classes.size();
  require(static_cast<std::int64_t>(wholes.size()) == at.start.back() && depths.size() == n,
          "wholes and depths must be those of the leaves");
  Buffer<std::uint8_t> worth(n);
  for (std::size_t k = 0; k < n; ++k)
    worth[k] = worth_splitting(rules, n_classes.data()[k], wholes.data() + at.start[k], nullptr,
                               depths.data()[k]);
  return nb::cast(to_numpy(std::move(worth), {n}));
}

nb::tuple bind_leaf_splits(const Ints& offsets, const Ints& defaults, const Flags& ordered,
                           const Ints& n_classes, const std::vector<Indices>& ids,
                           const std::vector<Ints>& histograms, const Ints& wholes,
                           const In<double>& prior_fractions, const Ints& path_start,
                           const Indices& low, const Indices& high, const Flags& inside,
                           const Ints& root_weights, const Indices& targets, const Ints& n_next,
                           const nb::dict& settings, int n_jobs) {
  require_columns(offsets, defaults, ordered);
  const auto n_columns = static_cast<std::int64_t>(offsets.size()) - 1;
  const TreeRules rules = class_rules(as_rules(settings, n_columns));
  const TreeColumns columns(offsets.data(), defaults.data(), ordered.data(), n_columns);
  const ClassStarts at(n_classes);
  const std::size_t n = n_classes.size();
  require(static_cast<std::int64_t>(wholes.size()) == at.start.back() &&
              prior_fractions.size() == n && root_weights.size() == n && targets.size() == n &&
              n_next.size() == n,
          "wholes, prior_fractions, root_weights, targets and n_next must be those of the leaves");
  require(ids.size() == n && histograms.size() == n,
          "ids and histograms must be those of the leaves");
  require_starts(path_start, n,
                 "path_start must be one more than leaves, begin with 0 and not fall");
  const auto n_conditions = static_cast<std::size_t>(path_start.data()[n]);
  require(
      low.size() == n_conditions && high.size() == n_conditions && inside.size() == n_conditions,
      "low, high and inside must be as many as conditions");
  for (std::size_t i = 0; i < n_conditions; ++i) {
    const std::int32_t first = low.data()[i], last = high.data()[i];
    require(0 <= first && first < last && last <= columns.n_values &&
                columns.column_of[static_cast<std::size_t>(first)] ==
                    columns.column_of[static_cast<std::size_t>(last - 1)],
            "low and high must be ranges of a column's value ids");
  }
  std::vector<LeafToSplit> leaves;
  for (std::size_t k = 0; k < n; ++k) {
    const std::int64_t path = path_start.data()[k];
    require(targets.data()[k] >= 0 && targets.data()[k] < n_columns, "targets must be columns");
    const auto n_ids = static_cast<std::int64_t>(ids[k].size());
    const std::int32_t* leaf_ids = ids[k].data();
    for (std::int64_t i = 0; i < n_ids; ++i)
      require(leaf_ids[i] >= (i > 0 ? leaf_ids[i - 1] + 1 : 0) && leaf_ids[i] < columns.n_values,
              "ids must ascend and be value ids");
    const std::int64_t wide = n_ids > 0 ? n_ids : columns.n_values;
    require(static_cast<std::int64_t>(histograms[k].size()) == n_classes.data()[k] * wide,
            "histograms must have a count for each histogram and value id");
    leaves.push_back({n_classes.data()[k], wide, n_ids > 0 ? leaf_ids : nullptr,
                      histograms[k].data(), wholes.data() + at.start[k], prior_fractions.data()[k],
                      path_start.data()[k + 1] - path, low.data() + path, high.data() + path,
                      inside.data() + path, root_weights.data()[k], targets.data()[k],
                      n_next.data()[k]});
  }
  std::vector<LeafSplit> splits;
  run([&] { splits = leaf_splits(columns, leaves, rules, n_jobs, signal_pending); });
  const auto array = [&](const auto& part) {
    std::vector<std::decay_t<decltype(part(splits[0]))>> out;
    for (const LeafSplit& leaf : splits) out.push_back(part(leaf));
    return copy_out(out);
  };
  std::vector<std::int64_t> next_start{0}, next_weight, fraction_start{0};
  std::vector<double> fractions;
  std::vector<std::int32_t> next_low, next_high;
  for (const LeafSplit& leaf : splits) {
    for (const TreeSplit& split : leaf.next) {
      next_low.push_back(split.low);
      next_high.push_back(split.high);
    }
    next_weight.insert(next_weight.end(), leaf.next_weight.begin(), leaf.next_weight.end());
    next_start.push_back(static_cast<std::int64_t>(next_low.size()));
    fractions.insert(fractions.end(), leaf.fractions.begin(), leaf.fractions.end());
    fraction_start.push_back(static_cast<std::int64_t>(fractions.size()));
  }
  return nb::make_tuple(
      array([](const LeafSplit& leaf) { return leaf.split.column; }),
      array([](const LeafSplit& leaf) { return leaf.split.low; }),
      array([](const LeafSplit& leaf) { return leaf.split.high; }),
      array([](const LeafSplit& leaf) -> std::uint8_t { return leaf.split.complete; }),
      array([](const LeafSplit& leaf) { return leaf.split.left; }),
      array([](const LeafSplit& leaf) { return leaf.split.right; }),
      array([](const LeafSplit& leaf) { return leaf.split.also; }),
      array([](const LeafSplit& leaf) { return leaf.split.gain; }),
      array([](const LeafSplit& leaf) { return leaf.rank; }), copy_out(fraction_start),
      copy_out(fractions), copy_out(next_start), copy_out(next_low), copy_out(next_high),
      copy_out(next_weight));
}

}  // namespace

void register_leaves(nb::module_& m) {
  m.def(
      "leaf_counts", &bind_leaf_counts, nb::arg("table"), nb::arg("path_start"), nb::arg("low"),
      nb::arg("high"), nb::arg("inside"), nb::arg("targets"), nb::arg("dense"),
      nb::arg("ahead_start"), nb::arg("ahead_low"), nb::arg("ahead_high"), nb::arg("in_order"),
      nb::arg("n_jobs"),
      nb::sig("def leaf_counts(table: TreeTable, path_start: Ints, low: "
              "Indices, high: Indices, inside: Flags, targets: Indices, dense: Flags, ahead_start: "
              "Ints, ahead_low: Indices, ahead_high: Indices, in_order: Flags, n_jobs: int) -> "
              "tuple[Ints, tuple[Ints, Ints, Ints, Ints, Ints]]"),
      "Count the values of leaves, given by conditions, with the codes of a target's column: all "
      "counts of dense leaves, then disjoint cells (leaf, mask, start, keys, counts) of others.");
  m.def("add_disjoint_cells", &bind_add_disjoint_cells, nb::arg("leaf"), nb::arg("mask"),
        nb::arg("start"), nb::arg("keys"), nb::arg("counts"), nb::arg("other_leaf"),
        nb::arg("other_mask"), nb::arg("other_start"), nb::arg("other_keys"),
        nb::arg("other_counts"),
        nb::sig(
            "def add_disjoint_cells(leaf: Ints, mask: Ints, start: Ints, keys: Ints, counts: Ints, "
            "other_leaf: Ints, other_mask: Ints, other_start: Ints, other_keys: Ints, "
            "other_counts: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]"),
        "Return the disjoint cells of two sets of records together.");
  m.def(
      "take_disjoint_cells", &bind_take_disjoint_cells, nb::arg("leaf"), nb::arg("mask"),
      nb::arg("start"), nb::arg("keys"), nb::arg("counts"), nb::arg("begin"), nb::arg("end"),
      nb::arg("bit"), nb::arg("used"), nb::arg("n_classes"), nb::arg("n_values"),
      nb::sig(
          "def take_disjoint_cells(leaf: Ints, mask: Ints, start: Ints, keys: Ints, counts: Ints, "
          "begin: Ints, end: Ints, bit: Ints, used: Ints, n_classes: Ints, n_values: int) -> "
          "tuple[Ints, Ints, Indices, Ints]"),
      "Add up disjoint cells that hold a candidate and none of those used: id_start, "
      "histogram_start, ids and "
      "histograms of each choice.");
  m.def("subtract_histograms", &bind_subtract_histograms, nb::arg("n_classes"), nb::arg("ids"),
        nb::arg("histograms"), nb::arg("part_ids"), nb::arg("parts"),
        nb::sig(
            "def subtract_histograms(n_classes: Ints, ids: list[Indices], histograms: list[Ints], "
            "part_ids: list[Indices], parts: list[Ints]) -> None"),
        "Subtract the counts of parts from those of leaves, in place and one after another; no ids "
        "stand for all.");
  m.def("worth_splitting", &bind_worth_splitting, nb::arg("n_classes"), nb::arg("wholes"),
        nb::arg("depths"), nb::arg("settings"),
        nb::sig("def worth_splitting(n_classes: Ints, wholes: Ints, depths: Ints, settings: "
                "dict[str, Any]) -> Flags"),
        "Say whether leaves could be split at all: deep, small and pure ones cannot.");
  m.def(
      "leaf_splits", &bind_leaf_splits, nb::arg("offsets"), nb::arg("defaults"), nb::arg("ordered"),
      nb::arg("n_classes"), nb::arg("ids"), nb::arg("histograms"), nb::arg("wholes"),
      nb::arg("prior_fractions"), nb::arg("path_start"), nb::arg("low"), nb::arg("high"),
      nb::arg("inside"), nb::arg("root_weights"), nb::arg("targets"), nb::arg("n_next"),
      nb::arg("settings"), nb::arg("n_jobs"),
      nb::sig("def leaf_splits(offsets: Ints, defaults: Ints, ordered: Flags, n_classes: Ints, "
              "ids: list[Indices], histograms: list[Ints], wholes: Ints, prior_fractions: Floats, "
              "path_start: Ints, low: Indices, high: Indices, inside: Flags, root_weights: Ints, "
              "targets: Indices, n_next: Ints, settings: dict[str, Any], "
              "n_jobs: int) -> tuple[Any, ...]"),
      "Return the split that grow_tree makes of leaves with counts of these ids, or of all if none "
      "are given: column (-1 where there is none), low, high, complete, left, right, also, "
      "gain and rank; then where the prior_fractions of its children begin, and those, which there "
      "are of "
      "BDeu only; then next_start, next_low, next_high and the weight of all "
      "histograms "
      "inside of the splits that come next, no more than n_next of each leaf.");
}

}  // namespace tacit::bindings
