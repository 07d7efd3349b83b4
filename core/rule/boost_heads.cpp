#include "rule/boost_heads.hpp"

#include <algorithm>
#include <cmath>

namespace tacit {

double poisson_head(double a, double b, const NewtonScore& score) {
  constexpr double kMost = 30;
  constexpr int kSteps = 100;  // far more than any take
  const double g = a - b;
  if (std::abs(g) <= score.l1) return 0;
  // The root of a·eˢ + l2·s − c, which rises and is convex: steps from above never pass it.
  const double c = g < 0 ? b - score.l1 : b + score.l1;
  double s = g > 0 ? 0 : a > 0 ? std::min(std::log(c / a), kMost) : kMost;
  if (score.l2 == 0 && g > 0) return c > 0 ? std::max(std::log(c / a), -kMost) : -kMost;
  if (score.l2 == 0) return s;
  for (int step = 0; step < kSteps; ++step) {
    const double e = a * std::exp(s);
    const double next = s - (e + score.l2 * s - c) / (e + score.l2);
    if (!(next < s)) break;
    s = next;
  }
  return std::max(s, -kMost);
}

double weighted_quantile(std::vector<WeightedValue>& values, double quantile) {
  if (values.empty()) return 0;
  std::int64_t total = 0, below = 0;
  for (const WeightedValue& each : values) total += each.weight;
  const double target = quantile * static_cast<double>(total);
  const auto smaller = [](const WeightedValue& a, const WeightedValue& b) {
    return a.value < b.value;
  };
  auto low = values.begin(), high = values.end();  // where it lies; `below` is the weight before
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    std::nth_element(low, middle, high, smaller);
    std::int64_t passed = below;
    for (auto each = low; each != middle; ++each) passed += each->weight;
    if (static_cast<double>(passed) >= target) {
      high = middle;
    } else {
      below = passed;
      low = middle;
    }
  }
  const double found = low->value;
  if (static_cast<double>(below + low->weight) != target || high == values.end()) return found;
  return found + (std::min_element(high, values.end(), smaller)->value - found) / 2;
}

}  // namespace tacit
