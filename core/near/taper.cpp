#include "near/taper.hpp"

#include <algorithm>
#include <cmath>

namespace tacit {

void hat_weights(const std::int64_t* indptr, const std::int32_t* indices, std::int64_t n_rows,
                 const double* rows, const double* columns, std::int64_t n_dimensions,
                 double* weights, int n_jobs, Poll poll) {
  constexpr std::int64_t kRows = 256;
  for_blocks((n_rows + kRows - 1) / kRows, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    Meter meter(token);
    for (std::int64_t i = b * kRows; i < std::min((b + 1) * kRows, n_rows); ++i) {
      const double* const u = rows + i * n_dimensions;
      for (std::int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
        const double* const v = columns + indices[e] * n_dimensions;
        double product = 1;
        for (std::int64_t k = 0; k < n_dimensions; ++k)
          product *= std::max(0.0, 1 - std::abs(u[k] - v[k]));
        weights[e] = product;
      }
      meter.spend((indptr[i + 1] - indptr[i]) * (n_dimensions + 1));
    }
  });
}

}  // namespace tacit
