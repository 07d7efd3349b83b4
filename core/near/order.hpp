// Objects in an order that keeps neighbours together, and boxes around runs of them.
//
// A tree that halves the widest coordinate puts objects into leaves of kNearLeaf; runs of
// kNearBranch leaves are branches. Leaves are filled one after another, so that the tree is nothing
// but the order and one split for each leaf.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/records.hpp"
#include "near/filter.hpp"

namespace tacit {

constexpr std::int64_t kNearBranch = 16;  // leaves of a branch

// Tight boxes around runs of objects, and the smallest number of an object in each.
template <class T>
struct NearBoxes {
  std::vector<T> lower, upper;  // of box b at [b * n_coords, (b + 1) * n_coords)
  std::vector<std::int32_t> first;
};

// Boxes around every `run` consecutive positions of an order.
template <class T>
NearBoxes<T> near_boxes(const T* coords, std::int64_t n_coords, const Buffer<std::int32_t>& order,
                        std::int64_t run);

// O(n log n) comparisons. Equal coordinates are told apart by the objects' numbers, so that the
// order is one and the same for any number of threads.
class NearOrder {
 public:
  // Splits are made along the first n_split coordinates only.
  NearOrder(const double* coords, std::int64_t n_objects, std::int64_t n_coords,
            std::int64_t n_split, int n_jobs, Poll poll);

  std::int64_t size() const { return static_cast<std::int64_t>(order_.size()); }
  std::int64_t n_coords() const { return n_coords_; }
  std::int64_t n_leaves() const { return (size() + kNearLeaf - 1) / kNearLeaf; }
  std::int64_t n_branches() const { return (n_leaves() + kNearBranch - 1) / kNearBranch; }
  const Buffer<std::int32_t>& objects() const { return order_; }
  Range leaf(std::int64_t l) const { return cut(l, kNearLeaf, size()); }
  Range branch(std::int64_t b) const { return cut(b, kNearBranch, n_leaves()); }  // of leaves

  // The leaf that an object with these coordinates would be put into.
  std::int64_t home(const double* z) const;

 private:
  struct Split {
    std::int64_t coord;
    double value;
  };
  static Range cut(std::int64_t k, std::int64_t run, std::int64_t n) {
    return {k * run, (k + 1) * run < n ? (k + 1) * run : n};
  }
  using Keys = Buffer<std::pair<double, std::int32_t>>;
  std::int64_t n_members(Range leaves) const;
  void halve(const double* coords, Range leaves, Keys& keys);
  void sort_below(const double* coords, Range leaves, Keys& keys, StopToken& token);

  std::int64_t n_coords_, n_split_;
  Buffer<std::int32_t> order_;
  std::vector<Split> splits_;  // the one before each leaf
};

}  // namespace tacit
