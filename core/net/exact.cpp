#include "net/exact.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace tacit {
namespace {

using Mask = std::uint64_t;
constexpr double kImpossible = -std::numeric_limits<double>::infinity();
constexpr int kGroup = 15;            // columns of a pattern database, at most
constexpr std::size_t kBlock = 4096;  // nodes that are expanded together

Mask bit(int column) { return Mask{1} << column; }

template <class See>
void for_bits(Mask mask, const See& see) {
  for (; mask; mask &= mask - 1) see(std::countr_zero(mask));
}

struct Choice {
  double score;
  Mask parents;  // within the component, by local numbers
  Mask all;      // by columns
};

struct Node {
  Mask placed;
  double score;
  int last;  // the column that was placed last
};
struct Step {
  Mask placed;
  int last;
};

// Columns of which each can reach each other through possible parents.
class Component {
 public:
  Component(const ParentSets& sets, Mask columns, double known, double noise,
            const ExactRules& rules, Poll poll, const std::function<bool()>& go_on)
      : known_(known), noise_(noise), rules_(rules), poll_(poll), go_on_(go_on) {
    for_bits(columns, [&](int c) { columns_.push_back(c); });
    n_ = static_cast<int>(columns_.size());
    regroup(sets);
    for (int x = 0; x < n_; ++x) choices_.push_back(choices_of(sets, x, columns));
    for (int begin = 0; begin < n_; begin += group_) fill_pattern(begin);
  }

  // Whether it came to an end; then `parents` has a better net if there is one.
  bool solve(std::vector<Mask>& parents) {
    const Mask all = n_ == 64 ? ~Mask{0} : bit(n_) - 1;
    bound_ = std::fmax(known_, ahead(0));
    std::vector<Node> layer{{0, 0.0, -1}};
    std::vector<std::vector<Step>> steps;
    for (int size = 0; size < n_; ++size) {
      if (!go_on_()) return false;
      std::vector<Node> next = expand(layer);
      if (next.empty()) {
        bound_ = known_;
        return true;
      }
      n_nodes_ += static_cast<std::int64_t>(next.size());
      double bound = known_;
      for (const Node& node : next) bound = std::fmax(bound, node.score + ahead(node.placed));
      bound_ = std::fmin(bound_, bound);
      if (n_nodes_ > rules_.most_nodes) return false;
      auto& step = steps.emplace_back();
      for (const Node& node : next) step.push_back({node.placed, node.last});
      layer = std::move(next);
    }
    bound_ = layer.front().score;
    Mask placed = all;
    for (int size = n_; size-- > 0;) {
      const auto& step = steps[static_cast<std::size_t>(size)];
      const auto match = std::lower_bound(step.begin(), step.end(), placed,
                                          [](const Step& a, Mask b) { return a.placed < b; });
      const int x = match->last;
      placed &= ~bit(x);
      parents[static_cast<std::size_t>(column(x))] = best(x, placed)->all;
    }
    return true;
  }

  double bound() const { return bound_; }
  std::int64_t n_nodes() const { return n_nodes_; }

 private:
  int column(int x) const { return columns_[static_cast<std::size_t>(x)]; }

  // Columns that are each other's best parents go into the same group, where cycles are seen.
  void regroup(const ParentSets& sets) {
    const int n_groups = (n_ + kGroup - 1) / kGroup;
    group_ = (n_ + n_groups - 1) / n_groups;
    const auto n = static_cast<std::size_t>(n_);
    std::vector<double> tie(n * n, 0.0);  // what is lost at least if neither is a parent
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b) {
        const auto& of = sets.of[static_cast<std::size_t>(columns_[a])];
        if (a == b || of.empty()) continue;
        const auto without = std::find_if(of.begin(), of.end(), [&](const ParentSet& each) {
          return !(each.parents & bit(columns_[b]));
        });
        const double loss = without == of.end() ? 1e6 : of.front().score - without->score;
        tie[a * n + b] = loss;
      }
    std::vector<int> order;
    std::vector<char> taken(n, 0);
    const auto strength = [&](std::size_t a, std::size_t b) {
      return std::fmin(tie[a * n + b], tie[b * n + a]);
    };
    for (int g = 0; g * group_ < n_; ++g) {
      std::vector<double> pull(n, 0.0);
      for (int k = 0; k < group_ && static_cast<int>(order.size()) < n_; ++k) {
        std::size_t next = n;
        for (std::size_t c = 0; c < n; ++c)
          if (!taken[c] && (next == n || pull[c] > pull[next])) next = c;
        taken[next] = 1;
        order.push_back(columns_[next]);
        for (std::size_t c = 0; c < n; ++c) pull[c] += strength(next, c);
      }
    }
    columns_ = order;
    local_.assign(kMostExact, -1);
    for (int x = 0; x < n_; ++x) local_[static_cast<std::size_t>(column(x))] = x;
  }

  std::vector<Choice> choices_of(const ParentSets& sets, int x, Mask columns) const {
    std::vector<Choice> result;
    const auto& of = sets.of[static_cast<std::size_t>(column(x))];
    const bool all_within = std::all_of(of.begin(), of.end(), [&](const ParentSet& each) {
      return (each.parents & ~columns) == 0;
    });
    for (const ParentSet& each : of) {
      Mask parents = 0;
      for_bits(each.parents & columns,
               [&](int p) { parents |= bit(local_[static_cast<std::size_t>(p)]); });
      // Columns outside are there in any case. One that asks for more and is no better will never
      // be taken.
      const auto is_better = [&](const Choice& one) { return (one.parents & ~parents) == 0; };
      if (all_within || std::none_of(result.begin(), result.end(), is_better))
        result.push_back({each.score, parents, each.parents});
    }
    return result;
  }

  // The best of the choices whose parents are all at hand; null if there is none.
  const Choice* best(int x, Mask at_hand) const {
    for (const Choice& each : choices_[static_cast<std::size_t>(x)])
      if (!(each.parents & ~at_hand)) return &each;
    return nullptr;
  }

  // Of the columns from `begin` on: what any subset can have if all columns outside of it come
  // first, and those within have an order.
  void fill_pattern(int begin) {
    const int size = std::min(group_, n_ - begin);
    const Mask all = n_ == 64 ? ~Mask{0} : bit(n_) - 1;
    auto& pattern = patterns_.emplace_back(std::size_t{1} << size, kImpossible);
    pattern[0] = 0;
    for (Mask left = 1; left < pattern.size(); ++left) {
      double most = kImpossible;
      for_bits(left, [&](int k) {
        const Choice* const choice = best(begin + k, all & ~(left << begin));
        if (choice) most = std::fmax(most, choice->score + pattern[left & ~bit(k)]);
      });
      pattern[left] = most;
    }
  }

  // What the columns that are not placed can add, at most.
  double ahead(Mask placed) const {
    double sum = 0;
    for (std::size_t g = 0; g < patterns_.size(); ++g)
      sum += patterns_[g][~placed >> (g * static_cast<std::size_t>(group_)) &
                          (patterns_[g].size() - 1)];
    return sum;
  }

  std::vector<Node> expand(const std::vector<Node>& layer) const {
    const std::size_t n_blocks = (layer.size() + kBlock - 1) / kBlock;
    std::vector<std::vector<Node>> parts(n_blocks);
    for_blocks(static_cast<std::int64_t>(n_blocks), rules_.n_jobs, poll_,
               [&](std::int64_t b, StopToken& token) {
                 token.check();
                 const std::size_t from = static_cast<std::size_t>(b) * kBlock;
                 for (std::size_t k = from; k < std::min(from + kBlock, layer.size()); ++k)
                   expand_node(layer[k], parts[static_cast<std::size_t>(b)]);
                 sort_out(parts[static_cast<std::size_t>(b)]);
               });
    std::vector<Node> next;
    for (auto& part : parts) {
      next.insert(next.end(), part.begin(), part.end());
      std::vector<Node>().swap(part);
    }
    if (n_blocks > 1) sort_out(next);
    return next;
  }

  void expand_node(const Node& node, std::vector<Node>& next) const {
    const double least = known_ + noise_;
    // A column that can have the best of all its parents comes next: it loses nothing, and the
    // others have one more at hand.
    for (int x = 0; x < n_; ++x) {
      const auto& choices = choices_[static_cast<std::size_t>(x)];
      if (node.placed & bit(x) || choices.empty() || choices.front().parents & ~node.placed)
        continue;
      const Node child{node.placed | bit(x), node.score + choices.front().score, x};
      if (child.score + ahead(child.placed) > least) next.push_back(child);
      return;
    }
    for (int x = 0; x < n_; ++x) {
      if (node.placed & bit(x)) continue;
      const Mask placed = node.placed | bit(x);
      const double others = node.score + ahead(placed);
      for (const Choice& each : choices_[static_cast<std::size_t>(x)]) {
        if (others + each.score <= least) break;
        if (each.parents & ~node.placed) continue;
        next.push_back({placed, node.score + each.score, x});
        break;
      }
    }
  }

  // One node for each set: the best, and of those the one whose last column comes first.
  static void sort_out(std::vector<Node>& nodes) {
    std::sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) {
      if (a.placed != b.placed) return a.placed < b.placed;
      return a.score != b.score ? a.score > b.score : a.last < b.last;
    });
    const auto same = [](const Node& a, const Node& b) { return a.placed == b.placed; };
    nodes.erase(std::unique(nodes.begin(), nodes.end(), same), nodes.end());
  }

  std::vector<int> columns_, local_;
  int n_ = 0, group_ = 1;
  double known_, noise_, bound_ = 0;
  const ExactRules& rules_;
  Poll poll_;
  const std::function<bool()>& go_on_;
  std::vector<std::vector<Choice>> choices_;
  std::vector<std::vector<double>> patterns_;
  std::int64_t n_nodes_ = 0;
};

// Sets of columns that can be in a cycle together.
std::vector<Mask> components_of(const ParentSets& sets) {
  const std::size_t n = sets.of.size();
  std::vector<Mask> above(n, 0);  // from which there is a way of possible arcs
  for (std::size_t x = 0; x < n; ++x)
    for (const ParentSet& each : sets.of[x]) above[x] |= each.parents;
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t x = 0; x < n; ++x)
      if (above[x] & bit(static_cast<int>(k))) above[x] |= above[k];
  std::vector<Mask> result;
  Mask done = 0;
  for (std::size_t x = 0; x < n; ++x) {
    if (done & bit(static_cast<int>(x))) continue;
    Mask one = bit(static_cast<int>(x));
    for_bits(above[x], [&](int y) {
      if (above[static_cast<std::size_t>(y)] & bit(static_cast<int>(x))) one |= bit(y);
    });
    done |= one;
    result.push_back(one);
  }
  return result;
}

}  // namespace

ExactNet find_best_net(const ParentSets& sets, const std::vector<Parents>& known,
                       const std::vector<double>& known_scores, double noise,
                       const ExactRules& rules, Poll poll, const std::function<bool()>& go_on) {
  ExactNet result{known, 0.0, true, 0};
  const double score = std::accumulate(known_scores.begin(), known_scores.end(), 0.0);
  const auto only_bounded = [&] {
    result.parents = known;
    result.bound = std::fmax(score, std::accumulate(sets.bounds.begin(), sets.bounds.end(), 0.0));
    result.proven = result.bound <= score;
    return result;
  };
  if (!sets.complete) return only_bounded();
  // Of what is known, the sets of parents that are among those at hand, so that arcs between
  // components go one way.
  std::vector<double> scores;
  for (std::size_t x = 0; x < known.size(); ++x) {
    Mask parents = 0;
    for (const int p : known[x]) parents |= bit(p);
    const auto match = std::find_if(sets.of[x].begin(), sets.of[x].end(), [&](const auto& each) {
      return (each.parents & ~parents) == 0;
    });
    if (match == sets.of[x].end()) return only_bounded();  // no score is a number
    scores.push_back(match->score);
    result.parents[x].clear();
    for_bits(match->parents, [&](int p) { result.parents[x].push_back(p); });
  }
  ExactRules left = rules;
  for (const Mask columns : components_of(sets)) {
    double here = 0;
    for_bits(columns, [&](int c) { here += scores[static_cast<std::size_t>(c)]; });
    Component component(sets, columns, here, noise, left, poll, go_on);
    std::vector<Mask> parents(known.size(), 0);
    for (std::size_t x = 0; x < known.size(); ++x)
      for (const int p : result.parents[x]) parents[x] |= bit(p);
    result.proven = component.solve(parents) && result.proven;
    result.bound += component.bound();
    result.n_nodes += component.n_nodes();
    left.most_nodes = rules.most_nodes - result.n_nodes;
    for_bits(columns, [&](int x) {
      const auto at = static_cast<std::size_t>(x);
      result.parents[at].clear();
      for_bits(parents[at], [&](int p) { result.parents[at].push_back(p); });
    });
  }
  return result;
}

}  // namespace tacit
