// Minimum cuts along a parameter: which nodes are on the source's side, for rising λ.
//
// All minimise C(S, S̄) + Σ_S (base - λ·rate) over sets S of nodes of an undirected graph, where
// rate ≥ 0. The smallest such sets grow with λ, so that one number for each node says all. What is
// decided for a whole range of λ is contracted, and the rest is solved by halves of the range, one
// connected component after another.
#pragma once

#include <cstdint>
#include <vector>

#include "cut/max_flow.hpp"

namespace tacit {

struct CutNodes {
  const double* base;
  const double* rate;
};

// Of each node the position of the first λ at which it belongs to S; n_lambdas if there is none.
// lambdas ascend. O(log n_lambdas) cuts of the nodes that are not decided.
std::vector<std::int32_t> cut_path(const FlowView& graph, const CutNodes& nodes,
                                   const double* lambdas, std::int64_t n_lambdas, int n_jobs,
                                   Poll poll);

// Of each node the λ beyond which it belongs to S: -inf if it does so at `low`, inf if not even at
// `high`. Its distinct values are all breakpoints of the least objective between the two.
std::vector<double> cut_breakpoints(const FlowView& graph, const CutNodes& nodes, double low,
                                    double high, int n_jobs, Poll poll);

// C(S_k, S̄_k) for S_k = {i : first[i] <= k}, k = 0 … n_sets - 1.
std::vector<double> cut_capacities(const FlowView& graph, const std::int32_t* first,
                                   std::int64_t n_sets);

}  // namespace tacit
