// Minimum cuts between supplies and demands on an undirected graph with real capacities.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"

namespace tacit {

// An undirected graph as CSR: both ends of an edge hold it, heads ascend within a row, no loops.
struct FlowView {
  const std::int64_t* start;
  const std::int32_t* head;
  const double* weight;
  std::int64_t n_nodes;
};

struct FlowGraph {
  std::vector<std::int64_t> start{0};
  std::vector<std::int32_t> head;
  std::vector<double> weight;

  FlowView view() const {
    return {start.data(), head.data(), weight.data(), static_cast<std::int64_t>(start.size()) - 1};
  }
};

// The set S that minimises C(S, S̄) - Σ_S supply, the smallest one if there are several; a supply
// below zero is a demand. Writes 1 for members of S. Push-relabel without its second phase: labels
// are lower bounds of the number of arcs to a node whose demand is not met yet, and S is what the
// supply that could not be delivered still reaches. O(n² √m) at worst; in practice a few passes
// over the edges.
void min_cut(const FlowView& graph, const double* supply, std::uint8_t* side, Meter& meter);

}  // namespace tacit
