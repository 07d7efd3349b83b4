// The contingency tables of all sets of some columns with a target, in one go.
//
// After Chickering and Heckerman: a record is counted once for each combination of `size` of its
// stored values. Cells with a default follow by subtraction, from the tables of one column less.
// O(Σ over records of C(stored, size) + squares of values + cells), whatever the number of sets.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "base/records.hpp"

namespace tacit {

// Columns as kernels need them here: the ids of the values, their number, and the default's code.
struct ColumnShape {
  std::int64_t first, arity, default_code;
};

// `columns` ascend and do not hold the target; size ≥ 1. Tables follow each other in lexicographic
// order of their columns, each in C order with the target last; records count one each.
template <class V>
void all_tables(const Records<V>& records, const std::vector<ColumnShape>& columns,
                const ColumnShape& target, std::int64_t size, std::int64_t* counts, Poll poll);

// The number of cells of all these tables.
std::int64_t all_cells(const std::vector<ColumnShape>& columns, const ColumnShape& target,
                       std::int64_t size);

}  // namespace tacit
