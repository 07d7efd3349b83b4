#include "near/inverted.hpp"

#include <algorithm>
#include <numeric>

namespace tacit {
namespace {

constexpr std::int64_t kLeastBlock = 4096, kMostBlock = 16384;  // counters of a block stay in L1
constexpr std::int64_t kBlocks = 64;

}  // namespace

InvertedLists::InvertedLists(const SparsePattern& rows, Poll poll)
    : order_(static_cast<std::size_t>(rows.n_rows)),
      places_(order_.size()),
      ranks_(static_cast<std::size_t>(rows.n_columns)),
      starts_(order_.size() + 1, 0),
      list_starts_(ranks_.size() + 1, 0),
      ranks_of_rows_(static_cast<std::size_t>(rows.indptr[rows.n_rows])),
      entries_(ranks_of_rows_.size()) {
  Poller poller(poll);
  order_rows(rows);
  rank_columns(rows);
  poller.check();
  std::vector<std::int64_t> next(list_starts_.begin(), list_starts_.end() - 1);
  for (std::int64_t r = 0; r < rows.n_rows; ++r) {
    const std::int64_t row = order_[static_cast<std::size_t>(r)], begin = rows.indptr[row];
    std::int32_t* const out = ranks_of_rows_.data() + starts_[static_cast<std::size_t>(r)];
    const std::int64_t n = rows.indptr[row + 1] - begin;
    for (std::int64_t i = 0; i < n; ++i) out[i] = rank(rows.columns[begin + i]);
    std::sort(out, out + n);
    for (std::int64_t i = 0; i < n; ++i)
      entries_[static_cast<std::size_t>(next[static_cast<std::size_t>(out[i])]++)] =
          static_cast<std::int32_t>(r);
    if (r % 1024 == 0) poller.check();
  }
  cut_blocks();
}

void InvertedLists::order_rows(const SparsePattern& rows) {
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
    return rows.indptr[a + 1] - rows.indptr[a] < rows.indptr[b + 1] - rows.indptr[b];
  });
  for (std::size_t r = 0; r < order_.size(); ++r) {
    const std::int32_t row = order_[r];
    places_[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(r);
    starts_[r + 1] = starts_[r] + rows.indptr[row + 1] - rows.indptr[row];
  }
}

void InvertedLists::rank_columns(const SparsePattern& rows) {
  std::vector<std::int64_t> counts(ranks_.size(), 0);
  for (std::int64_t e = 0; e < rows.indptr[rows.n_rows]; ++e)
    ++counts[static_cast<std::size_t>(rows.columns[e])];
  std::vector<std::int32_t> by_count(ranks_.size());
  std::iota(by_count.begin(), by_count.end(), 0);
  std::stable_sort(by_count.begin(), by_count.end(), [&](std::int32_t a, std::int32_t b) {
    return counts[static_cast<std::size_t>(a)] > counts[static_cast<std::size_t>(b)];
  });
  for (std::size_t k = 0; k < by_count.size(); ++k) {
    ranks_[static_cast<std::size_t>(by_count[k])] = static_cast<std::int32_t>(k);
    list_starts_[k + 1] = list_starts_[k] + counts[static_cast<std::size_t>(by_count[k])];
  }
}

void InvertedLists::cut_blocks() {
  const std::int64_t n = n_rows();
  const std::int64_t width = std::clamp((n + kBlocks - 1) / kBlocks, kLeastBlock, kMostBlock);
  for (std::int64_t begin = 0; begin < n; begin += width) {
    const std::int64_t end = std::min(begin + width, n);
    blocks_.push_back({begin, end, size(begin), size(end - 1),
                       *std::min_element(order_.begin() + begin, order_.begin() + end)});
  }
  const auto n_blocks = static_cast<std::int64_t>(blocks_.size());
  tables_.assign(ranks_.size(), -1);
  for (std::size_t k = 0; k < ranks_.size(); ++k) {
    const auto rank = static_cast<std::int32_t>(k);
    if (length(rank) < 4 * n_blocks) break;  // lists become shorter
    tables_[k] = static_cast<std::int64_t>(cuts_.size());
    const std::int32_t* const list = entries_.data() + list_starts_[k];
    std::int64_t at = 0;
    for (const RowBlock& block : blocks_) {
      at = std::lower_bound(list + at, list + length(rank), block.begin) - list;
      cuts_.push_back(static_cast<std::int32_t>(at));
    }
    cuts_.push_back(static_cast<std::int32_t>(length(rank)));
  }
}

Range InvertedLists::segment(std::int32_t rank, std::int64_t block) const {
  const auto at = static_cast<std::size_t>(rank);
  const std::int64_t start = list_starts_[at];
  if (tables_[at] >= 0) {
    const std::int32_t* const cut = cuts_.data() + tables_[at] + block;
    return {start + cut[0], start + cut[1]};
  }
  const RowBlock& rows = blocks_[static_cast<std::size_t>(block)];
  const std::int32_t* const list = entries_.data();
  const std::int32_t* const begin = std::lower_bound(list + start, list + list_starts_[at + 1],
                                                     static_cast<std::int32_t>(rows.begin));
  const std::int32_t* const end =
      std::lower_bound(begin, list + list_starts_[at + 1], static_cast<std::int32_t>(rows.end));
  return {begin - list, end - list};
}

}  // namespace tacit
