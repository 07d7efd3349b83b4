// How strong a prior is, by the marginal likelihood of expected counts.
#pragma once

#include <cstdint>

namespace tacit {

struct Slope {
  double first, second;
};

// The first two derivatives, by the strength s, of the log-likelihood of counts whose probabilities
// are drawn from Dirichlet distributions:
//   Σ over clusters k and columns c of log Γ(s) - log Γ(N_kc + s)
//     + Σ over values v of c of log Γ(n_kv + s m_v) - log Γ(s m_v)
// with means m that add up to 1 in each column. Values with a negative mean are ignored. The
// default's counts follow by subtraction. O(values · K).
Slope strength_slope(std::int64_t n_clusters, std::int64_t n_columns, const std::int64_t* offsets,
                     const double* totals, const double* counts, const double* mean_stored,
                     const double* mean_defaults, double strength);

}  // namespace tacit
