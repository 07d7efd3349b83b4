// The arrays of rule columns, checked once and kept while they are used.
#pragma once

#include <algorithm>

#include "bindings/common.hpp"
#include "rule/columns.hpp"

namespace tacit::bindings {

struct RuleArrays {
  In<std::uint8_t> kinds;
  In<std::int32_t> default_code;
  In<std::int64_t> column_runs;
  In<std::int32_t> run_codes;
  In<std::int64_t> run_start;
  In<std::int32_t> records;
  std::optional<In<std::int64_t>> code_start;
  std::optional<In<double>> lower, upper;
  RuleColumns columns;

  RuleArrays(std::int64_t n_records, const In<std::uint8_t>& kinds_in,
             const In<std::int32_t>& default_code_in, const In<std::int64_t>& column_runs_in,
             const In<std::int32_t>& run_codes_in, const In<std::int64_t>& run_start_in,
             const In<std::int32_t>& records_in,
             const std::optional<In<std::int64_t>>& code_start_in,
             const std::optional<In<double>>& lower_in, const std::optional<In<double>>& upper_in)
      : kinds(kinds_in),
        default_code(default_code_in),
        column_runs(column_runs_in),
        run_codes(run_codes_in),
        run_start(run_start_in),
        records(records_in),
        code_start(code_start_in),
        lower(lower_in),
        upper(upper_in),
        columns{n_records,          static_cast<std::int64_t>(kinds.size()),
                kinds.data(),       default_code.data(),
                column_runs.data(), run_codes.data(),
                run_start.data(),   records.data()} {
    if (default_code.size() != kinds.size() || column_runs.size() != kinds.size() + 1 ||
        run_start.size() != run_codes.size() + 1 ||
        column_runs.data()[kinds.size()] != static_cast<std::int64_t>(run_codes.size()) ||
        run_start.data()[run_codes.size()] != static_cast<std::int64_t>(records.size()))
      throw std::invalid_argument("the arrays of rule columns do not fit each other");
    check_columns(columns);
    if (!code_start) return;
    if (!lower || !upper || code_start->size() != kinds.size() + 1 ||
        lower->size() != upper->size())
      throw std::invalid_argument("code_start, lower and upper must fit each other");
    const std::int64_t* const start = code_start->data();
    for (std::size_t c = 0; c < kinds.size(); ++c) {
      const std::int64_t last = column_runs.data()[c + 1] - 1;
      const std::int32_t most = std::max(
          default_code.data()[c], last >= column_runs.data()[c] ? run_codes.data()[last] : -1);
      if (start[c] < 0 || start[c + 1] - start[c] <= most ||
          start[c + 1] > static_cast<std::int64_t>(lower->size()))
        throw std::invalid_argument("code_start must have a position for each code");
    }
    columns.code_start = start;
    columns.lower = lower->data();
    columns.upper = upper->data();
  }
};

}  // namespace tacit::bindings
