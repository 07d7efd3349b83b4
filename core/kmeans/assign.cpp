#include "kmeans/assign.hpp"

#include <bit>
#include <vector>

#include "kmeans/scores.hpp"

namespace tacit {

template <class T>
ScoreTable<T>::ScoreTable(const Centres& centres, std::int64_t n_values)
    : stride_((centres.size + kUnit<T> - 1) / kUnit<T> * kUnit<T>),
      memory_(static_cast<std::size_t>((n_values + 1) * stride_) + 64 / sizeof(T)) {
  const std::int64_t k_all = centres.size;
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  rows_ = memory_.data() + (64 - address % 64) % 64 / sizeof(T);
  base_ = rows_ + n_values * stride_;
  least_base_ = *std::min_element(centres.base, centres.base + k_all);
  span_ = *std::max_element(centres.base, centres.base + k_all) - least_base_;
  for (std::int64_t k = 0; k < stride_; ++k)
    base_[k] = k < k_all ? static_cast<T>(centres.base[k] - least_base_) : kFar;
  double most = 0;
  for (std::int64_t k = 0; k < k_all; ++k) {
    double square = 0;
    for (std::int64_t v = 0; v < n_values; ++v) {
      const double c = centres.corrections[k * n_values + v];
      square += c * c;
    }
    most = std::max(most, square);
  }
  reach_ = std::sqrt(most);
  const double tiny = reach_ * 0x1p-60;  // numbers near the end of the range are slow to add up
  constexpr std::int64_t kChunk = 64;    // rows that stay in the cache while they are filled
  for (std::int64_t from = 0; from < n_values; from += kChunk) {
    const std::int64_t to = std::min(n_values, from + kChunk);
    for (std::int64_t k = 0; k < stride_; ++k)
      for (std::int64_t v = from; v < to; ++v) {
        const double c = k < k_all ? centres.corrections[k * n_values + v] : 0;
        rows_[v * stride_ + k] = std::abs(c) < tiny ? T{0} : static_cast<T>(c);
      }
  }
}
template class ScoreTable<float>;
template class ScoreTable<double>;

namespace {

struct Nearest {
  double first, second;  // the two least scores
  double error;          // of each
  std::int32_t label;
};

constexpr std::int32_t kPositionBits = 31;  // the position of a cluster within its group
static_assert(kGroupUnits * kUnit<float> == kPositionBits + 1);

// Merges another pair of least and second least into the first one, lane by lane.
template <class Vec>
TACIT_INLINE void merge_least(Vec& first, Vec& second, const Vec& a, const Vec& b) {
  const Vec larger = first > a ? first : a;
  first = first < a ? first : a;
  second = second < b ? second : b;
  second = second < larger ? second : larger;
}

// The least and the second least of the scores of a group. The last bits of each score give way to
// the cluster's position, so that the least one says whose it is; the error allows for that.
template <int kBytes, int kUnits>
TACIT_INLINE void least_two(const typename Aligned<float, kBytes>::Vector* scores, float& least,
                            float& second, std::int32_t& position) {
  using Vec = typename Aligned<float, kBytes>::Vector;
  using Bits = typename Aligned<std::int32_t, kBytes>::Vector;
  constexpr int kVectors = kUnits * (kUnitBytes / kBytes), kLanes = kBytes / 4;
  Bits positions;
  for (int k = 0; k < kLanes; ++k) positions[k] = k;
  Vec first, next;
  for (int j = 0; j < kVectors; ++j) {
    const Bits bits = ((Bits)scores[j] & ~kPositionBits) | (positions + kLanes * j);
    const Vec marked = (Vec)bits;  // the same bits
    if (j == 0) {
      first = marked;
      next = Vec{} + FLT_MAX;
    } else {
      const Vec larger = first > marked ? first : marked;
      first = first < marked ? first : marked;
      next = next < larger ? next : larger;
    }
  }
  if constexpr (kLanes == 8) {
    const Vec a = __builtin_shufflevector(first, first, 4, 5, 6, 7, 0, 1, 2, 3);
    const Vec b = __builtin_shufflevector(next, next, 4, 5, 6, 7, 0, 1, 2, 3);
    merge_least(first, next, a, b);
    const Vec c = __builtin_shufflevector(first, first, 2, 3, 0, 1, 6, 7, 4, 5);
    const Vec d = __builtin_shufflevector(next, next, 2, 3, 0, 1, 6, 7, 4, 5);
    merge_least(first, next, c, d);
    const Vec e = __builtin_shufflevector(first, first, 1, 0, 3, 2, 5, 4, 7, 6);
    const Vec f = __builtin_shufflevector(next, next, 1, 0, 3, 2, 5, 4, 7, 6);
    merge_least(first, next, e, f);
  } else {
    const Vec a = __builtin_shufflevector(first, first, 2, 3, 0, 1);
    const Vec b = __builtin_shufflevector(next, next, 2, 3, 0, 1);
    merge_least(first, next, a, b);
    const Vec c = __builtin_shufflevector(first, first, 1, 0, 3, 2);
    const Vec d = __builtin_shufflevector(next, next, 1, 0, 3, 2);
    merge_least(first, next, c, d);
  }
  least = first[0];
  second = next[0];
  position = std::bit_cast<std::int32_t>(least) & kPositionBits;
}

template <class V, class X>
struct AssignJob {
  const Points<V, X>& points;
  const ScoreTable<float>& quick;
  const ScoreTable<double>& exact;
  std::int64_t n_clusters;
  const std::int32_t* previous;
  bool prune;
  CentreBounds bounds;
  std::int32_t* labels;
  Nearest (*recheck)(const AssignJob&, std::int64_t r, double* scores);
};

// Single precision. kUnits is the length of a row, or 0 where there are several groups.
template <int kBytes, int kUnits, class V, class X>
TACIT_INLINE Nearest quick_nearest(const AssignJob<V, X>& job, std::int64_t r) {
  using Vec = typename Aligned<float, kBytes>::Vector;
  const std::int64_t begin = job.points.indptr[r], end = job.points.indptr[r + 1];
  const ScoreTable<float>& table = job.quick;
  float first, second;
  std::int32_t label;
  if constexpr (kUnits > 0) {
    Vec scores[kUnits * (kUnitBytes / kBytes)];
    add_scores<kBytes, kUnits>(job.points, begin, end, table.rows(), kUnits * kUnit<float>,
                               table.base(), scores);
    least_two<kBytes, kUnits>(scores, first, second, label);
  } else {
    first = second = FLT_MAX;
    label = 0;
    in_groups<float>(table.units(), [&](auto units, std::int64_t position) TACIT_INLINE_LAMBDA {
      constexpr int kOwn = decltype(units)::value;
      Vec scores[kOwn * (kUnitBytes / kBytes)];
      add_scores<kBytes, kOwn>(job.points, begin, end, table.rows() + position, table.stride(),
                               table.base() + position, scores);
      float least, next;
      std::int32_t nearest;
      least_two<kBytes, kOwn>(scores, least, next, nearest);
      second = std::min({second, next, std::max(first, least)});
      if (least < first) label = static_cast<std::int32_t>(position) + nearest;
      first = std::min(first, least);
    });
  }
  // Each of so many roundings is at most 2^-24 of the magnitude, and the position's bits are 2^-18
  // of it, if neither a factor nor a score, which is a square, leaves the range of single
  // precision.
  const double relative = rounding_steps(end - begin) * 0x1p-23 + 0x1p-18;
  const double reach = table.reach(), size = magnitude(job.points, table, r);
  const bool in_range = reach > 1e-15 && reach < 1e15 && size > 1e-20 && size < 1e30;
  return {first, second, in_range ? relative * size : DBL_MAX, label};
}

template <int kBytes>
TACIT_INLINE double least_score(const double* scores, std::int64_t units) {
  using Vec = typename Aligned<double, kBytes>::Vector;
  Vec least = *reinterpret_cast<const Vec*>(scores);
  for (std::int64_t j = 1; j < units * (kUnitBytes / kBytes); ++j) {
    const Vec other = reinterpret_cast<const Vec*>(scores)[j];
    least = other < least ? other : least;
  }
  double minimum = least[0];
  for (int k = 1; k < kBytes / 8; ++k) minimum = std::min(minimum, least[k]);
  return minimum;
}

// Double precision. Scores that differ by no more than rounding could explain count as the same, so
// that a tie is a tie whichever values are stored and in whichever order they are added up.
template <int kBytes, class V, class X>
TACIT_INLINE Nearest exact_nearest(const AssignJob<V, X>& job, std::int64_t r, double* scores) {
  const ScoreTable<double>& table = job.exact;
  score_all<kBytes>(job.points, table, r, scores);
  const double first = least_score<kBytes>(scores, table.units());
  const double error = rounding_steps(job.points.indptr[r + 1] - job.points.indptr[r]) * 0x1p-50 *
                       (magnitude(job.points, table, r) + std::abs(table.least_base()));
  std::int64_t label = 0;
  while (!(scores[label] <= first + error) && label + 1 < job.n_clusters) ++label;
  const double score = scores[label];
  scores[label] = ScoreTable<double>::kFar;
  return {score, least_score<kBytes>(scores, table.units()), error,
          static_cast<std::int32_t>(label)};
}

// A little more, or less, than rounding to single precision can change.
TACIT_INLINE float round_up(double x) {
  return static_cast<float>(std::max(x + std::abs(x) * 0x1p-22 + FLT_MIN, -double{FLT_MAX}));
}
TACIT_INLINE float round_down(double x) {
  return static_cast<float>(std::min(x - std::abs(x) * 0x1p-22 - FLT_MIN, double{FLT_MAX}));
}

template <class V, class X>
TACIT_INLINE void keep_bounds(const AssignJob<V, X>& job, std::int64_t r, const Nearest& nearest) {
  const CentreBounds& bounds = job.bounds;
  const double zero = job.exact.least_base() + (job.points.norms ? job.points.norms[r] : 0);
  const double near = std::sqrt(std::max(0.0, zero + nearest.first + nearest.error));
  const double far = std::sqrt(std::max(0.0, zero + nearest.second - nearest.error));
  bounds.upper[r] = round_up(near - bounds.moved[nearest.label]);
  bounds.lower[r] = round_down(far + bounds.rest[nearest.label]);
}

template <int kBytes, int kUnits, class V, class X>
TACIT_INLINE void assign_range(const AssignJob<V, X>& job, Range range, AssignTally& tally,
                               double* scores, StopToken& token) {
  Meter meter(token);
  const CentreBounds& bounds = job.bounds;
  const std::int64_t* indptr = job.points.indptr;
  std::int64_t changed = 0, scanned = 0, rechecked = 0;
  for (std::int64_t r = range.begin; r < range.end; ++r) {
    if (job.prune) {
      const std::int32_t label = job.previous[r];
      const double other = std::max(bounds.lower[r] - bounds.rest[label], bounds.half[label]);
      if (bounds.upper[r] + bounds.moved[label] < other) {
        job.labels[r] = label;
        continue;
      }
    }
    ++scanned;
    Nearest nearest = quick_nearest<kBytes, kUnits>(job, r);
    if (!(nearest.second - nearest.first > 2 * nearest.error)) {
      ++rechecked;
      nearest = job.recheck(job, r, scores);
    }
    if (job.previous) changed += nearest.label != job.previous[r];
    job.labels[r] = nearest.label;
    if (bounds.upper) keep_bounds(job, r, nearest);
    meter.spend((indptr[r + 1] - indptr[r] + 4) * job.quick.units());
  }
  tally.changed += changed;
  tally.scanned += scanned;
  tally.rechecked += rechecked;
}

template <class V, class X>
using AssignRange = void (*)(const AssignJob<V, X>&, Range, AssignTally&, double*, StopToken&);

template <class V, class X>
AssignRange<V, X> choose_assign(std::int64_t units) {
  return with_constant<1, 2, 3, kGroupUnits, 0>(units, [](auto n) -> AssignRange<V, X> {
    return avx2_or_plain<assign_range<32, n, V, X>, assign_range<16, n, V, X>>();
  });
}

}  // namespace

template <class V, class X>
AssignTally kmeans_assign(const Points<V, X>& points, const Centres& centres,
                          const std::int32_t* previous, bool prune, const CentreBounds& bounds,
                          std::int32_t* labels, int n_jobs, Poll poll) {
  const ScoreTable<float> quick(centres, points.n_values);
  const ScoreTable<double> exact(centres, points.n_values);
  const auto recheck = avx2_or_plain<exact_nearest<32, V, X>, exact_nearest<16, V, X>>();
  const AssignJob<V, X> job{points, quick,  exact,  centres.size, previous,
                            prune,  bounds, labels, recheck};
  const AssignRange<V, X> assign = choose_assign<V, X>(quick.units());
  const std::int64_t work = points.indptr[points.n_records] + 4 * points.n_records;
  const std::int64_t n_blocks = std::clamp<std::int64_t>(work >> 17, 1, 256);
  std::vector<AssignTally> tallies(static_cast<std::size_t>(n_blocks), AssignTally{0, 0, 0});
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    std::vector<ScoreUnit> scores(static_cast<std::size_t>(exact.units()));
    assign(job, block_range(points.n_records, n_blocks, b), tallies[static_cast<std::size_t>(b)],
           scores.data()->numbers, token);
  });
  AssignTally all{0, 0, 0};
  for (const AssignTally& tally : tallies) {
    all.changed += tally.changed;
    all.scanned += tally.scanned;
    all.rechecked += tally.rechecked;
  }
  return all;
}

#define TACIT_INSTANTIATE(V, X)                                                                \
  template AssignTally kmeans_assign(const Points<V, X>&, const Centres&, const std::int32_t*, \
                                     bool, const CentreBounds&, std::int32_t*, int, Poll);
TACIT_FOR_POINTS(TACIT_INSTANTIATE)
#undef TACIT_INSTANTIATE

}  // namespace tacit
