// Records as a mixture of dependency trees sees them: their stored values and, behind these, the
// pairs of stored values that are joined by an edge.
//
// With u the parent of v and d for defaults, P(record) is a product over columns of P(d_v | d_u),
// over stored values v = b of
//   P(b | d_u) / P(d_v | d_u) · Π over children c of v of P(d_c | b) / P(d_c | d_v),
// and over edges both ends of which are stored, u = a and v = b, of
//   P(b | a) P(d_v | d_u) / (P(d_v | a) P(b | d_u)).
// So a step of EM for trees is one for independent columns, on records that have the pairs, too.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"
#include "base/records.hpp"

namespace tacit {

// All arrays have an entry for each column. A column of many children has further ids for each of
// its values, so that no factor is a product over very many children.
struct TreeColumns {
  std::int64_t n_columns;
  const std::int64_t* offsets;  // first value id, and one past the last
  const std::int64_t* parents;  // -1 for roots
  const std::int64_t* extras;   // how many further ids a value has
  const std::int64_t* first_extra;
  const std::int64_t* first_pair;  // of the pairs with the parent: parent's value first
};

// How many ids each chosen record has. O(l).
template <class V>
void tree_lengths(const Records<V>& records, const TreeColumns& tree, std::int64_t* lengths,
                  int n_jobs, Poll poll);

// Writes them, ascending, from indptr[k] on for the k-th chosen record. O(l + ids).
template <class V, class W>
void tree_values(const Records<V>& records, const TreeColumns& tree, const std::int64_t* indptr,
                 W* out, int n_jobs, Poll poll);

}  // namespace tacit
