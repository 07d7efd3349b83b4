#include "rule/columns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace tacit {
namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

void check_run(const RuleColumns& columns, std::int64_t run) {
  const std::int64_t begin = columns.run_start[run], end = columns.run_start[run + 1];
  require(begin < end && end <= columns.n_stored(), "run_start must ascend");
  std::int64_t before = -1;
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t record = columns.records[i];
    require(record > before && record < columns.n_records,
            "records must be in range and ascend within a run");
    before = record;
  }
}

void check_column(const RuleColumns& columns, std::int64_t c, std::vector<std::int64_t>& seen) {
  const std::int64_t begin = columns.column_runs[c], end = columns.column_runs[c + 1];
  require(begin <= end && end <= columns.n_runs(), "column_runs must ascend");
  require(columns.nominal[c] <= 1, "kinds must be 0 (ordinal) or 1 (nominal)");
  require(columns.default_code[c] >= kMissingCode, "default_codes must be -1 or a code");
  std::int64_t before = kMissingCode - 1;
  for (std::int64_t run = begin; run < end; ++run) {
    const std::int32_t code = columns.run_codes[run];
    require(code > before && code < std::numeric_limits<std::int32_t>::max(),
            "run_codes must ascend within a column");
    require(code != columns.default_code[c], "the default code must not be stored");
    before = code;
    check_run(columns, run);
    for (std::int64_t i = columns.run_start[run]; i < columns.run_start[run + 1]; ++i) {
      const std::int32_t record = columns.records[i];
      require(seen[static_cast<std::size_t>(record)] != c, "a record has two values of a column");
      seen[static_cast<std::size_t>(record)] = c;
    }
  }
}

}  // namespace

void check_columns(const RuleColumns& columns) {
  require(columns.n_records >= 0 && columns.n_records < std::numeric_limits<std::int32_t>::max(),
          "there are too many records");
  require(columns.column_runs[0] == 0 && columns.run_start[0] == 0, "offsets must begin with 0");
  require(columns.n_runs() < std::numeric_limits<std::uint32_t>::max(), "there are too many runs");
  std::vector<std::int64_t> seen(static_cast<std::size_t>(columns.n_records), -1);
  for (std::int64_t c = 0; c < columns.n_columns; ++c) check_column(columns, c, seen);
}

RuleCondition settled(const RuleColumns& columns, RuleCondition condition) {
  const bool ordered = condition.op == RuleOp::at_most || condition.op == RuleOp::above;
  if (!ordered || !columns.code_start || condition.high - condition.low < 2) return condition;
  const std::int64_t start = columns.code_start[condition.column];
  const double below = columns.upper[start + condition.low];
  const double above = columns.lower[start + condition.high];
  double middle = (below + above) / 2;
  if (!std::isfinite(middle)) middle = below / 2 + above / 2;
  if (!(middle >= below && middle < above)) middle = below;
  const auto* const first = columns.lower + start + condition.low + 1;
  const auto* const last = columns.lower + start + condition.high;
  condition.high =
      condition.low + 1 + static_cast<std::int32_t>(std::upper_bound(first, last, middle) - first);
  condition.low = condition.high - 1;
  return condition;
}

RuleRows::RuleRows(const RuleColumns& of)
    : start(static_cast<std::size_t>(of.n_records) + 2, 0),
      runs(static_cast<std::size_t>(of.n_stored())),
      columns(runs.size()) {
  const std::int64_t n_stored = of.n_stored();
  for (std::int64_t i = 0; i < n_stored; ++i) ++start[static_cast<std::size_t>(of.records[i]) + 2];
  for (std::size_t r = 2; r < start.size(); ++r) start[r] += start[r - 1];
  for (std::int64_t c = 0; c < of.n_columns; ++c)
    for (std::int64_t run = of.column_runs[c]; run < of.column_runs[c + 1]; ++run)
      for (std::int64_t i = of.run_start[run]; i < of.run_start[run + 1]; ++i) {
        const auto record = static_cast<std::size_t>(of.records[i]);
        const auto position = static_cast<std::size_t>(start[record + 1]++);
        runs[position] = static_cast<std::uint32_t>(run);
        columns[position] = static_cast<std::int32_t>(c);
      }
  start.pop_back();
}

}  // namespace tacit
