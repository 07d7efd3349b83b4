#include "rule/histograms.hpp"

#include <algorithm>

namespace tacit {

bool RuleHistograms::suit(const RuleColumns& columns, std::int64_t n_outputs) {
  constexpr std::int64_t kShared = 8, kMostSums = std::int64_t{1} << 25;
  const std::int64_t n_runs = columns.n_runs();
  return n_runs > 0 && n_runs <= columns.n_stored() / kShared && n_outputs <= kMostSums / n_runs;
}

RuleHistograms::RuleHistograms(const RuleColumns& columns, const float* units,
                               std::int64_t n_outputs)
    : columns_(columns),
      units_(units),
      run_units_(static_cast<std::size_t>(columns.n_runs()), 0.0),
      roots_(static_cast<std::size_t>(n_outputs)) {
  for (std::int64_t run = 0; run < columns.n_runs(); ++run)
    for (std::int64_t i = columns.run_start[run]; i < columns.run_start[run + 1]; ++i)
      run_units_[static_cast<std::size_t>(run)] += units_of(columns.records[i]);
  all_count_ = std::find(run_units_.begin(), run_units_.end(), 0.0) == run_units_.end();
  for (std::int64_t r = 0; r < columns.n_records; ++r)
    n_units_ += units_of(static_cast<std::int32_t>(r));
}

void RuleHistograms::prepare(std::int64_t output, const StatPair* stats) {
  std::vector<StatSums>& sums = roots_[static_cast<std::size_t>(output)];
  if (!sums.empty()) return;
  sums.resize(run_units_.size());
  for (std::int64_t run = 0; run < columns_.n_runs(); ++run) {
    Double2 sum = {};
    for (std::int64_t i = columns_.run_start[run]; i < columns_.run_start[run + 1]; ++i) {
      const std::int32_t record = columns_.records[i];
      const Double2 value = {static_cast<double>(stats[record].first),
                             static_cast<double>(stats[record].second)};
      sum += units_ ? value * static_cast<double>(units_[record]) : value;
    }
    sums[static_cast<std::size_t>(run)] = {sum[0], sum[1]};
  }
}

void RuleHistograms::change(std::int64_t output, const std::vector<std::int32_t>& records,
                            const StatPair* changes, const RuleRows& rows) {
  std::vector<StatSums>& sums = roots_[static_cast<std::size_t>(output)];
  if (sums.empty()) return;
  // Adding up all runs in turn costs less a value than walking rows.
  if (static_cast<std::int64_t>(records.size()) > columns_.n_records / 3) {
    sums.clear();
    return;
  }
  for (std::size_t k = 0; k < records.size(); ++k) {
    const double units = units_of(records[k]);
    if (units == 0) continue;
    const double first = units * static_cast<double>(changes[k].first);
    const double second = units * static_cast<double>(changes[k].second);
    const auto r = static_cast<std::size_t>(records[k]);
    for (std::int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i) {
      StatSums& total = sums[rows.runs[static_cast<std::size_t>(i)]];
      total.first += first;
      total.second += second;
    }
  }
}

template <class Records>
void RuleHistograms::add(const Records& records, double sign, const StatPair* stats,
                         const RuleRows& rows) {
  records([&](std::int32_t record) {
    const double units = sign * units_of(record);
    if (units == 0) return;
    const double first = units * static_cast<double>(stats[record].first);
    const double second = units * static_cast<double>(stats[record].second);
    const auto r = static_cast<std::size_t>(record);
    for (std::int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i) {
      Cell& total = cells_[rows.runs[static_cast<std::size_t>(i)]];
      total.first += first;
      total.second += second;
      total.units += units;
    }
  });
}

void RuleHistograms::narrow(std::int64_t output, const StatPair* stats, const CoverMask& mask,
                            const RuleRows& rows) {
  const std::vector<std::int32_t>& dropped = mask.dropped();
  const bool first = mask.n_conditions() == 1;
  const auto n_dropped = static_cast<std::int64_t>(dropped.size());
  // A condition that lists whom it covers has dropped all others: they are not listed.
  if (!mask.last_kept() && n_dropped < (first ? columns_.n_records : mask.at_most()) / 2) {
    if (first) {
      const std::vector<StatSums>& root = roots_[static_cast<std::size_t>(output)];
      cells_.resize(root.size());
      for (std::size_t run = 0; run < root.size(); ++run)
        cells_[run] = {root[run].first, root[run].second, run_units_[run]};
    }
    add(
        [&](const auto& body) {
          for (const std::int32_t record : dropped) body(record);
        },
        -1, stats, rows);
    return;
  }
  cells_.assign(run_units_.size(), Cell{});
  add([&](const auto& body) { mask.for_each(body); }, 1, stats, rows);
}

void RuleHistograms::scan_root(std::int64_t output, std::int32_t column, const StatSums& totals,
                               ColumnScan& scan) const {
  const std::int64_t begin = columns_.column_runs[column];
  const int n = static_cast<int>(columns_.column_runs[column + 1] - begin);
  const StatSums* const root = roots_[static_cast<std::size_t>(output)].data();
  if (all_count_) {
    scan.take(columns_.run_codes + begin, run_units_.data() + begin, root + begin, n,
              columns_.nominal[column] != 0, columns_.default_code[column], n_units_, totals);
    return;
  }
  scan_some(column, n_units_, totals, scan, [&](std::int64_t run) {
    return Cell{root[run].first, root[run].second, run_units_[static_cast<std::size_t>(run)]};
  });
}

void RuleHistograms::scan_rule(std::int32_t column, double n_covered, const StatSums& totals,
                               ColumnScan& scan) const {
  scan_some(column, n_covered, totals, scan,
            [&](std::int64_t run) { return cells_[static_cast<std::size_t>(run)]; });
}

// Takes the runs of a column that have any units.
template <class CellOf>
void RuleHistograms::scan_some(std::int32_t column, double n_covered, const StatSums& totals,
                               ColumnScan& scan, const CellOf& cell) const {
  const std::int64_t begin = columns_.column_runs[column], end = columns_.column_runs[column + 1];
  KnownRuns& known = scan.known();
  known.resize(static_cast<std::size_t>(end - begin));
  std::size_t n = 0;
  for (std::int64_t run = begin; run < end; ++run) {
    const Cell total = cell(run);
    known.codes[n] = columns_.run_codes[run];
    known.units[n] = total.units;
    known.sums[n] = {total.first, total.second};
    n += total.units > 0;
  }
  scan.take(known.codes.data(), known.units.data(), known.sums.data(), static_cast<int>(n),
            columns_.nominal[column] != 0, columns_.default_code[column], n_covered, totals);
}

}  // namespace tacit
