#include "itemset/association.hpp"

#include <algorithm>
#include <deque>
#include <numeric>

#include "itemset/set_index.hpp"

namespace tacit {
namespace {

constexpr double kRounding = 1e-12;

struct TooManyRules {};

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// The closed ones of the listed sets, the most frequent first, with items numbered by rank: those in
// the fewest sets come first, and have the shortest lists with the most behind them.
struct ClosedSets {
  std::vector<std::size_t> indptr{0};
  std::vector<std::uint32_t> ranks;  // ascending within a set
  std::vector<double> counts;
  std::vector<std::uint32_t> items;  // by rank

  const std::uint32_t* begin(std::uint32_t set) const { return ranks.data() + indptr[set]; }
  const std::uint32_t* end(std::uint32_t set) const { return ranks.data() + indptr[set + 1]; }
};

// Sets that one with one more item, as frequent, stands for.
std::vector<std::uint8_t> find_covered(const SetLists& listed, const double* counts,
                                       Poller& poller) {
  SetIndex index;
  for (std::int64_t s = 0; s < listed.n_sets; ++s)
    index.add(listed.items + listed.indptr[s], at(listed.indptr[s + 1] - listed.indptr[s]));
  std::vector<std::uint8_t> covered(at(listed.n_sets));
  std::vector<std::uint32_t> fewer;
  for (std::int64_t s = 0; s < listed.n_sets; ++s) {
    if ((s & 0xfff) == 0) poller.check();
    const std::uint32_t* const set = listed.items + listed.indptr[s];
    const std::size_t n = at(listed.indptr[s + 1] - listed.indptr[s]);
    if (n < 2) continue;
    fewer.assign(set + 1, set + n);  // without item k
    for (std::size_t k = 0; k < n; ++k) {
      const std::int64_t smaller = index.find(fewer.data(), n - 1);
      if (smaller >= 0 && counts[smaller] == counts[s]) covered[at(smaller)] = 1;
      if (k + 1 < n) fewer[k] = set[k];
    }
  }
  return covered;
}

ClosedSets find_closed(const SetLists& listed, const double* counts, std::int64_t n_items,
                       Poller& poller) {
  const auto covered = find_covered(listed, counts, poller);
  std::vector<std::int64_t> order, holders(at(n_items));
  for (std::int64_t s = 0; s < listed.n_sets; ++s) {
    if (covered[at(s)]) continue;
    order.push_back(s);
    for (std::int64_t k = listed.indptr[s]; k < listed.indptr[s + 1]; ++k)
      ++holders[listed.items[k]];
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return counts[a] > counts[b]; });
  ClosedSets closed;
  for (std::int64_t i = 0; i < n_items; ++i)
    if (holders[at(i)] > 0) closed.items.push_back(static_cast<std::uint32_t>(i));
  std::stable_sort(closed.items.begin(), closed.items.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return holders[a] < holders[b]; });
  std::vector<std::uint32_t> ranks(at(n_items));
  for (std::size_t r = 0; r < closed.items.size(); ++r)
    ranks[closed.items[r]] = static_cast<std::uint32_t>(r);
  for (const std::int64_t s : order) {
    const std::size_t begin = closed.ranks.size();
    for (std::int64_t k = listed.indptr[s]; k < listed.indptr[s + 1]; ++k)
      closed.ranks.push_back(ranks[listed.items[k]]);
    std::sort(closed.ranks.begin() + static_cast<std::ptrdiff_t>(begin), closed.ranks.end());
    closed.indptr.push_back(closed.ranks.size());
    closed.counts.push_back(counts[s]);
  }
  return closed;
}

class AssociationSearch {
 public:
  AssociationSearch(const ClosedSets& closed, const AssociationOptions& options, Poller& poller,
                    AssociationList& out)
      : closed_(closed),
        options_(options),
        poller_(poller),
        out_(out),
        tallies_(closed.items.size()),
        firsts_(closed.items.size()) {}

  void run() {
    std::vector<std::uint32_t> all(closed_.counts.size());
    std::iota(all.begin(), all.end(), 0u);
    visit(all.data(), all.size(), options_.total, 0);
  }

 private:
  // What stands beside a set, and the closed sets that hold it with each item behind its last.
  struct Level {
    std::vector<std::uint32_t> beside;  // ranks, ascending
    std::vector<double> counts;         // of the set with each
    std::vector<std::size_t> start;     // into `lists`, for each
    std::vector<std::uint32_t> lists;
  };
  struct Pair {
    std::uint32_t consequent;
    double confidence;  // the highest of the set and its parts
  };

  void visit(const std::uint32_t* list, std::size_t n, double count, std::size_t depth) {
    if (!options_.redundant && !is_generator(count)) return;
    if (levels_.size() <= depth) levels_.emplace_back();
    Level& level = levels_[depth];
    look(list, n, level);
    report(level, count);
    make_lists(list, n, count, level);
    // From the last item on, so that all parts of a set come before it.
    for (std::size_t k = level.beside.size(); k-- > 0;) {
      const std::size_t length = level.start[k + 1] - level.start[k];
      if (length == 0) continue;
      set_.push_back(level.beside[k]);
      visit(level.lists.data() + level.start[k], length, level.counts[k], depth + 1);
      set_.pop_back();
    }
  }

  // Whether all parts are more frequent: notes where those with one item less are.
  bool is_generator(double count) {
    parts_.clear();
    if (set_.empty()) return true;
    fewer_.assign(set_.begin() + 1, set_.end());
    for (std::size_t k = 0; k < set_.size(); ++k) {
      const std::int64_t part = index_.find(fewer_.data(), fewer_.size());
      if (part < 0 || generator_counts_[at(part)] == count) return false;
      parts_.push_back(part);
      if (k < fewer_.size()) fewer_[k] = set_[k];
    }
    return true;
  }

  void look(const std::uint32_t* list, std::size_t n, Level& level) {
    level.beside.clear();
    level.counts.clear();
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint32_t set = list[k];
      for (const std::uint32_t* r = closed_.begin(set); r < closed_.end(set); ++r)
        if (tallies_[*r]++ == 0) {
          firsts_[*r] = closed_.counts[set];
          level.beside.push_back(*r);
        }
      spend_steps(static_cast<std::int64_t>(closed_.end(set) - closed_.begin(set)) + 4);
    }
    for (const std::uint32_t r : set_) tallies_[r] = 0;
    std::erase_if(level.beside, [&](std::uint32_t r) { return tallies_[r] == 0; });
    std::sort(level.beside.begin(), level.beside.end());
    for (const std::uint32_t r : level.beside) level.counts.push_back(firsts_[r]);
  }

  // The rules of this antecedent; what is noted of it for the sets that it is part of.
  void report(const Level& level, double count) {
    const bool noted = !options_.redundant;
    for (std::size_t k = 0; k < level.beside.size(); ++k) {
      const std::uint32_t rank = level.beside[k];
      if (options_.consequents && !options_.consequents[closed_.items[rank]]) continue;
      const double confidence = level.counts[k] / count;
      double best = 0;
      if (noted)
        for (const std::int64_t part : parts_) best = std::max(best, confidence_of(part, rank));
      if (noted) pairs_.push_back({rank, std::max(best, confidence)});
      if (set_.empty() || confidence < options_.min_confidence - kRounding) continue;
      const double gain = confidence - best;
      if (noted && (gain <= kRounding || gain < options_.min_improvement - kRounding)) continue;
      put(rank, level.counts[k], count);
    }
    if (!noted) return;
    spend_bytes(static_cast<std::int64_t>((pairs_.size() - pair_start_.back()) * sizeof(Pair) +
                                          4 * set_.size() + 40));
    index_.add(set_.data(), set_.size());
    generator_counts_.push_back(count);
    pair_start_.push_back(pairs_.size());
  }

  double confidence_of(std::int64_t part, std::uint32_t consequent) const {
    const auto begin = pairs_.begin() + static_cast<std::ptrdiff_t>(pair_start_[at(part)]);
    const auto end = pairs_.begin() + static_cast<std::ptrdiff_t>(pair_start_[at(part) + 1]);
    return std::lower_bound(begin, end, consequent,
                            [](const Pair& pair, std::uint32_t c) { return pair.consequent < c; })
        ->confidence;
  }

  void put(std::uint32_t consequent, double both, double count) {
    const auto begin = static_cast<std::ptrdiff_t>(out_.antecedents.size());
    for (const std::uint32_t r : set_) out_.antecedents.push_back(closed_.items[r]);
    std::sort(out_.antecedents.begin() + begin, out_.antecedents.end());
    out_.indptr.push_back(static_cast<std::int64_t>(out_.antecedents.size()));
    out_.consequents.push_back(closed_.items[consequent]);
    out_.both.push_back(both);
    out_.antecedent_counts.push_back(count);
    spend_bytes(static_cast<std::int64_t>(4 * set_.size() + 28));
  }

  void make_lists(const std::uint32_t* list, std::size_t n, double count, Level& level) {
    const std::size_t n_beside = level.beside.size();
    level.start.assign(n_beside + 1, 0);
    for (std::size_t k = 0; k < n_beside; ++k) {
      const bool later = set_.empty() || level.beside[k] > set_.back();
      // An item that makes no difference leads to no generator.
      const bool searched = later && (options_.redundant || level.counts[k] < count);
      level.start[k + 1] = level.start[k] + (searched ? tallies_[level.beside[k]] : 0);
      tallies_[level.beside[k]] = 0;
      if (searched) places_.push_back({level.beside[k], level.start[k]});
    }
    level.lists.resize(level.start.back());
    for (const auto& [rank, start] : places_) {
      tallies_[rank] = 1;
      next_.resize(std::max<std::size_t>(next_.size(), rank + 1));
      next_[rank] = start;
    }
    if (!places_.empty())
      for (std::size_t k = 0; k < n; ++k)
        for (const std::uint32_t* r = closed_.begin(list[k]); r < closed_.end(list[k]); ++r)
          if (tallies_[*r] != 0) level.lists[next_[*r]++] = list[k];
    for (const auto& [rank, start] : places_) tallies_[rank] = 0;
    places_.clear();
  }

  void spend_steps(std::int64_t steps) {
    steps_ += steps;
    if (steps_ < 1 << 18) return;
    poller_.check();
    steps_ = 0;
  }

  void spend_bytes(std::int64_t bytes) {
    bytes_ += bytes;
    if (bytes_ > options_.max_bytes) throw TooManyRules();
  }

  struct Place {
    std::uint32_t rank;
    std::size_t start;
  };

  const ClosedSets& closed_;
  const AssociationOptions& options_;
  Poller& poller_;
  AssociationList& out_;
  std::vector<std::uint32_t> set_, fewer_;  // ranks
  std::deque<Level> levels_;
  std::vector<std::uint32_t> tallies_;  // zero between visits
  std::vector<double> firsts_;
  std::vector<std::size_t> next_;
  std::vector<Place> places_;
  std::int64_t steps_ = 0, bytes_ = 0;
  // Of each generator that was visited, where it is not asked for all rules.
  SetIndex index_;
  std::vector<double> generator_counts_;
  std::vector<std::size_t> pair_start_{0};
  std::vector<Pair> pairs_;
  std::vector<std::int64_t> parts_;
};

}  // namespace

AssociationList association_rules(const SetLists& listed, const double* counts,
                                  std::int64_t n_items, const AssociationOptions& options,
                                  Poll poll) {
  Poller poller(poll);
  const ClosedSets closed = find_closed(listed, counts, n_items, poller);
  AssociationList out;
  try {
    AssociationSearch(closed, options, poller, out).run();
  } catch (const TooManyRules&) {
    out = AssociationList();
    out.complete = false;
  }
  return out;
}

}  // namespace tacit
