// What a spanning tree says about clusters: the order in which objects are merged, and the clusters
// that are left where small ones do not count.
#pragma once

#include <cstdint>
#include <vector>

namespace tacit {

// Merges of a single-linkage tree: number k joins two of the nodes 0 … n - 1 (objects) and
// n … n + k - 1 (earlier merges).
struct Merges {
  std::vector<std::int32_t> first, second;
  std::vector<std::int64_t> sizes;  // objects below, each counted as often as it is there
};

// Edges i, of objects a[i] and b[i], come in the order in which they are to be merged. The smaller
// node is named first. Forests are allowed. O(n α(n)).
Merges merge_edges(const std::int32_t* a, const std::int32_t* b, std::int64_t n_edges,
                   std::int64_t n_objects);

// Rows: a child and the cluster that it leaves, at a height. Clusters are numbered n, n + 1, … from
// the root on, each after its parent; other children are objects.
struct CondensedTree {
  std::vector<std::int32_t> parent, child;
  std::vector<double> height;
  std::vector<std::int64_t> size;
};

// Goes down from the last merge. Where both sides hold least_size objects or more, two clusters
// begin; else the cluster goes on in the larger side, and the objects of the other one leave it.
// Merges at one height have no order: a side that reaches its size only by merges at the very
// height at which it would split off is no cluster. O(n).
CondensedTree condense(const Merges& merges, const double* heights, std::int64_t n_objects,
                       std::int64_t least_size);

}  // namespace tacit
