#include "net/parent_sets.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tacit {
namespace {

using Mask = std::uint64_t;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kBlock = 256;            // sets of columns that are counted together
constexpr std::uint32_t kMostDense = 1 << 16;  // cells that are counted by their number
constexpr double kMostCells = 0x1p62;          // that have numbers at all

Mask bit(int column) { return Mask{1} << column; }

template <class See>
void for_bits(Mask mask, const See& see) {
  for (; mask; mask &= mask - 1) see(std::countr_zero(mask));
}

// Records by column; those that are equal are one, with the sum of their weights.
struct Rows {
  std::size_t n = 0;
  std::vector<std::vector<std::uint16_t>> codes;
  std::vector<double> weights;
};

// Numbers what is different, by first appearance: ids[k] stands for (ids[k], codes[k]) afterwards.
std::uint32_t refine(std::vector<std::uint32_t>& ids, const std::uint16_t* codes, int arity) {
  struct Slot {
    std::uint64_t key = ~std::uint64_t{0};
    std::uint32_t id = 0;
  };
  std::vector<Slot> slots(std::bit_ceil(2 * ids.size() + 2));
  const std::size_t last = slots.size() - 1;
  std::uint32_t n = 0;
  for (std::size_t k = 0; k < ids.size(); ++k) {
    const std::uint64_t key = std::uint64_t{ids[k]} * static_cast<std::uint64_t>(arity) + codes[k];
    std::size_t at = (key * 0x9e3779b97f4a7c15 >> 20) & last;
    while (slots[at].key != key && slots[at].key != ~std::uint64_t{0}) at = (at + 1) & last;
    if (slots[at].key != key) slots[at] = {key, n++};
    ids[k] = slots[at].id;
  }
  return n;
}

Rows distinct_rows(const NetData& data) {
  const auto m = static_cast<std::size_t>(data.n_records());
  std::vector<std::uint32_t> ids(m, 0);
  std::uint32_t n = m > 0;
  for (int c = 0; c < data.n_columns(); ++c) n = refine(ids, data.codes(c), data.arity(c));
  Rows rows;
  rows.n = n;
  rows.weights.assign(n, 0.0);
  std::vector<std::size_t> first;
  for (std::size_t k = 0; k < m; ++k) {
    if (ids[k] == first.size()) first.push_back(k);
    rows.weights[ids[k]] += data.weights() ? data.weights()[k] : 1.0;
  }
  for (int c = 0; c < data.n_columns(); ++c) {
    auto& codes = rows.codes.emplace_back(n);
    for (std::size_t k = 0; k < n; ++k) codes[k] = data.codes(c)[first[k]];
  }
  return rows;
}

// A set of parents of a size, with the best score of it and its subsets, and at least the score of
// every larger set. All of which larger ones could be better.
struct Alive {
  Mask parents;
  double best, bound;
};

// A column with parents, to be scored; `best` is that of the subsets.
struct Job {
  Mask columns;  // with the child
  int child;
  double best, score, bound;
};

class Finder {
 public:
  Finder(const HeldFamilies& families, const ParentSetRules& rules, Poll poll,
         const std::function<bool()>& go_on)
      : scorer_(families.scorer()),
        columns_(families.columns()),
        rules_(rules),
        poll_(poll),
        go_on_(go_on),
        n_(columns_.n_columns()),
        rows_(distinct_rows(families.data())),
        whole_(!families.data().weights()),
        noise_(families.noise()) {
    const double big = std::numeric_limits<double>::max();
    for (int x = 0; x < n_; ++x) {
      Mask needed = 0, may = 0;
      for (int p = 0; p < n_; ++p) {
        const auto at = static_cast<std::size_t>(p) * static_cast<std::size_t>(n_) +
                        static_cast<std::size_t>(x);
        if (rules.required[at]) needed |= bit(p);
        // One of a single value says nothing, unless by which records do not have it.
        const bool useful =
            columns_.states(p) > 1 || columns_.missing(p) >= 0 || rules.required[at];
        if (p != x && useful && !rules.forbidden[at]) may |= bit(p);
      }
      required_.push_back(needed);
      allowed_.push_back(may);
      least_arity_.push_back(big);
      for_bits(may & ~needed, [&](int p) {
        least_arity_.back() = std::fmin(least_arity_.back(), columns_.states(p));
      });
    }
    too_wide_.assign(static_cast<std::size_t>(n_), 0);
    find_likelihoods();
  }

  ParentSets find() {
    ParentSets result;
    result.of.resize(static_cast<std::size_t>(n_));
    result.bounds.assign(static_cast<std::size_t>(n_), kInfinity);
    alive_.resize(static_cast<std::size_t>(n_));
    for (int size = 0; size <= rules_.max_parents; ++size) {
      std::vector<Job> jobs;
      if (!go_on_() || !collect(size, jobs) || !score(jobs)) break;
      result.n_scored += static_cast<std::int64_t>(jobs.size());
      bool done = keep(size, jobs, result);
      if (size == rules_.max_parents) done = true;
      for (int x = 0; x < n_; ++x) {
        const auto at = static_cast<std::size_t>(x);
        double bound = -kInfinity;
        for (const ParentSet& each : result.of[at]) bound = std::fmax(bound, each.score);
        if (size < rules_.max_parents)
          for (const Alive& each : alive_[at]) bound = std::fmax(bound, each.bound);
        // Required parents come at a later size.
        if (size < std::popcount(required_[at]) || too_wide_[at]) bound = kInfinity;
        result.bounds[at] = bound;
      }
      if (done) {
        result.complete = std::all_of(result.bounds.begin(), result.bounds.end(),
                                      [](double bound) { return bound < kInfinity; });
        break;
      }
    }
    for (auto& sets : result.of)
      std::sort(sets.begin(), sets.end(), [](const ParentSet& a, const ParentSet& b) {
        return a.score != b.score ? a.score > b.score : a.parents < b.parents;
      });
    return result;
  }

 private:
  // The most log-likelihood that a column can have: given all that may be its parents.
  void find_likelihoods() {
    const NetScoreKind kind = scorer_.score().kind;
    by_likelihood_ = kind == NetScoreKind::kBic || kind == NetScoreKind::kAic ||
                     kind == NetScoreKind::kPenalised;
    likelihood_.assign(static_cast<std::size_t>(n_), 0.0);
    if (!by_likelihood_ || !columns_.all_known()) return;
    for_blocks(n_, rules_.n_jobs, poll_, [&](std::int64_t b, StopToken& token) {
      const int x = static_cast<int>(b);
      std::vector<std::uint32_t> ids(rows_.n, 0);
      std::uint32_t n = 1;
      for_bits(allowed_[static_cast<std::size_t>(x)], [&](int p) {
        token.check();
        if (n < rows_.n) n = refine(ids, codes(p), columns_.arity(p));
      });
      const auto r = static_cast<std::size_t>(columns_.arity(x));
      std::vector<double> counts(n * r, 0.0);
      for (std::size_t k = 0; k < rows_.n; ++k)
        counts[ids[k] * r + codes(x)[k]] += rows_.weights[k];
      double sum = 0;
      for (std::size_t j = 0; j < n; ++j) {
        double total = 0;
        for (std::size_t k = 0; k < r; ++k) total += counts[j * r + k];
        for (std::size_t k = 0; k < r; ++k)
          if (const double c = counts[j * r + k]; c > 0) sum += c * std::log(c / total);
      }
      likelihood_[static_cast<std::size_t>(b)] = sum + noise_;
    });
  }

  // At least the score of every set with more parents than these.
  double bound_of(int x, Mask parents, std::size_t n_seen) const {
    if (!columns_.all_known()) return kInfinity;
    const auto at = static_cast<std::size_t>(x);
    const int r = columns_.states(x);
    if (!by_likelihood_) {
      // The first record of a state has the probability 1 / r at most, and more parents make no
      // fewer states.
      return whole_ ? -std::log(static_cast<double>(r)) * static_cast<double>(n_seen) : kInfinity;
    }
    double q = least_arity_[at];
    for_bits(parents, [&](int p) { q *= columns_.states(p); });
    const bool all = scorer_.score().kind == NetScoreKind::kPenalised;
    return likelihood_[at] - scorer_.score().price() * q * (all ? r : r - 1);
  }

  // Whether the cells of a column and these parents have numbers.
  bool countable(int x, Mask parents) const {
    double cells = columns_.arity(x);
    for_bits(parents, [&](int p) { cells *= columns_.arity(p); });
    return cells <= kMostCells;
  }

  // The sets of a size of which every smaller one is alive. False if they are too many.
  bool collect(int size, std::vector<Job>& jobs) {
    std::vector<std::vector<Job>> of(static_cast<std::size_t>(n_));
    const auto most = static_cast<std::size_t>(rules_.most_sets / n_ + 1);
    for_blocks(n_, rules_.n_jobs, poll_, [&](std::int64_t b, StopToken& token) {
      const int x = static_cast<int>(b);
      const auto at = static_cast<std::size_t>(b);
      const Mask needed = required_[at];
      const int least = std::popcount(needed);
      if (size < least) return;
      if (size == least) {
        if (countable(x, needed))
          of[at].push_back({needed | bit(x), x, -kInfinity, 0, 0});
        else
          too_wide_[at] = 1;
        return;
      }
      Meter meter(token);
      const std::vector<Alive>& alive = alive_[at];
      for (const Alive& each : alive) {
        const Mask free = each.parents & ~needed;
        const int top = free ? 64 - std::countl_zero(free) : 0;
        const Mask more = top < 64 ? allowed_[at] & ~needed & (~Mask{0} << top) : 0;
        for_bits(more, [&](int y) {
          meter.spend(8 * (size + 1));
          const Mask parents = each.parents | bit(y);
          double best = each.best;
          bool possible = true;
          for_bits(free, [&](int gone) {
            if (!possible) return;
            const Mask fewer = parents & ~bit(gone);
            const auto match =
                std::lower_bound(alive.begin(), alive.end(), fewer,
                                 [](const Alive& one, Mask other) { return one.parents < other; });
            possible = match != alive.end() && match->parents == fewer;
            if (possible) best = std::fmax(best, match->best);
          });
          if (!possible || of[at].size() > most) return;
          if (countable(x, parents))
            of[at].push_back({parents | bit(x), x, best, 0, 0});
          else
            too_wide_[at] = 1;
        });
      }
    });
    for (const auto& part : of) {
      if (part.size() > most) return false;
      jobs.insert(jobs.end(), part.begin(), part.end());
    }
    std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) {
      return a.columns != b.columns ? a.columns < b.columns : a.child < b.child;
    });
    return true;
  }

  // Scores jobs in place; false if it was told to stop.
  bool score(std::vector<Job>& jobs) {
    std::vector<std::size_t> starts;  // of jobs with the same columns
    for (std::size_t k = 0; k < jobs.size(); ++k)
      if (k == 0 || jobs[k].columns != jobs[k - 1].columns) starts.push_back(k);
    starts.push_back(jobs.size());
    const std::size_t n_sets = starts.size() - 1, n_blocks = (n_sets + kBlock - 1) / kBlock;
    // So many at a time that time is looked at often.
    const std::size_t step = 16 * static_cast<std::size_t>(std::max(1, rules_.n_jobs));
    for (std::size_t first = 0; first < n_blocks; first += step) {
      if (!go_on_()) return false;
      const std::size_t last = std::min(first + step, n_blocks);
      for_blocks(static_cast<std::int64_t>(last - first), rules_.n_jobs, poll_,
                 [&](std::int64_t b, StopToken& token) {
                   const std::size_t from = (first + static_cast<std::size_t>(b)) * kBlock;
                   score_block(jobs, starts, from, std::min(from + kBlock, n_sets), token);
                 });
    }
    return true;
  }

  // The columns of a set, the greatest first, and of each row the number of its cell as far as the
  // columns before the last: sets that follow each other share the first columns.
  struct Prefix {
    std::vector<int> columns;
    std::vector<std::vector<std::uint64_t>> cells;
    std::vector<std::uint64_t> sizes;
  };

  void score_block(std::vector<Job>& jobs, const std::vector<std::size_t>& starts, std::size_t from,
                   std::size_t to, StopToken& token) const {
    Prefix prefix;
    std::vector<double> counts, table, room;
    std::vector<std::pair<std::uint64_t, double>> sparse;
    for (std::size_t s = from; s < to; ++s) {
      token.check();
      std::vector<int> columns;
      for_bits(jobs[starts[s]].columns, [&](int c) { columns.push_back(c); });
      std::reverse(columns.begin(), columns.end());
      const std::uint64_t size = count(columns, prefix, counts, sparse);
      for (std::size_t k = starts[s]; k < starts[s + 1]; ++k)
        score_job(jobs[k], columns, size, counts, sparse, table, room);
    }
  }

  // Counts the rows of every cell: in `counts` by number if cells are few, else in `sparse`.
  std::uint64_t count(const std::vector<int>& columns, Prefix& prefix, std::vector<double>& counts,
                      std::vector<std::pair<std::uint64_t, double>>& sparse) const {
    const std::size_t k = columns.size() - 1;  // columns of the prefix
    std::size_t same = 0;
    while (same < std::min(k, prefix.columns.size()) && prefix.columns[same] == columns[same])
      ++same;
    prefix.columns.assign(columns.begin(), columns.end() - 1);
    prefix.cells.resize(std::max(prefix.cells.size(), k + 1));
    prefix.sizes.resize(std::max(prefix.sizes.size(), k + 1));
    prefix.sizes[0] = 1;
    if (prefix.cells[0].empty()) prefix.cells[0].assign(rows_.n, 0);
    for (std::size_t d = same; d < k; ++d) {
      const auto r = static_cast<std::uint64_t>(columns_.arity(columns[d]));
      const std::uint16_t* const code = codes(columns[d]);
      prefix.sizes[d + 1] = prefix.sizes[d] * r;
      auto& cells = prefix.cells[d + 1];
      cells.resize(rows_.n);
      const std::uint64_t* const above = prefix.cells[d].data();
      for (std::size_t i = 0; i < rows_.n; ++i) cells[i] = above[i] * r + code[i];
    }
    const auto r = static_cast<std::uint64_t>(columns_.arity(columns[k]));
    const std::uint64_t size = prefix.sizes[k] * r;
    const std::uint64_t* const above = prefix.cells[k].data();
    const std::uint16_t* const code = codes(columns[k]);
    if (size <= kMostDense) {
      counts.assign(size, 0.0);
      for (std::size_t i = 0; i < rows_.n; ++i) counts[above[i] * r + code[i]] += rows_.weights[i];
      return size;
    }
    sparse.resize(rows_.n);
    for (std::size_t i = 0; i < rows_.n; ++i)
      sparse[i] = {above[i] * r + code[i], rows_.weights[i]};
    std::stable_sort(sparse.begin(), sparse.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::size_t n = 0;
    for (std::size_t i = 0; i < sparse.size(); ++i) {
      if (n && sparse[n - 1].first == sparse[i].first)
        sparse[n - 1].second += sparse[i].second;
      else
        sparse[n++] = sparse[i];
    }
    sparse.resize(n);
    return size;
  }

  // The counts of a family are those of the cells, by parent state and child; states ascend.
  void score_job(Job& job, const std::vector<int>& columns, std::uint64_t size,
                 const std::vector<double>& counts,
                 const std::vector<std::pair<std::uint64_t, double>>& sparse,
                 std::vector<double>& table, std::vector<double>& room) const {
    std::uint64_t below = 1;  // cells for each code of the child
    for (std::size_t k = columns.size(); columns[--k] != job.child;)
      below *= static_cast<std::uint64_t>(columns_.arity(columns[k]));
    const auto r = static_cast<std::uint64_t>(columns_.arity(job.child));
    table.clear();
    if (size <= kMostDense) {
      for (std::uint64_t high = 0; high < size; high += below * r)
        for (std::uint64_t low = high; low < high + below; ++low) {
          if (!is_known(low, columns, job.child)) continue;
          const std::size_t row = table.size();
          double sum = 0;
          for (std::uint64_t k = 0; k < r; ++k) {
            const double count = known_child(job.child, k) ? counts[low + k * below] : 0.0;
            table.push_back(count);
            sum += count;
          }
          if (!(sum > 0)) table.resize(row);
        }
    } else {
      std::vector<std::pair<std::uint64_t, std::pair<std::uint64_t, double>>> cells;
      for (const auto& [cell, count] : sparse) {
        const std::uint64_t k = cell / below % r, state = cell - k * below;
        if (known_child(job.child, k) && is_known(state, columns, job.child))
          cells.push_back({state, {k, count}});
      }
      std::sort(cells.begin(), cells.end());
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i == 0 || cells[i].first != cells[i - 1].first) table.resize(table.size() + r, 0.0);
        table[table.size() - r + cells[i].second.first] = cells[i].second.second;
      }
    }
    double q = 1;
    for (const int c : columns)
      if (c != job.child) q *= columns_.states(c);
    const auto n_states = static_cast<std::int64_t>(table.size() / r);
    job.score = NetScorer::too_large(n_states, columns_.arity(job.child), q)
                    ? -kInfinity
                    : scorer_.counts(job.child, table.data(), n_states, q, room);
    job.bound = bound_of(job.child, job.columns & ~bit(job.child), table.size() / r);
  }

  bool known_child(int child, std::uint64_t code) const {
    const int missing = columns_.missing(child);
    return missing < 0 || code != static_cast<std::uint64_t>(missing);
  }
  // Whether all parents of a cell are known.
  bool is_known(std::uint64_t cell, const std::vector<int>& columns, int child) const {
    if (columns_.all_known()) return true;
    for (std::size_t k = columns.size(); k-- > 0;) {
      const auto r = static_cast<std::uint64_t>(columns_.arity(columns[k]));
      if (columns[k] != child && !known_child(columns[k], cell % r)) return false;
      cell /= r;
    }
    return true;
  }

  // Notes which sets are better than their subsets, and which are alive. True if none is.
  bool keep(int size, const std::vector<Job>& jobs, ParentSets& result) {
    std::vector<std::vector<Alive>> alive(static_cast<std::size_t>(n_));
    for (const Job& job : jobs) {
      const auto at = static_cast<std::size_t>(job.child);
      const Mask parents = job.columns & ~bit(job.child);
      if (job.score > job.best + noise_) result.of[at].push_back({job.score, parents});
      const double best = std::fmax(job.best, job.score);
      if (job.bound > best) alive[at].push_back({parents, best, job.bound});
    }
    bool none = true;
    for (int x = 0; x < n_; ++x) {
      const auto at = static_cast<std::size_t>(x);
      std::sort(alive[at].begin(), alive[at].end(),
                [](const Alive& a, const Alive& b) { return a.parents < b.parents; });
      none = none && alive[at].empty() && size >= std::popcount(required_[at]);
    }
    alive_ = std::move(alive);
    return none;
  }

  const std::uint16_t* codes(int c) const {
    return rows_.codes[static_cast<std::size_t>(c)].data();
  }

  const NetScorer& scorer_;
  const NetColumns& columns_;
  const ParentSetRules& rules_;
  Poll poll_;
  const std::function<bool()>& go_on_;
  int n_;
  Rows rows_;
  bool whole_;  // every record counts 1
  double noise_;
  bool by_likelihood_ = false;
  std::vector<Mask> required_, allowed_;
  std::vector<double> least_arity_, likelihood_;
  std::vector<char> too_wide_;  // whether there are sets whose cells have no numbers
  std::vector<std::vector<Alive>> alive_;
};

}  // namespace

ParentSets find_parent_sets(const HeldFamilies& families, const ParentSetRules& rules, Poll poll,
                            const std::function<bool()>& go_on) {
  return Finder(families, rules, poll, go_on).find();
}

}  // namespace tacit
