#include "dependency/pair_products.hpp"

#include <algorithm>

#include "base/simd.hpp"

namespace tacit {
namespace {

constexpr std::int64_t kLanes = 8;        // rows that are added at once
constexpr std::int64_t kRows = 1024;      // of a column looked at together: 8 KiB
constexpr std::int64_t kPairBlock = 256;  // pairs of a block of work
constexpr std::int64_t kRowBlock = 256;   // rows gathered at once
constexpr int kSums = 4;

// Eight sums next to each other, in two wide registers.
struct Lanes {
  Double4 low = {}, high = {};
  TACIT_INLINE double total() const {
    const Double4 both = low + high;
    return (both[0] + both[2]) + (both[1] + both[3]);
  }
};

TACIT_INLINE void add_products(const double* x, const double* y, std::int64_t n, double* sums) {
  Lanes first, both, left, right;
  const auto add = [&](const double* p, const double* q) TACIT_INLINE_LAMBDA {
    const Double4 a = vector_at(p);
    const Double4 b = vector_at(q);
    const Double4 c = vector_at(p + 4);
    const Double4 d = vector_at(q + 4);
    const Double4 ab = a * b, cd = c * d;
    first.low += ab;
    first.high += cd;
    both.low += ab * ab;
    both.high += cd * cd;
    left.low += ab * (a * a);
    left.high += cd * (c * c);
    right.low += ab * (b * b);
    right.high += cd * (d * d);
  };
  std::int64_t r = 0;
  for (; r + kLanes <= n; r += kLanes) add(x + r, y + r);
  if (r < n) {
    double p[kLanes] = {}, q[kLanes] = {};
    std::copy(x + r, x + n, p);
    std::copy(y + r, y + n, q);
    add(p, q);
  }
  sums[0] += first.total();
  sums[1] += both.total();
  sums[2] += left.total();
  sums[3] += right.total();
}

TACIT_INLINE void add_pairs(const NumberBlock& block, const std::int64_t* pairs, Range range,
                            double* sums, StopToken& token) {
  Meter meter(token);
  for (std::int64_t from = 0; from < block.n_rows; from += kRows) {
    const std::int64_t n = std::min(kRows, block.n_rows - from);
    for (std::int64_t k = range.begin; k < range.end; ++k) {
      const double* const x = block.numbers + pairs[2 * k] * block.n_rows + from;
      const double* const y = block.numbers + pairs[2 * k + 1] * block.n_rows + from;
      add_products(x, y, n, sums + kSums * k);
      meter.spend(n);
    }
  }
}

}  // namespace

void pair_products(const NumberBlock& block, const std::int64_t* pairs, std::int64_t n_pairs,
                   double* sums, int n_jobs, Poll poll) {
  const auto add = avx2_or_plain<add_pairs>();
  const std::int64_t n_blocks = (n_pairs + kPairBlock - 1) / kPairBlock;
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    add(block, pairs, block_range(n_pairs, n_blocks, b), sums, token);
  });
}

template <class T>
void gather_columns(const NumberGrid<T>& grid, const std::int64_t* rows, std::int64_t n_rows,
                    const std::int64_t* columns, std::int64_t n_columns, double* out, int n_jobs,
                    Poll poll) {
  const std::int64_t n_blocks = (n_rows + kRowBlock - 1) / kRowBlock;
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken&) {
    const std::int64_t begin = b * kRowBlock, end = std::min(begin + kRowBlock, n_rows);
    for (std::int64_t c = 0; c < n_columns; ++c) {
      const T* const column = grid.numbers + columns[c] * grid.column_stride;
      double* const to = out + c * n_rows;
      for (std::int64_t r = begin; r < end; ++r)
        to[r] = static_cast<double>(column[rows[r] * grid.row_stride]);
    }
  });
}

template void gather_columns(const NumberGrid<float>&, const std::int64_t*, std::int64_t,
                             const std::int64_t*, std::int64_t, double*, int, Poll);
template void gather_columns(const NumberGrid<double>&, const std::int64_t*, std::int64_t,
                             const std::int64_t*, std::int64_t, double*, int, Poll);

}  // namespace tacit
