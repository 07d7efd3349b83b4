#include "em_step.hpp"

#include <algorithm>
#include <vector>

#include "em_corrections.hpp"
#include "em_lanes.hpp"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define TACIT_X86 1
#include <immintrin.h>
#endif

namespace tacit {
namespace {

constexpr std::int64_t kGroup = kUnit * kMostUnits;  // clusters that are held in registers at once
constexpr std::int64_t kFlush = 1 << 14;             // records whose sums floats may hold

// How many clusters there are, as far as the compiler is to know: the last group's units, and
// whether there are groups before it. A row's width that is a constant is worth a sixth of the time.
template <int kLast, bool kMany>
struct Shape {
  static constexpr int kUnits = kLast;
  static constexpr std::int64_t kOwn = kLast * kUnit;
  static TACIT_INLINE std::int64_t width(std::int64_t actual) { return kMany ? actual : kOwn; }
};

// Records are weighed a batch at a time, and added afterwards: what is slow about one record (a sum
// over clusters, a division) is done while others are on their way.
constexpr std::int64_t kBatch = 32;

template <class T>
struct Batch {
  Buffer<T> clusters;                // P(cluster, record) up to the record's power of two, padded
  double sums[kBatch];               // over clusters
  std::int64_t exponents[kBatch];    // P(record) = sum · 2^exponent
  Buffer<double> mantissas;          // of one record, where exponents have to be kept apart
  Buffer<std::int64_t> cluster_exponents;
  explicit Batch(std::int64_t width)
      : clusters(static_cast<std::size_t>(kBatch * width)),
        mantissas(static_cast<std::size_t>(width)),
        cluster_exponents(static_cast<std::size_t>(width)) {}
};

// Multiplies clusters with the rows of some stored values.
template <class S, class V, class T, class Wide, int kUnits>
TACIT_INLINE void multiply_rows(const Corrections<T>& c, std::int64_t first, const V* p,
                                const V* end, Lanes<Wide, kUnits>& lanes) {
  const T* const rows = c.rows.data() + first;
  const std::int64_t width = S::width(c.width);
  for (; p < end; ++p) lanes.multiply(rows + static_cast<std::int64_t>(*p) * width);
}

// Multiplies all clusters, a group at a time: from `start` to `out`. Returns their sum, in double
// where T is.
template <class S, class V, class T, class Wide>
TACIT_INLINE double multiply_all(const Corrections<T>& c, const V* p, const V* end,
                                 const Wide* start, auto* out) {
  const std::int64_t n_front = S::width(c.width) - S::kOwn;
  Wide sum = 0;
  for (std::int64_t first = 0; first < n_front; first += kGroup) {
    Lanes<Wide, kMostUnits> group;
    group.load(start + first);
    multiply_rows<S>(c, first, p, end, group);
    sum += group.sum();
    group.store(out + first);
  }
  Lanes<Wide, S::kUnits> last;
  last.load(start + n_front);
  multiply_rows<S>(c, n_front, p, end, last);
  last.store(out + n_front);
  return static_cast<double>(sum + last.sum());
}

// For the rare record whose product could leave the range of doubles: exponents are kept apart.
template <class V, class T>
__attribute__((noinline)) void weigh_apart(const Corrections<T>& c, const V* p, const V* end,
                                           Batch<T>& batch, std::int64_t slot) {
  double* const mantissas = batch.mantissas.data();
  std::int64_t* const exponents = batch.cluster_exponents.data();
  std::copy_n(c.mantissas.data(), c.width, mantissas);
  std::copy_n(c.exponents.data(), c.width, exponents);
  std::int64_t scale = 0;
  if constexpr (std::is_same_v<T, float>)
    for (const V* q = p; q < end; ++q) scale += c.ranges.data()[*q].scale();
  while (p < end) {
    const V* const stop = end - p > c.chunk ? p + c.chunk : end;
    for (; p < stop; ++p) {
      const T* const row = c.rows.data() + static_cast<std::int64_t>(*p) * c.width;
      for (std::int64_t k = 0; k < c.width; ++k) mantissas[k] *= static_cast<double>(row[k]);
    }
    for (std::int64_t k = 0; k < c.width; ++k) {
      const Split part = split(mantissas[k]);
      mantissas[k] = part.mantissa;
      exponents[k] += part.exponent;
    }
  }
  const std::int64_t top = *std::max_element(exponents, exponents + c.n_clusters);
  T* const out = batch.clusters.data() + slot * c.width;
  double sum = 0;
  for (std::int64_t k = 0; k < c.n_clusters; ++k) {
    const std::int64_t below = exponents[k] - top;  // and below 2^-120 it adds nothing to the sum
    const double x = below < -120 ? 0 : join(mantissas[k], below);
    out[k] = static_cast<T>(x);
    sum += x;
  }
  for (std::int64_t k = c.n_clusters; k < c.width; ++k) out[k] = 0;
  batch.sums[slot] = sum;
  batch.exponents[slot] = top + scale;
}

// Whether a plain product can be trusted. A cluster that fell below the range of T on the way is
// lost; it might have risen again by `rise` powers of two, and must not matter even then.
template <class T>
TACIT_INLINE bool can_trust(double sum, std::int64_t rise) {
  if constexpr (std::is_same_v<T, float>)
    return sum > 0x1p-90 && sum < 0x1p126 && rise - 126 < split(sum).exponent - 30;
  else
    return sum > 0x1p-500 && sum < 0x1p1000 && rise < 450;
}

// Finds P(cluster, record) for one record: as a product of Ts, of doubles, or with exponents apart.
template <class S, class V, class T>
TACIT_INLINE void weigh(const Corrections<T>& c, const V* p, const V* end, Batch<T>& batch,
                        std::int64_t slot) {
  T* const out = batch.clusters.data() + slot * c.width;
  RowRange range{(end - p) * c.rise};
  if constexpr (std::is_same_v<T, float>) {
    range.packed = 0;
    for (const V* q = p; q < end; ++q) range.packed += c.ranges.data()[*q].packed;
    if (range.rise() < 150) [[likely]] {
      batch.sums[slot] = multiply_all<S>(c, p, end, c.start.data(), out);
      batch.exponents[slot] = c.top - kHead<float> + range.scale();
      if (can_trust<float>(batch.sums[slot], range.rise())) [[likely]] return;
    }
    // The result is a float again, so that it has to be scaled.
    double* const wide = batch.mantissas.data();
    const double sum = multiply_all<S>(c, p, end, c.wide_start.data(), wide);
    batch.sums[slot] = 1;
    batch.exponents[slot] = c.top - kHead<double> + range.scale();
    if (can_trust<double>(sum, range.rise())) [[likely]] {
      const Split part = split(sum);
      const double factor = join(1, -part.exponent);
      for (std::int64_t k = 0; k < c.width; ++k) out[k] = static_cast<float>(wide[k] * factor);
      batch.sums[slot] = part.mantissa;
      batch.exponents[slot] += part.exponent;
      return;
    }
  } else {
    batch.sums[slot] = multiply_all<S>(c, p, end, c.start.data(), out);
    batch.exponents[slot] = c.top - kHead<double>;
    if (can_trust<double>(batch.sums[slot], range.rise())) [[likely]] return;
  }
  weigh_apart<V, T>(c, p, end, batch, slot);
}

// What a block of records adds up to.
template <class T>
struct BlockSums {
  T* stored;       // n_values × width
  double* totals;  // width
  LongProduct product;
  double log_likelihood = 0;
};

// Adds a record, weighted by `factor`, to the clusters' totals and to those of its stored values.
template <class S, class V, class T>
TACIT_INLINE void add_record(const Corrections<T>& c, const V* begin, const V* end,
                             const T* clusters, T factor, BlockSums<T>& sums) {
  const std::int64_t width = S::width(c.width), n_front = width - S::kOwn;
  T* const stored = sums.stored;  // vectors may alias anything: read what they could overwrite once
  for (std::int64_t first = 0; first < n_front; first += kGroup) {
    Lanes<T, kMostUnits> group;
    group.load(clusters + first);
    group.scale(factor);
    for (const V* p = begin; p < end; ++p)
      group.add_to(stored + static_cast<std::int64_t>(*p) * width + first);
    group.add_to(sums.totals + first);
  }
  Lanes<T, S::kUnits> last;
  last.load(clusters + n_front);
  last.scale(factor);
  for (const V* p = begin; p < end; ++p)
    last.add_to(stored + n_front + static_cast<std::int64_t>(*p) * width);
  last.add_to(sums.totals + n_front);
}

// Adds the batch's log-likelihood: that of records without weights is the logarithm of a product.
template <class V, class T>
TACIT_INLINE void add_logs(const Records<V>& records, std::int64_t first, std::int64_t n,
                           const Batch<T>& batch, BlockSums<T>& sums) {
  if (records.weights) {
    for (std::int64_t i = 0; i < n; ++i) {
      const double weight = records.weights[records.record(first + i)];
      const double exponent = static_cast<double>(batch.exponents[i]);
      sums.log_likelihood += weight * (std::log(batch.sums[i]) + exponent * LongProduct::kLog2);
    }
    return;
  }
  sums.product.multiply(batch.sums, n);
  for (std::int64_t i = 0; i < n; ++i) sums.product.exponent += batch.exponents[i];
}

template <class S, class V, class T>
TACIT_INLINE void sum_body(const Records<V>& records, const Corrections<T>& c, Range range,
                           Batch<T>& batch, BlockSums<T>& sums) {
  T factors[kBatch];
  for (std::int64_t first = range.begin; first < range.end; first += kBatch) {
    const std::int64_t n = std::min(kBatch, range.end - first);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t r = records.record(first + i);
      weigh<S, V, T>(c, records.begin(r), records.end(r), batch, i);
    }
    add_logs(records, first, n, batch, sums);
    for (std::int64_t i = 0; i < n; ++i) factors[i] = static_cast<T>(1 / batch.sums[i]);
    if (records.weights)
      for (std::int64_t i = 0; i < n; ++i)
        factors[i] = static_cast<T>(records.weights[records.record(first + i)] / batch.sums[i]);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t r = records.record(first + i);
      add_record<S, V, T>(c, records.begin(r), records.end(r),
                               batch.clusters.data() + i * c.width, factors[i], sums);
    }
  }
}

template <class S, class V, class T>
void sum_plain(const Records<V>& records, const Corrections<T>& c, Range range,
               Batch<T>& batch, BlockSums<T>& sums) {
  sum_body<S, V, T>(records, c, range, batch, sums);
}

#ifdef TACIT_X86
template <class S, class V, class T>
__attribute__((target("avx2"))) void sum_avx2(const Records<V>& records, const Corrections<T>& c,
                                              Range range, Batch<T>& batch,
                                              BlockSums<T>& sums) {
  sum_body<S, V, T>(records, c, range, batch, sums);
}
#endif

template <class S, class V, class T>
auto choose_sum() {
#ifdef TACIT_X86
  if (__builtin_cpu_supports("avx2")) return sum_avx2<S, V, T>;
#endif
  return sum_plain<S, V, T>;
}

// Calls body with the Shape of so many clusters.
template <int kLast = 1, class Body>
auto with_shape(std::int64_t width, const Body& body) {
  if constexpr (kLast < kMostUnits)
    if ((width / kUnit - 1) % kMostUnits + 1 != kLast)
      return with_shape<kLast + 1>(width, body);
  return width > kGroup ? body(Shape<kLast, true>{}) : body(Shape<kLast, false>{});
}

// Numbers too small to be normal are slow to compute with and say nothing here: they become 0 for
// as long as this lives.
class FlushToZero {
 public:
#ifdef TACIT_X86
  FlushToZero() : old_(_mm_getcsr()) { _mm_setcsr(old_ | 0x8040); }
  ~FlushToZero() { _mm_setcsr(old_); }

 private:
  unsigned old_;
#endif
};

// Sums of one block, in doubles. Floats hold those of kFlush records at most.
template <class V, class T>
void sum_block(const Records<V>& records, const Corrections<T>& c, Range range, double* stored,
               double* totals, double& log_likelihood, Pulse& pulse) {
  const std::int64_t cells = records.n_values * c.width;
  const auto sum =
      with_shape(c.width, [](auto shape) { return choose_sum<decltype(shape), V, T>(); });
  Batch<T> batch(c.width);
  BlockSums<T> sums;
  sums.totals = totals;
  std::fill_n(totals, c.width, 0.0);
  std::fill_n(stored, cells, 0.0);
  Buffer<T> part(static_cast<std::size_t>(std::is_same_v<T, double> ? 0 : cells));
  if constexpr (std::is_same_v<T, double>) {
    sums.stored = stored;
  } else {
    sums.stored = part.data();
    std::fill_n(part.data(), cells, T{0});
  }
  for (std::int64_t first = range.begin; first < range.end; first += kFlush) {
    pulse.beat();
    const Range own{first, std::min(first + kFlush, range.end)};
    {
      const FlushToZero flush;
      sum(records, c, own, batch, sums);
    }
    if constexpr (std::is_same_v<T, float>) {
      for (std::int64_t i = 0; i < cells; ++i) {
        stored[i] += static_cast<double>(part.data()[i]);
        part.data()[i] = 0;
      }
    }
  }
  log_likelihood = records.weights ? sums.log_likelihood : sums.product.log();
}

template <class V>
std::int64_t count_sum_blocks(const Records<V>& records, std::int64_t width) {
  constexpr std::int64_t kMost = 32, kMostBytes = 64 << 20;
  const std::int64_t cells = (records.n_values + 1) * width;
  const std::int64_t stored = records.indptr[records.n_records] + records.n_records;
  const std::int64_t by_memory = std::max<std::int64_t>(kMostBytes / (8 * cells), 2);
  return std::clamp<std::int64_t>(stored / (64 * (records.n_values + 1)), 1,
                                  std::min(kMost, by_memory));
}

template <class V, class T>
double sum_records(const Records<V>& records, const MixtureModel& model, double* totals,
                   double* stored, int n_jobs, Poll poll) {
  const Corrections<T> c(model);
  const std::int64_t K = c.n_clusters, width = c.width;
  const std::int64_t n_blocks = count_sum_blocks(records, width);
  const std::int64_t cells = records.n_values * width;
  Buffer<double> parts(static_cast<std::size_t>(n_blocks * (cells + width)));
  std::vector<double> logs(static_cast<std::size_t>(n_blocks));
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, Pulse& pulse) {
    double* const own = parts.data() + b * (cells + width);
    sum_block<V, T>(records, c, block_range(records.size(), n_blocks, b), own + width, own,
                    logs[static_cast<std::size_t>(b)], pulse);
  });
  // Rows are merged in block order, whoever merges them; row 0 holds the totals.
  const std::int64_t n_rows = records.n_values + 1;
  const std::int64_t n_stretches = std::clamp<std::int64_t>(n_rows * n_blocks * width >> 16, 1, 64);
  for_blocks(n_stretches, n_jobs, poll, [&](std::int64_t s, Pulse&) {
    const Range rows = block_range(n_rows, n_stretches, s);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      double* const out = row == 0 ? totals : stored + (row - 1) * K;
      std::copy_n(parts.data() + row * width, K, out);
      for (std::int64_t b = 1; b < n_blocks; ++b) {
        const double* const part = parts.data() + b * (cells + width) + row * width;
        for (std::int64_t k = 0; k < K; ++k) out[k] += part[k];
      }
    }
  });
  double log_likelihood = 0;
  for (const double part : logs) log_likelihood += part;
  return log_likelihood;
}

template <class S, class V>
TACIT_INLINE void posterior_body(const Records<V>& records, const Corrections<double>& c,
                                 Range range, Batch<double>& batch, double* responsibilities,
                                 double* log_likelihoods) {
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    const std::int64_t r = records.record(i);
    weigh<S, V, double>(c, records.begin(r), records.end(r), batch, 0);
    const double sum = batch.sums[0], exponent = static_cast<double>(batch.exponents[0]);
    if (log_likelihoods) log_likelihoods[i] = std::log(sum) + exponent * LongProduct::kLog2;
    if (!responsibilities) continue;
    for (std::int64_t k = 0; k < c.n_clusters; ++k)
      responsibilities[i * c.n_clusters + k] = batch.clusters.data()[k] / sum;
  }
}
template <class S, class V>
void posterior_plain(const Records<V>& records, const Corrections<double>& c, Range range,
                     Batch<double>& batch, double* responsibilities, double* log_likelihoods) {
  posterior_body<S, V>(records, c, range, batch, responsibilities, log_likelihoods);
}
#ifdef TACIT_X86
template <class S, class V>
__attribute__((target("avx2"))) void posterior_avx2(const Records<V>& records,
                                                    const Corrections<double>& c, Range range,
                                                    Batch<double>& batch,
                                                    double* responsibilities,
                                                    double* log_likelihoods) {
  posterior_body<S, V>(records, c, range, batch, responsibilities, log_likelihoods);
}
#endif

template <class S, class V>
auto choose_posterior() {
#ifdef TACIT_X86
  if (__builtin_cpu_supports("avx2")) return posterior_avx2<S, V>;
#endif
  return posterior_plain<S, V>;
}

}  // namespace

template <class V>
double em_step(const Records<V>& records, const MixtureModel& model, bool single, double* totals,
               double* stored, int n_jobs, Poll poll) {
  return single ? sum_records<V, float>(records, model, totals, stored, n_jobs, poll)
                : sum_records<V, double>(records, model, totals, stored, n_jobs, poll);
}

template <class V>
void em_posterior(const Records<V>& records, const MixtureModel& model, double* responsibilities,
                  double* log_likelihoods, int n_jobs, Poll poll) {
  const Corrections<double> c(model);
  const auto posterior =
      with_shape(c.width, [](auto shape) { return choose_posterior<decltype(shape), V>(); });
  const std::int64_t n_blocks = (records.size() + kFlush - 1) / kFlush;
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, Pulse&) {
    Batch<double> batch(c.width);
    const FlushToZero flush;
    posterior(records, c, block_range(records.size(), n_blocks, b), batch, responsibilities,
              log_likelihoods);
  });
}

#define TACIT_INSTANTIATE(V)                                                                     \
  template double em_step(const Records<V>&, const MixtureModel&, bool, double*, double*, int,   \
                          Poll);                                                                 \
  template void em_posterior(const Records<V>&, const MixtureModel&, double*, double*, int, Poll);
TACIT_INSTANTIATE(std::uint16_t)
TACIT_INSTANTIATE(std::uint32_t)
#undef TACIT_INSTANTIATE

}  // namespace tacit
