#include "rule/search.hpp"

#include <algorithm>

namespace tacit {
namespace {

// Walking a row costs a few times as much a value as filtering a column.
constexpr double kWalkCost = 6;

// Sorts keys by bits [32, 32 + n_bits), which hold the run; records ascend in them already.
void sort_by_run(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& other, int n_bits) {
  if (keys.size() < 256) {
    std::sort(keys.begin(), keys.end());
    return;
  }
  constexpr int kDigit = 11;
  other.resize(keys.size());
  for (int shift = 32; shift < 32 + n_bits; shift += kDigit) {
    std::size_t count[1 << kDigit] = {};
    const auto digit = [shift](std::uint64_t key) { return (key >> shift) & ((1 << kDigit) - 1); };
    for (const std::uint64_t key : keys) ++count[digit(key)];
    std::size_t sum = 0;
    for (std::size_t& c : count) {
      const std::size_t n = c;
      c = sum;
      sum += n;
    }
    for (const std::uint64_t key : keys) other[count[digit(key)]++] = key;
    keys.swap(other);
  }
}

// Keeps the records that count, and the runs that have any: returns how many. May work in place.
template <class Counts>
std::int32_t keep_values(const ColumnRuns& from, std::int32_t* codes, std::int32_t* ends,
                         std::int32_t* records, const Counts& counts) {
  const std::int32_t n_stored = from.n_stored();
  std::int32_t kept = 0;
  if (n_stored == from.n_runs) {  // no two records share a value
    for (std::int32_t i = 0; i < n_stored; ++i) {
      const std::int32_t record = from.records[i];
      records[kept] = record;
      codes[kept] = from.codes[i];
      kept += counts(record);
    }
    for (std::int32_t i = 0; i < kept; ++i) ends[i] = i + 1;
    return kept;
  }
  std::int32_t i = 0, n_runs = 0, before = 0;
  for (std::int32_t run = 0; run < from.n_runs; ++run) {
    const std::int32_t end = from.ends[run], code = from.codes[run];
    for (; i < end; ++i) {
      const std::int32_t record = from.records[i];
      records[kept] = record;
      kept += counts(record);
    }
    codes[n_runs] = code;
    ends[n_runs] = kept;
    n_runs += kept > before;
    before = kept;
  }
  return n_runs;
}

}  // namespace

RuleSearch::RuleSearch(const RuleColumns& columns, const float* units)
    : columns_(columns), static_units_(units), mask_(columns.n_records) {
  const std::int64_t n_runs = columns.n_runs();
  const bool some_left_out =
      units && std::find(units, units + columns.n_records, 0.0f) != units + columns.n_records;
  root_ends_.reserve(static_cast<std::size_t>(n_runs));
  root_runs_.push_back(0);
  root_start_.push_back(0);
  std::int64_t start = 0;
  for (std::int64_t c = 0; c < columns.n_columns; ++c) {
    std::int64_t end = start;
    for (std::int64_t run = columns.column_runs[c]; run < columns.column_runs[c + 1]; ++run) {
      const std::int64_t before = end;
      if (some_left_out) {
        for (std::int64_t i = columns.run_start[run]; i < columns.run_start[run + 1]; ++i)
          if (units[columns.records[i]] > 0) root_records_.push_back(columns.records[i]);
        end = static_cast<std::int64_t>(root_records_.size());
        if (end > before) root_codes_.push_back(columns.run_codes[run]);
      } else {
        end = columns.run_start[run + 1];
      }
      if (end > before) root_ends_.push_back(static_cast<std::int32_t>(end - start));
    }
    root_runs_.push_back(static_cast<std::int64_t>(root_ends_.size()));
    root_start_.push_back(start = end);
    if (root_runs_.back() > root_runs_[root_runs_.size() - 2])
      all_columns_.push_back(static_cast<std::int32_t>(c));
  }
  codes_ = some_left_out ? root_codes_.data() : columns.run_codes;
  records_ = some_left_out ? root_records_.data() : columns.records;
  views_.assign(static_cast<std::size_t>(columns.n_columns),
                View{nullptr, nullptr, nullptr, 0, -1, -1});
  stores_.resize(static_cast<std::size_t>(columns.n_columns));
}

ColumnRuns RuleSearch::root(std::int32_t c) const {
  const auto k = static_cast<std::size_t>(c);
  return {codes_ + root_runs_[k], root_ends_.data() + root_runs_[k], records_ + root_start_[k],
          static_cast<std::int32_t>(root_runs_[k + 1] - root_runs_[k])};
}

const RuleRows& RuleSearch::rows() {
  if (!rows_) rows_ = std::make_unique<RuleRows>(columns_);
  return *rows_;
}

void RuleSearch::begin(const float* drawn, double n_units) {
  ++rule_;
  first_step_ = ++step_;
  units_ = drawn ? drawn : static_units_;
  drawn_ = drawn != nullptr;
  if (drawn) {
    counts_.resize(static_cast<std::size_t>(columns_.n_records));
    for (std::size_t r = 0; r < counts_.size(); ++r) counts_[r] = drawn[r] > 0;
  }
  n_covered_ = n_units;
  walked_ = false;
  mask_.reset();
  active_ = all_columns_;
  n_active_values_ = root_start_.back();
}

void RuleSearch::add(const RuleCondition& condition, double n_covered) {
  mask_.add(columns_, condition);
  n_covered_ = n_covered;
  ++step_;
  // Rows are as long on average as all stored values are to all records.
  const double fraction = static_cast<double>(mask_.at_most()) /
                          static_cast<double>(std::max<std::int64_t>(columns_.n_records, 1));
  if (may_walk_ && !walked_ && fraction * kWalkCost < fraction_read_) walk();
}

ColumnRuns RuleSearch::column(std::int32_t c) {
  View& view = views_[static_cast<std::size_t>(c)];
  const bool current = view.rule == rule_;
  if (step_ == first_step_ && !drawn_) return root(c);
  if (!current || view.step < step_) filter(c, view);
  return {view.codes, view.ends, view.records, view.n_runs};
}

// Keeps the values of records that count, and the runs that have any. Works in place.
void RuleSearch::filter(std::int32_t c, View& view) {
  ColumnRuns from;
  const bool first = view.rule != rule_;
  if (first) {
    if (walked_) {  // a column without a value in the rows walked
      view = {nullptr, nullptr, nullptr, 0, rule_, step_};
      return;
    }
    from = root(c);
    Store& store = stores_[static_cast<std::size_t>(c)];
    const auto n_runs = static_cast<std::size_t>(from.n_runs);
    const auto n_stored = static_cast<std::size_t>(from.n_stored());
    if (store.codes.size() < n_runs + 1) {
      store.codes.resize(n_runs + 1);
      store.ends.resize(n_runs + 1);
    }
    if (store.records.size() < n_stored + 1) store.records.resize(n_stored + 1);
    view = {store.codes.data(), store.ends.data(), store.records.data(), 0, rule_, step_};
  } else {
    from = {view.codes, view.ends, view.records, view.n_runs};
    view.step = step_;
  }
  const std::uint8_t* const value = mask_.values().data();
  const std::uint8_t indicator = mask_.indicator();
  const std::uint8_t* const counts = first && drawn_ ? counts_.data() : nullptr;
  if (counts)
    view.n_runs = keep_values(from, view.codes, view.ends, view.records, [&](std::int32_t record) {
      return (value[record] == indicator) & counts[record];
    });
  else
    view.n_runs = keep_values(from, view.codes, view.ends, view.records,
                              [&](std::int32_t record) { return value[record] == indicator; });
}

std::int32_t RuleSearch::column_of(std::uint64_t run) const {
  const std::int64_t* const runs = columns_.column_runs;
  const auto position =
      std::upper_bound(runs, runs + columns_.n_columns, static_cast<std::int64_t>(run));
  return static_cast<std::int32_t>(position - runs - 1);
}

// Makes all columns' views from the rows of those covered.
void RuleSearch::walk() {
  const RuleRows& by_row = rows();
  walked_ = true;
  keys_.clear();
  std::vector<std::int32_t> covered;
  mask_.for_each([&](std::int32_t record) {
    if (!units_ || units_[record] > 0) covered.push_back(record);
  });
  std::sort(covered.begin(), covered.end());
  for (const std::int32_t record : covered) {
    const auto r = static_cast<std::size_t>(record);
    for (std::int64_t i = by_row.start[r]; i < by_row.start[r + 1]; ++i)
      keys_.push_back(std::uint64_t{by_row.runs[static_cast<std::size_t>(i)]} << 32 |
                      static_cast<std::uint64_t>(record));
  }
  int n_bits = 1;
  while (n_bits < 32 && columns_.n_runs() >> n_bits) ++n_bits;
  sort_by_run(keys_, other_keys_, n_bits);
  if (walk_.records.size() < keys_.size() + 1) {
    walk_.records.resize(keys_.size() + 1);
    walk_.codes.resize(keys_.size() + 1);
    walk_.ends.resize(keys_.size() + 1);
  }
  active_.clear();
  n_active_values_ = static_cast<std::int64_t>(keys_.size());
  std::size_t i = 0, n_runs = 0;
  while (i < keys_.size()) {
    const std::int32_t c = column_of(keys_[i] >> 32);
    const auto last = static_cast<std::uint64_t>(columns_.column_runs[c + 1]);
    View& view = views_[static_cast<std::size_t>(c)];
    view = {walk_.codes.data() + n_runs,
            walk_.ends.data() + n_runs,
            walk_.records.data() + i,
            0,
            rule_,
            step_};
    const std::size_t begin = i;
    while (i < keys_.size() && keys_[i] >> 32 < last) {
      const std::uint64_t run = keys_[i] >> 32;
      do {
        walk_.records[i] = static_cast<std::int32_t>(keys_[i] & 0xffffffffu);
        ++i;
      } while (i < keys_.size() && keys_[i] >> 32 == run);
      view.codes[view.n_runs] = columns_.run_codes[run];
      view.ends[view.n_runs] = static_cast<std::int32_t>(i - begin);
      ++view.n_runs;
      ++n_runs;
    }
    active_.push_back(c);
  }
}

}  // namespace tacit
