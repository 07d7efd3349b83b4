#include "dependency/rooted_tree.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace tacit {
namespace {

std::size_t position(std::int64_t k) { return static_cast<std::size_t>(k); }

// What Prim's algorithm knows of a node outside of the tree: its best link into it.
struct Outsider {
  double weight;
  std::int64_t node, partner;
};

bool better(const Outsider& a, const Outsider& b) {
  if (a.weight != b.weight) return a.weight > b.weight;
  return std::minmax(a.node, a.partner) < std::minmax(b.node, b.partner);
}

// The highest node that can be reached from v by links that are covered already.
std::int64_t climb(std::vector<std::int64_t>& up, std::int64_t v) {
  while (up[position(v)] != v) {
    up[position(v)] = up[position(up[position(v)])];
    v = up[position(v)];
  }
  return v;
}

}  // namespace

void rooted_tree(const double* weights, std::int64_t n, TreeLink* links, Poll poll) {
  Poller poller(poll);
  std::vector<Outsider> outside;
  outside.reserve(position(n));
  for (std::int64_t v = 1; v < n; ++v) outside.push_back({weights[v], v, 0});
  for (std::int64_t k = 0; k + 1 < n; ++k) {
    const auto best = std::min_element(outside.begin(), outside.end(), better);
    const std::int64_t v = best->node;
    links[k] = {best->partner, v};
    *best = outside.back();
    outside.pop_back();
    const double* const row = weights + v * n;
    for (Outsider& other : outside) {
      const Outsider candidate{row[other.node], other.node, v};
      if (better(candidate, other)) other = candidate;
    }
    poller.check();
  }
}

void path_minima(const TreeLink* links, const double* weights, std::int64_t n, double* minima,
                 Poll poll) {
  Poller poller(poll);
  std::vector<std::int64_t> inside{0};
  for (std::int64_t v = 0; v < n; ++v) minima[v * n + v] = std::numeric_limits<double>::infinity();
  for (std::int64_t k = 0; k + 1 < n; ++k) {
    const auto [u, v] = links[k];
    for (const std::int64_t other : inside) {
      const double least = std::min(minima[u * n + other], weights[k]);
      minima[v * n + other] = minima[other * n + v] = least;
    }
    inside.push_back(v);
    poller.check();
  }
}

void covered_links(const TreeLink* links, std::int64_t n, const std::int64_t* pairs,
                   std::int64_t n_pairs, std::uint8_t* covered) {
  std::vector<std::int64_t> parent(position(n), -1), depth(position(n), 0), link(position(n), -1),
      up;
  for (std::int64_t v = 0; v < n; ++v) up.push_back(v);
  for (std::int64_t k = 0; k + 1 < n; ++k) {
    const auto [u, v] = links[k];
    parent[position(v)] = u;
    depth[position(v)] = depth[position(u)] + 1;
    link[position(v)] = k;
    covered[k] = 0;
  }
  // Covered links are contracted, so each is walked once.
  for (std::int64_t p = 0; p < n_pairs; ++p) {
    std::int64_t a = climb(up, pairs[2 * p]), b = climb(up, pairs[2 * p + 1]);
    while (a != b) {
      if (depth[position(a)] < depth[position(b)]) std::swap(a, b);
      covered[link[position(a)]] = 1;
      up[position(a)] = parent[position(a)];
      a = climb(up, a);
    }
  }
}

}  // namespace tacit
