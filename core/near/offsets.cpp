#include "near/block_pairs.hpp"
#include "near/list.hpp"

namespace tacit {
namespace {

// Rows of a block differ in length only where part of the list is left out by number.
void block_lengths(const NearBlocks& near, std::int64_t block, NearList& lists,
                   std::int64_t* lengths) {
  const std::int32_t* const order = near.row_order;
  if (near.which == Near::kAll || near.which == Near::kOthers) {
    std::int64_t n = near.which == Near::kOthers ? -1 : 0;
    for (std::int64_t r = near.pointer[block]; r < near.pointer[block + 1]; ++r)
      n += near.last[r] - near.first[r];
    for (std::int64_t k = near.starts[block]; k < near.starts[block + 1]; ++k)
      lengths[order[k]] = n;
    return;
  }
  const ListView list = lists.collect(block);
  std::int64_t from = 0;
  for (std::int64_t k = near.starts[block]; k < near.starts[block + 1]; ++k)
    lengths[order[k]] = row_span(near.which, order[k], list, from).size();
}

}  // namespace

NearLists list_near(const NearBlocks& near, int n_jobs, Poll poll) {
  NearLists result;
  result.starts.push_back(0);
  for (std::int64_t b = 0; b < near.n_blocks; ++b) {
    std::int64_t size = 0;
    for (std::int64_t r = near.pointer[b]; r < near.pointer[b + 1]; ++r)
      size += near.last[r] - near.first[r];
    result.starts.push_back(result.starts.back() + size);
  }
  result.ids = Buffer<std::int32_t>(static_cast<std::size_t>(result.starts.back()));
  const std::vector<std::int64_t> parts = divide_blocks(near, n_jobs);
  for_blocks(static_cast<std::int64_t>(parts.size()) - 1, n_jobs, poll,
             [&](std::int64_t part, StopToken& token) {
               NearList lists(near);
               Meter meter(token);
               const auto at = static_cast<std::size_t>(part);
               for (std::int64_t b = parts[at]; b < parts[at + 1]; ++b) {
                 const ListView list = lists.collect(b);
                 std::copy(list.ids, list.ids + list.size,
                           result.ids.data() + result.starts[static_cast<std::size_t>(b)]);
                 meter.spend(4 * list.size);
               }
             });
  return result;
}

void near_offsets(const NearBlocks& near, std::int64_t n_rows, std::int64_t* offsets, int n_jobs,
                  Poll poll) {
  const std::vector<std::int64_t> parts = divide_blocks(near, n_jobs);
  const auto n_parts = static_cast<std::int64_t>(parts.size()) - 1;
  for_blocks(n_parts, n_jobs, poll, [&](std::int64_t part, StopToken& token) {
    NearList lists(near);
    Meter meter(token);
    const auto at = static_cast<std::size_t>(part);
    for (std::int64_t b = parts[at]; b < parts[at + 1]; ++b) {
      block_lengths(near, b, lists, offsets + 1);
      meter.spend(near.pointer[b + 1] - near.pointer[b] + 1);
    }
  });
  offsets[0] = 0;
  for (std::int64_t i = 0; i < n_rows; ++i) offsets[i + 1] += offsets[i];
}

}  // namespace tacit
