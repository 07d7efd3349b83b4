// The best condition of many columns, on several threads where there is enough to read.
#pragma once

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/parallel.hpp"
#include "rule/search.hpp"

namespace tacit {

// Calls body(scan, column, best) for each column, which replaces `best` by anything better; begins
// with `floor`. Which of equal candidates is better does not depend on order, nor does the result.
template <class Body>
RuleCandidate best_of_columns(const RuleSearch& search, const std::vector<std::int32_t>& columns,
                              const RuleCandidate& floor, int n_jobs, Poll poll, const Body& body) {
  constexpr std::int64_t kParallelValues = 1 << 18;  // below, threads cost more than they save
  constexpr std::int64_t kBlocks = 64;
  RuleCandidate best = floor;
  const auto n = static_cast<std::int64_t>(columns.size());
  if (n_jobs == 1 || search.n_active_values() < kParallelValues || n < 2) {
    ColumnScan scan;
    Poller poller(poll);
    for (const std::int32_t c : columns) {
      poller.check();
      body(scan, c, best);
    }
    return best;
  }
  std::mutex mutex;
  const std::int64_t n_blocks = std::min(n, kBlocks);
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t block, StopToken& token) {
    ColumnScan scan;
    RuleCandidate local;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      local = best;
    }
    const Range range = block_range(n, n_blocks, block);
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      token.check();
      body(scan, columns[static_cast<std::size_t>(i)], local);
    }
    const std::lock_guard<std::mutex> lock(mutex);
    if (local.better(best)) best = local;
  });
  return best;
}

}  // namespace tacit
