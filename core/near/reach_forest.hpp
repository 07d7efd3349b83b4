// What all ways to grow a minimum spanning tree of mutual reachability share: Borůvka's rounds.
//
// Every component but the largest is joined to the one that it reaches first. An object looks for
// the nearest one of other components no more often than it must: what it has found stays the
// nearest until that is of its own component, what it has not found bounds what there is, and its
// component needs nothing beyond the best that any of its objects knows.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/records.hpp"

namespace tacit {

struct ReachEdge {
  double reach, distance;  // at which the ends reach each other, and how far apart they are
  std::int32_t a, b;       // a < b
  // One order of all edges, so that the tree is one and the same whatever is found first.
  bool operator<(const ReachEdge& other) const {
    if (reach != other.reach) return reach < other.reach;
    if (distance != other.distance) return distance < other.distance;
    return a != other.a ? a < other.a : b < other.b;
  }
};

inline ReachEdge reach_edge(double reach, double distance, std::int32_t a, std::int32_t b) {
  return {reach, distance, std::min(a, b), std::max(a, b)};
}

// The n_nearest nearest objects of each, the object itself among them.
struct ReachLists {
  const std::int32_t* nearest;  // n_nearest for each object
  std::int64_t n_nearest;
  std::int64_t n_core;         // at most the objects that n_nearest rows, or all, stand for
  const std::int64_t* counts;  // how many objects at one place each row stands for
};

// What an object knows of the nearest object of other components.
struct ReachKnown {
  double least;            // none of them is reached at less
  double reach, distance;  // where the one that was found is
  std::int32_t object;     // -1: none was found
  bool sure;               // whether none comes before it
};

class ReachForest {
 public:
  ReachForest(std::int64_t n, const ReachLists& lists, int n_jobs, Poll poll);

  // Sets the core distances; distance(i, j) of listed pairs costs so many steps.
  template <class Distance>
  void measure(const Distance& distance, std::int64_t steps) {
    constexpr std::int64_t kRows = 512;
    for_blocks((n_ + kRows - 1) / kRows, n_jobs_, poll_, [&](std::int64_t b, StopToken& token) {
      Meter meter(token);
      std::vector<std::pair<double, std::int64_t>> sorted(static_cast<std::size_t>(n_nearest_));
      for (std::int64_t i = b * kRows; i < std::min((b + 1) * kRows, n_); ++i) {
        for (std::int64_t r = 0; r < n_nearest_; ++r) {
          const std::int32_t object = lists_.nearest[i * n_nearest_ + r];
          const double far = distance(i, object);
          distances_[static_cast<std::size_t>(i * n_nearest_ + r)] = far;
          sorted[static_cast<std::size_t>(r)] = {far, lists_.counts[object]};
        }
        set_core(i, sorted);
        meter.spend(n_nearest_ * (steps + 8));
      }
    });
  }

  std::int64_t n_components() const { return n_components_; }
  std::int32_t component(std::int64_t i) const { return component_[static_cast<std::size_t>(i)]; }
  double core(std::int64_t i) const { return cores_[static_cast<std::size_t>(i)]; }
  const std::vector<double>& cores() const { return cores_; }
  const ReachKnown& known(std::int64_t i) const { return known_[static_cast<std::size_t>(i)]; }

  // A round: what the lists know, what searches find of objects that are not settled, the joining.
  void begin_round();
  bool is_settled(std::int64_t i) const {
    const std::int32_t own = component(i);
    return own == largest_ || known(i).sure || known(i).least > bound_of(own);
  }
  // An object needs nothing beyond this; it falls while a round goes on.
  double bound(std::int64_t i) const { return std::min(known(i).reach, bound_of(component(i))); }
  // An object of another component; each object is searched for by one thread.
  void offer(std::int64_t i, std::int32_t object, double distance) {
    ReachKnown& known = known_[static_cast<std::size_t>(i)];
    take(i, object, distance, known);
    lower_to(component(i), known.reach);
  }
  // What was passed over is beyond the bound of its time, which only falls.
  void finish(std::int64_t i) {
    ReachKnown& known = known_[static_cast<std::size_t>(i)];
    const double passed = bound(i);
    known.sure = known.object >= 0 && known.reach <= passed;
    known.least = std::max(known.least, passed);
  }
  void end_round();

  // Of the finished tree, ascending.
  std::vector<ReachEdge> take_edges();

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  double bound_of(std::int32_t component) const {
    return bounds_[static_cast<std::size_t>(component)].load(std::memory_order_relaxed);
  }
  void lower_to(std::int32_t component, double value) {
    std::atomic<double>& bound = bounds_[static_cast<std::size_t>(component)];
    double now = bound.load(std::memory_order_relaxed);
    while (value < now && !bound.compare_exchange_weak(now, value, std::memory_order_relaxed)) {
    }
  }
  void set_core(std::int64_t i, std::vector<std::pair<double, std::int64_t>>& sorted);
  void search_list(std::int64_t i, std::int32_t own, ReachKnown& known) const;
  void take(std::int64_t i, std::int32_t object, double distance, ReachKnown& known) const;

  const std::int64_t n_, n_nearest_;
  const ReachLists lists_;
  const int n_jobs_;
  const Poll poll_;
  Buffer<double> distances_;  // of the listed ones
  std::vector<double> cores_;
  std::vector<std::int32_t> parent_, component_;
  std::vector<ReachKnown> known_;
  std::vector<std::atomic<double>> bounds_;  // of each component: at which it reaches another
  std::vector<ReachEdge> edges_;
  std::int64_t n_components_;
  std::int32_t largest_ = -1;  // looks for nothing: all others find an edge, and that is enough
};

}  // namespace tacit
