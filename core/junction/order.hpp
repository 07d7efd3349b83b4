// Elimination orders: in which order variables are summed out of a product of tables.
//
// Eliminating a vertex joins its neighbours. The vertex and its neighbours at that moment are a
// clique of the triangulated graph; a table over the clique has to be gone through, so the cost of
// an order is the number of cells of all maximal cliques. The best order is hard to find; greedy
// rules find good ones, and different rules win on different graphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"

namespace tacit {

struct InteractionGraph {
  std::vector<std::vector<std::uint32_t>> neighbours;  // sorted, symmetric, without loops
  std::vector<double> sizes;                           // how many values a vertex has, at least 2
  std::vector<std::uint32_t> last;                     // to be eliminated after all others

  explicit InteractionGraph(std::size_t n) : neighbours(n), sizes(n) {}
  std::size_t size() const { return sizes.size(); }
};

struct Elimination {
  std::vector<std::uint32_t> order;               // vertices as they are eliminated
  std::vector<std::vector<std::uint32_t>> later;  // by vertex: its neighbours at that moment
  double cells = 0;                               // of all maximal cliques; may be infinite
  double largest = 0;                             // cells of the largest clique
  std::size_t width = 0;                          // most vertices in a clique
};

// The order that is given. O(edges of the triangulated graph).
Elimination eliminate_in_order(const InteractionGraph& graph,
                               const std::vector<std::uint32_t>& order);

// The cheapest of several greedy orders: fewest edges to add, the same weighted by the sizes of
// their ends, smallest clique, then the same rules with random factors drawn from fixed seeds.
// `known` is an order to beat, or null. Vertices all of whose neighbours are joined already go
// first: no order is better for that.
Elimination cheapest_elimination(const InteractionGraph& graph, int n_tries,
                                 const std::vector<std::uint32_t>* known, Poll poll);

}  // namespace tacit
