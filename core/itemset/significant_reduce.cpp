#include <algorithm>
#include <limits>

#include "itemset/significant.hpp"

namespace tacit {
namespace {

// Records of items as bits, where these take no more memory than four times the lists.
class ItemBits {
 public:
  explicit ItemBits(const SignificantQuery& q) : n_words_((q.n_records + 63) / 64) {
    if (q.n_items * n_words_ > 2 * q.start[q.n_items]) return;
    words_.resize(static_cast<std::size_t>(q.n_items * n_words_), 0);
    for (std::int64_t i = 0; i < q.n_items; ++i)
      for (std::int64_t k = q.start[i]; k < q.start[i + 1]; ++k)
        words_[static_cast<std::size_t>(i * n_words_ + q.rows[k] / 64)] |= std::uint64_t{1}
                                                                           << (q.rows[k] % 64);
  }
  explicit operator bool() const { return !words_.empty(); }
  std::int64_t n_words() const { return n_words_; }
  const std::uint64_t* of(std::int32_t item) const { return words_.data() + item * n_words_; }

 private:
  std::int64_t n_words_;
  std::vector<std::uint64_t> words_;
};

// Whether no record holds the other items of a path without this one; most often one is met soon.
bool spare(const ItemBits& bits, const std::vector<std::int32_t>& path, std::size_t item) {
  for (std::int64_t w = 0; w < bits.n_words(); ++w) {
    std::uint64_t lost = ~bits.of(path[item])[w];
    for (std::size_t k = 0; k < path.size(); ++k)
      if (k != item) lost &= bits.of(path[k])[w];
    if (lost) return false;
  }
  return true;
}

bool spare(const SignificantQuery& q, const std::vector<std::int32_t>& path, std::size_t item) {
  const auto begin = [&](std::size_t k) { return q.rows + q.start[path[k]]; };
  const auto end = [&](std::size_t k) { return q.rows + q.start[path[k] + 1]; };
  std::size_t rarest = item ? 0 : 1;
  for (std::size_t k = 0; k < path.size(); ++k)
    if (k != item && end(k) - begin(k) < end(rarest) - begin(rarest)) rarest = k;
  return std::all_of(begin(rarest), end(rarest), [&](std::int32_t record) {
    const auto held = [&](std::size_t k) { return std::binary_search(begin(k), end(k), record); };
    if (held(item)) return true;
    bool others = true;
    for (std::size_t k = 0; k < path.size() && others; ++k)
      others = k == item || k == rarest || held(k);
    return !others;
  });
}

// Leaves out items of a path, the last first, as long as its records stay the same.
void shorten(const SignificantQuery& q, const ItemBits& bits, std::vector<std::int32_t>& path,
             Meter& meter) {
  for (std::size_t k = path.size(); k-- > 0 && path.size() > 1;) {
    const auto at = static_cast<std::ptrdiff_t>(k);
    if (bits ? spare(bits, path, k) : spare(q, path, k)) path.erase(path.begin() + at);
    meter.spend(static_cast<std::int64_t>(path.size()) * q.n_records / 8);
  }
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
  const ItemBits bits(q);
  constexpr std::int64_t kBlock = 256;
  const auto n_kept = static_cast<std::int64_t>(kept.size());
  for_blocks(
      (n_kept + kBlock - 1) / kBlock, n_jobs, poll, [&](std::int64_t block, StopToken& token) {
        Meter meter(token);
        for (std::int64_t k = block * kBlock; k < std::min(n_kept, (block + 1) * kBlock); ++k) {
          const auto at = static_cast<std::size_t>(kept[static_cast<std::size_t>(k)]);
          std::vector<std::int32_t>& path = paths[static_cast<std::size_t>(k)];
          path.assign(rules.path.begin() + rules.path_start[at],
                      rules.path.begin() + rules.path_start[at + 1]);
          shorten(q, bits, path, meter);
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
