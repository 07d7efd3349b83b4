#include "tree/leaf_splits.hpp"

#include <algorithm>

#include "tree/grower.hpp"

namespace tacit {
namespace {

// Lays counts out as the search reads them.
class LeafView {
 public:
  explicit LeafView(const LeafToSplit& leaf) {
    view_ = {nullptr, (leaf.n + 3) / 4 * 4, leaf.n, leaf.ids, leaf.whole, leaf.share};
    const bool entries = leaf.n_planes > kMostPlanes;
    const std::int64_t n_planes = entries ? 1 : leaf.n_planes;
    padded_.assign(static_cast<std::size_t>(view_.stride * n_planes), 0);
    for (std::int64_t p = 0; p < n_planes; ++p)
      std::copy(leaf.planes + p * leaf.n, leaf.planes + (p + 1) * leaf.n,
                padded_.begin() + p * view_.stride);
    view_.planes = padded_.data();
    if (entries) list_entries(leaf);
  }
  const CountedLeaf<std::int64_t>& view() const { return view_; }

 private:
  void list_entries(const LeafToSplit& leaf) {
    start_.assign(static_cast<std::size_t>(leaf.n) + 1, 0);
    for (std::int64_t i = 0; i < leaf.n; ++i) {
      for (std::int64_t p = 1; leaf.planes[i] > 0 && p < leaf.n_planes; ++p) {
        const std::int64_t count = leaf.planes[p * leaf.n + i];
        if (count == 0) continue;
        plane_.push_back(static_cast<std::int32_t>(p));
        count_.push_back(count);
      }
      start_[static_cast<std::size_t>(i) + 1] = static_cast<std::int64_t>(plane_.size());
    }
    view_.entry_start = start_.data();
    view_.entry_plane = plane_.data();
    view_.entry_count = count_.data();
  }

  CountedLeaf<std::int64_t> view_;
  std::vector<std::int64_t> padded_, start_, count_;
  std::vector<std::int32_t> plane_;
};

std::int64_t weight_inside(const LeafToSplit& leaf, const TreeSplit& split) {
  std::int64_t first = split.low, last = split.high, weight = 0;
  if (leaf.ids) {
    first = std::lower_bound(leaf.ids, leaf.ids + leaf.n, split.low) - leaf.ids;
    last = std::lower_bound(leaf.ids, leaf.ids + leaf.n, split.high) - leaf.ids;
  }
  for (std::int64_t p = 0; p < leaf.n_planes; ++p)
    for (std::int64_t i = first; i < last; ++i) weight += leaf.planes[p * leaf.n + i];
  return weight;
}

LeafSplit best_split(const TreeColumns& columns, const LeafToSplit& leaf, const TreeRules& rules) {
  const TreeScore score(rules, leaf.n_planes, leaf.root_weight);
  const std::vector<std::int64_t> excluded{leaf.target};
  SplitSearch<std::int64_t> search(columns, score, rules.binary, rules.complete, excluded);
  const LeafView counted(leaf);
  LeafSplit found;
  found.split = search.best(counted.view());
  if (found.split.column < 0 || !score.accepts(found.split.gain, leaf.whole[0])) return {};
  if (leaf.n_next > 0)
    found.next = search.others(counted.view(), found.split, leaf.n_next,
                               [&](double gain) { return score.accepts(gain, leaf.whole[0]); });
  for (const TreeSplit& split : found.next) found.next_weight.push_back(weight_inside(leaf, split));
  found.rank = TreeStep::rank_of(found.split.gain);
  found.inside_share = columns.part_of_share(found.split, true) * leaf.share;
  found.outside_share = columns.part_of_share(found.split, false) * leaf.share;
  return found;
}

}  // namespace

std::vector<LeafSplit> leaf_splits(const TreeColumns& columns,
                                   const std::vector<LeafToSplit>& leaves, const TreeRules& rules,
                                   int n_jobs, Poll poll) {
  std::vector<LeafSplit> found(leaves.size());
  for_blocks(static_cast<std::int64_t>(leaves.size()), n_jobs, poll,
             [&](std::int64_t k, Pulse& pulse) {
               pulse.beat();
               const auto at = static_cast<std::size_t>(k);
               found[at] = best_split(columns, leaves[at], rules);
             });
  return found;
}

}  // namespace tacit
