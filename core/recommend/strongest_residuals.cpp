#include "recommend/strongest_residuals.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tacit {
namespace {

constexpr std::int64_t kItems = 64;  // of a block

// Sums of rows of a sparse square, and which cells any of them has.
class RowSum {
 public:
  explicit RowSum(std::int64_t n) : sum_(n, 0.0), seen_(n, false) {}

  void add(const SparseSquare& gram, std::int64_t row, double factor) {
    for (std::int64_t c = gram.start[row]; c < gram.start[row + 1]; ++c) {
      const std::int32_t i = gram.column[c];
      if (!seen_[i]) {
        seen_[i] = true;
        cells_.push_back(i);
      }
      sum_[i] += factor * gram.value[c];
    }
  }

  const std::vector<std::int32_t>& cells() const { return cells_; }
  double operator[](std::int32_t i) const { return sum_[i]; }

  void clear() {
    for (const std::int32_t i : cells_) {
      sum_[i] = 0.0;
      seen_[i] = false;
    }
    cells_.clear();
  }

 private:
  std::vector<double> sum_;
  std::vector<char> seen_;
  std::vector<std::int32_t> cells_;
};

struct Candidate {
  double size;
  std::int32_t item;
  bool operator<(const Candidate& other) const {
    return size != other.size ? size > other.size : item < other.item;
  }
};

}  // namespace

void strongest_residuals(const SparseSquare& gram, const std::int64_t* near_start,
                         const std::int32_t* near, const double* weights, const double* shift,
                         const double* scale, std::int64_t most, std::int32_t* found,
                         std::int64_t* n_found, int n_jobs, Poll poll) {
  const std::int64_t n_blocks = (gram.n + kItems - 1) / kItems;
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t block, StopToken& token) {
    Meter meter(token);
    RowSum residual(gram.n);
    std::vector<Candidate> candidates;
    const std::int64_t end = std::min(gram.n, (block + 1) * kItems);
    for (std::int64_t j = block * kItems; j < end; ++j) {
      const std::int64_t first = near_start[j], last = near_start[j + 1];
      double rest = shift[j];
      residual.add(gram, j, 1.0);
      for (std::int64_t k = first; k < last; ++k) {
        residual.add(gram, near[k], -weights[k]);
        rest -= shift[near[k]] * weights[k];
        meter.spend(gram.start[near[k] + 1] - gram.start[near[k]]);
      }
      candidates.clear();
      for (const std::int32_t i : residual.cells()) {
        if (i == j || std::binary_search(near + first, near + last, i)) continue;
        candidates.push_back({std::abs(residual[i] - shift[i] * rest) * scale[i], i});
      }
      const auto wanted = std::min<std::int64_t>(most - (last - first),
                                                 static_cast<std::int64_t>(candidates.size()));
      if (wanted > 0 && wanted < static_cast<std::int64_t>(candidates.size())) {
        std::nth_element(candidates.begin(), candidates.begin() + wanted - 1, candidates.end());
      }
      std::int32_t* out = std::copy(near + first, near + last, found + j * most);
      for (std::int64_t c = 0; c < wanted; ++c) *out++ = candidates[c].item;
      std::sort(found + j * most, out);
      n_found[j] = out - (found + j * most);
      residual.clear();
    }
  });
}

}  // namespace tacit
