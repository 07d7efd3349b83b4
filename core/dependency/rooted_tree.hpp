// Spanning trees of complete graphs with n nodes, for the red rule.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"

namespace tacit {

// An edge of a rooted tree. Trees are listed from node 0 on: a parent is 0 or an earlier child.
struct TreeLink {
  std::int64_t parent, child;
};

// Prim's algorithm: the heaviest spanning tree of a symmetric n × n matrix without NaN; among
// equals the smaller (min, max) pair of nodes is taken. Writes n - 1 links. O(n²).
void rooted_tree(const double* weights, std::int64_t n, TreeLink* links, Poll poll);

// minima[a * n + b] = the least of the links' weights on the path from a to b, infinite for a = b.
// O(n²).
void path_minima(const TreeLink* links, const double* weights, std::int64_t n, double* minima,
                 Poll poll);

// covered[k] = 1 if link k is on the path between the two nodes of any of the pairs, else 0.
// O((n + n_pairs) log n).
void covered_links(const TreeLink* links, std::int64_t n, const std::int64_t* pairs,
                   std::int64_t n_pairs, std::uint8_t* covered);

}  // namespace tacit
