#include <cmath>

#include "base/fast_exp.hpp"
#include "base/fast_log.hpp"
#include "near/block_pairs.hpp"
#include "near/list.hpp"

namespace tacit {
namespace {

constexpr int kMostRows = 4;                   // compared at once with
constexpr int kVectors = 2;                    // so many vectors of near objects
constexpr std::int64_t kPanelBytes = 1 << 16;  // what the near objects looked at together may take

template <class T>
constexpr std::int64_t kStep = kVectors * kUnit<T>;

// Some near objects of a block, column by column, and what came out for a few rows.
template <class T>
struct Panel {
  explicit Panel(std::int64_t n_numbers)
      : width(n_numbers),
        most(std::clamp<std::int64_t>(
            kPanelBytes /
                std::max<std::int64_t>(1, n_numbers * static_cast<std::int64_t>(sizeof(T))) /
                kStep<T> * kStep<T>,
            2 * kStep<T>, 512)),
        stride(most + kStep<T>),  // not a power of two: columns would share a few cache sets
        numbers(static_cast<std::size_t>(stride * std::max<std::int64_t>(1, n_numbers)), T{}),
        positions(static_cast<std::size_t>(stride), 0),
        lengths(static_cast<std::size_t>(stride), T{}),
        results(static_cast<std::size_t>(kMostRows * stride), T{}) {}
  std::int64_t width, most, stride;
  std::vector<T> numbers;
  std::vector<std::int32_t> positions;
  std::vector<T> lengths, results;
};

// Four numbers of each of four objects, written as four rows of four objects.
template <class T>
TACIT_INLINE void transpose(const T* const* from, std::int64_t f, T* to, std::int64_t stride) {
  using Vector = typename VectorOf<T, 4 * sizeof(T)>::Type;
  const auto load = [&](int l) TACIT_INLINE_LAMBDA {
    return *reinterpret_cast<const Vector*>(from[l] + f);
  };
  const Vector a = load(0), b = load(1), c = load(2), d = load(3);
  const Vector ab_even = __builtin_shufflevector(a, b, 0, 4, 2, 6);
  const Vector ab_odd = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const Vector cd_even = __builtin_shufflevector(c, d, 0, 4, 2, 6);
  const Vector cd_odd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  const auto store = [&](int k, Vector x)
                         TACIT_INLINE_LAMBDA { *reinterpret_cast<Vector*>(to + k * stride) = x; };
  store(0, __builtin_shufflevector(ab_even, cd_even, 0, 1, 4, 5));
  store(1, __builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5));
  store(2, __builtin_shufflevector(ab_even, cd_even, 2, 3, 6, 7));
  store(3, __builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7));
}

// Objects in the order of their blocks, so that near ones lie near each other in memory.
template <class T>
struct ArrangedNumbers {
  Buffer<T> numbers;
  Buffer<std::int32_t> position;  // of each object
  std::int64_t width = 0;
  const double* norms = nullptr;

  const T* at(std::int64_t k) const { return numbers.data() + width * k; }
};

template <class S, class T>
void copy_rows(const DenseNumbers& from, const std::int32_t* order, Range range,
               ArrangedNumbers<T>& to) {
  const S* const numbers = static_cast<const S*>(from.numbers);
  for (std::int64_t k = range.begin; k < range.end; ++k) {
    const S* const row = numbers + from.width * order[k];
    T* const copy = to.numbers.data() + from.width * k;
    if (from.centre)
      for (std::int64_t f = 0; f < from.width; ++f)
        copy[f] = static_cast<T>(row[f] - from.centre[f]);
    else
      for (std::int64_t f = 0; f < from.width; ++f) copy[f] = static_cast<T>(row[f]);
    to.position[static_cast<std::size_t>(order[k])] = static_cast<std::int32_t>(k);
  }
}

template <class T>
ArrangedNumbers<T> arrange(const DenseNumbers& from, const std::int32_t* order, std::int64_t n,
                           int n_jobs, Poll poll) {
  ArrangedNumbers<T> to{Buffer<T>(static_cast<std::size_t>(n * from.width)),
                        Buffer<std::int32_t>(static_cast<std::size_t>(n)), from.width, from.norms};
  const std::int64_t n_parts = std::max<std::int64_t>(1, n / 4096);
  for_blocks(n_parts, n_jobs, poll, [&](std::int64_t part, StopToken&) {
    const Range range = block_range(n, n_parts, part);
    if (from.single)
      copy_rows<float>(from, order, range, to);
    else
      copy_rows<double>(from, order, range, to);
  });
  return to;
}

template <class T>
TACIT_INLINE void gather(const ArrangedNumbers<T>& columns, const std::int32_t* list,
                         std::int64_t n, bool cosine, Panel<T>& panel) {
  std::int32_t* const positions = panel.positions.data();
  for (std::int64_t c = 0; c < n; ++c)
    positions[c] = columns.position[static_cast<std::size_t>(list[c])];
  for (std::int64_t c = 0; c < n; c += 4) {
    const T* from[4];
    for (std::int64_t l = 0; l < 4; ++l) from[l] = columns.at(positions[std::min(c + l, n - 1)]);
    T* to = panel.numbers.data() + c;
    std::int64_t f = 0;
    for (; f + 4 <= panel.width; f += 4, to += 4 * panel.stride)
      transpose(from, f, to, panel.stride);
    for (; f < panel.width; ++f, to += panel.stride)
      for (std::int64_t l = 0; l < 4; ++l) to[l] = from[l][f];
  }
  if (!cosine) return;
  for (std::int64_t c = 0; c < n; ++c)
    panel.lengths[static_cast<std::size_t>(c)] = static_cast<T>(columns.norms[list[c]]);
}

// Squared distances, or products, of a few rows with the near objects from `from` to `to`.
template <int kRows, bool kProduct, class T>
TACIT_INLINE void compare(const T* const* rows, const Panel<T>& panel, std::int64_t from,
                          std::int64_t to, T* results) {
  typedef typename VectorOf<T>::Type Vector;
  for (std::int64_t c = from; c < to; c += kStep<T>) {
    Vector sums[kRows][kVectors] = {};
    const T* near = panel.numbers.data() + c;
    for (std::int64_t f = 0; f < panel.width; ++f, near += panel.stride) {
      const Vector low = vector_at(near), high = vector_at(near + kUnit<T>);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const Vector value = rows[r][f] - Vector{};
        if constexpr (kProduct) {
          sums[r][0] += low * value;
          sums[r][1] += high * value;
        } else {
          const Vector a = low - value, b = high - value;
          sums[r][0] += a * a;
          sums[r][1] += b * b;
        }
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      vector_at(results + r * panel.stride + c) = sums[r][0];
      vector_at(results + r * panel.stride + c + kUnit<T>) = sums[r][1];
    }
  }
}

TACIT_INLINE Double4 root(Double4 x) {
  return Double4{std::sqrt(x[0]), std::sqrt(x[1]), std::sqrt(x[2]), std::sqrt(x[3])};
}
TACIT_INLINE Float8 root(Float8 x) {
  Float8 y;
  for (int k = 0; k < 8; ++k) y[k] = std::sqrt(x[k]);
  return y;
}

template <Measure kMeasure, class T>
TACIT_INLINE typename VectorOf<T>::Type similarity_of(typename VectorOf<T>::Type x, T scale,
                                                      const T* lengths) {
  typedef typename VectorOf<T>::Type Vector;
  if constexpr (kMeasure == Measure::kDistance) return root(x);
  if constexpr (kMeasure == Measure::kExponential) return fast_exp(root(x) * -scale);
  if constexpr (kMeasure == Measure::kRbf) return fast_exp(x * -scale);
  if constexpr (kMeasure == Measure::kCosine) {
    const Vector product = vector_at(lengths) * scale;  // scale: the length of the row
    return product > T{0} ? x / product : Vector{};
  }
  return x;
}

template <Measure kMeasure, class T>
TACIT_INLINE void write_similarities(const T* x, const T* lengths, std::int64_t n, T scale,
                                     T* out) {
  std::int64_t k = 0;
  for (; k + kUnit<T> <= n; k += kUnit<T>)
    vector_at(out + k) = similarity_of<kMeasure, T>(vector_at(x + k), scale, lengths + k);
  if (k == n) return;
  T rest[kUnit<T>];
  vector_at(rest) = similarity_of<kMeasure, T>(vector_at(x + k), scale, lengths + k);
  std::copy(rest, rest + (n - k), out + k);
}

template <class T>
struct DenseJob {
  const NearBlocks& near;
  const ArrangedNumbers<T>& rows;
  const ArrangedNumbers<T>& columns;
  T scale;
  std::int32_t* indices;  // of the matrix: one of the two
  std::int64_t* long_indices;
  T* similarities;
  const std::int64_t* begins;  // of the rows in the matrix, in the order of blocks
};

// Writes that part of a row which lies in the panel: near objects [from, to) of the list.
template <Measure kMeasure, class T>
TACIT_INLINE void write_row(const RowSpan& span, std::int64_t from, std::int64_t to,
                            const T* results, const T* lengths, T scale, T* row) {
  const std::int64_t a = std::max(from, span.begin), b = std::min(to, span.skip);
  if (a < b)
    write_similarities<kMeasure>(results + (a - from), lengths + (a - from), b - a, scale,
                                 row + (a - span.begin));
  const std::int64_t c = std::max(from, span.end_skip), d = std::min(to, span.end);
  if (c < d)
    write_similarities<kMeasure>(results + (c - from), lengths + (c - from), d - c, scale,
                                 row + (c - span.begin - (span.end_skip - span.skip)));
}

// Objects [at, at + kRows), of one block, against near objects [from, to), which are in the panel.
template <int kRows, Measure kMeasure, class T>
TACIT_INLINE void measure_rows(const DenseJob<T>& job, std::int64_t at, const RowSpan* spans,
                               std::int64_t from, std::int64_t to, Panel<T>& panel) {
  constexpr bool kProduct = kMeasure == Measure::kCosine;
  const T* rows[kRows];
  for (int r = 0; r < kRows; ++r) rows[r] = job.rows.at(at + r);
  const std::int64_t begin = std::max(spans[0].begin, from);  // later rows begin later
  if (begin >= to) return;
  T* const results = panel.results.data();
  compare<kRows, kProduct>(rows, panel, (begin - from) / kStep<T> * kStep<T>, to - from, results);
  for (int r = 0; r < kRows; ++r) {
    const T scale =
        kProduct ? static_cast<T>(job.rows.norms[job.near.row_order[at + r]]) : job.scale;
    write_row<kMeasure>(spans[r], from, to, results + r * panel.stride, panel.lengths.data(), scale,
                        job.similarities + job.begins[at + r]);
  }
}

template <Measure kMeasure, class T>
TACIT_INLINE void measure_panel(const DenseJob<T>& job, std::int64_t at,
                                const std::vector<RowSpan>& spans, std::int64_t from,
                                std::int64_t to, Panel<T>& panel, Meter& meter) {
  const auto n = static_cast<std::int64_t>(spans.size());
  std::int64_t k = 0;
  for (; k + 4 <= n; k += 4) {
    measure_rows<4, kMeasure>(job, at + k, spans.data() + k, from, to, panel);
    meter.spend((to - from) * (8 + panel.width / 2));
  }
  if (k + 2 <= n) {
    measure_rows<2, kMeasure>(job, at + k, spans.data() + k, from, to, panel);
    k += 2;
  }
  if (k < n) measure_rows<1, kMeasure>(job, at + k, spans.data() + k, from, to, panel);
}

// Rows of a block are all over the matrix: where those of the next one begin is fetched early.
template <class T>
TACIT_INLINE void fetch_rows(const DenseJob<T>& job, std::int64_t block) {
  constexpr std::int64_t kMost = 16;
  if (block >= job.near.n_blocks) return;
  const std::int64_t begin = job.near.starts[block];
  const std::int64_t end = std::min(job.near.starts[block + 1], begin + kMost);
  for (std::int64_t k = begin; k < end; ++k) {
    if (job.indices)
      __builtin_prefetch(job.indices + job.begins[k], 1);
    else
      __builtin_prefetch(job.long_indices + job.begins[k], 1);
    if (job.similarities) __builtin_prefetch(job.similarities + job.begins[k], 1);
  }
}

template <Measure kMeasure, class T>
TACIT_INLINE void measure_blocks(const DenseJob<T>& job, Range blocks, StopToken& token) {
  const NearBlocks& near = job.near;
  NearList lists(near);
  Panel<T> panel(job.rows.width);
  std::vector<RowSpan> spans;
  Meter meter(token);
  for (std::int64_t b = blocks.begin; b < blocks.end; ++b) {
    fetch_rows(job, b + 1);
    const ListView list = lists.collect(b);
    const std::int64_t n = list.size;
    const std::int64_t begin = near.starts[b];
    spans.clear();
    std::int64_t position = 0;
    for (std::int64_t k = begin; k < near.starts[b + 1]; ++k) {
      spans.push_back(row_span(near.which, near.row_order[k], list, position));
      if (job.indices)
        copy_indices(spans.back(), list, job.indices + job.begins[k]);
      else
        copy_indices(spans.back(), list, job.long_indices + job.begins[k]);
      meter.spend(n / 4);
    }
    if (!job.similarities || spans.front().begin >= n) continue;
    const std::int64_t least = spans.front().begin / kStep<T> * kStep<T>;
    for (std::int64_t from = least; from < n; from += panel.most) {
      const std::int64_t to = std::min(n, from + panel.most);
      gather(job.columns, list.ids + from, to - from, kMeasure == Measure::kCosine, panel);
      measure_panel<kMeasure>(job, begin, spans, from, to, panel, meter);
      meter.spend(to - from);
    }
  }
}

template <class T>
auto choose_measure(Measure measure) {
  switch (measure) {
    case Measure::kSquared:
      return avx2_fma_or_plain<measure_blocks<Measure::kSquared, T>>();
    case Measure::kDistance:
      return avx2_fma_or_plain<measure_blocks<Measure::kDistance, T>>();
    case Measure::kExponential:
      return avx2_fma_or_plain<measure_blocks<Measure::kExponential, T>>();
    case Measure::kRbf:
      return avx2_fma_or_plain<measure_blocks<Measure::kRbf, T>>();
    default:
      return avx2_fma_or_plain<measure_blocks<Measure::kCosine, T>>();
  }
}

}  // namespace

template <class T, class Offset>
void dense_similarities(const NearBlocks& near, const DenseNumbers& rows,
                        const DenseNumbers& columns, Measure measure, double scale,
                        const NearMatrix<T, Offset>& out, int n_jobs, Poll poll) {
  const std::int64_t n_rows = near.starts[near.n_blocks];
  const auto arranged = arrange<T>(rows, near.row_order, n_rows, n_jobs, poll);
  ArrangedNumbers<T> others;
  if (&columns != &rows)
    others = arrange<T>(columns, near.column_order, near.n_columns, n_jobs, poll);
  Buffer<std::int64_t> begins(static_cast<std::size_t>(n_rows));
  for (std::int64_t k = 0; k < n_rows; ++k)
    begins[static_cast<std::size_t>(k)] = out.offsets[near.row_order[k]];
  DenseJob<T> job{near,
                  arranged,
                  &columns == &rows ? arranged : others,
                  static_cast<T>(scale),
                  nullptr,
                  nullptr,
                  out.similarities,
                  begins.data()};
  if constexpr (sizeof(Offset) == sizeof(std::int32_t))
    job.indices = out.indices;
  else
    job.long_indices = out.indices;
  const auto work = choose_measure<T>(measure);
  for_divided_blocks(near, n_jobs, poll,
                     [&](Range blocks, StopToken& token) { work(job, blocks, token); });
}

#define TACIT_DENSE(T, Offset)                                                                  \
  template void dense_similarities(const NearBlocks&, const DenseNumbers&, const DenseNumbers&, \
                                   Measure, double, const NearMatrix<T, Offset>&, int, Poll);
TACIT_FOR_NEAR_MATRICES(TACIT_DENSE)

}  // namespace tacit
