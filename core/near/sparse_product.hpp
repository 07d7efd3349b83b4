// Sparse rows of numbers: their products with narrow dense matrices, and moments of their columns.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"

namespace tacit {

// CSR; column indices are in [0, n_columns).
template <class X>
struct SparseRows {
  const std::int64_t* indptr;
  const std::int32_t* indices;
  const X* numbers;
  std::int64_t n_rows, n_columns;
};

// out (n_rows, width) = rows · right (n_columns, width), row by row. O(stored · width).
template <class X>
void sparse_product(const SparseRows<X>& rows, const double* right, std::int64_t width, double* out,
                    int n_jobs, Poll poll);

// out (n_columns, width) = rowsᵀ · right (n_rows, width). O(stored · width). The rows are cut into
// a number of parts that follows from their size alone; parts are added in their order.
template <class X>
void transposed_sparse_product(const SparseRows<X>& rows, const double* right, std::int64_t width,
                               double* out, int n_jobs, Poll poll);

// Of each column, zeros included: mean, variance (divided by n_rows, from the mean), extremes.
struct ColumnMoments {
  double *mean, *variance, *lower, *upper;
};
template <class X>
void sparse_column_moments(const SparseRows<X>& rows, const ColumnMoments& out, Poll poll);

}  // namespace tacit
