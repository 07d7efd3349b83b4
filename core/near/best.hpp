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
    pending_.clear();
    room_ = some();
  }

  // None of the k nearest is farther than this.
  double limit() const { return limit_; }
  const std::vector<Found>& best() const { return best_; }  // in order, after settle()

  // Whether objects from number `first` on, at this squared distance or beyond, are not wanted.
  bool beyond(double square, std::int32_t first) const {
    return square > limit_ || (square == limit_ && pending_.empty() && best_.size() == k_ &&
                               best_.back() < Found{square, first});
  }

  // An object between two squared distances; `high` may be infinite.
  void offer(double low, double high, std::int32_t object) {
    if (low <= limit_) pending_.push_back({low, high, object});
  }

  // Brings the limit down once many are pending: by their upper bounds, and, where these do not
  // tell enough of them apart, by distances.
  template <class Measure>
  void tighten(bool has_highs, const Measure& measure) {
    if (pending_.size() < room_) return;
    if (has_highs) {
      highs_.clear();
      for (const Found& found : best_) highs_.push_back(found.first);
      for (const Pending& p : pending_) highs_.push_back(p.high);
      if (highs_.size() >= k_) {
        const auto last = highs_.begin() + static_cast<std::ptrdiff_t>(k_ - 1);
        std::nth_element(highs_.begin(), last, highs_.end());
        limit_ = std::min(limit_, *last);
      }
      std::erase_if(pending_, [&](const Pending& p) { return p.low > limit_; });
    }
    if (!has_highs || pending_.size() > 2 * k_ + 64) settle(measure);
    room_ = pending_.size() + some();
  }

  // Measures what is pending, unless it has turned out to be too far, and keeps the k nearest.
  template <class Measure>
  void settle(const Measure& measure) {
    std::sort(pending_.begin(), pending_.end());
    std::make_heap(best_.begin(), best_.end());
    for (const Pending& p : pending_) {
      if (p.low > limit_) break;
      const Found found{measure(p.object), p.object};
      if (best_.size() == k_) {
        if (!(found < best_.front())) continue;
        std::pop_heap(best_.begin(), best_.end());
        best_.back() = found;
      } else {
        best_.push_back(found);
      }
      std::push_heap(best_.begin(), best_.end());
      if (best_.size() == k_) limit_ = std::min(limit_, best_.front().first);
    }
    pending_.clear();
    std::sort_heap(best_.begin(), best_.end());
  }

 private:
  struct Pending {
    double low, high;
    std::int32_t object;
    bool operator<(const Pending& other) const {
      return low != other.low ? low < other.low : object < other.object;
    }
  };
  // How many more are worth a look at all.
  std::size_t some() const { return std::max<std::size_t>(8, k_); }

  std::size_t k_ = 0, room_ = 0;
  double limit_ = std::numeric_limits<double>::infinity();
  std::vector<Found> best_;
  std::vector<double> highs_;
  std::vector<Pending> pending_;
};

}  // namespace tacit
