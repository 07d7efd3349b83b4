#include "rule/boost_limits.hpp"

#include <iterator>
#include <numeric>

namespace tacit {

void RuleLimits::add(const RuleCondition& condition, std::int64_t n_columns) {
  if (sign_ == 0) sign_ = limits_.sign(condition);
  if (!limits_.couple_columns()) return;
  const auto at = std::lower_bound(columns_.begin(), columns_.end(), condition.column);
  if (at != columns_.end() && *at == condition.column) return;
  columns_.insert(at, condition.column);
  if (limits_.most_columns > 0 &&
      static_cast<std::int64_t>(columns_.size()) >= limits_.most_columns) {
    allowed_ = columns_;
    return;
  }
  allowed_.clear();
  if (limits_.groups.empty()) {
    allowed_.resize(static_cast<std::size_t>(n_columns));
    std::iota(allowed_.begin(), allowed_.end(), 0);
    return;
  }
  std::vector<std::int32_t> merged;
  for (const std::vector<std::int32_t>& group : limits_.groups) {
    if (!std::includes(group.begin(), group.end(), columns_.begin(), columns_.end())) continue;
    merged.clear();
    std::set_union(allowed_.begin(), allowed_.end(), group.begin(), group.end(),
                   std::back_inserter(merged));
    allowed_.swap(merged);
  }
}

}  // namespace tacit
