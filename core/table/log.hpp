// Logs: rows of (record, item) become, for each record, its items in ascending order.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "base/records.hpp"

namespace tacit {

// A chunk of a column of whole numbers, of 32 or 64 bits.
struct Integers {
  const void* numbers;
  std::int64_t length;
  bool wide;
};

// The least and the greatest of all numbers, of which there must be one. O(length).
struct Bounds {
  std::int64_t low, high;
};
Bounds integer_bounds(const std::vector<Integers>& chunks, int n_jobs, Poll poll);

// codes[k] = the rank of the k-th number among the distinct ones, which are returned, ascending.
// All lie within bounds, for whose range there is memory. O(length + range).
std::vector<std::int64_t> code_integers(const std::vector<Integers>& chunks, const Bounds& bounds,
                                        std::int32_t* codes, int n_jobs, Poll poll);

// The rows of a log, coded: records in [0, n_records), items in [0, n_items); values may be null.
struct Log {
  const std::int32_t* records;
  const std::int32_t* items;
  const std::int32_t* values;
  std::int64_t n_rows, n_records, n_items;
};

// Which of the rows stay that have the same record and item.
enum class Repeats { all, first, last };

template <class V>
struct SortedLog {
  Buffer<std::int64_t> indptr;  // n_records + 1
  Buffer<V> items;              // of each record, ascending
  Buffer<std::int32_t> values;  // if the log has values
  std::int64_t n_repeated = 0;  // rows whose record and item stand in an earlier row
};

// Sorts the rows by record and item; where all stay, equal ones keep their order. Of a log without
// values, each pair is kept once. V holds n_items - 1. Rows that are sorted by
// record are not moved, others go to ranges of records that fit into the cache; a record is then
// sorted by a bitmap of items, or by comparison if it has few. O(rows + records + items).
template <class V>
SortedLog<V> sort_log(const Log& log, Repeats repeats, int n_jobs, Poll poll);

}  // namespace tacit
