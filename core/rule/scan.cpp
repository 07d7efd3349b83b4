#include "rule/scan.hpp"

#include <algorithm>
#include <numeric>

namespace tacit {

void ColumnScan::list(const ColumnRuns& runs, bool nominal, std::int32_t default_code,
                      double n_covered, const float* units) {
  runs_ = runs;
  units_ = units;
  run_units_ = nullptr;
  if (units) {
    units_by_run_.resize(static_cast<std::size_t>(runs.n_runs));
    std::int32_t i = 0;
    for (int run = 0; run < runs.n_runs; ++run) {
      double n = 0;
      for (; i < runs.ends[run]; ++i) n += static_cast<double>(units[runs.records[i]]);
      units_by_run_[static_cast<std::size_t>(run)] = n;
    }
    run_units_ = units_by_run_.data();
  }
  lay_out(nominal, default_code, n_covered);
}

// Finds where candidates are, from the codes and counts of runs.
void ColumnScan::lay_out(bool nominal, std::int32_t default_code, double n_covered) {
  nominal_ = nominal;
  default_code_ = default_code;
  const std::int32_t* const codes = runs_.codes;
  missing_ = runs_.n_runs > 0 && codes[0] == kMissingCode ? 1 : 0;
  split_ = static_cast<int>(std::lower_bound(codes + missing_, codes + runs_.n_runs, default_code) -
                            codes);
  size_ = runs_.n_runs - missing_;
  n_rising_ = split_ - missing_;
  everything_[0] = everything_[1] = -1;
  counts_.clear();
  const auto n_runs = static_cast<std::size_t>(runs_.n_runs);
  if (first_.size() < n_runs + 4) {
    first_.resize(2 * n_runs + 4);
    second_.resize(first_.size());
  }
  double stored, missing;
  if (run_units_) {
    stored = std::accumulate(run_units_, run_units_ + runs_.n_runs, 0.0);
    missing = missing_ ? run_units_[0] : 0;
  } else {
    stored = runs_.n_stored();
    missing = missing_ ? runs_.ends[0] : 0;
  }
  present_ = default_code != kMissingCode && n_covered > stored;
  n_known_ = (default_code == kMissingCode ? stored : n_covered) - missing;
  if (nominal) {
    if (present_ && size_ > 0) ++size_;
    if (size_ == 1) everything_[0] = 0;
  } else if (!present_ && size_ > 0) {
    // With no default covered, one phase alone ends with all there is.
    if (n_rising_ == size_) everything_[0] = size_ - 1;
    if (n_rising_ == 0) everything_[1] = size_ - 1;
  }
}

void ColumnScan::count_sides() const {
  const int n = runs_.n_runs - missing_;
  counts_.resize(static_cast<std::size_t>(n) + 1);
  double sum = 0, all = 0;
  for (int k = 0; k < n; ++k) {
    const double units = run_units_[run_of(k)];
    if (nominal_ || k == n_rising_) sum = 0;
    counts_[static_cast<std::size_t>(k)] = sum += units;
    all += units;
  }
  counts_[static_cast<std::size_t>(n)] = all;  // of a nominal column's default code
}

namespace {

// Adds n sums from `from` on, one after the other (`step` of 1 or -1), to all before.
StatSums add_up(const StatSums* from, int n, std::ptrdiff_t step, double* first, double* second) {
  StatSums sum;
  for (int k = 0; k < n; ++k) {
    const StatSums& next = from[step * k];
    first[k] = sum.first += next.first;
    second[k] = sum.second += next.second;
  }
  return sum;
}

}  // namespace

void ColumnScan::take(const std::int32_t* codes, const double* units, const StatSums* sums,
                      int n_runs, bool nominal, std::int32_t default_code, double n_covered,
                      const StatSums& totals) {
  runs_ = {codes, nullptr, nullptr, n_runs};
  units_ = nullptr;
  run_units_ = units;
  lay_out(nominal, default_code, n_covered);
  missing_sums_ = missing_ ? sums[0] : StatSums{};
  double *const first = first_.data(), *const second = second_.data();
  if (nominal_) {
    stored_sums_ = {};
    const int n = n_runs - missing_;
    for (int k = 0; k < n; ++k) {
      stored_sums_.first += first[k] = sums[missing_ + k].first;
      stored_sums_.second += second[k] = sums[missing_ + k].second;
    }
    first[n] = stored_sums_.first;
    second[n] = stored_sums_.second;
  } else {
    const StatSums low = add_up(sums + missing_, n_rising_, 1, first, second);
    const StatSums high =
        add_up(sums + n_runs - 1, size_ - n_rising_, -1, first + n_rising_, second + n_rising_);
    stored_sums_ = {low.first + high.first, low.second + high.second};
  }
  totals_ = default_code_ == kMissingCode ? stored_sums_ : totals - missing_sums_;
}

double ColumnScan::plain_count(int k) const {
  const std::int32_t* const ends = runs_.ends;
  const std::int32_t missing = missing_ ? ends[0] : 0;
  if (nominal_) {
    if (k == runs_.n_runs - missing_) return runs_.n_stored() - missing;
    const int run = missing_ + k;
    return ends[run] - (run > 0 ? ends[run - 1] : 0);
  }
  if (k < n_rising_) return ends[missing_ + k] - missing;
  const int run = runs_.n_runs - 1 - (k - n_rising_);
  return runs_.n_stored() - (run > 0 ? ends[run - 1] : 0);
}

namespace {

template <bool kUnits>
TACIT_INLINE Double2 read_pair(const StatPair* stats, const float* units, std::int32_t record) {
  const StatPair pair = stats[record];
  Double2 value = {static_cast<double>(pair.first), static_cast<double>(pair.second)};
  if (kUnits) value *= static_cast<double>(units[record]);
  return value;
}

template <bool kUnits>
TACIT_INLINE Double2 run_sum(const ColumnRuns& runs, int run, const StatPair* stats,
                             const float* units) {
  Double2 sum = {};
  for (std::int32_t i = run > 0 ? runs.ends[run - 1] : 0; i < runs.ends[run]; ++i)
    sum += read_pair<kUnits>(stats, units, runs.records[i]);
  return sum;
}

// Sums of n runs from `run` on, one after the other (`step` of 1 or -1), each added to all before.
template <bool kUnits>
Double2 running_sums(const ColumnRuns& runs, int run, int n, int step, const StatPair* stats,
                     const float* units, double* first, double* second) {
  Double2 sum = {};
  int k = 0;
  const int last = run + step * (n - 1), low = std::min(run, last), high = std::max(run, last);
  // Where no two records share a value, four are added at a time: sums are exact in any order.
  if (n >= 4 && runs.ends[high] - (low > 0 ? runs.ends[low - 1] : 0) == n) {
    const std::int32_t* const records = runs.records + runs.ends[run] - 1;
    const std::ptrdiff_t stride = step;
    for (; k + 4 <= n; k += 4) {
      const Double2 a = read_pair<kUnits>(stats, units, records[stride * k]);
      const Double2 b = read_pair<kUnits>(stats, units, records[stride * (k + 1)]);
      const Double2 c = read_pair<kUnits>(stats, units, records[stride * (k + 2)]);
      const Double2 d = read_pair<kUnits>(stats, units, records[stride * (k + 3)]);
      const Double2 two = a + b, one = sum + a, both = sum + two, three = both + c;
      sum += two + (c + d);
      *reinterpret_cast<Double2*>(first + k) = __builtin_shufflevector(one, both, 0, 2);
      *reinterpret_cast<Double2*>(second + k) = __builtin_shufflevector(one, both, 1, 3);
      *reinterpret_cast<Double2*>(first + k + 2) = __builtin_shufflevector(three, sum, 0, 2);
      *reinterpret_cast<Double2*>(second + k + 2) = __builtin_shufflevector(three, sum, 1, 3);
    }
  }
  for (; k < n; ++k) {
    sum += run_sum<kUnits>(runs, run + step * k, stats, units);
    first[k] = sum[0];
    second[k] = sum[1];
  }
  return sum;
}

}  // namespace

template <bool kUnits>
void ColumnScan::sum_runs(const StatPair* stats) {
  const Double2 missing = missing_ ? run_sum<kUnits>(runs_, 0, stats, units_) : Double2{};
  missing_sums_ = {missing[0], missing[1]};
  const int n_runs = runs_.n_runs;
  double *const first = first_.data(), *const second = second_.data();
  Double2 all = {};
  if (nominal_) {
    int k = 0;
    for (; k < n_runs - missing_; ++k) {
      const Double2 value = run_sum<kUnits>(runs_, missing_ + k, stats, units_);
      first[k] = value[0];
      second[k] = value[1];
      all += value;
    }
    first[k] = all[0];
    second[k] = all[1];
  } else {
    all = running_sums<kUnits>(runs_, missing_, n_rising_, 1, stats, units_, first, second) +
          running_sums<kUnits>(runs_, n_runs - 1, size_ - n_rising_, -1, stats, units_,
                               first + n_rising_, second + n_rising_);
  }
  stored_sums_ = {all[0], all[1]};
}

void ColumnScan::sum(const StatPair* stats, const StatSums& totals) {
  if (units_)
    sum_runs<true>(stats);
  else
    sum_runs<false>(stats);
  totals_ = default_code_ == kMissingCode ? stored_sums_ : totals - missing_sums_;
}

void ColumnScan::sum_some(const ColumnRuns& runs, bool nominal, std::int32_t default_code,
                          double n_covered, const float* units, const StatPair* stats,
                          const StatSums& totals) {
  known_.resize(static_cast<std::size_t>(runs.n_runs));
  std::size_t n_runs = 0;
  std::int32_t i = 0;
  for (std::int32_t run = 0; run < runs.n_runs; ++run) {
    // Two sums at a time, since each waits for its last addition; they are exact in any order.
    Double2 sum[2] = {};
    double count[2] = {};
    const std::int32_t end = runs.ends[run];
    for (; i + 2 <= end; i += 2)
      for (int k = 0; k < 2; ++k) {
        count[k] += static_cast<double>(units[runs.records[i + k]]);
        sum[k] += read_pair<true>(stats, units, runs.records[i + k]);
      }
    for (; i < end; ++i) {
      count[0] += static_cast<double>(units[runs.records[i]]);
      sum[0] += read_pair<true>(stats, units, runs.records[i]);
    }
    const double n = count[0] + count[1];
    if (!(n > 0)) continue;
    known_.codes[n_runs] = runs.codes[run];
    known_.units[n_runs] = n;
    known_.sums[n_runs++] = {sum[0][0] + sum[1][0], sum[0][1] + sum[1][1]};
  }
  take(known_.codes.data(), known_.units.data(), known_.sums.data(), static_cast<int>(n_runs),
       nominal, default_code, n_covered, totals);
}

RuleCondition ColumnScan::condition(std::int32_t column, int k, bool stored_side) const {
  const int n_runs = runs_.n_runs;
  if (nominal_) {
    const bool of_default = k == n_runs - missing_;
    const std::int32_t code = of_default ? default_code_ : runs_.codes[missing_ + k];
    return {column, stored_side != of_default ? RuleOp::equal : RuleOp::unequal, code, code};
  }
  std::int32_t low, high;
  if (k < n_rising_) {
    const int run = missing_ + k;
    low = runs_.codes[run];
    high = run + 1 < split_ || !present_ ? runs_.codes[run + 1] : default_code_;
  } else {
    const int run = n_runs - 1 - (k - n_rising_);
    high = runs_.codes[run];
    low = run > split_ || !present_ ? runs_.codes[run - 1] : default_code_;
  }
  return {column, (k < n_rising_) == stored_side ? RuleOp::at_most : RuleOp::above, low, high};
}

}  // namespace tacit
