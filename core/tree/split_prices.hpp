// What the splits of a leaf pay for having been chosen.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tree/columns.hpp"

namespace tacit {

// Prices are those that the rules have for columns, or else found for each leaf: a split is then as
// probable beforehand as any other of its column, and its column as any other that could pay for a
// split of the leaf. That is log(columns · splits), and log 10 at least. Which columns could pay
// depends on the price, so their number is the least that is no less than those that could pay if
// there were so many (as in Tarone's correction for many tests, 1990).
class SplitPrices {
 public:
  SplitPrices(const TreeColumns& columns, const TreeRules& rules) : rules_(rules) {
    if (rules.leaf_prices && !columns.all_binary) log_splits_.assign(columns.ordered.size(), 0.0);
  }

  bool by_leaf() const { return rules_.leaf_prices; }

  // What a split of a column costs, and what it costs at least.
  double of(std::int32_t column) const {
    const auto at = static_cast<std::size_t>(column);
    if (by_leaf()) return price(column, log_columns_);
    return rules_.split_price + (rules_.extra_price.empty() ? 0.0 : rules_.extra_price[at]);
  }
  double least() const { return by_leaf() ? std::max(log_columns_, kLeast) : rules_.split_price; }

  static constexpr std::int64_t kFewest = 10;
  static constexpr double kLeast = 2.302585092994046;  // its logarithm

  // Found for a leaf: how many splits a column of several values has there.
  void set_splits(std::int32_t column, std::int64_t n) {
    log_splits_[static_cast<std::size_t>(column)] = std::log(static_cast<double>(n));
  }
  // What a split costs if `log_columns` is the logarithm of the columns that could pay.
  double price(std::int32_t column, double log_columns) const {
    const double more = log_splits_.empty() ? 0.0 : log_splits_[static_cast<std::size_t>(column)];
    return std::max(log_columns + more, kLeast);
  }
  // How many columns could pay: count(n) have more to gain than they would pay if there were n. It
  // never rises.
  template <class Count>
  void find(const Count& count) {
    std::int64_t few = 0, enough = count(1);  // few are too few
    while (enough - few > 1) {
      // Nearer to what was too few: counts fall slowly.
      const std::int64_t next = few + std::max<std::int64_t>((enough - few) / 4, 1);
      const std::int64_t n = count(next);
      if (n <= next) {
        enough = next;
        few = std::max(few, n - 1);
      } else {
        few = next;
        enough = std::min(enough, n);
      }
    }
    log_columns_ = std::log(static_cast<double>(std::max<std::int64_t>(enough, 1)));
  }

 private:
  const TreeRules& rules_;
  double log_columns_ = 0.0;
  std::vector<double> log_splits_;  // by column
};

}  // namespace tacit
