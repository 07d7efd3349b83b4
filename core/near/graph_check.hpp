// Whether the rows of a sparse matrix are a graph: what would spoil an algorithm that trusts it.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"

namespace tacit {

// What is wrong with a graph; of several, the one that is named first here.
enum class GraphFault : int {
  kNone,
  kIndices,  // out of range, descending or twice in a row
  kNotFinite,
  kNegative,
  kLoop,  // an entry on the diagonal, whatever it is, or one that is 0 where that means no edge
  kAsymmetric,  // an entry that differs from the one across the diagonal, or lacks it
};

struct GraphCheck {
  GraphFault fault;
  std::int64_t row, column;  // where
};

// A square CSR matrix of n_nodes rows; indptr is trusted. O(entries): one pass in order, and one in
// which each entry above the diagonal meets the next of the row across, since both come in order.
template <class X>
GraphCheck check_graph(const std::int64_t* indptr, const std::int32_t* indices, const X* weights,
                       std::int64_t n_nodes, bool zeros_are_edges, bool directed, Poll poll);

}  // namespace tacit
