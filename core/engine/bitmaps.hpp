// Contingency tables by bitmaps: one bit for each record and value, AND and population count.
//
// A column's most common value has no bitmap: its part of a table is the table without the column
// minus the parts of the other values. A table of binary columns costs a word operation for every
// 64 records and subset of columns. Bitmaps are made when first asked for.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/engine.hpp"

namespace tacit {

class Bitmaps : public Engine {
 public:
  explicit Bitmaps(std::shared_ptr<const ColumnStore> store);
  void dense(const Question& question, Result out, Poll poll) override;
  SparseCells sparse(const Question& question, Poll poll) override;
  std::int64_t bytes() const override { return store_->bytes() + bytes_; }

  std::int64_t n_words() const { return n_words_; }
  std::int64_t common(std::int64_t column) const {
    return common_[static_cast<std::size_t>(column)];
  }
  // The bitmap of a column's code, which is not the most common one.
  const std::uint64_t* bitmap(std::int64_t column, std::int64_t code) const;

  // Writes the bitmap of the records with one of some codes: O(n_words + stored values).
  void make(std::int64_t column, const CodeSet& codes, std::uint64_t* words) const;
  void all_records(std::uint64_t* words) const;  // of zeros, makes a bit for each record

 private:
  std::int64_t n_words_;
  std::vector<std::int64_t> common_, first_;  // most common code; first slot of each column
  mutable std::vector<Buffer<std::uint64_t>> words_;
  mutable std::unique_ptr<std::atomic<bool>[]> ready_;
  mutable std::mutex making_;
  mutable std::atomic<std::int64_t> bytes_{0};
};

}  // namespace tacit
