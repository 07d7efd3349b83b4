#include "net/score.hpp"

#include <cmath>

#include "base/fast_log.hpp"

namespace tacit {
namespace {

TACIT_INLINE double four(Number4 x) { return (x[0] + x[1]) + (x[2] + x[3]); }

// Σ f(x[k]); f knows single numbers and vectors of four.
template <class F>
TACIT_INLINE double add_up(const double* x, std::int64_t n, F f) {
  Number4 sum = {0, 0, 0, 0};
  std::int64_t k = 0;
  for (; k + 4 <= n; k += 4) sum += f(Number4{x[k], x[k + 1], x[k + 2], x[k + 3]});
  double rest = 0;
  for (; k < n; ++k) rest += f(x[k]);
  return four(sum) + rest;
}

struct TimesLog {  // x log x, and 0 for 0
  TACIT_INLINE double operator()(double x) const { return x * fast_log(x > 0 ? x : 1.0); }
  TACIT_INLINE Number4 operator()(Number4 x) const {
    return x * fast_log(x > 0 ? x : Number4{1, 1, 1, 1});
  }
};

struct Rising {  // log Γ(x + a) - log Γ(a), and exactly 0 for 0
  double a, log_gamma_a;
  explicit Rising(double weight) : a(weight), log_gamma_a(log_gamma(weight)) {}
  TACIT_INLINE double operator()(double x) const {
    return x > 0 ? log_gamma(x + a) - log_gamma_a : 0.0;
  }
  TACIT_INLINE Number4 operator()(Number4 x) const {
    return x > 0 ? log_gamma(x + a) - log_gamma_a : Number4{0, 0, 0, 0};
  }
};

struct Both {
  double cells, rows;
};

TACIT_INLINE Both likelihood_body(const double* cells, std::int64_t n, const double* rows,
                                  std::int64_t n_rows) {
  return {add_up(cells, n, TimesLog{}), add_up(rows, n_rows, TimesLog{})};
}
TACIT_INLINE Both dirichlet_body(const double* cells, std::int64_t n, const double* rows,
                                 std::int64_t n_rows, double of_cell, double of_row) {
  return {add_up(cells, n, Rising(of_cell)), add_up(rows, n_rows, Rising(of_row))};
}

const auto likelihood = avx2_or_plain<likelihood_body>();
const auto dirichlet = avx2_or_plain<dirichlet_body>();

}  // namespace

double NetScore::price() const {
  return kind == NetScoreKind::kAic ? 1.0 : 0.5 * std::log(std::fmax(total, 1.0));
}

double NetScore::operator()(const double* counts, std::int64_t n_rows, int arity, int r, double q,
                            std::vector<double>& room) const {
  room.resize(static_cast<std::size_t>(n_rows));
  double observed = 0;
  for (std::int64_t j = 0; j < n_rows; ++j) {
    double sum = 0;
    for (int k = 0; k < arity; ++k) sum += counts[j * arity + k];
    room[static_cast<std::size_t>(j)] = sum;
    observed += sum > 0;
  }
  const std::int64_t n = n_rows * arity;
  if (kind == NetScoreKind::kBic || kind == NetScoreKind::kAic ||
      kind == NetScoreKind::kPenalised) {
    const Both sums = likelihood(counts, n, room.data(), n_rows);
    const double entries = q * (kind == NetScoreKind::kPenalised ? r : r - 1);
    return sums.cells - sums.rows - price() * entries;
  }
  double of_cell = prior_weight, of_row = prior_weight * r;
  if (kind != NetScoreKind::kK2) {
    const double states = kind == NetScoreKind::kBds ? std::fmax(observed, 1.0) : q;
    of_row = prior_weight / states;
    of_cell = of_row / r;
  }
  const Both sums = dirichlet(counts, n, room.data(), n_rows, of_cell, of_row);
  return sums.cells - sums.rows;
}

}  // namespace tacit
