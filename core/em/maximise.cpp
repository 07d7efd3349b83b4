#include <algorithm>
#include <cmath>

#include "base/fast_log.hpp"
#include "base/simd.hpp"
#include "em/corrections.hpp"
#include "em/step.hpp"

namespace tacit {
namespace {

// Products of positive numbers, a row of them at a time.
class RowProduct {
 public:
  TACIT_INLINE void multiply(Double4 x) {
    const Double4 floor = Double4{} + kLeastProbability;
    product_ *= x > floor ? x : floor;
    if (++n_ == kMost) split_off();
  }
  // Adds the logarithm's parts of up to four lanes: a mantissa in [1, 16) and an exponent.
  TACIT_INLINE void finish(double* mantissa, double* exponent) {
    split_off();
    *mantissa = (product_[0] * product_[2]) * (product_[1] * product_[3]);
    *exponent = static_cast<double>(static_cast<std::int64_t>((exponents_[0] + exponents_[2]) +
                                                              (exponents_[1] + exponents_[3])));
  }

 private:
  static constexpr int kMost = 4;  // so many probabilities' product is a normal number
  TACIT_INLINE void split_off() {
    const Bits4 bits = reinterpret_cast<Bits4>(product_);
    exponents_ += (bits >> 52) - 1023;
    product_ = reinterpret_cast<Double4>((bits & kMantissa) | kOne);
    n_ = 0;
  }
  Double4 product_ = Double4{} + 1;
  Bits4 exponents_ = {};
  int n_ = 0;
};

// Σ alpha · (log mantissa + exponent · log 2).
TACIT_INLINE double sum_logs(std::int64_t n, const double* alphas, const double* mantissas,
                             const double* exponents) {
  Number4 sums = {};
  std::int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const Number4 logs = fast_log(static_cast<Number4>(vector_at(mantissas + i)));
    sums += vector_at(alphas + i) * (logs + vector_at(exponents + i) * LongProduct::kLog2);
  }
  double sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
  for (; i < n; ++i)
    sum += alphas[i] * (fast_log(mantissas[i]) + exponents[i] * LongProduct::kLog2);
  return sum;
}

// Binary columns in which nothing is ignored, and whose pseudo-counts have the same sum: counts are
// divided by the same in all of them. One pass over the counts. Returns Σ alpha · log p, if asked
// for.
template <bool kLogs>
TACIT_INLINE double maximise_binary(std::int64_t n_clusters, std::int64_t n, const double* totals,
                                    const double* scale, const double* counts, const double* alphas,
                                    const double* alpha_defaults, double* stored,
                                    double* defaults) {
  constexpr std::int64_t kColumns = 64;  // whose logarithms are taken at once
  const std::int64_t n_whole = n_clusters / 4 * 4, rest = n_clusters - n_whole;
  double mantissas[kColumns], exponents[kColumns], other_mantissas[kColumns],
      other_exponents[kColumns];
  double log_prior = 0;
  const auto maximise = [&](Double4 whole, Double4 by, Double4 row, double alpha,
                            double alpha_default, Double4* p, Double4* q) TACIT_INLINE_LAMBDA {
    const Double4 left = whole - row;
    // Rounding may leave a trace where nothing should be.
    *p = (row + alpha) * by;
    *q = ((left <= 1e-12 * whole ? Double4{} : left) + alpha_default) * by;
  };
  for (std::int64_t first = 0; first < n; first += kColumns) {
    const std::int64_t stop = std::min(first + kColumns, n);
    for (std::int64_t c = first; c < stop; ++c) {
      const double alpha = alphas[c], alpha_default = alpha_defaults[c];
      const double* const row = counts + c * n_clusters;
      double *const p = stored + c * n_clusters, *const q = defaults + c * n_clusters;
      RowProduct product, other;
      Double4 x, y;
      std::int64_t k = 0;
      for (; k < n_whole; k += 4) {
        maximise(vector_at(totals + k), vector_at(scale + k), vector_at(row + k), alpha,
                 alpha_default, &x, &y);
        vector_at(p + k) = x;
        vector_at(q + k) = y;
        if constexpr (kLogs) {
          product.multiply(x);
          other.multiply(y);
        }
      }
      for (; k < n_clusters; ++k) {
        const double left = totals[k] - row[k], none = left <= 1e-12 * totals[k] ? 0 : left;
        p[k] = (row[k] + alpha) * scale[k];
        q[k] = (none + alpha_default) * scale[k];
      }
      if constexpr (kLogs) {
        if (rest > 0) {
          Double4 tail = Double4{} + 1, other_tail = tail;
          for (k = 0; k < rest; ++k) {
            tail[k] = p[n_whole + k];
            other_tail[k] = q[n_whole + k];
          }
          product.multiply(tail);
          other.multiply(other_tail);
        }
        product.finish(mantissas + c - first, exponents + c - first);
        other.finish(other_mantissas + c - first, other_exponents + c - first);
      }
    }
    if constexpr (kLogs)
      log_prior += sum_logs(stop - first, alphas + first, mantissas, exponents) +
                   sum_logs(stop - first, alpha_defaults + first, other_mantissas, other_exponents);
  }
  return log_prior;
}

// Works on one column at a time, a row of clusters at a time: loops that compilers make vectors of.
class Maximiser {
 public:
  Maximiser(std::int64_t n_clusters, const double* totals)
      : K(n_clusters),
        totals_(totals),
        whole_(static_cast<std::size_t>(K)),
        scale_(static_cast<std::size_t>(K)),
        even_(static_cast<std::size_t>(K)),
        positive_(static_cast<std::size_t>(K)) {}

  // Probabilities of the `n` stored values and of the default, from what is expected of them.
  void maximise(std::int64_t n, const double* counts, const double* alphas, double alpha_default,
                double* stored, double* defaults) {
    divide(n, counts, alphas, alpha_default, defaults);
    finish(defaults, alpha_default, defaults);
    for (std::int64_t v = 0; v < n; ++v) finish(counts + v * K, alphas[v], stored + v * K);
  }

  const std::int64_t K;  // clusters
  // Σ alpha · log p: of a product over clusters, instead of one logarithm for each.
  double log_prior = 0;
  void add_log(double alpha, const double* p) {
    if (!(alpha > 0)) return;
    double* __restrict const x = positive_.data();
    for (std::int64_t k = 0; k < K; ++k) x[k] = p[k] > kLeastProbability ? p[k] : kLeastProbability;
    LongProduct product;
    product.multiply(x, K);
    log_prior += alpha * product.log();
  }

 private:
  // Finds what is left for the default, and by what counts are to be divided in each cluster.
  void divide(std::int64_t n, const double* counts, const double* alphas, double alpha_default,
              double* left) {
    double* __restrict const whole = whole_.data();
    double* __restrict const scale = scale_.data();
    double* __restrict const even = even_.data();
    const bool default_counts = alpha_default >= 0;
    double n_counted = default_counts ? 1 : 0, alpha = default_counts ? alpha_default : 0;
    std::copy_n(totals_, K, left);
    std::fill_n(whole, K, 0.0);
    for (std::int64_t v = 0; v < n; ++v) {
      const double* __restrict const row = counts + v * K;
      for (std::int64_t k = 0; k < K; ++k) left[k] -= row[k];
      if (alphas[v] < 0) continue;
      for (std::int64_t k = 0; k < K; ++k) whole[k] += row[k];
      n_counted += 1;
      alpha += alphas[v];
    }
    // Rounding may leave a trace where nothing should be.
    for (std::int64_t k = 0; k < K; ++k) left[k] = left[k] <= 1e-12 * totals_[k] ? 0 : left[k];
    if (default_counts)
      for (std::int64_t k = 0; k < K; ++k) whole[k] += left[k];
    for (std::int64_t k = 0; k < K; ++k) scale[k] = 1 / (whole[k] + alpha);
    std::fill_n(even, K, 0.0);
    if (alpha > 0) return;
    for (std::int64_t k = 0; k < K; ++k) {
      if (whole[k] > 0) continue;
      scale[k] = 0;  // nothing is known: all values are equally likely
      even[k] = 1 / n_counted;
    }
  }

  void finish(const double* counts, double alpha, double* out) {
    if (alpha < 0) {
      std::fill_n(out, K, 1.0);
      return;
    }
    const double* __restrict const scale = scale_.data();
    const double* __restrict const even = even_.data();
    for (std::int64_t k = 0; k < K; ++k) out[k] = (counts[k] + alpha) * scale[k] + even[k];
    add_log(alpha, out);
  }

  const double* const totals_;
  Buffer<double> whole_, scale_, even_, positive_;
};

// How many columns from c on can be maximised as binary ones.
std::int64_t count_binary(std::int64_t n_clusters, std::int64_t most, const std::int64_t* offsets,
                          const double* totals, const MixturePrior& prior, std::int64_t c) {
  constexpr double kSame = 1e-14;  // sums that differ by rounding
  if (offsets[1] != offsets[0] + 1) return 0;
  const double sum = prior.stored[offsets[0]] + prior.defaults[c];
  std::int64_t n = 0;
  for (; n < most; ++n) {
    if (offsets[n + 1] != offsets[n] + 1) break;
    const double stored = prior.stored[offsets[n]], left = prior.defaults[c + n];
    if (stored < 0 || left < 0 || std::abs(stored + left - sum) > kSame * sum) break;
  }
  for (std::int64_t k = 0; k < n_clusters; ++k)  // of a dead cluster nothing is known
    if (!(totals[k] + sum > 0)) return 0;
  return n;
}

}  // namespace

double em_maximise(std::int64_t n_clusters, std::int64_t n_columns, const std::int64_t* offsets,
                   const double* totals, const double* counts, const MixturePrior& prior,
                   double* mixing_weights, double* stored, double* defaults) {
  const std::int64_t K = n_clusters;
  double whole = 0;
  for (std::int64_t k = 0; k < K; ++k) whole += totals[k] + prior.clusters;
  for (std::int64_t k = 0; k < K; ++k)
    mixing_weights[k] =
        whole > 0 ? (totals[k] + prior.clusters) / whole : 1 / static_cast<double>(K);
  Maximiser maximiser(K, totals);
  maximiser.add_log(prior.clusters, mixing_weights);
  const auto binary = avx2_or_plain<maximise_binary<false>>();
  const auto binary_with_logs = avx2_or_plain<maximise_binary<true>>();
  Buffer<double> scale(static_cast<std::size_t>(K));
  for (std::int64_t c = 0; c < n_columns; ++c) {
    const std::int64_t first = offsets[c];
    const std::int64_t n = count_binary(K, n_columns - c, offsets + c, totals, prior, c);
    if (n > 0) {
      const double alpha = prior.stored[first] + prior.defaults[c];
      for (std::int64_t k = 0; k < K; ++k) scale.data()[k] = 1 / (totals[k] + alpha);
      maximiser.log_prior += (alpha > 0 ? binary_with_logs : binary)(
          K, n, totals, scale.data(), counts + first * K, prior.stored + first, prior.defaults + c,
          stored + first * K, defaults + c * K);
      c += n - 1;
      continue;
    }
    maximiser.maximise(offsets[c + 1] - first, counts + first * K, prior.stored + first,
                       prior.defaults[c], stored + first * K, defaults + c * K);
  }
  return maximiser.log_prior;
}

}  // namespace tacit
