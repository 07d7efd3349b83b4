// Centres of gravity of groups of rows.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"

namespace tacit {

// means (n_groups, n_columns): of the rows order[starts[g]:starts[g + 1]], none of them empty.
// Differences from the first row of a group are averaged, so that equal rows have just themselves
// as their mean. O(rows · n_columns); each group is added up in its order.
template <class X>
void group_means(const X* rows, std::int64_t n_columns, const std::int32_t* order,
                 const std::int64_t* starts, std::int64_t n_groups, X* means, int n_jobs,
                 Poll poll);

}  // namespace tacit
