// What a condition is worth to boosting: by how much the best score lowers the loss, twice over.
//
// With gradients summing to g and Hessians to h, the optimum of g s + ½ (h + l2) s² + l1 |s| is
// s = −S(g) / (h + l2), S being the soft threshold, and its value −½ S(g)² / (h + l2).
#pragma once

#include <cmath>
#include <cstdint>

#include "rule/scan.hpp"

namespace tacit {

struct NewtonScore {
  double l1 = 0, l2 = 1, min_support = 1;
  int sign = 0;  // of the heads that are allowed; 0 for any

  // The same for heads of a sign alone.
  NewtonScore signed_as(int other) const { return {l1, l2, min_support, other}; }
  bool allows(const StatSums& s) const {
    return sign == 0 || (sign > 0 ? s.first < 0 : s.first > 0);
  }

  double shrunk(double g) const { return g > l1 ? g - l1 : g < -l1 ? g + l1 : 0; }
  double head(const StatSums& s) const {
    const double h = s.second + l2;
    return h > 0 ? -shrunk(s.first) / h : 0;
  }
  double operator()(const StatSums& s) const {
    const double g = shrunk(s.first), h = s.second + l2;
    return h > 0 ? g * g / h : 0;
  }
};

// Replaces `best` by the best candidate of a scanned column, if that is better. `sign_below`: the
// sign of heads that "≤" allows, and the opposite of that which ">" does; 0 for any.
void best_condition(const ColumnScan& scan, std::int32_t column, std::int32_t output,
                    const NewtonScore& score, int sign_below, RuleCandidate& best);

// What no stored side of a column exceeds.
struct SideBounds {
  double score;     // of S(g)² / (h + l2)
  double up, down;  // of g and of −g, those of missing values added
  double hessian;   // of all stored values together
};
SideBounds side_bounds(const ColumnScan& scan, const NewtonScore& score);

}  // namespace tacit
