// Rules "these conditions → target = value": the best conjunctions of a few conditions column =
// code.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "rule/find_score.hpp"

namespace tacit {

struct RuleQuery {
  // The table, column by column: rows[start[v] … start[v + 1]) are the ascending records that hold
  // the value id v, and the ids of column c are offsets[c] … offsets[c + 1].
  const std::int64_t* start;
  const std::int32_t* rows;
  const std::int64_t* offsets;
  const std::int64_t* defaults;  // the code of each column that has no id
  std::int64_t n_columns, n_records;
  const double* weights;  // one a record, or null where each counts 1

  std::int64_t target, code;       // what a record must hold to be a hit
  std::int64_t shortest, longest;  // number of conditions, both included
  double min_support;              // > 0
  std::int64_t n_rules;
  Measure measure;
  double z;               // half width of the Wilson interval, in standard deviations
  bool defaults_allowed;  // whether a condition may ask for a column's default
  bool redundant;         // whether rules may have spare conditions, or the records of others
};

enum class RuleMethod { automatic, codes, rows };

template <class Count>
struct RuleAnswer {
  std::vector<FoundRule<Count>> rules;  // best first
  Count total, hits;                    // of all records
};

// The n_rules best conjunctions of shortest … longest conditions on distinct columns other than the
// target, among those that at least min_support records match; the order is FoundRule's. Unless
// redundant, a rule has to be better than all rules of some of its conditions, and of those that
// cover the same records the first counts. Count is
// int64, or double for sums of weights; then support and hits are summed in record order, first
// over hits and then over the rest.
//
// Depth first over columns. A branch is left when its support is too low, or when no rule in it can
// be among the best (see Bar); what that cuts does not depend on the number of threads as the best
// rules are unique. Two ways to count within a branch:
// - codes: a byte for each record and column; at most 256 codes a column reach min_support. Every
//   node costs its records times the columns that follow, or much less where those have few states
//   (see StateBits); pairs that exclude too few of the other records are not counted.
// - rows: the stored values of each record; every node costs the stored values of its records.
template <class Count>
RuleAnswer<Count> find_rules(const RuleQuery& query, RuleMethod method, int n_jobs, Poll poll);

}  // namespace tacit
