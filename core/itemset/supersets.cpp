#include "itemset/supersets.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tacit {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

Buffer<std::int64_t> superset_counts(const SetLists& listed, const std::int64_t* counts,
                                     std::int64_t n_items, const SetLists& asked, int n_jobs,
                                     Poll poll) {
  std::vector<std::uint32_t> order(index(listed.n_sets));
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return counts[a] > counts[b]; });
  std::vector<std::int64_t> start(index(n_items) + 1);
  const std::int64_t n_listed = listed.indptr[listed.n_sets];
  for (std::int64_t k = 0; k < n_listed; ++k) ++start[listed.items[k] + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<std::int64_t> next(start.begin(), start.end() - 1);
  std::vector<std::uint32_t> holders(index(n_listed));  // the sets of each item
  for (const std::uint32_t set : order)
    for (std::int64_t k = listed.indptr[set]; k < listed.indptr[set + 1]; ++k)
      holders[index(next[listed.items[k]]++)] = set;

  Buffer<std::int64_t> out(index(asked.n_sets));
  constexpr std::int64_t kBlock = 1024;
  for_blocks((asked.n_sets + kBlock - 1) / kBlock, n_jobs, poll,
             [&](std::int64_t b, StopToken& token) {
               Meter meter(token);
               const std::int64_t end = std::min(asked.n_sets, (b + 1) * kBlock);
               for (std::int64_t q = b * kBlock; q < end; ++q) {
                 const std::uint32_t* const first = asked.items + asked.indptr[q];
                 const std::uint32_t* const last = asked.items + asked.indptr[q + 1];
                 const std::uint32_t* const rarest =
                     std::min_element(first, last, [&](std::uint32_t i, std::uint32_t j) {
                       return start[i + 1] - start[i] < start[j + 1] - start[j];
                     });
                 out[index(q)] = 0;
                 if (rarest == last) continue;
                 std::int64_t k = start[*rarest];
                 for (; k < start[*rarest + 1]; ++k) {
                   const std::uint32_t set = holders[index(k)];
                   const std::uint32_t* const held = listed.items + listed.indptr[set];
                   if (std::includes(held, listed.items + listed.indptr[set + 1], first, last)) {
                     out[index(q)] = counts[set];
                     break;
                   }
                 }
                 meter.spend(8 * (k - start[*rarest]) + 32);
               }
             });
  return out;
}

}  // namespace tacit
