// Which conditions may stand together in a rule, and which way its head may point.
//
// Scores are sums over rules. Where they must not fall as a column rises, a rule with ">" on it may
// only add, a rule with "≤" may only take away, and none may have both: each rule rises, and so does
// the sum, also as doubles are added up. Columns interact in a rule only if a group has them all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rule/columns.hpp"

namespace tacit {

struct BoostLimits {
  std::vector<std::int8_t> monotone;              // by column: 1, −1 or 0; empty for all 0
  std::vector<std::vector<std::int32_t>> groups;  // columns, ascending; empty for one of all
  std::int64_t most_columns = 0;                  // of a rule; 0 for any number

  bool couple_columns() const { return !groups.empty() || most_columns > 0; }
  // The sign that heads must have with conditions that are true of small values; 0 for any.
  int sign_below(std::int32_t column) const {
    return monotone.empty() ? 0 : -monotone[static_cast<std::size_t>(column)];
  }
  int sign(const RuleCondition& condition) const {
    const int below = sign_below(condition.column);
    return condition.op == RuleOp::at_most ? below : -below;
  }
};

// What is left of the limits while a rule grows.
class RuleLimits {
 public:
  explicit RuleLimits(const BoostLimits& limits) : limits_(limits) {}

  void begin() {
    columns_.clear();
    allowed_.clear();
    sign_ = 0;
  }
  void add(const RuleCondition& condition, std::int64_t n_columns);

  // The sign that the head must have by now; 0 for any.
  int sign() const { return sign_; }
  // Whether some columns may not be looked at any more; those that may.
  bool narrowed() const { return limits_.couple_columns() && !columns_.empty(); }
  const std::vector<std::int32_t>& allowed() const { return allowed_; }

 private:
  const BoostLimits& limits_;
  std::vector<std::int32_t> columns_, allowed_;  // of the rule; that may follow: ascending
  int sign_ = 0;
};

}  // namespace tacit
