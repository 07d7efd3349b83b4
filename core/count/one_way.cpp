#include "count/one_way.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

namespace tacit {
namespace {

// Each partial result costs `cells` to clear and to merge, so a block has to be worth several of
// them. Depends on the data only: weighted sums are merged in the same order for any thread count.
std::int64_t count_blocks(std::int64_t work, std::int64_t cells) {
  constexpr std::int64_t kSmallest = 1 << 18, kMost = 256;
  return std::clamp<std::int64_t>(work / std::max(8 * cells, kSmallest), 1, kMost);
}

template <class V>
std::int64_t stored(const Records<V>& records) {
  if (!records.chosen) return records.indptr[records.n_records];
  std::int64_t total = 0;
  for (std::int64_t k = 0; k < records.n_chosen; ++k)
    total += records.indptr[records.chosen[k] + 1] - records.indptr[records.chosen[k]];
  return total;
}

// Runs count(block range, partial) for each block and adds the partials up in block order.
template <class Count, class Body>
void in_blocks(std::int64_t n_items, std::int64_t n_blocks, std::int64_t cells, Count* counts,
               int n_jobs, Poll poll, const Body& body) {
  std::fill_n(counts, cells, Count{0});
  std::vector<Buffer<Count>> partial(static_cast<std::size_t>(n_blocks));
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken&) {
    Count* target = counts;
    if (b > 0) {
      partial[static_cast<std::size_t>(b)] = Buffer<Count>(static_cast<std::size_t>(cells));
      target = partial[static_cast<std::size_t>(b)].data();
      std::fill_n(target, cells, Count{0});
    }
    body(block_range(n_items, n_blocks, b), target);
  });
  for (std::int64_t b = 1; b < n_blocks; ++b) {
    const Count* from = partial[static_cast<std::size_t>(b)].data();
    for (std::int64_t c = 0; c < cells; ++c) counts[c] += from[c];
  }
}

template <class Count, class V>
Count weight(const Records<V>& records, std::int64_t r) {
  if constexpr (std::is_floating_point_v<Count>)
    return records.weights ? records.weights[r] : 1.0;
  else
    return 1;
}

// The first position in [p, end) whose id lies in [first, first + n_states), or end. Looks at a
// chunk of ids at a time with a loop the compiler turns into vector compares.
template <class V>
const V* find_state(const V* p, const V* end, V first, V n_states) {
  constexpr std::ptrdiff_t kChunk = 64;
  while (end - p >= kChunk) {
    V hit = 0;
    for (std::ptrdiff_t k = 0; k < kChunk; ++k)
      hit = static_cast<V>(hit | (static_cast<V>(p[k] - first) < n_states));
    if (hit) break;
    p += kChunk;
  }
  while (p < end && static_cast<V>(*p - first) >= n_states) ++p;
  return p;
}

}  // namespace

template <class V, class Count>
void one_way(const Records<V>& records, Count* counts, int n_jobs, Poll poll) {
  const std::int64_t n_blocks = count_blocks(stored(records), records.n_values);
  in_blocks(records.size(), n_blocks, records.n_values, counts, n_jobs, poll,
            [&](Range range, Count* target) {
              if (!records.chosen && !(std::is_floating_point_v<Count> && records.weights)) {
                const V* end = records.values + records.indptr[range.end];
                for (const V* p = records.values + records.indptr[range.begin]; p < end; ++p)
                  target[*p] += 1;
                return;
              }
              for (std::int64_t k = range.begin; k < range.end; ++k) {
                const std::int64_t r = records.record(k);
                const Count w = weight<Count>(records, r);
                for (const V* p = records.begin(r); p < records.end(r); ++p) target[*p] += w;
              }
            });
}

template <class V, class Count>
void two_way(const Records<V>& records, std::int64_t first, std::int64_t n_states, Count* counts,
             int n_jobs, Poll poll) {
  const std::int64_t cells = n_states * records.n_values;
  const V lowest = static_cast<V>(first), states = static_cast<V>(n_states);
  const auto add = [&](std::int64_t r, V state, Count* target) {
    Count* row = target + static_cast<std::int64_t>(state) * records.n_values;
    const Count w = weight<Count>(records, r);
    for (const V* p = records.begin(r); p < records.end(r); ++p) row[*p] += w;
  };
  const std::int64_t n_blocks = count_blocks(stored(records), cells);
  in_blocks(records.size(), n_blocks, cells, counts, n_jobs, poll, [&](Range range, Count* target) {
    if (records.chosen) {
      for (std::int64_t k = range.begin; k < range.end; ++k) {
        const std::int64_t r = records.chosen[k];
        const V* p = find_state(records.begin(r), records.end(r), lowest, states);
        if (p < records.end(r)) add(r, static_cast<V>(*p - lowest), target);
      }
      return;
    }
    // All records: their ids lie one after another, so the search for the target runs
    // through whole chunks and only hits are traced back to their record.
    const V* end = records.values + records.indptr[range.end];
    const V* p = records.values + records.indptr[range.begin];
    for (std::int64_t r = range.begin;; ++p) {
      p = find_state(p, end, lowest, states);
      if (p >= end) return;
      while (records.end(r) <= p) ++r;
      add(r, static_cast<V>(*p - lowest), target);
    }
  });
}

#define TACIT_INSTANTIATE(V)                                                                      \
  template void one_way(const Records<V>&, std::int64_t*, int, Poll);                             \
  template void one_way(const Records<V>&, double*, int, Poll);                                   \
  template void two_way(const Records<V>&, std::int64_t, std::int64_t, std::int64_t*, int, Poll); \
  template void two_way(const Records<V>&, std::int64_t, std::int64_t, double*, int, Poll);
TACIT_FOR_VALUE_TYPES(TACIT_INSTANTIATE)
#undef TACIT_INSTANTIATE

}  // namespace tacit
