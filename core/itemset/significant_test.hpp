// Tests of one 2 × 2 table whose margins are known: is a label more frequent among some records?
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tacit {

enum class MarginTestKind { fisher, chi2 };
enum class Alternative { two_sided, greater, less };

// Of n records, `positives` are positive. log_p(s, k) is the natural logarithm of the p-value for k
// positives among s of the records, 0 ≤ s ≤ n, lowest(s) ≤ k ≤ highest(s):
// - fisher: hypergeometric tail; two-sided, the sum of all probabilities that are no greater than
//   that of k (up to rounding). O(length of the tail until its terms are negligible).
// - chi2: Pearson's statistic without continuity correction, one-sided by its signed root.
// Logarithms are rounded to kGrain, so that p-values that are equal compare as equal.
class MarginTest {
 public:
  MarginTest(std::int64_t n, std::int64_t positives, MarginTestKind kind, Alternative alternative);

  // The same test among n records of which `positives` are positive; there are no more than here.
  MarginTest within(std::int64_t n, std::int64_t positives, Alternative alternative) const;

  double log_p(std::int64_t s, std::int64_t k) const;
  // The least that log_p(s, ·) can be: Tarone's minimal attainable p-value.
  double least(std::int64_t s) const;
  std::int64_t lowest(std::int64_t s) const { return s > n_ - n1_ ? s - (n_ - n1_) : 0; }
  std::int64_t highest(std::int64_t s) const { return s < n1_ ? s : n1_; }
  std::int64_t n_records() const { return n_; }
  std::int64_t n_positives() const { return n1_; }

  // The numbers of positives outside of [low, high] have log_p below `limit`; others may, too, but
  // no number within [low, high] does.
  struct Inner {
    std::int64_t low, high;
  };
  Inner inner(std::int64_t s, double limit) const;

  static constexpr double kGrain = 1e-9;

 private:
  long double log_mass(std::int64_t s, std::int64_t k) const;
  long double log_upper(std::int64_t s, std::int64_t k) const;  // of k and above
  long double log_lower(std::int64_t s, std::int64_t k) const;  // of k and below
  std::int64_t mode(std::int64_t s) const;
  double fisher(std::int64_t s, std::int64_t k) const;
  double chi2(std::int64_t s, std::int64_t k) const;

  std::int64_t n_, n1_;
  MarginTestKind kind_;
  Alternative alternative_;
  // Logarithms of factorials reach 10^8 for millions of records: a double would lose too much.
  std::shared_ptr<const std::vector<long double>> log_factorial_;
};

}  // namespace tacit
