#include "near/set_neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/simd.hpp"

namespace tacit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kFew = 256;    // entries up to which they are gone through once more
constexpr std::int64_t kVerify = 12;  // entries that cost as much as a look at one candidate

// How many positions hold at least `least`.
TACIT_INLINE std::int64_t count_some(const std::uint8_t* counts, std::int64_t n,
                                     std::uint8_t least) {
  std::int64_t number = 0;
  for (std::int64_t begin = 0; begin < n; begin += 4096) {
    std::uint32_t some = 0;
    const std::int64_t end = std::min(begin + 4096, n);
    for (std::int64_t i = begin; i < end; ++i) some += counts[i] >= least;
    number += some;
  }
  return number;
}

// Positions that hold at least `least`, in order. n is rounded up to a multiple of 32 by the caller.
TACIT_INLINE std::int64_t find_some(const std::uint8_t* counts, std::int64_t n, std::uint8_t least,
                                    std::int32_t* out) {
  using Bytes = VectorOf<std::uint8_t>::Type;
  std::int64_t found = 0;
  const Bytes limit = Bytes{} + least;
  for (std::int64_t i = 0; i < n; i += 32) {
    const Bits4 mask = reinterpret_cast<Bits4>(vector_at(counts + i) >= limit);
    if (!(mask[0] | mask[1] | mask[2] | mask[3])) continue;
    for (std::int64_t j = i; j < i + 32; ++j)
      if (counts[j] >= least) out[found++] = static_cast<std::int32_t>(j);
  }
  return found;
}

std::int64_t count_at_least(const std::uint8_t* counts, std::int64_t n, std::int64_t least) {
  static const auto count = avx2_or_plain<count_some>();
  return least > 255 ? 0 : count(counts, n, static_cast<std::uint8_t>(least));
}
std::int64_t count_at_least(const std::uint32_t* counts, std::int64_t n, std::int64_t least) {
  return std::count_if(counts, counts + n, [&](std::uint32_t c) { return c >= least; });
}
std::int64_t find_at_least(const std::uint8_t* counts, std::int64_t n, std::int64_t least,
                           std::int32_t* out) {
  static const auto find = avx2_or_plain<find_some>();
  return least > 255 ? 0 : find(counts, n, static_cast<std::uint8_t>(least), out);
}
std::int64_t find_at_least(const std::uint32_t* counts, std::int64_t n, std::int64_t least,
                           std::int32_t* out) {
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < n; ++i)
    if (counts[i] >= least) out[found++] = static_cast<std::int32_t>(i);
  return found;
}

// A query on its way through the blocks.
class Walk {
  struct Segment {
    Range list;
    std::int32_t rank;
  };

 public:
  Walk(const InvertedLists& lists, SetMeasure measure, StopToken& token)
      : lists_(lists),
        measure_(measure),
        marks_(static_cast<std::size_t>(lists.n_columns()), 0),
        candidates_(static_cast<std::size_t>(widest(lists) + 32)),
        bytes_(candidates_.size(), 0),
        words_(candidates_.size(), 0),
        meter_(token) {}

  // Offers every row that may be wanted and shares an element with the query: those before `end`,
  // without the row `itself`.
  template <class Wanted>
  void run(const SparsePattern& queries, std::int64_t q, std::int64_t itself, std::int64_t end,
           Wanted& wanted) {
    itself_ = itself, end_ = end;
    elements_.clear();
    for (std::int64_t e = queries.indptr[q]; e < queries.indptr[q + 1]; ++e)
      elements_.push_back(lists_.rank(queries.columns[e]));
    a_ = static_cast<std::int64_t>(elements_.size());
    std::sort(elements_.begin(), elements_.end(), std::greater<>());  // the rarest first
    meter_.spend(a_);
    // What no row has comes first, as the rarest.
    elements_.erase(elements_.begin(), std::partition_point(elements_.begin(), elements_.end(),
                                                            [&](std::int32_t rank) {
                                                              return lists_.length(rank) == 0;
                                                            }));
    if (elements_.empty()) return;
    for (const std::int32_t rank : elements_) marks_[static_cast<std::size_t>(rank)] = 1;
    const auto& blocks = lists_.blocks();
    // Blocks of the query's own size come first, then those that may be nearest.
    auto right = std::partition_point(blocks.begin(), blocks.end(),
                                      [&](const RowBlock& block) { return block.longest < a_; }) -
                 blocks.begin();
    auto left = right - 1;
    const auto n_blocks = static_cast<std::int64_t>(blocks.size());
    while (left >= 0 || right < n_blocks) {
      const double below = left >= 0 ? most(blocks[static_cast<std::size_t>(left)]) : -kInfinity;
      const double above =
          right < n_blocks ? most(blocks[static_cast<std::size_t>(right)]) : -kInfinity;
      if (std::max(below, above) < wanted.least()) break;
      visit(above >= below ? right++ : left--, std::max(below, above), wanted);
    }
    for (const std::int32_t rank : elements_) marks_[static_cast<std::size_t>(rank)] = 0;
  }

  std::int64_t size() const { return a_; }

  // How many elements a row shares with the query of the last run.
  std::int64_t shared(const SparsePattern& queries, std::int64_t q, std::int64_t r) const {
    std::int64_t c = 0;
    for (std::int64_t e = queries.indptr[q]; e < queries.indptr[q + 1]; ++e)
      c += std::binary_search(lists_.ranks(r), lists_.ranks(r) + lists_.size(r),
                              lists_.rank(queries.columns[e]));
    return c;
  }

 private:
  static std::int64_t widest(const InvertedLists& lists) {
    return lists.blocks().empty() ? 0 : lists.blocks()[0].end - lists.blocks()[0].begin;
  }

  double nearness(std::int64_t b, std::int64_t shared) const {
    return set_nearness(measure_, a_, b, shared);
  }

  // How near a row of a block can be.
  double most(const RowBlock& block) const {
    const std::int64_t b = std::clamp(a_, block.shortest, block.longest);
    return nearness(b, std::min(a_, b));
  }

  // The least number of shared elements with a set of b that makes it as near as that; at least 1.
  std::int64_t needed(double least, std::int64_t b) const {
    const auto both = static_cast<double>(a_ + b);
    double c = 1;
    if (least > -kInfinity) switch (measure_) {
        case SetMeasure::kJaccard:
          c = least * both / (1 + least);
          break;
        case SetMeasure::kCosine:
          c = std::sqrt(least * static_cast<double>(a_) * static_cast<double>(b));
          break;
        case SetMeasure::kOverlap:
          c = least * static_cast<double>(std::min(a_, b));
          break;
        case SetMeasure::kHamming:
          c = (both + least) / 2;
          break;
      }
    const std::int64_t most = std::min(a_, b);
    auto shared = static_cast<std::int64_t>(std::clamp(c, 1.0, static_cast<double>(most + 1)));
    while (shared > 1 && nearness(b, shared - 1) >= least) --shared;
    while (shared <= most && nearness(b, shared) < least) ++shared;
    return shared;
  }

  template <class Wanted>
  void visit(std::int64_t b, double most, Wanted& wanted) {
    const RowBlock& block = lists_.blocks()[static_cast<std::size_t>(b)];
    if (block.begin >= end_ || !wanted.wants(most, block.first)) return;
    const std::int64_t need = needed(wanted.least(), std::max<std::int64_t>(block.shortest, 1));
    if (need > std::min(a_, block.longest)) return;
    segments_.clear();
    std::int64_t total = 0;
    for (const std::int32_t rank : elements_) {
      const Range list = lists_.segment(rank, b);
      if (list.begin == list.end) continue;
      segments_.push_back({list, rank});
      total += list.end - list.begin;
    }
    meter_.spend(8 * static_cast<std::int64_t>(elements_.size()) + 2 * total +
                 (block.end - block.begin) / 8);
    if (total == 0) return;
    if (elements_.size() <= 255)
      count(block, need, total, bytes_.data(), wanted);
    else
      count(block, need, total, words_.data(), wanted);
  }

  template <class Counter, class Wanted>
  void count(const RowBlock& block, std::int64_t need, std::int64_t total, Counter* counts,
             Wanted& wanted) {
    const std::int64_t width = block.end - block.begin;
    const auto n_lists = static_cast<std::int64_t>(segments_.size());
    const std::int32_t* const entries = lists_.entries().data();
    Counter* const of_row = counts - block.begin;
    std::int64_t left = total, checked = std::numeric_limits<std::int64_t>::max(), i = 0;
    for (; i < n_lists; ++i) {
      const Range list = segments_[static_cast<std::size_t>(i)].list;
      const std::int64_t rest = n_lists - i;
      // What shares nothing with the lists so far cannot get enough from the rest.
      if (rest < need && left > kVerify && 2 * left < checked) {
        checked = left;
        const std::int64_t bound = (total - left) / (need - rest);
        if (bound * kVerify < left) break;
        if (width / 16 < left && count_at_least(counts, width, need - rest) * kVerify < left) break;
      }
      for (std::int64_t e = list.begin; e < list.end; ++e) ++of_row[entries[e]];
      left -= list.end - list.begin;
    }
    const std::int64_t rest = n_lists - i;
    const std::int32_t cutoff = rest > 0 ? segments_[static_cast<std::size_t>(i)].rank : -1;
    const std::int64_t least = std::max<std::int64_t>(need - rest, 1);
    if (total - left <= kFew) {  // rows that are counted are known from the lists
      for (std::int64_t l = 0; l < i; ++l)
        for (std::int64_t e = segments_[static_cast<std::size_t>(l)].list.begin;
             e < segments_[static_cast<std::size_t>(l)].list.end; ++e) {
          Counter& counter = of_row[entries[e]];
          if (counter >= least) consider(entries[e], counter, rest, cutoff, wanted);
          counter = 0;
        }
      return;
    }
    // Beyond the block, counters are 0.
    const std::int64_t found =
        find_at_least(counts, (width + 31) / 32 * 32, least, candidates_.data());
    for (std::int64_t c = 0; c < found; ++c) {
      const std::int32_t at = candidates_[static_cast<std::size_t>(c)];
      consider(static_cast<std::int32_t>(block.begin) + at, counts[at], rest, cutoff, wanted);
    }
    std::memset(counts, 0, static_cast<std::size_t>(width) * sizeof(Counter));
  }

  // A row that shares `shared` elements besides those of the `rest` lists from rank `cutoff` down.
  template <class Wanted>
  void consider(std::int32_t r, std::int64_t shared, std::int64_t rest, std::int32_t cutoff,
                Wanted& wanted) {
    if (r == itself_ || r >= end_) return;
    const std::int64_t b = lists_.size(r);
    const std::int32_t row = lists_.row(r);
    if (rest > 0) {
      if (!wanted.wants(nearness(b, std::min({shared + rest, a_, b})), row)) return;
      const std::int32_t* rank = lists_.ranks(r);
      for (const std::int32_t* const end = rank + b; rank < end && *rank <= cutoff; ++rank)
        shared += marks_[static_cast<std::size_t>(*rank)];
    }
    wanted.offer(nearness(b, shared), row);
  }

  const InvertedLists& lists_;
  const SetMeasure measure_;
  std::vector<std::uint8_t> marks_;  // of the query's elements
  std::vector<std::int32_t> candidates_;
  std::vector<std::uint8_t> bytes_;  // counters; all 0 between blocks
  std::vector<std::uint32_t> words_;
  std::vector<std::int32_t> elements_;  // of the query, by rank, the rarest first
  std::vector<Segment> segments_;       // of the block, in that order
  std::int64_t a_ = 0, itself_ = -1, end_ = 0;
  Meter meter_;
};

// Rows that share nothing with a query come last, or, where their size matters, by size.
void add_strangers(const InvertedLists& lists, const Walk& walk, const SparsePattern& queries,
                   std::int64_t q, std::int64_t itself, SetMeasure measure, BestMatches& best) {
  const std::int64_t a = queries.indptr[q + 1] - queries.indptr[q], n = lists.n_rows();
  if (measure == SetMeasure::kHamming || a == 0) {
    for (std::int64_t r = 0; r < n; ++r) {  // by size, then by number
      const double nearness = set_nearness(measure, a, lists.size(r), 0);
      if (best.full() && nearness < best.least()) return;
      if (r == itself || !best.wants(nearness, lists.row(r))) continue;
      if (a == 0 || walk.shared(queries, q, r) == 0) best.offer(nearness, lists.row(r));
    }
    return;
  }
  if (best.full()) return;
  // All that share something are there already.
  std::vector<std::int32_t> known;
  for (const Match& match : best.matches()) known.push_back(match.row);
  std::sort(known.begin(), known.end());
  const std::int32_t own = itself >= 0 ? lists.row(itself) : -1;
  auto next = known.begin();
  for (std::int32_t row = 0; !best.full(); ++row) {
    if (next != known.end() && *next == row)
      ++next;
    else if (row != own)
      best.offer(0.0, row);
  }
}

}  // namespace

double set_nearness(SetMeasure measure, std::int64_t a, std::int64_t b, std::int64_t shared) {
  const auto c = static_cast<double>(shared);
  switch (measure) {
    case SetMeasure::kJaccard:
      return a + b == 0 ? 1.0 : c / static_cast<double>(a + b - shared);
    case SetMeasure::kCosine:
      return shared == 0 ? 0.0 : c * c / (static_cast<double>(a) * static_cast<double>(b));
    case SetMeasure::kOverlap:
      return shared == 0 ? 0.0 : c / static_cast<double>(std::min(a, b));
    default:
      return 2 * c - static_cast<double>(a + b);
  }
}

double set_distance(SetMeasure measure, double nearness, std::int64_t n_columns) {
  if (measure == SetMeasure::kHamming)
    return n_columns == 0 ? 0.0 : (0.0 - nearness) / static_cast<double>(n_columns);  // never -0
  return 1 - (measure == SetMeasure::kCosine ? std::sqrt(nearness) : nearness);
}

void SetIndex::nearest(const SparsePattern& queries, bool itself, SetMeasure measure,
                       std::int64_t k, double* distances, std::int32_t* rows, int n_jobs,
                       Poll poll) const {
  for_queries(queries.n_rows, n_jobs, poll, [&](Range range, StopToken& token) {
    Walk walk(lists_, measure, token);
    BestMatches best;
    for (std::int64_t q = range.begin; q < range.end; ++q) {
      const std::int64_t own = itself ? lists_.place(q) : -1;
      best.begin(k);
      walk.run(queries, q, own, n_rows(), best);
      add_strangers(lists_, walk, queries, q, own, measure, best);
      std::sort(best.matches().begin(), best.matches().end());
      for (std::int64_t r = 0; r < k; ++r) {
        const Match& match = best.matches()[static_cast<std::size_t>(r)];
        distances[q * k + r] = set_distance(measure, match.nearness, n_columns());
        rows[q * k + r] = match.row;
      }
    }
  });
}

void SetIndex::within(const SparsePattern& queries, bool itself, bool once, SetMeasure measure,
                      double least, std::vector<std::vector<Match>>& found, int n_jobs,
                      Poll poll) const {
  found.assign(static_cast<std::size_t>(queries.n_rows), {});
  for_queries(queries.n_rows, n_jobs, poll, [&](Range range, StopToken& token) {
    Walk walk(lists_, measure, token);
    for (std::int64_t q = range.begin; q < range.end; ++q) {
      const std::int64_t own = itself || once ? lists_.place(q) : -1;
      const std::int64_t end = once ? own : n_rows();
      MatchesWithin wanted(least);
      walk.run(queries, q, own, end, wanted);
      const std::int64_t a = queries.indptr[q + 1] - queries.indptr[q];
      for (std::int64_t r = 0; r < end; ++r) {  // those that share nothing, by size
        const double nearness = set_nearness(measure, a, lists_.size(r), 0);
        if (nearness < least) break;
        if (r != own && walk.shared(queries, q, r) == 0) wanted.offer(nearness, lists_.row(r));
      }
      found[static_cast<std::size_t>(q)] = wanted.take();
    }
    token.check();
  });
}

}  // namespace tacit
