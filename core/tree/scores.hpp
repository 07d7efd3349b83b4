// How good leaves are, and what splitting them gains.
#pragma once

#include <cstdint>
#include <memory>

#include "tree/tree.hpp"

namespace tacit {

// With more histograms than this, counts come as entries.
constexpr std::int64_t kMostHistograms = 64;

// Statistics of a leaf: [0] the weight of all its records, then either the weights
// of all classes but the default class, whose weight follows by subtraction, or the sums of a
// regression's first and second moments.
class TreeScore {
 public:
  // `whole` is the weight of all records, in units.
  TreeScore(const TreeRules& rules, std::int64_t n_stats, std::int64_t whole);

  // The score of one leaf that has `prior_fraction` of the prior's weight.
  double leaf(const std::int64_t* stats, double prior_fraction) const;

  // What each further leaf adds to the score: nothing, or something negative.
  double per_leaf() const { return per_leaf_; }

  // Whether a split of a leaf with this weight is worth making.
  bool accepts(double gain, std::int64_t weight) const;

  // Whether leaves are split even if nothing is gained, for as long as they are not pure.
  bool greedy() const { return greedy_; }

  std::int64_t n_stats() const { return n_stats_; }
  std::int64_t min_leaf() const { return min_leaf_; }
  bool bdeu() const { return bdeu_; }

  // The sums that make a leaf's score, class by class: leaf = close(Σ term(count), weight).
  double term(double count, double prior_fraction) const;
  double close(double sum, double weight, double prior_fraction) const;
  double scale() const { return scale_; }
  // The same for weights in units, from tables where there are any.
  double count_term(std::int64_t count, double prior_fraction) const {
    return terms_ ? terms_.get()[count] : term(static_cast<double>(count) * scale_, prior_fraction);
  }
  double close_weight(double sum, std::int64_t weight, double prior_fraction) const {
    return closes_ ? sum - closes_.get()[weight]
                   : close(sum, static_cast<double>(weight) * scale_, prior_fraction);
  }

  struct Sides;  // what the vector code needs to know

 private:
  template <class T>
  friend struct SplitJob;
  TreeCriterion criterion_;
  NormalPrior normal_;
  std::int64_t n_stats_, min_leaf_;
  double scale_, pseudo_, per_leaf_, min_gain_;
  bool bdeu_, greedy_, regression_;
  // term(count) and what close() takes off, by count: for whole counts up to the tables' end, where
  // they do not depend on the leaf.
  std::shared_ptr<const double> terms_, closes_;
};

// Whether a leaf with these statistics could be split at all: deep, small and pure ones cannot.
bool worth_splitting(const TreeRules& rules, std::int64_t n_stats, const std::int64_t* stats,
                     const std::int64_t* root, std::int64_t depth);

// Candidates for splitting one leaf: histogram p of candidate i is inside[p * stride + i], what
// goes inside. Stride is a multiple of 4 and so is the room behind n.
template <class T>
struct SplitJob {
  const TreeScore* score;
  const T* inside;
  std::int64_t stride, n;
  const std::int64_t* whole;  // the statistics of the leaf
  double prior_fraction;
  const double* fractions;  // of the fraction that goes inside, or null for a half
  double price;             // of each, for having been chosen

  // gains[i] = what candidate i adds to the score, or -inf where a side would be too small.
  // O(n · histograms), in vector registers. gains has room for stride entries.
  void evaluate(double* gains) const;
};

}  // namespace tacit
