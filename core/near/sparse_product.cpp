#include "near/sparse_product.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/simd.hpp"

namespace tacit {
namespace {

constexpr std::int64_t kRowsBetweenChecks = 1 << 12;
constexpr std::int64_t kMostParts = 4;

template <class X>
struct ProductJob {
  const SparseRows<X>& rows;
  const double* right;
  std::int64_t width;
  double* out;
};

// kWidth = 0: the width is known only now, and sums are kept in `out`.
template <int kWidth, bool kTransposed, class X>
TACIT_INLINE void multiply_range(const ProductJob<X>& job, Range range, StopToken& token) {
  Meter meter(token);
  const SparseRows<X>& rows = job.rows;
  const std::int64_t width = kWidth ? kWidth : job.width;
  for (std::int64_t r = range.begin; r < range.end; ++r) {
    const std::int64_t begin = rows.indptr[r], end = rows.indptr[r + 1];
    double held[kWidth ? kWidth : 1] = {};
    if constexpr (kTransposed) {
      const double* const row = job.right + r * width;
      if (kWidth) std::copy_n(row, width, held);
      const double* const from = kWidth ? held : row;
      for (std::int64_t i = begin; i < end; ++i) {
        const double x = static_cast<double>(rows.numbers[i]);
        double* const into = job.out + rows.indices[i] * width;
        for (std::int64_t k = 0; k < width; ++k) into[k] += x * from[k];
      }
    } else {
      double* const out = job.out + r * width;
      double* const into = kWidth ? held : out;
      if (!kWidth) std::fill_n(out, width, 0.0);
      for (std::int64_t i = begin; i < end; ++i) {
        const double x = static_cast<double>(rows.numbers[i]);
        const double* const other = job.right + rows.indices[i] * width;
        for (std::int64_t k = 0; k < width; ++k) into[k] += x * other[k];
      }
      if (kWidth) std::copy_n(held, width, out);
    }
    meter.spend((end - begin + 1) * width / 4);
  }
}

template <bool kTransposed, class X>
TACIT_INLINE void run_range(const ProductJob<X>& job, Range range, StopToken& token) {
  const auto go = [&](auto width) TACIT_INLINE_LAMBDA {
    multiply_range<decltype(width)::value, kTransposed>(job, range, token);
  };
  with_constant<1, 2, 3, 4, 8, 12, 16, 0>(job.width, go);
}

}  // namespace

template <class X>
void sparse_product(const SparseRows<X>& rows, const double* right, std::int64_t width, double* out,
                    int n_jobs, Poll poll) {
  const auto run = avx2_or_plain<run_range<false, X>>();
  const ProductJob<X> job{rows, right, width, out};
  const std::int64_t n_blocks =
      std::clamp<std::int64_t>((rows.indptr[rows.n_rows] * width) >> 18, 1, 64);
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    run(job, block_range(rows.n_rows, n_blocks, b), token);
  });
}

template <class X>
void transposed_sparse_product(const SparseRows<X>& rows, const double* right, std::int64_t width,
                               double* out, int n_jobs, Poll poll) {
  const auto run = avx2_or_plain<run_range<true, X>>();
  const std::int64_t size = rows.n_columns * width;
  // A part of its own must be worth the sums that are added up in the end.
  const std::int64_t n_parts = std::clamp<std::int64_t>(
      rows.indptr[rows.n_rows] / (8 * std::max<std::int64_t>(1, rows.n_columns)), 1, kMostParts);
  std::vector<double> others(static_cast<std::size_t>((n_parts - 1) * size), 0.0);
  std::fill_n(out, size, 0.0);
  for_blocks(n_parts, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    const ProductJob<X> job{rows, right, width, b ? others.data() + (b - 1) * size : out};
    run(job, block_range(rows.n_rows, n_parts, b), token);
  });
  for (std::int64_t b = 1; b < n_parts; ++b) {
    const double* const part = others.data() + (b - 1) * size;
    for (std::int64_t k = 0; k < size; ++k) out[k] += part[k];
  }
}

template <class X>
void sparse_column_moments(const SparseRows<X>& rows, const ColumnMoments& out, Poll poll) {
  const auto d = static_cast<std::size_t>(rows.n_columns);
  const auto n = static_cast<double>(rows.n_rows);
  std::vector<std::int64_t> held(d, 0);
  std::fill_n(out.mean, d, 0.0);
  std::fill_n(out.variance, d, 0.0);
  std::fill_n(out.lower, d, std::numeric_limits<double>::infinity());
  std::fill_n(out.upper, d, -std::numeric_limits<double>::infinity());
  Poller poller(poll);
  const auto visit = [&](const auto& see) {
    for (std::int64_t r = 0; r < rows.n_rows; r += kRowsBetweenChecks) {
      const std::int64_t end = rows.indptr[std::min(rows.n_rows, r + kRowsBetweenChecks)];
      for (std::int64_t i = rows.indptr[r]; i < end; ++i)
        see(static_cast<std::size_t>(rows.indices[i]), static_cast<double>(rows.numbers[i]));
      poller.check();
    }
  };
  visit([&](std::size_t c, double x) {
    ++held[c];
    out.mean[c] += x;
    out.lower[c] = std::min(out.lower[c], x);
    out.upper[c] = std::max(out.upper[c], x);
  });
  for (std::size_t c = 0; c < d; ++c) {
    out.mean[c] /= n;
    if (held[c] == rows.n_rows) continue;
    out.lower[c] = std::min(out.lower[c], 0.0);
    out.upper[c] = std::max(out.upper[c], 0.0);
  }
  visit([&](std::size_t c, double x) {
    const double rest = x - out.mean[c];
    out.variance[c] += rest * rest;
  });
  for (std::size_t c = 0; c < d; ++c) {
    const auto zeros = static_cast<double>(rows.n_rows - held[c]);
    out.variance[c] = (out.variance[c] + zeros * out.mean[c] * out.mean[c]) / n;
  }
}

#define TACIT_INSTANTIATE(X)                                                                    \
  template void sparse_product(const SparseRows<X>&, const double*, std::int64_t, double*, int, \
                               Poll);                                                           \
  template void transposed_sparse_product(const SparseRows<X>&, const double*, std::int64_t,    \
                                          double*, int, Poll);                                  \
  template void sparse_column_moments(const SparseRows<X>&, const ColumnMoments&, Poll);
TACIT_INSTANTIATE(float)
TACIT_INSTANTIATE(double)
#undef TACIT_INSTANTIATE

}  // namespace tacit
