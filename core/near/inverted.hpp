// Rows of a sparse matrix by column, in blocks: which rows hold a column, block after block.
//
// Rows are renumbered by their number of stored values, so that a block holds rows of about the same
// length; columns by how many rows hold them, the most common first.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "base/records.hpp"

namespace tacit {

// CSR; the columns of a row are distinct and ascend.
struct SparsePattern {
  const std::int64_t* indptr;
  const std::int32_t* columns;
  std::int64_t n_rows, n_columns;
};

// Rows from begin to end, renumbered.
struct RowBlock {
  std::int64_t begin, end;
  std::int64_t shortest, longest;  // stored values of a row
  std::int32_t first;              // the smallest of their numbers in the matrix
};

class InvertedLists {
 public:
  // O(rows · log + stored + columns · log).
  InvertedLists(const SparsePattern& rows, Poll poll);

  std::int64_t n_rows() const { return static_cast<std::int64_t>(order_.size()); }
  std::int64_t n_columns() const { return static_cast<std::int64_t>(ranks_.size()); }
  const std::vector<RowBlock>& blocks() const { return blocks_; }
  // The row of the matrix that a row was.
  std::int32_t row(std::int64_t r) const { return order_[static_cast<std::size_t>(r)]; }
  // Where a row of the matrix is now.
  std::int32_t place(std::int64_t row) const { return places_[static_cast<std::size_t>(row)]; }
  std::int64_t size(std::int64_t r) const {
    return starts_[static_cast<std::size_t>(r) + 1] - starts_[static_cast<std::size_t>(r)];
  }
  // The ranks of a row's columns, ascending.
  const std::int32_t* ranks(std::int64_t r) const {
    return ranks_of_rows_.data() + starts_[static_cast<std::size_t>(r)];
  }
  std::int32_t rank(std::int64_t column) const { return ranks_[static_cast<std::size_t>(column)]; }
  std::int64_t length(std::int32_t rank) const {
    const auto at = static_cast<std::size_t>(rank);
    return list_starts_[at + 1] - list_starts_[at];
  }
  // The rows that hold a column: positions in `entries`, ascending.
  Range list(std::int32_t rank) const {
    const auto at = static_cast<std::size_t>(rank);
    return {list_starts_[at], list_starts_[at + 1]};
  }
  // The rows of a block that hold a column: positions in `entries`, ascending.
  Range segment(std::int32_t rank, std::int64_t block) const;
  const Buffer<std::int32_t>& entries() const { return entries_; }

 private:
  void order_rows(const SparsePattern& rows);
  void rank_columns(const SparsePattern& rows);
  void cut_blocks();

  std::vector<std::int32_t> order_, places_, ranks_;
  std::vector<std::int64_t> starts_, list_starts_;
  Buffer<std::int32_t> ranks_of_rows_, entries_;
  std::vector<RowBlock> blocks_;
  // Of lists that are long beside the number of blocks, where each block begins in them.
  std::vector<std::int64_t> tables_;  // of each rank: its first entry in cuts_, or -1
  std::vector<std::int32_t> cuts_;
};

}  // namespace tacit
