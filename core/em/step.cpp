#include "em/step.hpp"

#include <algorithm>
#include <vector>

#include "base/simd.hpp"
#include "em/batch.hpp"
#include "em/corrections.hpp"

namespace tacit {
namespace {

constexpr std::int64_t kFlush = 1 << 14;  // records whose sums floats may hold

// Weights over the power of two of the largest: sums neither overflow nor vanish.
template <class V>
std::int64_t weight_exponent(const Records<V>& records) {
  double most = 0;
  for (std::int64_t i = 0; records.weights && i < records.size(); ++i)
    most = std::max(most, records.weights[records.record(i)]);
  return most > 0 ? std::ilogb(most) : 0;
}

// The log-likelihood of a block: that of records without weights is the logarithm of a product.
struct BatchLogs {
  LongProduct product;
  double sum = 0;
};

// Finds by what a batch's clusters are to be multiplied, and adds its log-likelihood.
template <class V, class T>
void finish_batch(const Records<V>& records, int exponent, Batch<T>& batch, BatchLogs& logs) {
  const std::int64_t n = batch.n;
  if (!records.weights) {
    for (std::int64_t i = 0; i < n; ++i) batch.factors[i] = static_cast<T>(1 / batch.sums[i]);
    logs.product.multiply(batch.sums, n);
    for (std::int64_t i = 0; i < n; ++i) logs.product.exponent += batch.exponents[i];
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    const double weight = std::ldexp(records.weights[records.record(batch.first + i)], -exponent);
    const Split sum = split(batch.sums[i]);
    // One after the other: both at once could leave the range of floats.
    batch.powers[i] = static_cast<T>(join(1, -sum.exponent));
    batch.factors[i] = static_cast<T>(weight / sum.mantissa);
    const auto power = static_cast<double>(sum.exponent + batch.exponents[i]);
    logs.sum += weight * (std::log(sum.mantissa) + power * LongProduct::kLog2);
  }
}

// Moves sums from floats to doubles, and begins anew.
void flush_sums(float* part, double* stored, std::int64_t n, bool first) {
  for (std::int64_t i = 0; i < n; ++i) {
    stored[i] = (first ? 0 : stored[i]) + static_cast<double>(part[i]);
    part[i] = 0;
  }
}

// Sums of one block, in doubles. Floats hold those of kFlush records at most.
template <class V, class T>
double sum_block(const Records<V>& records, const Corrections<T>& c, int exponent, Range range,
                 double* stored, double* totals, StopToken& token) {
  constexpr bool kFloats = sizeof(T) == 4;
  const std::int64_t cells = records.n_values * c.width;
  const BatchKernel<V, T> kernel = batch_kernel<V, T>(c.width);
  Batch<T> batch(c.width);
  Buffer<float> floats(static_cast<std::size_t>(kFloats ? cells : 0));
  T* part;
  if constexpr (kFloats)
    part = floats.data();
  else
    part = stored;
  std::fill_n(part, cells, T{0});
  std::fill_n(totals, c.width, 0.0);
  Meter meter(token);
  BatchLogs logs;
  for (std::int64_t first = range.begin; first < range.end;) {
    const std::int64_t stop = std::min(first + kFlush, range.end);
    for (; first < stop; first += batch.n) {
      batch.first = first;
      batch.n = std::min(kBatch, stop - first);
      {
        const FlushToZero flush;
        kernel.weigh(c, records, batch);
        finish_batch(records, exponent, batch, logs);
        kernel.add(batch)(c, records, batch, part, totals);
      }
      meter.spend(batch.n_stored * c.width);
    }
    if constexpr (kFloats) flush_sums(part, stored, cells, stop - range.begin <= kFlush);
  }
  if (kFloats && range.begin == range.end) std::fill_n(stored, cells, 0.0);
  return records.weights ? logs.sum : logs.product.log();
}

// Every block costs as much as adding up its sums; and a thread, as long as 2^19 cells take.
template <class V>
std::int64_t count_sum_blocks(const Records<V>& records, std::int64_t width) {
  constexpr std::int64_t kMost = 32, kMostBytes = 64 << 20;
  const std::int64_t rows = records.n_values + 1;
  const double all = static_cast<double>(records.indptr[records.n_records] + records.n_records);
  const double part = static_cast<double>(records.size()) /
                      static_cast<double>(std::max<std::int64_t>(records.n_records, 1));
  const auto stored = static_cast<std::int64_t>(all * part);  // of the chosen records, about
  const std::int64_t worth = std::min(stored / (256 * rows), stored * width >> 19);
  const std::int64_t by_memory = std::max<std::int64_t>(kMostBytes / (8 * rows * width), 2);
  return std::clamp<std::int64_t>(worth, 1, std::min(kMost, by_memory));
}

// With few stored values for each row of sums, moving these from floats to doubles costs more than
// floats save. By the shape alone: whoever asks, wherever the records are.
template <class V>
bool worth_floats(const Records<V>& records, std::int64_t n_clusters) {
  constexpr std::int64_t kCells = 1 << 17, kFew = 32;
  return records.n_values * n_clusters < kCells ||
         records.indptr[records.n_records] >= kFew * records.n_values;
}

template <class V, class T>
double sum_records(const Records<V>& records, const MixtureModel& model, double* totals,
                   double* stored, int n_jobs, Poll poll) {
  const Corrections<T> c(model);
  if constexpr (sizeof(T) == 4)
    if (!c.lossless) return sum_records<V, double>(records, model, totals, stored, n_jobs, poll);
  const std::int64_t K = c.n_clusters, width = c.width;
  const std::int64_t n_blocks = count_sum_blocks(records, width);
  const std::int64_t cells = records.n_values * width;
  const int exponent = static_cast<int>(weight_exponent(records));
  std::vector<double> logs(static_cast<std::size_t>(n_blocks));
  if (n_blocks == 1 && width == K && exponent == 0) {  // nothing to merge: the sums are the result
    for_blocks(1, 1, poll, [&](std::int64_t, StopToken& token) {
      logs[0] = sum_block<V, T>(records, c, exponent, {0, records.size()}, stored, totals, token);
    });
    return logs[0];
  }
  Buffer<double> parts(static_cast<std::size_t>(n_blocks * (cells + width)));
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    double* const block_sums = parts.data() + b * (cells + width);
    logs[static_cast<std::size_t>(b)] =
        sum_block<V, T>(records, c, exponent, block_range(records.size(), n_blocks, b),
                        block_sums + width, block_sums, token);
  });
  // Rows are merged in block order, whoever merges them; row 0 holds the totals.
  const std::int64_t n_rows = records.n_values + 1;
  const std::int64_t n_chunks = std::clamp<std::int64_t>(n_rows * n_blocks * width >> 16, 1, 64);
  for_blocks(n_chunks, n_jobs, poll, [&](std::int64_t s, StopToken&) {
    const Range rows = block_range(n_rows, n_chunks, s);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      double* const out = row == 0 ? totals : stored + (row - 1) * K;
      std::copy_n(parts.data() + row * width, K, out);
      for (std::int64_t b = 1; b < n_blocks; ++b) {
        const double* const part = parts.data() + b * (cells + width) + row * width;
        for (std::int64_t k = 0; k < K; ++k) out[k] += part[k];
      }
      if (exponent != 0)
        for (std::int64_t k = 0; k < K; ++k) out[k] = std::ldexp(out[k], exponent);
    }
  });
  double log_likelihood = 0;
  for (const double part : logs) log_likelihood += part;
  return std::ldexp(log_likelihood, exponent);
}

}  // namespace

template <class V>
double em_step(const Records<V>& records, const MixtureModel& model, bool single, double* totals,
               double* stored, int n_jobs, Poll poll) {
  return single && worth_floats(records, model.n_clusters)
             ? sum_records<V, float>(records, model, totals, stored, n_jobs, poll)
             : sum_records<V, double>(records, model, totals, stored, n_jobs, poll);
}

template <class V>
void em_posterior(const Records<V>& records, const MixtureModel& model, double* responsibilities,
                  double* log_likelihoods, int n_jobs, Poll poll) {
  const Corrections<double> c(model);
  const BatchKernel<V, double> kernel = batch_kernel<V, double>(c.width);
  const std::int64_t K = c.n_clusters, n_blocks = (records.size() + kFlush - 1) / kFlush;
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    Batch<double> batch(c.width);
    Meter meter(token);
    const Range range = block_range(records.size(), n_blocks, b);
    for (std::int64_t first = range.begin; first < range.end; first += batch.n) {
      batch.first = first;
      batch.n = std::min(kBatch, range.end - first);
      {
        const FlushToZero flush;
        kernel.weigh(c, records, batch);
      }
      meter.spend(batch.n_stored * c.width);
      for (std::int64_t i = 0; i < batch.n; ++i) {
        const double exponent = static_cast<double>(batch.exponents[i]);
        if (log_likelihoods)
          log_likelihoods[first + i] = std::log(batch.sums[i]) + exponent * LongProduct::kLog2;
        if (!responsibilities) continue;
        const double* const clusters = batch.clusters.data() + i * c.width;
        double* const out = responsibilities + (first + i) * K;
        for (std::int64_t k = 0; k < K; ++k) out[k] = clusters[k] / batch.sums[i];
      }
    }
  });
}

#define TACIT_INSTANTIATE(V)                                                                   \
  template double em_step(const Records<V>&, const MixtureModel&, bool, double*, double*, int, \
                          Poll);                                                               \
  template void em_posterior(const Records<V>&, const MixtureModel&, double*, double*, int, Poll);
TACIT_FOR_VALUE_TYPES(TACIT_INSTANTIATE)
#undef TACIT_INSTANTIATE

}  // namespace tacit
