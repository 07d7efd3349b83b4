#include "rule/logistic_pairs.hpp"

#include "base/fast_exp.hpp"

namespace tacit {
namespace {

TACIT_INLINE void pairs4(const double* f, const double* y, double* g, double* h) {
  const Double4 score = vector_at(f);
  const Double4 e = fast_exp(score < 0 ? score : -score);  // of −|f|: never too large
  const Double4 more = 1 / (1 + e), less = e * more;
  const Double4 p = score < 0 ? less : more;
  vector_at(g) = p - vector_at(y);
  vector_at(h) = more * less;
}

TACIT_INLINE void all_pairs(const double* f, const double* y, int n, double* g, double* h) {
  int i = 0;
  for (; i + 4 <= n; i += 4) pairs4(f + i, y + i, g + i, h + i);
  if (i == n) return;
  double rest[4][4] = {};
  for (int k = i; k < n; ++k) {
    rest[0][k - i] = f[k];
    rest[1][k - i] = y[k];
  }
  pairs4(rest[0], rest[1], rest[2], rest[3]);
  for (int k = i; k < n; ++k) {
    g[k] = rest[2][k - i];
    h[k] = rest[3][k - i];
  }
}

}  // namespace

void logistic_pairs(const double* f, const double* y, int n, double* g, double* h) {
  static const auto pairs = avx2_or_plain<all_pairs>();
  pairs(f, y, n, g, h);
}

}  // namespace tacit
