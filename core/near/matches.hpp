// What is found for a query: the k nearest rows, or all that are near enough.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/parallel.hpp"

namespace tacit {

struct Match {
  double nearness;
  std::int32_t row;
  bool operator<(const Match& other) const {  // nearer first, then by number
    return nearness != other.nearness ? nearness > other.nearness : row < other.row;
  }
};

class BestMatches {
 public:
  void begin(std::int64_t k) {
    k_ = static_cast<std::size_t>(k);
    heap_.clear();
  }
  bool full() const { return heap_.size() == k_; }
  double least() const {
    return full() ? heap_.front().nearness : -std::numeric_limits<double>::infinity();
  }
  // Whether a row of that nearness would be one of them.
  bool wants(double nearness, std::int32_t row) const {
    return !full() || Match{nearness, row} < heap_.front();
  }
  void offer(double nearness, std::int32_t row) {
    if (!wants(nearness, row)) return;
    if (full()) {
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.pop_back();
    }
    heap_.push_back({nearness, row});
    std::push_heap(heap_.begin(), heap_.end());
  }
  std::vector<Match>& matches() { return heap_; }

 private:
  std::size_t k_ = 0;
  std::vector<Match> heap_;  // the worst first
};

class MatchesWithin {
 public:
  explicit MatchesWithin(double least) : least_(least) {}
  bool full() const { return true; }
  double least() const { return least_; }
  bool wants(double nearness, std::int32_t) const { return nearness >= least_; }
  void offer(double nearness, std::int32_t row) {
    if (nearness >= least_) matches_.push_back({nearness, row});
  }
  // In the order of their numbers.
  std::vector<Match> take() {
    std::sort(matches_.begin(), matches_.end(),
              [](const Match& x, const Match& y) { return x.row < y.row; });
    return std::move(matches_);
  }

 private:
  double least_;
  std::vector<Match> matches_;
};

// Calls body(queries, token) for ranges of queries, few enough to share what a search needs.
template <class Body>
void for_queries(std::int64_t n, int n_jobs, Poll poll, const Body& body) {
  constexpr std::int64_t kTogether = 64;
  const std::int64_t n_blocks = (n + kTogether - 1) / kTogether;
  const std::int64_t n_parts = std::min<std::int64_t>(n_blocks, 64 * n_jobs);
  for_blocks(n_parts, n_jobs, poll, [&](std::int64_t part, StopToken& token) {
    const Range blocks = block_range(n_blocks, n_parts, part);
    body(Range{blocks.begin * kTogether, std::min(blocks.end * kTogether, n)}, token);
  });
}

}  // namespace tacit
