// Which leaf of a decision tree, or of a decision graph, a record comes to.
//
// A split is a range [low, high) of the value ids of one column. A binary split sends a record that
// holds an id of the range, or the one that goes inside also, to its first child and any other to
// its second; a complete split has a child for each id and then one for the default. Children have larger numbers than their parents,
// so every walk ends, and the nodes of a way down have ascending numbers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/parallel.hpp"
#include "base/records.hpp"

namespace tacit {

struct WalkNodes {
  const std::int32_t* column;  // -1 for a leaf
  const std::int32_t* low;
  const std::int32_t* high;
  const std::uint8_t* complete;
  const std::int32_t* first;  // where a node's children begin in `children`
  const std::int32_t* children;
  const std::int32_t* also;  // -1 for none; null where no node has one
  std::int64_t size, n_children;

  // Throws std::invalid_argument unless every walk from one of the nodes [begin, end) of a tree
  // stays among them, asks about ids below n_values, and ends.
  void check(std::int64_t begin, std::int64_t end, std::int64_t n_values) const;

  bool is_leaf(std::int32_t node) const { return column[node] < 0; }
  // A further id that goes inside, or -1.
  std::int32_t also_inside(std::int32_t node) const { return also ? also[node] : -1; }
  // Calls body(id) for all ids that go inside.
  template <class Body>
  void each_inside(std::int32_t node, const Body& body) const {
    for (std::int32_t id = low[node]; id < high[node]; ++id) body(id);
    if (also_inside(node) >= 0) body(also[node]);
  }
  // The child of records that hold the id, one that goes inside.
  std::int32_t inside(std::int32_t node, std::int64_t id) const {
    return children[first[node] + (complete[node] ? id - low[node] : 0)];
  }
  // The child of records that hold none of them.
  std::int32_t outside(std::int32_t node) const {
    return children[first[node] + (complete[node] ? high[node] - low[node] : 1)];
  }
};

// The leaf that a record with these ids (ascending) comes to from a node: a binary search at each
// node, which reads nothing but the record and the way down. O(depth · log stored).
template <class V>
std::int32_t walk_down(const WalkNodes& nodes, std::int32_t node, const V* begin, const V* end) {
  const auto first_from = [&](std::int32_t least) {
    return std::lower_bound(begin, end, least, [](V id, std::int32_t low) {
      return static_cast<std::int64_t>(id) < low;
    });
  };
  const auto holds_also = [&](std::int32_t id) {
    if (id < 0) return false;
    const V* p = first_from(id);
    return p < end && static_cast<std::int64_t>(*p) == id;
  };
  while (!nodes.is_leaf(node)) {
    const V* p = first_from(nodes.low[node]);
    if (p < end && static_cast<std::int64_t>(*p) < nodes.high[node])
      node = nodes.inside(node, static_cast<std::int64_t>(*p));
    else if (holds_also(nodes.also_inside(node)))
      node = nodes.inside(node, nodes.also[node]);
    else
      node = nodes.outside(node);
  }
  return node;
}

// leaves[r] = the leaf of record r in the tree whose root is node 0.
//
// Trees on sparse data are long chains: the way of a record that holds nothing turns off for few
// ids only. Where a record has fewer ids than a search along that way has steps, one look for each
// id at where the way first asks about it finds the turning directly. So a record costs
// O(min(stored, chain · log stored) + depth after the turning · log stored).
template <class V>
void tree_leaves(const Records<V>& records, const WalkNodes& nodes, std::int32_t* leaves,
                 int n_jobs, Poll poll);

}  // namespace tacit
