#include "rule/joint_scan.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/simd.hpp"

namespace tacit {
namespace {

TACIT_INLINE void add_body(const float* row, double units, double* sums, std::int64_t width) {
  for (std::int64_t i = 0; i < width; i += 4) {
    const Float4 value = *reinterpret_cast<const Float4*>(row + i);
    vector_at(sums + i) += units * __builtin_convertvector(value, Double4);
  }
}

TACIT_INLINE Double4 worth(Double4 g, Double4 h, double l1, double l2) {
  Double4 far = (g < 0 ? -g : g) - l1;
  far = far > 0 ? far : Double4{};
  const Double4 curve = h + l2;
  return curve > 0 ? far * far / curve : Double4{};
}

// Scores of each output on either side.
TACIT_INLINE void sides_body(const double* stored, const double* totals, std::int64_t n_blocks,
                             const NewtonScore& score, double* worth_stored, double* worth_other) {
  for (std::int64_t b = 0; b < n_blocks; ++b) {
    const Double4 g = vector_at(stored + 8 * b), h = vector_at(stored + 8 * b + 4);
    vector_at(worth_stored + 4 * b) = worth(g, h, score.l1, score.l2);
    vector_at(worth_other + 4 * b) =
        worth(vector_at(totals + 8 * b) - g, vector_at(totals + 8 * b + 4) - h, score.l1, score.l2);
  }
}

const auto add_row = avx2_or_plain<add_body>();
const auto score_sides = avx2_or_plain<sides_body>();

}  // namespace

JointScan::JointScan(const JointStats& stats, const NewtonScore& score, std::int64_t n_kept)
    : stats_(stats),
      score_(score),
      n_kept_(n_kept),
      sums_(static_cast<std::size_t>(stats.width())),
      all_(sums_.size()) {
  for (std::vector<double>& row : worth_) row.resize(sums_.size() / 2);
}

void JointScan::add(std::int64_t record, double units, JointSums& sums) const {
  add_row(stats_.row(record), units, sums.data(), stats_.width());
}

void JointScan::add_run(const ColumnScan& listed, int run, JointSums& sums) const {
  const ColumnRuns& runs = listed.runs();
  const float* const units = listed.units();
  for (std::int32_t i = run > 0 ? runs.ends[run - 1] : 0; i < runs.ends[run]; ++i) {
    const std::int32_t record = runs.records[i];
    add(record, units ? static_cast<double>(units[record]) : 1, sums);
  }
}

// The sum over outputs in a fixed order: all of them, or the best.
double JointScan::kept_sum(std::vector<double>& worth) const {
  const auto kept = worth.begin() + static_cast<std::ptrdiff_t>(n_kept_);
  if (n_kept_ < stats_.n_outputs)
    std::partial_sort(worth.begin(), kept, worth.end(), std::greater<>());
  return std::accumulate(worth.begin(), kept, 0.0);
}

JointScan::Scores JointScan::both_sides(const JointSums& stored, const JointSums& totals) {
  score_sides(stored.data(), totals.data(), stats_.n_blocks(), score_, worth_[0].data(),
              worth_[1].data());
  return {kept_sum(worth_[0]), kept_sum(worth_[1])};
}

void JointScan::consider(const ColumnScan& listed, std::int32_t column, int k, double score,
                         bool other, RuleCandidate& best) const {
  if (!(score > 0) || score < best.score || !listed.divides(k)) return;
  RuleCandidate candidate;
  candidate.score = score;
  const double n = listed.n_stored_side(k);
  candidate.n_covered = other ? listed.n_known() - n : n;
  if (candidate.n_covered < score_.min_support) return;
  candidate.condition = listed.condition(column, k, !other);
  if (candidate.better(best)) best = candidate;
}

void JointScan::best_condition(const ColumnScan& listed, std::int32_t column,
                               const JointSums& totals, RuleCandidate& best) {
  const int n_runs = listed.runs().n_runs, first = listed.n_missing_runs();
  const auto clear = [](JointSums& sums) { std::fill(sums.begin(), sums.end(), 0.0); };
  totals_ = totals;
  clear(all_);
  if (!listed.has_default()) {
    for (int run = 0; run < n_runs; ++run) add_run(listed, run, all_);
    totals_.swap(all_);
  } else if (first > 0) {
    add_run(listed, 0, all_);
    for (std::size_t i = 0; i < all_.size(); ++i) totals_[i] -= all_[i];
  }
  clear(all_);
  clear(sums_);
  for (int k = 0; k < listed.size(); ++k) {
    const bool of_default = listed.nominal() && k == n_runs - first;
    if (listed.nominal() || k == listed.n_rising()) clear(sums_);
    if (of_default) {
      sums_ = all_;
    } else {
      add_run(listed, listed.run_of(k), sums_);
      if (listed.nominal())
        for (std::size_t i = 0; i < all_.size(); ++i) all_[i] += sums_[i];
    }
    const Scores scores = both_sides(sums_, totals_);
    consider(listed, column, k, scores.stored, false, best);
    consider(listed, column, k, scores.other, true, best);
  }
}

}  // namespace tacit
