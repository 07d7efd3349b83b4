#include "svm/smo.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace tacit {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();
constexpr double kLeastCurvature = 1e-12;  // of two equal objects it is 0
constexpr int kShift = 6;
constexpr std::int64_t kBlock = std::int64_t{1} << kShift;
constexpr std::size_t kLanes = 8;

// The greatest of n numbers, n a multiple of kLanes; lanes let the compiler use vectors.
double largest(const double* x, std::int64_t n) {
  double best[kLanes];
  std::fill_n(best, kLanes, -kFar);
  for (std::int64_t t = 0; t < n; t += kLanes)
    for (std::size_t k = 0; k < kLanes; ++k)
      best[k] = x[static_cast<std::size_t>(t) + k] > best[k] ? x[static_cast<std::size_t>(t) + k]
                                                             : best[k];
  return *std::max_element(best, best + kLanes);
}

double largest_sum(const double* x, const double* y, double sign) {
  double best[kLanes];
  std::fill_n(best, kLanes, -kFar);
  for (std::size_t t = 0; t < kBlock; t += kLanes)
    for (std::size_t k = 0; k < kLanes; ++k) {
      const double sum = sign * x[t + k] + y[t + k];
      best[k] = sum > best[k] ? sum : best[k];
    }
  return *std::max_element(best, best + kLanes);
}

std::int64_t round_up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }

// One problem. F = y − Kβ; β_i may grow if it is below its upper bound, and shrink if it is above
// its lower one. At the optimum no F of those that may grow is above an F of those that may shrink.
template <class X>
class DualSolver {
 public:
  DualSolver(const SparseKernel<X>& kernel, const double* targets, const double* lower,
             const double* upper, double* beta)
      : kernel_(kernel),
        lower_(lower),
        upper_(upper),
        beta_(beta),
        padded_(round_up(kernel.n, kBlock)),
        n_blocks_(padded_ >> kShift),
        f_(size(padded_), 0.0),
        grow_bar_(size(padded_), -kFar),
        shrink_bar_(size(padded_), -kFar),
        grow_best_(size(round_up(n_blocks_, kLanes)), -kFar),
        shrink_best_(size(round_up(n_blocks_, kLanes)), -kFar),
        stamp_(size(n_blocks_), 0) {
    std::copy_n(targets, kernel.n, f_.begin());
    std::fill_n(beta, kernel.n, 0.0);
    for (std::int64_t t = 0; t < kernel.n; ++t) set_bars(t);
    for (std::int64_t b = 0; b < n_blocks_; ++b) summarise(b);
  }

  // The most violating pair, and by how much it is out of order.
  double find_pair() {
    const double high = largest(grow_best_.data(), round_up(n_blocks_, kLanes));
    const double low = -largest(shrink_best_.data(), round_up(n_blocks_, kLanes));
    top_ = high, bottom_ = low;
    if (high == -kFar || low == kFar) return -kFar;
    i_ = locate(grow_best_, grow_bar_, 1.0, high);
    j_ = locate(shrink_best_, shrink_bar_, -1.0, -low);
    return high - low;
  }

  // Moves along the best pair that the first of the two is part of. Returns the steps taken.
  //
  // Of the objects that row i does not store, only the most violating one is considered: their
  // curvatures are equal if the diagonal is constant, so that no other promises more.
  std::int64_t step() {
    const double f_i = f_[size(i_)], diagonal = kernel_.diagonal[i_];
    double best_rise = 0, best_curvature = 1;
    std::int64_t best = -1;
    const auto consider = [&](std::int64_t t, double value) {
      const double rise = f_i - f_[size(t)];
      if (!(rise > 0) || shrink_bar_[size(t)] != 0) return;
      const double curvature =
          std::max(diagonal + kernel_.diagonal[t] - 2 * value, kLeastCurvature);
      if (best >= 0 && rise * rise * best_curvature <= best_rise * best_rise * curvature) return;
      best = t, best_rise = rise, best_curvature = curvature;
    };
    bool stored = false;
    for (std::int64_t e = kernel_.indptr[i_]; e < kernel_.indptr[i_ + 1]; ++e) {
      stored |= kernel_.indices[e] == j_;
      consider(kernel_.indices[e], static_cast<double>(kernel_.values[e]));
    }
    if (!stored) consider(j_, 0.0);
    if (best < 0 || !move(i_, best, best_rise / best_curvature)) return 0;
    return kernel_.indptr[i_ + 1] - kernel_.indptr[i_] +
           2 * (kernel_.indptr[best + 1] - kernel_.indptr[best]) + n_blocks_ + kBlock;
  }

  // Where the two sides meet: the mean of F over coefficients between their bounds, if there are
  // any.
  double intercept() const {
    double sum = 0;
    std::int64_t free = 0;
    for (std::int64_t t = 0; t < kernel_.n; ++t)
      if (lower_[t] < beta_[t] && beta_[t] < upper_[t]) sum += f_[size(t)], ++free;
    if (free > 0) return sum / static_cast<double>(free);
    if (top_ == -kFar) return bottom_ == kFar ? 0.0 : bottom_;
    return bottom_ == kFar ? top_ : (top_ + bottom_) / 2;
  }

  double gradient(std::int64_t t) const { return f_[size(t)]; }

 private:
  static std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

  // A bar of 0 lets an object through to its block's summary, one of −∞ keeps it out.
  void set_bars(std::int64_t t) {
    grow_bar_[size(t)] = beta_[t] < upper_[t] ? 0.0 : -kFar;
    shrink_bar_[size(t)] = beta_[t] > lower_[t] ? 0.0 : -kFar;
  }

  void summarise(std::int64_t b) {
    const std::size_t first = size(b << kShift);
    grow_best_[size(b)] = largest_sum(&f_[first], &grow_bar_[first], 1.0);
    shrink_best_[size(b)] = largest_sum(&f_[first], &shrink_bar_[first], -1.0);
  }

  // The first object that has the value that is the best of all blocks.
  std::int64_t locate(const std::vector<double>& blocks, const std::vector<double>& bars,
                      double sign, double value) const {
    const auto block = std::find(blocks.begin(), blocks.end(), value) - blocks.begin();
    std::size_t t = size(block) << kShift;
    while (sign * f_[t] + bars[t] != value) ++t;
    return static_cast<std::int64_t>(t);
  }

  // Says whether anything has changed.
  bool move(std::int64_t i, std::int64_t j, double wanted) {
    const double before_i = beta_[i], before_j = beta_[j];
    const double room_i = upper_[i] - beta_[i], room_j = beta_[j] - lower_[j];
    const double by = std::min(wanted, std::min(room_i, room_j));
    beta_[i] = by == room_i ? upper_[i] : std::min(beta_[i] + by, upper_[i]);
    beta_[j] = by == room_j ? lower_[j] : std::max(beta_[j] - by, lower_[j]);
    if (beta_[i] == before_i && beta_[j] == before_j) return false;
    set_bars(i), set_bars(j);
    ++round_;
    changed_.clear();
    subtract(i, by);
    subtract(j, -by);
    for (const std::int64_t b : changed_) summarise(b);
    return true;
  }

  // F −= by · (column t of K)
  void subtract(std::int64_t t, double by) {
    f_[size(t)] -= by * kernel_.diagonal[t];
    note(t >> kShift);
    std::int64_t last = -1;
    for (std::int64_t e = kernel_.indptr[t]; e < kernel_.indptr[t + 1]; ++e) {
      const std::int64_t other = kernel_.indices[e];
      f_[size(other)] -= by * static_cast<double>(kernel_.values[e]);
      if (other >> kShift != last) note(last = other >> kShift);
    }
  }

  void note(std::int64_t block) {
    if (stamp_[size(block)] == round_) return;
    stamp_[size(block)] = round_;
    changed_.push_back(block);
  }

  const SparseKernel<X>& kernel_;
  const double *lower_, *upper_;
  double* beta_;
  std::int64_t padded_, n_blocks_;
  std::vector<double> f_, grow_bar_, shrink_bar_;  // of each object
  std::vector<double> grow_best_, shrink_best_;    // of each block: greatest F, greatest −F
  std::vector<std::int64_t> stamp_, changed_;      // blocks to summarise after this round
  std::int64_t round_ = 0, i_ = 0, j_ = 0;
  double top_ = -kFar, bottom_ = kFar;
};

template <class X>
void solve_one(const SparseKernel<X>& kernel, const DualProblems& problems, std::int64_t p,
               double tolerance, std::int64_t most_iterations, StopToken& token) {
  const std::int64_t first = p * kernel.n;
  const double* const targets = problems.targets + first;
  DualSolver<X> solver(kernel, targets, problems.lower + first, problems.upper + first,
                       problems.coefficients + first);
  Meter meter(token);
  std::int64_t done = 0;
  double gap = solver.find_pair();
  for (; gap >= tolerance && done < most_iterations; ++done) {
    const std::int64_t steps = solver.step();
    if (steps == 0) break;  // what is left of the gap is rounding
    meter.spend(steps);
    gap = solver.find_pair();
  }
  for (std::int64_t t = 0; t < kernel.n; ++t)
    problems.sums[first + t] = targets[t] - solver.gradient(t);
  problems.intercepts[p] = solver.intercept();
  problems.gaps[p] = std::max(gap, 0.0);
  problems.iterations[p] = done;
}

}  // namespace

template <class X>
void solve_duals(const SparseKernel<X>& kernel, const DualProblems& problems, double tolerance,
                 std::int64_t most_iterations, int n_jobs, Poll poll) {
  for_blocks(problems.size, n_jobs, poll, [&](std::int64_t p, StopToken& token) {
    solve_one(kernel, problems, p, tolerance, most_iterations, token);
  });
}

template void solve_duals(const SparseKernel<float>&, const DualProblems&, double, std::int64_t,
                          int, Poll);
template void solve_duals(const SparseKernel<double>&, const DualProblems&, double, std::int64_t,
                          int, Poll);

}  // namespace tacit
