#include "branching.hpp"

#include <cstddef>
#include <limits>

namespace tacit {
namespace {

constexpr double kNoArc = -std::numeric_limits<double>::infinity();

struct Arcs {  // the square of weights between the columns that are left, 0 being the root
  std::size_t n;
  std::vector<double> weight;
  double& at(std::size_t from, std::size_t to) { return weight[from * n + to]; }
};

// The parent of each node but the root, whose arcs reach every node.
std::vector<std::size_t> solve(Arcs arcs) {
  const std::size_t n = arcs.n;
  std::vector<std::size_t> best(n, 0);
  for (std::size_t to = 1; to < n; ++to)
    for (std::size_t from = 1; from < n; ++from)
      if (from != to && arcs.at(from, to) > arcs.at(best[to], to)) best[to] = from;

  // Follow the best arcs backwards; whoever comes round to itself is on a cycle, which becomes one.
  constexpr std::size_t kNew = static_cast<std::size_t>(-1);
  std::vector<std::size_t> seen(n, kNew), group(n, kNew);
  std::vector<std::uint8_t> on_cycle(n, 0);
  std::size_t n_groups = 1;
  group[0] = 0;
  bool any = false;
  for (std::size_t start = 1; start < n; ++start) {
    std::size_t x = start;
    while (x != 0 && seen[x] == kNew) {
      seen[x] = start;
      x = best[x];
    }
    if (x == 0 || seen[x] != start || group[x] != kNew) continue;
    any = true;
    const std::size_t own = n_groups++;
    for (std::size_t y = x; group[y] == kNew; y = best[y]) group[y] = own, on_cycle[y] = 1;
  }
  if (!any) return best;
  for (std::size_t x = 1; x < n; ++x)
    if (group[x] == kNew) group[x] = n_groups++;

  // Entering a cycle costs the arc of it that is given up.
  Arcs fewer{n_groups, std::vector<double>(n_groups * n_groups, kNoArc)};
  std::vector<std::size_t> via(n_groups * n_groups, 0);
  for (std::size_t from = 0; from < n; ++from)
    for (std::size_t to = 1; to < n; ++to) {
      if (group[from] == group[to]) continue;
      const double weight = arcs.at(from, to) - (on_cycle[to] ? arcs.at(best[to], to) : 0.0);
      const std::size_t cell = group[from] * n_groups + group[to];
      if (weight > fewer.weight[cell]) fewer.weight[cell] = weight, via[cell] = from * n + to;
    }
  const std::vector<std::size_t> chosen = solve(std::move(fewer));
  for (std::size_t g = 1; g < n_groups; ++g) {
    const std::size_t arc = via[chosen[g] * n_groups + g];
    best[arc % n] = arc / n;
  }
  return best;
}

}  // namespace

std::vector<std::int32_t> max_branching(const double* weights, std::int64_t n) {
  const auto size = static_cast<std::size_t>(n) + 1;
  Arcs arcs{size, std::vector<double>(size * size, kNoArc)};
  for (std::size_t to = 1; to < size; ++to) {
    arcs.at(0, to) = 0;
    for (std::size_t from = 1; from < size; ++from) {
      const double weight = weights[(from - 1) * (size - 1) + to - 1];
      if (from != to && weight > 0) arcs.at(from, to) = weight;
    }
  }
  std::vector<std::int32_t> parents;
  const std::vector<std::size_t> chosen = solve(std::move(arcs));
  for (std::size_t x = 1; x < size; ++x) parents.push_back(static_cast<std::int32_t>(chosen[x]) - 1);
  return parents;
}

}  // namespace tacit
