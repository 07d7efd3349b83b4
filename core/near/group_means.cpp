#include "near/group_means.hpp"

#include <algorithm>
#include <vector>

namespace tacit {

template <class X>
void group_means(const X* rows, std::int64_t n_columns, const std::int32_t* order,
                 const std::int64_t* starts, std::int64_t n_groups, X* means, int n_jobs,
                 Poll poll) {
  const std::int64_t n_blocks =
      std::clamp<std::int64_t>((starts[n_groups] * (n_columns + 4)) >> 18, 1, 256);
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    Meter meter(token);
    std::vector<double> sums(static_cast<std::size_t>(n_columns));
    // Blocks hold about as many rows each; a group belongs to the block that its first row is in.
    const Range range = block_range(starts[n_groups], n_blocks, b);
    const auto group_at = [&](std::int64_t position) {
      return std::lower_bound(starts, starts + n_groups, position) - starts;
    };
    for (std::int64_t g = group_at(range.begin); g < n_groups && starts[g] < range.end; ++g) {
      const std::int64_t size = starts[g + 1] - starts[g];
      const X* const first = rows + order[starts[g]] * n_columns;
      X* const mean = means + g * n_columns;
      if (size == 1) {
        std::copy_n(first, n_columns, mean);
        continue;
      }
      std::fill(sums.begin(), sums.end(), 0.0);
      for (std::int64_t i = starts[g] + 1; i < starts[g + 1]; ++i) {
        const X* const row = rows + order[i] * n_columns;
        for (std::int64_t c = 0; c < n_columns; ++c)
          sums[static_cast<std::size_t>(c)] +=
              static_cast<double>(row[c]) - static_cast<double>(first[c]);
        meter.spend(n_columns + 4);
      }
      for (std::int64_t c = 0; c < n_columns; ++c)
        mean[c] = static_cast<X>(static_cast<double>(first[c]) +
                                 sums[static_cast<std::size_t>(c)] / static_cast<double>(size));
    }
  });
}

template void group_means(const float*, std::int64_t, const std::int32_t*, const std::int64_t*,
                          std::int64_t, float*, int, Poll);
template void group_means(const double*, std::int64_t, const std::int32_t*, const std::int64_t*,
                          std::int64_t, double*, int, Poll);

}  // namespace tacit
