// Columns of a table for engines that ask about a few of them at a time.
//
// A column with many stored values is held as one code for each record, made when it is first
// asked for; of a sparse column only the ascending record lists of its values are used. Either way
// nothing else needs to know which: the functions below do the same for both.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/records.hpp"
#include "base/sums.hpp"

namespace tacit {

struct Column {
  std::int64_t arity;
  std::int64_t default_code;
  const std::int64_t* start;  // of each non-default value: where its records begin in rows
  const std::int32_t* rows;
  int width = 0;  // bytes of a code; 0 for a sparse column, which has no codes
  const void* codes = nullptr;

  std::int64_t n_values() const { return arity - 1; }
  std::int64_t n_stored() const { return start[arity - 1] - start[0]; }
  std::int64_t code_of(std::int64_t value) const { return value + (value >= default_code); }
  std::int64_t value_of(std::int64_t code) const { return code - (code > default_code); }
  const std::int32_t* begin(std::int64_t value) const { return rows + start[value]; }
  std::int64_t length(std::int64_t value) const { return start[value + 1] - start[value]; }
};

// Calls body(codes) with the column's codes as what they are.
template <class Body>
auto with_codes(const Column& column, const Body& body) {
  if (column.width == 1) return body(static_cast<const std::uint8_t*>(column.codes));
  if (column.width == 2) return body(static_cast<const std::uint16_t*>(column.codes));
  return body(static_cast<const std::uint32_t*>(column.codes));
}

// Some codes of a column: all of a range, or those of it that are marked.
class CodeSet {
 public:
  CodeSet() = default;  // none

  // Adds first … last; codes are added in ascending order.
  void add(std::int64_t first, std::int64_t last) {
    if (last < first) return;
    if (last_ < first_) {
      first_ = first;
    } else if (first > last_ + 1 || !marks_.empty()) {
      marks_.resize(static_cast<std::size_t>(last_ - first_ + 1), 1);
      marks_.resize(static_cast<std::size_t>(first - first_), 0);
      marks_.resize(static_cast<std::size_t>(last - first_ + 1), 1);
    }
    last_ = last;
  }
  bool has(std::int64_t code) const {
    return code >= first_ && code <= last_ &&
           (marks_.empty() || marks_[static_cast<std::size_t>(code - first_)]);
  }
  bool is_one() const { return first_ == last_; }
  bool is_range() const { return marks_.empty(); }
  std::int64_t first() const { return first_; }
  std::int64_t last() const { return last_; }  // below first() where there is none

 private:
  std::int64_t first_ = 0, last_ = -1;
  std::vector<std::uint8_t> marks_;  // of first_ … last_, unless all of them are in
};

class ColumnStore {
 public:
  // offsets: first value id of each column (n_columns + 1); start, rows: the postings. All of them
  // must outlive the store; weights may be null and are copied. With `whole` they say how often
  // records occur, and counts are whole numbers.
  ColumnStore(std::int64_t n_records, std::int64_t n_columns, const std::int64_t* offsets,
              const std::int64_t* defaults, const std::int64_t* start, const std::int32_t* rows,
              const double* weights, bool whole = false);

  std::int64_t n_records() const { return n_records_; }
  std::int64_t n_columns() const { return static_cast<std::int64_t>(columns_.size()); }
  const FixedWeights& weights() const { return weights_; }
  bool weighted() const { return weighted_; }
  bool counts_whole() const { return !weighted_ || weights_.whole(); }  // or sums of weights
  std::int64_t arity(std::int64_t column) const { return at(column).arity; }
  std::int64_t n_stored(std::int64_t column) const { return at(column).n_stored(); }
  const Column& peek(std::int64_t column) const { return at(column); }  // codes may be missing

  // The column, with its codes made if it is to have them. Safe from several threads.
  const Column& column(std::int64_t column) const;

  std::int64_t count_of(std::int64_t column, std::int64_t code) const;     // records with a code
  std::int64_t count_of(std::int64_t column, const CodeSet& codes) const;  // or one of some
  std::int64_t common_code(std::int64_t column) const;                     // the most common one
  std::int64_t missing_bytes(std::int64_t column) const;  // of codes yet to be made
  std::int64_t bytes() const;                             // of codes and weights made so far

 private:
  const Column& at(std::int64_t column) const { return columns_[static_cast<std::size_t>(column)]; }
  void make_codes(std::int64_t column) const;

  std::int64_t n_records_;
  bool weighted_;
  FixedWeights weights_;
  mutable std::vector<Column> columns_;
  mutable std::vector<Buffer<std::uint8_t>> codes_;
  mutable std::unique_ptr<std::atomic<bool>[]> ready_;
  mutable std::mutex making_;
  mutable std::atomic<std::int64_t> bytes_{0};
};

// Some records: ascending numbers, or the first n where there is no list.
struct Some {
  const std::int32_t* list;
  std::int64_t n;
  std::int32_t operator[](std::int64_t k) const {
    return list ? list[k] : static_cast<std::int32_t>(k);
  }
};

// Calls hit(k) for every position k of `some` whose record is in the ascending list b.
// O(min(n, n_b) · log of their ratio, or n + n_b).
template <class Hit>
void intersect(const Some& some, const std::int32_t* b, std::int64_t n_b, const Hit& hit);

// cells[k] += stride · code of the k-th record.
void add_codes(const Column& column, const Some& some, std::int64_t stride, std::int64_t* cells);

// counts[c] += number of records with code c. `counts` has room for all codes.
void count_codes(const Column& column, const Some& some, std::uint32_t* counts);

// Writes the records of each code c to ends[c], ascending, and moves it behind them; codes whose
// position is null are left out.
void split_codes(const Column& column, const Some& some, std::int32_t** ends);

// Keeps the records with one of some codes: writes them to `kept`, which has room for all of them
// and may be their own list; returns how many there are. O(records + stored values), or O(s log s)
// where s stored values of a sparse column are wanted and nothing else.
std::int64_t keep_codes(const Column& column, const Some& some, const CodeSet& codes,
                        std::int32_t* kept);

template <class Hit>
void intersect(const Some& some, const std::int32_t* b, std::int64_t n_b, const Hit& hit) {
  if (!some.list) {
    for (std::int64_t j = 0; j < n_b && b[j] < some.n; ++j) hit(static_cast<std::int64_t>(b[j]));
    return;
  }
  const std::int32_t* a = some.list;
  const std::int64_t n_a = some.n;
  // The first position at or behind `from` whose entry is not below x: doubling steps, then
  // halving.
  const auto seek = [](const std::int32_t* list, std::int64_t from, std::int64_t n,
                       std::int32_t x) {
    std::int64_t step = 1, low = from;
    while (low + step < n && list[low + step] < x) {
      low += step;
      step *= 2;
    }
    std::int64_t high = low + step < n ? low + step : n;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (list[middle] < x)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };
  constexpr std::int64_t kMuchLonger = 16;
  std::int64_t i = 0, j = 0;
  if (n_a * kMuchLonger < n_b) {
    for (; i < n_a && j < n_b; ++i) {
      j = seek(b, j, n_b, a[i]);
      if (j < n_b && b[j] == a[i]) hit(i);
    }
  } else if (n_b * kMuchLonger < n_a) {
    for (; j < n_b && i < n_a; ++j) {
      i = seek(a, i, n_a, b[j]);
      if (i < n_a && a[i] == b[j]) hit(i);
    }
  } else {
    while (i < n_a && j < n_b) {
      if (a[i] == b[j]) hit(i);
      const std::int32_t x = a[i], y = b[j];
      i += x <= y;
      j += y <= x;
    }
  }
}

}  // namespace tacit
