// The records that count and the columns as they see them, while a rule grows.
//
// A rule begins with all records, or those drawn for it. Each condition narrows them; a column's
// stored values are filtered when the column is next looked at, and kept until the rule is done.
// Where a condition covers few records, their rows are walked instead of all columns.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rule/columns.hpp"
#include "rule/cover_mask.hpp"
#include "rule/scan.hpp"

namespace tacit {

class RuleSearch {
 public:
  // `units`: how often each record counts, or null for once; those of 0 are covered, but never
  // counted.
  RuleSearch(const RuleColumns& columns, const float* units);

  // Which fraction of the columns will be read for each condition.
  void expect(double fraction) { fraction_read_ = fraction; }

  // Whether columns may be made from rows; not if nobody reads them.
  void walk_rows(bool may) { may_walk_ = may; }

  // Starts a rule. `drawn`: how often each record counts for it, or null for `units`.
  void begin(const float* drawn, double n_units);
  void add(const RuleCondition& condition, double n_covered);

  const RuleColumns& columns() const { return columns_; }
  const CoverMask& mask() const { return mask_; }
  CoverMask& mask() { return mask_; }
  double n_covered() const { return n_covered_; }  // units
  const float* units() const { return units_; }    // those of this rule; null: each counts once

  // Columns that may have a value stored among the records that count.
  const std::vector<std::int32_t>& active() const { return active_; }
  std::int64_t n_active_values() const { return n_active_values_; }  // at most so many are stored
  // A column's stored values among those records. Different columns may be asked for at once.
  ColumnRuns column(std::int32_t c);
  void list(std::int32_t c, ColumnScan& scan) {
    scan.list(column(c), columns_.nominal[c] != 0, columns_.default_code[c], n_covered_, units_);
  }
  // Whether records were drawn, and no condition has narrowed them yet.
  bool just_drawn() const { return drawn_ && step_ == first_step_; }
  // Then: a column's sums for one output, of the records drawn. Nothing is listed on the way.
  void sum_drawn(std::int32_t c, const StatPair* stats, const StatSums& totals,
                 ColumnScan& scan) const {
    scan.sum_some(root(c), columns_.nominal[c] != 0, columns_.default_code[c], n_covered_, units_,
                  stats, totals);
  }
  // The same as they were before any rule, for all records of any units.
  ColumnRuns root(std::int32_t c) const;
  const RuleRows& rows();

 private:
  struct Store {
    std::vector<std::int32_t> codes, ends, records;
  };
  struct View {
    std::int32_t *codes, *ends, *records;
    std::int32_t n_runs;
    std::int64_t rule, step;  // when it was last filtered
  };
  void filter(std::int32_t c, View& view);
  void walk();
  std::int32_t column_of(std::uint64_t run) const;

  const RuleColumns columns_;
  const float* static_units_;
  const float* units_ = nullptr;
  bool drawn_ = false;
  std::vector<std::uint8_t> counts_;  // whether a record was drawn
  CoverMask mask_;
  double n_covered_ = 0;
  std::int64_t rule_ = 0, step_ = 0, first_step_ = 0;
  std::vector<std::int32_t> root_codes_, root_ends_, root_records_;
  std::vector<std::int64_t> root_runs_, root_start_;
  const std::int32_t *codes_, *records_;  // the caller's, or root_codes_ and root_records_
  std::vector<View> views_;
  std::vector<Store> stores_;
  std::vector<std::int32_t> all_columns_, active_;
  std::int64_t n_active_values_ = 0;
  std::unique_ptr<RuleRows> rows_;
  bool walked_ = false, may_walk_ = true;
  double fraction_read_ = 1;
  Store walk_;
  std::vector<std::uint64_t> keys_, other_keys_;
};

}  // namespace tacit
