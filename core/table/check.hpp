// The full O(l) check of sparse input before any other kernel sees it.
#pragma once

#include <cstdint>

namespace tacit {

enum class Fault : int {
  none = 0,
  indptr_start = 1,  // indptr[0] is not 0
  indptr_order = 2,  // indptr decreases at row `row`
  indptr_end = 3,    // indptr does not end at the number of indices
  out_of_range = 4,  // an index is not in [0, n)
  duplicate = 5,     // an index occurs twice in a row
  unsorted = 6,      // a row is not ascending (reported only if nothing worse was found)
};

struct Finding {
  Fault fault = Fault::none;
  std::int64_t row = 0;    // where
  std::int64_t index = 0;  // the offending index
};

// Checks a compressed sparse structure: n_rows + 1 offsets, `length` indices in [0, n). O(length),
// and O(longest row · log) for rows that are not sorted.
template <class Offset, class Index>
Finding check_sparse(const Offset* indptr, std::int64_t n_rows, const Index* indices,
                     std::int64_t length, std::int64_t n);

// Two stored values of one column in one record: offsets[c] is column c's first value id. Expects
// ids that check_sparse has passed. O(length + number of columns).
template <class V>
Finding check_columns(const std::int64_t* indptr, std::int64_t n_rows, const V* values,
                      const std::int64_t* offsets, std::int64_t n_columns);

}  // namespace tacit
