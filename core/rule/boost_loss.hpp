// Losses of boosting: gradients and Hessians of each record's scores, output by output.
//
// Scores are kept output by output. Statistics are rounded to a grid so that sums of them are
// exact; what a rule's head is made of is not rounded that far (see LossSums).
//
// A loss with a kink, such as |f − y|, has two derivatives there, one for moving up and one for
// moving down. Its outputs have two views: rules that add to scores are sought by the statistics of
// the first, rules that take away by those of the second, and each found lowers the loss. Without a
// record on the kink they are the same, and the first does for both. Other losses have one view.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rule/joint_scan.hpp"
#include "rule/newton_score.hpp"
#include "rule/scan.hpp"

namespace tacit {

enum class LossKind {
  logistic,
  squared,
  squared_hinge,
  example_logistic,
  softmax,
  absolute,
  quantile,
  poisson
};

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
  std::int64_t whole(double x) const { return static_cast<std::int64_t>(x * scale_ + 0.5); }

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

  // The fraction of records that a quantile is to be above; before start().
  void set_quantile(double quantile) { quantile_ = quantile; }

  // Sets the scores that are best for all records at once (0 if not `optimal`).
  void start(bool optimal);
  const std::vector<double>& default_scores() const { return default_; }

  int n_views() const { return has_kink() ? 2 : 1; }  // of each output
  std::int32_t output_of(std::int32_t view) const { return view / n_views(); }
  // The sign of the heads that a view is for; 0 for any.
  int sign(std::int32_t view) const {
    return !has_kink() || n_tied_[static_cast<std::size_t>(output_of(view))] == 0 ? 0
           : view % 2 == 0                                                        ? 1
                                                                                  : -1;
  }
  // Whether a view adds nothing to the one before it.
  bool spare(std::int32_t view) const { return has_kink() && view % 2 == 1 && sign(view) == 0; }

  const StatPair* stats(std::int64_t view) const { return stats_.data() + view * m_; }
  JointStats joint_stats() const { return {rows_.data(), n_outputs_}; }  // if heads are joint
  const double* scores(std::int64_t output) const { return scores_.data() + output * m_; }
  const StatSums& totals(std::int64_t view) const {  // of all records that count
    return totals_[static_cast<std::size_t>(view)];
  }
  // Whether a head for one output leaves the statistics of others as they are.
  bool decomposable() const {
    return kind_ != LossKind::example_logistic && kind_ != LossKind::softmax;
  }

  // Whether moving a score by s changes its second derivative by a factor of e^|s| at most.
  bool smooth() const { return kind_ == LossKind::logistic || kind_ == LossKind::squared; }
  double grid(std::int64_t view) const {
    const Grid& grid = grids_[static_cast<std::size_t>(view)];
    return std::max(grid.step_g, grid.step_h);
  }

  // Unrounded sums of the statistics of some records that count.
  StatSums sums(std::int64_t view, const std::vector<std::int32_t>& records) const;
  // The head of a view for some records that count, whose sums are given: `rate` times what lowers
  // their loss most where that is known, else times Newton's step. `again`: whether the same rule
  // is found next if no statistic changes; then it is as large as that of all these rules together.
  double head(std::int64_t view, const StatSums& sums, const std::vector<std::int32_t>& records,
              const NewtonScore& score, double rate, bool again) const;
  // Adds to the scores of some records, and renews their statistics. If `changes` is given, there
  // is one output; it gets by how much each record's changed, view by view. False: all records'
  // changed.
  bool add(const std::vector<std::int32_t>& records, const std::vector<std::int32_t>& outputs,
           const std::vector<double>& scores, std::vector<StatPair>* changes);
  // Loss of held-out records, each once or by its weight.
  double loss(const std::vector<std::int32_t>& records) const;

 private:
  struct Grid {
    double largest_g, largest_h, step_g, step_h;
    int n_renewed = 0;  // since it was set
  };
  bool bounded() const {
    return kind_ != LossKind::squared && kind_ != LossKind::squared_hinge &&
           kind_ != LossKind::poisson;
  }
  bool has_kink() const { return kind_ == LossKind::absolute || kind_ == LossKind::quantile; }
  // The slopes of a loss with a kink: below y, and above.
  double slope_below() const { return kind_ == LossKind::absolute ? -1 : -quantile_; }
  double slope_above() const { return kind_ == LossKind::absolute ? 1 : 1 - quantile_; }
  double quantile_of_residuals(std::int64_t output, const std::vector<std::int32_t>& records) const;
  double residual(std::int64_t output, std::int64_t record) const {
    const std::int64_t i = output * m_ + record;
    return targets_.at(i) - scores_[static_cast<std::size_t>(i)];
  }
  std::int64_t n_tied(std::int64_t output, const std::vector<std::int32_t>& records) const;
  GradientPair decomposed(double f, double y, double tie, bool from_below) const;
  GradientPair coupled(std::int64_t output, std::int64_t record) const;
  // Calls body(record, pair) for each of n records, in blocks; null stands for records 0, 1, ….
  template <class Body>
  void for_pairs(std::int64_t view, const std::int32_t* records, std::int64_t n,
                 const Body& body) const;
  void set_grid(std::int64_t view, double largest_g, double largest_h);
  void set(std::int64_t view, std::int32_t record, double g, double h);
  bool renew(std::int64_t view, const std::vector<std::int32_t>& records, StatPair* changes);
  void renew_all(std::int64_t view);
  void find_denominators(const std::vector<std::int32_t>& records);
  GradientPair largest(std::int64_t view) const;  // of records that count
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
  double quantile_ = 0.5;
  std::vector<double> default_, scores_;
  std::vector<double> shift_, denominator_;  // of each record, if outputs depend on each other
  std::vector<StatPair> stats_;
  std::vector<float> rows_;  // the same by record, if heads are joint
  std::vector<StatSums> totals_;
  std::vector<Grid> grids_;
  std::vector<double> tie_;           // by output: scores that close to y are on the kink
  std::vector<std::int64_t> n_tied_;  // records there that count
};

}  // namespace tacit
