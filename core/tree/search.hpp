// Finding the best split of a leaf from its counts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "tree/region.hpp"
#include "tree/scores.hpp"
#include "tree/split_prices.hpp"

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
        region_(columns),
        prices_(columns, rules) {}

  // The best split; its column is -1 if there is none at all. O(n · histograms).
  TreeSplit best(const CountedLeaf<T>& leaf);

  // After best(): no more than `most` other binary splits, the best first, that `accepts` (a
  // function of the gain) and that have no more than half of the leaf inside. Of a column with
  // thresholds only the best one is given, and none if the leaf's best split is of that column or
  // if more than a range goes inside.
  template <class F>
  std::vector<TreeSplit> others(const CountedLeaf<T>& leaf, const TreeSplit& best,
                                std::int64_t most, F accepts) const {
    std::vector<Choice> candidates;
    for (std::int64_t k = 0; k < n_listed_; ++k) {
      const double gain = gains_[static_cast<std::size_t>(k)];
      const std::int64_t i = position(k);
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
    for (std::size_t k = 0; k < n; ++k) {
      const TreeSplit split = describe(leaf, candidates[k]);
      if (split.also < 0) splits.push_back(split);
    }
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
    // The order within a column: a value or threshold, a threshold with missing values below it,
    // the default, all values.
    int kind = kValue;
    std::int64_t position = 0;
  };
  static constexpr double kNoGain = -std::numeric_limits<double>::infinity();
  static std::int64_t whole_vectors(std::int64_t n) { return (n + 3) / 4 * 4; }
  static constexpr int kValue = 0, kMissingBelow = 1, kDefault = 2, kComplete = 3;
  // A run of thresholds that are tried with missing values below them, too: candidate `first` is
  // that of the first id, `weight` that of the missing values.
  struct MissingRun {
    Run run;
    std::int64_t first, weight;
  };

  void find_runs(const CountedLeaf<T>& leaf);
  void find_fractions(const CountedLeaf<T>& leaf);
  void find_entry_gains(const CountedLeaf<T>& leaf);
  std::int64_t missing_weight(const CountedLeaf<T>& leaf, const Run& run) const;
  void gather_missing(const CountedLeaf<T>& leaf, const MissingRun& missing, std::int64_t stride);
  void gather_sides(const CountedLeaf<T>& leaf);
  void find_able(const CountedLeaf<T>& leaf);
  void find_prices(const CountedLeaf<T>& leaf);
  std::int64_t count_splits(const CountedLeaf<T>& leaf, const Run& run) const;
  void pay(const CountedLeaf<T>& leaf);
  void exclude(const CountedLeaf<T>& leaf);
  bool is_excluded(std::int32_t column) const;
  bool missing_joins(const CountedLeaf<T>& leaf, std::int64_t column,
                     std::int64_t lower_weight) const;
  std::span<double> gains_of(const MissingRun& missing) {
    return {gains_.data() + missing.first,
            static_cast<std::size_t>(missing.run.end - missing.run.begin)};
  }
  void drop_binary(const CountedLeaf<T>& leaf);
  void find_complete(const CountedLeaf<T>& leaf);
  double complete_gain(const CountedLeaf<T>& leaf, const Run& run);
  TreeSplit describe(const CountedLeaf<T>& leaf, const Choice& choice) const;
  void describe_threshold(const CountedLeaf<T>& leaf, const Choice& choice, TreeSplit& split) const;
  std::int64_t first_above_default(const CountedLeaf<T>& leaf, const Run& run) const;
  // The position among the leaf's ids of the k-th one that has a gain.
  std::int64_t position(std::int64_t k) const {
    return is_some_ ? able_[static_cast<std::size_t>(k)] : k;
  }
  bool has_thresholds(std::int64_t column) const {
    return columns_.is_ordered(column) && columns_.arity(column) > 2;
  }

  const TreeColumns& columns_;
  const TreeScore& score_;
  const TreeRules& rules_;
  const std::vector<std::int64_t>& excluded_;
  const WayConditions& conditions_;
  RegionColumns region_;
  SplitPrices prices_;
  std::vector<Run> runs_;
  std::vector<std::int64_t> rests_;  // runs whose default is set against the rest
  std::vector<MissingRun> missing_runs_;
  std::int64_t n_candidates_ = 0;  // one for each id, then the rests, then those of missing_runs_
  // If only some ids are looked at: their positions. n_listed_ is how many ids have gains.
  bool is_some_ = false;
  std::vector<std::int32_t> able_;
  std::vector<T> able_sides_;  // the weights of their smaller sides
  std::int64_t n_listed_ = 0;
  std::vector<std::pair<std::int32_t, double>> reach_;  // columns, and what they could gain
  std::vector<T> sides_;
  std::vector<double> fractions_, gains_;
  std::vector<Choice> complete_choices_;
};

}  // namespace tacit
