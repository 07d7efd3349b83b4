// Entropies of contingency tables whose last axis is a target.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"

namespace tacit {

// What is found out about each table, in arrays with a position for each. S stands for the columns
// of a table without the target Y; a row is a combination of labels of S.
struct Entropies {
  double* rows;           // H(S), in bits
  double* target;         // H(Y | S), in bits
  std::int64_t* n_rows;   // rows that occur
  std::int64_t* n_cells;  // cells that occur
};

// Table k is counts[offsets[k]], …, counts[offsets[k + 1] - 1]: rows of arities[k] cells, one for
// each label of its target. With N the sum of its counts, r of a row's and c a cell's,
//
//   H(S) = Σ r/N · log2(N/r)        H(Y | S) = Σ c/N · log2(r/c)
//
// both 0 where nothing occurs. Count is int64 or double, not negative. All sums are fixed-point
// numbers, so the order of rows and cells does not matter, to the last bit (where sums of weights
// are exact). O(cells), and fast where most are zero.
template <class Count>
void table_entropies(const Count* counts, const std::int64_t* offsets, std::int64_t n_tables,
                     const std::int64_t* arities, Entropies out, int n_jobs, Poll poll);

// The same for one table of which only n cells that occur are listed, by ascending cell number.
template <class Count>
void cell_entropies(const std::int64_t* cells, const Count* counts, std::int64_t n,
                    std::int64_t arity, Entropies out);

}  // namespace tacit
