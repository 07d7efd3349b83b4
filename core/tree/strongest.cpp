#include "tree/strongest.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tacit {
namespace {

constexpr std::int64_t kRowsOfBlock = 1024;

struct Link {
  double value;
  std::int32_t column;
};

// Rows ascend, so that a later link is stronger only if its value is larger.
void insert(std::vector<Link>& best, std::size_t k, const Link& link) {
  if (best.size() == k) {
    if (!(link.value > best.back().value)) return;
    best.pop_back();
  }
  const auto position = std::find_if(best.begin(), best.end(),
                                     [&](const Link& other) { return link.value > other.value; });
  best.insert(position, link);
}

}  // namespace

void strongest_links(const std::int64_t* start, const std::int32_t* column, const double* value,
                     std::int64_t n_rows, std::int64_t k, std::int32_t* out, int n_jobs,
                     Poll poll) {
  const std::int64_t n_blocks = (n_rows + kRowsOfBlock - 1) / kRowsOfBlock;
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t block, StopToken& token) {
    Meter meter(token);
    std::vector<Link> best;
    best.reserve(static_cast<std::size_t>(k));
    const std::int64_t end = std::min((block + 1) * kRowsOfBlock, n_rows);
    for (std::int64_t row = block * kRowsOfBlock; row < end; ++row) {
      best.clear();
      for (std::int64_t a = start[row]; a < start[row + 1]; ++a)
        insert(best, static_cast<std::size_t>(k), {value[a], column[a]});
      for (std::int64_t j = 0; j < k; ++j) {
        const bool there = j < static_cast<std::int64_t>(best.size());
        out[row * k + j] = there ? best[static_cast<std::size_t>(j)].column : -1;
      }
      meter.spend(start[row + 1] - start[row]);
    }
  });
}

}  // namespace tacit
