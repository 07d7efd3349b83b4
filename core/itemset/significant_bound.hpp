// The bound of a search for significant rules: it falls while more is seen.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "itemset/significant.hpp"

namespace tacit {

// What one thread has seen since it last told.
struct Seen {
  std::vector<std::int64_t> by_support;  // hypotheses of each support
  std::vector<double> minima;            // of each permutation, the least log p
  std::int64_t n_new = 0, n_lower = 0;   // hypotheses, and minima that fell
};

class SignificantBound {
 public:
  SignificantBound(const SignificantQuery& query, const MarginTest& test);

  Seen begin() const;
  // Log p-values beyond this cannot be significant any more.
  double limit() const { return limit_.load(std::memory_order_relaxed); }
  // Sets of less support cannot either, nor can their subsets of records.
  std::int64_t least_support() const { return support_.load(std::memory_order_relaxed); }
  double least(std::int64_t support) const { return least_[static_cast<std::size_t>(support)]; }
  bool testable(std::int64_t support) const {
    return permuted_ ? least(support) < limit() : least(support) <= limit();
  }
  // Whether a rule with this p-value is to be kept for now.
  bool candidate(std::int64_t support, double log_p) const;

  // Adds what a thread has seen, and lowers the limit; now and then, or if `all` is to be added.
  void tell(Seen& seen, bool all);
  // Writes limit, numbers of tests and minima, when all is seen.
  void finish(SignificantRules& rules);

 private:
  void lower();
  void lower_permuted();
  void lower_tarone();
  void raise_support();

  bool permuted_, false_discovery_;
  double log_alpha_;
  std::int64_t min_support_, n_records_, rank_, interval_;
  std::vector<double> least_;           // of each support
  std::vector<double> envelope_;        // least of this support and of all lower ones
  std::vector<std::int64_t> by_least_;  // supports, those of the least p-values first
  std::mutex mutex_;
  std::vector<std::int64_t> by_support_;
  std::vector<double> minima_;
  std::int64_t n_tests_ = 1;
  std::atomic<double> limit_;
  std::atomic<std::int64_t> support_;
};

}  // namespace tacit
