// The best splits of leaves whose counts came from elsewhere: what grow_tree decides by, without
// its records.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "tree/columns.hpp"

namespace tacit {

// A leaf with counts of value ids, all of them or those that occur in it: histogram p of the i-th
// id is histograms[p * n + i]. Histograms are [all records, classes but the default in order], as
// in grow_tree.
struct LeafToSplit {
  std::int64_t n_classes, n;
  const std::int32_t* ids;  // ascending, or null for all
  const std::int64_t* histograms;
  const std::int64_t* whole;  // of the leaf, n_classes of them
  double prior_fraction;      // of the prior's weight
  // Under BDeu the conditions on the way to it, in any order: see LeafPaths.
  std::int64_t n_conditions;
  const std::int32_t *low, *high;
  const std::uint8_t* inside;
  std::int64_t root_weight;  // of all records of its tree
  std::int64_t target;       // a column that is not asked about
  std::int64_t n_next;       // how many other splits to list
};

struct LeafSplit {
  TreeSplit split;                        // its column is -1 where no split is worth making
  std::uint64_t rank = 0;                 // of its gain: larger ones are made first
  std::vector<double> fractions;          // of the prior's weight, for each child
  std::vector<TreeSplit> next;            // other splits that are worth making: SplitSearch::others
  std::vector<std::int64_t> next_weight;  // the sum of all histograms inside each of them
};

// The split that grow_tree would make of each leaf. O(n · histograms) a leaf.
std::vector<LeafSplit> leaf_splits(const TreeColumns& columns,
                                   const std::vector<LeafToSplit>& leaves, const TreeRules& rules,
                                   int n_jobs, Poll poll);

}  // namespace tacit
