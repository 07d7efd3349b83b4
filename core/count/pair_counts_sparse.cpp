// Sparse pair counts. A few popular values take part in most pairs: theirs are counted by outer
// products in a small dense triangle. For every other value ("rare") the records that hold it are
// written one after another into a bucket, and one pass over the bucket is that value's whole row
// of the result. The popular rows' other half comes out of the rare rows, in ascending order.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#include "base/bits.hpp"
#include "count/one_way.hpp"
#include "count/outer.hpp"
#include "count/pair_counts.hpp"

namespace tacit {
namespace {

constexpr std::int64_t kMostPopular = 1024;                   // 2 MiB of 32-bit cells
constexpr std::int64_t kBucketBytes = std::int64_t{8} << 20;  // of a group of rare values, at least
constexpr std::int64_t kPad = 16;                             // a copy may run over by this many
constexpr std::int64_t kSortBelow = 64;  // a sorted entry costs as much as so many words looked at

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// Which values are popular, and where: slot[v] is the position of v among them, or, for a rare
// value, their number. That last slot is a real position wherever slots are counted or written to,
// so that separating popular from rare, which no branch predictor can do, needs no branch.
struct Popular {
  std::vector<std::uint16_t> slot;
  std::vector<std::int64_t> values;
  bool has(std::int64_t v) const { return slot[static_cast<std::size_t>(v)] < values.size(); }
};

Popular choose_popular(const std::vector<std::int64_t>& occurrences) {
  const auto n = static_cast<std::int64_t>(occurrences.size());
  const std::int64_t total = std::accumulate(occurrences.begin(), occurrences.end(), INT64_C(0));
  const std::int64_t least = std::max<std::int64_t>(4 * total / std::max<std::int64_t>(n, 1), 64);
  Popular popular;
  for (std::int64_t v = 0; v < n; ++v)
    if (occurrences[at(v)] >= least) popular.values.push_back(v);
  if (static_cast<std::int64_t>(popular.values.size()) > kMostPopular) {
    std::nth_element(popular.values.begin(), popular.values.begin() + kMostPopular,
                     popular.values.end(), [&](std::int64_t a, std::int64_t b) {
                       return occurrences[at(a)] != occurrences[at(b)]
                                  ? occurrences[at(a)] > occurrences[at(b)]
                                  : a < b;
                     });
    popular.values.resize(kMostPopular);
    std::sort(popular.values.begin(), popular.values.end());
  }
  popular.slot.assign(at(n), static_cast<std::uint16_t>(popular.values.size()));
  for (std::size_t k = 0; k < popular.values.size(); ++k)
    popular.slot[at(popular.values[k])] = static_cast<std::uint16_t>(k);
  return popular;
}

// The rows of the rare values in [lo, hi), one after another.
template <class V, class Sum>
struct Group {
  std::int64_t lo, hi;
  Buffer<V> columns;
  Buffer<Sum> counts;
  std::vector<std::int64_t> length;         // of each row in [lo, hi); 0 for popular ones
  std::vector<std::int64_t> popular_links;  // how many rows hold each popular value
};

// Cell holds the counts of popular pairs; Sum those of a rare row, where 16 bits keep one row's
// sums in the first-level cache if no rare value occurs more often.
template <class V, class Cell, class Sum>
class SparseCounter {
  using Count = std::conditional_t<std::is_floating_point_v<Cell>, double, std::int64_t>;

 public:
  SparseCounter(const Records<V>& records, const std::vector<std::int64_t>& occurrences,
                const Popular& popular, int n_jobs, Poll poll)
      : records_(records),
        n_(records.n_values),
        n_jobs_(n_jobs),
        poll_(poll),
        popular_(popular),
        n_popular_(static_cast<std::int64_t>(popular.values.size())) {
    for (const std::int64_t v : popular_.values)
      popular_occurrences_.push_back(static_cast<double>(occurrences[at(v)]));
  }

  SparsePairs<Count> run() {
    cells_ = Buffer<Cell>(at(n_popular_ * n_popular_));
    std::fill_n(cells_.data(), n_popular_ * n_popular_, Cell{0});
    make_groups();
    // A pass over the records serves one group and one tile of the popular triangle.
    const auto tiles = triangle_tiles(popular_occurrences_, n_jobs_);
    const std::int64_t n_tiles = n_popular_ ? static_cast<std::int64_t>(tiles.size()) - 1 : 0;
    const auto n_groups = static_cast<std::int64_t>(groups_.size());
    for_blocks(std::max(n_tiles, n_groups), n_jobs_, poll_,
               [&](std::int64_t block, StopToken& token) {
                 Group<V, Sum> none{n_, n_, {}, {}, {}, {}};
                 Group<V, Sum>& group = block < n_groups ? groups_[at(block)] : none;
                 const Range tile =
                     block < n_tiles ? Range{tiles[at(block)], tiles[at(block) + 1]} : Range{0, 0};
                 count_group(group, tile, token);
               });
    mirror(cells_.data(), n_popular_, n_jobs_, poll_);
    return assemble();
  }

 private:
  // Groups of consecutive values whose buckets fit kBucketBytes together (or a single value).
  void make_groups() {
    entries_.assign(at(n_), 0);
    for (std::int64_t k = 0; k < records_.size(); ++k) {
      const std::int64_t r = records_.record(k);
      const std::int64_t length = records_.end(r) - records_.begin(r);
      for (const V* p = records_.begin(r); p < records_.end(r); ++p) entries_[*p] += length;
      longest_ = std::max(longest_, length);
    }
    const auto bytes = static_cast<std::int64_t>(sizeof(V)) + (weighted() ? 8 : 0);
    std::int64_t lo = 0, held = 0, total = 0;
    for (std::int64_t v = 0; v < n_; ++v) {
      if (popular_.has(v)) entries_[at(v)] = 0;
      total += entries_[at(v)];
    }
    // Each group costs a pass over the records, so buckets may take as much as the table does.
    // Several threads want several groups all the same.
    const std::int64_t stored = records_.indptr[records_.n_records];
    std::int64_t budget = std::max(kBucketBytes / bytes, stored);
    if (n_jobs_ > 1)
      budget = std::min(budget, std::max<std::int64_t>(total / n_jobs_ + 1, 1 << 16));
    for (std::int64_t v = 0; v < n_; ++v) {
      const std::int64_t cost = entries_[at(v)] ? entries_[at(v)] + kPad : 0;
      if (held > 0 && held + cost > budget) {
        groups_.push_back({lo, v, {}, {}, {}, {}});
        lo = v;
        held = 0;
      }
      held += cost;
    }
    if (n_ > 0) groups_.push_back({lo, n_, {}, {}, {}, {}});
  }

  bool weighted() const { return std::is_floating_point_v<Cell> && records_.weights; }

  Cell weight(std::int64_t r) const {
    if constexpr (std::is_floating_point_v<Cell>)
      return records_.weights ? records_.weights[r] : 1.0;
    else
      return 1;
  }

  void count_group(Group<V, Sum>& group, Range tile, StopToken& token) {
    const std::int64_t rows = group.hi - group.lo;
    std::vector<std::int64_t> start(at(rows) + 1), position;
    std::int64_t size = 0;
    for (std::int64_t v = 0; v < rows; ++v) {
      start[at(v)] = size;
      const std::int64_t entries = entries_[at(group.lo + v)];
      if (entries) size += entries + kPad;
    }
    position.assign(start.begin(), start.end());
    Buffer<V> bucket(at(size + kPad));
    Buffer<double> bucket_weights(weighted() ? at(size + kPad) : 0);
    const UpperSquare<Cell> square{cells_.data(), n_popular_};
    std::vector<std::uint16_t> slots(at(n_popular_) + 1);
    std::vector<std::uint32_t> rare(at(longest_) + 1);
    const auto lo = static_cast<std::uint32_t>(group.lo);
    const auto width = static_cast<std::uint32_t>(rows);
    Meter meter(token);
    for (std::int64_t k = 0; k < records_.size(); ++k) {
      const std::int64_t r = records_.record(k);
      const std::int64_t length = records_.end(r) - records_.begin(r);
      meter.spend(length * length / 2 + 8);
      std::int64_t n_slots = 0, n_rare = 0;
      for (const V* p = records_.begin(r); p < records_.end(r); ++p) {
        const std::uint16_t slot = popular_.slot[*p];
        const bool popular = slot < n_popular_;
        slots[at(n_slots)] = slot;
        n_slots += popular;
        rare[at(n_rare)] = static_cast<std::uint32_t>(*p) - lo;
        n_rare += !popular && rare[at(n_rare)] < width;
      }
      if (tile.end > tile.begin)
        add_outer(slots.data(), slots.data() + n_slots, tile.begin, tile.end, square, weight(r));
      drop_record(r, rare.data(), n_rare, position, bucket.data(), bucket_weights.data());
    }
    group.length.assign(at(rows), 0);
    group.popular_links.assign(at(n_popular_ + 1), 0);
    gather_rows(group, start, position, bucket.data(), bucket_weights.data(), token);
  }

  // Appends the whole record to the bucket of each of the given rare values.
  void drop_record(std::int64_t r, const std::uint32_t* rare, std::int64_t n_rare,
                   std::vector<std::int64_t>& position, V* bucket, double* bucket_weights) const {
    const V* const begin = records_.begin(r);
    const std::int64_t length = records_.end(r) - begin;
    // Copying a fixed chunk beats copying `length` values, but must not read past the array.
    const bool roomy = records_.indptr[r + 1] + kPad <= records_.indptr[records_.n_records];
    for (std::int64_t i = 0; i < n_rare; ++i) {
      std::int64_t& to = position[rare[i]];
      if (roomy)
        for (std::int64_t k = 0; k < length; k += kPad)
          std::memcpy(bucket + to + k, begin + k, kPad * sizeof(V));
      else
        std::memcpy(bucket + to, begin, at(length) * sizeof(V));
      if (weighted()) std::fill_n(bucket_weights + to, length, records_.weights[r]);
      to += length;
    }
  }

  void gather_rows(Group<V, Sum>& group, const std::vector<std::int64_t>& start,
                   const std::vector<std::int64_t>& position, const V* bucket,
                   const double* bucket_weights, StopToken& token) {
    std::int64_t bound = 0;
    for (std::int64_t v = group.lo; v < group.hi; ++v) bound += std::min(entries_[at(v)], n_);
    group.columns = Buffer<V>(at(bound));  // untouched pages cost nothing
    group.counts = Buffer<Sum>(at(bound));
    V* column = group.columns.data();
    Sum* count = group.counts.data();
    const std::int64_t n_words = (n_ + 63) / 64;
    const ListBits list = list_bits();
    std::vector<Sum> sums(at(n_), Sum{0});
    std::vector<std::uint64_t> seen(at(n_words), 0);
    std::vector<std::uint32_t> hit(at(n_words + kListSlack)), listed(at(n_ + kListSlack));
    Meter meter(token);
    for (std::int64_t v = group.lo; v < group.hi; ++v) {
      meter.spend(8 * entries_[at(v)] + 1);
      const std::int64_t row = v - group.lo;
      const V* const begin = bucket + start[at(row)];
      const V* const end = bucket + position[at(row)];
      if (begin == end) continue;
      const double* w = weighted() ? bucket_weights + start[at(row)] : nullptr;
      const auto add = [&](V value) {
        if constexpr (std::is_floating_point_v<Sum>)
          sums[value] += w ? *w++ : 1.0;
        else
          ++sums[value];
      };
      std::int64_t length;
      if ((end - begin) * kSortBelow < n_words) {  // few entries: not worth looking at all words
        for (const V* p = begin; p < end; ++p) add(*p);
        const auto last = std::copy(begin, end, listed.begin());
        std::sort(listed.begin(), last);
        length = std::unique(listed.begin(), last) - listed.begin();
      } else {
        for (const V* p = begin; p < end; ++p) {
          add(*p);
          seen[*p / 64u] |= std::uint64_t{1} << (*p % 64u);
        }
        length = list(seen.data(), n_words, hit.data(), listed.data());
      }
      for (std::int64_t k = 0; k < length; ++k) {
        const std::uint32_t j = listed[at(k)];
        column[k] = static_cast<V>(j);
        count[k] = sums[j];
        sums[j] = Sum{0};
        ++group.popular_links[popular_.slot[j]];
      }
      column += length;
      count += length;
      group.length[at(row)] = length;
    }
  }

  SparsePairs<Count> assemble() {
    // How many rare and how many popular values each popular one shares records with.
    std::vector<std::int64_t> first(at(n_popular_ + 1), 0), shared(at(n_popular_), 0);
    for (std::int64_t s = 0; s < n_popular_; ++s) {
      first[at(s + 1)] = first[at(s)];
      for (const auto& group : groups_) first[at(s + 1)] += group.popular_links[at(s)];
      const Cell* row = cells_.data() + s * n_popular_;
      shared[at(s)] = n_popular_ - std::count(row, row + n_popular_, Cell{0});
    }
    SparsePairs<Count> pairs{Buffer<std::int64_t>(at(n_ + 1)), {}, {}};
    pairs.indptr[0] = 0;
    for (const auto& group : groups_)
      for (std::int64_t v = group.lo; v < group.hi; ++v) {
        std::int64_t length = group.length[at(v - group.lo)];
        if (const std::size_t s = popular_.slot[at(v)]; popular_.has(v))
          length = first[s + 1] - first[s] + shared[s];
        pairs.indptr[at(v + 1)] = pairs.indptr[at(v)] + length;
      }
    const std::int64_t total = pairs.indptr[at(n_)];
    pairs.indices = Buffer<std::int32_t>(at(total));
    pairs.counts = Buffer<Count>(at(total));
    // Behind the links, a cell for each part (on cache lines apart) for what is thrown away.
    constexpr std::int64_t kApart = 64;
    Buffer<Link> links(at(first[at(n_popular_)] + kApart * (n_jobs_ + 1)));
    std::vector<std::int64_t> position(first.begin(), first.end());
    for (auto& group : groups_) {
      // Block 0 copies the rare rows, the others each serve a part of the popular ones.
      for_blocks(1 + (n_popular_ ? n_jobs_ : 0), n_jobs_, poll_,
                 [&](std::int64_t block, StopToken&) {
                   if (block == 0)
                     copy_rare(group, pairs);
                   else
                     link_popular(group, block_range(n_popular_, n_jobs_, block - 1),
                                  first[at(n_popular_)] + kApart * block, position, links.data());
                 });
      group.columns = {};  // so that no more than one group is held beside the result
      group.counts = {};
    }
    for_blocks(n_popular_, n_jobs_, poll_, [&](std::int64_t s, StopToken&) {
      merge_popular(s, links.data() + first[at(s)], links.data() + first[at(s + 1)], pairs);
    });
    return pairs;
  }

  void copy_rare(const Group<V, Sum>& group, SparsePairs<Count>& pairs) const {
    std::int64_t from = 0;
    for (std::int64_t v = group.lo; v < group.hi; ++v) {
      const std::int64_t length = group.length[at(v - group.lo)], to = pairs.indptr[at(v)];
      for (std::int64_t k = 0; k < length; ++k) {
        pairs.indices[at(to + k)] = static_cast<std::int32_t>(group.columns[at(from + k)]);
        pairs.counts[at(to + k)] = static_cast<Count>(group.counts[at(from + k)]);
      }
      from += length;
    }
  }

  // A rare value that a popular one shares records with, and how many.
  struct Link {
    V value;
    Sum count;
  };

  // Visits the rare values of the group in ascending order and links each to the popular ones (of
  // the given slots) in its row: every list of links grows in ascending order. Links to others go
  // nowhere.
  void link_popular(const Group<V, Sum>& group, Range slots, std::int64_t nowhere,
                    std::vector<std::int64_t>& position, Link* links) const {
    std::vector<std::int64_t> to(at(n_popular_ + 1), nowhere), step(at(n_popular_ + 1), 0);
    for (std::int64_t s = slots.begin; s < slots.end; ++s) {
      to[at(s)] = position[at(s)];
      step[at(s)] = 1;
    }
    const V* column = group.columns.data();
    const Sum* count = group.counts.data();
    for (std::int64_t v = group.lo; v < group.hi; ++v)
      for (std::int64_t k = group.length[at(v - group.lo)]; k > 0; --k) {
        const std::size_t s = popular_.slot[*column++];
        links[to[s]] = {static_cast<V>(v), *count++};
        to[s] += step[s];
      }
    for (std::int64_t s = slots.begin; s < slots.end; ++s) position[at(s)] = to[at(s)];
  }

  // A popular row is its links and its popular neighbours, merged by value without a branch.
  void merge_popular(std::int64_t s, const Link* link, const Link* end,
                     SparsePairs<Count>& pairs) const {
    const Cell* row = cells_.data() + s * n_popular_;
    std::vector<std::int64_t> near(at(n_popular_) + 1);
    std::int64_t n_near = 0;
    for (std::int64_t t = 0; t < n_popular_; ++t) {
      near[at(n_near)] = t;
      n_near += row[t] != Cell{0};
    }
    const std::int64_t* t = near.data();
    const std::int64_t* const t_end = t + n_near;
    std::int64_t to = pairs.indptr[at(popular_.values[at(s)])];
    const auto put = [&](std::int64_t value, Count count) {
      pairs.indices[at(to)] = static_cast<std::int32_t>(value);
      pairs.counts[at(to)] = count;
      ++to;
    };
    while (link < end && t < t_end) {
      const std::int64_t rare = link->value, popular = popular_.values[at(*t)];
      const auto rare_count = static_cast<Count>(link->count);
      const auto popular_count = static_cast<Count>(row[*t]);
      const bool rare_first = rare < popular;
      put(rare_first ? rare : popular, rare_first ? rare_count : popular_count);
      link += rare_first;
      t += !rare_first;
    }
    for (; link < end; ++link) put(link->value, static_cast<Count>(link->count));
    for (; t < t_end; ++t) put(popular_.values[at(*t)], static_cast<Count>(row[*t]));
  }

  const Records<V>& records_;
  const std::int64_t n_;
  const int n_jobs_;
  const Poll poll_;
  const Popular& popular_;
  const std::int64_t n_popular_;
  std::vector<double> popular_occurrences_;
  Buffer<Cell> cells_;
  std::int64_t longest_ = 0;           // record
  std::vector<std::int64_t> entries_;  // length of each rare value's bucket
  std::vector<Group<V, Sum>> groups_;
};

}  // namespace

template <class V, class Count>
SparsePairs<Count> pair_counts_sparse(const Records<V>& records, int n_jobs, Poll poll) {
  std::vector<std::int64_t> occurrences(at(records.n_values));
  one_way(records, occurrences.data(), n_jobs, poll);
  const Popular popular = choose_popular(occurrences);
  const auto count = [&](auto cell, auto sum) {
    return SparseCounter<V, decltype(cell), decltype(sum)>(records, occurrences, popular, n_jobs,
                                                           poll)
        .run();
  };
  if constexpr (std::is_floating_point_v<Count>) {
    return count(double{}, double{});
  } else {
    std::int64_t most = 0;
    for (std::int64_t v = 0; v < records.n_values; ++v)
      if (!popular.has(v)) most = std::max(most, occurrences[at(v)]);
    if (most < (1 << 16)) return count(std::uint32_t{}, std::uint16_t{});
    return count(std::uint32_t{}, std::uint32_t{});
  }
}

#define TACIT_INSTANTIATE(V)                                                           \
  template SparsePairs<std::int64_t> pair_counts_sparse(const Records<V>&, int, Poll); \
  template SparsePairs<double> pair_counts_sparse(const Records<V>&, int, Poll);
TACIT_FOR_VALUE_TYPES(TACIT_INSTANTIATE)
#undef TACIT_INSTANTIATE

}  // namespace tacit
