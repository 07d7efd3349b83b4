// Where the itemsets of a search go: a stream for each branch, one limit for all of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "itemset/mine.hpp"

namespace tacit {

struct TooManyItemsets {};

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
  explicit Collector(MineLimits& limits) : limits_(&limits) {}

  // All of `base` (ascending), and any of `extra` beside it: items that are in all its records.
  void add(const std::vector<std::uint32_t>& base, const std::vector<std::uint32_t>& extra,
           std::int64_t count);
  void close() { limits_->spend(std::exchange(unspent_, 0)); }

  // Writes the sets of at least min_count behind those that are there, and frees them.
  void count(std::int64_t min_count, Itemsets& out) const;
  void move(std::int64_t min_count, Itemsets& out);

 private:
  static constexpr std::size_t kHeader = 3;
  void add_one(const std::uint32_t* set, std::int64_t size, std::int64_t count);
  bool meets_groups(const std::uint32_t* set, std::int64_t size) const;
  void add_subsets(const std::vector<std::uint32_t>& extra, std::size_t from, std::int64_t count);
  void tally(std::int64_t base, std::int64_t extra);
  std::uint32_t* room(std::size_t words);

  MineLimits* limits_;
  std::vector<std::vector<std::uint32_t>> chunks_;
  std::vector<std::uint32_t> set_;  // while subsets are written
  std::int64_t n_sets_ = 0, n_items_ = 0, unspent_ = 0;
};

}  // namespace tacit
