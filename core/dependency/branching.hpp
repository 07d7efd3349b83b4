// Maximum branchings: of each column at most one parent, no cycles, the greatest sum of weights.
#pragma once

#include <cstdint>
#include <vector>

namespace tacit {

// weights[from · n + to]; arcs of weight 0 or less are never used. Returns the parent of each
// column, or -1. Ties go to no parent, then to the smaller one. After Chu and Liu, and Edmonds.
std::vector<std::int32_t> max_branching(const double* weights, std::int64_t n);

}  // namespace tacit
