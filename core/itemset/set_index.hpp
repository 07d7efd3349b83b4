// Sets of items that are found again by their items: a table of hashes.
#pragma once

#include <cstdint>
#include <vector>

namespace tacit {

class SetIndex {
 public:
  SetIndex() : slots_(1 << 8, -1), indptr_{0} {}

  // The number of the set with these ascending items, or -1.
  std::int64_t find(const std::uint32_t* items, std::size_t n) const {
    return slots_[slot(items, n)];
  }
  // The number that a set gets, which must not be there yet: as many as there were.
  std::int64_t add(const std::uint32_t* items, std::size_t n);
  std::int64_t size() const { return static_cast<std::int64_t>(indptr_.size()) - 1; }

 private:
  std::size_t slot(const std::uint32_t* items, std::size_t n) const;

  std::vector<std::int64_t> slots_;  // numbers of sets, or -1
  std::vector<std::size_t> indptr_;
  std::vector<std::uint32_t> items_;
};

}  // namespace tacit
