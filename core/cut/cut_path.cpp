#include "cut/cut_path.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace tacit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Where a node is: open in one of the two halves of a range of λ (or in the first, where there is
// only one), decided, or left out. Open nodes are connected within their half only.
enum class State : std::uint8_t { upper, lower, source, sink, absent };

constexpr bool is_open(State state) { return state <= State::lower; }

struct LambdaRange {
  double low, high;
};

// A part of the graph on its own: all its other neighbours are decided and counted in `base`.
struct CutPart {
  FlowGraph graph;
  std::vector<double> base, rate;
  std::vector<std::int32_t> node;    // their numbers in the whole graph
  State half = State::upper;         // where its nodes were open
  std::int32_t first = 0, last = 0;  // the λs that are left, for paths
  LambdaRange range{};               // the λs that are left, for breakpoints

  FlowView view() const { return graph.view(); }
  CutNodes nodes() const { return {base.data(), rate.data()}; }
};

// Contracts nodes whose own terms outweigh all their open edges: they are on the source's side at
// the lowest λ, or on the sink's at the highest, and so throughout. Each of them may decide others.
class Contraction {
 public:
  Contraction(const FlowView& graph, const CutNodes& nodes)
      : graph_(graph),
        rate_(nodes.rate),
        base(nodes.base, nodes.base + graph.n_nodes),
        state(at(graph.n_nodes), State::upper),
        open_(at(graph.n_nodes), 0.0) {}

  // After a cut at some λ: for lower ones, nodes outside stay out; for higher ones, nodes inside
  // stay in. keep tells which of the two halves is of interest.
  void halve(const std::vector<std::uint8_t>& inside, const bool (&keep)[2]) {
    whole_ = false;
    for (std::size_t u = 0; u < state.size(); ++u)
      state[u] = !keep[inside[u]] ? State::absent : inside[u] ? State::lower : State::upper;
  }

  // Adds up the open edges of each node, and counts the others in its base: in the lower half they
  // lead to nodes that are out, in the upper half to nodes that are in.
  void add_up(Meter& meter) {
    for (std::int64_t u = 0; u < graph_.n_nodes; ++u) {
      const State side = state[at(u)];
      if (!is_open(side)) continue;
      double within = 0, across = 0;
      for (std::int64_t a = graph_.start[u]; a < graph_.start[u + 1]; ++a)
        (whole_ || state[at(graph_.head[a])] == side ? within : across) += graph_.weight[a];
      open_[at(u)] = within;
      base[at(u)] += side == State::lower ? across : -across;
    }
    meter.spend(graph_.start[graph_.n_nodes]);
  }

  void decide(const LambdaRange (&ranges)[2], Meter& meter) {
    for (std::int64_t u = 0; u < graph_.n_nodes; ++u) {
      const State side = state[at(u)];
      if (!is_open(side)) continue;
      const LambdaRange& range = ranges[static_cast<std::size_t>(side)];
      try_node(u, range);
      while (!stack_.empty()) {
        const std::int32_t next = stack_.back();
        stack_.pop_back();
        spread(next, side, range);
        meter.spend(graph_.start[next + 1] - graph_.start[next]);
      }
    }
  }

 private:
  void try_node(std::int64_t u, const LambdaRange& range) {
    if (rate_[u] * range.low - base[at(u)] > open_[at(u)])
      state[at(u)] = State::source;
    else if (base[at(u)] - rate_[u] * range.high >= open_[at(u)])
      state[at(u)] = State::sink;
    else
      return;
    stack_.push_back(static_cast<std::int32_t>(u));
  }

  void spread(std::int32_t u, State half, const LambdaRange& range) {
    const double sign = state[at(u)] == State::source ? -1.0 : 1.0;
    for (std::int64_t a = graph_.start[u]; a < graph_.start[u + 1]; ++a) {
      const std::int32_t v = graph_.head[a];
      if (state[at(v)] != half) continue;
      base[at(v)] += sign * graph_.weight[a];
      open_[at(v)] -= graph_.weight[a];
      try_node(v, range);
    }
  }

  const FlowView graph_;
  const double* rate_;

 public:
  std::vector<double> base;  // with all neighbours that are decided
  std::vector<State> state;

 private:
  std::vector<double> open_;  // the weight of all edges to nodes that are open in the same half
  bool whole_ = true;         // all nodes are open in one half
  std::vector<std::int32_t> stack_;
};

constexpr std::int32_t kNowhere = -1;

// The connected components of open nodes.
class Components {
 public:
  Components(const FlowView& graph, const std::vector<State>& state)
      : graph_(graph), state_(state), part_(state.size(), kNowhere) {
    for (std::int64_t root = 0; root < graph_.n_nodes; ++root)
      if (is_open(state_[at(root)]) && part_[at(root)] == kNowhere) explore(root);
  }

  // As graphs of their own. Nodes keep their order, so that rows ascend as those of the graph do.
  std::vector<CutPart> cut_out(const double* base, const double* rate, Meter& meter) const {
    std::vector<CutPart> parts(sizes_.size());
    for (std::size_t k = 0; k < parts.size(); ++k) {
      parts[k].node.reserve(at(sizes_[k].nodes));
      parts[k].base.reserve(at(sizes_[k].nodes));
      parts[k].rate.reserve(at(sizes_[k].nodes));
      parts[k].graph.start.reserve(at(sizes_[k].nodes) + 1);
      parts[k].graph.head.reserve(at(sizes_[k].arcs));
      parts[k].graph.weight.reserve(at(sizes_[k].arcs));
    }
    std::vector<std::int32_t> position(part_.size());
    for (std::int64_t u = 0; u < graph_.n_nodes; ++u) {
      if (part_[at(u)] == kNowhere) continue;
      CutPart& part = parts[at(part_[at(u)])];
      position[at(u)] = static_cast<std::int32_t>(part.node.size());
      part.half = state_[at(u)];
      part.node.push_back(static_cast<std::int32_t>(u));
      part.base.push_back(base[u]);
      part.rate.push_back(rate[u]);
    }
    for (std::int64_t u = 0; u < graph_.n_nodes; ++u)
      if (part_[at(u)] != kNowhere) copy_row(u, position, parts[at(part_[at(u)])].graph);
    meter.spend(2 * graph_.start[graph_.n_nodes]);
    return parts;
  }

 private:
  struct Size {
    std::int64_t nodes, arcs;
  };

  void explore(std::int64_t root) {
    const auto number = static_cast<std::int32_t>(sizes_.size());
    Size size{0, 0};
    part_[at(root)] = number;
    stack_.push_back(static_cast<std::int32_t>(root));
    while (!stack_.empty()) {
      const std::int32_t u = stack_.back();
      stack_.pop_back();
      ++size.nodes;
      for (std::int64_t a = graph_.start[u]; a < graph_.start[u + 1]; ++a) {
        const std::int32_t v = graph_.head[a];
        if (state_[at(v)] != state_[at(u)]) continue;
        ++size.arcs;
        if (part_[at(v)] != kNowhere) continue;
        part_[at(v)] = number;
        stack_.push_back(v);
      }
    }
    sizes_.push_back(size);
  }

  void copy_row(std::int64_t u, const std::vector<std::int32_t>& position, FlowGraph& out) const {
    for (std::int64_t a = graph_.start[u]; a < graph_.start[u + 1]; ++a) {
      const std::int32_t v = graph_.head[a];
      if (part_[at(v)] != part_[at(u)]) continue;
      out.head.push_back(position[at(v)]);
      out.weight.push_back(graph_.weight[a]);
    }
    out.start.push_back(static_cast<std::int64_t>(out.head.size()));
  }

  const FlowView graph_;
  const std::vector<State>& state_;
  std::vector<std::int32_t> part_, stack_;
  std::vector<Size> sizes_;
};

// The smallest source set at one λ.
std::vector<std::uint8_t> cut_at(const FlowView& graph, const CutNodes& nodes, double lambda,
                                 Meter& meter) {
  Contraction contraction(graph, nodes);
  contraction.add_up(meter);
  contraction.decide({{lambda, lambda}, {lambda, lambda}}, meter);
  std::vector<std::uint8_t> inside(at(graph.n_nodes));
  for (std::size_t u = 0; u < inside.size(); ++u) inside[u] = contraction.state[u] == State::source;
  std::vector<double> supply;
  std::vector<std::uint8_t> side;
  const Components open(graph, contraction.state);
  for (const CutPart& part : open.cut_out(contraction.base.data(), nodes.rate, meter)) {
    supply.resize(part.node.size());
    side.resize(part.node.size());
    for (std::size_t k = 0; k < supply.size(); ++k)
      supply[k] = part.rate[k] * lambda - part.base[k];
    min_cut(part.view(), supply.data(), side.data(), meter);
    for (std::size_t k = 0; k < supply.size(); ++k) inside[at(part.node[k])] = side[k];
  }
  return inside;
}

// Works off parts, and the parts that these leave, until none is left. step(part, meter) returns
// the parts that it leaves; a part writes only what concerns its own nodes.
template <class Step>
void work_off(std::vector<CutPart> parts, int n_jobs, Poll poll, const Step& step) {
  while (!parts.empty()) {
    std::vector<std::vector<CutPart>> left(parts.size());
    for_blocks(static_cast<std::int64_t>(parts.size()), n_jobs, poll,
               [&](std::int64_t k, StopToken& token) {
                 Meter meter(token);
                 left[at(k)] = step(parts[at(k)], meter);
                 parts[at(k)] = CutPart{};
               });
    parts.clear();
    for (auto& some : left)
      for (CutPart& part : some) parts.push_back(std::move(part));
  }
}

class CutPath {
 public:
  CutPath(const double* lambdas, std::int64_t n_nodes, std::int64_t n_lambdas)
      : first(at(n_nodes)), lambdas_(lambdas), n_lambdas_(static_cast<std::int32_t>(n_lambdas)) {}

  void run(const FlowView& graph, const CutNodes& nodes, int n_jobs, Poll poll) {
    std::vector<CutPart> parts;
    for_blocks(1, 1, poll, [&](std::int64_t, StopToken& token) {
      Meter meter(token);
      Contraction contraction(graph, nodes);
      const Positions all{0, n_lambdas_};
      parts = narrow(graph, nodes.rate, contraction, nullptr, {all, all}, meter);
    });
    work_off(std::move(parts), n_jobs, poll,
             [this](const CutPart& part, Meter& meter) { return step(part, meter); });
  }

  std::vector<std::int32_t> first;

 private:
  struct Positions {
    std::int32_t from, to;
  };

  // Notes what is decided for all λs of a half, and returns the rest in parts.
  std::vector<CutPart> narrow(const FlowView& graph, const double* rate, Contraction& contraction,
                              const std::int32_t* number, const Positions (&halves)[2],
                              Meter& meter) {
    const std::vector<State> before = contraction.state;
    LambdaRange ranges[2] = {};
    for (std::size_t h = 0; h < 2; ++h)
      if (halves[h].from < halves[h].to)
        ranges[h] = {lambdas_[halves[h].from], lambdas_[halves[h].to - 1]};
    contraction.add_up(meter);
    contraction.decide(ranges, meter);
    for (std::int64_t u = 0; u < graph.n_nodes; ++u) {
      const State now = contraction.state[at(u)];
      if (now != State::source && now != State::sink) continue;
      const Positions& half = halves[static_cast<std::size_t>(before[at(u)])];
      first[at(number ? number[u] : u)] = now == State::source ? half.from : half.to;
    }
    const Components open(graph, contraction.state);
    std::vector<CutPart> parts = open.cut_out(contraction.base.data(), rate, meter);
    for (CutPart& part : parts) {
      const Positions& half = halves[static_cast<std::size_t>(part.half)];
      part.first = half.from, part.last = half.to;
      if (number)
        for (std::int32_t& u : part.node) u = number[u];
    }
    return parts;
  }

  std::vector<CutPart> step(const CutPart& part, Meter& meter) {
    const std::int32_t middle = part.first + (part.last - part.first) / 2;
    const FlowView graph = part.view();
    const std::vector<std::uint8_t> inside = cut_at(graph, part.nodes(), lambdas_[middle], meter);
    const Positions halves[2] = {{middle + 1, part.last}, {part.first, middle}};
    for (std::size_t k = 0; k < inside.size(); ++k) first[at(part.node[k])] = halves[inside[k]].to;
    const bool keep[2] = {halves[0].from < halves[0].to, halves[1].from < halves[1].to};
    if (!keep[0] && !keep[1]) return {};
    Contraction contraction(graph, part.nodes());
    contraction.halve(inside, keep);
    return narrow(graph, part.rate.data(), contraction, part.node.data(), halves, meter);
  }

  const double* lambdas_;
  const std::int32_t n_lambdas_;
};

// A part whose nodes all enter S between two values of λ: its objective as a whole changes sign
// where Σ base = λ Σ rate. A cut there is either trivial, and then all enter at once, or divides
// it.
std::vector<CutPart> divide(const CutPart& part, std::vector<double>& enters, Meter& meter) {
  double base = 0, rate = 0;
  for (const double b : part.base) base += b;
  for (const double r : part.rate) rate += r;
  const auto [low, high] = part.range;
  const double lambda = rate > 0 ? std::clamp(base / rate, low, high) : low;
  const FlowView graph = part.view();
  const std::vector<std::uint8_t> inside = cut_at(graph, part.nodes(), lambda, meter);
  const auto n_inside = std::count(inside.begin(), inside.end(), std::uint8_t{1});
  if (n_inside == 0 || n_inside == graph.n_nodes) {
    for (const std::int32_t u : part.node) enters[at(u)] = lambda;
    return {};
  }
  Contraction contraction(graph, part.nodes());
  contraction.halve(inside, {true, true});
  contraction.add_up(meter);
  const Components halves(graph, contraction.state);
  std::vector<CutPart> left = halves.cut_out(contraction.base.data(), part.rate.data(), meter);
  for (CutPart& half : left) {
    half.range = half.half == State::lower ? LambdaRange{low, lambda} : LambdaRange{lambda, high};
    for (std::int32_t& u : half.node) u = part.node[at(u)];
  }
  return left;
}

}  // namespace

std::vector<std::int32_t> cut_path(const FlowView& graph, const CutNodes& nodes,
                                   const double* lambdas, std::int64_t n_lambdas, int n_jobs,
                                   Poll poll) {
  CutPath path(lambdas, graph.n_nodes, n_lambdas);
  if (n_lambdas > 0) path.run(graph, nodes, n_jobs, poll);
  return std::move(path.first);
}

std::vector<double> cut_breakpoints(const FlowView& graph, const CutNodes& nodes, double low,
                                    double high, int n_jobs, Poll poll) {
  const double ends[2] = {low, high};
  const std::vector<std::int32_t> first = cut_path(graph, nodes, ends, 2, n_jobs, poll);
  std::vector<double> enters(first.size()), base(nodes.base, nodes.base + graph.n_nodes);
  std::vector<State> state(first.size());
  for (std::int64_t u = 0; u < graph.n_nodes; ++u) {
    state[at(u)] = first[at(u)] == 1 ? State::upper : State::absent;
    enters[at(u)] = first[at(u)] == 0 ? -kInfinity : kInfinity;
    for (std::int64_t a = graph.start[u]; a < graph.start[u + 1]; ++a) {
      const std::int32_t other = first[at(graph.head[a])];
      if (other != 1) base[at(u)] += other == 0 ? -graph.weight[a] : graph.weight[a];
    }
  }
  std::vector<CutPart> parts;
  for_blocks(1, 1, poll, [&](std::int64_t, StopToken& token) {
    Meter meter(token);
    parts = Components(graph, state).cut_out(base.data(), nodes.rate, meter);
  });
  for (CutPart& part : parts) part.range = {low, high};
  work_off(std::move(parts), n_jobs, poll,
           [&enters](const CutPart& part, Meter& meter) { return divide(part, enters, meter); });
  return enters;
}

std::vector<double> cut_capacities(const FlowView& graph, const std::int32_t* first,
                                   std::int64_t n_sets) {
  std::vector<double> capacity(at(n_sets), 0.0);
  for (std::int32_t u = 0; u < graph.n_nodes; ++u)
    for (std::int64_t a = graph.start[u]; a < graph.start[u + 1]; ++a)
      for (std::int64_t k = first[u]; k < first[graph.head[a]]; ++k)
        capacity[at(k)] += graph.weight[a];
  return capacity;
}

}  // namespace tacit
