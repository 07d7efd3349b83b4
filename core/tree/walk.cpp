#include "tree/walk.hpp"

#include <bit>
#include <limits>
#include <stdexcept>
#include <vector>

namespace tacit {
namespace {

constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();

// The way of a record that holds nothing, and for each id where on that way it is first asked for.
struct DefaultWay {
  std::int32_t leaf = 0;
  std::int64_t length = 0;             // nodes before the leaf
  std::vector<std::int32_t> first_at;  // kNever where the way does not ask; empty if not worth it
};

DefaultWay default_way(const WalkNodes& nodes, std::int64_t stored) {
  DefaultWay way;
  std::int32_t highest = 0;
  for (; !nodes.is_leaf(way.leaf); way.leaf = nodes.outside(way.leaf), ++way.length)
    highest = std::max({highest, nodes.high[way.leaf], nodes.also_inside(way.leaf) + 1});
  // The table must be small beside the data it is for.
  if (highest > std::max<std::int64_t>(stored, 1 << 16)) return way;
  way.first_at.assign(static_cast<std::size_t>(highest), kNever);
  for (std::int32_t node = 0; !nodes.is_leaf(node); node = nodes.outside(node))
    nodes.each_inside(node, [&](std::int32_t id) {
      std::int32_t& at = way.first_at[static_cast<std::size_t>(id)];
      at = std::min(at, node);
    });
  return way;
}

// The leaf of one record, by whichever search has fewer steps to the turning.
template <class V>
std::int32_t leaf_of(const WalkNodes& nodes, const DefaultWay& way, const V* begin, const V* end) {
  const auto held = static_cast<std::uint64_t>(end - begin);
  if (held == 0) return way.leaf;
  const std::int64_t searching = way.length * std::bit_width(held);
  if (way.first_at.empty() || static_cast<std::int64_t>(held) > searching)
    return walk_down(nodes, 0, begin, end);
  std::int32_t turning = kNever;
  for (const V* p = begin; p < end && *p < way.first_at.size(); ++p)
    turning = std::min(turning, way.first_at[*p]);
  return turning == kNever ? way.leaf : walk_down(nodes, turning, begin, end);
}

}  // namespace

void WalkNodes::check(std::int64_t begin, std::int64_t end, std::int64_t n_values) const {
  for (std::int64_t node = begin; node < end; ++node) {
    if (column[node] < 0) continue;
    const std::int64_t n_ids = std::int64_t{high[node]} - low[node];
    if (low[node] < 0 || n_ids <= 0 || high[node] > n_values)
      throw std::invalid_argument("low and high must be a range of value ids");
    const std::int64_t more = also_inside(static_cast<std::int32_t>(node));
    if (more < -1 || more >= n_values || (more >= low[node] && more < high[node]) ||
        (more >= 0 && complete[node]))
      throw std::invalid_argument("also must be another value id of a binary split, or -1");
    const std::int64_t from = first[node], n = complete[node] ? n_ids + 1 : 2;
    if (from < 0 || from > n_children - n)
      throw std::invalid_argument("first must be an index of children");
    for (std::int64_t k = from; k < from + n; ++k)
      if (children[k] <= node || children[k] >= end)
        throw std::invalid_argument("children must be nodes of the tree, behind their parents");
  }
}

template <class V>
void tree_leaves(const Records<V>& records, const WalkNodes& nodes, std::int32_t* leaves,
                 int n_jobs, Poll poll) {
  const DefaultWay way = default_way(nodes, records.indptr[records.n_records]);
  constexpr std::int64_t kBlock = 1 << 13;
  const std::int64_t n_blocks = (records.n_records + kBlock - 1) / kBlock;
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    Meter meter(token);
    const Range range = block_range(records.n_records, n_blocks, b);
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      leaves[r] = leaf_of(nodes, way, records.begin(r), records.end(r));
      meter.spend(way.length + 16);
    }
  });
}

template void tree_leaves(const Records<std::uint16_t>&, const WalkNodes&, std::int32_t*, int,
                          Poll);
template void tree_leaves(const Records<std::uint32_t>&, const WalkNodes&, std::int32_t*, int,
                          Poll);

}  // namespace tacit
