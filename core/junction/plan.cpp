#include "junction/plan.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tacit {
namespace {

constexpr std::size_t kMostFactors = 10;  // of one clique; more are put together first
constexpr double kMostCells = 1e15;       // keeps every index inside 64 bits
constexpr double kRootCells = 4096;

// Which columns matter, and which of them are free.
struct Scope {
  std::vector<char> kept, free;
  std::vector<std::uint32_t> columns;  // the free ones, ascending
  std::vector<std::uint32_t> number;   // position of a free column among them

  Scope(const JunctionNet& net, JunctionTask task, const std::int32_t* codes,
        const std::vector<std::uint32_t>& targets) {
    const std::size_t n = net.n_columns();
    const bool all = task != JunctionTask::kEvidence && task != JunctionTask::kJoint;
    kept.assign(n, all ? 1 : 0);
    if (!all) keep_ancestors(net, codes, targets);
    free.assign(n, 0);
    number.assign(n, 0);
    for (std::uint32_t c = 0; c < n; ++c) {
      free[c] = kept[c] && codes[c] < 0 && net.sizes[c] > 1;
      if (!free[c]) continue;
      number[c] = static_cast<std::uint32_t>(columns.size());
      columns.push_back(c);
    }
  }

 private:
  // Columns that neither are asked about nor have such descendants sum to one.
  void keep_ancestors(const JunctionNet& net, const std::int32_t* codes,
                      const std::vector<std::uint32_t>& targets) {
    std::vector<std::uint32_t> open(targets);
    for (std::uint32_t c = 0; c < net.n_columns(); ++c)
      if (codes[c] >= 0) open.push_back(c);
    for (const std::uint32_t c : open) kept[c] = 1;
    while (!open.empty()) {
      const std::uint32_t c = open.back();
      open.pop_back();
      for (const std::uint32_t p : net.parents[c])
        if (!kept[p]) {
          kept[p] = 1;
          open.push_back(p);
        }
    }
  }
};

InteractionGraph make_graph(const JunctionNet& net, const Scope& scope,
                            const std::vector<std::uint32_t>& targets) {
  InteractionGraph graph(scope.columns.size());
  for (std::size_t k = 0; k < graph.size(); ++k)
    graph.sizes[k] = static_cast<double>(net.sizes[scope.columns[k]]);
  std::vector<std::uint32_t> group;
  const auto join_group = [&] {
    for (const std::uint32_t a : group)
      for (const std::uint32_t b : group)
        if (a != b) graph.neighbours[a].push_back(b);
  };
  for (std::size_t f = 0; f < net.n_columns(); ++f) {
    if (!scope.kept[f]) continue;
    group.clear();
    for (std::size_t a = 0; a <= net.n_parents(f); ++a)
      if (scope.free[net.member(f, a)]) group.push_back(scope.number[net.member(f, a)]);
    join_group();
  }
  group.clear();
  for (const std::uint32_t c : targets)
    if (scope.free[c]) group.push_back(scope.number[c]);
  join_group();
  graph.last = group;
  for (auto& some : graph.neighbours) {
    std::sort(some.begin(), some.end());
    some.erase(std::unique(some.begin(), some.end()), some.end());
  }
  return graph;
}

// The tree of maximal cliques of an elimination, as slots. Going backwards, a vertex either belongs
// to the clique that consists of exactly its later neighbours, or begins a clique of its own. Where
// values are chosen from the root on, a large clique gets a smaller one above it as root, because
// all cells of the root are compared.
void make_cliques(const InteractionGraph& graph, const Elimination& elimination, JunctionPlan& plan,
                  std::vector<std::size_t>& clique_of) {
  const bool chooses = plan.task == JunctionTask::kMost || plan.task == JunctionTask::kSample;
  const double enough = chooses ? kRootCells : 2 * kMostCells;
  std::vector<double> root_cells;  // of cliques that are roots, else 0
  const std::size_t n = elimination.order.size();
  std::vector<std::size_t> slot_of(n);
  for (std::size_t k = 0; k < n; ++k) slot_of[elimination.order[k]] = k;
  clique_of.resize(n);
  for (std::size_t slot = n; slot-- > 0;) {
    std::vector<std::size_t> later;
    for (const std::uint32_t u : elimination.later[elimination.order[slot]])
      later.push_back(slot_of[u]);
    std::sort(later.begin(), later.end());
    const std::size_t above = later.empty() ? kNone : clique_of[later[0]];
    const double size = graph.sizes[elimination.order[slot]];
    if (above != kNone && plan.cliques[above].slots.size() == later.size() &&
        root_cells[above] < enough) {
      root_cells[above] *= size;
      plan.cliques[above].slots.insert(plan.cliques[above].slots.begin(), slot);
      clique_of[slot] = above;
    } else {
      clique_of[slot] = plan.cliques.size();
      PlannedClique clique;
      clique.parent = above;
      clique.slots = std::move(later);
      clique.slots.insert(clique.slots.begin(), slot);
      plan.cliques.push_back(std::move(clique));
      root_cells.push_back(above == kNone ? size : 0);
    }
  }
  for (std::size_t slot = 0; slot < n; ++slot) ++plan.cliques[clique_of[slot]].n_residual;
}

std::uint64_t axes_of(const PlannedClique& clique, const std::vector<std::size_t>& slots) {
  std::uint64_t axes = 0;
  for (const std::size_t slot : slots) {
    const auto position = std::lower_bound(clique.slots.begin(), clique.slots.end(), slot);
    axes |= std::uint64_t{1} << (position - clique.slots.begin());
  }
  return axes;
}

// The last n axes.
std::uint64_t last_axes(const PlannedClique& clique, std::size_t n) {
  const std::size_t all = clique.slots.size();
  return n == 0 ? 0 : ~std::uint64_t{0} >> (64 - n) << (all - n);
}

double cells_of(const PlannedClique& clique, std::uint64_t axes) {
  double cells = 1;
  for (std::size_t a = 0; a < clique.sizes.size(); ++a)
    if (axes >> a & 1) cells *= static_cast<double>(clique.sizes[a]);
  return cells;
}

// A table that a clique's product has: of a family, or a message from below.
struct Source {
  std::uint64_t axes;
  std::size_t family, child;
};

struct Host {
  std::uint64_t axes;
  std::vector<Source> sources;
};

// Small tables are multiplied into larger ones that have all their axes, which spares passes over
// the clique; and where there are still too many, those with the smallest product are joined, so
// that no product of unscaled numbers is long.
std::vector<Host> group_sources(const PlannedClique& clique, std::vector<Source> sources) {
  std::stable_sort(sources.begin(), sources.end(), [&](const Source& a, const Source& b) {
    return cells_of(clique, a.axes) > cells_of(clique, b.axes);
  });
  std::vector<Host> hosts;
  for (const Source& source : sources) {
    Host* best = nullptr;
    for (Host& host : hosts)
      if ((source.axes & ~host.axes) == 0) best = &host;  // the smallest one is the last
    if (best)
      best->sources.push_back(source);
    else
      hosts.push_back({source.axes, {source}});
  }
  while (hosts.size() > kMostFactors) {
    std::size_t one = 0, other = 1;
    double fewest = cells_of(clique, hosts[0].axes | hosts[1].axes);
    for (std::size_t i = 0; i < hosts.size(); ++i)
      for (std::size_t j = i + 1; j < hosts.size(); ++j) {
        const double cells = cells_of(clique, hosts[i].axes | hosts[j].axes);
        if (cells < fewest) fewest = cells, one = i, other = j;
      }
    hosts[one].axes |= hosts[other].axes;
    hosts[one].sources.insert(hosts[one].sources.end(), hosts[other].sources.begin(),
                              hosts[other].sources.end());
    hosts.erase(hosts.begin() + static_cast<std::ptrdiff_t>(other));
  }
  return hosts;
}

class Planner {
 public:
  Planner(const JunctionNet& net, JunctionTask task, const std::int32_t* codes,
          const std::vector<std::uint32_t>& targets)
      : net_(net), scope_(net, task, codes, targets) {
    plan_.task = task;
    for (const std::uint32_t c : targets) n_targets_ += scope_.free[c] ? 1 : 0;
  }

  JunctionPlan make(const std::vector<std::uint32_t>& targets,
                    const std::vector<std::uint32_t>& order, int n_tries,
                    const JunctionLimits& limits, Poll poll) {
    const InteractionGraph graph = make_graph(net_, scope_, targets);
    const Elimination elimination = eliminate(graph, order, n_tries, poll);
    plan_.needs = {elimination.width, elimination.largest, elimination.cells,
                   8 * elimination.cells};
    if (!(elimination.cells <= std::min(limits.cells, kMostCells)))
      throw JunctionTooWide(plan_.needs);
    for (const std::uint32_t v : elimination.order) plan_.columns.push_back(scope_.columns[v]);
    make_cliques(graph, elimination, plan_, clique_of_);
    slot_.assign(net_.n_columns(), kNone);
    for (std::size_t s = 0; s < plan_.columns.size(); ++s) slot_[plan_.columns[s]] = s;
    place_messages();
    place_families();
    for (std::size_t c = plan_.cliques.size(); c-- > 0;) place_factors(c);
    if (plan_.task == JunctionTask::kPosterior) {
      place_sums();
      place_marginals();
    }
    plan_.needs.bytes = 8 * bytes_;
    if (plan_.needs.bytes > limits.bytes) throw JunctionTooWide(plan_.needs);
    return std::move(plan_);
  }

 private:
  Elimination eliminate(const InteractionGraph& graph, const std::vector<std::uint32_t>& order,
                        int n_tries, Poll poll) const {
    std::vector<char> is_last(graph.size(), 0);
    for (const std::uint32_t v : graph.last) is_last[v] = 1;
    std::vector<std::uint32_t> known;
    for (const std::uint32_t c : order)
      if (scope_.free[c] && !is_last[scope_.number[c]]) known.push_back(scope_.number[c]);
    known.insert(known.end(), graph.last.begin(), graph.last.end());
    return cheapest_elimination(graph, n_tries, &known, poll);
  }

  std::size_t reserve(double cells) {
    const std::size_t at = plan_.arena;
    bytes_ += cells;
    plan_.arena += static_cast<std::size_t>(cells);
    return at;
  }

  // Axes, separators, and room for messages in both directions.
  void place_messages() {
    for (std::size_t c = 0; c < plan_.cliques.size(); ++c) {
      PlannedClique& clique = plan_.cliques[c];
      for (const std::size_t slot : clique.slots)
        clique.sizes.push_back(net_.sizes[plan_.columns[slot]]);
      clique.shape = BlockShape(clique.sizes);
      const bool root = clique.parent == kNone;
      const std::size_t n_shared =
          root ? (c == 0 ? n_targets_ : 0) : clique.slots.size() - clique.n_residual;
      clique.separator = TableWalk(clique.shape, last_axes(clique, n_shared));
      clique.unit = plan_.task != JunctionTask::kMost;
      const auto cells = static_cast<double>(clique.separator.cells);
      clique.up = reserve(cells);
      if (root) continue;
      PlannedClique& above = plan_.cliques[clique.parent];
      const std::vector<std::size_t> shared(
          clique.slots.begin() + static_cast<std::ptrdiff_t>(clique.n_residual),
          clique.slots.end());
      above.children.emplace_back(c, TableWalk(above.shape, axes_of(above, shared)));
    }
  }

  // Room for the separators of one clique's children, used again by the next clique.
  void place_sums() {
    std::size_t most = 0;
    for (const PlannedClique& clique : plan_.cliques) {
      std::size_t cells = 0;
      for (const auto& [child, walk] : clique.children) {
        plan_.cliques[child].down = plan_.arena + cells;
        cells += walk.cells;
      }
      most = std::max(most, cells);
    }
    reserve(static_cast<double>(most));
  }

  // Every family goes to the clique of its column that is eliminated first.
  void place_families() {
    sources_.resize(plan_.cliques.size());
    for (std::size_t f = 0; f < net_.n_columns(); ++f) {
      if (!scope_.kept[f]) continue;
      PlannedFamily family{f, {}, {}, {}, {}};
      const std::vector<std::pair<std::size_t, std::size_t>> axes = split(f, family.observed);
      if (axes.empty()) {
        plan_.observed_families.push_back(std::move(family));
        continue;
      }
      const std::size_t home = clique_of_[axes[0].first];
      PlannedClique& clique = plan_.cliques[home];
      std::vector<std::size_t> slots;
      for (const auto& [slot, step] : axes) {
        slots.push_back(slot);
        family.sizes.push_back(net_.sizes[plan_.columns[slot]]);
        family.steps.push_back(step);
      }
      const std::uint64_t clique_axes = axes_of(clique, slots);
      if (net_.sizes[f] > 1) {  // the table of a column with one value is all ones
        sources_[home].push_back({clique_axes, f, kNone});
        mark_path(home, slot_[f] == kNone ? kNone : clique_of_[slot_[f]]);
      }
      if (plan_.task == JunctionTask::kPosterior) {
        family.walk = TableWalk(clique.shape, clique_axes);
        clique.families.push_back(std::move(family));
      }
    }
  }

  // A family's free axes as (slot, step), by slot, and its observed ones.
  std::vector<std::pair<std::size_t, std::size_t>> split(std::size_t f, ObservedAxes& observed) {
    std::vector<std::pair<std::size_t, std::size_t>> axes;
    std::size_t step = 1;
    for (std::size_t a = net_.n_parents(f) + 1; a-- > 0;) {
      const std::uint32_t c = net_.member(f, a);
      if (slot_[c] == kNone)
        observed.emplace_back(c, step);
      else
        axes.emplace_back(slot_[c], step);
      step *= net_.sizes[c];
    }
    std::sort(axes.begin(), axes.end());
    return axes;
  }

  // A family says something about the cliques above, up to where its own column is summed out, or
  // all the way if that is observed. All other messages are sums of probabilities: one.
  void mark_path(std::size_t from, std::size_t to) {
    if (marked_to_top_.empty()) marked_to_top_.assign(plan_.cliques.size(), 0);
    for (std::size_t c = from; c != to && c != kNone; c = plan_.cliques[c].parent) {
      if (marked_to_top_[c]) return;
      plan_.cliques[c].unit = false;
      if (to == kNone) marked_to_top_[c] = 1;
    }
  }

  void place_factors(std::size_t c) {
    PlannedClique& clique = plan_.cliques[c];
    std::vector<Source> sources = sources_[c];
    for (const auto& [child, walk] : clique.children) {
      if (plan_.cliques[child].unit) continue;
      const PlannedClique& below = plan_.cliques[child];
      const std::vector<std::size_t> shared(
          below.slots.begin() + static_cast<std::ptrdiff_t>(below.n_residual), below.slots.end());
      sources.push_back({axes_of(clique, shared), kNone, child});
    }
    for (const Host& host : group_sources(clique, std::move(sources))) {
      const Source& first = host.sources[0];
      if (host.sources.size() == 1 && first.child != kNone) {
        clique.factors.push_back(
            {TableWalk(clique.shape, host.axes), plan_.cliques[first.child].up});
        continue;
      }
      const std::size_t at = reserve(cells_of(clique, host.axes));
      clique.factors.push_back({TableWalk(clique.shape, host.axes), at});
      for (std::size_t k = 0; k < host.sources.size(); ++k)
        clique.folds.push_back(make_fold(clique, host, host.sources[k], at, k == 0));
    }
    // The largest factor first: it is copied instead of multiplied.
    std::stable_sort(
        clique.factors.begin(), clique.factors.end(),
        [](const PlacedTable& a, const PlacedTable& b) { return a.walk.cells > b.walk.cells; });
  }

  TableFold make_fold(const PlannedClique& clique, const Host& host, const Source& source,
                      std::size_t at, bool assign) {
    TableFold fold;
    fold.family = source.family;
    fold.child = source.child;
    fold.to = at;
    fold.assign = assign;
    std::vector<std::pair<std::size_t, std::size_t>> axes;
    if (source.family != kNone) {
      axes = split(source.family, fold.observed);
    } else {
      const PlannedClique& below = plan_.cliques[source.child];
      std::size_t step = 1;
      for (std::size_t a = below.slots.size(); a-- > below.n_residual;) {
        axes.emplace_back(below.slots[a], step);
        step *= below.sizes[a];
      }
      std::reverse(axes.begin(), axes.end());
    }
    auto next = axes.begin();
    for (std::size_t a = 0; a < clique.slots.size(); ++a) {
      if (!(host.axes >> a & 1)) continue;
      const bool has = next != axes.end() && next->first == clique.slots[a];
      fold.sizes.push_back(clique.sizes[a]);
      fold.steps.push_back(has ? next->second : 0);
      fold.cells *= clique.sizes[a];
      if (has) ++next;
    }
    return fold;
  }

  // Each column's marginal is summed from the smallest table that has the column.
  void place_marginals() {
    const std::size_t n = plan_.columns.size();
    plan_.separator_marginals.resize(plan_.cliques.size());
    std::vector<double> fewest(n, 2 * kMostCells);
    std::vector<std::size_t> where(n), from_separator(n, 0);
    const auto offer = [&](std::size_t slot, double cells, std::size_t c, std::size_t separator) {
      if (cells >= fewest[slot]) return;
      fewest[slot] = cells;
      where[slot] = c;
      from_separator[slot] = separator;
    };
    for (std::size_t c = 0; c < plan_.cliques.size(); ++c) {
      const PlannedClique& clique = plan_.cliques[c];
      for (std::size_t a = 0; a < clique.slots.size(); ++a) {
        if (clique.parent != kNone && a >= clique.n_residual)
          offer(clique.slots[a], static_cast<double>(clique.separator.cells), c, 1);
        offer(clique.slots[a], cells_of(clique, ~std::uint64_t{0}), c, 0);
      }
    }
    for (std::size_t slot = 0; slot < n; ++slot) {
      PlannedClique& clique = plan_.cliques[where[slot]];
      if (from_separator[slot]) {
        plan_.separator_marginals[where[slot]].push_back(on_separator(clique, slot));
      } else {
        const std::uint64_t axis = axes_of(clique, {slot});
        clique.marginals.emplace_back(plan_.columns[slot], TableWalk(clique.shape, axis));
      }
    }
  }

  SeparatorMarginal on_separator(const PlannedClique& clique, std::size_t slot) const {
    SeparatorMarginal marginal{plan_.columns[slot], 1, net_.sizes[plan_.columns[slot]], 1};
    for (std::size_t a = clique.n_residual; a < clique.slots.size(); ++a) {
      if (clique.slots[a] < slot) marginal.before *= clique.sizes[a];
      if (clique.slots[a] > slot) marginal.behind *= clique.sizes[a];
    }
    return marginal;
  }

  const JunctionNet& net_;
  const Scope scope_;
  std::size_t n_targets_ = 0;
  JunctionPlan plan_;
  std::vector<std::size_t> clique_of_;  // by slot
  std::vector<std::size_t> slot_;       // by column, kNone where it is not free
  std::vector<std::vector<Source>> sources_;
  std::vector<char> marked_to_top_;
  double bytes_ = 0;  // in doubles
};

}  // namespace

JunctionPlan plan_junction(const JunctionNet& net, JunctionTask task, const std::int32_t* codes,
                           const std::vector<std::uint32_t>& targets,
                           const std::vector<std::uint32_t>& order, int n_tries,
                           const JunctionLimits& limits, Poll poll) {
  return Planner(net, task, codes, targets).make(targets, order, n_tries, limits, poll);
}

std::pair<std::vector<std::uint32_t>, JunctionNeeds> order_columns(const JunctionNet& net,
                                                                   Poll poll) {
  const std::vector<std::int32_t> codes(net.n_columns(), -1);
  const Scope scope(net, JunctionTask::kPosterior, codes.data(), {});
  const InteractionGraph graph = make_graph(net, scope, {});
  Elimination best = cheapest_elimination(graph, 3, nullptr, poll);
  if (best.cells > 5e3) {  // worth more thought
    const double rounds = (best.cells > 1e6 ? 1e5 : 2e4) / static_cast<double>(graph.size());
    const int n_tries = static_cast<int>(std::clamp(rounds, best.cells > 1e6 ? 60. : 12., 500.));
    best = cheapest_elimination(graph, n_tries, &best.order, poll);
  }
  std::vector<std::uint32_t> order;
  for (const std::uint32_t v : best.order) order.push_back(scope.columns[v]);
  std::vector<char> placed(net.n_columns(), 0);
  for (const std::uint32_t c : order) placed[c] = 1;
  for (std::uint32_t c = 0; c < net.n_columns(); ++c)
    if (!placed[c]) order.push_back(c);
  return {std::move(order), {best.width, best.largest, best.cells, 8 * best.cells}};
}

}  // namespace tacit
