// Which other items a regression lacks most.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"
#include "recommend/local_regressions.hpp"

namespace tacit {

// For each item j, of which the regression on N = near[near_start[j] … near_start[j + 1]) has the
// weights w: N and those of the other items that occur with j or with an item of N for which
// |A_ij − Σ_N A_ik w_k| · scale[i] is greatest, `most` in all; A = gram − shift shiftᵀ. Of equals,
// the first. found[j · most …) has them in ascending order, n_found[j] of them; |N| <= most.
// O(Σ_j Σ_{k ∈ N} length of row k of gram).
void strongest_residuals(const SparseSquare& gram, const std::int64_t* near_start,
                         const std::int32_t* near, const double* weights, const double* shift,
                         const double* scale, std::int64_t most, std::int32_t* found,
                         std::int64_t* n_found, int n_jobs, Poll poll);

}  // namespace tacit
