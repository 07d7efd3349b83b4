#include <algorithm>
#include <limits>

#include "itemset/significant.hpp"

namespace tacit {
namespace {

// Leaves out items of a path, the last first, as long as its records stay the same.
void shorten(const SignificantQuery& q, std::int64_t support, std::vector<std::int32_t>& path,
             std::vector<std::int32_t>& a, std::vector<std::int32_t>& b) {
  const auto common = [&](std::size_t without) {
    bool begun = false;
    for (std::size_t k = 0; k < path.size(); ++k) {
      if (k == without) continue;
      const std::int32_t *const first = q.rows + q.start[path[k]], *const last =
                                                                       q.rows +
                                                                       q.start[path[k] + 1];
      b.clear();
      if (begun)
        std::set_intersection(a.begin(), a.end(), first, last, std::back_inserter(b));
      else
        b.assign(first, last);
      begun = true;
      std::swap(a, b);
    }
    return static_cast<std::int64_t>(a.size());
  };
  for (std::size_t k = path.size(); k-- > 0;)
    if (path.size() > 1 && common(k) == support)
      path.erase(path.begin() + static_cast<std::ptrdiff_t>(k));
}

// Whether a rule is no stronger than another one that has all of its records.
bool adds_nothing(const MarginTest& test, const SignificantRules& rules, std::size_t rule,
                  std::size_t other, double limit) {
  const std::int64_t n = test.n_records(), positive = test.n_positives();
  const std::int64_t s = rules.support[rule], k = rules.positives[rule];
  const std::int64_t whole = rules.support[other], hits = rules.positives[other];
  const bool upward = k * n > s * positive;
  if (upward != (hits * n > whole * positive)) return false;
  const auto side = upward ? Alternative::greater : Alternative::less;
  return test.within(whole, hits, side).log_p(s, k) > limit;
}

}  // namespace

std::vector<std::int64_t> reduce_rules(const SignificantQuery& q, bool redundant, double limit,
                                       SignificantRules& rules, int n_jobs, Poll poll) {
  const auto n = static_cast<std::int64_t>(rules.support.size());
  const MarginTest test(
      q.n_records,
      std::count_if(q.labels, q.labels + q.n_records, [](auto label) { return label != 0; }),
      q.test, Alternative::two_sided);
  Poller poller(poll);
  std::vector<std::int64_t> kept;
  // Kept rules by the first item of their paths: one covers a rule whose records hold all of it.
  std::vector<std::vector<std::int64_t>> by_item(static_cast<std::size_t>(q.n_items));
  std::vector<std::uint8_t> held(static_cast<std::size_t>(q.n_items), 0);
  for (std::int64_t r = 0; r < n; ++r) {
    const auto at = static_cast<std::size_t>(r);
    const auto closed = [&](auto&& visit) {
      for (std::int64_t k = rules.closed_start[at]; k < rules.closed_start[at + 1]; ++k)
        if (visit(static_cast<std::size_t>(rules.closed[static_cast<std::size_t>(k)]))) return true;
      return false;
    };
    if (!redundant) {
      closed([&](std::size_t i) { return held[i] = 1, false; });
      const bool covered = closed([&](std::size_t i) {
        return std::any_of(by_item[i].begin(), by_item[i].end(), [&](std::int64_t other) {
          const auto o = static_cast<std::size_t>(other);
          return std::all_of(rules.path.begin() + rules.path_start[o],
                             rules.path.begin() + rules.path_start[o + 1],
                             [&](std::int32_t j) { return held[static_cast<std::size_t>(j)]; }) &&
                 adds_nothing(test, rules, at, o, limit);
        });
      });
      closed([&](std::size_t i) { return held[i] = 0, false; });
      if (covered) continue;
      const auto first = rules.path[static_cast<std::size_t>(rules.path_start[at])];
      by_item[static_cast<std::size_t>(first)].push_back(r);
    }
    kept.push_back(r);
    poller.check();
  }
  std::vector<std::vector<std::int32_t>> paths(kept.size());
  constexpr std::int64_t kBlock = 256;
  const auto n_kept = static_cast<std::int64_t>(kept.size());
  for_blocks(
      (n_kept + kBlock - 1) / kBlock, n_jobs, poll, [&](std::int64_t block, StopToken& token) {
        Meter meter(token);
        std::vector<std::int32_t> a, b;
        for (std::int64_t k = block * kBlock; k < std::min(n_kept, (block + 1) * kBlock); ++k) {
          const auto at = static_cast<std::size_t>(kept[static_cast<std::size_t>(k)]);
          std::vector<std::int32_t>& path = paths[static_cast<std::size_t>(k)];
          path.assign(rules.path.begin() + rules.path_start[at],
                      rules.path.begin() + rules.path_start[at + 1]);
          shorten(q, rules.support[at], path, a, b);
          meter.spend(static_cast<std::int64_t>(path.size() * path.size()) * q.n_records);
        }
      });
  rules.path.clear();
  rules.path_start.assign(1, 0);
  for (const auto& path : paths) {
    rules.path.insert(rules.path.end(), path.begin(), path.end());
    rules.path_start.push_back(static_cast<std::int64_t>(rules.path.size()));
  }
  return kept;
}

}  // namespace tacit
