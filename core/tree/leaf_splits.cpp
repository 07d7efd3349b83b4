#include "tree/leaf_splits.hpp"

#include <algorithm>

#include "tree/grower.hpp"

namespace tacit {
namespace {

// Lays counts out as the search reads them.
class LeafView {
 public:
  LeafView(const LeafToSplit& leaf, const LeafRegion* region) {
    view_ = {nullptr,    (leaf.n + 3) / 4 * 4, leaf.n, leaf.ids,
             leaf.whole, leaf.prior_fraction,  region};
    const bool entries = leaf.n_classes > kMostHistograms;
    const std::int64_t n_classes = entries ? 1 : leaf.n_classes;
    padded_.assign(static_cast<std::size_t>(view_.stride * n_classes), 0);
    for (std::int64_t p = 0; p < n_classes; ++p)
      std::copy(leaf.histograms + p * leaf.n, leaf.histograms + (p + 1) * leaf.n,
                padded_.begin() + p * view_.stride);
    view_.histograms = padded_.data();
    if (entries) list_entries(leaf);
  }
  const CountedLeaf<std::int64_t>& view() const { return view_; }

 private:
  void list_entries(const LeafToSplit& leaf) {
    start_.assign(static_cast<std::size_t>(leaf.n) + 1, 0);
    for (std::int64_t i = 0; i < leaf.n; ++i) {
      for (std::int64_t p = 1; leaf.histograms[i] > 0 && p < leaf.n_classes; ++p) {
        const std::int64_t count = leaf.histograms[p * leaf.n + i];
        if (count == 0) continue;
        class_.push_back(static_cast<std::int32_t>(p));
        count_.push_back(count);
      }
      start_[static_cast<std::size_t>(i) + 1] = static_cast<std::int64_t>(class_.size());
    }
    view_.entry_start = start_.data();
    view_.entry_class = class_.data();
    view_.entry_count = count_.data();
  }

  CountedLeaf<std::int64_t> view_;
  std::vector<std::int64_t> padded_, start_, count_;
  std::vector<std::int32_t> class_;
};

std::int64_t weight_inside(const LeafToSplit& leaf, const TreeSplit& split) {
  std::int64_t first = split.low, last = split.high, weight = 0;
  if (leaf.ids) {
    first = std::lower_bound(leaf.ids, leaf.ids + leaf.n, split.low) - leaf.ids;
    last = std::lower_bound(leaf.ids, leaf.ids + leaf.n, split.high) - leaf.ids;
  }
  for (std::int64_t p = 0; p < leaf.n_classes; ++p)
    for (std::int64_t i = first; i < last; ++i) weight += leaf.histograms[p * leaf.n + i];
  return weight;
}

LeafSplit best_split(const TreeColumns& columns, const LeafToSplit& leaf, const TreeRules& rules) {
  const TreeScore score(rules, leaf.n_classes, leaf.root_weight);
  const std::vector<std::int64_t> excluded{leaf.target};
  WayConditions conditions(columns);
  LeafWay way{leaf.prior_fraction};
  for (std::int64_t i = 0; i < leaf.n_conditions; ++i)
    way.last = conditions.add({way.last, columns.column_of[static_cast<std::size_t>(leaf.low[i])],
                               leaf.low[i], leaf.high[i], leaf.inside[i] != 0});
  const LeafRegion region{way};
  SplitSearch<std::int64_t> search(columns, score, rules, excluded, conditions);
  const LeafView counted(leaf, score.bdeu() ? &region : nullptr);
  LeafSplit result;
  result.split = search.best(counted.view());
  if (result.split.column < 0 || !score.accepts(result.split.gain, leaf.whole[0])) return {};
  if (leaf.n_next > 0)
    result.next = search.others(counted.view(), result.split, leaf.n_next,
                                [&](double gain) { return score.accepts(gain, leaf.whole[0]); });
  for (const TreeSplit& split : result.next)
    result.next_weight.push_back(weight_inside(leaf, split));
  result.rank = TreeStep::rank_of(result.split.gain);
  if (rules.bdeu)
    for (const LeafRegion& child : conditions.split(region, result.split))
      result.fractions.push_back(WayConditions::fraction(child));
  return result;
}

}  // namespace

std::vector<LeafSplit> leaf_splits(const TreeColumns& columns,
                                   const std::vector<LeafToSplit>& leaves, const TreeRules& rules,
                                   int n_jobs, Poll poll) {
  std::vector<LeafSplit> splits(leaves.size());
  for_blocks(static_cast<std::int64_t>(leaves.size()), n_jobs, poll,
             [&](std::int64_t k, StopToken& token) {
               token.check();
               const auto at = static_cast<std::size_t>(k);
               splits[at] = best_split(columns, leaves[at], rules);
             });
  return splits;
}

}  // namespace tacit
