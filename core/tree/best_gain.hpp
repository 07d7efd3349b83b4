// What the splits of a leaf could gain at most, before anybody looks at which classes they hold.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tree/scores.hpp"

namespace tacit {

// Of the records on the smaller side of a split, as many as there can be are taken to be of the
// rarest class, then of the next one, and so on. With two classes no split of that weight gains
// more. For trees of classes only.
class BestGain {
 public:
  // O(classes · log classes)
  BestGain(const TreeScore& score, const std::int64_t* whole, double prior_fraction);

  // The gain of a binary split whose smaller side has this weight. O(log classes)
  double at(std::int64_t side) const;

  // The weight of the smaller side that could gain most, of those that are made of whole classes,
  // or else a half. With two classes at() rises up to there, and falls from there.
  std::int64_t peak() const { return peak_; }

  // With two classes, the least and the greatest weight of the smaller side at which a split could
  // gain more than `price`; nothing does if the least is the greater. O(log weight)
  std::pair<std::int64_t, std::int64_t> range(double price) const;

  static constexpr double kRounding = 1e-9;  // gains that are as large as a price do not pay it

 private:
  const TreeScore& score_;
  std::int64_t whole_, peak_ = 0;
  double half_, before_;
  std::vector<std::int64_t> classes_, up_to_;  // the weights of classes, ascending, and their sums
  std::vector<double> terms_;                  // sums of terms, with half of the prior each
};

}  // namespace tacit
