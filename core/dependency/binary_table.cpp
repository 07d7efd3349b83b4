#include "dependency/binary_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tacit {
namespace {

constexpr std::int64_t kTables = 1024;  // of a block of work
constexpr int kHalvings = 60;
constexpr int kSteps = 40;

class CellLikelihood {
 public:
  CellLikelihood(const double* counts, double a, double b) : counts_(counts), a_(a), b_(b) {}

  double value(double p) const {
    double sum = 0;
    const auto cells = cells_of(p);
    for (std::size_t k = 0; k < 4; ++k)
      if (counts_[k] > 0) sum += counts_[k] * std::log(std::max(cells[k], 0.0));
    return sum;
  }
  double slope(double p) const {
    double sum = 0;
    const auto cells = cells_of(p);
    for (std::size_t k = 0; k < 4; ++k)
      if (counts_[k] > 0) sum += (k == 0 || k == 3 ? counts_[k] : -counts_[k]) / cells[k];
    return sum;
  }

 private:
  std::array<double, 4> cells_of(double p) const { return {p, a_ - p, b_ - p, 1 - a_ - b_ + p}; }

  const double* counts_;
  double a_, b_;
};

// The slope falls with p.
double likeliest(const CellLikelihood& likelihood, double low, double high) {
  for (int k = 0; k < kHalvings; ++k) {
    const double p = low + (high - low) / 2;
    (likelihood.slope(p) > 0 ? low : high) = p;
  }
  return low + (high - low) / 2;
}

// Where log L falls to the floor on the way from its maximum to a limit. It is concave, so Newton's
// steps from beyond that position come nearer and never pass it. They would crawl where log L
// plunges towards a cell of probability zero: halving leaves that region first.
double fall(const CellLikelihood& likelihood, double middle, double limit, double floor) {
  const double deepest = floor - likelihood.value(middle) - 1;
  double p = limit;
  double above = likelihood.value(p) - floor;
  if (above >= 0) return limit;
  for (int k = 0; k < kHalvings && !(above > deepest); ++k) {
    const double half = middle + (p - middle) / 2;
    const double then = likelihood.value(half) - floor;
    if (then >= 0) {
      middle = half;
    } else {
      p = half;
      above = then;
    }
  }
  if (!std::isfinite(above)) return p;
  for (int k = 0; k < kSteps && above < 0; ++k) {
    const double next = p - above / likelihood.slope(p);
    if (!(std::abs(next - p) > 1e-13)) break;
    p = next;
    above = likelihood.value(p) - floor;
  }
  return p;
}

}  // namespace

void likelihood_ends(const BinaryTables& tables, double* low, double* high, int n_jobs, Poll poll) {
  const std::int64_t n_blocks = (tables.n + kTables - 1) / kTables;
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t block, StopToken&) {
    const Range range = block_range(tables.n, n_blocks, block);
    for (std::int64_t k = range.begin; k < range.end; ++k) {
      const double a = tables.a[k], b = tables.b[k];
      const double least = std::max(a + b - 1, 0.0), most = std::max(std::min(a, b), least);
      const CellLikelihood likelihood(tables.counts + 4 * k, a, b);
      const double middle = likeliest(likelihood, least, most);
      const double floor = likelihood.value(middle) - tables.drop[k];
      low[k] = std::clamp(fall(likelihood, middle, least, floor), least, middle);
      high[k] = std::clamp(fall(likelihood, middle, most, floor), middle, most);
    }
  });
}

}  // namespace tacit
