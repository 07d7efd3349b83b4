// Where the itemsets of a search go: a stream for each branch, one limit for all of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "itemset/mine.hpp"

namespace tacit {

struct TooManyItemsets {};

// The sum, as far as it can be told.
inline std::int64_t saturated_sum(std::int64_t sum, __int128 more) {
  const __int128 total = sum + more;
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return total > most ? most : static_cast<std::int64_t>(total);
}

// What the branches of a search share.
class MineLimits {
 public:
  explicit MineLimits(const MineOptions& asked) : options(asked), min_count_(asked.min_count) {}

  const MineOptions& options;
  std::int64_t min_count() const { return min_count_.load(std::memory_order_relaxed); }
  // A set that is among the most frequent so far: the least of their counts becomes the limit.
  void raise(std::int64_t count);
  void raise_to(std::int64_t count) { min_count_ = std::max(count, min_count()); }
  void spend(std::int64_t bytes) {
    if (bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes > options.max_bytes)
      throw TooManyItemsets();
  }

 private:
  std::atomic<std::int64_t> min_count_;
  std::atomic<std::int64_t> bytes_{0};
  std::mutex raising_;
  std::vector<std::int64_t> best_;  // a heap of the `top` greatest counts, the least on top
};

// The itemsets of a branch: size, count (two words) and items of one after the other.
class Collector {
 public:
  explicit Collector(MineLimits& limits)
      : limits_(&limits),
        plain_(limits.options.min_size <= 1 && limits.options.n_groups == 0 &&
               limits.options.top == 0) {}

  // All of `base` (ascending), and any of `extra` beside it: items that are in all its records.
  void add(const std::vector<std::uint32_t>& base, const std::vector<std::uint32_t>& extra,
           std::int64_t count);
  void close() { limits_->spend(std::exchange(unspent_, 0)); }

  // How many sets and items there are; of a search that only counts, the only thing to be known.
  std::int64_t n_sets() const { return n_sets_; }
  std::int64_t n_items() const { return n_items_; }

  // see(items, size, count) of each set.
  template <class See>
  void each(const See& see) const {
    for (const auto& chunk : chunks_) each_of(chunk, see);
  }
  // The same, and each chunk is freed behind it.
  template <class See>
  void drain(const See& see) {
    for (auto& chunk : chunks_) {
      each_of(chunk, see);
      std::vector<std::uint32_t>().swap(chunk);
    }
    chunks_.clear();
  }

 private:
  static constexpr std::size_t kHeader = 3;
  template <class See>
  static void each_of(const std::vector<std::uint32_t>& chunk, const See& see) {
    for (std::size_t at = 0; at < chunk.size(); at += kHeader + chunk[at]) {
      std::int64_t count;
      std::memcpy(&count, &chunk[at + 1], sizeof count);
      see(chunk.data() + at + kHeader, static_cast<std::int64_t>(chunk[at]), count);
    }
  }
  void add_one(const std::uint32_t* set, std::int64_t size, std::int64_t count);
  bool meets_groups(const std::uint32_t* set, std::int64_t size) const;
  void add_subsets(std::size_t from, std::int64_t count);
  void add_cube(std::size_t from, std::int64_t count);
  void tally(std::int64_t base, std::int64_t extra);
  std::uint32_t* room(std::size_t words);

  MineLimits* limits_;
  bool plain_;  // every set that is not too large is kept
  std::vector<std::vector<std::uint32_t>> chunks_;
  std::vector<std::uint32_t> set_, extra_;  // while subsets are written
  std::int64_t n_sets_ = 0, n_items_ = 0, unspent_ = 0;
};

}  // namespace tacit
