// Finding the best split of a leaf from its counts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/region.hpp"
#include "tree/scores.hpp"

namespace tacit {

// The counts of a leaf by value id. A large leaf has all ids; a small one lists those that occur.
// Histogram p of the i-th id is histograms[p * stride + i]; behind n there is room up to a multiple
// of 4. With very many classes there are no histograms but the first, and the others come as
// entries.
template <class T>
struct CountedLeaf {
  const T* histograms;
  std::int64_t stride, n;
  const std::int32_t* ids;  // ascending, or null for 0, 1, …
  const std::int64_t* whole;
  double prior_fraction;
  const LeafRegion* region = nullptr;         // under BDeu
  const std::int64_t* entry_start = nullptr;  // n + 1, or null where all histograms are there
  const std::int32_t* entry_class = nullptr;
  const T* entry_count = nullptr;

  std::int64_t id(std::int64_t i) const { return ids ? ids[i] : i; }
};

template <class T>
class SplitSearch {
 public:
  SplitSearch(const TreeColumns& columns, const TreeScore& score, const TreeRules& rules,
              const std::vector<std::int64_t>& excluded, const WayConditions& conditions)
      : columns_(columns),
        score_(score),
        rules_(rules),
        excluded_(excluded),
        conditions_(conditions),
        region_(columns) {}

  // The best split; its column is -1 if there is none at all. O(n · histograms).
  TreeSplit best(const CountedLeaf<T>& leaf);

  // After best(): no more than `most` other binary splits, the best first, that `accepts` (a
  // function of the gain) and that have no more than half of the leaf inside. Of a column with
  // thresholds only the best one is given, and none if the leaf's best split is of that column.
  template <class F>
  std::vector<TreeSplit> others(const CountedLeaf<T>& leaf, const TreeSplit& best,
                                std::int64_t most, F accepts) const {
    std::vector<Choice> candidates;
    for (std::int64_t i = 0; i < leaf.n; ++i) {
      const double gain = gains_[static_cast<std::size_t>(i)];
      if (!accepts(gain) || leaf.histograms[i] == 0 || 2 * leaf.histograms[i] > leaf.whole[0])
        continue;
      const std::int32_t column = columns_.column_of[static_cast<std::size_t>(leaf.id(i))];
      if (has_thresholds(column)) {
        if (column == best.column) continue;
        if (!candidates.empty() && candidates.back().column == column) {
          if (gain > candidates.back().gain) candidates.back() = {gain, column, 0, i};
          continue;
        }
      } else if (!best.complete && leaf.id(i) == best.low && best.high == best.low + 1) {
        continue;
      }
      candidates.push_back({gain, column, 0, i});
    }
    const auto better = [](const Choice& a, const Choice& b) {
      return a.gain != b.gain ? a.gain > b.gain : a.position < b.position;
    };
    const auto n = std::min<std::size_t>(candidates.size(), static_cast<std::size_t>(most));
    std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(n),
                      candidates.end(), better);
    std::vector<TreeSplit> splits;
    for (std::size_t k = 0; k < n; ++k) splits.push_back(describe(leaf, candidates[k]));
    return splits;
  }

 private:
  struct Run {  // the positions of one column's ids
    std::int32_t column;
    std::int64_t begin, end;
  };
  struct Choice {
    double gain;
    std::int32_t column = -1;
    int kind = 0;  // the order within a column: a value or threshold, the default, all values
    std::int64_t position = 0;
  };

  void find_runs(const CountedLeaf<T>& leaf);
  void find_fractions(const CountedLeaf<T>& leaf);
  void find_entry_gains(const CountedLeaf<T>& leaf);
  void gather_sides(const CountedLeaf<T>& leaf);
  void pay(const CountedLeaf<T>& leaf);
  void exclude(const CountedLeaf<T>& leaf);
  bool is_excluded(std::int32_t column) const;
  void drop_binary(const CountedLeaf<T>& leaf);
  void find_complete(const CountedLeaf<T>& leaf);
  double complete_gain(const CountedLeaf<T>& leaf, const Run& run);
  TreeSplit describe(const CountedLeaf<T>& leaf, const Choice& choice) const;
  void describe_threshold(const CountedLeaf<T>& leaf, std::int64_t position,
                          TreeSplit& split) const;
  std::int64_t first_above_default(const CountedLeaf<T>& leaf, const Run& run) const;
  bool has_thresholds(std::int64_t column) const {
    return columns_.is_ordered(column) && columns_.arity(column) > 2;
  }

  const TreeColumns& columns_;
  const TreeScore& score_;
  const TreeRules& rules_;
  const std::vector<std::int64_t>& excluded_;
  const WayConditions& conditions_;
  RegionColumns region_;
  std::vector<Run> runs_;
  std::vector<std::int64_t> rests_;  // runs whose default is set against the rest
  std::vector<T> sides_;
  std::vector<double> fractions_, gains_;
  std::vector<Choice> complete_choices_;
};

}  // namespace tacit
