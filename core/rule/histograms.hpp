// Sums of statistics for each run, kept while rules grow: for columns of few distinct values.
//
// The sums over all records of an output are kept from rule to rule, and changed by what the last
// rule changed. Those of what a growing rule covers are made by walking the rows of whoever is
// fewer: of the records covered, or of those that the last condition dropped, which are subtracted
// from what was there before. Sums are exact, so nothing is lost by subtracting.
#pragma once

#include <cstdint>
#include <vector>

#include "rule/columns.hpp"
#include "rule/cover_mask.hpp"
#include "rule/scan.hpp"

namespace tacit {

class RuleHistograms {
 public:
  // Whether they are worth their while: values are shared by many records, and sums fit in memory.
  static bool suit(const RuleColumns& columns, std::int64_t n_outputs);

  RuleHistograms(const RuleColumns& columns, const float* units, std::int64_t n_outputs);

  // All records' sums of an output; made when they are first asked for.
  void prepare(std::int64_t output, const StatPair* stats);
  void change(std::int64_t output, const std::vector<std::int32_t>& records,
              const StatPair* changes, const RuleRows& rows);
  void forget(std::int64_t output) { roots_[static_cast<std::size_t>(output)].clear(); }

  // Sums of what a rule covers, after a condition was added to its mask.
  void narrow(std::int64_t output, const StatPair* stats, const CoverMask& mask,
              const RuleRows& rows);

  std::int64_t n_runs() const { return columns_.n_runs(); }

  // Scans a column for an output: among all records, or those that the rule covers.
  void scan_root(std::int64_t output, std::int32_t column, const StatSums& totals,
                 ColumnScan& scan) const;
  void scan_rule(std::int32_t column, double n_covered, const StatSums& totals,
                 ColumnScan& scan) const;

 private:
  struct Cell {
    double first = 0, second = 0, units = 0;
  };
  double units_of(std::int32_t record) const {
    return units_ ? static_cast<double>(units_[record]) : 1;
  }
  template <class CellOf>
  void scan_some(std::int32_t column, double n_covered, const StatSums& totals, ColumnScan& scan,
                 const CellOf& cell) const;
  template <class Records>
  void add(const Records& records, double sign, const StatPair* stats, const RuleRows& rows);

  RuleColumns columns_;
  const float* units_;
  double n_units_ = 0;
  std::vector<double> run_units_;
  bool all_count_ = true;                     // whether all runs have units
  std::vector<std::vector<StatSums>> roots_;  // by output; empty: not known
  std::vector<Cell> cells_;                   // of what the rule covers
};

}  // namespace tacit
