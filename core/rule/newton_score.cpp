#include "rule/newton_score.hpp"

#include <algorithm>

#include "base/simd.hpp"

namespace tacit {
namespace {

// Candidates that reach the bound are looked at one by one. A bound a little too low is safe.
constexpr double kSlack = 1 - 0x1p-40;

struct Side {
  const double *first, *second;
  StatSums totals;  // less than which the side is; 0 for the stored side
  bool other;
  StatSums at(int k) const {
    const StatSums stored{first[k], second[k]};
    return other ? totals - stored : stored;
  }
};

// The next k in [k, end) whose score may reach the bound; end if there is none.
int next_scalar(const Side& side, int k, int end, const NewtonScore& score, double bound) {
  for (; k < end; ++k) {
    const StatSums s = side.at(k);
    const double g = score.shrunk(s.first);
    if (g * g >= bound * (s.second + score.l2)) break;
  }
  return k;
}

// Largest of stored sides: S(g)² / (h + l2), g and −g, or 0.
struct SideMaxima {
  double score = 0, up = 0, down = 0;
  void add(double g, double h, const NewtonScore& of) {
    const double shrunk = of.shrunk(g);
    score = std::max(score, shrunk * shrunk / (h + of.l2));
    up = std::max(up, g);
    down = std::max(down, -g);
  }
};

SideMaxima maxima_scalar(const double* first, const double* second, int size,
                         const NewtonScore& score) {
  SideMaxima most;
  for (int k = 0; k < size; ++k) most.add(first[k], second[k], score);
  return most;
}

#if TACIT_X86

TACIT_TARGET("avx2")
int next_avx2(const Side& side, int k, int end, const NewtonScore& score, double bound) {
  const __m256d l1 = _mm256_set1_pd(score.l1), l2 = _mm256_set1_pd(score.l2);
  const __m256d limit = _mm256_set1_pd(bound), none = _mm256_setzero_pd();
  const __m256d clear_sign = _mm256_castsi256_pd(_mm256_set1_epi64x(0x7fffffffffffffff));
  const __m256d total_g = _mm256_set1_pd(side.totals.first);
  const __m256d total_h = _mm256_set1_pd(side.totals.second);
  for (; k + 4 <= end; k += 4) {
    __m256d g = _mm256_loadu_pd(side.first + k), h = _mm256_loadu_pd(side.second + k);
    if (side.other) {
      g = _mm256_sub_pd(total_g, g);
      h = _mm256_sub_pd(total_h, h);
    }
    g = _mm256_max_pd(_mm256_sub_pd(_mm256_and_pd(g, clear_sign), l1), none);
    const __m256d reached =
        _mm256_cmp_pd(_mm256_mul_pd(g, g), _mm256_mul_pd(limit, _mm256_add_pd(h, l2)), _CMP_GE_OQ);
    const int lanes = _mm256_movemask_pd(reached);
    if (lanes) return k + __builtin_ctz(static_cast<unsigned>(lanes));
  }
  return next_scalar(side, k, end, score, bound);
}

TACIT_TARGET("avx2")
SideMaxima maxima_avx2(const double* first, const double* second, int size,
                       const NewtonScore& score) {
  const __m256d l1 = _mm256_set1_pd(score.l1), l2 = _mm256_set1_pd(score.l2);
  const __m256d none = _mm256_setzero_pd();
  __m256d top = none, up = none, down = none;
  int k = 0;
  for (; k + 4 <= size; k += 4) {
    const __m256d g = _mm256_loadu_pd(first + k), minus = _mm256_sub_pd(none, g);
    up = _mm256_max_pd(up, g);
    down = _mm256_max_pd(down, minus);
    const __m256d far = _mm256_max_pd(_mm256_sub_pd(_mm256_max_pd(g, minus), l1), none);
    const __m256d h = _mm256_add_pd(_mm256_loadu_pd(second + k), l2);
    top = _mm256_max_pd(top, _mm256_div_pd(_mm256_mul_pd(far, far), h));
  }
  SideMaxima most;
  for (int lane = 0; lane < 4; ++lane) {
    most.score = std::max(most.score, top[lane]);
    most.up = std::max(most.up, up[lane]);
    most.down = std::max(most.down, down[lane]);
  }
  for (; k < size; ++k) most.add(first[k], second[k], score);
  return most;
}

const auto next_reaching = has_avx2() ? next_avx2 : next_scalar;
const auto side_maxima = has_avx2() ? maxima_avx2 : maxima_scalar;
#else
const auto next_reaching = next_scalar;
const auto side_maxima = maxima_scalar;
#endif

struct ConditionSearch {
  const ColumnScan& scan;
  std::int32_t column, output;
  const NewtonScore& score;
  int sign_below;
  RuleCandidate& best;

  // The sign of heads with a side; 2 if none is allowed.
  int sign_of(bool below) const {
    const int sign = below ? sign_below : -sign_below;
    if (sign == 0) return score.sign;
    return score.sign == 0 || score.sign == sign ? sign : 2;
  }

  void side(int begin, int end, bool other, int sign) const {
    const Side side{scan.first(), scan.second(), other ? scan.totals() : StatSums{}, other};
    double bound = std::max(best.score * kSlack, std::numeric_limits<double>::min());
    for (int k = next_reaching(side, begin, end, score, bound); k < end;
         k = next_reaching(side, k + 1, end, score, bound)) {
      RuleCandidate candidate;
      candidate.covered = side.at(k);
      candidate.score = score(candidate.covered);
      if (!(candidate.score > 0) || candidate.score < best.score || !scan.divides(k) ||
          !score.signed_as(sign).allows(candidate.covered))
        continue;
      const double n = scan.n_stored_side(k);
      candidate.n_covered = other ? scan.n_known() - n : n;
      if (candidate.n_covered < score.min_support) continue;
      candidate.output = output;
      candidate.condition = scan.condition(column, k, !other);
      if (!candidate.better(best)) continue;
      best = candidate;
      bound = std::max(best.score * kSlack, std::numeric_limits<double>::min());
    }
  }

  // Counts grow within a phase: too few are covered at its beginning, too few are not at its end.
  void phase(int begin, int end, bool stored_below) const {
    int first = begin, last = end;
    if (score.min_support > 1) {
      const auto enough = [&](int k) { return scan.n_stored_side(k) >= score.min_support; };
      const auto left = [&](int k) {
        return scan.n_known() - scan.n_stored_side(k) >= score.min_support;
      };
      for (int high = end; first < high;) {
        const int middle = first + (high - first) / 2;
        if (enough(middle))
          high = middle;
        else
          first = middle + 1;
      }
      for (int low = begin; low < last;) {
        const int middle = low + (last - low) / 2;
        if (left(middle))
          low = middle + 1;
        else
          last = middle;
      }
    }
    const int stored = sign_of(stored_below), other = sign_of(!stored_below);
    if (stored != 2) side(first, end, false, stored);
    if (other != 2) side(begin, last, true, other);
  }
};

}  // namespace

void best_condition(const ColumnScan& scan, std::int32_t column, std::int32_t output,
                    const NewtonScore& score, int sign_below, RuleCandidate& best) {
  const ConditionSearch search{scan, column, output, score, sign_below, best};
  if (scan.nominal()) {
    search.side(0, scan.size(), false, score.sign);
    search.side(0, scan.size(), true, score.sign);
    return;
  }
  search.phase(0, scan.n_rising(), true);
  search.phase(scan.n_rising(), scan.size(), false);
}

SideBounds side_bounds(const ColumnScan& scan, const NewtonScore& score) {
  const SideMaxima most = side_maxima(scan.first(), scan.second(), scan.size(), score);
  const double missing = scan.missing().first;
  // Without a default value, other sides are made of stored values alone: nothing is known.
  const double unknown = std::numeric_limits<double>::infinity();
  return {scan.has_default() ? most.score : unknown, std::max(most.up + missing, 0.0),
          std::max(most.down - missing, 0.0), scan.missing().second + scan.stored().second};
}

}  // namespace tacit
