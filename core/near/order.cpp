#include "near/order.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace tacit {
namespace {

constexpr std::int64_t kSample = 512;  // members that say which coordinate is the widest

// The first leaf of the right half. Left halves are whole powers of two: so branches are subtrees.
std::int64_t middle(Range leaves) {
  const auto n = static_cast<std::uint64_t>(leaves.end - leaves.begin);
  return leaves.begin + static_cast<std::int64_t>(std::bit_ceil(n) / 2);
}

std::int64_t widest(const double* coords, std::int64_t n_coords, std::int64_t n_split,
                    const std::int32_t* members, std::int64_t n) {
  const std::int64_t step = (n + kSample - 1) / kSample;
  const auto n_drawn = static_cast<double>((n + step - 1) / step);
  std::int64_t best = 0;
  double most = -1;
  for (std::int64_t j = 0; j < n_split; ++j) {
    double mean = 0, spread = 0;
    for (std::int64_t i = 0; i < n; i += step) mean += coords[members[i] * n_coords + j];
    mean /= n_drawn;
    for (std::int64_t i = 0; i < n; i += step) {
      const double off = coords[members[i] * n_coords + j] - mean;
      spread += off * off;
    }
    if (spread > most) most = spread, best = j;
  }
  return best;
}

}  // namespace

NearOrder::NearOrder(const double* coords, std::int64_t n_objects, std::int64_t n_coords,
                     std::int64_t n_split, int n_jobs, Poll poll)
    : n_coords_(n_coords),
      n_split_(n_split),
      order_(static_cast<std::size_t>(n_objects)),
      splits_(static_cast<std::size_t>((n_objects + kNearLeaf - 1) / kNearLeaf)) {
  std::iota(order_.begin(), order_.end(), 0);
  // The first halves are made one by one, what is below them by several threads.
  constexpr std::size_t kParts = 32;
  std::vector<Range> parts{{0, n_leaves()}};
  Poller poller(poll);
  Keys keys(order_.size());
  for (std::size_t k = 0; k < parts.size() && parts.size() < kParts; ++k) {
    const Range part = parts[k];
    if (part.end - part.begin < 2) continue;
    halve(coords, part, keys);
    parts[k].begin = part.end;  // nothing is left to do here
    parts.push_back({part.begin, middle(part)});
    parts.push_back({middle(part), part.end});
    poller.check();
  }
  for_blocks(static_cast<std::int64_t>(parts.size()), n_jobs, poll,
             [&](std::int64_t k, StopToken& token) {
               const Range part = parts[static_cast<std::size_t>(k)];
               Keys own(static_cast<std::size_t>(n_members(part)));
               sort_below(coords, part, own, token);
             });
}

std::int64_t NearOrder::n_members(Range leaves) const {
  return std::max<std::int64_t>(std::min(leaves.end * kNearLeaf, size()) - leaves.begin * kNearLeaf,
                                0);
}

void NearOrder::halve(const double* coords, Range leaves, Keys& keys) {
  const std::int64_t begin = leaves.begin * kNearLeaf, n = n_members(leaves);
  const std::int64_t left = (middle(leaves) - leaves.begin) * kNearLeaf;
  std::int32_t* const members = order_.data() + begin;
  const std::int64_t coord = widest(coords, n_coords_, n_split_, members, n);
  for (std::int64_t i = 0; i < n; ++i)
    keys[static_cast<std::size_t>(i)] = {coords[members[i] * n_coords_ + coord], members[i]};
  std::nth_element(keys.begin(), keys.begin() + left, keys.begin() + n);
  splits_[static_cast<std::size_t>(middle(leaves))] = {coord,
                                                       keys[static_cast<std::size_t>(left)].first};
  for (std::int64_t i = 0; i < n; ++i) members[i] = keys[static_cast<std::size_t>(i)].second;
}

void NearOrder::sort_below(const double* coords, Range leaves, Keys& keys, StopToken& token) {
  const std::int64_t n = leaves.end - leaves.begin;
  if (n < 1) return;
  if (n == 1) {
    const Range positions = leaf(leaves.begin);
    std::sort(order_.data() + positions.begin, order_.data() + positions.end);
    return;
  }
  halve(coords, leaves, keys);
  if (n > 64) token.check();
  sort_below(coords, {leaves.begin, middle(leaves)}, keys, token);
  sort_below(coords, {middle(leaves), leaves.end}, keys, token);
}

std::int64_t NearOrder::home(const double* z) const {
  Range leaves{0, n_leaves()};
  while (leaves.end - leaves.begin > 1) {
    const std::int64_t mid = middle(leaves);
    const Split& split = splits_[static_cast<std::size_t>(mid)];
    (z[split.coord] < split.value ? leaves.end : leaves.begin) = mid;
  }
  return leaves.begin;
}

template <class T>
NearBoxes<T> near_boxes(const T* coords, std::int64_t n_coords, const Buffer<std::int32_t>& order,
                        std::int64_t run) {
  const auto n = static_cast<std::int64_t>(order.size());
  const std::int64_t n_boxes = (n + run - 1) / run;
  NearBoxes<T> boxes{std::vector<T>(static_cast<std::size_t>(n_boxes * n_coords)),
                     std::vector<T>(static_cast<std::size_t>(n_boxes * n_coords)),
                     std::vector<std::int32_t>(static_cast<std::size_t>(n_boxes))};
  for (std::int64_t b = 0; b < n_boxes; ++b) {
    T* const lower = boxes.lower.data() + b * n_coords;
    T* const upper = boxes.upper.data() + b * n_coords;
    const std::int32_t* const members = order.data() + b * run;
    const std::int64_t n_members = std::min(run, n - b * run);
    std::copy_n(coords + members[0] * n_coords, n_coords, lower);
    std::copy_n(lower, n_coords, upper);
    for (std::int64_t i = 1; i < n_members; ++i) {
      const T* const z = coords + members[i] * n_coords;
      for (std::int64_t j = 0; j < n_coords; ++j) {
        lower[j] = std::min(lower[j], z[j]);
        upper[j] = std::max(upper[j], z[j]);
      }
    }
    boxes.first[static_cast<std::size_t>(b)] = *std::min_element(members, members + n_members);
  }
  return boxes;
}

template NearBoxes<double> near_boxes(const double*, std::int64_t, const Buffer<std::int32_t>&,
                                      std::int64_t);
template NearBoxes<std::int32_t> near_boxes(const std::int32_t*, std::int64_t,
                                            const Buffer<std::int32_t>&, std::int64_t);

}  // namespace tacit
