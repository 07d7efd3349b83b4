// The net of the highest score of all, proven, from the sets of parents that can be part of it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "net/parent_sets.hpp"

namespace tacit {

struct ExactRules {
  std::int64_t most_nodes;  // sets of columns that are remembered; where there are more, it ends
  int n_jobs;
};

struct ExactNet {
  std::vector<Parents> parents;  // the best net, which may be the one that was known
  double bound;                  // no net has a higher score
  bool proven;                   // the bound is the score
  std::int64_t n_nodes = 0;
};

// Branch and bound over the order of columns, breadth first (Malone and Yuan): a node is the set of
// columns that come first, and its score that of the best net of these. What the others can add is
// bounded by pattern databases: within each of a few groups of columns cycles are forbidden, but
// not between them. Nodes that cannot lead to a net better than the known one are dropped. Columns
// that form no cycle whatever their parents are found in components, each by itself.
// At most 2^n nodes, mostly few; a node costs a look at the sets of parents of each column.
ExactNet find_best_net(const ParentSets& sets, const std::vector<Parents>& known,
                       const std::vector<double>& known_scores, double noise,
                       const ExactRules& rules, Poll poll, const std::function<bool()>& go_on);

}  // namespace tacit
