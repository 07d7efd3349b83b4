#include "junction/order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>

#include "base/uniform.hpp"

namespace tacit {
namespace {

using Vertex = std::uint32_t;
using Vertices = std::vector<Vertex>;

// Sums up what an order costs, from the neighbours that each vertex had. A clique that is part of
// the one before it is not maximal and costs nothing.
void measure(const InteractionGraph& graph, Elimination& elimination) {
  const std::size_t n = graph.size();
  std::vector<std::size_t> position(n), widest(n, 0);
  for (std::size_t k = 0; k < n; ++k) position[elimination.order[k]] = k;
  elimination.cells = elimination.largest = 0;
  elimination.width = 0;
  for (const Vertex v : elimination.order) {
    const Vertices& later = elimination.later[v];
    if (!later.empty()) {
      const Vertex next = *std::min_element(later.begin(), later.end(), [&](Vertex a, Vertex b) {
        return position[a] < position[b];
      });
      widest[next] = std::max(widest[next], later.size());
    }
    if (widest[v] == later.size() + 1) continue;
    double cells = graph.sizes[v];
    for (const Vertex u : later) cells *= graph.sizes[u];
    elimination.cells += cells;
    elimination.largest = std::max(elimination.largest, cells);
    elimination.width = std::max(elimination.width, later.size() + 1);
  }
}

enum class Rule { kFill, kWeightedFill, kWeight };

// One greedy elimination. For every vertex that is left it knows how many pairs of its neighbours
// are not joined, and the weighted sum of those pairs; both are kept up to date edge by edge.
class Greedy {
 public:
  Greedy(const InteractionGraph& graph, Rule rule, std::uint64_t seed)
      : graph_(graph),
        rule_(rule),
        seed_(seed),
        spread_(seed ? std::exp2(static_cast<double>(seed / 3 % 4) - 1) : 0),
        adjacent_(graph.neighbours),
        missing_(graph.size()),
        weighted_(graph.size()),
        size_sum_(graph.size(), 0),
        log_cells_(graph.size(), 0),
        stamp_(graph.size(), 0),
        gone_(graph.size(), 0),
        is_last_(graph.size(), 0),
        marked_(graph.size(), 0),
        touched_(graph.size(), 0) {
    for (const Vertex v : graph.last) is_last_[v] = 1;
    for (Vertex v = 0; v < graph.size(); ++v) {
      log_cells_[v] = log_size(v);
      for (const Vertex u : adjacent_[v]) add_neighbour(v, u, 1);
    }
  }

  // False, and nothing of use in `elimination`, if a clique has more cells than the bound.
  bool run(double bound, Elimination& elimination, Poller& poller) {
    elimination.order.clear();
    elimination.later.assign(graph_.size(), {});
    for (Vertex v = 0; v < graph_.size(); ++v)
      if (!is_last_[v]) {  // the last ones are all joined when their turn comes
        count_missing(v);
        push(v);
      }
    while (!heap_.empty()) {
      const Entry top = heap_.top();
      heap_.pop();
      const Vertex v = std::get<2>(top);
      if (gone_[v] || std::get<3>(top) != stamp_[v]) continue;
      if (clique_cells(v) > bound) return false;
      elimination.later[v] = adjacent_[v];
      elimination.order.push_back(v);
      remove(v);
      poller.check();
    }
    for (const Vertex v : graph_.last) {
      elimination.later[v] = adjacent_[v];
      elimination.order.push_back(v);
      remove(v);
    }
    measure(graph_, elimination);
    return true;
  }

 private:
  using Entry = std::tuple<double, double, Vertex, std::uint32_t>;  // smallest first

  // In multiples of 2^-20, so that sums are exact however they came about.
  double log_size(Vertex v) const {
    return std::nearbyint(std::log2(graph_.sizes[v]) * 0x1p+20) * 0x1p-20;
  }

  void add_neighbour(Vertex v, Vertex u, double times) {
    size_sum_[v] += times * graph_.sizes[u];
    log_cells_[v] += times * log_size(u);
  }

  void mark(const Vertices& vertices, char value) {
    for (const Vertex u : vertices) marked_[u] = value;
  }

  void count_missing(Vertex v) {
    const Vertices& around = adjacent_[v];
    mark(around, 1);
    std::int64_t pairs = 0;  // ordered ones
    double sum = 0, squares = 0, joined = 0;
    for (const Vertex a : around) {
      const double weight = graph_.sizes[a];
      sum += weight;
      squares += weight * weight;
      const auto join = [&](Vertex b) {
        ++pairs;
        joined += weight * graph_.sizes[b];
      };
      const Vertices& others = adjacent_[a];
      if (others.size() > 16 * around.size()) {
        for (const Vertex b : around)
          if (std::binary_search(others.begin(), others.end(), b)) join(b);
      } else {
        for (const Vertex b : others)
          if (marked_[b]) join(b);
      }
    }
    mark(around, 0);
    const auto degree = static_cast<std::int64_t>(around.size());
    missing_[v] = (degree * (degree - 1) - pairs) / 2;
    weighted_[v] = (sum * sum - squares - joined) / 2;
  }

  double clique_cells(Vertex v) const {
    double cells = graph_.sizes[v];
    for (const Vertex u : adjacent_[v]) cells *= graph_.sizes[u];
    return cells;
  }

  void push(Vertex v) {
    ++stamp_[v];
    double first = -1, second = log_cells_[v];
    if (missing_[v] > 0) {
      const auto missing = static_cast<double>(missing_[v]);
      const std::uint64_t key = (static_cast<std::uint64_t>(stamp_[v]) << 32) ^ v;
      const double factor = seed_ ? std::exp2(spread_ * (uniform_at(seed_, key) - 0.5)) : 1;
      if (rule_ == Rule::kWeight) {
        first = log_cells_[v] + std::log2(factor);
        second = missing;
      } else {
        first = factor * (rule_ == Rule::kFill ? missing : weighted_[v]);
      }
    }
    heap_.push({first, second, v, stamp_[v]});
  }

  void touch(Vertex v) {
    if (touched_[v] || gone_[v]) return;
    touched_[v] = 1;
    changed_.push_back(v);
  }

  void remove(Vertex v) {
    gone_[v] = 1;
    const Vertices around = std::move(adjacent_[v]);
    const bool join = missing_[v] > 0 && !is_last_[v];
    if (join) mark(around, 1);
    for (const Vertex u : around) {
      Vertices& others = adjacent_[u];
      others.erase(std::lower_bound(others.begin(), others.end(), v));
      add_neighbour(u, v, -1);
      // Pairs of v and a neighbour of u that v does not have.
      auto strangers = static_cast<std::int64_t>(others.size());
      double sizes = size_sum_[u];
      if (join) {
        for (const Vertex w : others)
          if (marked_[w]) --strangers, sizes -= graph_.sizes[w];
      } else {
        strangers -= static_cast<std::int64_t>(around.size()) - 1;
        sizes -= size_sum_[v] - graph_.sizes[u];
      }
      missing_[u] -= strangers;
      weighted_[u] -= graph_.sizes[v] * sizes;
      touch(u);
    }
    if (join) mark(around, 0);
    if (join)
      for (std::size_t i = 0; i + 1 < around.size(); ++i) join_rest(around, i);
    for (const Vertex u : changed_) {
      touched_[u] = 0;
      if (!is_last_[u]) push(u);
    }
    changed_.clear();
  }

  // Adds the edges between one of the vertices and those behind it.
  void join_rest(const Vertices& around, std::size_t i) {
    const Vertex a = around[i];
    for (std::size_t j = i + 1; j < around.size(); ++j) {
      const Vertex b = around[j];
      Vertices &of_a = adjacent_[a], &of_b = adjacent_[b];
      const auto position = std::lower_bound(of_a.begin(), of_a.end(), b);
      if (position != of_a.end() && *position == b) continue;
      count_edge(a, b);
      of_a.insert(position, b);
      of_b.insert(std::lower_bound(of_b.begin(), of_b.end(), a), a);
      add_neighbour(a, b, 1);
      add_neighbour(b, a, 1);
    }
  }

  // What a new edge changes: one pair less for those that know both ends, and new pairs at its
  // ends.
  void count_edge(Vertex a, Vertex b) {
    const double weight_a = graph_.sizes[a], weight_b = graph_.sizes[b];
    auto x = adjacent_[a].begin(), y = adjacent_[b].begin();
    const auto x_end = adjacent_[a].end(), y_end = adjacent_[b].end();
    while (x != x_end || y != y_end) {
      if (y == y_end || (x != x_end && *x < *y)) {
        ++missing_[a];
        weighted_[a] += weight_b * graph_.sizes[*x++];
      } else if (x == x_end || *y < *x) {
        ++missing_[b];
        weighted_[b] += weight_a * graph_.sizes[*y++];
      } else {
        --missing_[*x];
        weighted_[*x] -= weight_a * weight_b;
        touch(*x);
        ++x, ++y;
      }
    }
  }

  const InteractionGraph& graph_;
  const Rule rule_;
  const std::uint64_t seed_;
  const double spread_;  // of the random factors, as a power of two
  std::vector<Vertices> adjacent_;
  std::vector<std::int64_t> missing_;
  std::vector<double> weighted_, size_sum_, log_cells_;
  std::vector<std::uint32_t> stamp_;
  std::vector<char> gone_, is_last_, marked_, touched_;
  Vertices changed_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> heap_;
};

}  // namespace

Elimination eliminate_in_order(const InteractionGraph& graph,
                               const std::vector<std::uint32_t>& order) {
  const std::size_t n = graph.size();
  std::vector<std::size_t> position(n);
  for (std::size_t k = 0; k < n; ++k) position[order[k]] = k;
  Elimination result;
  result.order = order;
  result.later.assign(n, {});
  for (Vertex v = 0; v < n; ++v)
    for (const Vertex u : graph.neighbours[v])
      if (position[u] > position[v]) result.later[v].push_back(u);
  // Handing the neighbours on to the first of them is enough: it hands them on in its turn.
  Vertices merged;
  for (const Vertex v : order) {
    const Vertices& later = result.later[v];
    if (later.size() < 2) continue;
    const Vertex next = *std::min_element(
        later.begin(), later.end(), [&](Vertex a, Vertex b) { return position[a] < position[b]; });
    merged.clear();
    std::set_union(later.begin(), later.end(), result.later[next].begin(), result.later[next].end(),
                   std::back_inserter(merged));
    merged.erase(std::lower_bound(merged.begin(), merged.end(), next));
    result.later[next].swap(merged);
  }
  measure(graph, result);
  return result;
}

Elimination cheapest_elimination(const InteractionGraph& graph, int n_tries,
                                 const std::vector<std::uint32_t>* known, Poll poll) {
  constexpr Rule kRules[] = {Rule::kWeightedFill, Rule::kFill, Rule::kWeight};
  Poller poller(poll);
  Elimination best;
  if (graph.size() == 0) return best;
  best.cells = std::numeric_limits<double>::infinity();
  if (known || n_tries < 1) {
    std::vector<std::uint32_t> in_turn(graph.size());
    for (Vertex v = 0; v < graph.size(); ++v) in_turn[v] = v;
    best = eliminate_in_order(graph, known ? *known : in_turn);
  }
  Elimination candidate;
  for (int k = 0; k < n_tries; ++k) {
    const auto seed = static_cast<std::uint64_t>(k < 3 ? 0 : k);
    if (!Greedy(graph, kRules[k % 3], seed).run(best.cells, candidate, poller)) continue;
    if (best.order.size() < graph.size() || candidate.cells < best.cells)
      std::swap(best, candidate);
  }
  return best;
}

}  // namespace tacit
