// One rule for one class: the best condition by a heuristic, and more as long as it gets better.
//
// Every record has a weight of hits (it is of the class) or of misses (it is not), or neither: then
// it does not take part. Weights are multiples of a power of two, so that sums are exact and the
// rule depends neither on what the default is nor on the order of records. Of conditions that score
// the same, the one with more hits is taken, then that of the smaller column, "=" rather than "≠",
// and then the smaller code and operator.
//
// With p hits and n misses covered, P and N in all:
//   precision    p / (p + n)
//   Laplace      (p + 1) / (p + n + 2)
//   m-estimate   (p + m P / (P + N)) / (p + n + m)
//   F-measure    (1 + b²) p / (b² P + p + n)
//   Kulczynski   (p / (p + n) + p / P) / 2
//   FOIL's gain  p (log2(p / (p + n)) - log2(p' / (p' + n'))), with p' and n' that are covered
//                without the condition; conditions are added as long as there is a gain
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "rule/search.hpp"

namespace tacit {

enum class RuleHeuristic : std::uint8_t {
  precision,
  laplace,
  m_estimate,
  f_measure,
  kulczynski,
  foil_gain
};

struct GrowOptions {
  RuleHeuristic heuristic;
  double parameter;    // m, or b; others have none
  int max_conditions;  // at most CoverMask::kMostConditions
  double min_support;  // hits and misses that a rule covers at least
};

// Grows one rule after another on the same columns.
class RuleGrower {
 public:
  explicit RuleGrower(const RuleColumns& columns) : search_(columns, nullptr) {}

  // Returns the conditions, and writes for each record how many leading ones of them it satisfies,
  // whether it takes part or not. O(stored values) for the first condition, O(covered stored
  // values) for each further one.
  std::vector<RuleCondition> grow(const StatPair* counts, const GrowOptions& options,
                                  std::uint8_t* depth, int n_jobs, Poll poll);

  const RuleColumns& columns() const { return search_.columns(); }

 private:
  RuleSearch search_;
  std::vector<float> taking_part_;
};

}  // namespace tacit
