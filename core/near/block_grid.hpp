// Objects on a grid: the block of each, their order by block, and which blocks are near.
//
// A block has a number: its cells in each dimension, as the digits of one number, the last
// dimension last. There is room for one more cell at both ends of each dimension, so that
// neighbours are always 1, or a fixed step, away. Sorted by these numbers, the objects near a block
// lie in 3^(p-1) ranges.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "base/records.hpp"

namespace tacit {

constexpr int kMostDimensions = 4;

struct GridBox {
  const double* lower;
  const double* upper;
  const std::int64_t* resolution;
  int n_dimensions;
};

// The cell of each object in each dimension; what lies outside goes to the cell at the end.
void grid_cells(const GridBox& box, const double* coords, std::int64_t n, std::int32_t* cells,
                int n_jobs, Poll poll);

// The number of each object's block.
void grid_keys(const GridBox& box, const double* coords, std::int64_t n, std::int64_t* keys,
               int n_jobs, Poll poll);

struct BlockOrder {
  Buffer<std::int32_t> order;  // objects by block, ascending within a block
  std::vector<std::int64_t> keys, starts;
};
BlockOrder sort_blocks(const std::int64_t* keys, std::int64_t n);

// For each row block the ranges of column objects that are near, ascending.
struct NearRanges {
  std::vector<std::int64_t> pointer, first, last;
};
NearRanges near_ranges(const std::int64_t* row_keys, std::int64_t n_rows,
                       const std::int64_t* column_keys, const std::int64_t* column_starts,
                       std::int64_t n_columns, const std::int64_t* resolution, int n_dimensions);

// Blocks of different sizes: those that hold more than `crowded` objects are cut into halves in
// each dimension, up to `depth` times. Two of them are near if they touch.
struct SplitBlocks {
  BlockOrder blocks;               // keys are those of the whole blocks
  std::vector<std::int8_t> level;  // how often a block was cut
  NearRanges near;
};
SplitBlocks split_blocks(const GridBox& box, const double* coords, std::int64_t n,
                         std::int64_t crowded, int depth, Poll poll);

}  // namespace tacit
