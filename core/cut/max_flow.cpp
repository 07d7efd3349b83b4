#include "cut/max_flow.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <stdexcept>

namespace tacit {
namespace {

struct ResidualArc {
  std::int32_t head;
  std::uint32_t mate;  // the same edge in the other direction
  double room;         // what the arc can still take
};

class Preflow {
 public:
  Preflow(const FlowView& graph, const double* supply, Meter& meter)
      : start_(graph.start),
        n_(static_cast<std::int32_t>(graph.n_nodes)),
        arcs_(index(graph.start[graph.n_nodes])),
        excess_(supply, supply + n_),
        label_(index(n_)),
        current_(index(n_)),
        bucket_(index(n_) + 1, kNone),
        next_(index(n_)),
        layer_(index(n_) + 1, kNone),
        above_(index(n_)),
        below_(index(n_)),
        meter_(meter) {
    if (arcs_.size() > std::numeric_limits<std::uint32_t>::max())
      throw std::length_error("the graph has too many edges for one cut");
    // Rows ascend: seen from smaller nodes to larger ones, the mates in a row come in order.
    std::vector<std::int64_t> cursor(start_, start_ + n_);
    for (std::int32_t u = 0; u < n_; ++u)
      for (std::int64_t a = start_[u]; a < start_[u + 1]; ++a) {
        const std::int32_t v = graph.head[a];
        arcs_[index(a)].head = v;
        arcs_[index(a)].room = graph.weight[a];
        if (v < u) continue;
        const std::int64_t b = cursor[index(v)]++;
        arcs_[index(a)].mate = static_cast<std::uint32_t>(b);
        arcs_[index(b)].mate = static_cast<std::uint32_t>(a);
      }
  }

  // Moves supply towards demands, from the farthest nodes first, until what is left reaches none.
  void deliver() {
    const auto n_arcs = static_cast<std::int64_t>(arcs_.size());
    const std::int64_t patience = 6 * std::int64_t{n_} + 2 * n_arcs;
    relabel_all();
    while (true) {
      while (highest_ >= 0 && bucket_[index(highest_)] == kNone) --highest_;
      if (highest_ < 0) return;
      const std::int32_t u = bucket_[index(highest_)];
      bucket_[index(highest_)] = next_[index(u)];
      if (label_[index(u)] == n_) continue;
      discharge(u);
      if (work_ > patience) relabel_all();
    }
  }

  // Marks what the supply that is left reaches: the smallest source set.
  void reach(std::uint8_t* side) {
    std::fill(side, side + n_, std::uint8_t{0});
    queue_.clear();
    for (std::int32_t u = 0; u < n_; ++u)
      if (excess_[index(u)] > 0) side[u] = 1, queue_.push_back(u);
    for (std::size_t k = 0; k < queue_.size(); ++k) {
      const std::size_t u = index(queue_[k]);
      for (std::int64_t a = start_[u]; a < start_[u + 1]; ++a) {
        const ResidualArc& arc = arcs_[index(a)];
        if (arc.room > 0 && !side[arc.head]) side[arc.head] = 1, queue_.push_back(arc.head);
      }
    }
  }

 private:
  static constexpr std::int32_t kNone = -1;
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

  // Exact labels: breadth first from the demands that are left, against the arcs.
  void relabel_all() {
    work_ = 0;
    std::fill(label_.begin(), label_.end(), n_);
    std::fill(bucket_.begin(), bucket_.end(), kNone);
    std::fill(layer_.begin(), layer_.end(), kNone);
    highest_ = top_ = -1;
    queue_.clear();
    for (std::int32_t u = 0; u < n_; ++u)
      if (excess_[index(u)] < 0) label_[index(u)] = 0, queue_.push_back(u);
    for (std::size_t k = 0; k < queue_.size(); ++k) {
      const std::size_t v = index(queue_[k]);
      join_layer(queue_[k]);
      if (excess_[v] > 0) activate(queue_[k]);
      for (std::int64_t a = start_[v]; a < start_[v + 1]; ++a) {
        const std::size_t u = index(arcs_[index(a)].head);
        if (label_[u] < n_ || !(arcs_[arcs_[index(a)].mate].room > 0)) continue;
        label_[u] = label_[v] + 1;
        queue_.push_back(arcs_[index(a)].head);
      }
    }
    std::copy(start_, start_ + n_, current_.begin());
    meter_.spend(static_cast<std::int64_t>(arcs_.size()));
  }

  void activate(std::int32_t u) {
    const std::int32_t at = label_[index(u)];
    next_[index(u)] = bucket_[index(at)];
    bucket_[index(at)] = u;
    highest_ = std::max(highest_, at);
  }

  void discharge(std::int32_t node) {
    const std::size_t u = index(node);
    while (true) {
      const std::int64_t end = start_[u + 1];
      const std::int32_t below = label_[u] - 1;
      double left = excess_[u];
      for (std::int64_t a = current_[u]; a < end; ++a) {
        ResidualArc& arc = arcs_[index(a)];
        if (!(arc.room > 0) || label_[index(arc.head)] != below) continue;
        const std::size_t v = index(arc.head);
        const double amount = std::min(left, arc.room);
        const double before = excess_[v];
        left -= amount;
        arc.room -= amount;
        arcs_[arc.mate].room += amount;
        excess_[v] = before + amount;
        if (!(before > 0) && excess_[v] > 0) activate(arc.head);
        if (!(left > 0)) {
          current_[u] = a;
          excess_[u] = 0;
          return;
        }
      }
      excess_[u] = left;
      if (!raise(node)) return;
    }
  }

  // Lifts a node just above its lowest neighbour that it has room to. False if there is none left.
  bool raise(std::int32_t node) {
    const std::size_t u = index(node);
    std::int32_t lowest = n_;
    for (std::int64_t a = start_[u]; a < start_[u + 1]; ++a) {
      const ResidualArc& arc = arcs_[index(a)];
      if (arc.room > 0 && label_[index(arc.head)] < lowest) {
        lowest = label_[index(arc.head)];
        current_[u] = a;
      }
    }
    const std::int64_t steps = start_[u + 1] - start_[u];
    work_ += steps + 12;
    meter_.spend(steps + 12);
    const std::int32_t old = label_[u];
    leave_layer(node);
    label_[u] = std::min(lowest + 1, n_);
    if (layer_[index(old)] == kNone) {
      label_[u] = n_;
      close_gap(old);
    }
    if (label_[u] == n_) return false;
    join_layer(node);
    return true;
  }

  // No node has this label: what lies above can reach no demand any more.
  void close_gap(std::int32_t gap) {
    for (; top_ > gap; --top_) {
      for (std::int32_t u = layer_[index(top_)]; u != kNone; u = above_[index(u)])
        label_[index(u)] = n_;
      layer_[index(top_)] = kNone;
    }
  }

  // Nodes of one label are a list that is linked both ways.
  void join_layer(std::int32_t u) {
    const std::int32_t at = label_[index(u)], first = layer_[index(at)];
    above_[index(u)] = first;
    below_[index(u)] = kNone;
    if (first != kNone) below_[index(first)] = u;
    layer_[index(at)] = u;
    top_ = std::max(top_, at);
  }

  void leave_layer(std::int32_t u) {
    const std::int32_t before = below_[index(u)], after = above_[index(u)];
    (before == kNone ? layer_[index(label_[index(u)])] : above_[index(before)]) = after;
    if (after != kNone) below_[index(after)] = before;
  }

  const std::int64_t* start_;
  const std::int32_t n_;
  std::vector<ResidualArc> arcs_;
  std::vector<double> excess_;
  std::vector<std::int32_t> label_;
  std::vector<std::int64_t> current_;                // the first arc that may be admissible
  std::vector<std::int32_t> bucket_, next_;          // nodes with excess, listed by label
  std::vector<std::int32_t> layer_, above_, below_;  // all nodes, listed by label
  std::vector<std::int32_t> queue_;
  std::int32_t highest_ = -1, top_ = -1;  // no node with excess, and no node, is above
  std::int64_t work_ = 0;                 // steps since labels were exact
  Meter& meter_;
};

}  // namespace

void min_cut(const FlowView& graph, const double* supply, std::uint8_t* side, Meter& meter) {
  Preflow flow(graph, supply, meter);
  flow.deliver();
  flow.reach(side);
}

}  // namespace tacit
