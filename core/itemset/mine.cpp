#include "itemset/mine.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <numeric>

#include "itemset/ranking.hpp"
#include "itemset/search.hpp"

namespace tacit {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// The frequent items, the rarest first.
struct Order {
  std::vector<std::uint32_t> items;       // value ids, by rank
  std::vector<std::int64_t> counts;       // by rank
  std::vector<std::uint32_t> ranks;       // by value id; kEnd: not frequent, or in all records
  std::vector<std::uint32_t> everywhere;  // items in all records
  std::int64_t total = 0;                 // records, or their weight
};

template <class V>
Order order_items(const Records<V>& records, const std::int64_t* weights,
                  const std::uint8_t* excluded, const MineLimits& limits, Poller& poller) {
  Order out;
  const MineOptions& options = limits.options;
  std::vector<std::int64_t> counts(index(records.n_values));
  if (options.alone) counts.assign(options.alone, options.alone + records.n_values);
  out.total = options.n_beside;
  for (std::int64_t k = 0; k < records.size(); ++k) {
    if ((k & 0xffff) == 0) poller.check();
    const std::int64_t r = records.record(k), w = weights ? weights[r] : 1;
    out.total += w;
    for (const V* v = records.begin(r); v < records.end(r); ++v) counts[*v] += w;
  }
  for (std::int64_t v = 0; v < records.n_values; ++v) {
    if (excluded && excluded[v]) continue;
    const std::int64_t count = counts[index(v)];
    if (count < limits.min_count()) continue;
    (count == out.total ? out.everywhere : out.items).push_back(static_cast<std::uint32_t>(v));
  }
  std::stable_sort(out.items.begin(), out.items.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return counts[a] < counts[b]; });
  out.ranks.assign(index(records.n_values), Projection::kEnd);
  for (const std::uint32_t v : out.items) {
    out.ranks[v] = static_cast<std::uint32_t>(out.counts.size());
    out.counts.push_back(counts[v]);
  }
  return out;
}

// First items in groups of which the records are projected at a time.
struct Groups {
  std::vector<std::int64_t> ends;
  // Whether the projections are bitmaps, as that of all records would be: the order in which sets
  // are found must not depend on the groups. Only where there are several.
  bool dense = false;
  std::int64_t too_large = -1;  // the rank of an item whose records take too much
  std::int64_t bytes = 0;       // how much
};

template <class V>
Groups group_items(const Records<V>& records, const std::int64_t* weights, const Order& order,
                   const MineOptions& options, Poller& poller) {
  const auto n = static_cast<std::int64_t>(order.items.size());
  const std::int64_t of_value = weights ? 16 : 8, of_record = weights ? 12 : 4;
  std::int64_t n_stored = 0;
  for (std::int64_t k = 0; k < records.size(); ++k) {
    const std::int64_t r = records.record(k);
    n_stored += records.indptr[r + 1] - records.indptr[r];
  }
  if (of_value * n_stored + of_record * records.size() <= options.search_bytes) return {{n}};
  // The values and records of each item's projection.
  std::vector<std::int64_t> n_values(index(n)), n_held(index(n));
  std::vector<std::uint32_t> ranks;
  std::int64_t n_records = 0, squares = 0, digits = 1;
  for (std::int64_t k = 0; k < records.size(); ++k) {
    if ((k & 0xffff) == 0) poller.check();
    const std::int64_t r = records.record(k);
    ranks.clear();
    for (const V* v = records.begin(r); v < records.end(r); ++v)
      if (order.ranks[*v] != Projection::kEnd) ranks.push_back(order.ranks[*v]);
    if (ranks.size() < 2) continue;
    const auto length = static_cast<std::int64_t>(ranks.size());
    ++n_records;
    squares += length * length;
    if (weights) digits |= weights[r];
    if (options.kind == ItemsetKind::all) std::sort(ranks.begin(), ranks.end());
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t kept = options.kind == ItemsetKind::all ? length - i : length;
      if (kept < 2) continue;
      n_values[ranks[index(i)]] += kept;
      ++n_held[ranks[index(i)]];
    }
  }
  Groups out;
  const std::int64_t n_digits = std::bit_width(static_cast<std::uint64_t>(digits));
  out.dense = Projection::better_dense(n, n_digits, n_records, squares);
  std::int64_t taken = 0;
  for (std::int64_t rank = 0; rank < n; ++rank) {
    const std::int64_t held = n_held[index(rank)];
    const std::int64_t rows = (held + 63) / 64 * 8 * (n + (weights ? n_digits : 0));
    const std::int64_t more = out.dense ? 4 * n_values[index(rank)] + of_record * held + rows
                                        : of_value * n_values[index(rank)] + of_record * held;
    if (more > options.search_bytes && more > out.bytes) {
      out.too_large = rank;
      out.bytes = more;
    }
    if (taken > 0 && taken + more > options.search_bytes) {
      out.ends.push_back(rank);
      taken = 0;
    }
    taken += more;
  }
  out.ends.push_back(n);
  return out;
}

// The records with an item of a group and another frequent one. Items before the group only tell
// whether a set was found elsewhere, and are left out where that is not asked.
template <class V>
void project(const Records<V>& records, const std::int64_t* weights, const Order& order,
             Range group, bool dense, ItemsetKind kind, Projection& out, Poller& poller) {
  const auto held = [&](const V* v) {
    const std::uint32_t rank = order.ranks[*v];
    return rank != Projection::kEnd && rank >= group.begin && rank < group.end;
  };
  const bool some = group.end - group.begin < static_cast<std::int64_t>(order.items.size());
  const auto first = static_cast<std::uint32_t>(kind == ItemsetKind::all ? group.begin : 0);
  out.items = order.items;
  out.counts = order.counts;
  std::int64_t most = 1, longest = 0;
  for (std::int64_t k = 0; k < records.size(); ++k) {
    const std::int64_t r = records.record(k), length = records.indptr[r + 1] - records.indptr[r];
    longest = std::max(longest, length);
    if (some &&
        std::none_of(records.begin(r), records.end(r), [&](const V& v) { return held(&v); }))
      continue;
    most += length + 1;
  }
  most += longest;  // a record that turns out to be none of them is written, too
  std::uint32_t* const begin = out.flat.resize(index(most));
  std::uint32_t* end = begin;
  *end++ = Projection::kEnd;
  std::vector<std::int64_t> record_weights;
  std::int64_t n_records = 0, squares = 0;
  for (std::int64_t k = 0; k < records.size(); ++k) {
    if ((k & 0xffff) == 0) poller.check();
    const std::int64_t r = records.record(k);
    std::uint32_t* const record = end;
    bool wanted = !some;
    for (const V* v = records.begin(r); v < records.end(r); ++v) {
      const std::uint32_t rank = order.ranks[*v];
      if (rank == Projection::kEnd || rank < first) continue;
      wanted = wanted || held(v);
      *end++ = rank;
    }
    if (!wanted || end - record < 2) {
      end = record;
      continue;
    }
    std::sort(record, end);
    squares += (end - record) * (end - record);
    *end++ = Projection::kEnd;
    ++n_records;
    if (weights) record_weights.push_back(weights[r]);
  }
  const Projection::Written written{end - begin, weights ? &record_weights : nullptr, n_records,
                                    squares};
  out.arrange(written, some ? dense : out.better_dense(written));
  out.traced = kind == ItemsetKind::closed && !out.dense;
  if (out.dense && kind != ItemsetKind::all) out.find_entire();
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

Itemsets too_large(std::uint32_t item, std::int64_t bytes) {
  Itemsets out;
  out.indptr = Buffer<std::int64_t>(2);
  out.items = Buffer<std::uint32_t>(1);
  out.counts = Buffer<std::int64_t>(1);
  out.indptr[0] = 0;
  out.indptr[1] = out.n_sets = out.n_items = 1;
  out.items[0] = item;
  out.counts[0] = bytes;
  out.status = MineStatus::too_large;
  return out;
}

}  // namespace

template <class V>
Itemsets mine_itemsets(const Records<V>& records, const std::int64_t* weights,
                       const std::uint8_t* excluded, const MineOptions& options, int n_jobs,
                       Poll poll) {
  MineLimits limits(options);
  Poller poller(poll);
  const Order order = order_items(records, weights, excluded, limits, poller);
  const bool every = options.kind == ItemsetKind::all;
  const std::vector<std::uint32_t> none;
  const auto& base = every ? none : order.everywhere;
  const auto& extra = every ? order.everywhere : none;

  // Branch 0 is the items that are in all records, by themselves.
  const auto n = static_cast<std::int64_t>(order.items.size());
  std::vector<Collector> found(index(n) + 1, Collector(limits));
  std::vector<std::uint8_t> finished(index(n) + 1);
  MineStatus status = MineStatus::complete;
  Searches searches(limits);
  try {
    if (options.kind != ItemsetKind::maximal || n == 0)
      if (order.total >= limits.min_count()) found[0].add(base, extra, order.total);
    found[0].close();
    finished[0] = 1;
    const Groups groups = group_items(records, weights, order, options, poller);
    if (groups.too_large >= 0) {
      const std::uint32_t item = order.items[index(groups.too_large)];
      return too_large(options.labels ? options.labels[item] : item, groups.bytes);
    }
    std::vector<std::int64_t> ends = groups.ends;
    // The most common first where they raise the limit.
    const bool backwards = options.top > 0;
    ends.insert(ends.begin(), 0);
    Projection top;
    for (std::size_t g = 0; g + 1 < ends.size(); ++g) {
      const std::size_t which = backwards ? ends.size() - 2 - g : g;
      const Range group{ends[which], ends[which + 1]};
      project(records, weights, order, group, groups.dense, options.kind, top, poller);
      for_blocks(group.end - group.begin, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
        const std::int64_t rank = backwards ? group.end - 1 - b : group.begin + b;
        auto search = searches.take();
        search->branch(top, rank, base, extra, found[index(rank) + 1], token);
        searches.give(std::move(search));
        finished[index(rank) + 1] = 1;
      });
    }
  } catch (const TooManyItemsets&) {
    status = MineStatus::too_many;
  } catch (const Interrupted&) {
    status = MineStatus::interrupted;
  }
  for (std::size_t b = 0; b < found.size(); ++b)
    if (status == MineStatus::too_many || !finished[b]) found[b] = Collector(limits);
  const std::int64_t least = limits.min_count();
  // As the least count rises, searches see more or less of what is rare, and find sets in an order
  // that depends on when it did.
  const bool sorted = options.top > 0;
  Itemsets out = options.count_only ? counted(found, least)
                                    : ranked_itemsets(found, least, options.labels, sorted);
  out.status = status;
  return out;
}

#define TACIT_INSTANTIATE(V)                                                                   \
  template Itemsets mine_itemsets(const Records<V>&, const std::int64_t*, const std::uint8_t*, \
                                  const MineOptions&, int, Poll);
TACIT_FOR_VALUE_TYPES(TACIT_INSTANTIATE)

}  // namespace tacit
