// All sets of parents that can be part of a net of the highest score, column by column.
#pragma once

#include <cstdint>
#include <vector>

#include "net/families.hpp"

namespace tacit {

struct ParentSet {
  double score;
  std::uint64_t parents;  // bit p for column p
};

struct ParentSets {
  // Of each column, best first. None has a subset that is as good: in a net, that could take its
  // place.
  std::vector<std::vector<ParentSet>> of;
  // At least the score of any set of a column, whether it was looked at or not; infinite where
  // nothing is known.
  std::vector<double> bounds;
  bool complete = false;  // every set is in `of`, or was shown to be no better than a subset
  std::int64_t n_scored = 0;
};

struct ParentSetRules {
  int max_parents;
  const std::uint8_t* required;   // [from · n + to]
  const std::uint8_t* forbidden;  // [from · n + to]
  int n_jobs;
  std::int64_t most_sets;  // of a size, of all columns together; where there are more, it ends
};

constexpr int kMostExact = 64;  // columns

// Sizes one after another, as in frequent itemsets: a set is looked at if none of its subsets shows
// that all larger ones are no better. Records that are equal are counted once. The families of all
// columns of a set share one pass over records: O(records) for every set of columns, and
// O(cells) for each of its columns. `go_on` is asked before each size and now and then within.
ParentSets find_parent_sets(const HeldFamilies& families, const ParentSetRules& rules, Poll poll,
                            const std::function<bool()>& go_on);

}  // namespace tacit
