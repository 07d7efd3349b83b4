// From sparse rows of nothing but ones to stored values: the short way for baskets.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"

namespace tacit {

// Compressed sparse rows: n_rows + 1 offsets, `length` indices, n columns.
template <class Offset, class Index>
struct SparseRows {
  const Offset* indptr;
  std::int64_t n_rows;
  const Index* indices;
  std::int64_t length, n;
};

// counts[c] = how many rows hold column c, if the offsets are right and the indices of every row lie
// in [0, n) and ascend. Otherwise returns false, and the counts mean nothing. O(length + n).
template <class Offset, class Index>
bool count_presence(const SparseRows<Offset, Index>& rows, std::int64_t* counts, Poll poll);

// Writes the columns of each row as value ids. Those in `usual` (ascending) are written where a row
// does not hold them. Expects rows that count_presence has passed, and room for all. O(length +
// n_rows · n_usual).
template <class Offset, class Index, class V>
void store_presence(const SparseRows<Offset, Index>& rows, const std::int64_t* usual,
                    std::int64_t n_usual, std::int64_t* indptr, V* values, Poll poll);

}  // namespace tacit
