#include "near/reach_forest.hpp"

#include <numeric>

namespace tacit {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

ReachForest::ReachForest(std::int64_t n, const ReachLists& lists, int n_jobs, Poll poll)
    : n_(n),
      n_nearest_(lists.n_nearest),
      lists_(lists),
      n_jobs_(n_jobs),
      poll_(poll),
      distances_(at(n * lists.n_nearest)),
      cores_(at(n)),
      parent_(at(n)),
      component_(at(n)),
      known_(at(n)),
      n_components_(n) {
  std::iota(parent_.begin(), parent_.end(), 0);
  std::iota(component_.begin(), component_.end(), 0);
  edges_.reserve(at(n - 1));
}

void ReachForest::set_core(std::int64_t i, std::vector<std::pair<double, std::int64_t>>& sorted) {
  std::sort(sorted.begin(), sorted.end());
  std::int64_t n_within = 0;
  auto at_core = sorted.begin();
  while ((n_within += at_core->second) < lists_.n_core && at_core + 1 != sorted.end()) ++at_core;
  cores_[at(i)] = at_core->first;
  known_[at(i)] = {at_core->first, kInfinity, kInfinity, -1, false};
}

// Of each object the nearest one of another component among those that are listed, or that was
// found in an earlier round.
void ReachForest::begin_round() {
  bounds_ = std::vector<std::atomic<double>>(at(n_components_));
  for (auto& bound : bounds_) bound.store(kInfinity, std::memory_order_relaxed);
  std::vector<std::int64_t> sizes(at(n_components_));
  for (const std::int32_t component : component_) ++sizes[at(component)];
  largest_ =
      static_cast<std::int32_t>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
  constexpr std::int64_t kRows = 4096;
  for_blocks((n_ + kRows - 1) / kRows, n_jobs_, poll_, [&](std::int64_t b, StopToken& token) {
    Meter meter(token);
    for (std::int64_t i = b * kRows; i < std::min((b + 1) * kRows, n_); ++i) {
      const std::int32_t own = component(i);
      if (own == largest_) continue;
      ReachKnown& known = known_[at(i)];
      if (known.object < 0 || component(known.object) == own) {
        known.object = -1;
        known.sure = false;
        known.reach = known.distance = kInfinity;
        search_list(i, own, known);
        meter.spend(n_nearest_ * 4);
      }
      if (known.object >= 0) lower_to(own, known.reach);
    }
  });
}

void ReachForest::search_list(std::int64_t i, std::int32_t own, ReachKnown& known) const {
  double farthest = 0;
  for (std::int64_t r = 0; r < n_nearest_; ++r) {
    const std::int32_t object = lists_.nearest[i * n_nearest_ + r];
    const double distance = distances_[at(i * n_nearest_ + r)];
    farthest = std::max(farthest, distance);
    if (component(object) != own) take(i, object, distance, known);
  }
  // Others are no nearer than the farthest that is listed; where they are as near, one of them may
  // come first.
  const double beyond = std::max(cores_[at(i)], farthest);
  known.sure = known.object >= 0 &&
               (known.reach < beyond || (known.reach == beyond && known.distance < farthest));
  known.least = std::max(known.least, known.sure ? known.reach : beyond);
}

void ReachForest::take(std::int64_t i, std::int32_t object, double distance,
                       ReachKnown& known) const {
  const double reach = std::max({cores_[at(i)], cores_[at(object)], distance});
  const auto own = static_cast<std::int32_t>(i);
  if (known.object < 0 || reach_edge(reach, distance, own, object) <
                              reach_edge(known.reach, known.distance, own, known.object)) {
    known.reach = reach;
    known.distance = distance;
    known.object = object;
  }
}

void ReachForest::end_round() {
  std::vector<ReachEdge> best(at(n_components_), {kInfinity, kInfinity, -1, -1});
  for (std::int64_t i = 0; i < n_; ++i) {
    const ReachKnown& known = known_[at(i)];
    if (known.object < 0 || component(i) == largest_) continue;
    const ReachEdge edge =
        reach_edge(known.reach, known.distance, static_cast<std::int32_t>(i), known.object);
    ReachEdge& least = best[at(component(i))];
    if (edge < least) least = edge;
  }
  const auto root = [this](std::int32_t i) {
    while (parent_[at(i)] != i) i = parent_[at(i)] = parent_[at(parent_[at(i)])];
    return i;
  };
  for (const ReachEdge& edge : best) {
    if (edge.a < 0) continue;
    const std::int32_t a = root(edge.a), b = root(edge.b);
    if (a == b) continue;
    parent_[at(std::max(a, b))] = std::min(a, b);
    edges_.push_back(edge);
  }
  std::vector<std::int32_t> number(at(n_), -1);
  n_components_ = 0;
  for (std::int64_t i = 0; i < n_; ++i) {
    std::int32_t& of_root = number[at(root(static_cast<std::int32_t>(i)))];
    if (of_root < 0) of_root = static_cast<std::int32_t>(n_components_++);
    component_[at(i)] = of_root;
  }
}

std::vector<ReachEdge> ReachForest::take_edges() {
  std::sort(edges_.begin(), edges_.end());
  return std::move(edges_);
}

}  // namespace tacit
