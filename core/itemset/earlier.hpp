// Items that stand before a set in the search, found in the records of the first projection.
#pragma once

#include <cstdint>
#include <vector>

#include "itemset/projection.hpp"

namespace tacit {

// A set is searched by its first item in the order of the search. It was found elsewhere if an item
// that is before it, or that was passed over on the way to it, is in all of its records. Most often
// no item is in the first few of them, which is where looking ends: the projections themselves need
// not hold such items. Below a first projection of lists.
class EarlierItems {
 public:
  void begin(const Projection& root);
  // From now on, an item counts as one before the set, or no longer.
  void pass(std::uint32_t item) { passed_[item] = 1; }
  void forget(std::uint32_t item) { passed_[item] = 0; }

  // Whether one of them is in all records of an item of a projection.
  bool in_all(const Projection& node, std::int64_t rank);
  // Makes bitmaps of the records that were written to a projection, those with one item included:
  // rows of the earlier items that are frequent among them, and then those of its own items.
  void lead(Projection& child, std::int64_t min_count);
  // The values that were looked at since this was last asked.
  std::int64_t spent();

 private:
  template <class See>
  void each_record(const Projection& node, std::int64_t rank, const See& see) const;
  template <class See>
  void each_item(const std::uint32_t* here, bool passed, const See& see);
  bool is_passed(std::uint32_t rank) const { return passed_[root_->items[rank]] != 0; }

  const Projection* root_ = nullptr;
  std::vector<std::uint8_t> passed_;            // by value id: 0 between branches
  std::vector<std::uint32_t> before_, behind_;  // ranks: descending, and ascending
  std::vector<std::int64_t> tallies_;           // by rank: zero between calls
  std::vector<std::uint32_t> touched_, row_of_;
  std::vector<std::int64_t> weights_;
  std::int64_t spent_ = 0;
};

}  // namespace tacit
