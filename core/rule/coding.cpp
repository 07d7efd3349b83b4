#include "rule/coding.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace tacit {
namespace {

constexpr std::int32_t kMissing = -1;  // the code of what is missing

struct Entry {
  double value;
  std::int32_t record;
};

// All records of one column with the same number, or, once numbers are binned, of one bin. `begin`
// and `end` are positions in the sorted entries; the records that are not listed have none.
struct Group {
  double lower, upper;
  std::int64_t begin, end;
  std::int64_t count;
  bool unlisted;  // whether it is, or holds, the value of the records that are not listed
};

struct CodedColumn {
  std::int32_t default_code = kMissing;
  std::vector<std::int32_t> run_codes, records;
  std::vector<std::int64_t> run_ends;
  std::vector<double> lower, upper;
};

bool by_value(const Entry& a, const Entry& b) {
  return a.value < b.value || (a.value == b.value && a.record < b.record);
}

bool is_sorted(const Entry* begin, const Entry* end) {
  for (const Entry* e = begin + 1; e < end; ++e)
    if (e->value < e[-1].value) return false;
  return true;
}

// Sorts a few entries; those of the same value keep their order.
void insertion_sort(Entry* begin, Entry* end) {
  for (Entry* e = begin + 1; e < end; ++e) {
    const Entry entry = *e;
    Entry* position = e;
    for (; position > begin && entry.value < position[-1].value; --position)
      *position = position[-1];
    *position = entry;
  }
}

// What one thread needs for one column after another.
struct CodingScratch {
  std::vector<Entry> entries, sorted;
  std::vector<std::uint32_t> bucket_of, bucket_ends;
  std::vector<std::int32_t> missing;
  std::vector<std::uint8_t> listed;
  std::vector<std::uint64_t> bits;
  std::vector<Group> groups, bins;
};

// Sorts entries that are in order but within buckets. Bucket b ends at bucket_ends[b].
void finish_buckets(CodingScratch& s, std::size_t n_buckets) {
  std::uint32_t largest = 0, begin = 0;
  for (std::size_t b = 0; b < n_buckets; ++b) {
    largest = std::max(largest, s.bucket_ends[b] - begin);
    begin = s.bucket_ends[b];
  }
  Entry* const all = s.entries.data();
  if (largest <= 16) return insertion_sort(all, all + s.entries.size());
  begin = 0;
  for (std::size_t b = 0; b < n_buckets; ++b) {
    const std::uint32_t end = s.bucket_ends[b];
    if (end - begin > 1 && !is_sorted(all + begin, all + end)) {
      if (end - begin <= 16)
        insertion_sort(all + begin, all + end);
      else
        std::sort(all + begin, all + end, by_value);
    }
    begin = end;
  }
}

// Sorts entries by value; they come in the order of records and keep it among equal values. They
// are dealt into as many buckets as there are entries by where they are between the least and the
// greatest value, which leaves little to do unless values are very uneven.
void sort_entries(CodingScratch& s) {
  const std::size_t n = s.entries.size();
  if (n < 2) return;
  double low = s.entries[0].value, high = low;
  bool ordered = true;
  double last = low;
  for (const Entry& e : s.entries) {
    ordered = ordered && last <= e.value;
    last = e.value;
    low = std::min(low, e.value);
    high = std::max(high, e.value);
  }
  if (ordered) return;
  if (n <= 24) return insertion_sort(s.entries.data(), s.entries.data() + n);
  const std::size_t n_buckets = std::min<std::size_t>(n, std::size_t{1} << 20);
  const double scale = static_cast<double>(n_buckets - 1) / (high - low);
  if (!(scale > 0) || !(scale < std::numeric_limits<double>::max())) {
    std::sort(s.entries.begin(), s.entries.end(), by_value);
    return;
  }
  s.bucket_of.resize(n);
  s.bucket_ends.assign(n_buckets + 1, 0);  // at first the sizes, one position further on
  for (std::size_t k = 0; k < n; ++k) {
    // At most n_buckets - 1, but for rounding.
    const auto bucket = static_cast<std::uint32_t>((s.entries[k].value - low) * scale);
    s.bucket_of[k] = std::min(bucket, static_cast<std::uint32_t>(n_buckets - 1));
    ++s.bucket_ends[s.bucket_of[k] + 1];
  }
  for (std::size_t b = 0; b < n_buckets; ++b) s.bucket_ends[b + 1] += s.bucket_ends[b];
  s.sorted.resize(n);
  for (std::size_t k = 0; k < n; ++k) s.sorted[s.bucket_ends[s.bucket_of[k]]++] = s.entries[k];
  s.entries.swap(s.sorted);
  finish_buckets(s, n_buckets);
}

// The value that more than half of all records have, if there is one and it is likely to be met:
// the only candidate is the one that outlasts all others.
double likely_majority(const double* values, std::int64_t n) {
  double candidate = 0.0;
  std::int64_t lead = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    if (values[k] == candidate) {
      ++lead;
    } else if (lead == 0) {
      candidate = values[k];
      lead = 1;
    } else {
      --lead;
    }
  }
  return candidate;
}

class ColumnCoder {
 public:
  ColumnCoder(const NumberColumns& columns, const CodingPlan& plan, CodingScratch& scratch)
      : columns_(columns), plan_(plan), s_(scratch) {}

  CodedColumn code(std::int64_t c) {
    take(c);
    sort_entries(s_);
    find_groups();
    const double wanted = default_value(c);
    if (plan_.binned[c]) cut();
    return lay_out(std::isnan(wanted) ? kMissing : static_cast<std::int32_t>(add_group(wanted)));
  }

 private:
  // Splits a column into the entries that differ from `unlisted_`, and the missing ones.
  void take(std::int64_t c) {
    const std::int64_t begin = columns_.indptr[c], end = columns_.indptr[c + 1];
    const double* const values = columns_.values + begin;
    const std::int64_t n = end - begin;
    s_.entries.clear();
    s_.missing.clear();
    unlisted_ = columns_.unlisted[c] + 0.0;
    if (columns_.full) unlisted_ = likely_majority(values, n) + 0.0;
    n_unlisted_ = columns_.n_records;
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int32_t record =
          columns_.full ? static_cast<std::int32_t>(k) : columns_.records[begin + k];
      const double value = values[k] + 0.0;  // -0.0 is 0.0
      if (std::isnan(value)) {
        if (!std::isnan(unlisted_)) s_.missing.push_back(record);
      } else if (value != unlisted_) {
        s_.entries.push_back({value, record});
      }
    }
    n_unlisted_ -= static_cast<std::int64_t>(s_.entries.size() + s_.missing.size());
  }

  // The numbers that occur, ascending.
  void find_groups() {
    s_.groups.clear();
    const auto n = static_cast<std::int64_t>(s_.entries.size());
    for (std::int64_t k = 0; k < n;) {
      const double value = s_.entries[static_cast<std::size_t>(k)].value;
      std::int64_t end = k + 1;
      while (end < n && s_.entries[static_cast<std::size_t>(end)].value == value) ++end;
      s_.groups.push_back({value, value, k, end, end - k, false});
      k = end;
    }
    if (std::isnan(unlisted_) || n_unlisted_ == 0) return;
    Group& group = s_.groups[add_group(unlisted_)];
    group.count = n_unlisted_;
    group.unlisted = true;
  }

  // The position of a number's group or bin, which is made if there is none.
  std::size_t add_group(double value) {
    const auto position = std::lower_bound(s_.groups.begin(), s_.groups.end(), value,
                                           [](const Group& g, double v) { return g.upper < v; });
    const auto rank = static_cast<std::size_t>(position - s_.groups.begin());
    if (position == s_.groups.end() || position->lower > value)
      s_.groups.insert(position, {value, value, 0, 0, 0, false});
    return rank;
  }

  double default_value(std::int64_t c) const {
    if (!plan_.choose[c]) return plan_.wanted[c] + 0.0;
    const Group* best = nullptr;
    for (const Group& g : s_.groups)
      if (!best || g.count > best->count || (g.count == best->count && g.unlisted)) best = &g;
    const auto n_missing =
        std::isnan(unlisted_) ? n_unlisted_ : static_cast<std::int64_t>(s_.missing.size());
    if (!best || n_missing > best->count || (n_missing == best->count && std::isnan(unlisted_)))
      return std::numeric_limits<double>::quiet_NaN();
    return best->lower;
  }

  // Joins neighbouring numbers into bins, if they are more than bins; see the header.
  void cut() {
    if (static_cast<std::int64_t>(s_.groups.size()) <= plan_.n_bins) return;
    std::size_t common = 0;
    for (std::size_t k = 1; k < s_.groups.size(); ++k)
      if (s_.groups[k].count > s_.groups[common].count) common = k;
    s_.bins.clear();
    if (plan_.binning == Binning::width)
      cut_by_width(common);
    else
      cut_by_frequency(common);
    s_.groups.swap(s_.bins);
  }

  void cut_by_width(std::size_t common) {
    // Halves, as the range of huge numbers may be more than a double can hold.
    const double low = s_.groups.front().lower / 2, high = s_.groups.back().upper / 2;
    const double n_bins = static_cast<double>(plan_.n_bins), width = high - low;
    double last = -1;
    for (std::size_t k = 0; k < s_.groups.size(); ++k) {
      const double fraction = width > 0 ? (s_.groups[k].lower / 2 - low) / width : 0.0;
      const double bin = std::min(std::floor(fraction * n_bins), n_bins - 1);
      const bool alone = k == common || k == common + 1;
      extend(k, k > 0 && bin == last && !alone);
      last = bin;
    }
  }

  void cut_by_frequency(std::size_t common) {
    std::int64_t rest = 0, n_bins = plan_.n_bins;
    for (const Group& g : s_.groups) rest += g.count;
    const std::int64_t fair = rest / n_bins;
    const auto alone = [&](std::size_t k) {
      return k == common || (s_.groups[k].count > fair && fair > 0);
    };
    for (std::size_t k = 0; k < s_.groups.size(); ++k)
      if (alone(k)) rest -= s_.groups[k].count, --n_bins;
    n_bins = std::max<std::int64_t>(n_bins, 1);
    const double per_bin = static_cast<double>(rest) / static_cast<double>(n_bins);
    std::int64_t held = 0;  // by the bin that is being filled
    bool open = false;
    for (std::size_t k = 0; k < s_.groups.size(); ++k) {
      const bool apart = alone(k);
      extend(k, open && !apart);
      held = (open && !apart ? held : 0) + s_.groups[k].count;
      open = !apart && static_cast<double>(held) < per_bin;
    }
  }

  // Adds a group to the last bin, or begins another with it.
  void extend(std::size_t k, bool join) {
    const Group& group = s_.groups[k];
    if (!join) {
      s_.bins.push_back(group);
      return;
    }
    Group& bin = s_.bins.back();
    bin.upper = group.upper;
    if (bin.begin == bin.end)
      bin.begin = group.begin;  // records that are not listed have no entries
    if (group.begin < group.end) bin.end = group.end;
    bin.count += group.count;
    bin.unlisted = bin.unlisted || group.unlisted;
  }

  CodedColumn lay_out(std::int32_t default_code) {
    CodedColumn out;
    out.default_code = default_code;
    out.records.reserve(s_.entries.size() + s_.missing.size());
    out.run_codes.reserve(s_.groups.size() + 1);
    out.run_ends.reserve(s_.groups.size() + 1);
    out.lower.reserve(s_.groups.size());
    out.upper.reserve(s_.groups.size());
    if (default_code >= 0) {
      if (std::isnan(unlisted_))
        store_unlisted(out);
      else
        out.records = s_.missing;
      if (!out.records.empty()) end_run(out, kMissing);
    }
    for (const Group& g : s_.groups) {
      const auto code = static_cast<std::int32_t>(out.lower.size());
      out.lower.push_back(g.lower);
      out.upper.push_back(g.upper);
      if (code == default_code || g.count == 0) continue;
      const std::size_t begin = out.records.size();
      if (g.unlisted) store_unlisted(out);
      for (std::int64_t e = g.begin; e < g.end; ++e)
        out.records.push_back(s_.entries[static_cast<std::size_t>(e)].record);
      if (g.lower < g.upper)
        sort_records(out.records.data() + begin, out.records.data() + out.records.size());
      end_run(out, code);
    }
    return out;
  }

  // Sorts the records of a bin, which come number by number: in a bitmap if they are many.
  void sort_records(std::int32_t* begin, std::int32_t* end) {
    const auto n_words = static_cast<std::size_t>(columns_.n_records / 64 + 1);
    if (static_cast<std::size_t>(end - begin) < n_words / 8) {
      std::sort(begin, end);
      return;
    }
    s_.bits.assign(n_words, 0);
    for (const std::int32_t* r = begin; r < end; ++r)
      s_.bits[static_cast<std::size_t>(*r) / 64] |= std::uint64_t{1} << (*r % 64);
    for (std::size_t w = 0; w < n_words; ++w)
      for (std::uint64_t word = s_.bits[w]; word; word &= word - 1)
        *begin++ = static_cast<std::int32_t>(64 * w) + std::countr_zero(word);
  }

  static void end_run(CodedColumn& out, std::int32_t code) {
    out.run_codes.push_back(code);
    out.run_ends.push_back(static_cast<std::int64_t>(out.records.size()));
  }

  void store_unlisted(CodedColumn& out) {
    s_.listed.assign(static_cast<std::size_t>(columns_.n_records), 0);
    for (const Entry& e : s_.entries) s_.listed[static_cast<std::size_t>(e.record)] = 1;
    for (const std::int32_t r : s_.missing) s_.listed[static_cast<std::size_t>(r)] = 1;
    for (std::size_t r = 0; r < s_.listed.size(); ++r)
      if (!s_.listed[r]) out.records.push_back(static_cast<std::int32_t>(r));
  }

  const NumberColumns& columns_;
  const CodingPlan& plan_;
  CodingScratch& s_;
  double unlisted_ = 0.0;  // what all records have that are not entries and, then, not missing
  std::int64_t n_unlisted_ = 0;
};

// Lays columns out one after another; each is given up as soon as it is copied.
RuleCoding put_together(std::vector<CodedColumn>& coded, int n_jobs, Poll poll) {
  const std::size_t n = coded.size();
  RuleCoding out;
  out.default_code = Buffer<std::int32_t>(n);
  out.column_runs = Buffer<std::int64_t>(n + 1);
  out.code_start = Buffer<std::int64_t>(n + 1);
  std::vector<std::int64_t> first_record(n + 1, 0);
  out.column_runs[0] = out.code_start[0] = 0;
  for (std::size_t c = 0; c < n; ++c) {
    const CodedColumn& column = coded[c];
    out.default_code[c] = column.default_code;
    out.column_runs[c + 1] =
        out.column_runs[c] + static_cast<std::int64_t>(column.run_codes.size());
    out.code_start[c + 1] = out.code_start[c] + static_cast<std::int64_t>(column.lower.size());
    first_record[c + 1] = first_record[c] + static_cast<std::int64_t>(column.records.size());
  }
  out.run_codes = Buffer<std::int32_t>(static_cast<std::size_t>(out.column_runs[n]));
  out.run_start = Buffer<std::int64_t>(static_cast<std::size_t>(out.column_runs[n]) + 1);
  out.records = Buffer<std::int32_t>(static_cast<std::size_t>(first_record[n]));
  out.lower = Buffer<double>(static_cast<std::size_t>(out.code_start[n]));
  out.upper = Buffer<double>(static_cast<std::size_t>(out.code_start[n]));
  out.run_start[0] = 0;
  const auto n_columns = static_cast<std::int64_t>(n);
  const std::int64_t n_blocks = std::min<std::int64_t>(n_columns, 64);
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken&) {
    const Range range = block_range(n_columns, n_blocks, b);
    for (auto c = static_cast<std::size_t>(range.begin); c < static_cast<std::size_t>(range.end);
         ++c) {
      const CodedColumn column = std::move(coded[c]);
      std::copy(column.run_codes.begin(), column.run_codes.end(),
                out.run_codes.data() + out.column_runs[c]);
      std::transform(column.run_ends.begin(), column.run_ends.end(),
                     out.run_start.data() + out.column_runs[c] + 1,
                     [&](std::int64_t end) { return first_record[c] + end; });
      std::copy(column.records.begin(), column.records.end(), out.records.data() + first_record[c]);
      std::copy(column.lower.begin(), column.lower.end(), out.lower.data() + out.code_start[c]);
      std::copy(column.upper.begin(), column.upper.end(), out.upper.data() + out.code_start[c]);
    }
  });
  return out;
}

}  // namespace

RuleCoding code_columns(const NumberColumns& columns, const CodingPlan& plan, int n_jobs,
                        Poll poll) {
  std::vector<CodedColumn> coded(static_cast<std::size_t>(columns.n_columns));
  // A few columns to a block: enough to divide evenly, few enough to answer Ctrl-C.
  const std::int64_t per_column =
      columns.indptr[columns.n_columns] / std::max<std::int64_t>(columns.n_columns, 1) + 1;
  const std::int64_t size = std::clamp<std::int64_t>((1 << 16) / per_column, 1, 256);
  const std::int64_t n_blocks = (columns.n_columns + size - 1) / size;
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    CodingScratch scratch;
    ColumnCoder coder(columns, plan, scratch);
    Meter meter(token);
    const Range range = block_range(columns.n_columns, n_blocks, b);
    for (std::int64_t c = range.begin; c < range.end; ++c) {
      coded[static_cast<std::size_t>(c)] = coder.code(c);
      meter.spend(16 * (columns.indptr[c + 1] - columns.indptr[c]));
    }
  });
  return put_together(coded, n_jobs, poll);
}

}  // namespace tacit
