#include <algorithm>
#include <cmath>

#include "em_corrections.hpp"
#include "em_step.hpp"

namespace tacit {

// Logarithms are taken of products: one for each column, instead of one for each cell.
double em_maximise(std::int64_t n_clusters, std::int64_t n_columns, const std::int64_t* offsets,
                   const double* totals, const double* counts, const MixturePrior& prior,
                   double* shares, double* stored, double* defaults) {
  const std::int64_t K = n_clusters;
  double whole = 0, log_prior = 0;
  for (std::int64_t k = 0; k < K; ++k) whole += totals[k] + prior.clusters;
  for (std::int64_t k = 0; k < K; ++k) {
    shares[k] = (totals[k] + prior.clusters) / whole;
    if (prior.clusters > 0) log_prior += prior.clusters * std::log(shares[k]);
  }
  Buffer<double> rest(static_cast<std::size_t>(K)), scale(static_cast<std::size_t>(K));
  const auto add_log = [&](double alpha, const double* row) {
    if (!(alpha > 0)) return;
    LongProduct product;
    for (std::int64_t k = 0; k < K; ++k) product.multiply(std::max(row[k], kLeastProbability));
    log_prior += alpha * product.log();
  };
  for (std::int64_t c = 0; c < n_columns; ++c) {
    const std::int64_t begin = offsets[c], end = offsets[c + 1];
    double* const default_row = defaults + c * K;
    const double alpha_default = prior.defaults[c];
    double alphas = std::max(alpha_default, 0.0);
    std::copy_n(totals, K, default_row);  // what the column's stored values leave of the records
    std::fill_n(rest.data(), K, 0.0);     // and what of them has a value at all
    for (std::int64_t v = begin; v < end; ++v) {
      const double* const row = counts + v * K;
      const bool counted = prior.stored[v] >= 0;
      if (counted) alphas += prior.stored[v];
      for (std::int64_t k = 0; k < K; ++k) {
        default_row[k] -= row[k];
        if (counted) rest[static_cast<std::size_t>(k)] += row[k];
      }
    }
    for (std::int64_t k = 0; k < K; ++k) {
      // Rounding may leave a trace where nothing should be.
      double own = default_row[k];
      if (own <= 1e-12 * totals[k]) own = 0;
      const double all = rest[static_cast<std::size_t>(k)] + (alpha_default >= 0 ? own : 0) + alphas;
      scale[static_cast<std::size_t>(k)] = all > 0 ? 1 / all : 0;
      default_row[k] = alpha_default < 0 ? 1
                       : all > 0         ? (own + alpha_default) / all
                                         : 1 / static_cast<double>(end - begin + 1);
    }
    add_log(alpha_default, default_row);
    for (std::int64_t v = begin; v < end; ++v) {
      const double* const row = counts + v * K;
      double* const out = stored + v * K;
      const double alpha = prior.stored[v];
      for (std::int64_t k = 0; k < K; ++k) {
        const double s = scale[static_cast<std::size_t>(k)];
        out[k] = alpha < 0 ? 1
                 : s > 0   ? (row[k] + alpha) * s
                           : 1 / static_cast<double>(end - begin + 1);
      }
      add_log(alpha, out);
    }
  }
  return log_prior;
}

}  // namespace tacit
