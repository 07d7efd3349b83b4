// What near pairs of a grid are worth: 1 for equal coordinates, 0 from an interval's width apart.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"

namespace tacit {

// Weights of the entries (i, j) of a CSR matrix: the product of max(0, 1 - |u_k - v_k|) over the
// n_dimensions coordinates u of row i and v of column j, in the rows of two matrices. As a function
// of u - v it is positive definite in any number of dimensions: each factor is the overlap of two
// intervals of length 1. O(entries · n_dimensions).
void hat_weights(const std::int64_t* indptr, const std::int32_t* indices, std::int64_t n_rows,
                 const double* rows, const double* columns, std::int64_t n_dimensions,
                 double* weights, int n_jobs, Poll poll);

}  // namespace tacit
