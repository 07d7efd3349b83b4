// Similarities of near objects, written row by row as a sparse matrix.
//
// All objects of a block have the same near objects. They are listed and sorted once for a block,
// their numbers gathered once, column by column; then each row is computed and written at its final
// position. Nothing but the near pairs is looked at, and the length of each row is known
// beforehand.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"
#include "near/block_grid.hpp"

namespace tacit {

enum class Measure { kSquared, kDistance, kExponential, kRbf, kCosine };

// Which of its near objects an object's row holds.
enum class Near {
  kAll,     // all of them; rows and columns may be different objects
  kOthers,  // not the object itself
  kLater,   // those with higher numbers: each pair once
  kLaterAndSelf,
};

struct NearBlocks {
  const std::int64_t* starts;  // of the row blocks' objects in row_order
  std::int64_t n_blocks;
  const std::int32_t* row_order;
  const std::int64_t* pointer;  // ranges of near objects, as NearRanges says
  const std::int64_t* first;
  const std::int64_t* last;
  const std::int32_t* column_order;
  std::int64_t n_columns;  // column objects
  Near which;
  const std::int64_t* list_starts = nullptr;  // of each block's near objects in `lists`
  const std::int32_t* lists = nullptr;        // ascending; nullptr: they are not kept
};

// Near objects of all blocks, sorted, where they are needed twice: the length of a row that holds
// only some of them is not known without.
struct NearLists {
  std::vector<std::int64_t> starts;
  Buffer<std::int32_t> ids;
};
NearLists list_near(const NearBlocks& near, int n_jobs, Poll poll);

// Writes the n_rows + 1 offsets of the rows. Rows that hold only later objects need the lists.
void near_offsets(const NearBlocks& near, std::int64_t n_rows, std::int64_t* offsets, int n_jobs,
                  Poll poll);

// Numbers of single or double precision, one object after the other.
struct DenseNumbers {
  const void* numbers;
  bool single;
  std::int64_t width;
  const double* norms;   // lengths, for cosines only
  const double* centre;  // what is taken off each column before numbers are rounded, or nullptr
};
template <class Index>
struct SparseNumbers {
  const std::int64_t* indptr;
  const Index* indices;
  const double* numbers;
  const double* squares;  // squared lengths
  std::int64_t width;
};

template <class T, class Offset>
struct NearMatrix {
  const std::int64_t* offsets;
  Offset* indices;
  T* similarities;  // nullptr: only the pairs are wanted
};

// Computes in the precision of the result. `columns` may be `rows`.
template <class T, class Offset>
void dense_similarities(const NearBlocks& near, const DenseNumbers& rows,
                        const DenseNumbers& columns, Measure measure, double scale,
                        const NearMatrix<T, Offset>& out, int n_jobs, Poll poll);
template <class Index, class T, class Offset>
void sparse_similarities(const NearBlocks& near, const SparseNumbers<Index>& rows,
                         const SparseNumbers<Index>& columns, Measure measure, double scale,
                         const NearMatrix<T, Offset>& out, int n_jobs, Poll poll);

}  // namespace tacit
