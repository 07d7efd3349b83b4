#include "near/graph_merges.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tacit {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

struct Edge {
  std::int32_t node;  // what it led to when it was last looked at
  double sum, count;  // of the lengths between the two
};

struct Pair {
  double height;
  std::int32_t first, second;                // first < second
  bool operator<(const Pair& other) const {  // the next one is the greatest of a heap
    if (height != other.height) return height > other.height;
    return first != other.first ? first > other.first : second > other.second;
  }
};

// The mean length of the edges between two clusters.
class Average {
 public:
  double distance(std::int32_t, std::int32_t, const Edge& edge) const {
    return edge.sum / edge.count;
  }
  void join(std::int32_t, std::int32_t, std::int32_t) {}
  std::int64_t steps() const { return 1; }
};

// Ward's distance of centroids. Those of a merge take the place of its first part's.
class Ward {
 public:
  Ward(const WeightedGraph& graph, const double* points, std::int64_t width)
      : width_(width),
        centroids_(points, points + graph.n_objects * width),
        sizes_(at(2 * graph.n_objects)),
        slots_(at(2 * graph.n_objects)) {
    for (std::int64_t i = 0; i < graph.n_objects; ++i) {
      sizes_[at(i)] = static_cast<double>(graph.sizes[i]);
      slots_[at(i)] = i;
    }
  }

  double distance(std::int32_t one, std::int32_t other, const Edge&) const {
    // In the order of numbers, so that it is the same from both ends.
    const double* const x = centroid(std::min(one, other));
    const double* const y = centroid(std::max(one, other));
    double square = 0;
    for (std::int64_t j = 0; j < width_; ++j) square += (x[j] - y[j]) * (x[j] - y[j]);
    const double a = sizes_[at(one)], b = sizes_[at(other)];
    return std::sqrt(2 * (a * b / (a + b)) * square);
  }
  void join(std::int32_t one, std::int32_t other, std::int32_t merged) {
    double* const x = centroids_.data() + slots_[at(one)] * width_;
    const double* const y = centroid(other);
    const double a = sizes_[at(one)], b = sizes_[at(other)];
    for (std::int64_t j = 0; j < width_; ++j) x[j] = (a * x[j] + b * y[j]) / (a + b);
    slots_[at(merged)] = slots_[at(one)];
    sizes_[at(merged)] = a + b;
  }
  std::int64_t steps() const { return width_; }

 private:
  const double* centroid(std::int32_t node) const {
    return centroids_.data() + slots_[at(node)] * width_;
  }

  const std::int64_t width_;
  std::vector<double> centroids_, sizes_;
  std::vector<std::int64_t> slots_;
};

template <class Linkage>
class Agglomeration {
 public:
  Agglomeration(const WeightedGraph& graph, Linkage linkage, Poll poll)
      : n_(graph.n_objects),
        linkage_(std::move(linkage)),
        poller_(poll),
        parent_(at(2 * n_)),
        place_(at(2 * n_), -1),
        sizes_(at(2 * n_)),
        edges_(at(2 * n_)) {
    std::iota(parent_.begin(), parent_.end(), 0);
    for (std::int64_t i = 0; i < n_; ++i) {
      sizes_[at(i)] = graph.sizes[i];
      edges_[at(i)].reserve(at(graph.indptr[i + 1] - graph.indptr[i]));
      for (std::int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e) {
        const std::int32_t j = graph.indices[e];
        const double count =
            static_cast<double>(graph.sizes[i]) * static_cast<double>(graph.sizes[j]);
        edges_[at(i)].push_back({j, graph.distances[e] * count, count});
        if (i < j)
          heap_.push_back({linkage_.distance(static_cast<std::int32_t>(i), j, edges_[at(i)].back()),
                           static_cast<std::int32_t>(i), j});
      }
      spend(static_cast<std::int64_t>(edges_[at(i)].size()));
    }
    std::make_heap(heap_.begin(), heap_.end());
  }

  GraphMerges run() {
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end());
      const Pair pair = heap_.back();
      heap_.pop_back();
      if (is_merged(pair.first) || is_merged(pair.second)) continue;
      merge(pair);
    }
    return std::move(merges_);
  }

 private:
  bool is_merged(std::int32_t node) const { return parent_[at(node)] != node; }
  std::int32_t root(std::int32_t node) {
    while (parent_[at(node)] != node) node = parent_[at(node)] = parent_[at(parent_[at(node)])];
    return node;
  }

  void merge(const Pair& pair) {
    const auto node =
        static_cast<std::int32_t>(n_ + static_cast<std::int64_t>(merges_.first.size()));
    parent_[at(pair.first)] = parent_[at(pair.second)] = node;
    sizes_[at(node)] = sizes_[at(pair.first)] + sizes_[at(pair.second)];
    merges_.first.push_back(pair.first);
    merges_.second.push_back(pair.second);
    merges_.heights.push_back(pair.height);
    merges_.sizes.push_back(sizes_[at(node)]);
    linkage_.join(pair.first, pair.second, node);

    std::vector<Edge> joined;
    joined.reserve(edges_[at(pair.first)].size() + edges_[at(pair.second)].size());
    for (const std::int32_t part : {pair.first, pair.second}) {
      for (const Edge& edge : edges_[at(part)]) {
        const std::int32_t to = root(edge.node);
        if (to == node) continue;
        std::int64_t& place = place_[at(to)];
        if (place < 0) {
          place = static_cast<std::int64_t>(joined.size());
          joined.push_back({to, edge.sum, edge.count});
        } else {
          joined[at(place)].sum += edge.sum;
          joined[at(place)].count += edge.count;
        }
      }
      edges_[at(part)] = {};
    }
    for (const Edge& edge : joined) {
      place_[at(edge.node)] = -1;
      heap_.push_back({linkage_.distance(node, edge.node, edge), edge.node, node});
      std::push_heap(heap_.begin(), heap_.end());
    }
    spend(static_cast<std::int64_t>(joined.size()));
    joined.shrink_to_fit();
    edges_[at(node)] = std::move(joined);
  }

  void spend(std::int64_t n_edges) {
    left_ -= (n_edges + 1) * (linkage_.steps() + 8);
    if (left_ > 0) return;
    poller_.check();
    left_ = kSteps;
  }

  static constexpr std::int64_t kSteps = 1 << 20;
  const std::int64_t n_;
  Linkage linkage_;
  Poller poller_;
  std::int64_t left_ = kSteps;
  std::vector<std::int32_t> parent_;
  std::vector<std::int64_t> place_, sizes_;  // place_: of a node among the edges being joined
  std::vector<std::vector<Edge>> edges_;
  std::vector<Pair> heap_;
  GraphMerges merges_;
};

}  // namespace

GraphMerges average_merges(const WeightedGraph& graph, Poll poll) {
  return Agglomeration<Average>(graph, {}, poll).run();
}

GraphMerges ward_merges(const WeightedGraph& graph, const double* points, std::int64_t width,
                        Poll poll) {
  return Agglomeration<Ward>(graph, Ward(graph, points, width), poll).run();
}

}  // namespace tacit
