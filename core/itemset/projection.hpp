// The records that hold a set of items, less what is too rare among them: as lists, or as bitmaps.
#pragma once

#include <cstdint>
#include <vector>

#include "base/records.hpp"
#include "itemset/bit_rows.hpp"

namespace tacit {

// A vector that keeps its memory and is not initialised when it grows.
template <class T>
class Scratch {
 public:
  T* resize(std::size_t size) {
    if (size > room_.size()) {
      room_ = Buffer<T>();  // first: nobody needs what it held
      room_ = Buffer<T>(size + size / 4);
    }
    size_ = size;
    return room_.data();
  }
  T* data() { return room_.data(); }
  const T* data() const { return room_.data(); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return room_[i]; }
  const T& operator[](std::size_t i) const { return room_[i]; }

 private:
  Buffer<T> room_;
  std::size_t size_ = 0;
};

// Items are numbered by their rank here. Those before first_tail only tell whether a set was found
// elsewhere already; the others extend the set, each by itself and by those behind it. Projections
// below lists have only the others; where the first ones are asked for, `origin` leads back to the
// records of the first projection.
struct Projection {
  static constexpr std::uint32_t kEnd = 0xffffffff;

  // What was written to `flat`, beside it.
  struct Written {
    std::int64_t n_flat;
    const std::vector<std::int64_t>* weights;  // null: all 1
    std::int64_t n_records, squares;           // squares: of their lengths, added up
    std::int64_t first = 0;                    // the rank that is written as 0
  };

  std::vector<std::uint32_t> items;  // value ids, by rank
  std::vector<std::int64_t> counts;  // records with each, or their weight
  std::int64_t first_tail = 0;
  bool dense = false;

  // Lists: the ranks of each record, ascending, with kEnd before and behind it. `at` has the
  // positions of each item's occurrences, `weight` the weights of their records.
  Scratch<std::uint32_t> flat, at;
  Scratch<std::int64_t> start, weight;
  std::vector<std::uint32_t> position;  // while lists are made
  bool weighted = false;

  // Where the first projection has a record, as a position in its `at`: of occurrences in lists, of
  // records in bitmaps. Empty in the first projection, and where nobody asks.
  std::vector<std::uint32_t> origins;             // of the records in `flat`
  Scratch<std::uint32_t> occurrence_origins;      // of lists
  const std::uint32_t* record_origins = nullptr;  // of bitmaps, perhaps those of the parent
  bool traced = false;                            // whether these are there
  // Records with one item only are in neither: those of an item are chained.
  struct Lone {
    std::uint32_t origin, next;
  };
  std::vector<std::uint32_t> first_lone;  // by rank; kEnd: none
  std::vector<Lone> lone;

  // Bitmaps: a row for each item. `planes` has a row for each binary digit of the weights. In the
  // first projection, `entire` says which items stand in no record by themselves: those are in no
  // row.
  Scratch<std::uint64_t> rows, planes;
  std::int64_t words = 0, n_planes = 1;
  std::vector<std::uint8_t> entire;

  std::int64_t n_items() const { return static_cast<std::int64_t>(items.size()); }
  BitRows matrix() const { return {rows.data(), words}; }
  const std::uint64_t* row(std::int64_t rank) const { return rows.data() + rank * words; }

  // Whether bitmaps are expected to be counted sooner than lists: of records with so many items and
  // binary digits of weights.
  static bool better_dense(std::int64_t n_items, std::int64_t n_digits, std::int64_t n_records,
                           std::int64_t squares);
  bool better_dense(const Written& records) const;
  // The records that were written to `flat` as lists or bitmaps.
  void arrange(const Written& records, bool as_rows);
  void find_entire();

 private:
  void make_lists(const Written& records);
  void make_rows(const Written& records);
  void make_planes(const std::vector<std::int64_t>* record_weights);
};

}  // namespace tacit
