// How rule learners see their features: for each column its values as codes, in order.
//
// A code is the rank of a value among those of its column; -1 stands for a missing value, which
// satisfies no condition. One code of each column is the default and not stored. A run is all
// records with one stored code; the runs of a column follow each other in the order of their codes.
#pragma once

#include <cstdint>
#include <vector>

namespace tacit {

constexpr std::int32_t kMissingCode = -1;

struct RuleColumns {
  std::int64_t n_records, n_columns;
  const std::uint8_t* nominal;       // by column: whether its codes have no order
  const std::int32_t* default_code;  // by column: the code that is not stored
  const std::int64_t* column_runs;   // n_columns + 1 offsets into the runs
  const std::int32_t* run_codes;     // strictly ascending within a column
  const std::int64_t* run_start;     // an offset into the records for each run, and the end
  const std::int32_t* records;       // strictly ascending within a run
  // By code: the numbers it stands for, which say on which side of a threshold a code between two
  // neighbours is. Null if not given: then it is on neither.
  const std::int64_t* code_start = nullptr;
  const double *lower = nullptr, *upper = nullptr;

  std::int64_t n_runs() const { return column_runs[n_columns]; }
  std::int64_t n_stored() const { return run_start[n_runs()]; }
};

// Throws std::invalid_argument unless all of the above holds.
void check_columns(const RuleColumns& columns);

enum class RuleOp : std::uint8_t { at_most, above, equal, unequal };

// A test of one column: codes up to `low`, codes from `high` on, `low` itself or any other. `low`
// and `high` are neighbours among the codes that were covered when the condition was found; of
// nominal columns they are the same.
struct RuleCondition {
  std::int32_t column = -1;
  RuleOp op = RuleOp::at_most;
  std::int32_t low = 0, high = 0;

  bool holds(std::int32_t code) const {
    if (code == kMissingCode) return false;
    switch (op) {
      case RuleOp::at_most:
        return code <= low;
      case RuleOp::above:
        return code >= high;
      case RuleOp::equal:
        return code == low;
      default:
        return code != low;
    }
  }
};

// The same condition with neighbouring codes for `low` and `high`: those between them, which only
// records have that did not count, are told apart by the threshold half-way.
RuleCondition settled(const RuleColumns& columns, RuleCondition condition);

// The stored values of each record, in the order of runs.
struct RuleRows {
  std::vector<std::int64_t> start;    // n_records + 1
  std::vector<std::uint32_t> runs;    // among all runs
  std::vector<std::int32_t> columns;  // of the same
  explicit RuleRows(const RuleColumns& of);
};

}  // namespace tacit
