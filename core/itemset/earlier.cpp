#include "itemset/earlier.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tacit {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

constexpr std::uint32_t kEnd = Projection::kEnd;

}  // namespace

void EarlierItems::begin(const Projection& root) {
  root_ = &root;
  if (!tallies_.empty()) return;
  passed_.resize(std::size_t{*std::max_element(root.items.begin(), root.items.end())} + 1);
  tallies_.resize(index(root.n_items()));
}

std::int64_t EarlierItems::spent() { return std::exchange(spent_, 0); }

// see(where the first projection has it) of each record, until it says no.
template <class See>
void EarlierItems::each_record(const Projection& node, std::int64_t rank, const See& see) const {
  if (!node.first_lone.empty())
    for (std::uint32_t k = node.first_lone[index(rank)]; k != kEnd; k = node.lone[k].next)
      if (!see(node.lone[k].origin)) return;
  if (node.dense) {
    const std::uint64_t* row = node.row(rank);
    for (std::int64_t w = 0; w < node.words; ++w)
      for (std::uint64_t bits = row[w]; bits != 0; bits &= bits - 1)
        if (!see(node.record_origins[w * 64 + std::countr_zero(bits)])) return;
    return;
  }
  const std::int64_t end = node.start.data()[rank + 1];
  for (std::int64_t k = node.start.data()[rank]; k < end; ++k)
    if (!see(&node == root_ ? static_cast<std::uint32_t>(k) : node.occurrence_origins.data()[k]))
      return;
}

// see(rank) of each item that is before the one at `here`, or was passed over.
template <class See>
void EarlierItems::each_item(const std::uint32_t* here, bool passed, const See& see) {
  const std::uint32_t* p = here - 1;
  for (; *p != kEnd; --p) see(*p);
  spent_ += here - p;
  if (!passed) return;
  for (p = here + 1; *p != kEnd; ++p)
    if (is_passed(*p)) see(*p);
  spent_ += p - here;
}

bool EarlierItems::in_all(const Projection& node, std::int64_t rank) {
  const std::uint32_t* const flat = root_->flat.data();
  std::int64_t listed = 0;
  bool first = true;
  each_record(node, rank, [&](std::uint32_t origin) {
    const std::uint32_t* const here = flat + root_->at.data()[origin];
    listed += root_->weighted ? root_->weight.data()[origin] : 1;
    if (first) {
      first = false;
      before_.clear();
      behind_.clear();
      const std::uint32_t own = *here;
      each_item(here, &node != root_,
                [&](std::uint32_t item) { (item < own ? before_ : behind_).push_back(item); });
    } else {
      std::size_t n = 0;
      const std::uint32_t* p = here - 1;
      for (const std::uint32_t item : before_) {
        while (*p > item && *p != kEnd) --p;
        if (*p == kEnd) break;
        before_[n] = item;
        n += *p == item;
      }
      spent_ += here - p;
      before_.resize(n);
      n = 0;
      p = here + 1;
      for (const std::uint32_t item : behind_) {
        while (*p < item) ++p;
        behind_[n] = item;
        n += *p == item;
      }
      spent_ += p - here;
      behind_.resize(n);
    }
    return !before_.empty() || !behind_.empty();
  });
  // Of the first projection, records that are not listed hold nothing else.
  if (first || listed < node.counts[index(rank)]) return false;
  return !before_.empty() || !behind_.empty();
}

void EarlierItems::lead(Projection& child, std::int64_t min_count) {
  const std::uint32_t* const flat = root_->flat.data();
  const auto here = [&](std::uint32_t origin) { return flat + root_->at.data()[origin]; };
  const auto n_records = static_cast<std::int64_t>(child.origins.size());
  for (const Projection::Lone& one : child.lone) child.origins.push_back(one.origin);
  touched_.clear();
  weights_.clear();
  for (const std::uint32_t origin : child.origins) {
    const std::int64_t w = root_->weighted ? root_->weight.data()[origin] : 1;
    weights_.push_back(w);
    each_item(here(origin), true, [&](std::uint32_t item) {
      if (tallies_[item] == 0) touched_.push_back(item);
      tallies_[item] += w;
    });
  }
  std::sort(touched_.begin(), touched_.end());
  row_of_.resize(tallies_.size(), kEnd);
  std::vector<std::uint32_t>& items = child.items;
  std::vector<std::int64_t>& counts = child.counts;
  const std::size_t n_own = items.size();
  for (const std::uint32_t item : touched_) {
    if (tallies_[item] < min_count) continue;
    row_of_[item] = static_cast<std::uint32_t>(items.size() - n_own);
    items.push_back(root_->items[item]);
    counts.push_back(tallies_[item]);
  }
  child.first_tail = static_cast<std::int64_t>(items.size() - n_own);
  std::rotate(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(n_own), items.end());
  std::rotate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(n_own), counts.end());
  std::int64_t n_flat = 1;
  for (std::int64_t k = 0; k < n_records; ++n_flat) k += child.flat[index(n_flat)] == kEnd;
  child.arrange({n_flat, root_->weighted ? &weights_ : nullptr,
                 static_cast<std::int64_t>(child.origins.size()), 0, child.first_tail},
                true);
  std::uint64_t* const rows = child.rows.data();
  const auto set = [&](std::int64_t row, std::size_t record) {
    rows[row * child.words + static_cast<std::int64_t>(record >> 6)] |= std::uint64_t{1}
                                                                        << (record & 63);
  };
  for (std::size_t r = 0; r < child.origins.size(); ++r)
    each_item(here(child.origins[r]), true, [&](std::uint32_t item) {
      if (row_of_[item] != kEnd) set(row_of_[item], r);
    });
  for (std::size_t i = 0; i < n_own; ++i)
    for (std::uint32_t k = child.first_lone[i]; k != kEnd; k = child.lone[k].next)
      set(child.first_tail + static_cast<std::int64_t>(i), index(n_records) + k);
  for (const std::uint32_t item : touched_) {
    tallies_[item] = 0;
    row_of_[item] = kEnd;
  }
  child.traced = false;
}

}  // namespace tacit
