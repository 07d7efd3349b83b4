// The itemsets of all branches as one list, in the order in which they are shown.
#pragma once

#include <vector>

#include "itemset/collector.hpp"

namespace tacit {

// The sets of at least min_count: the most frequent first, of those level the smaller, then as the
// branches found them, or by their items where they are to be `sorted`. The items of a set are written as labels[item], which ascends with the item;
// as they are without labels. Sets are placed by counting those before them: O(n_sets + n_items),
// and O(n_sets log n_sets) where counts spread over far more numbers than there are sets. What has
// been placed is freed.
Itemsets ranked_itemsets(std::vector<Collector>& found, std::int64_t min_count,
                         const std::uint32_t* labels, bool sorted);

}  // namespace tacit
