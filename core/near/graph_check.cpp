#include "near/graph_check.hpp"

#include <cmath>
#include <vector>

namespace tacit {
namespace {

template <class X>
GraphCheck check_entries(const std::int64_t* indptr, const std::int32_t* indices, const X* weights,
                         std::int64_t n_nodes, bool zeros_are_edges, Poller& poller) {
  GraphCheck worst{GraphFault::kNone, 0, 0};
  const auto note = [&](GraphFault fault, std::int64_t row, std::int64_t column) {
    if (worst.fault == GraphFault::kNone || fault < worst.fault) worst = {fault, row, column};
  };
  for (std::int64_t i = 0; i < n_nodes; ++i) {
    std::int64_t last = -1;
    for (std::int64_t e = indptr[i]; e < indptr[i + 1]; ++e) {
      const std::int64_t j = indices[e];
      const X weight = weights[e];
      if (j <= last || j >= n_nodes) note(GraphFault::kIndices, i, j);
      last = j;
      if (i == j)  // whatever it is
        note(GraphFault::kLoop, i, j);
      else if (!std::isfinite(weight))
        note(GraphFault::kNotFinite, i, j);
      else if (weight < 0)
        note(GraphFault::kNegative, i, j);
      else if (weight == 0 && !zeros_are_edges)
        note(GraphFault::kLoop, i, j);
    }
    if (i % 4096 == 0) poller.check();
  }
  return worst;
}

template <class X>
GraphCheck check_symmetry(const std::int64_t* indptr, const std::int32_t* indices, const X* weights,
                          std::int64_t n_nodes, Poller& poller) {
  std::vector<std::int64_t> next(indptr, indptr + n_nodes);  // of each row, what is not met yet
  for (std::int64_t i = 0; i < n_nodes; ++i) {
    std::int64_t e = next[static_cast<std::size_t>(i)];
    // Entries to the left have been met from the rows above, or nothing is across from them.
    if (e < indptr[i + 1] && indices[e] < i) return {GraphFault::kAsymmetric, i, indices[e]};
    for (; e < indptr[i + 1]; ++e) {
      const std::int64_t j = indices[e];
      std::int64_t& across = next[static_cast<std::size_t>(j)];
      if (across >= indptr[j + 1] || indices[across] != i || weights[across] != weights[e]) {
        const bool left_over = across < indptr[j + 1] && indices[across] < i;
        return {GraphFault::kAsymmetric, left_over ? indices[across] : i, j};
      }
      ++across;
    }
    if (i % 4096 == 0) poller.check();
  }
  return {GraphFault::kNone, 0, 0};
}

}  // namespace

template <class X>
GraphCheck check_graph(const std::int64_t* indptr, const std::int32_t* indices, const X* weights,
                       std::int64_t n_nodes, bool zeros_are_edges, bool directed, Poll poll) {
  Poller poller(poll);
  const GraphCheck entries =
      check_entries(indptr, indices, weights, n_nodes, zeros_are_edges, poller);
  if (entries.fault != GraphFault::kNone || directed) return entries;
  return check_symmetry(indptr, indices, weights, n_nodes, poller);
}

#define TACIT_INSTANTIATE(X)                                                          \
  template GraphCheck check_graph(const std::int64_t*, const std::int32_t*, const X*, \
                                  std::int64_t, bool, bool, Poll);
TACIT_INSTANTIATE(float)
TACIT_INSTANTIATE(double)
#undef TACIT_INSTANTIATE

}  // namespace tacit
