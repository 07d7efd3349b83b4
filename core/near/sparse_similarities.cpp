#include <cmath>

#include "base/simd.hpp"
#include "near/block_pairs.hpp"
#include "near/list.hpp"

namespace tacit {
namespace {

constexpr int kRows = 4;
constexpr double kClose =
    1e-5;  // below this fraction of the squares, differences are taken one by one

// Four rows spread out, so that a near object is read once for all of them.
template <class Index>
class SpreadRows {
 public:
  explicit SpreadRows(const SparseNumbers<Index>& rows)
      : rows_(rows), numbers_(static_cast<std::size_t>(rows.width) * kRows, 0.0) {}

  void put(const std::int64_t* objects) {
    for (int r = 0; r < kRows; ++r)
      for (std::int64_t k = rows_.indptr[objects[r]]; k < rows_.indptr[objects[r] + 1]; ++k)
        numbers_[static_cast<std::size_t>(rows_.indices[k]) * kRows + static_cast<std::size_t>(r)] =
            rows_.numbers[k];
  }
  void clear(const std::int64_t* objects) {
    for (int r = 0; r < kRows; ++r)
      for (std::int64_t k = rows_.indptr[objects[r]]; k < rows_.indptr[objects[r] + 1]; ++k)
        numbers_[static_cast<std::size_t>(rows_.indices[k]) * kRows + static_cast<std::size_t>(r)] =
            0.0;
  }
  TACIT_INLINE Double4 products(const SparseNumbers<Index>& columns, std::int64_t object) const {
    Double4 sum{};
    for (std::int64_t k = columns.indptr[object]; k < columns.indptr[object + 1]; ++k)
      sum += *reinterpret_cast<const Double4*>(
                 numbers_.data() + static_cast<std::size_t>(columns.indices[k]) * kRows) *
             columns.numbers[k];
    return sum;
  }

 private:
  const SparseNumbers<Index>& rows_;
  std::vector<double> numbers_;
};

// The sum of squared differences as it stands, for objects so close that |x|² + |y|² - 2xy is
// mostly rounding.
template <class Index>
double squared_differences(const SparseNumbers<Index>& a, std::int64_t i,
                           const SparseNumbers<Index>& b, std::int64_t j) {
  std::int64_t s = a.indptr[i], t = b.indptr[j];
  const std::int64_t s_end = a.indptr[i + 1], t_end = b.indptr[j + 1];
  double sum = 0;
  while (s < s_end || t < t_end) {
    double difference;
    if (t == t_end || (s < s_end && a.indices[s] < b.indices[t]))
      difference = a.numbers[s++];
    else if (s == s_end || b.indices[t] < a.indices[s])
      difference = b.numbers[t++];
    else
      difference = a.numbers[s++] - b.numbers[t++];
    sum += difference * difference;
  }
  return sum;
}

template <class Index, class T, class Offset>
struct SparseJob {
  const NearBlocks& near;
  const SparseNumbers<Index>& rows;
  const SparseNumbers<Index>& columns;
  Measure measure;
  double scale;
  const NearMatrix<T, Offset>& out;

  double similarity(std::int64_t i, std::int64_t j, double product) const {
    const double squares = rows.squares[i] + columns.squares[j];
    if (measure == Measure::kCosine) {
      const double both = std::sqrt(rows.squares[i]) * std::sqrt(columns.squares[j]);
      return both > 0 ? product / both : 0.0;
    }
    double squared = squares - 2 * product;
    if (squared < kClose * squares) squared = squared_differences(rows, i, columns, j);
    switch (measure) {
      case Measure::kDistance:
        return std::sqrt(squared);
      case Measure::kExponential:
        return std::exp(-scale * std::sqrt(squared));
      case Measure::kRbf:
        return std::exp(-scale * squared);
      default:
        return squared;
    }
  }
};

template <class Index, class T, class Offset>
void compare_rows(const SparseJob<Index, T, Offset>& job, SpreadRows<Index>& spread,
                  const ListView& list, const std::int64_t* objects, const RowSpan* spans,
                  int n_rows) {
  spread.put(objects);
  T* out[kRows];
  std::int64_t begin = spans[0].begin;
  for (int r = 0; r < n_rows; ++r) {
    out[r] = job.out.similarities + job.out.offsets[objects[r]];
    begin = std::min(begin, spans[r].begin);
  }
  for (std::int64_t k = begin; k < list.size; ++k) {
    const std::int64_t other = list.ids[k];
    const Double4 products = spread.products(job.columns, other);
    for (int r = 0; r < n_rows; ++r) {
      if (k < spans[r].begin || (k >= spans[r].skip && k < spans[r].end_skip)) continue;
      *out[r]++ = static_cast<T>(job.similarity(objects[r], other, products[r]));
    }
  }
  spread.clear(objects);
}

template <class Index, class T, class Offset>
void measure_blocks(const SparseJob<Index, T, Offset>& job, Range blocks, StopToken& token) {
  const NearBlocks& near = job.near;
  NearList lists(near);
  SpreadRows<Index> spread(job.rows);
  Meter meter(token);
  for (std::int64_t b = blocks.begin; b < blocks.end; ++b) {
    const ListView list = lists.collect(b);
    std::int64_t stored = 0;
    for (std::int64_t k = 0; k < list.size; ++k)
      stored += 2 + job.columns.indptr[list.ids[k] + 1] - job.columns.indptr[list.ids[k]];
    std::int64_t position = 0;
    for (std::int64_t k = near.starts[b]; k < near.starts[b + 1]; k += kRows) {
      const auto n_rows = static_cast<int>(std::min<std::int64_t>(kRows, near.starts[b + 1] - k));
      std::int64_t objects[kRows];
      RowSpan spans[kRows];
      for (int r = 0; r < kRows; ++r) {
        objects[r] = near.row_order[k + std::min(r, n_rows - 1)];
        spans[r] = row_span(near.which, static_cast<std::int32_t>(objects[r]), list, position);
        if (r < n_rows) copy_indices(spans[r], list, job.out.indices + job.out.offsets[objects[r]]);
      }
      if (job.out.similarities) compare_rows(job, spread, list, objects, spans, n_rows);
      meter.spend(stored);
    }
  }
}

}  // namespace

template <class Index, class T, class Offset>
void sparse_similarities(const NearBlocks& near, const SparseNumbers<Index>& rows,
                         const SparseNumbers<Index>& columns, Measure measure, double scale,
                         const NearMatrix<T, Offset>& out, int n_jobs, Poll poll) {
  const SparseJob<Index, T, Offset> job{near, rows, columns, measure, scale, out};
  for_divided_blocks(near, n_jobs, poll,
                     [&](Range blocks, StopToken& token) { measure_blocks(job, blocks, token); });
}

#define TACIT_SPARSE(T, Offset)                                                            \
  template void sparse_similarities(const NearBlocks&, const SparseNumbers<std::int32_t>&, \
                                    const SparseNumbers<std::int32_t>&, Measure, double,   \
                                    const NearMatrix<T, Offset>&, int, Poll);
TACIT_FOR_NEAR_MATRICES(TACIT_SPARSE)

}  // namespace tacit
