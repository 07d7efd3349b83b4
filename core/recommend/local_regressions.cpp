#include "recommend/local_regressions.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace tacit {
namespace {

constexpr std::int64_t kItems = 64;   // of a block
constexpr std::int64_t kSearch = 12;  // steps of a search cost as much as so many of a walk

// The counts of one row at the neighbours first … last: by a walk along the row where it is short,
// else by searching it for each.
void gather_row(const SparseSquare& gram, std::int64_t row, const std::int32_t* first,
                const std::int32_t* last, double* out) {
  const std::int32_t* begin = gram.column + gram.start[row];
  const std::int32_t* const end = gram.column + gram.start[row + 1];
  const std::int64_t k = last - first;
  if (end - begin <= kSearch * k) {
    for (; first != last; ++first, ++out) {
      while (begin != end && *begin < *first) ++begin;
      *out = begin != end && *begin == *first ? gram.value[begin - gram.column] : 0.0;
    }
    return;
  }
  for (; first != last; ++first, ++out) {
    begin = std::lower_bound(begin, end, *first);
    *out = begin != end && *begin == *first ? gram.value[begin - gram.column] : 0.0;
  }
}

// The Cholesky factor U of a = UᵀU in place: the upper triangle of k rows, with the right-hand side
// as a last column, which ends as U⁻ᵀ b.
void factor(double* a, std::int64_t k) {
  const std::int64_t width = k + 1;
  for (std::int64_t j = 0; j < k; ++j) {
    double* const pivot_row = a + j * width;
    const double pivot = pivot_row[j];
    if (!(pivot > 0)) throw std::domain_error("the counts are not those of records");
    const double scale = 1.0 / std::sqrt(pivot);
    for (std::int64_t i = j; i <= k; ++i) pivot_row[i] *= scale;
    for (std::int64_t r = j + 1; r < k; ++r) {
      const double f = pivot_row[r];
      if (f == 0.0) continue;
      double* const row = a + r * width;
      for (std::int64_t i = r; i <= k; ++i) row[i] -= f * pivot_row[i];
    }
  }
}

// x = U⁻¹ (U⁻ᵀ b), of what factor left.
void solve(const double* a, std::int64_t k, double* x) {
  const std::int64_t width = k + 1;
  for (std::int64_t i = k - 1; i >= 0; --i) {
    double sum = a[i * width + k];
    for (std::int64_t c = i + 1; c < k; ++c) sum -= a[i * width + c] * x[c];
    x[i] = sum / a[i * width + i];
  }
}

}  // namespace

void local_regressions(const SparseSquare& gram, const std::int64_t* near_start,
                       const std::int32_t* near, const double* shift, double l2, double* weights,
                       int n_jobs, Poll poll) {
  const std::int64_t n_blocks = (gram.n + kItems - 1) / kItems;
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t block, StopToken& token) {
    Meter meter(token);
    std::vector<double> a;
    const std::int64_t end = std::min(gram.n, (block + 1) * kItems);
    for (std::int64_t j = block * kItems; j < end; ++j) {
      const std::int32_t* const first = near + near_start[j];
      const std::int64_t k = near_start[j + 1] - near_start[j];
      if (k == 0) continue;
      const std::int64_t width = k + 1;
      a.assign(static_cast<std::size_t>(k * width), 0.0);
      // The upper triangle: of row r the neighbours from r on. The last column is item j.
      gather_row(gram, j, first, first + k, weights + near_start[j]);
      for (std::int64_t r = 0; r < k; ++r) {
        double* const row = a.data() + r * width;
        const std::int64_t item = first[r];
        gather_row(gram, item, first + r, first + k, row + r);
        for (std::int64_t c = r; c < k; ++c) row[c] -= shift[item] * shift[first[c]];
        row[r] += l2;
        row[k] = weights[near_start[j] + r] - shift[item] * shift[j];
        meter.spend(gram.start[item + 1] - gram.start[item]);
      }
      factor(a.data(), k);
      solve(a.data(), k, weights + near_start[j]);
      meter.spend(k * k * k / 6);
    }
  });
}

}  // namespace tacit
