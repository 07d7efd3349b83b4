// Frequent itemsets: sets of values that stand together in at least min_count records.
//
// A depth-first search over projected records. An item's projection holds the records with it, less
// the items that are too rare among them; items are taken from the rarest to the most common one.
// Projections are lists of records where these are sparse and bitmaps of items where they are
// dense, whichever is the cheaper to count; bitmaps shrink to the records that are left.
//
// The first projection, of which all others are made, takes 8 bytes a stored value and 4 a record, 8
// more each with weights; of bitmaps, half of that for values, and a bit for each record and item.
//
// Exact. The most frequent sets come first, of those level the smaller. Neither the order nor the
// content of the result depends on n_jobs.
#pragma once

#include <cstdint>
#include <limits>

#include "base/parallel.hpp"
#include "base/records.hpp"

namespace tacit {

enum class ItemsetKind {
  all,
  closed,  // no set with one more item is in as many records
  maximal  // no set with one more item is frequent
};

struct MineOptions {
  ItemsetKind kind = ItemsetKind::all;
  std::int64_t min_count = 1;
  std::int64_t min_size = 1;
  std::int64_t max_size = std::numeric_limits<std::int64_t>::max();
  std::int64_t top = 0;  // as many of the most frequent, and those level with the last; 0: all
  std::int64_t max_bytes = std::numeric_limits<std::int64_t>::max();  // of the result
  bool count_only = false;                                            // n_sets and n_items alone
  // Every set holds an item of each group: flags, n_groups × n_values. Not with count_only.
  const std::uint8_t* groups = nullptr;
  std::int64_t n_groups = 0, n_values = 0;
  // Records beside those that are given: how often each value stands in them, which is alone, and
  // how many there are, or their weight.
  const std::int64_t* alone = nullptr;
  std::int64_t n_beside = 0;
  // What records projected on first items may take: first items are searched in groups, the
  // records of one group at a time.
  std::int64_t search_bytes = std::numeric_limits<std::int64_t>::max();
  const std::uint32_t* labels = nullptr;  // what is listed of each value, ascending; null: its id
};

enum class MineStatus {
  complete,
  too_many,     // they would take more than max_bytes
  too_large,    // the records of an item take more than search_bytes: it is the only set that is
                // listed, and its count is what they take
  interrupted,  // branches that were finished are there
};

struct Itemsets {
  Buffer<std::int64_t> indptr;  // n_sets + 1
  Buffer<std::uint32_t> items;  // value ids (or their labels), ascending within a set
  Buffer<std::int64_t> counts;  // records with the set, or the sum of their weights
  std::int64_t n_sets = 0, n_items = 0;
  std::int64_t min_count = 0;  // of the sets: greater than asked for where `top` cuts
  MineStatus status = MineStatus::complete;
};

// weights: positive whole numbers, one for each record, or null. excluded: for each value id whether
// it is passed over, or null. Fewer than 2^32 stored values.
template <class V>
Itemsets mine_itemsets(const Records<V>& records, const std::int64_t* weights,
                       const std::uint8_t* excluded, const MineOptions& options, int n_jobs,
                       Poll poll);

}  // namespace tacit
