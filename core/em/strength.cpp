#include "em/strength.hpp"

#include <algorithm>
#include <cmath>

#include "base/records.hpp"

namespace tacit {
namespace {

// The first two derivatives of log Γ.
struct Gamma {
  double first, second;  // ψ and ψ'
};

// Upwards by recurrence to where the asymptotic series is good to 10⁻¹².
Gamma derivatives(double x) {
  double first = 0, second = 0;
  for (; x < 8; x += 1) {
    const double y = 1 / x;
    first -= y;
    second += y * y;
  }
  const double y = 1 / x, z = y * y;
  first += std::log(x) - 0.5 * y -
           z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132)))));
  second += y + 0.5 * z +
            y * z * (1.0 / 6 - z * (1.0 / 30 - z * (1.0 / 42 - z * (1.0 / 30 - z * (5.0 / 66)))));
  return {first, second};
}

// Adds up the derivatives of Σ over clusters of ±[log Γ(count + α) - log Γ(α)] by the strength,
// where α is `mean` of it.
struct Sum {
  double strength, slope = 0, curvature = 0;

  void add(const double* counts, std::int64_t n_clusters, double mean, double sign) {
    const double alpha = mean * strength;
    const Gamma base = derivatives(alpha);
    for (std::int64_t k = 0; k < n_clusters; ++k) {
      if (counts[k] <= 1e-12 * alpha) continue;
      const Gamma now = derivatives(counts[k] + alpha);
      slope += sign * mean * (now.first - base.first);
      curvature += sign * mean * mean * (now.second - base.second);
    }
  }
};

}  // namespace

Slope strength_slope(std::int64_t n_clusters, std::int64_t n_columns, const std::int64_t* offsets,
                     const double* totals, const double* counts, const double* mean_stored,
                     const double* mean_defaults, double strength) {
  const std::int64_t K = n_clusters;
  Buffer<double> left(static_cast<std::size_t>(K)), known(static_cast<std::size_t>(K));
  Sum sum{strength};
  Sum whole{strength};  // of a column in which nothing is ignored: the same for all such
  whole.add(totals, K, 1, -1);
  for (std::int64_t c = 0; c < n_columns; ++c) {
    std::copy_n(totals, K, left.data());
    std::copy_n(totals, K, known.data());
    bool ignored = mean_defaults[c] < 0, some = !ignored;
    for (std::int64_t v = offsets[c]; v < offsets[c + 1]; ++v) {
      const double* const row = counts + v * K;
      for (std::int64_t k = 0; k < K; ++k) left[static_cast<std::size_t>(k)] -= row[k];
      if (mean_stored[v] < 0) {
        ignored = true;
        for (std::int64_t k = 0; k < K; ++k) known[static_cast<std::size_t>(k)] -= row[k];
        continue;
      }
      some = true;
      sum.add(row, K, mean_stored[v], 1);
    }
    if (!some) continue;
    if (mean_defaults[c] >= 0)
      sum.add(left.data(), K, mean_defaults[c], 1);
    else
      for (std::int64_t k = 0; k < K; ++k)
        known[static_cast<std::size_t>(k)] -= std::max(left[static_cast<std::size_t>(k)], 0.0);
    if (ignored) {
      sum.add(known.data(), K, 1, -1);
    } else {
      sum.slope += whole.slope;
      sum.curvature += whole.curvature;
    }
  }
  return {sum.slope, sum.curvature};
}

}  // namespace tacit
