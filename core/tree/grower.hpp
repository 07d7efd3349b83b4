// Grows one tree, best leaf first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "base/fast_log.hpp"
#include "tree/counts.hpp"

namespace tacit {

// What there is to do next: split a leaf, or (in graphs) merge it with another.
struct TreeStep {
  std::uint64_t rank;        // of its gain, rounded: rounding errors must not decide an order
  std::int32_t node, other;  // other is -1 for a split

  bool operator<(const TreeStep& step) const {
    if (rank != step.rank) return rank < step.rank;
    return node != step.node ? node > step.node : other > step.other;
  }
  static std::uint64_t rank_of(double gain) {
    constexpr int kBits = 24;  // dropped of 52
    return gain > 1e-9 ? (bits_of(gain) + (std::uint64_t{1} << (kBits - 1))) >> kBits : 0;
  }
};

template <class V, class T>
class TreeGrower {
 public:
  // Minority-class records are in scratch.minority; `target_column` is the column they come from,
  // or -1.
  TreeGrower(const TreeTable<V>& table, const TreeColumns& columns, const TreeTarget& target,
             std::int64_t n_stats, std::int64_t whole, const std::vector<std::int64_t>& excluded,
             const std::int64_t* pairs, std::int64_t target_column, const TreeRules& rules,
             TreeScratch& scratch, Meter& meter)
      : table_(table),
        target_(target),
        rules_(rules),
        n_stats_(n_stats),
        target_column_(target_column),
        score_(rules, n_stats, whole),
        members_(table, pairs != nullptr, scratch, meter),
        counts_(table, target, n_stats, pairs, rules.timed, scratch, meter),
        conditions_(columns),
        search_(columns, score_, rules, excluded, conditions_),
        meter_(meter) {}

  void grow() {
    const auto room = 2 * static_cast<std::size_t>(std::min<std::int64_t>(most_leaves(), 32));
    for (auto* ints : {&tree_.column, &tree_.low, &tree_.high, &tree_.first, &tree_.left,
                       &tree_.right, &tree_.children, &tree_.also})
      ints->reserve(room);
    leaves_.reserve(room);
    tree_.stats.reserve(room * static_cast<std::size_t>(n_stats_));
    add_root();
    while (!steps_.empty() && n_leaves_ < most_leaves()) {
      const std::int32_t node = steps_.top().node;
      steps_.pop();
      const Leaf& leaf = leaves_[static_cast<std::size_t>(node)];
      if (n_leaves_ - 1 + n_children(leaf.split) > most_leaves()) continue;
      split(node);
    }
  }

  // What makes a graph of the tree: see tree_graph.hpp.
  void merge();

  GrownTree take_tree() {
    tree_.n_stats = n_stats_;
    if (!rules_.merge) order_children();
    tree_.counting_seconds = counts_.seconds();
    return std::move(tree_);
  }

 private:
  struct Leaf {
    LeafMembers members;
    std::int64_t depth = 0;
    typename TreeCounts<V, T>::Histograms histograms;
    TreeSplit split;
    LeafRegion region;  // under BDeu
    bool alive = true;  // not split and not merged
  };

  static constexpr double kLeastGain = 1e-9;  // less is rounding, and might go on for ever

  void join(std::int32_t a, std::int32_t b);
  void renumber();

  // Children lie in the order of their parents, not in that of the splits.
  void order_children() {
    std::vector<std::int32_t> ordered;
    for (std::size_t node = 0; node < tree_.column.size(); ++node) {
      if (tree_.column[node] < 0) continue;
      const std::int32_t* children = tree_.children.data() + tree_.first[node];
      tree_.first[node] = static_cast<std::int32_t>(ordered.size());
      const std::int64_t many = tree_.complete[node] ? tree_.high[node] - tree_.low[node] + 1 : 2;
      ordered.insert(ordered.end(), children, children + many);
    }
    tree_.children = std::move(ordered);
  }

  std::int64_t most_leaves() const {
    return rules_.max_leaves < 0 ? std::int64_t{1} << 31 : rules_.max_leaves;
  }
  static std::int64_t n_children(const TreeSplit& split) {
    return split.complete ? split.high - split.low + 1 : 2;
  }
  std::int64_t* stats(std::int32_t node) {
    return tree_.stats.data() + static_cast<std::int64_t>(node) * n_stats_;
  }
  double prior_fraction(std::int32_t node) const {
    return tree_.prior_fraction[static_cast<std::size_t>(node)];
  }
  double score_of(std::int32_t node) { return score_.leaf(stats(node), prior_fraction(node)); }

  std::int32_t add_node(double prior_fraction) {
    const auto node = static_cast<std::int32_t>(tree_.column.size());
    tree_.column.push_back(-1);
    for (auto* ints : {&tree_.low, &tree_.high, &tree_.first}) ints->push_back(0);
    tree_.left.push_back(-1);
    tree_.right.push_back(-1);
    tree_.also.push_back(-1);
    tree_.complete.push_back(0);
    tree_.gain.push_back(0.0);
    tree_.prior_fraction.push_back(prior_fraction);
    tree_.stats.resize(tree_.stats.size() + static_cast<std::size_t>(n_stats_), 0);
    leaves_.emplace_back();
    return node;
  }

  void add_root() {
    const std::int32_t node = add_node(1.0);
    Leaf& leaf = leaves_[0];
    leaf.members = members_.root();
    leaf.region = {LeafWay{}};
    std::int64_t* root_stats = stats(node);
    if (table_.weights)
      for (std::int64_t r = 0; r < table_.records.n_records; ++r)
        root_stats[0] += table_.weights[r];
    else
      root_stats[0] = table_.records.n_records;
    add_minority(leaf.members, root_stats);
    n_leaves_ = 1;
    if (!worth_counting(node)) return;
    if (counts_.large(leaf.members.size()))
      leaf.histograms = counts_.count_root(leaf.members, target_column_);
    evaluate(node);
  }

  void add_minority(const LeafMembers& leaf, std::int64_t* sums) const {
    const MinorityRecord* minority = members_.minority(leaf);
    const std::int64_t n = leaf.minority_end - leaf.minority_begin;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t r = minority[i].record;
      if (target_.first_moments) {
        sums[1] += target_.first_moments[r];
        sums[2] += target_.second_moments[r];
      } else {
        sums[minority[i].histogram] += table_.weights ? table_.weights[r] : 1;
      }
    }
  }

  void add_records(LeafMembers& leaf, std::int64_t* sums) {
    if (!table_.weights) {
      sums[0] += leaf.size();
      return;
    }
    for (const std::int32_t r : members_.default_class(leaf)) sums[0] += table_.weights[r];
    const MinorityRecord* minority = members_.minority(leaf);
    for (std::int64_t i = 0; i < leaf.n_minority(); ++i)
      sums[0] += table_.weights[minority[i].record];
  }

  bool worth_counting(std::int32_t node) {
    const Leaf& leaf = leaves_[static_cast<std::size_t>(node)];
    return worth_splitting(rules_, n_stats_, stats(node), stats(0), leaf.depth);
  }

  // Finds the best split of a leaf, from its histograms or by counting it, and queues it if it
  // pays.
  void evaluate(std::int32_t node) {
    Leaf& leaf = leaves_[static_cast<std::size_t>(node)];
    const LeafRegion* region = score_.bdeu() ? &leaf.region : nullptr;
    if (leaf.histograms) {
      leaf.split =
          search_.best(counts_.view(leaf.histograms, stats(node), prior_fraction(node), region));
    } else {
      leaf.split =
          search_.best(counts_.count_small(leaf.members, members_.default_class(leaf.members),
                                           stats(node), prior_fraction(node), region));
    }
    if (leaf.split.column >= 0 && score_.accepts(leaf.split.gain, stats(node)[0])) {
      steps_.push({TreeStep::rank_of(leaf.split.gain), node, -1});
      return;
    }
    leaf.split = {};
    counts_.release(leaf.histograms);
  }

  // Makes the children of a leaf, shares its counts out among them, and looks at each.
  void split(std::int32_t node) {
    const TreeSplit split = leaves_[static_cast<std::size_t>(node)].split;
    auto parts = members_.split(leaves_[static_cast<std::size_t>(node)].members, split);
    const auto first = static_cast<std::int32_t>(leaves_.size());
    const std::size_t n_parts = parts.size();
    note_split(node, split, std::move(parts));
    const bool go_on = rules_.merge || n_leaves_ < most_leaves();  // merging makes room again
    Leaf& leaf = leaves_[static_cast<std::size_t>(node)];
    if (go_on && leaf.histograms) divide_histograms(node, split, first, n_parts);
    counts_.release(leaf.histograms);
    for (std::size_t k = 0; k < n_parts; ++k) {
      const std::int32_t child = first + static_cast<std::int32_t>(k);
      if (go_on && worth_counting(child))
        evaluate(child);
      else
        counts_.release(leaves_[static_cast<std::size_t>(child)].histograms);
    }
  }

  void note_split(std::int32_t node, const TreeSplit& split, std::vector<LeafMembers> parts) {
    const auto at = static_cast<std::size_t>(node);
    tree_.column[at] = split.column;
    tree_.low[at] = split.low;
    tree_.high[at] = split.high;
    tree_.left[at] = split.left;
    tree_.right[at] = split.right;
    tree_.also[at] = split.also;
    tree_.complete[at] = split.complete;
    tree_.gain[at] = split.gain;
    tree_.first[at] = static_cast<std::int32_t>(tree_.children.size());
    leaves_[at].alive = false;
    const std::int64_t depth = leaves_[at].depth + 1;
    std::vector<std::int64_t> rest(stats(node), stats(node) + n_stats_);
    std::vector<LeafRegion> regions;
    if (rules_.bdeu) regions = conditions_.split(std::exchange(leaves_[at].region, {}), split);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const std::int32_t child = add_node(rules_.bdeu ? WayConditions::fraction(regions[k]) : 1.0);
      tree_.children.push_back(child);
      Leaf& leaf = leaves_.back();
      if (rules_.bdeu) leaf.region = std::move(regions[k]);
      leaf.members = std::move(parts[k]);
      leaf.depth = depth;
      std::int64_t* child_stats = stats(child);
      if (k + 1 < parts.size()) {
        add_records(leaf.members, child_stats);
        add_minority(leaf.members, child_stats);
        for (std::int64_t p = 0; p < n_stats_; ++p)
          rest[static_cast<std::size_t>(p)] -= child_stats[p];
      } else {
        std::copy(rest.begin(), rest.end(), child_stats);
      }
    }
    n_leaves_ += static_cast<std::int64_t>(parts.size()) - 1;
  }

  // The largest child's histograms are those of its parent, less those of its siblings.
  void divide_histograms(std::int32_t node, const TreeSplit& split, std::int32_t first,
                         std::size_t n_parts) {
    const auto child_at = leaves_.begin() + first;
    const auto larger = [](const Leaf& a, const Leaf& b) {
      return a.members.size() < b.members.size();
    };
    const auto largest =
        std::max_element(child_at, child_at + static_cast<std::int64_t>(n_parts), larger);
    if (!counts_.large(largest->members.size())) return;
    auto histograms = std::move(leaves_[static_cast<std::size_t>(node)].histograms);
    for (std::size_t k = 0; k < n_parts; ++k) {
      const std::int32_t child = first + static_cast<std::int32_t>(k);
      Leaf& leaf = leaves_[static_cast<std::size_t>(child)];
      if (&leaf == &*largest) continue;
      const auto& default_class = members_.default_class(leaf.members);
      if (!counts_.large(leaf.members.size()) || !worth_counting(child)) {
        counts_.subtract(leaf.members, default_class, histograms);
        continue;
      }
      const auto* others = members_.others();
      const bool by_pairs = counts_.has_pairs() && !split.complete && k == 0 && others &&
                            static_cast<std::int64_t>(others->size()) < leaf.members.size();
      leaf.histograms = by_pairs ? counts_.count_by_pairs(leaf.members, split, *others)
                                 : counts_.count(leaf.members, default_class);
      counts_.subtract(leaf.histograms, histograms);
    }
    largest->histograms = std::move(histograms);
  }

  const TreeTable<V>& table_;
  const TreeTarget& target_;
  const TreeRules& rules_;
  std::int64_t n_stats_, target_column_;
  TreeScore score_;
  TreeMembers<V> members_;
  TreeCounts<V, T> counts_;
  WayConditions conditions_;
  SplitSearch<T> search_;
  Meter& meter_;
  GrownTree tree_;
  std::vector<Leaf> leaves_;
  std::priority_queue<TreeStep> steps_;
  std::int64_t n_leaves_ = 0;
};

}  // namespace tacit
