#include "rule/cover_mask.hpp"

namespace tacit {

void CoverMask::add(const RuleColumns& columns, const RuleCondition& unsettled) {
  const RuleCondition condition = settled(columns, unsettled);
  const std::int64_t c = condition.column;
  const bool drops = condition.holds(columns.default_code[c]);
  next();
  for (std::int64_t run = columns.column_runs[c]; run < columns.column_runs[c + 1]; ++run) {
    if (condition.holds(columns.run_codes[run]) == drops) continue;
    const std::int32_t* const listed = columns.records + columns.run_start[run];
    const std::int64_t n = columns.run_start[run + 1] - columns.run_start[run];
    mark(listed, n);
  }
  if (!drops) kept();
}

}  // namespace tacit
