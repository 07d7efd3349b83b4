#include "itemset/collector.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

namespace tacit {
namespace {

constexpr std::size_t kFirstChunk = 1 << 10, kLargestChunk = 1 << 18;
constexpr std::int64_t kSpendEvery = 1 << 18;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// Σ of products, as far as it can be told.
std::int64_t saturated(std::int64_t sum, __int128 more) {
  const __int128 total = sum + more;
  return total > kMost ? kMost : static_cast<std::int64_t>(total);
}

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
  add_subsets(extra, 0, count);
}

// The set with every subset of the items from `from` on.
void Collector::add_subsets(const std::vector<std::uint32_t>& extra, std::size_t from,
                            std::int64_t count) {
  add_one(set_.data(), static_cast<std::int64_t>(set_.size()), count);
  if (static_cast<std::int64_t>(set_.size()) >= limits_->options.max_size) return;
  for (std::size_t e = from; e < extra.size(); ++e) {
    const auto at = std::lower_bound(set_.begin(), set_.end(), extra[e]) - set_.begin();
    set_.insert(set_.begin() + at, extra[e]);
    add_subsets(extra, e + 1, count);
    set_.erase(set_.begin() + at);
  }
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
      n_sets_ = saturated(n_sets_, ways);
      n_items_ = saturated(n_items_, ways > kMost ? kMost : ways * (base + k));
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

void Collector::count(std::int64_t min_count, Itemsets& out) const {
  if (limits_->options.top == 0) {
    out.n_sets = saturated(out.n_sets, n_sets_);
    out.n_items = saturated(out.n_items, n_items_);
    return;
  }
  for (const auto& chunk : chunks_)
    for (std::size_t at = 0; at < chunk.size(); at += kHeader + chunk[at]) {
      std::int64_t count;
      std::memcpy(&count, &chunk[at + 1], sizeof count);
      if (count >= min_count) ++out.n_sets, out.n_items += chunk[at];
    }
}

void Collector::move(std::int64_t min_count, Itemsets& out) {
  for (auto& chunk : chunks_) {
    for (std::size_t at = 0; at < chunk.size(); at += kHeader + chunk[at]) {
      std::int64_t count;
      std::memcpy(&count, &chunk[at + 1], sizeof count);
      if (count < min_count) continue;
      const auto set = static_cast<std::size_t>(out.n_sets++);
      out.counts[set] = count;
      std::memcpy(out.items.data() + out.n_items, &chunk[at + kHeader],
                  chunk[at] * sizeof(std::uint32_t));
      out.n_items += chunk[at];
      out.indptr[set + 1] = out.n_items;
    }
    std::vector<std::uint32_t>().swap(chunk);
  }
  chunks_.clear();
}

}  // namespace tacit
