// Kernels that lay stored values out: from columns of codes, under other ids, by value.
//
// The first two come in two steps, lengths and then values, so that the caller can place many
// chunks one after another in a single array.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "base/records.hpp"

namespace tacit {

// A column of codes with the value id of each code, or -1 for the default.
struct CodeColumn {
  const std::uint32_t* codes;
  const std::int32_t* ids;
};

// lengths[r] = number of columns whose code at record r is not the default. O(records · columns).
void stored_lengths(const std::vector<CodeColumn>& columns, std::int64_t n_records,
                    std::int64_t* lengths, int n_jobs, Poll poll);

// values[indptr[r] - indptr[0] …] = the ids of record r in column order. indptr has n_records + 1
// offsets, as lengths demand. O(records · columns).
template <class V>
void stored_values(const std::vector<CodeColumn>& columns, std::int64_t n_records,
                   const std::int64_t* indptr, V* values, int n_jobs, Poll poll);

// New names for value ids. ids[v] is v's new id, or -1 if it is a default now. A column whose
// default changed has its old default stored: fill[f] is the new id for every record that holds no
// old id in [first[f], last[f]). `first` ascends.
struct Recoding {
  const std::int64_t* ids;
  const std::int64_t* first;
  const std::int64_t* last;
  const std::int64_t* fill;
  std::int64_t n_fills;
};

// lengths[k] = number of stored values of the k-th chosen record under the new ids.
// O(l + records · n_fills), and so is recoded_values.
template <class V>
void recoded_lengths(const Records<V>& records, const Recoding& recoding, std::int64_t* lengths,
                     int n_jobs, Poll poll);

template <class V, class W>
void recoded_values(const Records<V>& records, const Recoding& recoding, const std::int64_t* indptr,
                    W* values, int n_jobs, Poll poll);

// The value-wise view: records[start[v] …] are the records that hold v, ascending, where start is
// the running sum of the one-way counts (n_values + 1). O(l + n_values).
template <class V>
void postings(const Records<V>& records, const std::int64_t* start, std::int32_t* rows, Poll poll);

}  // namespace tacit
