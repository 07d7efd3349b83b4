#include "itemset/significant_test.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tacit {
namespace {

constexpr long double kNone = -std::numeric_limits<long double>::infinity();
constexpr long double kNegligible = 1e-19L;  // relative to a sum
constexpr long double kTie = 1e-9L;          // logarithms of masses that count as equal

long double log_sum(long double a, long double b) {
  const long double high = std::max(a, b), low = std::min(a, b);
  return low == kNone ? high : high + std::log1p(std::exp(low - high));
}

long double log_rest(long double log_part) {
  return log_part >= 0 ? kNone : std::log1p(-std::exp(log_part));
}

// log erfc(x), also where erfc(x) is 0 in double precision.
double log_erfc(double x) {
  if (x < 20) return std::log(std::erfc(x));
  constexpr double kPi = 3.14159265358979323846;
  const double y = 1 / (2 * x * x);
  return -x * x - std::log(x * std::sqrt(kPi)) + std::log1p(-y * (1 - 3 * y * (1 - 5 * y)));
}

double rounded(double log_p) {
  return std::min(0.0, std::nearbyint(log_p / MarginTest::kGrain) * MarginTest::kGrain);
}

}  // namespace

MarginTest::MarginTest(std::int64_t n, std::int64_t positives, MarginTestKind kind,
                       Alternative alternative)
    : n_(n), n1_(positives), kind_(kind), alternative_(alternative) {
  if (kind != MarginTestKind::fisher) return;
  std::vector<long double> table(static_cast<std::size_t>(n) + 1, 0);
  for (std::size_t k = 2; k < table.size(); ++k)
    table[k] = table[k - 1] + std::log(static_cast<long double>(k));
  log_factorial_ = std::make_shared<const std::vector<long double>>(std::move(table));
}

MarginTest MarginTest::within(std::int64_t n, std::int64_t positives,
                              Alternative alternative) const {
  MarginTest other(*this);
  other.n_ = n;
  other.n1_ = positives;
  other.alternative_ = alternative;
  return other;
}

long double MarginTest::log_mass(std::int64_t s, std::int64_t k) const {
  const long double* const table = log_factorial_->data();
  const auto f = [&](std::int64_t m) { return table[m]; };
  const std::int64_t n0 = n_ - n1_;
  return (f(n1_) - f(k) - f(n1_ - k)) + (f(n0) - f(s - k) - f(n0 - s + k)) -
         (f(n_) - f(s) - f(n_ - s));
}

std::int64_t MarginTest::mode(std::int64_t s) const {
  const double m = std::floor(static_cast<double>(s + 1) * static_cast<double>(n1_ + 1) /
                              static_cast<double>(n_ + 2));
  return std::clamp(static_cast<std::int64_t>(m), lowest(s), highest(s));
}

long double MarginTest::log_upper(std::int64_t s, std::int64_t k) const {
  if (k > highest(s)) return kNone;
  if (k <= lowest(s)) return 0;
  if (k <= mode(s)) return log_rest(log_lower(s, k - 1));
  long double term = 1, sum = 1;
  for (std::int64_t j = k; j < highest(s) && term > kNegligible * sum; ++j) {
    term *= static_cast<long double>(n1_ - j) * static_cast<long double>(s - j) /
            (static_cast<long double>(j + 1) * static_cast<long double>(n_ - n1_ - s + j + 1));
    sum += term;
  }
  return log_mass(s, k) + std::log(sum);
}

long double MarginTest::log_lower(std::int64_t s, std::int64_t k) const {
  if (k < lowest(s)) return kNone;
  if (k >= highest(s)) return 0;
  if (k >= mode(s)) return log_rest(log_upper(s, k + 1));
  long double term = 1, sum = 1;
  for (std::int64_t j = k; j > lowest(s) && term > kNegligible * sum; --j) {
    term *= static_cast<long double>(j) * static_cast<long double>(n_ - n1_ - s + j) /
            (static_cast<long double>(n1_ - j + 1) * static_cast<long double>(s - j + 1));
    sum += term;
  }
  return log_mass(s, k) + std::log(sum);
}

double MarginTest::fisher(std::int64_t s, std::int64_t k) const {
  if (alternative_ == Alternative::greater) return static_cast<double>(log_upper(s, k));
  if (alternative_ == Alternative::less) return static_cast<double>(log_lower(s, k));
  const std::int64_t m = mode(s);
  if (k == m) return 0;
  // The masses rise up to the mode and fall behind it: the other tail begins where they are as low.
  const long double most = log_mass(s, k) + kTie;
  const bool above = k > m;
  std::int64_t out = above ? lowest(s) - 1 : highest(s) + 1, in = above ? m + 1 : m - 1;
  while (std::abs(in - out) > 1) {
    const std::int64_t middle = (in + out) / 2;
    (log_mass(s, middle) <= most ? out : in) = middle;
  }
  return static_cast<double>(above ? log_sum(log_upper(s, k), log_lower(s, out))
                                   : log_sum(log_lower(s, k), log_upper(s, out)));
}

double MarginTest::chi2(std::int64_t s, std::int64_t k) const {
  if (s == 0 || s == n_ || n1_ == 0 || n1_ == n_) return 0;
  const auto real = [](std::int64_t x) { return static_cast<double>(x); };
  const double spread =
      std::sqrt(real(s) * real(n_ - s)) * std::sqrt(real(n1_) * real(n_ - n1_) / real(n_));
  const double z = real(k * n_ - s * n1_) / spread;
  if (alternative_ == Alternative::two_sided) return log_erfc(std::abs(z) * std::sqrt(0.5));
  return log_erfc((alternative_ == Alternative::greater ? z : -z) * std::sqrt(0.5)) - std::log(2.0);
}

double MarginTest::log_p(std::int64_t s, std::int64_t k) const {
  return rounded(kind_ == MarginTestKind::fisher ? fisher(s, k) : chi2(s, k));
}

double MarginTest::least(std::int64_t s) const {
  if (alternative_ == Alternative::greater) return log_p(s, highest(s));
  if (alternative_ == Alternative::less) return log_p(s, lowest(s));
  if (kind_ == MarginTestKind::fisher) {
    // Masses rise and fall: none is below both ends, so that the lower end is a tail alone.
    const long double low = log_mass(s, lowest(s)), high = log_mass(s, highest(s));
    if (std::abs(low - high) > 2 * kTie) return rounded(static_cast<double>(std::min(low, high)));
  }
  return std::min(log_p(s, highest(s)), log_p(s, lowest(s)));
}

MarginTest::Inner MarginTest::inner(std::int64_t s, double limit) const {
  // From the middle down, and from above it up, p-values fall.
  const std::int64_t middle = kind_ == MarginTestKind::fisher ? mode(s) : s * n1_ / n_;
  Inner found{lowest(s), highest(s)};
  if (alternative_ != Alternative::greater) {
    std::int64_t in = middle + 1, out = lowest(s) - 1;
    if (alternative_ == Alternative::less) in = highest(s) + 1;
    while (in - out > 1) {
      const std::int64_t k = (in + out) / 2;
      (log_p(s, k) < limit ? out : in) = k;
    }
    found.low = in;
  }
  if (alternative_ != Alternative::less) {
    std::int64_t in = middle, out = highest(s) + 1;
    if (alternative_ == Alternative::greater) in = lowest(s) - 1;
    while (out - in > 1) {
      const std::int64_t k = (in + out) / 2;
      (log_p(s, k) < limit ? out : in) = k;
    }
    found.high = in;
  }
  return found;
}

}  // namespace tacit
