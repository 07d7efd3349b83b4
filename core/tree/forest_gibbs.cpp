#include <vector>

#include "base/uniform.hpp"
#include "tree/forest_walk.hpp"

namespace tacit {
namespace {

// The first code whose cumulated probability exceeds u; the last that is possible where rounding
// leaves none.
std::int32_t draw_code(const double* chances, std::int64_t arity, double u) {
  std::int32_t last = 0;
  double sum = 0;
  for (std::int32_t code = 0; code < arity; ++code) {
    if (chances[code] <= 0) continue;
    sum += chances[code];
    last = code;
    if (u < sum) break;
  }
  return last;
}

}  // namespace

void forest_gibbs(const WalkForest& forest, std::int64_t n_chains, const std::int64_t* seeds,
                  std::int64_t first_sweep, std::int64_t n_sweeps, std::int32_t* codes, int n_jobs,
                  Poll poll) {
  const std::int64_t n_columns = forest.n_trees;
  const auto id_of = [&](std::int64_t column, std::int32_t code) {
    const std::int64_t tacit = forest.defaults[column];
    if (code == tacit) return std::int32_t{-1};
    return static_cast<std::int32_t>(forest.offsets[column] + code - (code > tacit ? 1 : 0));
  };
  const DefaultWays ways(forest);
  for_blocks(n_chains, n_jobs, poll, [&](std::int64_t chain, StopToken& token) {
    Meter meter(token);
    const auto seed = static_cast<std::uint64_t>(seeds[chain]);
    std::int32_t* chain_codes = codes + chain * n_columns;
    std::vector<std::int32_t> held(static_cast<std::size_t>(n_columns));
    // How many of the held ids each tree's default way asks about: none means the default leaf.
    std::vector<std::int32_t> asked(static_cast<std::size_t>(n_columns));
    const auto count = [&](std::int32_t id, std::int32_t step) {
      if (id < 0) return;
      for (auto turning = ways.begin(id); turning < ways.end(id); ++turning)
        asked[static_cast<std::size_t>(turning->tree)] += step;
    };
    for (std::int64_t c = 0; c < n_columns; ++c) {
      held[static_cast<std::size_t>(c)] = id_of(c, chain_codes[c]);
      count(held[static_cast<std::size_t>(c)], 1);
    }
    auto counter = static_cast<std::uint64_t>(first_sweep) * static_cast<std::uint64_t>(n_columns);
    for (std::int64_t sweep = 0; sweep < n_sweeps; ++sweep) {
      for (std::int64_t c = 0; c < n_columns; ++c, ++counter) {
        const bool usual = asked[static_cast<std::size_t>(c)] == 0;
        const std::int32_t leaf =
            usual ? ways.leaf(c) : leaf_of_state(forest.nodes, forest.root(c), held.data());
        chain_codes[c] = draw_code(forest.row(c, leaf), forest.arity(c), uniform_at(seed, counter));
        std::int32_t& id = held[static_cast<std::size_t>(c)];
        const std::int32_t drawn = id_of(c, chain_codes[c]);
        if (drawn != id) {
          count(id, -1);
          count(drawn, 1);
          id = drawn;
        }
        meter.spend(16 + forest.arity(c));
      }
    }
  });
}

}  // namespace tacit
