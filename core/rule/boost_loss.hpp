// Losses of boosting: gradients and Hessians of each record's scores, output by output.
//
// Scores are kept output by output. Statistics are rounded to a grid so that sums of them are
// exact; what a rule's head is made of is not rounded that far (see LossSums).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rule/joint_scan.hpp"
#include "rule/scan.hpp"

namespace tacit {

enum class LossKind { logistic, squared, squared_hinge, example_logistic, softmax };

struct GradientPair {
  double g, h;
};

// What the model should give: 0 or 1 for each output and record, or numbers.
struct BoostTargets {
  const std::uint8_t* flags;  // null if there are numbers
  const double* numbers;
  double at(std::int64_t i) const { return flags ? static_cast<double>(flags[i]) : numbers[i]; }
};

// A sum of doubles that does not depend on their order, to about 2^-50 of the largest of them for a
// few thousand records.
class ExactSum {
 public:
  ExactSum(double largest, double n_terms);
  void add(double x) { sum_ += static_cast<std::int64_t>(x * scale_ + (x < 0 ? -0.5 : 0.5)); }
  double value() const { return static_cast<double>(sum_) / scale_; }

 private:
  double scale_;
  std::int64_t sum_ = 0;
};

class BoostLoss {
 public:
  // `joint`: whether heads have several outputs, whose second derivatives are then bounded.
  BoostLoss(LossKind kind, BoostTargets targets, std::int64_t n_outputs, std::int64_t n_records,
            const double* weights, const float* units, const double* held_weights, bool joint);

  // What a weight of 1 has become by scaling weights; before start().
  void set_weight_unit(double unit) { weight_unit_ = unit; }

  // Sets the scores that are best for all records at once (0 if not `optimal`).
  void start(bool optimal);
  const std::vector<double>& default_scores() const { return default_; }

  const StatPair* stats(std::int64_t output) const { return stats_.data() + output * m_; }
  JointStats joint_stats() const { return {rows_.data(), n_outputs_}; }  // if heads are joint
  const double* scores(std::int64_t output) const { return scores_.data() + output * m_; }
  const StatSums& totals(std::int64_t output) const {  // of all records that count
    return totals_[static_cast<std::size_t>(output)];
  }
  // Whether a head for one output leaves the statistics of others as they are.
  bool decomposable() const {
    return kind_ != LossKind::example_logistic && kind_ != LossKind::softmax;
  }

  // Whether moving a score by s changes its second derivative by a factor of e^|s| at most.
  bool smooth() const { return kind_ == LossKind::logistic || kind_ == LossKind::squared; }
  double grid(std::int64_t output) const {
    const Grid& grid = grids_[static_cast<std::size_t>(output)];
    return std::max(grid.step_g, grid.step_h);
  }

  // Unrounded sums of the statistics of some records that count.
  StatSums sums(std::int64_t output, const std::vector<std::int32_t>& records) const;
  // Adds to the scores of some records, and renews their statistics. If `changes` is given, there
  // is one output; it gets by how much each record's changed. False: all records' changed.
  bool add(const std::vector<std::int32_t>& records, const std::vector<std::int32_t>& outputs,
           const std::vector<double>& scores, std::vector<StatPair>* changes);
  // Loss of held-out records, each once or by its weight.
  double loss(const std::vector<std::int32_t>& records) const;

 private:
  struct Grid {
    double largest_g, largest_h, step_g, step_h;
    int n_renewed = 0;  // since it was set
  };
  bool bounded() const { return kind_ != LossKind::squared && kind_ != LossKind::squared_hinge; }
  GradientPair decomposed(double f, double y) const;
  GradientPair coupled(std::int64_t output, std::int64_t record) const;
  // Calls body(record, pair) for each of n records, in blocks; null stands for records 0, 1, ….
  template <class Body>
  void for_pairs(std::int64_t output, const std::int32_t* records, std::int64_t n,
                 const Body& body) const;
  void set_grid(std::int64_t output, double largest_g, double largest_h);
  void set(std::int64_t output, std::int32_t record, double g, double h);
  bool renew(std::int64_t output, const std::vector<std::int32_t>& records, StatPair* changes);
  void renew_all(std::int64_t output);
  void find_denominators(const std::vector<std::int32_t>& records);
  double largest_gradient(std::int64_t output) const;  // of records that count
  bool counts(std::int64_t record) const { return !units_ || units_[record] > 0; }
  template <class Number>
  double weighted_sum(double largest, const Number& number) const;
  void start_example_logistic();

  LossKind kind_;
  BoostTargets targets_;
  std::int64_t n_outputs_, m_;
  const double* weights_;
  const float* units_;
  const double* held_weights_;
  bool joint_;
  double n_units_ = 0, heaviest_ = 1, weight_unit_ = 1;
  std::vector<double> default_, scores_;
  std::vector<double> shift_, denominator_;  // of each record, if outputs depend on each other
  std::vector<StatPair> stats_;
  std::vector<float> rows_;  // the same by record, if heads are joint
  std::vector<StatSums> totals_;
  std::vector<Grid> grids_;
};

}  // namespace tacit
