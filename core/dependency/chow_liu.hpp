// Dependency trees from counts of pairs: the spanning tree of most mutual information.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"

namespace tacit {

// Counts of pairs of value ids as they are held: a full square, or a symmetric CSR matrix; either
// has the one-way counts on its diagonal.
struct PairColumns {
  std::int64_t n_columns;
  const std::int64_t* offsets;  // first value id of each column (n_columns + 1)
  double total;                 // Σ weights of all records
};

// weights[a · n + b] = mutual information of columns a and b in nats; symmetric, 0 on the diagonal.
// unknown: for each value id whether it says "not known" (such records do not count for a pair), or
// null; default_unknown the same for the columns' defaults.
template <class Count>
void pair_information(const Count* square, const PairColumns& columns, const std::uint8_t* unknown,
                      const std::uint8_t* default_unknown, double* weights, int n_jobs, Poll poll);

struct TreeEdge {
  std::int32_t a, b;  // a < b
  double weight;
};

// The maximum spanning tree of the information that pair_information would find, without any
// square: only columns that share a stored value somewhere are compared one by one. Of all others
// the information grows with how many records hold anything but the default, so that their order
// is known beforehand. Ties go to the smaller (a, b).
template <class Count>
std::vector<TreeEdge> sparse_spanning_tree(const std::int64_t* indptr, const std::int32_t* indices,
                                           const Count* counts, const PairColumns& columns,
                                           int n_jobs, Poll poll);

}  // namespace tacit
