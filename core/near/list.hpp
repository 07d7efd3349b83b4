// What both kinds of numbers share: a block's near objects in order, and blocks divided evenly.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "near/block_pairs.hpp"

// M(T, Offset) for each type of similarities and of offsets.
#define TACIT_FOR_NEAR_MATRICES(M) \
  M(float, std::int32_t) M(float, std::int64_t) M(double, std::int32_t) M(double, std::int64_t)

namespace tacit {

struct ListView {
  const std::int32_t* ids;
  std::int64_t size;
};

// The near objects of one block after another, ascending.
//
// Short lists are sorted. Others are marked in a bitmap with a summary above it, and read off from
// there: each mark takes the same time, and only words with marks are looked at.
class NearList {
 public:
  explicit NearList(const NearBlocks& near)
      : near_(near),
        words_(static_cast<std::size_t>(near.n_columns / 64 + 1), 0),
        summary_(static_cast<std::size_t>(near.n_columns / 4096 + 1), 0) {}

  ListView collect(std::int64_t block) {
    if (near_.lists)
      return {near_.lists + near_.list_starts[block],
              near_.list_starts[block + 1] - near_.list_starts[block]};
    std::int64_t size = 0;
    for (std::int64_t r = near_.pointer[block]; r < near_.pointer[block + 1]; ++r)
      size += near_.last[r] - near_.first[r];
    if (static_cast<std::int64_t>(list_.size()) < size)
      list_.resize(static_cast<std::size_t>(size));
    if (size < kFew)
      sort(block);
    else
      mark(block);
    return {list_.data(), size};
  }

 private:
  static constexpr std::int64_t kFew = 48;

  template <class Each>
  void for_near(std::int64_t block, const Each& each) const {
    for (std::int64_t r = near_.pointer[block]; r < near_.pointer[block + 1]; ++r)
      for (std::int64_t k = near_.first[r]; k < near_.last[r]; ++k) each(near_.column_order[k]);
  }

  void sort(std::int64_t block) {
    std::int32_t* end = list_.data();
    for_near(block, [&](std::int32_t i) { *end++ = i; });
    std::sort(list_.data(), end);
  }

  void mark(std::int64_t block) {
    std::size_t low = summary_.size(), high = 0;
    for_near(block, [&](std::int32_t id) {
      const auto i = static_cast<std::size_t>(id);
      words_[i >> 6] |= std::uint64_t{1} << (i & 63);
      summary_[i >> 12] |= std::uint64_t{1} << ((i >> 6) & 63);
      low = std::min(low, i >> 12);
      high = std::max(high, i >> 12);
    });
    std::int32_t* out = list_.data();
    for (std::size_t s = low; s <= high; ++s) {
      for (std::uint64_t marked = summary_[s]; marked; marked &= marked - 1) {
        const std::size_t w = s << 6 | static_cast<std::size_t>(std::countr_zero(marked));
        for (std::uint64_t word = words_[w]; word; word &= word - 1)
          *out++ =
              static_cast<std::int32_t>(w << 6 | static_cast<std::size_t>(std::countr_zero(word)));
        words_[w] = 0;
      }
      summary_[s] = 0;
    }
  }

  const NearBlocks& near_;
  std::vector<std::int32_t> list_;
  std::vector<std::uint64_t> words_, summary_;
};

// Which part of a block's list makes up the row of an object: [begin, end) without [skip,
// end_skip).
struct RowSpan {
  std::int64_t begin, skip, end_skip, end;
  std::int64_t size() const { return end - begin - (end_skip - skip); }
};

// Objects of a block come in ascending order, so that the search goes on where it stopped.
inline RowSpan row_span(Near which, std::int32_t object, const ListView& list, std::int64_t& from) {
  const std::int64_t n = list.size;
  if (which == Near::kAll) return {0, 0, 0, n};
  from = std::lower_bound(list.ids + from, list.ids + n, object) - list.ids;
  if (which == Near::kOthers) return {0, from, from + 1, n};
  const std::int64_t begin = which == Near::kLater ? from + 1 : from;
  return {begin, begin, begin, n};
}

// Blocks from one position of the list to the next hold about as many pairs.
inline std::vector<std::int64_t> divide_blocks(const NearBlocks& near, int n_jobs) {
  const std::int64_t most = 64 * static_cast<std::int64_t>(n_jobs);
  std::vector<std::int64_t> work(static_cast<std::size_t>(near.n_blocks) + 1, 0);
  for (std::int64_t b = 0; b < near.n_blocks; ++b) {
    std::int64_t length = 1;
    for (std::int64_t r = near.pointer[b]; r < near.pointer[b + 1]; ++r)
      length += near.last[r] - near.first[r];
    const auto at = static_cast<std::size_t>(b);
    work[at + 1] = work[at] + length * (near.starts[b + 1] - near.starts[b] + 4);
  }
  std::vector<std::int64_t> parts{0};
  for (std::int64_t k = 1; k < most; ++k) {
    const std::int64_t goal = work.back() / most * k;
    const auto at = std::upper_bound(work.begin(), work.end(), goal) - work.begin() - 1;
    if (at > parts.back()) parts.push_back(at);
  }
  if (parts.back() < near.n_blocks) parts.push_back(near.n_blocks);
  return parts;
}

// Calls body(blocks, token) for ranges of blocks that hold about as many pairs.
template <class Body>
void for_divided_blocks(const NearBlocks& near, int n_jobs, Poll poll, const Body& body) {
  const std::vector<std::int64_t> parts = divide_blocks(near, n_jobs);
  for_blocks(static_cast<std::int64_t>(parts.size()) - 1, n_jobs, poll,
             [&](std::int64_t part, StopToken& token) {
               const auto at = static_cast<std::size_t>(part);
               body(Range{parts[at], parts[at + 1]}, token);
             });
}

template <class Offset>
void copy_indices(const RowSpan& span, const ListView& list, Offset* out) {
  out = std::copy(list.ids + span.begin, list.ids + span.skip, out);
  std::copy(list.ids + span.end_skip, list.ids + span.end, out);
}

}  // namespace tacit
