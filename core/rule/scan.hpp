// One column's candidate conditions, and the sums of statistics on either side of each.
//
// Every record has a pair of statistics (a gradient and a Hessian, or hits and misses), rounded so
// that sums of them are exact. A candidate has a stored side, whose statistics are added up from
// stored values alone, and an other side, which is the column's total less that. Phase I walks the
// codes below the default one upwards, phase II those above it downwards; the last candidate of
// each is the threshold next to the default value (phase III). If no record that counts has the
// default value, the two are the same threshold. Each stored value is read once.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/simd.hpp"
#include "rule/columns.hpp"

namespace tacit {

struct StatPair {
  float first, second;
};

struct StatSums {
  double first = 0, second = 0;
  StatSums operator-(const StatSums& o) const { return {first - o.first, second - o.second}; }
};

// The stored values of a column among the records that count.
struct ColumnRuns {
  const std::int32_t* codes = nullptr;  // of each run
  const std::int32_t* ends = nullptr;   // of each run among the column's records
  const std::int32_t* records = nullptr;
  std::int32_t n_runs = 0;

  std::int32_t n_stored() const { return n_runs > 0 ? ends[n_runs - 1] : 0; }
};

// Room for runs whose sums are known.
struct KnownRuns {
  std::vector<std::int32_t> codes;
  std::vector<double> units;
  std::vector<StatSums> sums;
  void resize(std::size_t n) {
    if (codes.size() >= n + 1) return;
    codes.resize(2 * n + 1);
    units.resize(2 * n + 1);
    sums.resize(2 * n + 1);
  }
};

// Candidates are numbered: those of phase I, then those of phase II. Of nominal columns, one for
// each stored code, and one for the default code (its stored side is all other codes).
class ColumnScan {
 public:
  // `units`: how often each record counts, or null for once. `n_covered`: units of all records that
  // count, stored or not.
  void list(const ColumnRuns& runs, bool nominal, std::int32_t default_code, double n_covered,
            const float* units);

  // Adds up one output's statistics; `totals` are those of all records that count.
  void sum(const StatPair* stats, const StatSums& totals);

  // Both at once for one output, where some records may count zero times. Nothing is listed.
  void sum_some(const ColumnRuns& runs, bool nominal, std::int32_t default_code, double n_covered,
                const float* units, const StatPair* stats, const StatSums& totals);

  // Instead of both, for a column whose runs' codes, units and sums are known; each has units. They
  // must stay where they are while the column is looked at.
  void take(const std::int32_t* codes, const double* units, const StatSums* sums, int n_runs,
            bool nominal, std::int32_t default_code, double n_covered, const StatSums& totals);

  KnownRuns& known() { return known_; }  // for the caller to fill, and to hand to take()

  const ColumnRuns& runs() const { return runs_; }
  // The run that a candidate adds to its stored side.
  int run_of(int k) const {
    return nominal_ || k < n_rising_ ? missing_ + k : runs_.n_runs - 1 - (k - n_rising_);
  }
  const float* units() const { return units_; }
  int n_missing_runs() const { return missing_; }  // 1 if the first run is of missing values, or 0
  int size() const { return size_; }
  const double* first() const { return first_.data(); }  // of the stored side
  const double* second() const { return second_.data(); }
  const StatSums& totals() const { return totals_; }  // of all that are not missing
  const StatSums& missing() const { return missing_sums_; }
  const StatSums& stored() const { return stored_sums_; }  // of all stored values but missing ones
  bool has_default() const { return default_code_ != kMissingCode; }
  double n_known() const { return n_known_; }  // units of the same
  double n_stored_side(int k) const {
    if (!run_units_) return plain_count(k);
    if (counts_.empty()) count_sides();
    return counts_[static_cast<std::size_t>(k)];
  }
  StatSums stored_side(int k) const {
    return {first_[static_cast<std::size_t>(k)], second_[static_cast<std::size_t>(k)]};
  }

  // Candidates [0, n_rising()) are those of phase I; their stored side is "≤". Those of phase II
  // have ">" on their stored side.
  int n_rising() const { return n_rising_; }
  bool nominal() const { return nominal_; }
  // Whether anything is on both sides: a candidate that covers all known values is none.
  bool divides(int k) const { return k != everything_[0] && k != everything_[1]; }

  RuleCondition condition(std::int32_t column, int k, bool stored_side) const;

 private:
  void lay_out(bool nominal, std::int32_t default_code, double n_covered);
  void count_sides() const;
  double plain_count(int k) const;
  template <bool kUnits>
  void sum_runs(const StatPair* stats);

  ColumnRuns runs_;
  bool nominal_ = false;
  std::int32_t default_code_ = 0;
  const float* units_ = nullptr;
  const double* run_units_ = nullptr;  // of each run; null: as many as it has records
  int missing_ = 0;                    // 1 if the first run is of missing values
  int split_ = 0;                      // first run above the default code
  int size_ = 0, n_rising_ = 0;
  int everything_[2] = {-1, -1};
  bool present_ = false;  // whether the default value is among the covered
  double n_known_ = 0;
  StatSums totals_, missing_sums_, stored_sums_;
  std::vector<double> first_, second_;  // of each candidate's stored side
  std::vector<double> units_by_run_;
  KnownRuns known_;
  mutable std::vector<double> counts_;  // units of each candidate's stored side, once asked for
};

// What a candidate is worth, and which of two is better: by score, then the smaller output, the
// smaller column, anything before "≠", the smaller code, the smaller operator. So the best one does
// not depend on the order of looking.
struct RuleCandidate {
  double score = -std::numeric_limits<double>::infinity();
  std::int32_t output = 0;
  RuleCondition condition;
  StatSums covered;
  double n_covered = 0;

  bool valid() const { return condition.column >= 0; }
  bool better(const RuleCandidate& o) const {
    if (score != o.score) return score > o.score;
    if (!valid() || !o.valid()) return valid();
    if (output != o.output) return output < o.output;
    if (condition.column != o.condition.column) return condition.column < o.condition.column;
    const bool unlike = condition.op == RuleOp::unequal;
    if (unlike != (o.condition.op == RuleOp::unequal)) return !unlike;
    if (condition.low != o.condition.low) return condition.low < o.condition.low;
    return condition.op < o.condition.op;
  }
};

}  // namespace tacit
