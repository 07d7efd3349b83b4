// What the splits of a leaf have to pay, and which ones could.
#include <algorithm>
#include <cmath>

#include "base/simd.hpp"
#include "tree/best_gain.hpp"
#include "tree/search.hpp"

namespace tacit {
namespace {

template <class T>
TACIT_INLINE T count_between(const T* numbers, std::int64_t n, T low, T high) {
  T count = 0;
  for (std::int64_t i = 0; i < n; ++i) count += (numbers[i] >= low) & (numbers[i] <= high);
  return count;
}

}  // namespace

// With two classes and columns of two values, ids that could not pay are not looked at: those whose
// smaller side does not have a weight that could gain enough.
template <class T>
void SplitSearch<T>::find_able(const CountedLeaf<T>& leaf) {
  const BestGain most(score_, leaf.whole, leaf.prior_fraction);
  const T whole = static_cast<T>(leaf.whole[0]);
  T low = 0, high = 0;
  const auto find_range = [&](double price) {
    const auto [least, greatest] = most.range(price);
    low = static_cast<T>(std::max(least, score_.min_leaf()));
    high = static_cast<T>(greatest);
  };
  // Keeps those in the range; no branch, as which they are cannot be guessed.
  const auto keep = [&](std::int64_t n, const auto& position, const auto& side) {
    able_.resize(static_cast<std::size_t>(n) + 1);
    able_sides_.resize(static_cast<std::size_t>(n) + 1);
    std::size_t kept = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      const T own = side(k);
      able_[kept] = position(k);
      able_sides_[kept] = own;
      kept += (own >= low) & (own <= high);
    }
    able_.resize(kept);
    able_sides_.resize(kept);
  };
  find_range(SplitPrices::kLeast);
  keep(
      low > high ? 0 : leaf.n, [](std::int64_t k) { return static_cast<std::int32_t>(k); },
      [&](std::int64_t k) { return std::min(leaf.histograms[k], whole - leaf.histograms[k]); });
  for (const std::int64_t column : excluded_)
    for (std::size_t k = 0; k < able_.size(); ++k)
      if (columns_.column_of[static_cast<std::size_t>(leaf.id(able_[k]))] == column) {
        able_.erase(able_.begin() + static_cast<std::ptrdiff_t>(k));
        able_sides_.erase(able_sides_.begin() + static_cast<std::ptrdiff_t>(k));
        break;
      }
  const auto count = avx2_or_plain<count_between<T>>();
  prices_.find([&](std::int64_t n_columns) {
    if (n_columns <= SplitPrices::kFewest) return static_cast<std::int64_t>(able_.size());
    find_range(std::log(static_cast<double>(n_columns)));
    const auto n = static_cast<std::int64_t>(able_sides_.size());
    return static_cast<std::int64_t>(count(able_sides_.data(), n, low, high));
  });
  find_range(prices_.least());
  keep(
      static_cast<std::int64_t>(able_.size()),
      [&](std::int64_t k) { return able_[static_cast<std::size_t>(k)]; },
      [&](std::int64_t k) { return able_sides_[static_cast<std::size_t>(k)]; });
  n_candidates_ = static_cast<std::int64_t>(able_.size());
  const std::int64_t stride = whole_vectors(n_candidates_);
  sides_.resize(static_cast<std::size_t>(2 * stride));
  for (std::int64_t p = 0; p < 2; ++p) {
    const T* from = leaf.histograms + p * leaf.stride;
    T* to = sides_.data() + p * stride;
    for (const std::int32_t i : able_) *to++ = from[i];
    std::fill(to, sides_.data() + (p + 1) * stride, T{0});
  }
}

// How many splits a column of several values has in the leaf. Of labels that do not occur there is
// none; of two that do, one against the other.
template <class T>
std::int64_t SplitSearch<T>::count_splits(const CountedLeaf<T>& leaf, const Run& run) const {
  std::int64_t n_codes = 0, rest = leaf.whole[0], n = 0;
  for (std::int64_t i = run.begin; i < run.end; ++i) {
    n_codes += leaf.histograms[i] > 0;
    rest -= leaf.histograms[i];
  }
  n_codes += rest > 0;
  const bool is_number = columns_.is_number(run.column);
  if (rules_.binary || is_number) {
    const bool lacking = columns_.has_missing(run.column) && missing_weight(leaf, run) > 0;
    // Missing values go with either side; the threshold above all numbers is there once.
    if (has_thresholds(run.column))
      n = lacking ? 2 * n_codes - 3 : n_codes - 1;
    else
      n = n_codes > 2 ? n_codes : 1;
  }
  if (rules_.complete && !is_number) ++n;
  return std::max<std::int64_t>(n, 1);
}

// How many columns could pay: for each of them the best of what could be gained by the sides that
// are nearest to the best weight, from below and from above.
template <class T>
void SplitSearch<T>::find_prices(const CountedLeaf<T>& leaf) {
  const BestGain most(score_, leaf.whole, leaf.prior_fraction);
  const std::int64_t whole = leaf.whole[0], peak = most.peak();
  std::int64_t below = 0, above = whole;
  const auto consider = [&](std::int64_t inside) {
    const std::int64_t side = std::min(inside, whole - inside);
    if (side < score_.min_leaf()) return;
    if (side <= peak)
      below = std::max(below, side);
    else
      above = std::min(above, side);
  };
  reach_.clear();
  auto rest = rests_.cbegin();
  auto missing = missing_runs_.cbegin();
  for (std::size_t k = 0; k < runs_.size(); ++k) {
    const Run& run = runs_[k];
    below = 0;
    above = whole;
    for (std::int64_t i = run.begin; i < run.end; ++i)
      consider(sides_[static_cast<std::size_t>(i)]);
    if (rest != rests_.cend() && *rest == static_cast<std::int64_t>(k))
      consider(sides_[static_cast<std::size_t>(leaf.n + (rest++ - rests_.cbegin()))]);
    if (missing != missing_runs_.cend() && missing->run.column == run.column) {
      for (std::int64_t i = 0; i < run.end - run.begin; ++i)
        consider(sides_[static_cast<std::size_t>(missing->first + i)]);
      ++missing;
    }
    if (is_excluded(run.column)) continue;
    if (columns_.arity(run.column) > 2) prices_.set_splits(run.column, count_splits(leaf, run));
    double reach = kNoGain;
    if (below > 0) reach = most.at(below);
    if (above < whole) reach = std::max(reach, most.at(above));
    if (reach > SplitPrices::kLeast) reach_.emplace_back(run.column, reach);
  }
  prices_.find([&](std::int64_t n_columns) {
    const double log_columns = std::log(static_cast<double>(n_columns));
    return std::count_if(reach_.begin(), reach_.end(), [&](const auto& one) {
      return one.second > prices_.price(one.first, log_columns) + BestGain::kRounding;
    });
  });
}

// Splits of columns that have many of them are less probable beforehand.
template <class T>
void SplitSearch<T>::pay(const CountedLeaf<T>& leaf) {
  if (!prices_.by_leaf() && rules_.extra_price.empty()) return;
  const auto extra = [&](std::int32_t column) { return prices_.of(column) - prices_.least(); };
  std::int32_t last = -1;
  double more = 0.0;
  for (std::int64_t i = 0; i < leaf.n; ++i) {
    const std::int32_t column = columns_.column_of[static_cast<std::size_t>(leaf.id(i))];
    if (column != last) more = extra(last = column);
    gains_[static_cast<std::size_t>(i)] -= more;
  }
  for (std::size_t e = 0; e < rests_.size(); ++e)
    gains_[static_cast<std::size_t>(leaf.n) + e] -=
        extra(runs_[static_cast<std::size_t>(rests_[e])].column);
  for (const MissingRun& missing : missing_runs_)
    for (double& gain : gains_of(missing)) gain -= extra(missing.run.column);
}

template void SplitSearch<std::int32_t>::find_able(const CountedLeaf<std::int32_t>&);
template void SplitSearch<std::int32_t>::find_prices(const CountedLeaf<std::int32_t>&);
template void SplitSearch<std::int32_t>::pay(const CountedLeaf<std::int32_t>&);
template void SplitSearch<std::int64_t>::find_able(const CountedLeaf<std::int64_t>&);
template void SplitSearch<std::int64_t>::find_prices(const CountedLeaf<std::int64_t>&);
template void SplitSearch<std::int64_t>::pay(const CountedLeaf<std::int64_t>&);

}  // namespace tacit
