// From a tree to a graph: leaves are merged and split for as long as that raises the score.
#pragma once

#include <vector>

#include "tree/grower.hpp"

namespace tacit {

// Merging two leaves saves what a leaf costs; it pays where their classes are alike.
// Each step takes the best of all merges and splits. Steps wait in a queue, and those of leaves
// that are gone are dropped when their turn comes. O(leaves²) merges are looked at.
template <class V, class T>
void TreeGrower<V, T>::merge() {
  struct OpenLeaf {
    std::int32_t node;
    double score;
  };
  std::vector<OpenLeaf> open;
  const auto queue_merges = [&](std::int32_t node) {
    const double node_score = score_of(node);
    std::vector<std::int64_t> both(static_cast<std::size_t>(n_stats_));
    std::erase_if(open, [&](const OpenLeaf& leaf) {
      return !leaves_[static_cast<std::size_t>(leaf.node)].alive;
    });
    meter_.spend(static_cast<std::int64_t>(open.size()) * n_stats_ * 32);
    for (const auto& [other, score] : open) {
      for (std::int64_t p = 0; p < n_stats_; ++p)
        both[static_cast<std::size_t>(p)] = stats(node)[p] + stats(other)[p];
      const double gain = score_.leaf(both.data(), prior_fraction(node) + prior_fraction(other)) -
                          node_score - score - score_.per_leaf();
      if (gain > kLeastGain)
        steps_.push({TreeStep::rank_of(gain), std::min(node, other), std::max(node, other)});
    }
    open.push_back({node, node_score});
  };

  steps_ = {};
  for (std::int32_t node = 0; node < static_cast<std::int32_t>(leaves_.size()); ++node) {
    Leaf& leaf = leaves_[static_cast<std::size_t>(node)];
    if (!leaf.alive) continue;
    counts_.release(leaf.histograms);
    queue_merges(node);
    if (leaf.split.column >= 0)  // there was no room for it
      steps_.push({TreeStep::rank_of(leaf.split.gain), node, -1});
  }
  std::vector<TreeStep> waiting;  // splits without room
  while (!steps_.empty()) {
    const TreeStep step = steps_.top();
    steps_.pop();
    const bool is_split = step.other < 0;
    if (!leaves_[static_cast<std::size_t>(step.node)].alive) continue;
    if (!is_split && !leaves_[static_cast<std::size_t>(step.other)].alive) continue;
    const auto next = static_cast<std::int32_t>(leaves_.size());
    if (is_split) {
      const TreeSplit& planned = leaves_[static_cast<std::size_t>(step.node)].split;
      if (planned.gain <= kLeastGain) continue;
      if (n_leaves_ - 1 + n_children(planned) > most_leaves()) {
        waiting.push_back(step);
        continue;
      }
      split(step.node);
    } else {
      join(step.node, step.other);
      for (const TreeStep& later : waiting) steps_.push(later);
      waiting.clear();
    }
    for (auto node = next; node < static_cast<std::int32_t>(leaves_.size()); ++node)
      queue_merges(node);
  }
  renumber();
}

// A new leaf takes the position of two.
template <class V, class T>
void TreeGrower<V, T>::join(std::int32_t a, std::int32_t b) {
  LeafRegion region = std::move(leaves_[static_cast<std::size_t>(a)].region);
  const LeafRegion& other = leaves_[static_cast<std::size_t>(b)].region;
  region.insert(region.end(), other.begin(), other.end());
  const std::int32_t node = add_node(rules_.bdeu ? WayConditions::fraction(region) : 1.0);
  for (std::int64_t p = 0; p < n_stats_; ++p) stats(node)[p] = stats(a)[p] + stats(b)[p];
  Leaf& first = leaves_[static_cast<std::size_t>(a)];
  Leaf& second = leaves_[static_cast<std::size_t>(b)];
  Leaf& both = leaves_[static_cast<std::size_t>(node)];
  both.members = members_.join(first.members, second.members);
  both.depth = std::max(first.depth, second.depth);
  both.region = std::move(region);
  second.region = {};
  first.alive = second.alive = false;
  counts_.release(first.histograms);
  counts_.release(second.histograms);
  for (std::int32_t& child : tree_.children)
    if (child == a || child == b) child = node;
  --n_leaves_;
  if (worth_counting(node)) {
    if (counts_.large(both.members.size()))
      both.histograms = counts_.count(both.members, members_.default_class(both.members));
    evaluate(node);
  }
}

// Numbers nodes anew, so that each comes after all of its parents, and drops merged leaves.
template <class V, class T>
void TreeGrower<V, T>::renumber() {
  const std::size_t n = tree_.column.size();
  std::vector<std::int32_t> parents(n, 0), order{0}, number(n, -1);
  const auto children = [&](std::int32_t node, const auto& body) {
    const auto at = static_cast<std::size_t>(node);
    if (tree_.column[at] < 0) return;
    const std::int64_t many = tree_.complete[at] ? tree_.high[at] - tree_.low[at] + 1 : 2;
    for (std::int64_t k = 0; k < many; ++k)
      body(tree_.children[static_cast<std::size_t>(tree_.first[at] + k)]);
  };
  std::vector<std::uint8_t> seen(n, 0);
  std::vector<std::int32_t> reached{0};
  seen[0] = 1;
  for (std::size_t i = 0; i < reached.size(); ++i)
    children(reached[i], [&](std::int32_t child) {
      ++parents[static_cast<std::size_t>(child)];
      if (!seen[static_cast<std::size_t>(child)]) reached.push_back(child);
      seen[static_cast<std::size_t>(child)] = 1;
    });
  for (std::size_t i = 0; i < order.size(); ++i) {
    number[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
    children(order[i], [&](std::int32_t child) {
      if (--parents[static_cast<std::size_t>(child)] == 0) order.push_back(child);
    });
  }
  GrownTree out;
  for (const std::int32_t node : order) {
    const auto at = static_cast<std::size_t>(node);
    out.column.push_back(tree_.column[at]);
    out.low.push_back(tree_.low[at]);
    out.high.push_back(tree_.high[at]);
    out.left.push_back(tree_.left[at]);
    out.right.push_back(tree_.right[at]);
    out.also.push_back(tree_.also[at]);
    out.complete.push_back(tree_.complete[at]);
    out.gain.push_back(tree_.gain[at]);
    out.prior_fraction.push_back(tree_.prior_fraction[at]);
    out.stats.insert(out.stats.end(), stats(node), stats(node) + n_stats_);
    out.first.push_back(static_cast<std::int32_t>(tree_.column[at] < 0 ? 0 : out.children.size()));
    children(node, [&](std::int32_t child) {
      out.children.push_back(number[static_cast<std::size_t>(child)]);
    });
  }
  tree_ = std::move(out);
}

}  // namespace tacit
