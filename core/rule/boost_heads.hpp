// Heads of rules that lower a loss as much as any can, where that is not Newton's step.
#pragma once

#include <cstdint>
#include <vector>

#include "rule/newton_score.hpp"

namespace tacit {

// The s that minimises a·eˢ − b·s + l1·|s| + ½·l2·s²: the Poisson loss of records whose predictions
// add up to a and whose numbers add up to b. At most 30 either way, for b may be 0.
double poisson_head(double a, double b, const NewtonScore& score);

struct WeightedValue {
  double value;
  std::int64_t weight;
};

// The smallest value that so large a fraction of the weight is not above; half-way to the next one
// if the fraction is exactly that. Reorders the values. O(n), whatever their order.
double weighted_quantile(std::vector<WeightedValue>& values, double quantile);

}  // namespace tacit
