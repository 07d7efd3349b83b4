#include "itemset/significant.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "itemset/significant_bound.hpp"
#include "itemset/significant_counts.hpp"
#include "itemset/significant_data.hpp"
#include "itemset/significant_prints.hpp"

namespace tacit {
namespace {

struct Candidate {
  double log_p;
  std::int64_t support, positives;
  std::size_t path_begin, path_end, closed_begin, closed_end;  // in a list of items
  Print print;
};

struct Candidates {
  std::vector<Candidate> rules;
  std::vector<std::int32_t> items;  // as the caller numbers them
  std::size_t checked = 1 << 20;    // items after which it is worth to look through the rules

  // Drops rules that the bound has left behind.
  void purge(const SignificantBound& bound) {
    Candidates kept;
    for (Candidate rule : rules) {
      if (!bound.candidate(rule.support, rule.log_p)) continue;
      const auto copy = [&](std::size_t& begin, std::size_t& end) {
        const std::size_t at = kept.items.size();
        kept.items.insert(kept.items.end(), items.begin() + static_cast<std::ptrdiff_t>(begin),
                          items.begin() + static_cast<std::ptrdiff_t>(end));
        end = at + (end - begin);
        begin = at;
      };
      copy(rule.path_begin, rule.path_end);
      copy(rule.closed_begin, rule.closed_end);
      kept.rules.push_back(rule);
    }
    kept.checked = std::max<std::size_t>(1 << 20, 2 * kept.items.size());
    *this = std::move(kept);
  }
};

// A set of records on the way down, whose positives of all permutations are known.
struct Counted {
  const std::int32_t* records;
  std::int64_t size;
  const PlaneCounts* counts;
};

// One level of the search: what a set on it needs, kept for the next one.
struct Level {
  std::vector<std::int32_t> count;    // records of the set that hold each item that extends it
  std::vector<std::int32_t> rows;     // of all extensions, one after another
  std::vector<std::int32_t> records;  // positions of the set's records
  std::vector<std::uint8_t> closed;   // items that all of them hold
  PlaneCounts planes;
};

// What a thread works with.
class Worker {
 public:
  Worker(const SignificantData& data, const MarginTest& test, const PermutedLabels* labels,
         SignificantBound& bound, Met& met)
      : data_(data), test_(test), labels_(labels), bound_(bound), met_(met), seen_(bound.begin()) {
    const auto n = static_cast<std::size_t>(test.n_records());
    if (!labels) return;
    inner_.resize(n + 1, {kNoLimit, {0, 0}});
    stamp_.resize(n + 1, -1);
    log_p_.resize(n + 1, 0);
    all_.resize(n);
    std::iota(all_.begin(), all_.end(), 0);
    root_ = PlaneCounts(labels->n_chunks(), n_planes());
    root_.fill(labels->n_chunks(), test.n_positives());
  }

  // All sets whose first item is this one.
  void branch(std::int32_t first, StopToken& token) {
    Meter meter(token);
    meter_ = &meter;
    search_branch(first);
  }
  void tell() { bound_.tell(seen_, true); }
  Candidates& candidates() { return candidates_; }

 private:
  static constexpr double kNoLimit = 1e300;
  static constexpr std::int64_t kWords = 8;  // bits of up to 512 items are held for each row
  struct InnerAt {
    double limit;  // kNoLimit where none was computed
    MarginTest::Inner inner;
  };

  std::int64_t n_planes() const {
    std::int64_t planes = 1;
    while (std::int64_t{1} << planes <= test_.n_records()) ++planes;
    return planes;
  }
  bool by_size() const { return data_.query->max_size > 0; }

  void search_branch(std::int32_t first);
  void search(std::size_t depth, std::int32_t core, const std::int32_t* rows, std::int64_t n,
              const Counted& above);
  void extend(std::size_t depth, std::int32_t core, const std::int32_t* rows, std::int64_t n,
              const Counted& above);
  Counted evaluate(std::size_t depth, std::int64_t n, const std::int32_t* rows,
                   const Counted& above);
  void permute(std::int64_t support, const PlaneCounts& counts);
  void keep(std::size_t depth, std::int64_t n, std::int64_t positives, double log_p,
            const std::int32_t* rows, const Print& print);
  void count_items(Level& level, std::int32_t first, const std::int32_t* rows, std::int64_t n);
  bool preserves_prefix(std::int32_t core, const std::vector<std::uint8_t>& before,
                        const std::int32_t* rows, std::int64_t n);
  bool narrow(const std::int32_t* rows, std::int64_t n);
  void find_closed(Level& level, const std::int32_t* rows, std::int64_t n);
  void set_bits();
  Level& level(std::size_t depth) {
    while (levels_.size() <= depth) levels_.push_back(std::make_unique<Level>());
    return *levels_[depth];
  }

  const SignificantData& data_;
  const MarginTest& test_;
  const PermutedLabels* labels_;
  SignificantBound& bound_;
  Met& met_;
  Meter* meter_ = nullptr;
  Seen seen_;
  RecentP recent_;
  Candidates candidates_;
  std::vector<InnerAt> inner_;       // of each support
  std::vector<std::int64_t> stamp_;  // the support that log_p_ of a number of positives is for
  std::vector<double> log_p_;
  std::vector<std::int64_t> extreme_;
  std::vector<std::int32_t> all_, rest_, common_;
  PlaneCounts root_;

  // The branch: records that hold the first item, with the items that enough of them hold.
  std::int32_t first_ = 0;
  std::vector<std::int32_t> ranks_;  // of these items
  std::vector<std::int32_t> base_;   // ranks of items that all of the records hold
  std::vector<std::int32_t> positions_;
  ItemRows rows_;
  std::int64_t n_words_ = 0;         // of a row's items as bits, if these are few
  std::vector<std::uint64_t> bits_;  // rows × words
  std::vector<std::int32_t> path_;   // ranks
  std::vector<std::unique_ptr<Level>> levels_;
};

void Worker::search_branch(std::int32_t first) {
  first_ = first;
  positions_ = data_.occurrences[static_cast<std::size_t>(first)];
  const auto n = static_cast<std::int64_t>(positions_.size());
  if (n < bound_.least_support()) return;
  std::vector<std::int32_t> count(data_.item.size(), 0);
  std::int64_t work = 0;
  for (const std::int32_t p : positions_) {
    const auto row = static_cast<std::size_t>(p);
    for (std::int64_t k = data_.rows.start[row]; k < data_.rows.start[row + 1]; ++k)
      ++count[static_cast<std::size_t>(data_.rows.items[static_cast<std::size_t>(k)])];
    work += data_.rows.start[row + 1] - data_.rows.start[row];
  }
  meter_->spend(2 * work);
  // Prefix-preserving: an earlier item that all records hold has found this set before.
  if (!by_size())
    for (std::int32_t i = 0; i < first; ++i)
      if (count[static_cast<std::size_t>(i)] == n) return;
  ranks_.clear();
  base_.clear();
  std::vector<std::int32_t> local(data_.item.size(), -1);
  std::int32_t core = -1;  // extensions come behind it
  for (std::size_t i = 0; i < count.size(); ++i) {
    if (count[i] == n) base_.push_back(static_cast<std::int32_t>(i));
    if (count[i] == n || count[i] < bound_.least_support()) continue;
    local[i] = static_cast<std::int32_t>(ranks_.size());
    if (static_cast<std::int32_t>(i) < first) core = local[i];
    ranks_.push_back(static_cast<std::int32_t>(i));
  }
  rows_.start.assign(1, 0);
  rows_.items.clear();
  for (const std::int32_t p : positions_) {
    const auto row = static_cast<std::size_t>(p);
    for (std::int64_t k = data_.rows.start[row]; k < data_.rows.start[row + 1]; ++k) {
      const std::int32_t i =
          local[static_cast<std::size_t>(data_.rows.items[static_cast<std::size_t>(k)])];
      if (i >= 0) rows_.items.push_back(i);
    }
    rows_.start.push_back(static_cast<std::int64_t>(rows_.items.size()));
  }
  set_bits();
  path_.assign(1, first);
  std::vector<std::int32_t> rows(positions_.size());
  std::iota(rows.begin(), rows.end(), 0);
  const Counted root{all_.data(), test_.n_records(), labels_ ? &root_ : nullptr};
  search(0, core, rows.data(), n, root);
}

void Worker::set_bits() {
  n_words_ = static_cast<std::int64_t>(ranks_.size() + 63) / 64;
  if (n_words_ > kWords) n_words_ = 0;
  bits_.assign(positions_.size() * static_cast<std::size_t>(n_words_), 0);
  if (!n_words_) return;
  for (std::size_t row = 0; row < positions_.size(); ++row)
    for (std::int64_t k = rows_.start[row]; k < rows_.start[row + 1]; ++k) {
      const std::int32_t i = rows_.items[static_cast<std::size_t>(k)];
      bits_[row * static_cast<std::size_t>(n_words_) + static_cast<std::size_t>(i / 64)] |=
          std::uint64_t{1} << (i % 64);
    }
}

// Counts the items from `first` on.
void Worker::count_items(Level& level, std::int32_t first, const std::int32_t* rows,
                         std::int64_t n) {
  level.count.assign(ranks_.size(), 0);
  std::int32_t* const count = level.count.data();
  const std::int32_t* const items = rows_.items.data();
  std::int64_t work = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const auto row = static_cast<std::size_t>(rows[k]);
    const std::int64_t begin = rows_.start[row], end = rows_.start[row + 1];
    std::int64_t m = end;
    for (; m > begin && items[m - 1] >= first; --m) ++count[items[m - 1]];
    work += end - m + 1;
  }
  meter_->spend(2 * work);
}

// The set of these rows, and all that extend it by items behind `core`.
void Worker::search(std::size_t depth, std::int32_t core, const std::int32_t* rows, std::int64_t n,
                    const Counted& above) {
  Level& here = level(depth);
  if (by_size()) {
    const Counted counted = evaluate(depth, n, rows, above);
    if (static_cast<std::int64_t>(path_.size()) < data_.query->max_size) {
      count_items(here, core + 1, rows, n);
      extend(depth, core, rows, n, counted);
    }
    return;
  }
  here.closed.assign(ranks_.size(), 0);
  if (depth) {
    const std::vector<std::uint8_t>& before = level(depth - 1).closed;
    if (!preserves_prefix(core, before, rows, n)) return;
    std::copy(before.begin(), before.begin() + core, here.closed.begin());
    here.closed[static_cast<std::size_t>(core)] = 1;
  }
  count_items(here, core + 1, rows, n);
  for (auto i = static_cast<std::size_t>(core + 1); i < ranks_.size(); ++i)
    here.closed[i] = here.count[i] == n;
  extend(depth, core, rows, n, evaluate(depth, n, rows, above));
}

// Whether all rows hold no item before `core` but those that the set above has in common: else
// these records were found with that item.
bool Worker::preserves_prefix(std::int32_t core, const std::vector<std::uint8_t>& before,
                              const std::int32_t* rows, std::int64_t n) {
  common_.clear();
  const auto row = static_cast<std::size_t>(rows[0]);
  for (std::int64_t k = rows_.start[row]; k < rows_.start[row + 1]; ++k) {
    const std::int32_t i = rows_.items[static_cast<std::size_t>(k)];
    if (i >= core) break;
    if (!before[static_cast<std::size_t>(i)]) common_.push_back(i);
  }
  return !narrow(rows, n);
}

// Marks the items that all rows hold.
void Worker::find_closed(Level& level, const std::int32_t* rows, std::int64_t n) {
  level.closed.assign(ranks_.size(), 0);
  for (const std::int32_t rank : path_) {
    const auto at = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
    if (at != ranks_.end() && *at == rank)
      level.closed[static_cast<std::size_t>(at - ranks_.begin())] = 1;
  }
  common_.clear();
  const auto row = static_cast<std::size_t>(rows[0]);
  for (std::int64_t k = rows_.start[row]; k < rows_.start[row + 1]; ++k) {
    const std::int32_t i = rows_.items[static_cast<std::size_t>(k)];
    if (!level.closed[static_cast<std::size_t>(i)]) common_.push_back(i);
  }
  narrow(rows, n);
  for (const std::int32_t i : common_) level.closed[static_cast<std::size_t>(i)] = 1;
}

// Leaves those of common_, items of the first row, that all rows hold; returns whether any is left.
// Few are after a few rows, and most often none.
bool Worker::narrow(const std::int32_t* rows, std::int64_t n) {
  std::int64_t k = 1;
  if (n_words_) {
    std::uint64_t left[kWords] = {};
    for (const std::int32_t i : common_) left[i / 64] |= std::uint64_t{1} << (i % 64);
    for (bool any = !common_.empty(); k < n && any; ++k) {
      const std::uint64_t* const bits = bits_.data() + std::int64_t{rows[k]} * n_words_;
      std::uint64_t rest = 0;
      for (std::int64_t w = 0; w < n_words_; ++w) rest |= left[w] &= bits[w];
      any = rest != 0;
    }
    std::erase_if(common_, [&](std::int32_t i) { return !(left[i / 64] >> (i % 64) & 1); });
  } else {
    for (; k < n && !common_.empty(); ++k) {
      const auto row = static_cast<std::size_t>(rows[k]);
      const std::int32_t* const first = rows_.items.data() + rows_.start[row];
      const std::int32_t* const last = rows_.items.data() + rows_.start[row + 1];
      std::erase_if(common_, [&](std::int32_t i) { return !std::binary_search(first, last, i); });
    }
  }
  meter_->spend(8 * k);
  return !common_.empty();
}

void Worker::extend(std::size_t depth, std::int32_t core, const std::int32_t* rows, std::int64_t n,
                    const Counted& above) {
  Level& here = level(depth);
  const std::int64_t least = bound_.least_support();
  if (n <= least) return;
  // Occurrences of all extensions at once.
  std::vector<std::int32_t> chosen;
  std::vector<std::int64_t> next(ranks_.size(), -1);
  std::int64_t total = 0;
  for (auto i = static_cast<std::size_t>(core + 1); i < ranks_.size(); ++i) {
    if (here.count[i] == n || here.count[i] < least) continue;
    chosen.push_back(static_cast<std::int32_t>(i));
    next[i] = total;
    total += here.count[i];
  }
  here.rows.resize(static_cast<std::size_t>(total));
  std::int32_t* const out = here.rows.data();
  std::int64_t* const to = next.data();
  const std::int32_t* const items = rows_.items.data();
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int32_t row = rows[k];
    const std::int64_t begin = rows_.start[static_cast<std::size_t>(row)];
    for (std::int64_t m = rows_.start[static_cast<std::size_t>(row) + 1]; m > begin; --m) {
      const std::int32_t i = items[m - 1];
      if (i <= core) break;
      if (to[i] >= 0) out[to[i]++] = row;
    }
  }
  for (const std::int32_t i : chosen) {
    const std::int64_t size = here.count[static_cast<std::size_t>(i)];
    if (size < bound_.least_support()) continue;
    path_.push_back(ranks_[static_cast<std::size_t>(i)]);
    const std::int64_t begin = next[static_cast<std::size_t>(i)] - size;
    search(depth + 1, i, here.rows.data() + begin, size, above);
    path_.pop_back();
  }
}

// Tests the set; returns the nearest set above whose counts are known, which may be this one.
Counted Worker::evaluate(std::size_t depth, std::int64_t n, const std::int32_t* rows,
                         const Counted& above) {
  Level& here = level(depth);
  here.records.resize(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k)
    here.records[static_cast<std::size_t>(k)] = positions_[static_cast<std::size_t>(rows[k])];
  const auto positives = std::lower_bound(here.records.begin(), here.records.end(),
                                          static_cast<std::int32_t>(test_.n_positives())) -
                         here.records.begin();
  const double log_p = recent_.log_p(test_, n, positives);
  const Print print = by_size() ? met_.print_of(here.records.data(), n) : Print{};
  if (bound_.candidate(n, log_p)) keep(depth, n, positives, log_p, rows, print);
  if (by_size() && !met_.insert(print)) return above;
  ++seen_.by_support[static_cast<std::size_t>(n)];
  ++seen_.n_new;
  if (!labels_) {
    bound_.tell(seen_, false);
    return above;
  }
  if (here.planes.n_planes() == 0) here.planes = PlaneCounts(labels_->n_chunks(), n_planes());
  if (2 * n <= above.size) {
    count_positives(*labels_, here.records.data(), n, here.planes);
    meter_->spend(4 * n * labels_->n_chunks());
  } else {  // those that the set above has more are fewer
    const std::int64_t n_rest = above.size - n;
    rest_.resize(static_cast<std::size_t>(above.size));
    std::int64_t at = 0, kept = 0;  // written first and then decided: no branch to guess
    for (std::int64_t k = 0; k < above.size; ++k) {
      const bool same = at < n && above.records[k] == here.records[static_cast<std::size_t>(at)];
      rest_[static_cast<std::size_t>(kept)] = above.records[k];
      at += same;
      kept += !same;
    }
    count_positives(*labels_, rest_.data(), n_rest, here.planes);
    subtract_from(*above.counts, labels_->n_chunks(), here.planes);
    meter_->spend(4 * above.size + 4 * n_rest);
  }
  if (bound_.testable(n)) permute(n, here.planes);
  bound_.tell(seen_, false);
  return {here.records.data(), n, &here.planes};
}

// Lowers the minima of permutations.
void Worker::permute(std::int64_t support, const PlaneCounts& counts) {
  const double limit = bound_.limit();
  InnerAt& inner = inner_[static_cast<std::size_t>(support)];
  // Computed under a higher limit it holds as well, but more has to be looked at.
  if (inner.limit > limit + 1) inner = {limit, test_.inner(support, limit)};
  extreme_.clear();
  outside(*labels_, counts, support, inner.inner.low, inner.inner.high, extreme_);
  for (const std::int64_t b : extreme_) {
    const auto k = static_cast<std::size_t>(counts.count(b));
    if (stamp_[k] != support) {
      stamp_[k] = support;
      log_p_[k] = test_.log_p(support, static_cast<std::int64_t>(k));
    }
    double& minimum = seen_.minima[static_cast<std::size_t>(b)];
    if (log_p_[k] >= minimum) continue;
    minimum = log_p_[k];
    ++seen_.n_lower;
  }
  meter_->spend(20 * static_cast<std::int64_t>(extreme_.size()) + 200);
}

void Worker::keep(std::size_t depth, std::int64_t n, std::int64_t positives, double log_p,
                  const std::int32_t* rows, const Print& print) {
  Level& here = level(depth);
  if (by_size()) find_closed(here, rows, n);
  Candidate rule{log_p, n, positives, candidates_.items.size(), 0, 0, 0, print};
  const auto append = [&](std::int32_t rank) {
    candidates_.items.push_back(data_.item[static_cast<std::size_t>(rank)]);
  };
  for (const std::int32_t rank : path_) append(rank);
  rule.path_end = rule.closed_begin = candidates_.items.size();
  for (const std::int32_t rank : base_) append(rank);
  for (std::size_t i = 0; i < ranks_.size(); ++i)
    if (here.closed[i]) append(ranks_[i]);
  rule.closed_end = candidates_.items.size();
  for (const auto& [begin, end] :
       {std::pair{rule.path_begin, rule.path_end}, std::pair{rule.closed_begin, rule.closed_end}})
    std::sort(candidates_.items.begin() + static_cast<std::ptrdiff_t>(begin),
              candidates_.items.begin() + static_cast<std::ptrdiff_t>(end));
  candidates_.rules.push_back(rule);
  if (candidates_.items.size() > candidates_.checked) candidates_.purge(bound_);
}

// The rules of all threads, in an order that does not depend on these.
void gather(std::vector<std::unique_ptr<Worker>>& workers, const SignificantBound& bound,
            SignificantRules& result) {
  struct Ref {
    const Candidate* rule;
    const std::int32_t* items;
    std::pair<const std::int32_t*, const std::int32_t*> path() const {
      return {items + rule->path_begin, items + rule->path_end};
    }
    std::pair<const std::int32_t*, const std::int32_t*> closed() const {
      return {items + rule->closed_begin, items + rule->closed_end};
    }
  };
  const auto less = [](const auto& a, const auto& b) {
    return std::lexicographical_compare(a.first, a.second, b.first, b.second);
  };
  std::vector<Ref> found;
  for (const auto& worker : workers) {
    worker->candidates().purge(bound);
    for (const Candidate& rule : worker->candidates().rules)
      found.push_back({&rule, worker->candidates().items.data()});
  }
  // Conjunctions of the same records hold the same items: the shortest of them stays.
  std::sort(found.begin(), found.end(), [&](const Ref& a, const Ref& b) {
    if (a.rule->log_p != b.rule->log_p) return a.rule->log_p < b.rule->log_p;
    if (a.rule->support != b.rule->support) return a.rule->support > b.rule->support;
    if (less(a.closed(), b.closed())) return true;
    if (less(b.closed(), a.closed())) return false;
    const auto size = [](const Ref& x) { return x.rule->path_end - x.rule->path_begin; };
    return size(a) != size(b) ? size(a) < size(b) : less(a.path(), b.path());
  });
  const auto same = [](const Ref& a, const Ref& b) {
    return a.rule->support == b.rule->support &&
           std::equal(a.closed().first, a.closed().second, b.closed().first, b.closed().second);
  };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  for (const Ref& ref : found) {
    result.path.insert(result.path.end(), ref.path().first, ref.path().second);
    result.closed.insert(result.closed.end(), ref.closed().first, ref.closed().second);
    result.path_start.push_back(static_cast<std::int64_t>(result.path.size()));
    result.closed_start.push_back(static_cast<std::int64_t>(result.closed.size()));
    result.support.push_back(ref.rule->support);
    result.positives.push_back(ref.rule->positives);
    result.log_p.push_back(ref.rule->log_p);
  }
}

// Workers that are not at work.
class Pool {
 public:
  template <class Make>
  Worker* take(const Make& make) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.empty()) {
      workers.push_back(make());
      return workers.back().get();
    }
    Worker* const worker = idle_.back();
    idle_.pop_back();
    return worker;
  }
  void give_back(Worker* worker) {
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(worker);
  }
  std::vector<std::unique_ptr<Worker>> workers;

 private:
  std::mutex mutex_;
  std::vector<Worker*> idle_;
};

}  // namespace

SignificantRules significant_rules(const SignificantQuery& query, int n_jobs, Poll poll) {
  const std::int64_t n_positives =
      std::count_if(query.labels, query.labels + query.n_records, [](auto x) { return x != 0; });
  const MarginTest test(query.n_records, n_positives, query.test, query.alternative);
  SignificantBound bound(query, test);
  const SignificantData data = prepare_significant(query, n_positives);
  std::optional<PermutedLabels> labels;
  if (query.correction == Correction::permutation) {
    std::vector<std::int32_t> order(data.position.size());
    for (std::size_t r = 0; r < order.size(); ++r)
      order[static_cast<std::size_t>(data.position[r])] = static_cast<std::int32_t>(r);
    labels.emplace(query.n_records, n_positives, query.n_permutations, query.seed, order.data(),
                   n_jobs, poll);
  }
  Met met(query.n_records);
  Pool pool;
  const auto n_branches = static_cast<std::int64_t>(data.item.size());
  // Frequent items first: their branches are small, and raise the bound for those that are large.
  for_blocks(n_branches, n_jobs, poll, [&](std::int64_t block, StopToken& token) {
    Worker* const worker = pool.take([&] {
      return std::make_unique<Worker>(data, test, labels ? &*labels : nullptr, bound, met);
    });
    worker->branch(static_cast<std::int32_t>(n_branches - 1 - block), token);
    worker->tell();
    pool.give_back(worker);
  });
  SignificantRules result;
  bound.finish(result);
  gather(pool.workers, bound, result);
  return result;
}

}  // namespace tacit
