#include "near/block_grid.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tacit {
namespace {

constexpr std::int64_t kObjectsOfBlock = 1 << 15;

std::int64_t count_parts(std::int64_t n) { return std::max<std::int64_t>(1, n / kObjectsOfBlock); }

// Multiplied first and divided last: a coordinate that is a whole number of intervals from the
// lower end lies in the right one.
std::int64_t cell_of(double x, double lower, double gap, std::int64_t resolution) {
  if (!(gap > 0)) return 0;
  const double at = std::floor((x - lower) * static_cast<double>(resolution) / gap);
  if (!(at > 0)) return 0;
  return at < static_cast<double>(resolution) ? static_cast<std::int64_t>(at) : resolution - 1;
}

std::array<std::int64_t, kMostDimensions> padded_strides(const std::int64_t* resolution, int p) {
  std::array<std::int64_t, kMostDimensions> strides{};
  std::int64_t stride = 1;
  for (int j = p - 1; j >= 0; --j) {
    strides[static_cast<std::size_t>(j)] = stride;
    stride *= resolution[j] + 2;
  }
  return strides;
}

template <class Each>
void for_objects(std::int64_t n, int n_jobs, Poll poll, const Each& each) {
  const std::int64_t parts = count_parts(n);
  for_blocks(parts, n_jobs, poll, [&](std::int64_t b, StopToken&) {
    const Range range = block_range(n, parts, b);
    for (std::int64_t i = range.begin; i < range.end; ++i) each(i);
  });
}

struct Keyed {
  std::uint64_t key;
  std::int32_t object;
};

// By key, and objects as they come among equal keys: one pass for each 11 bits of the largest key.
void radix_sort(std::vector<Keyed>& items) {
  constexpr int kBits = 11;
  constexpr std::size_t kValues = std::size_t{1} << kBits;
  std::uint64_t all = 0;
  for (const Keyed& item : items) all |= item.key;
  std::vector<Keyed> other(items.size());
  for (int shift = 0; shift < 64 && (all >> shift) != 0; shift += kBits) {
    std::array<std::size_t, kValues + 1> start{};
    for (const Keyed& item : items) ++start[((item.key >> shift) & (kValues - 1)) + 1];
    for (std::size_t v = 0; v < kValues; ++v) start[v + 1] += start[v];
    for (const Keyed& item : items) other[start[(item.key >> shift) & (kValues - 1)]++] = item;
    items.swap(other);
  }
}

std::vector<Keyed> sorted_objects(const std::int64_t* keys, std::int64_t n) {
  std::vector<Keyed> items(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i)
    items[static_cast<std::size_t>(i)] = {static_cast<std::uint64_t>(keys[i]),
                                          static_cast<std::int32_t>(i)};
  radix_sort(items);
  return items;
}

// The first position from `from` on whose key is at least `key`; steps double, as it is mostly
// near.
std::int64_t seek(const std::int64_t* keys, std::int64_t from, std::int64_t n, std::int64_t key) {
  std::int64_t step = 1;
  std::int64_t low = from;
  while (low + step <= n && keys[low + step - 1] < key) {
    low += step;
    step *= 2;
  }
  const std::int64_t high = std::min(n, low + step - 1);
  return std::lower_bound(keys + low, keys + high, key) - keys;
}

// Steps to the neighbours in all dimensions but the last, ascending.
std::vector<std::int64_t> row_steps(const std::int64_t* resolution, int p) {
  const auto strides = padded_strides(resolution, p);
  std::vector<std::int64_t> steps{0};
  for (int j = 0; j < p - 1; ++j) {
    std::vector<std::int64_t> longer;
    for (const std::int64_t step : steps)
      for (int side = -1; side <= 1; ++side)
        longer.push_back(step + side * strides[static_cast<std::size_t>(j)]);
    steps = std::move(longer);
  }
  return steps;
}

}  // namespace

void grid_cells(const GridBox& box, const double* coords, std::int64_t n, std::int32_t* cells,
                int n_jobs, Poll poll) {
  const int p = box.n_dimensions;
  for_objects(n, n_jobs, poll, [&](std::int64_t i) {
    for (int j = 0; j < p; ++j)
      cells[i * p + j] = static_cast<std::int32_t>(
          cell_of(coords[i * p + j], box.lower[j], box.upper[j] - box.lower[j], box.resolution[j]));
  });
}

void grid_keys(const GridBox& box, const double* coords, std::int64_t n, std::int64_t* keys,
               int n_jobs, Poll poll) {
  const int p = box.n_dimensions;
  for_objects(n, n_jobs, poll, [&](std::int64_t i) {
    std::int64_t key = 0;
    for (int j = 0; j < p; ++j)
      key =
          key * (box.resolution[j] + 2) + 1 +
          cell_of(coords[i * p + j], box.lower[j], box.upper[j] - box.lower[j], box.resolution[j]);
    keys[i] = key;
  });
}

BlockOrder sort_blocks(const std::int64_t* keys, std::int64_t n) {
  const std::vector<Keyed> items = sorted_objects(keys, n);
  BlockOrder result{Buffer<std::int32_t>(static_cast<std::size_t>(n)), {}, {}};
  for (std::size_t at = 0; at < items.size(); ++at) {
    const auto key = static_cast<std::int64_t>(items[at].key);
    if (result.keys.empty() || result.keys.back() != key) {
      result.keys.push_back(key);
      result.starts.push_back(static_cast<std::int64_t>(at));
    }
    result.order.data()[at] = items[at].object;
  }
  result.starts.push_back(n);
  return result;
}

NearRanges near_ranges(const std::int64_t* row_keys, std::int64_t n_rows,
                       const std::int64_t* column_keys, const std::int64_t* column_starts,
                       std::int64_t n_columns, const std::int64_t* resolution, int n_dimensions) {
  const std::vector<std::int64_t> steps = row_steps(resolution, n_dimensions);
  std::vector<std::int64_t> from(steps.size(), 0);
  NearRanges near;
  near.pointer.reserve(static_cast<std::size_t>(n_rows) + 1);
  near.pointer.push_back(0);
  for (std::int64_t b = 0; b < n_rows; ++b) {
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const std::int64_t middle = row_keys[b] + steps[s];
      from[s] = seek(column_keys, from[s], n_columns, middle - 1);
      std::int64_t end = from[s];  // at most three blocks
      while (end < n_columns && column_keys[end] <= middle + 1) ++end;
      if (end == from[s]) continue;
      near.first.push_back(column_starts[from[s]]);
      near.last.push_back(column_starts[end]);
    }
    near.pointer.push_back(static_cast<std::int64_t>(near.first.size()));
  }
  return near;
}

namespace {

// A part of a block; its corner is in units of the smallest parts.
struct Part {
  std::int64_t begin, end;  // objects, in the order by key
  std::array<std::int64_t, kMostDimensions> corner;
  std::int64_t size;               // its width, in the same units
  std::int64_t child, n_children;  // parts it was cut into; none: it stays whole
  int level;
  std::int64_t leaf;  // number of those that stay whole
};

class Splitter {
 public:
  Splitter(const GridBox& box, const double* coords, std::int64_t n, std::int64_t crowded,
           int depth, Poll poll)
      : p_(box.n_dimensions), depth_(depth), crowded_(crowded), poller_(poll) {
    arrange(box, coords, n);
    plant(box.resolution);
    for (std::size_t at = 0; at < parts_.size(); ++at) split(at);
  }

  SplitBlocks blocks(const std::int64_t* resolution) {
    SplitBlocks result;
    std::vector<std::size_t> leaves;
    for (std::int64_t r = 0; r < n_roots_; ++r) list_leaves(static_cast<std::size_t>(r), leaves);
    auto& blocks = result.blocks;
    blocks.order = Buffer<std::int32_t>(items_.size());
    for (std::size_t at = 0; at < items_.size(); ++at) blocks.order.data()[at] = items_[at].object;
    for (const std::size_t at : leaves) {
      parts_[at].leaf = static_cast<std::int64_t>(blocks.starts.size());
      blocks.starts.push_back(parts_[at].begin);
      blocks.keys.push_back(key_of(parts_[at].begin));
      result.level.push_back(static_cast<std::int8_t>(parts_[at].level));
    }
    blocks.starts.push_back(static_cast<std::int64_t>(items_.size()));
    sort_within(blocks);
    result.near = find_near(leaves, blocks.starts, resolution);
    return result;
  }

 private:
  std::int64_t key_of(std::int64_t at) const {
    return static_cast<std::int64_t>(items_[static_cast<std::size_t>(at)].key >> (p_ * depth_));
  }

  // Sorts objects by block, and within a block so that each part's objects lie together: the bits
  // of their positions in the block are interleaved, one dimension after another.
  void arrange(const GridBox& box, const double* coords, std::int64_t n) {
    const std::int64_t parts = std::int64_t{1} << depth_;
    std::vector<std::int64_t> keys(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t block = 0;
      std::int64_t positions = 0;
      for (int j = 0; j < p_; ++j) {
        const std::int64_t fine = cell_of(coords[i * p_ + j], box.lower[j],
                                          box.upper[j] - box.lower[j], box.resolution[j] * parts);
        block = block * (box.resolution[j] + 2) + fine / parts + 1;
        for (int bit = 0; bit < depth_; ++bit)
          positions |= ((fine >> bit) & 1) << (bit * p_ + (p_ - 1 - j));
      }
      keys[static_cast<std::size_t>(i)] = block << (p_ * depth_) | positions;
    }
    items_ = sorted_objects(keys.data(), n);
  }

  void plant(const std::int64_t* resolution) {
    const std::int64_t size = std::int64_t{1} << depth_;
    for (std::size_t at = 0; at < items_.size(); ++at) {
      const std::int64_t key = key_of(static_cast<std::int64_t>(at));
      if (!parts_.empty() && root_keys_.back() == key) continue;
      if (!parts_.empty()) parts_.back().end = static_cast<std::int64_t>(at);
      Part root{static_cast<std::int64_t>(at), 0, {}, size, 0, 0, 0, -1};
      std::int64_t rest = key;
      for (int j = p_ - 1; j >= 0; --j) {
        root.corner[static_cast<std::size_t>(j)] = (rest % (resolution[j] + 2)) * size;
        rest /= resolution[j] + 2;
      }
      parts_.push_back(root);
      root_keys_.push_back(key);
    }
    if (!parts_.empty()) parts_.back().end = static_cast<std::int64_t>(items_.size());
    n_roots_ = static_cast<std::int64_t>(parts_.size());
  }

  void split(std::size_t at) {
    poller_.check();
    const Part whole = parts_[at];
    if (whole.end - whole.begin <= crowded_ || whole.level == depth_) return;
    const int shift = p_ * (depth_ - whole.level - 1);
    const std::uint64_t mask = (std::uint64_t{1} << p_) - 1;
    parts_[at].child = static_cast<std::int64_t>(parts_.size());
    for (std::int64_t begin = whole.begin; begin < whole.end;) {
      const std::uint64_t position = (items_[static_cast<std::size_t>(begin)].key >> shift) & mask;
      std::int64_t end = begin + 1;
      while (end < whole.end &&
             ((items_[static_cast<std::size_t>(end)].key >> shift) & mask) == position)
        ++end;
      Part half{begin, end, whole.corner, whole.size / 2, 0, 0, whole.level + 1, -1};
      for (int j = 0; j < p_; ++j)
        if (position >> (p_ - 1 - j) & 1) half.corner[static_cast<std::size_t>(j)] += half.size;
      parts_.push_back(half);
      ++parts_[at].n_children;
      begin = end;
    }
  }

  void list_leaves(std::size_t at, std::vector<std::size_t>& leaves) const {
    const Part& part = parts_[at];
    if (part.n_children == 0) leaves.push_back(at);
    for (std::int64_t c = 0; c < part.n_children; ++c)
      list_leaves(static_cast<std::size_t>(part.child + c), leaves);
  }

  static void sort_within(BlockOrder& blocks) {
    std::int32_t* const order = blocks.order.data();
    for (std::size_t b = 0; b + 1 < blocks.starts.size(); ++b)
      std::sort(order + blocks.starts[b], order + blocks.starts[b + 1]);
  }

  bool touch(const Part& a, const Part& b) const {
    for (int j = 0; j < p_; ++j) {
      const auto d = static_cast<std::size_t>(j);
      if (a.corner[d] > b.corner[d] + b.size || b.corner[d] > a.corner[d] + a.size) return false;
    }
    return true;
  }

  void add_touching(const Part& target, std::size_t at, const std::vector<std::int64_t>& starts,
                    NearRanges& near, std::size_t from) const {
    const Part& part = parts_[at];
    if (!touch(target, part)) return;
    if (part.n_children > 0) {
      for (std::int64_t c = 0; c < part.n_children; ++c)
        add_touching(target, static_cast<std::size_t>(part.child + c), starts, near, from);
      return;
    }
    const auto leaf = static_cast<std::size_t>(part.leaf);
    if (near.last.size() > from && near.last.back() == starts[leaf]) {
      near.last.back() = starts[leaf + 1];
      return;
    }
    near.first.push_back(starts[leaf]);
    near.last.push_back(starts[leaf + 1]);
  }

  NearRanges find_near(const std::vector<std::size_t>& leaves,
                       const std::vector<std::int64_t>& starts, const std::int64_t* resolution) {
    const std::vector<std::int64_t> steps = row_steps(resolution, p_);
    NearRanges near;
    near.pointer.push_back(0);
    for (const std::size_t at : leaves) {
      poller_.check();
      const std::size_t from = near.first.size();
      const std::int64_t key = key_of(parts_[at].begin);
      for (const std::int64_t step : steps) {
        auto root = std::lower_bound(root_keys_.begin(), root_keys_.end(), key + step - 1);
        for (; root != root_keys_.end() && *root <= key + step + 1; ++root)
          add_touching(parts_[at], static_cast<std::size_t>(root - root_keys_.begin()), starts,
                       near, from);
      }
      near.pointer.push_back(static_cast<std::int64_t>(near.first.size()));
    }
    return near;
  }

  int p_, depth_;
  std::int64_t crowded_, n_roots_ = 0;
  Poller poller_;
  std::vector<Keyed> items_;
  std::vector<Part> parts_;  // first the whole blocks, then what they were cut into
  std::vector<std::int64_t> root_keys_;
};

}  // namespace

SplitBlocks split_blocks(const GridBox& box, const double* coords, std::int64_t n,
                         std::int64_t crowded, int depth, Poll poll) {
  return Splitter(box, coords, n, crowded, depth, poll).blocks(box.resolution);
}

}  // namespace tacit
