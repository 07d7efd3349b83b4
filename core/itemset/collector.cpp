#include "itemset/collector.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace tacit {
namespace {

constexpr std::size_t kFirstChunk = 1 << 5, kLargestChunk = 1 << 18;
constexpr std::int64_t kSpendEvery = 1 << 18;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kCube = 8;

}  // namespace

void MineLimits::raise(std::int64_t count) {
  const std::lock_guard<std::mutex> lock(raising_);
  const auto top = static_cast<std::size_t>(options.top);
  best_.push_back(count);
  std::push_heap(best_.begin(), best_.end(), std::greater<>());
  if (best_.size() > top) {
    std::pop_heap(best_.begin(), best_.end(), std::greater<>());
    best_.pop_back();
  }
  if (best_.size() == top) raise_to(best_.front());
}

void Collector::add(const std::vector<std::uint32_t>& base, const std::vector<std::uint32_t>& extra,
                    std::int64_t count) {
  if (limits_->options.count_only)
    return tally(static_cast<std::int64_t>(base.size()), static_cast<std::int64_t>(extra.size()));
  if (extra.empty()) return add_one(base.data(), static_cast<std::int64_t>(base.size()), count);
  set_ = base;
  extra_ = extra;
  std::sort(extra_.begin(), extra_.end());
  add_subsets(0, count);
}

// The set with every subset of the other items from `from` on.
void Collector::add_subsets(std::size_t from, std::int64_t count) {
  const std::size_t rest = extra_.size() - from;
  if (plain_ && rest <= kCube && !set_.empty() &&
      static_cast<std::int64_t>(set_.size() + rest) <= limits_->options.max_size)
    return add_cube(from, count);
  add_one(set_.data(), static_cast<std::int64_t>(set_.size()), count);
  if (static_cast<std::int64_t>(set_.size()) >= limits_->options.max_size) return;
  for (std::size_t e = from; e < extra_.size(); ++e) {
    const auto at = std::lower_bound(set_.begin(), set_.end(), extra_[e]) - set_.begin();
    set_.insert(set_.begin() + at, extra_[e]);
    add_subsets(e + 1, count);
    set_.erase(set_.begin() + at);
  }
}

// The same where all of them are kept: each other item doubles what has been written. It stands
// behind those of the set that are less than it, and behind all others that a copy has already.
void Collector::add_cube(std::size_t from, std::int64_t count) {
  const std::size_t n = set_.size(), rest = extra_.size() - from, n_sets = std::size_t{1} << rest;
  const std::size_t n_items = n_sets * n + rest * n_sets / 2;
  std::uint32_t* const begin = room(n_sets * kHeader + n_items);
  std::uint32_t* end = begin;
  *end = static_cast<std::uint32_t>(n);
  std::memcpy(end + 1, &count, sizeof count);
  std::memcpy(end + kHeader, set_.data(), n * sizeof *end);
  end += kHeader + n;
  for (std::size_t e = from; e < extra_.size(); ++e) {
    const std::uint32_t item = extra_[e];
    const auto less =
        static_cast<std::size_t>(std::lower_bound(set_.begin(), set_.end(), item) - set_.begin());
    const std::uint32_t* const last = end;
    for (const std::uint32_t* one = begin; one < last; one += kHeader + *one) {
      const std::size_t size = *one, before = kHeader + less + size - n;
      *end = static_cast<std::uint32_t>(size) + 1;
      for (std::size_t k = 1; k < before; ++k) end[k] = one[k];
      end[before] = item;
      for (std::size_t k = before; k < kHeader + size; ++k) end[k + 1] = one[k];
      end += kHeader + size + 1;
    }
  }
  n_sets_ += static_cast<std::int64_t>(n_sets);
  n_items_ += static_cast<std::int64_t>(n_items);
  unspent_ += static_cast<std::int64_t>(4 * n_items + 16 * n_sets);
  if (unspent_ > kSpendEvery) close();
}

void Collector::add_one(const std::uint32_t* set, std::int64_t size, std::int64_t count) {
  const MineOptions& options = limits_->options;
  if (size < options.min_size || size > options.max_size || !meets_groups(set, size)) return;
  if (options.top > 0) {
    if (count < limits_->min_count()) return;
    limits_->raise(count);
  }
  std::uint32_t* out = room(kHeader + static_cast<std::size_t>(size));
  out[0] = static_cast<std::uint32_t>(size);
  std::memcpy(out + 1, &count, sizeof count);
  std::memcpy(out + kHeader, set, static_cast<std::size_t>(size) * sizeof *set);
  ++n_sets_;
  n_items_ += size;
  unspent_ += 4 * size + 16;
  if (unspent_ > kSpendEvery) close();
}

bool Collector::meets_groups(const std::uint32_t* set, std::int64_t size) const {
  const MineOptions& options = limits_->options;
  for (std::int64_t g = 0; g < options.n_groups; ++g) {
    const std::uint8_t* const flags = options.groups + g * options.n_values;
    if (std::none_of(set, set + size, [&](std::uint32_t item) { return flags[item] != 0; }))
      return false;
  }
  return true;
}

// How many sets that would be: for each size, the ways to choose the rest from `extra`.
void Collector::tally(std::int64_t base, std::int64_t extra) {
  const MineOptions& options = limits_->options;
  __int128 ways = 1;
  for (std::int64_t k = 0; k <= extra && base + k <= options.max_size; ++k) {
    if (base + k >= options.min_size) {
      n_sets_ = saturated_sum(n_sets_, ways);
      n_items_ = saturated_sum(n_items_, ways > kMost ? kMost : ways * (base + k));
    }
    ways = ways > kMost ? ways : ways * (extra - k) / (k + 1);
  }
}

std::uint32_t* Collector::room(std::size_t words) {
  if (chunks_.empty() || chunks_.back().capacity() - chunks_.back().size() < words) {
    const std::size_t next =
        chunks_.empty() ? kFirstChunk : std::min(2 * chunks_.back().capacity(), kLargestChunk);
    chunks_.emplace_back();
    chunks_.back().reserve(std::max(words, next));
  }
  const std::size_t at = chunks_.back().size();
  chunks_.back().resize(at + words);
  return chunks_.back().data() + at;
}

}  // namespace tacit
