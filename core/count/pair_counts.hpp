// Two-way counts of all pairs of stored values: how many records hold both i and j.
//
// Three ways to the same numbers. Row outer products touch one cell for each pair of values that
// share a record, bitmaps pay for every pair of values but only 1/256 of an instruction a record,
// and the sparse form never has n_values² cells at all.
#pragma once

#include "base/parallel.hpp"
#include "base/records.hpp"

namespace tacit {

// square[i * n_values + j] = Σ of the weights of the chosen records that hold i and j; symmetric,
// with the one-way counts on the diagonal. Every cell is summed in record order, so it does not
// depend on how the work is cut. O(Σ length² / 2 + n_values²).
template <class V, class Count>
void pair_counts_outer(const Records<V>& records, Count* square, int n_jobs, Poll poll);

// Adds the pairs of unweighted records to 32-bit cells: those of i <= j, row after row. So the
// tables of parts of the records need not be added up one by one. Of all records that are ever
// added there must be less than 2³². O(Σ length² / 2), and the cells once where there are several
// threads.
template <class V>
void pair_triangle(const Records<V>& records, std::uint32_t* cells, int n_jobs, Poll poll);
std::int64_t triangle_size(std::int64_t n_values);  // cells

// The square that such cells stand for. O(n_values²).
void triangle_to_square(const std::uint32_t* cells, std::int64_t n_values, std::int64_t* square,
                        int n_jobs, Poll poll);

// square for unweighted records, by AND and population count of one bitmap for each value.
// O(n_values² · n_records / 256 + l).
template <class V>
void pair_counts_bitmap(const Records<V>& records, std::int64_t* square, int n_jobs, Poll poll);

// The same for a matrix of bytes 0 and 1, rows after each other, whose columns take the position of
// values. False, with nothing counted, where a byte is neither.
bool pair_counts_bytes(const std::uint8_t* x, std::int64_t n_records, std::int64_t n,
                       std::int64_t* square, int n_jobs, Poll poll);

template <class Count>
struct SparsePairs {  // CSR, symmetric, indices ascending within a row
  Buffer<std::int64_t> indptr;
  Buffer<std::int32_t> indices;
  Buffer<Count> counts;
};

// The same as a sparse matrix, for n_values too many to square. O(Σ length² + n_values + output);
// beside the output it holds less than half of the output's size and about the table's own.
template <class V, class Count>
SparsePairs<Count> pair_counts_sparse(const Records<V>& records, int n_jobs, Poll poll);

}  // namespace tacit
