// A table made ready for the search for rules: hits first, only conditions with enough support.
#pragma once

#include <cstdint>
#include <vector>

#include "base/records.hpp"
#include "rule/find_rules.hpp"

namespace tacit {

// A column of the search. Its states are those codes that enough records hold, numbered from 0, and
// one more for all others, if there are any: it is counted but never a condition.
template <class Count>
struct RuleColumn {
  std::int32_t column;
  std::vector<std::int32_t> codes;     // of each state that can be a condition
  std::vector<Count> hits, rest;       // of each state: records that are hits, and that are not
  std::vector<std::int32_t> state_of;  // of each value id of the column, then of the default
  bool others;

  std::int64_t n_states() const { return static_cast<std::int64_t>(codes.size()) + others; }
};

// Records are renumbered: first the hits, then the rest, each in their order. Any list of ascending
// new numbers then begins with its hits.
template <class Count>
struct RuleData {
  const RuleQuery* query;
  Count total, total_hits;
  std::int64_t n_hits;                     // records, weighted or not
  Buffer<std::int32_t> position;           // the new number of each record
  Buffer<double> weights;                  // in the new order; empty without weights
  std::vector<RuleColumn<Count>> columns;  // in the order of the search
};

template <class Count>
RuleData<Count> prepare_rules(const RuleQuery& query);

// The two ways to search; see find_rules().
template <class Count>
void search_codes(const RuleData<Count>& data, const Scorer<Count>& scorer, BestRules<Count>& best,
                  int n_jobs, Poll poll);
template <class Count>
void search_rows(const RuleData<Count>& data, const Scorer<Count>& scorer, BestRules<Count>& best,
                 int n_jobs, Poll poll);

}  // namespace tacit
