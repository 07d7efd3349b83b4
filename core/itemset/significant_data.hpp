// The records of a search for significant rules: positives first, items by how rare they are.
#pragma once

#include <cstdint>
#include <vector>

#include "itemset/significant.hpp"

namespace tacit {

// Rows of items, each ascending.
struct ItemRows {
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> items;
};

struct SignificantData {
  const SignificantQuery* query;
  std::vector<std::int32_t> item;                      // those that take part, the rarest first
  std::vector<std::int32_t> position;                  // of each record: positives come first
  ItemRows rows;                                       // by position; items by their rank
  std::vector<std::vector<std::int32_t>> occurrences;  // positions of each rank
};

// Items that hold too few records, or all, take no part. O(all occurrences of items).
SignificantData prepare_significant(const SignificantQuery& query, std::int64_t n_positives);

}  // namespace tacit
