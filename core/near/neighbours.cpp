#include "near/neighbours.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "near/best.hpp"

namespace tacit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Whether cells from lower to upper include one that is near.
bool touch(const std::int32_t* lower, const std::int32_t* upper, const std::int32_t* first,
           const std::int32_t* last, std::int64_t n_dimensions) {
  for (std::int64_t j = 0; j < n_dimensions; ++j)
    if (upper[j] < first[j] || lower[j] > last[j]) return false;
  return true;
}

// The part of all objects from which on it is better to read them for many queries together.
constexpr double kLittle = 0.1;

// How many blocks queries are divided into: enough for all threads, with several groups in each.
std::int64_t divided(std::int64_t n_queries, int few, int many, int n_jobs) {
  const std::int64_t n_groups = (n_queries + few - 1) / few;
  const std::int64_t n_large = std::min<std::int64_t>(n_queries / (4 * many), 64);
  return std::clamp<std::int64_t>(n_groups / 4, 1, std::max<std::int64_t>(n_large, 4 * n_jobs));
}

// What rounding can do to the difference of a coordinate of an object and one of a query, in units
// of the objects' scale: a product of `width` terms with a vector of norm 1 is off by width · 2^-53
// times the norm of its row, whose numbers are less than 2, or less than 2 · ratio for a query.
double rounding_of_coords(std::int64_t width, double ratio) {
  const auto w = static_cast<double>(width);
  return 0x1p-51 * (w + 8) * std::sqrt(w) * 2 * (1 + ratio);
}

double norm_of(const DenseNumbers<double>& rows, std::int64_t r, double scale) {
  double square = 0;
  for (std::int64_t j = 0; j < rows.width; ++j) {
    const double x = rows.numbers[r * rows.width + j] * scale;
    square += x * x;
  }
  return std::sqrt(square);
}

// How far a query sees: cells from first to last are near.
class NearView {
 public:
  NearView(const NearGrid& grid, std::int64_t n_queries)
      : grid_(grid),
        n_(grid.queries.n_dimensions),
        radius_(static_cast<std::size_t>(n_queries * n_), 1),
        first_(radius_.size()),
        last_(radius_.size()) {
    for (std::int64_t q = 0; q < n_queries; ++q) position(q);
  }

  const std::int32_t* first(std::int64_t query) const { return first_.data() + query * n_; }
  const std::int32_t* last(std::int64_t query) const { return last_.data() + query * n_; }

  // Looks as far as a distance in the projection, or, if that is infinite, at twice as many cells
  // in each direction. False if all that is seen already.
  bool widen(std::int64_t query, double distance) {
    bool wider = false;
    for (std::int64_t j = 0; j < n_; ++j) {
      std::int32_t& radius = radius_[static_cast<std::size_t>(query * n_ + j)];
      const std::int32_t needed = radius_for(query, j, distance);
      if (needed <= radius) continue;
      wider = true;
      radius = std::isfinite(distance) ? needed : radius + std::min(needed - radius, radius);
    }
    position(query);
    return wider;
  }

 private:
  // The least number of cells in each direction that leaves nothing closer than a distance out.
  std::int32_t radius_for(std::int64_t query, std::int64_t j, double distance) const {
    const std::int32_t cell = grid_.queries.cells[query * n_ + j];
    const std::int32_t above = grid_.resolution[j] - 1 - cell;
    if (grid_.widths[j] <= 0) return 0;
    const double into = grid_.positions[query * n_ + j] - cell, cells = distance / grid_.widths[j];
    return std::max(cells_within(cells - into, cell), cells_within(cells - 1 + into, above));
  }
  static std::int32_t cells_within(double cells, std::int32_t most) {
    const double whole = std::ceil(cells);
    return whole < most ? static_cast<std::int32_t>(std::max(whole, 0.0)) : most;
  }
  void position(std::int64_t query) {
    for (std::int64_t j = 0; j < n_; ++j) {
      const auto at = static_cast<std::size_t>(query * n_ + j);
      const std::int32_t cell = grid_.queries.cells[at];
      first_[at] = std::max(cell - radius_[at], 0);
      last_[at] = std::min(cell + radius_[at], grid_.resolution[j] - 1);
    }
  }

  const NearGrid& grid_;
  const std::int64_t n_;
  std::vector<std::int32_t> radius_, first_, last_;  // of each query in each dimension
};

}  // namespace

// A group of queries on its way through the leaves, nearest branches first.
template <class Store>
class NearWalk {
 public:
  static constexpr int kMost = Store::kMostGroup;  // queries of a group
  using Rows = typename Store::Rows;

  NearWalk(const NearIndex<Store>& index, const Rows& queries, const double* coords, double slack,
           const NearView& view, std::int64_t n_dimensions, const NearNarrow& narrow,
           std::int64_t k, StopToken& token)
      : index_(index),
        queries_(queries),
        coords_(coords),
        slack_(slack),
        view_(view),
        n_dimensions_(n_dimensions),
        n_coords_(index.order_.n_coords()),
        k_(k),
        // Sums of squares are off by less than this, as are distances.
        shrink_(1 - 0x1p-50 * static_cast<double>(queries.width + n_coords_ + 64)),
        probe_(index.store_, queries),
        z_(static_cast<std::size_t>(n_coords_ * kMost)),
        lower_(static_cast<std::size_t>(n_coords_)),
        upper_(static_cast<std::size_t>(n_coords_)),
        first_cell_(static_cast<std::size_t>(n_dimensions)),
        last_cell_(static_cast<std::size_t>(n_dimensions)),
        best_(kMost),
        meter_(token),
        narrow_numbers_(narrow) {
    if (narrow.objects) narrow_.emplace(*narrow.objects, narrow.queries);
  }

  // Looks for the nearest objects of queries that are close to each other, within their limits.
  void run(const std::int64_t* group, int n_queries, const std::int64_t* homes,
           const double* limits) {
    group_ = group, n_queries_ = n_queries, n_lanes_ = (n_queries + 7) / 8 * 8;
    n_filtered_ = 0;
    for (int q = 0; q < n_queries_; ++q) {
      best_[static_cast<std::size_t>(q)].begin(k_, limits[group[q]]);
      for (std::int64_t j = 0; j < n_coords_; ++j)
        z_[static_cast<std::size_t>(j * kMost + q)] =
            coords_[group[q] * n_coords_ + j] * index_.scale_;
    }
    enclose();
    probe_.begin(group, n_queries);
    if (narrow_) begin_narrow();
    visited_.clear();
    for (int q = 0; q < n_queries_; ++q) {
      const std::int64_t home = homes[group[q]] / kNearBranch;
      if (std::find(visited_.begin(), visited_.end(), home) != visited_.end()) continue;
      visit(home);
      visited_.push_back(home);
    }
    list_branches();
    for (const Stop& stop : stops_)
      if (std::find(visited_.begin(), visited_.end(), stop.position) == visited_.end())
        visit(stop.position);
    for (int q = 0; q < n_queries_; ++q) settle(q);
  }

  std::int64_t n_filtered() const { return n_filtered_; }  // pairs that the last run compared
  // The part of all objects that the queries of the last run were compared with.
  double share() const {
    return static_cast<double>(n_filtered_) / static_cast<double>(n_queries_) /
           static_cast<double>(index_.order_.size());
  }

  const std::vector<NearBest::Found>& best(int query) const {
    return best_[static_cast<std::size_t>(query)].best();
  }

 private:
  struct Stop {
    double square;
    std::int32_t first;
    std::int64_t position;
    bool operator<(const Stop& other) const {
      return square != other.square ? square < other.square : first < other.first;
    }
  };

  // The box around the queries of the group, and the cells that are near one of them.
  void enclose() {
    for (std::int64_t j = 0; j < n_coords_; ++j) {
      const double* const z = z_.data() + j * kMost;
      const auto [low, high] = std::minmax_element(z, z + n_queries_);
      lower_[static_cast<std::size_t>(j)] = *low;
      upper_[static_cast<std::size_t>(j)] = *high;
    }
    for (std::int64_t j = 0; j < n_dimensions_; ++j) {
      const auto at = static_cast<std::size_t>(j);
      first_cell_[at] = view_.first(group_[0])[j];
      last_cell_[at] = view_.last(group_[0])[j];
      for (int q = 1; q < n_queries_; ++q) {
        first_cell_[at] = std::min(first_cell_[at], view_.first(group_[q])[j]);
        last_cell_[at] = std::max(last_cell_[at], view_.last(group_[q])[j]);
      }
    }
  }

  // squares[q] = how far the box is from each query at least.
  void bound(const NearBoxes<double>& boxes, std::int64_t box, double* squares) const {
    std::fill_n(squares, n_lanes_, 0.0);
    for (std::int64_t j = 0; j < n_coords_; ++j) {
      const double lower = boxes.lower[static_cast<std::size_t>(box * n_coords_ + j)];
      const double upper = boxes.upper[static_cast<std::size_t>(box * n_coords_ + j)];
      const double* const z = z_.data() + j * kMost;
      for (int q = 0; q < n_lanes_; ++q) {
        const double below = lower - z[q], above = z[q] - upper;
        const double gap = (below > above ? below : above) - slack_;
        const double kept = gap > 0 ? gap : 0.0;
        squares[q] += kept * kept;
      }
    }
    for (int q = 0; q < n_lanes_; ++q) squares[q] *= shrink_;
  }

  // Which objects of a leaf are near a query, a bit for each.
  std::uint64_t near_bits(int query, std::int64_t leaf) const {
    const std::int64_t n = n_dimensions_;
    std::uint8_t near[kNearLeaf];
    std::fill_n(near, kNearLeaf, std::uint8_t{1});
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int32_t* const cells = index_.cells_in_leaves_.data() + (leaf * n + j) * kNearLeaf;
      const std::int32_t first = view_.first(group_[query])[j];
      const auto span = static_cast<std::uint32_t>(view_.last(group_[query])[j] - first);
      for (int i = 0; i < kNearLeaf; ++i)
        near[i] &= static_cast<std::uint32_t>(cells[i] - first) <= span;
    }
    std::uint64_t bits = 0;
    for (int i = 0; i < kNearLeaf; ++i) bits |= std::uint64_t{near[i]} << i;
    return bits;
  }

  bool wanted(int query, double square, std::int32_t first, const NearBoxes<std::int32_t>& cells,
              std::int64_t box) const {
    if (best_[static_cast<std::size_t>(query)].beyond(square, first)) return false;
    const std::int64_t n = n_dimensions_;
    return n == 0 || touch(cells.lower.data() + box * n, cells.upper.data() + box * n,
                           view_.first(group_[query]), view_.last(group_[query]), n);
  }

  // How far a branch is from all queries of the group at least.
  double group_bound(std::int64_t branch) const {
    double square = 0;
    for (std::int64_t j = 0; j < n_coords_; ++j) {
      const auto side = static_cast<std::size_t>(branch * n_coords_ + j);
      const auto at = static_cast<std::size_t>(j);
      const double gap = std::max(index_.branch_boxes_.lower[side] - upper_[at],
                                  lower_[at] - index_.branch_boxes_.upper[side]) -
                         slack_;
      if (gap > 0) square += gap * gap;
    }
    return square * shrink_;
  }

  // Whether a branch has cells that may be near a query of the group.
  bool group_touches(std::int64_t branch) const {
    const std::int64_t n = n_dimensions_;
    return n == 0 || touch(index_.branch_cells_.lower.data() + branch * n,
                           index_.branch_cells_.upper.data() + branch * n, first_cell_.data(),
                           last_cell_.data(), n);
  }

  // Branches that some query of the group may want, nearest first.
  void list_branches() {
    stops_.clear();
    double squares[kMost];
    double farthest = 0;
    for (int q = 0; q < n_queries_; ++q)
      farthest = std::max(farthest, best_[static_cast<std::size_t>(q)].limit());
    for (std::int64_t b = 0; b < index_.order_.n_branches(); ++b) {
      if (group_bound(b) > farthest || !group_touches(b)) continue;
      bound(index_.branch_boxes_, b, squares);
      const std::int32_t first = index_.branch_boxes_.first[static_cast<std::size_t>(b)];
      double least = kInfinity;
      bool some = false;  // squares of very far queries are infinite, and yet they want something
      for (int q = 0; q < n_queries_; ++q)
        if ((!some || squares[q] < least) &&
            wanted(q, squares[q], first, index_.branch_cells_, b)) {
          least = squares[q];
          some = true;
        }
      if (some) stops_.push_back({least, first, b});
    }
    meter_.spend(index_.order_.n_branches() * n_coords_);
    std::sort(stops_.begin(), stops_.end());
  }

  void visit(std::int64_t branch) {
    double squares[kMost];
    bound(index_.branch_boxes_, branch, squares);
    const std::int32_t first = index_.branch_boxes_.first[static_cast<std::size_t>(branch)];
    int some[kMost], n_some = 0;
    for (int q = 0; q < n_queries_; ++q)
      if (wanted(q, squares[q], first, index_.branch_cells_, branch)) some[n_some++] = q;
    if (!n_some) return;
    const Range leaves = index_.order_.branch(branch);
    double leaf_squares[kNearBranch][kMost];
    Stop stops[kNearBranch];
    int n_stops = 0;
    for (std::int64_t l = leaves.begin; l < leaves.end; ++l) {
      double* const bounds = leaf_squares[l - leaves.begin];
      bound(index_.leaf_boxes_, l, bounds);
      double least = kInfinity;
      for (int i = 0; i < n_some; ++i) least = std::min(least, bounds[some[i]]);
      stops[n_stops++] = {least, index_.leaf_boxes_.first[static_cast<std::size_t>(l)], l};
    }
    std::sort(stops, stops + n_stops);
    for (int s = 0; s < n_stops; ++s) {
      const std::int64_t leaf = stops[s].position;
      int active[kMost], n_active = 0;
      for (int i = 0; i < n_some; ++i)
        if (wanted(some[i], leaf_squares[leaf - leaves.begin][some[i]], stops[s].first,
                   index_.leaf_cells_, leaf))
          active[n_active++] = some[i];
      search_leaf(leaf, active, n_active);
    }
  }

  void search_leaf(std::int64_t leaf, const int* active, int n_active) {
    if (!n_active) return;
    double limits[kMost];
    std::uint64_t near[kMost];  // of queries that found something
    bool found_some[kMost];
    for (int i = 0; i < n_active; ++i) {
      const int query = active[i];
      found_some[query] = false;
      const double limit = best_[static_cast<std::size_t>(query)].limit();
      limits[query] = narrow_ ? narrow_limit(query, limit) : limit;
    }
    const bool narrow = narrow_.has_value();
    const std::vector<NearBounds>& found = narrow ? narrow_->leaf(leaf, active, n_active, limits)
                                                  : probe_.leaf(leaf, active, n_active, limits);
    for (const NearBounds& bounds : found) {
      const int query = bounds.query;
      if (!found_some[query]) {
        found_some[query] = true;
        near[query] = n_dimensions_ ? near_bits(query, leaf) : ~std::uint64_t{0};
      }
      if (!(near[query] >> (bounds.position - leaf * kNearLeaf) & 1)) continue;
      const std::int32_t object =
          index_.order_.objects()[static_cast<std::size_t>(bounds.position)];
      NearBest& best = best_[static_cast<std::size_t>(query)];
      if (narrow)
        best.offer(narrow_low(query, bounds.low), kInfinity, object);
      else
        best.offer(bounds.low, bounds.high, object);
    }
    for (int i = 0; i < n_active; ++i)
      if (found_some[active[i]])
        best_[static_cast<std::size_t>(active[i])].tighten(!narrow, measure(active[i]));
    const std::int64_t n_pairs = n_active * kNearLeaf;
    n_filtered_ += n_pairs;
    meter_.spend(n_pairs * (queries_.width + 16) / 8);
    if (narrow) check_narrow(n_pairs);
  }

  // Narrow numbers are of use while distances of what they let through cost less than they spare.
  void check_narrow(std::int64_t n_pairs) {
    constexpr std::int64_t kLook = 200;  // at one object, in cycles; 32 numbers of filters are one
    n_narrow_ += n_pairs;
    const std::int64_t spared = n_narrow_ * (queries_.width - narrow_numbers_.queries.width) / 32;
    const std::int64_t grace = 8 * (k_ + 8) * kMost;
    if ((n_measured_ - grace) * (kLook + queries_.width / 4) > spared) narrow_.reset();
  }

  void begin_narrow() {
    narrow_->begin(group_, n_queries_);
    slacks_.resize(kMost);
    for (int q = 0; q < n_queries_; ++q)
      slacks_[static_cast<std::size_t>(q)] =
          narrow_numbers_.error * (narrow_numbers_.farthest * index_.scale_ +
                                   norm_of(narrow_numbers_.queries, group_[q], index_.scale_));
  }

  // What a squared distance by narrow numbers is at most, or a true one at least.
  double narrow_limit(int query, double limit) const {
    const double far = std::sqrt(limit) + slacks_[static_cast<std::size_t>(query)];
    return far * far * (1 + 0x1p-40);
  }
  double narrow_low(int query, double low) const {
    const double near = std::sqrt(std::max(low, 0.0)) - slacks_[static_cast<std::size_t>(query)];
    return near > 0 ? near * near * (1 - 0x1p-40) : 0.0;
  }

  auto measure(int query) {
    return [this, query](std::int32_t object) {
      ++n_measured_;
      return near_square(queries_, group_[query], index_.rows_, object, index_.scale_);
    };
  }

  void settle(int query) { best_[static_cast<std::size_t>(query)].settle(measure(query)); }

  const NearIndex<Store>& index_;
  const Rows queries_;
  const double* coords_;
  const double slack_;
  const NearView& view_;
  const std::int64_t n_dimensions_, n_coords_, k_;
  const double shrink_;
  typename Store::Probe probe_;
  std::vector<double> z_;  // a coordinate of all queries after another
  std::vector<double> lower_, upper_;
  std::vector<std::int32_t> first_cell_, last_cell_;
  std::vector<NearBest> best_;
  std::vector<Stop> stops_;
  std::vector<std::int64_t> visited_;
  Meter meter_;
  const std::int64_t* group_ = nullptr;
  int n_queries_ = 0, n_lanes_ = 0;
  std::optional<typename DenseStore<double>::Probe> narrow_;  // while it is worth it
  const NearNarrow& narrow_numbers_;
  std::vector<double> slacks_;                  // of distances by narrow numbers, for each query
  std::int64_t n_filtered_ = 0;                 // pairs of the group so far
  std::int64_t n_narrow_ = 0, n_measured_ = 0;  // of the walk by narrow numbers: pairs, distances
};

template <class Store>
NearIndex<Store>::NearIndex(const Rows& rows, const double* coords, std::int64_t n_coords,
                            std::int64_t n_split, const NearCells& cells, int n_jobs, Poll poll)
    : rows_(rows),
      scale_(near_scale(rows)),
      order_(coords, rows.n_rows, n_coords, n_split, n_jobs, poll),
      store_(rows, order_, scale_, n_jobs, poll),
      leaf_boxes_(near_boxes(coords, n_coords, order_.objects(), kNearLeaf)),
      branch_boxes_(near_boxes(coords, n_coords, order_.objects(), kNearLeaf * kNearBranch)) {
  for (NearBoxes<double>* boxes : {&leaf_boxes_, &branch_boxes_})
    for (std::vector<double>* sides : {&boxes->lower, &boxes->upper})
      for (double& side : *sides) side *= scale_;
  if (!cells.cells) return;
  const std::int64_t n = cells.n_dimensions;
  leaf_cells_ = near_boxes(cells.cells, n, order_.objects(), kNearLeaf);
  branch_cells_ = near_boxes(cells.cells, n, order_.objects(), kNearLeaf * kNearBranch);
  cells_in_leaves_.resize(static_cast<std::size_t>(order_.n_leaves() * n * kNearLeaf));
  for (std::int64_t p = 0; p < order_.size(); ++p)
    for (std::int64_t j = 0; j < n; ++j)
      cells_in_leaves_[static_cast<std::size_t>((p / kNearLeaf * n + j) * kNearLeaf +
                                                p % kNearLeaf)] =
          cells.cells[order_.objects()[static_cast<std::size_t>(p)] * n + j];
}

template <class Store>
std::int64_t NearIndex<Store>::search(const Rows& queries, const double* coords,
                                      const NearGrid& grid, const NearNarrow& narrow,
                                      std::int64_t k, const NearAnswer& answer, int n_jobs,
                                      Poll poll) const {
  const auto n_queries = static_cast<std::size_t>(queries.n_rows);
  std::vector<std::int64_t> homes(n_queries), todo(n_queries);
  for (std::size_t q = 0; q < n_queries; ++q)
    homes[q] = order_.home(coords + static_cast<std::int64_t>(q) * order_.n_coords());
  std::iota(todo.begin(), todo.end(), 0);
  std::sort(todo.begin(), todo.end(), [&](std::int64_t a, std::int64_t b) {
    const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
    return homes[i] != homes[j] ? homes[i] < homes[j] : a < b;
  });
  std::vector<double> limits(n_queries, kInfinity);
  std::vector<std::uint8_t> done(n_queries, 0);
  NearView view(grid, queries.n_rows);
  const double slack = rounding_of_coords(queries.width, scale_ / near_scale(queries));
  std::atomic<std::int64_t> n_compared = 0;

  for (std::int32_t turn = 0; !todo.empty(); ++turn) {
    const auto n_todo = static_cast<std::int64_t>(todo.size());
    const std::int64_t n_blocks = divided(n_todo, Store::kGroup, Store::kMostGroup, n_jobs);
    for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
      NearWalk<Store> walk(*this, queries, coords, slack, view, grid.queries.n_dimensions, narrow,
                           k, token);
      const Range range = block_range(n_todo, n_blocks, b);
      std::int64_t most = Store::kGroup;
      for (std::int64_t begin = range.begin; begin < range.end;) {
        const std::int64_t* const group = todo.data() + begin;
        const auto n = static_cast<int>(std::min(most, range.end - begin));
        walk.run(group, n, homes.data(), limits.data());
        for (int i = 0; i < n; ++i) {
          const auto q = static_cast<std::size_t>(group[i]);
          const auto& best = walk.best(i);
          const bool full = static_cast<std::int64_t>(best.size()) == k;
          if (turn == 0) answer.lonely[q] = best.empty();
          if (full) limits[q] = best.back().first;
          const double farthest = std::sqrt(limits[q]) / scale_;
          if (view.widen(group[i], full ? grid.reach * farthest : kInfinity)) continue;
          done[q] = 1;
          answer.turns[q] = turn;
          for (std::int64_t r = 0; r < k; ++r) {
            const auto& [square, object] = best[static_cast<std::size_t>(r)];
            answer.distances[group[i] * k + r] = std::sqrt(square) / scale_;
            answer.objects[group[i] * k + r] = object;
          }
        }
        begin += n;
        n_compared += walk.n_filtered();
        most = walk.share() > kLittle ? Store::kMostGroup : Store::kGroup;
      }
    });
    std::erase_if(todo, [&](std::int64_t q) { return done[static_cast<std::size_t>(q)] != 0; });
  }
  return n_compared;
}

template class NearIndex<DenseStore<float>>;
template class NearIndex<DenseStore<double>>;
template class NearIndex<SparseStore<float>>;
template class NearIndex<SparseStore<double>>;

}  // namespace tacit
