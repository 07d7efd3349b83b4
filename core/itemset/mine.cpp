#include "itemset/mine.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>

#include "itemset/ranking.hpp"
#include "itemset/search.hpp"

namespace tacit {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// The frequent items, the rarest first, and the records with two or more of them.
struct Root {
  Projection projection;
  std::vector<std::uint32_t> everywhere;  // items in all records
  std::int64_t total = 0;                 // records, or their weight
};

template <class V>
Root make_root(const Records<V>& records, const std::int64_t* weights, const std::uint8_t* excluded,
               MineLimits& limits, Poll poll) {
  Root root;
  Poller poller(poll);
  std::vector<std::int64_t> counts(index(records.n_values));
  for (std::int64_t k = 0; k < records.size(); ++k) {
    if ((k & 0xffff) == 0) poller.check();
    const std::int64_t r = records.record(k), w = weights ? weights[r] : 1;
    root.total += w;
    for (const V* v = records.begin(r); v < records.end(r); ++v) counts[*v] += w;
  }
  std::vector<std::uint32_t> order;
  for (std::int64_t v = 0; v < records.n_values; ++v) {
    if (excluded && excluded[v]) continue;
    const std::int64_t count = counts[index(v)];
    if (count < limits.min_count()) continue;
    if (count == root.total)
      root.everywhere.push_back(static_cast<std::uint32_t>(v));
    else
      order.push_back(static_cast<std::uint32_t>(v));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return counts[a] < counts[b]; });

  std::vector<std::uint32_t> ranks(index(records.n_values), Projection::kEnd);
  Projection& out = root.projection;
  std::int64_t most = 1;
  for (const std::uint32_t v : order) {
    ranks[v] = static_cast<std::uint32_t>(out.items.size());
    out.items.push_back(v);
    out.counts.push_back(counts[v]);
  }
  for (std::int64_t k = 0; k < records.size(); ++k) {
    const std::int64_t r = records.record(k);
    most += records.indptr[r + 1] - records.indptr[r] + 1;
  }
  std::uint32_t* const begin = out.flat.resize(index(most));
  std::uint32_t* end = begin;
  *end++ = Projection::kEnd;
  std::vector<std::int64_t> record_weights;
  std::int64_t n_records = 0, squares = 0;
  for (std::int64_t k = 0; k < records.size(); ++k) {
    if ((k & 0xffff) == 0) poller.check();
    const std::int64_t r = records.record(k);
    std::uint32_t* const record = end;
    for (const V* v = records.begin(r); v < records.end(r); ++v) {
      *end = ranks[*v];
      end += *end != Projection::kEnd;
    }
    if (end - record < 2) {
      end = record;
      continue;
    }
    std::sort(record, end);
    squares += (end - record) * (end - record);
    *end++ = Projection::kEnd;
    ++n_records;
    if (weights) record_weights.push_back(weights[r]);
  }
  out.arrange(end - begin, weights ? &record_weights : nullptr, n_records, squares);
  return root;
}

// Each thread has a search of its own, with its memory; whoever begins a branch takes one.
class Searches {
 public:
  explicit Searches(MineLimits& limits) : limits_(limits) {}
  std::unique_ptr<ItemsetSearch> take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.empty()) return std::make_unique<ItemsetSearch>(limits_);
    auto one = std::move(idle_.back());
    idle_.pop_back();
    return one;
  }
  void give(std::unique_ptr<ItemsetSearch> one) {
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(std::move(one));
  }

 private:
  MineLimits& limits_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ItemsetSearch>> idle_;
};

Itemsets counted(const std::vector<Collector>& found, std::int64_t min_count) {
  Itemsets out;
  out.min_count = min_count;
  for (const Collector& one : found) {
    out.n_sets = saturated_sum(out.n_sets, one.n_sets());
    out.n_items = saturated_sum(out.n_items, one.n_items());
  }
  return out;
}

}  // namespace

template <class V>
Itemsets mine_itemsets(const Records<V>& records, const std::int64_t* weights,
                       const std::uint8_t* excluded, const MineOptions& options, int n_jobs,
                       Poll poll) {
  MineLimits limits(options);
  const Root root = make_root(records, weights, excluded, limits, poll);
  const Projection& top = root.projection;
  const bool every = options.kind == ItemsetKind::all;
  const std::vector<std::uint32_t> none;
  const auto& base = every ? none : root.everywhere;
  const auto& extra = every ? root.everywhere : none;

  // Branch 0 is the items that are in all records, by themselves.
  const std::int64_t n = top.n_items();
  std::vector<Collector> found(index(n) + 1, Collector(limits));
  std::vector<std::uint8_t> finished(index(n) + 1);
  MineStatus status = MineStatus::complete;
  Searches searches(limits);
  try {
    if (options.kind != ItemsetKind::maximal || n == 0)
      if (root.total >= limits.min_count()) found[0].add(base, extra, root.total);
    found[0].close();
    finished[0] = 1;
    for_blocks(n, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
      // The most common first where they raise the limit.
      const std::int64_t rank = options.top > 0 ? n - 1 - b : b;
      auto search = searches.take();
      search->branch(top, rank, base, extra, found[index(rank) + 1], token);
      searches.give(std::move(search));
      finished[index(rank) + 1] = 1;
    });
  } catch (const TooManyItemsets&) {
    status = MineStatus::too_many;
  } catch (const Interrupted&) {
    status = MineStatus::interrupted;
  }
  for (std::size_t b = 0; b < found.size(); ++b)
    if (status == MineStatus::too_many || !finished[b]) found[b] = Collector(limits);
  const std::int64_t least = limits.min_count();
  Itemsets out =
      options.count_only ? counted(found, least) : ranked_itemsets(found, least, options.labels);
  out.status = status;
  return out;
}

#define TACIT_INSTANTIATE(V)                                                                   \
  template Itemsets mine_itemsets(const Records<V>&, const std::int64_t*, const std::uint8_t*, \
                                  const MineOptions&, int, Poll);
TACIT_FOR_VALUE_TYPES(TACIT_INSTANTIATE)

}  // namespace tacit
