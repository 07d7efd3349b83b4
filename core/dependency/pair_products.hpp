// Sums of products of two columns, for a list of pairs of columns.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"

namespace tacit {

// Columns one after another, each n_rows long.
struct NumberBlock {
  const double* numbers;
  std::int64_t n_columns, n_rows;
};

// For pair k of columns x and y, adds Σ xy, Σ x²y², Σ x³y and Σ xy³ to sums[4k …]. pairs holds two
// columns for each. The order of summation is fixed, so the result does not depend on n_jobs nor on
// the processor. O(n_pairs · n_rows).
void pair_products(const NumberBlock& block, const std::int64_t* pairs, std::int64_t n_pairs,
                   double* sums, int n_jobs, Poll poll);

// out[c * n_rows + r] = x[rows[r], columns[c]] for an array with any strides, counted in numbers.
// O(n_rows · n_columns).
template <class T>
struct NumberGrid {
  const T* numbers;
  std::int64_t row_stride, column_stride;
};
template <class T>
void gather_columns(const NumberGrid<T>& grid, const std::int64_t* rows, std::int64_t n_rows,
                    const std::int64_t* columns, std::int64_t n_columns, double* out, int n_jobs,
                    Poll poll);

}  // namespace tacit
