#include "dependency/branching.hpp"

#include <cstddef>
#include <limits>

namespace tacit {
namespace {

constexpr double kNoArc = -std::numeric_limits<double>::infinity();
constexpr std::int32_t kNone = -1;

struct Arc {
  std::int32_t from, to;
};

// Columns and what they are contracted to, in one square that shrinks in place. Node 0 is a root
// with an arc of weight 0 to every column; a contracted cycle lives on in the row and column of one
// of its members. O(n²) in time and memory.
class Contraction {
 public:
  Contraction(const double* weights, std::size_t n)
      : n_(n + 1),
        weight_(n_ * n_, kNoArc),
        arc_(n_ * n_),
        node_(n_),
        alive_(n_, 1),
        connected_(n_, 0),
        on_path_(n_, 0) {
    for (std::size_t to = 1; to < n_; ++to)
      for (std::size_t from = 0; from < n_; ++from) {
        const double weight = from == 0 ? 0.0 : weights[(from - 1) * n + to - 1];
        if (from != to && (from == 0 || weight > 0)) weight_[from * n_ + to] = weight;
        arc_[from * n_ + to] = {static_cast<std::int32_t>(from), static_cast<std::int32_t>(to)};
      }
    for (std::size_t x = 0; x < n_; ++x) node_[x] = static_cast<std::int32_t>(x);
    up_.assign(n_, kNone);
    entered_.resize(n_);
    connected_[0] = 1;
  }

  std::vector<std::int32_t> solve() {
    for (std::size_t start = 1; start < n_; ++start)
      if (alive_[start] && !connected_[start]) grow(start);
    return expand();
  }

 private:
  std::size_t best_into(std::size_t to) const {
    std::size_t best = to == 0 ? 1 : 0;
    for (std::size_t from = 0; from < n_; ++from)
      if (alive_[from] && from != to && weight_[from * n_ + to] > weight_[best * n_ + to])
        best = from;
    return best;
  }

  // Follows the heaviest arcs backwards until something is reached that the root leads to; whenever
  // the path runs into itself, that cycle becomes one node.
  void grow(std::size_t start) {
    std::vector<std::size_t> path{start};
    on_path_[start] = 1;
    while (true) {
      const std::size_t to = path.back(), from = best_into(to);
      entered_[static_cast<std::size_t>(node_[to])] = arc_[from * n_ + to];
      if (connected_[from]) break;
      if (!on_path_[from]) {
        path.push_back(from);
        on_path_[from] = 1;
        continue;
      }
      contract(path, from);
    }
    for (const std::size_t x : path) connected_[x] = 1, on_path_[x] = 0;
  }

  // The end of the path, from `first` on, is a cycle. Entering it at a member costs that member's
  // arc.
  void contract(std::vector<std::size_t>& path, std::size_t first) {
    std::vector<std::size_t> cycle;
    do {
      cycle.push_back(path.back());
      path.pop_back();
    } while (cycle.back() != first);
    const auto whole = static_cast<std::int32_t>(up_.size());
    up_.push_back(kNone);
    entered_.emplace_back();
    for (std::size_t k = 0; k < cycle.size(); ++k) {
      const std::size_t member = cycle[k];
      up_[static_cast<std::size_t>(node_[member])] = whole;
      // The end of the path has its best arc from the cycle's first column, every other member from
      // the one that came onto the path after it.
      const double given_up = weight_[(k == 0 ? first : cycle[k - 1]) * n_ + member];
      for (std::size_t from = 0; from < n_; ++from) weight_[from * n_ + member] -= given_up;
    }
    for (std::size_t k = 0; k + 1 < cycle.size(); ++k) {
      const std::size_t member = cycle[k];
      for (std::size_t x = 0; x < n_; ++x) {
        take(x * n_ + first, x * n_ + member);
        take(first * n_ + x, member * n_ + x);
      }
      alive_[member] = 0;
      on_path_[member] = 0;
    }
    weight_[first * n_ + first] = kNoArc;
    node_[first] = whole;
    path.push_back(first);
  }

  void take(std::size_t to, std::size_t from) {
    if (weight_[from] > weight_[to]) weight_[to] = weight_[from], arc_[to] = arc_[from];
  }

  // From the outermost nodes inwards: the member at which a node is entered takes that arc, all
  // others keep those of their cycle.
  std::vector<std::int32_t> expand() {
    for (std::size_t node = up_.size(); node-- > n_;) {
      const Arc arc = entered_[node];
      std::int32_t member = arc.to;
      while (up_[static_cast<std::size_t>(member)] != static_cast<std::int32_t>(node))
        member = up_[static_cast<std::size_t>(member)];
      entered_[static_cast<std::size_t>(member)] = arc;
    }
    std::vector<std::int32_t> parents;
    for (std::size_t x = 1; x < n_; ++x) parents.push_back(entered_[x].from - 1);
    return parents;
  }

  std::size_t n_;
  std::vector<double> weight_;
  std::vector<Arc> arc_;            // the arc of the net behind each weight
  std::vector<std::int32_t> node_;  // what a row stands for: a column, or a contracted cycle
  std::vector<std::uint8_t> alive_, connected_, on_path_;
  std::vector<std::int32_t> up_;  // of each node the cycle that it became part of
  std::vector<Arc> entered_;      // of each node its heaviest arc
};

}  // namespace

std::vector<std::int32_t> max_branching(const double* weights, std::int64_t n) {
  return Contraction(weights, static_cast<std::size_t>(n)).solve();
}

}  // namespace tacit
