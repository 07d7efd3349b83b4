#include "near/reach_tree.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "near/order.hpp"

namespace tacit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int32_t kMixed = -1;  // a box that holds objects of several components

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// What rounding can do to the difference of two coordinates, in units of the objects' scale: a
// product of `width` terms with a vector of norm 1 is off by width · 2^-53 times the norm of its
// row, whose numbers are less than 2.
double rounding_of_coords(std::int64_t width) {
  const auto w = static_cast<double>(width);
  return 0x1p-51 * (w + 8) * std::sqrt(w) * 4;
}

void lower_to(std::atomic<double>& bound, double value) {
  double now = bound.load(std::memory_order_relaxed);
  while (value < now && !bound.compare_exchange_weak(now, value, std::memory_order_relaxed)) {
  }
}

ReachEdge edge_of(double reach, double square, std::int32_t a, std::int32_t b) {
  return {reach, square, std::min(a, b), std::max(a, b)};
}

// What is known of the nearest object of other components.
struct Known {
  double least;          // none of them is reached at less
  double reach, square;  // where the one that was found is
  std::int32_t object;   // -1: none was found
  bool sure;             // whether none comes before it
};

template <class Store>
class Growth {
 public:
  using Rows = typename Store::Rows;

  Growth(const Rows& rows, const double* coords, std::int64_t n_coords, const ReachLists& lists,
         int n_jobs, Poll poll)
      : rows_(rows),
        n_(rows.n_rows),
        n_coords_(n_coords),
        nearest_(lists.nearest),
        n_nearest_(lists.n_nearest),
        scale_(near_scale(rows)),
        slack_(rounding_of_coords(rows.width)),
        shrink_(1 - 0x1p-50 * static_cast<double>(rows.width + n_coords + 64)),
        n_jobs_(n_jobs),
        poll_(poll),
        order_(coords, n_, n_coords, n_coords, n_jobs, poll),
        store_(rows, order_, scale_, n_jobs, poll),
        leaves_(near_boxes(coords, n_coords, order_.objects(), kNearLeaf)),
        branches_(near_boxes(coords, n_coords, order_.objects(), kNearLeaf * kNearBranch)),
        coords_(at(n_ * n_coords)),
        squares_(at(n_ * lists.n_nearest)),
        cores_(at(n_)),
        leaf_core_(at(order_.n_leaves()), kInfinity),
        leaf_component_(at(order_.n_leaves())),
        branch_component_(at(order_.n_branches())),
        component_(at(n_)),
        known_(at(n_)) {
    for (NearBoxes<double>* boxes : {&leaves_, &branches_})
      for (std::vector<double>* sides : {&boxes->lower, &boxes->upper})
        for (double& side : *sides) side *= scale_;
    for (std::size_t i = 0; i < coords_.size(); ++i) coords_[i] = coords[i] * scale_;
    measure_cores(lists);
  }

  ReachTree grow() {
    std::vector<std::int32_t> parent(at(n_));
    std::iota(parent.begin(), parent.end(), 0);
    ReachTree tree{{}, {}, scale_};
    tree.edges.reserve(at(n_ - 1));
    std::iota(component_.begin(), component_.end(), 0);
    n_components_ = n_;
    while (n_components_ > 1) {
      mark_boxes();
      bounds_ = std::vector<std::atomic<double>>(at(n_components_));
      for (auto& bound : bounds_) bound.store(kInfinity, std::memory_order_relaxed);
      look_at_lists();
      look_at_boxes();
      join(parent, tree.edges);
    }
    std::sort(tree.edges.begin(), tree.edges.end());
    tree.cores.assign(cores_.begin(), cores_.end());
    return tree;
  }

 private:
  static constexpr int kGroup = Store::kGroup;

  void measure_cores(const ReachLists& lists) {
    constexpr std::int64_t kRows = 512;
    for_blocks((n_ + kRows - 1) / kRows, n_jobs_, poll_, [&](std::int64_t b, StopToken& token) {
      Meter meter(token);
      std::vector<std::pair<double, std::int64_t>> sorted(at(n_nearest_));
      for (std::int64_t i = b * kRows; i < std::min((b + 1) * kRows, n_); ++i) {
        double* const squares = squares_.data() + i * n_nearest_;
        for (std::int64_t r = 0; r < n_nearest_; ++r) {
          const std::int32_t object = nearest_[i * n_nearest_ + r];
          squares[r] = near_square(rows_, i, rows_, object, scale_);
          sorted[at(r)] = {squares[r], lists.counts[object]};
        }
        std::sort(sorted.begin(), sorted.end());
        std::int64_t n_within = 0;
        auto at_core = sorted.begin();
        while ((n_within += at_core->second) < lists.n_core && at_core + 1 != sorted.end())
          ++at_core;
        cores_[at(i)] = at_core->first;
        known_[at(i)] = {at_core->first, kInfinity, kInfinity, -1, false};
        meter.spend(n_nearest_ * (rows_.width + 8));
      }
    });
    for (std::int64_t p = 0; p < n_; ++p) {
      double& least = leaf_core_[at(p / kNearLeaf)];
      least = std::min(least, cores_[at(order_.objects()[at(p)])]);
    }
  }

  void mark_boxes() {
    const auto mark = [](std::int32_t& box, bool first, std::int32_t component) {
      if (first)
        box = component;
      else if (box != component)
        box = kMixed;
    };
    for (std::int64_t p = 0; p < n_; ++p)
      mark(leaf_component_[at(p / kNearLeaf)], p % kNearLeaf == 0,
           component_[at(order_.objects()[at(p)])]);
    for (std::int64_t l = 0; l < order_.n_leaves(); ++l)
      mark(branch_component_[at(l / kNearBranch)], l % kNearBranch == 0, leaf_component_[at(l)]);
  }

  // Of each object the nearest one of another component among those that are listed, or that was
  // found in an earlier round.
  void look_at_lists() {
    constexpr std::int64_t kRows = 4096;
    for_blocks((n_ + kRows - 1) / kRows, n_jobs_, poll_, [&](std::int64_t b, StopToken& token) {
      Meter meter(token);
      for (std::int64_t i = b * kRows; i < std::min((b + 1) * kRows, n_); ++i) {
        Known& known = known_[at(i)];
        const std::int32_t own = component_[at(i)];
        if (known.object < 0 || component_[at(known.object)] == own) {
          known.object = -1;
          known.sure = false;
          known.reach = known.square = kInfinity;
          search_list(i, own, known);
          meter.spend(n_nearest_ * 4);
        }
        if (known.object >= 0) lower_to(bounds_[at(own)], known.reach);
      }
    });
  }

  void search_list(std::int64_t i, std::int32_t own, Known& known) const {
    double farthest = 0;
    for (std::int64_t r = 0; r < n_nearest_; ++r) {
      const std::int32_t object = nearest_[i * n_nearest_ + r];
      const double square = squares_[at(i * n_nearest_ + r)];
      farthest = std::max(farthest, square);
      if (component_[at(object)] != own) offer(i, object, square, known);
    }
    // Others are no nearer than the farthest that is listed; where they are as near, one of them
    // may come first.
    const double beyond = std::max(cores_[at(i)], farthest);
    known.sure = known.object >= 0 &&
                 (known.reach < beyond || (known.reach == beyond && known.square < farthest));
    known.least = std::max(known.least, known.sure ? known.reach : beyond);
  }

  void offer(std::int64_t i, std::int32_t object, double square, Known& known) const {
    const double reach = std::max({cores_[at(i)], cores_[at(object)], square});
    if (known.object < 0 ||
        edge_of(reach, square, static_cast<std::int32_t>(i), object) <
            edge_of(known.reach, known.square, static_cast<std::int32_t>(i), known.object)) {
      known.reach = reach;
      known.square = square;
      known.object = object;
    }
  }

  bool is_settled(std::int64_t i) const {
    const Known& known = known_[at(i)];
    return known.sure ||
           known.least > bounds_[at(component_[at(i)])].load(std::memory_order_relaxed);
  }

  void look_at_boxes() {
    const std::int64_t n_leaves = order_.n_leaves();
    const std::int64_t n_blocks = std::clamp<std::int64_t>(n_leaves / 4, 1, 256);
    for_blocks(n_blocks, n_jobs_, poll_, [&](std::int64_t b, StopToken& token) {
      Walk walk(*this, token);
      const Range leaves = block_range(n_leaves, n_blocks, b);
      std::vector<std::int64_t> group;
      for (std::int64_t l = leaves.begin; l < leaves.end; ++l) {
        const Range positions = order_.leaf(l);
        for (std::int64_t p = positions.begin; p < positions.end; ++p) {
          const std::int64_t i = order_.objects()[at(p)];
          if (is_settled(i)) continue;
          group.push_back(i);
          if (static_cast<int>(group.size()) == kGroup) walk.run(group);
        }
        if (!group.empty()) walk.run(group);
      }
    });
  }

  // A group of objects of one leaf on its way through the boxes, nearest branches first.
  class Walk {
   public:
    Walk(Growth& growth, StopToken& token)
        : g_(growth),
          probe_(growth.store_, growth.rows_),
          lower_(at(growth.n_coords_)),
          upper_(at(growth.n_coords_)),
          meter_(token) {}

    void run(std::vector<std::int64_t>& group) {
      group_.swap(group);
      group.clear();
      n_ = static_cast<int>(group_.size());
      enclose();
      probe_.begin(group_.data(), n_);
      stops_.clear();
      for (std::int64_t b = 0; b < g_.order_.n_branches(); ++b) {
        const double square = group_bound(g_.branches_, b);
        if (square <= widest() && any_foreign(g_.branch_component_[at(b)]))
          stops_.push_back({square, b});
      }
      std::sort(stops_.begin(), stops_.end());
      meter_.spend(g_.order_.n_branches() * g_.n_coords_);
      for (const auto& [square, branch] : stops_) {
        if (square > widest()) break;
        visit(branch);
      }
      for (int q = 0; q < n_; ++q) {
        // What was passed over is beyond the bound of the time, which only falls.
        Known& known = g_.known_[at(group_[at(q)])];
        const double passed = bound(q);
        known.sure = known.object >= 0 && known.reach <= passed;
        known.least = std::max(known.least, passed);
      }
    }

   private:
    // An object of a component needs nothing beyond this.
    double bound(int q) const {
      const std::int64_t i = group_[at(q)];
      const double of_component =
          g_.bounds_[at(g_.component_[at(i)])].load(std::memory_order_relaxed);
      return std::min(g_.known_[at(i)].reach, of_component);
    }
    double widest() const {
      double most = 0;
      for (int q = 0; q < n_; ++q) most = std::max(most, bound(q));
      return most;
    }
    bool any_foreign(std::int32_t component) const {
      if (component == kMixed) return true;
      for (int q = 0; q < n_; ++q)
        if (g_.component_[at(group_[at(q)])] != component) return true;
      return false;
    }

    void enclose() {
      for (std::int64_t j = 0; j < g_.n_coords_; ++j) {
        lower_[at(j)] = kInfinity, upper_[at(j)] = -kInfinity;
        for (const std::int64_t i : group_) {
          lower_[at(j)] = std::min(lower_[at(j)], g_.coords_[at(i * g_.n_coords_ + j)]);
          upper_[at(j)] = std::max(upper_[at(j)], g_.coords_[at(i * g_.n_coords_ + j)]);
        }
      }
    }

    double group_bound(const NearBoxes<double>& boxes, std::int64_t box) const {
      const double* const lower = boxes.lower.data() + box * g_.n_coords_;
      const double* const upper = boxes.upper.data() + box * g_.n_coords_;
      double square = 0;
      for (std::int64_t j = 0; j < g_.n_coords_; ++j) {
        const double gap = std::max(lower[j] - upper_[at(j)], lower_[at(j)] - upper[j]) - g_.slack_;
        if (gap > 0) square += gap * gap;
      }
      return square * g_.shrink_;
    }

    double object_bound(std::int64_t i, std::int64_t leaf) const {
      const double* const lower = g_.leaves_.lower.data() + leaf * g_.n_coords_;
      const double* const upper = g_.leaves_.upper.data() + leaf * g_.n_coords_;
      const double* const z = g_.coords_.data() + i * g_.n_coords_;
      double square = 0;
      for (std::int64_t j = 0; j < g_.n_coords_; ++j) {
        const double gap = std::max(lower[j] - z[j], z[j] - upper[j]) - g_.slack_;
        if (gap > 0) square += gap * gap;
      }
      return square * g_.shrink_;
    }

    void visit(std::int64_t branch) {
      const Range leaves = g_.order_.branch(branch);
      std::pair<double, std::int64_t> stops[kNearBranch];
      int n_stops = 0;
      for (std::int64_t l = leaves.begin; l < leaves.end; ++l)
        if (any_foreign(g_.leaf_component_[at(l)]))
          stops[n_stops++] = {std::max(group_bound(g_.leaves_, l), g_.leaf_core_[at(l)]), l};
      std::sort(stops, stops + n_stops);
      meter_.spend(kNearBranch * g_.n_coords_);
      for (int s = 0; s < n_stops; ++s) {
        const auto [least, leaf] = stops[s];
        if (least > widest()) break;
        search(leaf);
      }
    }

    void search(std::int64_t leaf) {
      int active[kGroup], n_active = 0;
      double limits[kGroup];
      for (int q = 0; q < n_; ++q) {
        const std::int64_t i = group_[at(q)];
        limits[q] = bound(q);
        if (g_.component_[at(i)] == g_.leaf_component_[at(leaf)]) continue;
        if (std::max(object_bound(i, leaf), g_.leaf_core_[at(leaf)]) <= limits[q])
          active[n_active++] = q;
      }
      meter_.spend(n_ * g_.n_coords_);
      if (n_active == 0) return;
      for (const NearBounds& found : probe_.leaf(leaf, active, n_active, limits)) {
        const std::int64_t i = group_[at(found.query)];
        const std::int32_t object = g_.order_.objects()[at(found.position)];
        if (g_.component_[at(object)] == g_.component_[at(i)]) continue;
        const double most = bound(found.query);
        if (found.low > most || g_.cores_[at(object)] > most) continue;
        const double square = near_square(g_.rows_, i, g_.rows_, object, g_.scale_);
        g_.offer(i, object, square, g_.known_[at(i)]);
        lower_to(g_.bounds_[at(g_.component_[at(i)])], g_.known_[at(i)].reach);
      }
      meter_.spend(n_active * kNearLeaf * (g_.rows_.width + 16) / 8);
    }

    Growth& g_;
    typename Store::Probe probe_;
    std::vector<std::int64_t> group_;
    std::vector<double> lower_, upper_;
    std::vector<std::pair<double, std::int64_t>> stops_;
    Meter meter_;
    int n_ = 0;
  };

  void join(std::vector<std::int32_t>& parent, std::vector<ReachEdge>& edges) {
    std::vector<ReachEdge> best(at(n_components_), {kInfinity, kInfinity, -1, -1});
    for (std::int64_t i = 0; i < n_; ++i) {
      const Known& known = known_[at(i)];
      if (known.object < 0) continue;
      const ReachEdge edge =
          edge_of(known.reach, known.square, static_cast<std::int32_t>(i), known.object);
      ReachEdge& least = best[at(component_[at(i)])];
      if (edge < least) least = edge;
    }
    const auto root = [&parent](std::int32_t i) {
      while (parent[at(i)] != i) i = parent[at(i)] = parent[at(parent[at(i)])];
      return i;
    };
    for (const ReachEdge& edge : best) {
      if (edge.a < 0) continue;
      const std::int32_t a = root(edge.a), b = root(edge.b);
      if (a == b) continue;
      parent[at(std::max(a, b))] = std::min(a, b);
      edges.push_back(edge);
    }
    std::vector<std::int32_t> number(at(n_), -1);
    n_components_ = 0;
    for (std::int64_t i = 0; i < n_; ++i) {
      std::int32_t& of_root = number[at(root(static_cast<std::int32_t>(i)))];
      if (of_root < 0) of_root = static_cast<std::int32_t>(n_components_++);
      component_[at(i)] = of_root;
    }
  }

  const Rows rows_;
  const std::int64_t n_, n_coords_;
  const std::int32_t* const nearest_;
  const std::int64_t n_nearest_;
  const double scale_, slack_, shrink_;
  const int n_jobs_;
  const Poll poll_;
  NearOrder order_;
  Store store_;
  NearBoxes<double> leaves_, branches_;
  Buffer<double> coords_, squares_;  // squares_: of the listed distances
  std::vector<double> cores_, leaf_core_;
  std::vector<std::int32_t> leaf_component_, branch_component_, component_;
  std::vector<Known> known_;
  std::vector<std::atomic<double>> bounds_;  // of each component: at which it reaches another
  std::int64_t n_components_ = 0;
};

}  // namespace

template <class Store>
ReachTree reach_tree(const typename Store::Rows& rows, const double* coords, std::int64_t n_coords,
                     const ReachLists& lists, int n_jobs, Poll poll) {
  return Growth<Store>(rows, coords, n_coords, lists, n_jobs, poll).grow();
}

#define TACIT_INSTANTIATE(Store)                                                        \
  template ReachTree reach_tree<Store>(const Store::Rows&, const double*, std::int64_t, \
                                       const ReachLists&, int, Poll);
TACIT_INSTANTIATE(DenseStore<float>)
TACIT_INSTANTIATE(DenseStore<double>)
TACIT_INSTANTIATE(SparseStore<float>)
TACIT_INSTANTIATE(SparseStore<double>)
#undef TACIT_INSTANTIATE

}  // namespace tacit
