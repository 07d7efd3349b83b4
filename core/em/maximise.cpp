#include <algorithm>
#include <cmath>

#include "em/corrections.hpp"
#include "em/step.hpp"

namespace tacit {
namespace {

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
  for (std::int64_t c = 0; c < n_columns; ++c) {
    const std::int64_t first = offsets[c];
    maximiser.maximise(offsets[c + 1] - first, counts + first * K, prior.stored + first,
                       prior.defaults[c], stored + first * K, defaults + c * K);
  }
  return maximiser.log_prior;
}

}  // namespace tacit
