#include "itemset/significant_bound.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tacit {

SignificantBound::SignificantBound(const SignificantQuery& query, const MarginTest& test)
    : permuted_(query.correction == Correction::permutation),
      false_discovery_(query.correction == Correction::false_discovery),
      log_alpha_(std::log(query.alpha) + MarginTest::kGrain),  // logarithms are rounded
      min_support_(query.min_support),
      n_records_(query.n_records),
      rank_(static_cast<std::int64_t>(
          std::floor(query.alpha * static_cast<double>(query.n_permutations + 1) * (1 + 1e-12)))),
      interval_(std::max<std::int64_t>(256, query.n_records / 64)),
      limit_(permuted_ ? 0 : log_alpha_),
      support_(query.min_support) {
  const auto n = static_cast<std::size_t>(n_records_) + 1;
  least_.resize(n, 0);
  for (std::size_t s = 1; s < n; ++s) least_[s] = test.least(static_cast<std::int64_t>(s));
  envelope_ = least_;
  for (std::size_t s = 1; s < n; ++s) envelope_[s] = std::min(envelope_[s], envelope_[s - 1]);
  by_support_.resize(n, 0);
  if (permuted_) {
    minima_.resize(static_cast<std::size_t>(query.n_permutations), 0);
  } else {
    by_least_.resize(n);
    std::iota(by_least_.begin(), by_least_.end(), 0);
    std::stable_sort(by_least_.begin(), by_least_.end(), [&](std::int64_t a, std::int64_t b) {
      return least_[static_cast<std::size_t>(a)] < least_[static_cast<std::size_t>(b)];
    });
  }
  raise_support();
}

Seen SignificantBound::begin() const {
  return {std::vector<std::int64_t>(by_support_.size(), 0), std::vector<double>(minima_.size(), 0)};
}

bool SignificantBound::candidate(std::int64_t support, double log_p) const {
  if (permuted_) return log_p < limit();
  return false_discovery_ ? log_p <= log_alpha_ && testable(support) : log_p <= limit();
}

void SignificantBound::tell(Seen& seen, bool all) {
  const auto some = static_cast<std::int64_t>(minima_.size()) / 20;
  const bool fell = permuted_ && seen.n_lower > 0 && (seen.n_lower > some || seen.n_new >= 32);
  if (!all && !fell && (permuted_ || seen.n_new < interval_)) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (all || !permuted_)
    for (std::size_t s = 0; s < by_support_.size(); ++s) {
      by_support_[s] += seen.by_support[s];
      seen.by_support[s] = 0;
    }
  for (std::size_t b = 0; b < minima_.size(); ++b)
    minima_[b] = seen.minima[b] = std::min(minima_[b], seen.minima[b]);
  seen.n_new = seen.n_lower = 0;
  lower();
}

void SignificantBound::lower() {
  if (permuted_)
    lower_permuted();
  else
    lower_tarone();
  raise_support();
}

void SignificantBound::lower_permuted() {
  std::vector<double> order = minima_;
  const auto kth = order.begin() + (rank_ - 1);
  std::nth_element(order.begin(), kth, order.end());
  limit_.store(*kth, std::memory_order_relaxed);
}

// The least K with #{h: psi(h) ≤ α / K} ≤ K: the left side falls with K, the right side rises.
void SignificantBound::lower_tarone() {
  std::vector<std::int64_t> up_to(by_least_.size() + 1, 0);
  for (std::size_t k = 0; k < by_least_.size(); ++k)
    up_to[k + 1] = up_to[k] + by_support_[static_cast<std::size_t>(by_least_[k])];
  const auto testable = [&](std::int64_t n_tests) {
    const double limit = log_alpha_ - std::log(static_cast<double>(n_tests));
    const auto end = std::partition_point(by_least_.begin(), by_least_.end(), [&](std::int64_t s) {
      return least_[static_cast<std::size_t>(s)] <= limit;
    });
    return up_to[static_cast<std::size_t>(end - by_least_.begin())];
  };
  std::int64_t low = 0, high = std::max<std::int64_t>(1, up_to.back());
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (testable(middle) <= middle ? high : low) = middle;
  }
  n_tests_ = high;
  limit_.store(log_alpha_ - std::log(static_cast<double>(high)), std::memory_order_relaxed);
}

void SignificantBound::raise_support() {
  const double limit = this->limit();
  const auto end = std::partition_point(envelope_.begin(), envelope_.end(), [&](double least) {
    return permuted_ ? least >= limit : least > limit;
  });
  support_.store(std::max<std::int64_t>(min_support_, end - envelope_.begin()),
                 std::memory_order_relaxed);
}

void SignificantBound::finish(SignificantRules& rules) {
  lower();
  rules.limit = limit();
  rules.n_tests = n_tests_;
  rules.least_support = least_support();
  for (std::int64_t s = min_support_; s <= n_records_; ++s)
    if (testable(s)) rules.n_testable += by_support_[static_cast<std::size_t>(s)];
  for (const double log_p : minima_)
    if (log_p < rules.limit) rules.minima.push_back(log_p);
  std::sort(rules.minima.begin(), rules.minima.end());
}

}  // namespace tacit
