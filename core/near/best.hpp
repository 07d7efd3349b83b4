// The k nearest objects of a query, found in two steps: by bounds first, then by their distances.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace tacit {

class NearBest {
 public:
  using Found = std::pair<double, std::int32_t>;  // squared distance, object: in their order

  void begin(std::int64_t k, double limit) {
    k_ = static_cast<std::size_t>(k);
    limit_ = limit;
    best_.clear();
    highs_.clear();
    pending_.clear();
  }

  // None of the k nearest is farther than this.
  double limit() const { return limit_; }
  bool waits() const { return pending_.size() >= 2 * k_ + 64; }
  const std::vector<Found>& best() const { return best_; }

  // Whether objects from number `first` on, at this squared distance or beyond, are not wanted.
  bool beyond(double square, std::int32_t first) const {
    return square > limit_ || (square == limit_ && pending_.empty() && best_.size() == k_ &&
                               best_.back() < Found{square, first});
  }

  void offer(double low, double high, std::int32_t object) {
    if (low > limit_) return;
    pending_.push_back({low, object});
    note(high);
  }

  // Measures what is pending, unless it has turned out to be too far, and keeps the k nearest.
  template <class Measure>
  void settle(const Measure& measure) {
    for (const auto& [low, object] : pending_)
      if (low <= limit_) best_.emplace_back(measure(object), object);
    pending_.clear();
    std::sort(best_.begin(), best_.end());
    if (best_.size() > k_) best_.resize(k_);
    highs_.clear();
    for (const Found& match : best_) note(match.first);
  }

 private:
  // The k-th smallest of the upper bounds is a limit.
  void note(double high) {
    if (highs_.size() < k_) {
      highs_.push_back(high);
      std::push_heap(highs_.begin(), highs_.end());
    } else if (high < highs_.front()) {
      std::pop_heap(highs_.begin(), highs_.end());
      highs_.back() = high;
      std::push_heap(highs_.begin(), highs_.end());
    }
    if (highs_.size() == k_) limit_ = std::min(limit_, highs_.front());
  }

  std::size_t k_ = 0;
  double limit_ = std::numeric_limits<double>::infinity();
  std::vector<Found> best_;
  std::vector<double> highs_;
  std::vector<std::pair<double, std::int32_t>> pending_;  // lower bound, object
};

}  // namespace tacit
