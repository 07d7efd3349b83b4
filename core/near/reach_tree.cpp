#include "near/reach_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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

template <class Store>
class Growth {
 public:
  using Rows = typename Store::Rows;

  Growth(const Rows& rows, const double* coords, std::int64_t n_coords, const ReachLists& lists,
         int n_jobs, Poll poll)
      : rows_(rows),
        n_(rows.n_rows),
        n_coords_(n_coords),
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
        leaf_core_(at(order_.n_leaves()), kInfinity),
        leaf_component_(at(order_.n_leaves())),
        branch_component_(at(order_.n_branches())),
        forest_(n_, lists, n_jobs, poll) {
    for (NearBoxes<double>* boxes : {&leaves_, &branches_})
      for (std::vector<double>* sides : {&boxes->lower, &boxes->upper})
        for (double& side : *sides) side *= scale_;
    for (std::size_t i = 0; i < coords_.size(); ++i) coords_[i] = coords[i] * scale_;
    forest_.measure(
        [&](std::int64_t i, std::int64_t j) { return near_square(rows_, i, rows_, j, scale_); },
        rows_.width);
    for (std::int64_t p = 0; p < n_; ++p) {
      double& least = leaf_core_[at(p / kNearLeaf)];
      least = std::min(least, forest_.core(order_.objects()[at(p)]));
    }
  }

  ReachTree grow() {
    while (forest_.n_components() > 1) {
      mark_boxes();
      forest_.begin_round();
      look_at_boxes();
      forest_.end_round();
    }
    return {forest_.take_edges(), forest_.cores(), scale_};
  }

 private:
  static constexpr int kGroup = Store::kGroup;

  void mark_boxes() {
    const auto mark = [](std::int32_t& box, bool first, std::int32_t component) {
      if (first)
        box = component;
      else if (box != component)
        box = kMixed;
    };
    for (std::int64_t p = 0; p < n_; ++p)
      mark(leaf_component_[at(p / kNearLeaf)], p % kNearLeaf == 0,
           forest_.component(order_.objects()[at(p)]));
    for (std::int64_t l = 0; l < order_.n_leaves(); ++l)
      mark(branch_component_[at(l / kNearBranch)], l % kNearBranch == 0, leaf_component_[at(l)]);
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
          if (forest_.is_settled(i)) continue;
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
      for (int q = 0; q < n_; ++q) g_.forest_.finish(group_[at(q)]);
    }

   private:
    double bound(int q) const { return g_.forest_.bound(group_[at(q)]); }
    double widest() const {
      double most = 0;
      for (int q = 0; q < n_; ++q) most = std::max(most, bound(q));
      return most;
    }
    bool any_foreign(std::int32_t component) const {
      if (component == kMixed) return true;
      for (int q = 0; q < n_; ++q)
        if (g_.forest_.component(group_[at(q)]) != component) return true;
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
        if (g_.forest_.component(i) == g_.leaf_component_[at(leaf)]) continue;
        if (std::max(object_bound(i, leaf), g_.leaf_core_[at(leaf)]) <= limits[q])
          active[n_active++] = q;
      }
      meter_.spend(n_ * g_.n_coords_);
      if (n_active == 0) return;
      for (const NearBounds& found : probe_.leaf(leaf, active, n_active, limits)) {
        const std::int64_t i = group_[at(found.query)];
        const std::int32_t object = g_.order_.objects()[at(found.position)];
        if (g_.forest_.component(object) == g_.forest_.component(i)) continue;
        const double most = bound(found.query);
        if (found.low > most || g_.forest_.core(object) > most) continue;
        g_.forest_.offer(i, object, near_square(g_.rows_, i, g_.rows_, object, g_.scale_));
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

  const Rows rows_;
  const std::int64_t n_, n_coords_;
  const double scale_, slack_, shrink_;
  const int n_jobs_;
  const Poll poll_;
  NearOrder order_;
  Store store_;
  NearBoxes<double> leaves_, branches_;
  Buffer<double> coords_;
  std::vector<double> leaf_core_;
  std::vector<std::int32_t> leaf_component_, branch_component_;
  ReachForest forest_;
};

}  // namespace

template <class Store>
ReachTree reach_tree(const typename Store::Rows& rows, const double* coords, std::int64_t n_coords,
                     const ReachLists& lists, int n_jobs, Poll poll) {
  return Growth<Store>(rows, coords, n_coords, lists, n_jobs, poll).grow();
}

ReachTree cosine_reach_tree(const CosineIndex& index, const ReachLists& lists, int n_jobs,
                            Poll poll) {
  const std::int64_t n = index.n_rows();
  ReachForest forest(n, lists, n_jobs, poll);
  forest.measure([&](std::int64_t i, std::int64_t j) { return index.distance(i, j); },
                 4 * index.mean_length());
  std::vector<std::int32_t> open;
  while (forest.n_components() > 1) {
    forest.begin_round();
    open.clear();
    for (std::int64_t i = 0; i < n; ++i)
      if (!forest.is_settled(i)) open.push_back(static_cast<std::int32_t>(i));
    index.reach_others(open, forest, n_jobs, poll);
    forest.end_round();
  }
  return {forest.take_edges(), forest.cores(), 0};
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
