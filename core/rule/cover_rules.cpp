#include "rule/cover_rules.hpp"

#include <algorithm>
#include <cmath>

namespace tacit {
namespace {

struct Heuristic {
  RuleHeuristic kind;
  double parameter;
  StatSums all;
  double bits = 0;  // log2 of the precision that the rule has so far

  // Takes note of what the rule covers before the next condition.
  void start_from(const StatSums& covered) {
    bits = std::log2(covered.first / (covered.first + covered.second));
  }

  double operator()(const StatSums& covered) const {
    const double p = covered.first, n = covered.second;
    switch (kind) {
      case RuleHeuristic::precision:
        return p / (p + n);
      case RuleHeuristic::laplace:
        return (p + 1) / (p + n + 2);
      case RuleHeuristic::m_estimate:
        return (p + parameter * all.first / (all.first + all.second)) / (p + n + parameter);
      case RuleHeuristic::f_measure: {
        const double square = parameter * parameter;
        return (1 + square) * p / (square * all.first + p + n);
      }
      case RuleHeuristic::foil_gain:
        return p * (std::log2(p / (p + n)) - bits);
      default:
        return (p / (p + n) + p / all.first) / 2;
    }
  }
};

struct Choice {
  double score = 0;
  RuleCondition condition;
  StatSums covered;
  double n_covered = 0;  // records that take part

  bool valid() const { return condition.column >= 0; }
  bool better(const Choice& o) const {
    if (!valid() || !o.valid()) return valid() && !o.valid();
    if (score != o.score) return score > o.score;
    if (covered.first != o.covered.first) return covered.first > o.covered.first;
    if (condition.column != o.condition.column) return condition.column < o.condition.column;
    // "is" reads better than "is not", where both cover the same.
    const bool negated = condition.op == RuleOp::unequal;
    if (negated != (o.condition.op == RuleOp::unequal)) return !negated;
    if (condition.low != o.condition.low) return condition.low < o.condition.low;
    return condition.op < o.condition.op;
  }
};

// The best condition of one column for records with `totals`.
Choice best_of_column(RuleSearch& search, std::int32_t c, const StatPair* counts,
                      const StatSums& totals, const Heuristic& heuristic, double min_support,
                      ColumnScan& scan) {
  search.list(c, scan);
  scan.sum(counts, totals);
  Choice best;
  for (int k = 0; k < scan.size(); ++k) {
    if (!scan.divides(k)) continue;
    const StatSums stored = scan.stored_side(k);
    for (const bool side : {true, false}) {
      Choice candidate;
      candidate.covered = side ? stored : scan.totals() - stored;
      if (!(candidate.covered.first > 0) ||
          candidate.covered.first + candidate.covered.second < min_support)
        continue;
      candidate.score = heuristic(candidate.covered);
      if (best.valid() && candidate.score < best.score) continue;
      candidate.condition = scan.condition(c, k, side);
      candidate.n_covered = side ? scan.n_stored_side(k) : scan.n_known() - scan.n_stored_side(k);
      if (candidate.better(best)) best = candidate;
    }
  }
  return best;
}

Choice best_condition(RuleSearch& search, const StatPair* counts, const StatSums& totals,
                      const Heuristic& heuristic, double min_support, int n_jobs, Poll poll) {
  constexpr std::int64_t kWorthAThread = 1 << 17;  // stored values
  const std::vector<std::int32_t>& columns = search.active();
  const auto n = static_cast<std::int64_t>(columns.size());
  if (n == 0) return {};
  const std::int64_t n_blocks = std::min<std::int64_t>(n, 64);
  const auto jobs = std::min<std::int64_t>(n_jobs, 1 + search.n_active_values() / kWorthAThread);
  std::vector<Choice> best(static_cast<std::size_t>(n_blocks));
  for_blocks(n_blocks, static_cast<int>(jobs), poll, [&](std::int64_t b, StopToken& token) {
    Meter meter(token);
    ColumnScan scan;
    const Range range = block_range(n, n_blocks, b);
    Choice& first = best[static_cast<std::size_t>(b)];
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const std::int32_t c = columns[static_cast<std::size_t>(i)];
      const Choice candidate =
          best_of_column(search, c, counts, totals, heuristic, min_support, scan);
      if (candidate.better(first)) first = candidate;
      meter.spend(search.root(c).n_stored());
    }
  });
  Choice first;
  for (const Choice& candidate : best)
    if (candidate.better(first)) first = candidate;
  return first;
}

}  // namespace

std::vector<RuleCondition> RuleGrower::grow(const StatPair* counts, const GrowOptions& options,
                                            std::uint8_t* depth, int n_jobs, Poll poll) {
  const std::int64_t m = columns().n_records;
  std::fill_n(depth, m, std::uint8_t{0});
  taking_part_.resize(static_cast<std::size_t>(m));
  StatSums totals;
  std::int64_t n_part = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    const bool part = counts[i].first > 0 || counts[i].second > 0;
    taking_part_[static_cast<std::size_t>(i)] = part ? 1.0f : 0.0f;
    n_part += part;
    totals.first += static_cast<double>(counts[i].first);
    totals.second += static_cast<double>(counts[i].second);
  }
  std::vector<RuleCondition> conditions;
  if (!(totals.first > 0)) return conditions;
  search_.begin(n_part < m ? taking_part_.data() : nullptr, static_cast<double>(n_part));
  Heuristic heuristic{options.heuristic, options.parameter, totals};
  const bool gains = options.heuristic == RuleHeuristic::foil_gain;
  double reached = gains ? 0 : -1;  // any first condition is better than none, unless it is a gain
  while (static_cast<int>(conditions.size()) < options.max_conditions && totals.second > 0) {
    if (gains) heuristic.start_from(totals);
    const Choice best =
        best_condition(search_, counts, totals, heuristic, options.min_support, n_jobs, poll);
    if (!best.valid() || !(best.score > reached)) break;
    if (!gains) reached = best.score;
    totals = best.covered;
    conditions.push_back(best.condition);
    search_.add(best.condition, best.n_covered);
    search_.mask().for_each([&](std::int32_t record) { ++depth[record]; });
  }
  return conditions;
}

}  // namespace tacit
