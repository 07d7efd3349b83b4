#include "itemset/set_index.hpp"

#include <algorithm>

namespace tacit {
namespace {

std::uint64_t hash_items(const std::uint32_t* items, std::size_t n) {
  std::uint64_t hash = n;
  for (std::size_t k = 0; k < n; ++k) {
    hash = (hash ^ items[k]) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

std::size_t SetIndex::slot(const std::uint32_t* items, std::size_t n) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t s = hash_items(items, n) & mask;
  for (; slots_[s] >= 0; s = (s + 1) & mask) {
    const auto k = static_cast<std::size_t>(slots_[s]);
    const std::uint32_t* const held = items_.data() + indptr_[k];
    if (indptr_[k + 1] - indptr_[k] == n && std::equal(items, items + n, held)) break;
  }
  return s;
}

std::int64_t SetIndex::add(const std::uint32_t* items, std::size_t n) {
  if (2 * indptr_.size() > slots_.size()) {
    slots_.assign(2 * slots_.size(), -1);
    for (std::int64_t k = 0; k < size(); ++k) {
      const auto i = static_cast<std::size_t>(k);
      slots_[slot(items_.data() + indptr_[i], indptr_[i + 1] - indptr_[i])] = k;
    }
  }
  const std::int64_t number = size();
  slots_[slot(items, n)] = number;
  items_.insert(items_.end(), items, items + n);
  indptr_.push_back(items_.size());
  return number;
}

}  // namespace tacit
