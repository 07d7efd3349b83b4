// Ridge regressions of items on a few others each, from the counts of pairs.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"

namespace tacit {

// A square sparse matrix in compressed rows, columns ascending.
struct SparseSquare {
  std::int64_t n;
  const std::int64_t* start;   // n + 1
  const std::int32_t* column;  // start[n]
  const double* value;         // start[n]
};

// For each item j with the neighbours N = near[near_start[j] … near_start[j + 1]), ascending and
// without j: weights[the same range] = (A_NN + l2 I)⁻¹ A_Nj with A = gram − shift shiftᵀ, by
// Cholesky. gram is symmetric and l2 > 0. O(Σ |N|³ / 3 + what is read of rows of gram).
void local_regressions(const SparseSquare& gram, const std::int64_t* near_start,
                       const std::int32_t* near, const double* shift, double l2, double* weights,
                       int n_jobs, Poll poll);

}  // namespace tacit
