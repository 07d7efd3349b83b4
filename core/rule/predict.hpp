// Which rules cover which records, and what their heads add up to.
//
// A rule covers the records that satisfy all its conditions. A missing value (NaN) satisfies none.
// Records are looked at in blocks that fit in the cache: each distinct condition becomes a bitmap
// of the block, at the cost of the values that its column lists there, and a rule is the
// intersection of a few bitmaps.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"
#include "base/records.hpp"
#include "rule/coding.hpp"
#include "rule/columns.hpp"

namespace tacit {

struct RuleConditions {
  std::int64_t n_rules;
  const std::int64_t* start;    // n_rules + 1: the first condition of each rule
  const std::int32_t* columns;  // of each condition, in [0, number of columns)
  const std::uint8_t* ops;      // RuleOp
  const double* thresholds;     // what values are compared with
};

struct RuleHeads {
  const std::int64_t* start;    // n_rules + 1: the first score of each rule
  const std::int32_t* outputs;  // in [0, n_outputs)
  const double* scores;
  const double* default_scores;  // n_outputs: what every record begins with
  std::int64_t n_outputs;
};

// scores[r * n_outputs + o] = the default score of o, then the scores for o of the rules that cover
// r, added in the order of rules: the same to the bit however columns are given.
// O(records / 64 · conditions + listed values · conditions on them + covered · heads).
void rule_scores(const NumberColumns& columns, const RuleConditions& rules, const RuleHeads& heads,
                 double* scores, int n_jobs, Poll poll);

struct RuleCover {
  Buffer<std::int64_t> indptr;  // n_records + 1
  Buffer<std::int32_t> rules;   // those that cover a record, ascending
};

// The rules that cover each record. As above, with 1 for heads.
RuleCover rule_cover(const NumberColumns& columns, const RuleConditions& rules, int n_jobs,
                     Poll poll);

}  // namespace tacit
