// Agglomeration along the edges of a graph: clusters merge that an edge joins, the nearest first.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"

namespace tacit {

// A symmetric graph in CSR form without diagonal, of n_objects, each of which may stand for several.
struct WeightedGraph {
  const std::int64_t* indptr;
  const std::int32_t* indices;
  const double* distances;
  const std::int64_t* sizes;
  std::int64_t n_objects;
};

// Number k joins two of the nodes 0 … n - 1 (objects) and n … n + k - 1 (earlier merges), the smaller
// number first, at a height. There are as many fewer than n - 1 as the graph has components too many.
struct GraphMerges {
  std::vector<std::int32_t> first, second;
  std::vector<double> heights;
  std::vector<std::int64_t> sizes;
};

// Two clusters are as far apart as the edges between them are long in the mean, each of which counts
// as often as the objects at its ends. Of equally near pairs, that of the smaller numbers merges first.
//
// A cluster's edges are merged with those of the other cluster, and each pair is put into a heap once:
// O(edges · log + the edges of all clusters that ever were), both sides counted.
GraphMerges average_merges(const WeightedGraph& graph, Poll poll);

// Ward's distance, √(2ab / (a + b)) times that of the centroids of clusters of a and b objects, taken
// between clusters that an edge joins. `points` are rows of `width` numbers. O(width) for each pair.
GraphMerges ward_merges(const WeightedGraph& graph, const double* points, std::int64_t width,
                        Poll poll);

}  // namespace tacit
