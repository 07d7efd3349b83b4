// Gradient boosting with rules: each one a conjunction of conditions that adds scores to some
// outputs of the records it covers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/parallel.hpp"
#include "rule/boost_bounds.hpp"
#include "rule/boost_limits.hpp"
#include "rule/boost_loss.hpp"
#include "rule/boost_sample.hpp"
#include "rule/histograms.hpp"
#include "rule/joint_scan.hpp"
#include "rule/newton_score.hpp"
#include "rule/search.hpp"

namespace tacit {

enum class HeadKind { single, partial, complete };

struct BoostSettings {
  LossKind loss = LossKind::logistic;
  HeadKind heads = HeadKind::single;
  std::int64_t head_size = 1;  // outputs of a partial head
  double quantile = 0.5;
  double learning_rate = 0.3;
  NewtonScore score;
  int max_conditions = 4;
  bool default_rule = true;
  SampleKind sample = SampleKind::none;
  double sample_fraction = 1;
  std::int64_t n_features = 0;  // columns tried for each condition; 0: all
  bool prune = false;
  BoostLimits limits;
  std::uint64_t seed = 0;
  double weight_unit = 1;  // what a weight of 1 has become: weights and penalties may be scaled
};

struct BoostedRules {
  std::vector<std::int64_t> rule_conditions{0}, rule_heads{0};
  std::vector<RuleCondition> conditions;
  std::vector<std::int32_t> outputs;
  std::vector<double> scores, support, gain, losses;
  double start_loss = 0;  // before the first rule
  std::int64_t size() const { return static_cast<std::int64_t>(support.size()); }
};

class RuleBooster {
 public:
  RuleBooster(const RuleColumns& columns, BoostTargets targets, std::int64_t n_outputs,
              const BoostSettings& settings, const float* units, const double* weights,
              const double* held_weights, const std::int32_t* strata);

  // Adds up to n rules; fewer if no rule lowers the loss, or if the held-out loss has not improved
  // for `patience` rules (0: never), or when `seconds` have passed after the first (0: never).
  std::int64_t grow(std::int64_t n, std::int64_t patience, double seconds, int n_jobs, Poll poll);

  // Goes on where another booster of the same records has come to: takes the rules that it has found
  // as they are. `covered` are all records of each, whether they count or not. None may have been
  // grown yet; rules() has those alone that are grown from now on.
  void resume(std::int64_t n_rules, const std::int64_t* start, const std::int32_t* covered,
              const std::int64_t* head_start, const std::int32_t* outputs, const double* scores);

  const BoostedRules& rules() const { return rules_; }
  const BoostLoss& loss() const { return loss_; }
  std::int64_t n_records() const { return search_.columns().n_records; }
  std::int64_t n_outputs() const { return n_outputs_; }

 private:
  struct Growing {
    std::vector<RuleCondition> conditions;
    std::vector<std::int32_t> outputs;       // views of them, until it is finished
    std::vector<std::vector<double>> heads;  // after each condition, of each output
  };
  bool add_rule(int n_jobs, Poll poll);
  bool grow_single(Growing& rule, int n_jobs, Poll poll);
  bool grow_joint(Growing& rule, int n_jobs, Poll poll);
  // The best first condition of any output, by bounds and by what is still known of other outputs.
  RuleCandidate best_first(const std::vector<std::int32_t>& columns, int n_jobs, Poll poll);
  // The same where records are drawn: an output's best condition holds until a rule is found for it.
  RuleCandidate best_of_samples(int n_jobs, Poll poll);
  void draw_sample(std::int32_t view);
  void begin_sample(std::int32_t view);
  void try_again(std::int32_t view);
  void note_rule(const std::int32_t* outputs, std::size_t n, std::int64_t n_rules);
  RuleCandidate best_by_bounds(OutputBounds bounds, std::int32_t view, const StatSums& totals,
                               const std::vector<std::int32_t>& columns, const RuleCandidate& floor,
                               int n_jobs, Poll poll);
  void start_bounds(const BoostTargets& targets);
  RuleCandidate best_next(const RuleCandidate& current, int n_jobs, Poll poll);
  bool narrow_bounds(std::int32_t view);
  bool draws_columns() const {
    return settings_.n_features > 0 && settings_.n_features < search_.columns().n_columns;
  }
  // Whether anything is drawn: a rule that is found may not be found again.
  bool draws() const { return settings_.sample != SampleKind::none || draws_columns(); }
  const std::vector<std::int32_t>& draw_columns();
  StatSums totals(std::int64_t view) const;
  // What candidates of a view are scored by.
  NewtonScore score_of(std::int32_t view) const {
    const int sign = limits_.sign();
    return settings_.score.signed_as(sign != 0 ? sign : loss_.sign(view));
  }
  void consider(const ColumnScan& scan, std::int32_t column, std::int32_t view,
                RuleCandidate& best) const {
    best_condition(scan, column, view, score_of(view), settings_.limits.sign_below(column), best);
  }
  // Whether a head is none, or not as the conditions of its rule ask for.
  bool refused(const Growing& rule, const std::vector<double>& head) const;
  void add_condition(const RuleCandidate& candidate);
  void note_changes(std::int32_t view, const StatPair* changes, double step, bool only_covered);
  void prune(Growing& rule);
  bool finish(Growing& rule);  // false if it is refused
  RuleCandidate best_single(const std::vector<std::int32_t>& columns,
                            const std::vector<std::int32_t>& views,
                            const std::vector<StatSums>& sums, const RuleCandidate& floor,
                            int n_jobs, Poll poll);
  JointSums joint_totals() const;
  std::vector<float> chosen_rows(const std::vector<std::int32_t>& outputs) const;
  RuleCandidate best_joint(const JointStats& stats, const JointSums& totals,
                           const RuleCandidate& floor, int n_jobs, Poll poll);

  BoostSettings settings_;
  std::int64_t n_outputs_;
  const float* units_;
  BoostLoss loss_;
  std::int64_t n_views_;
  RuleSearch search_;
  RuleSampler sampler_;
  RuleLimits limits_;
  BoostedRules rules_;
  std::vector<std::int32_t> held_out_, covered_, drawn_columns_, shuffled_;
  // Candidates are of views; a loss without a kink has one of each output.
  std::vector<std::int32_t> all_views_;
  bool lazy_ = false;  // whether outputs that did not change need not be looked at again
  ColumnBounds bounds_;
  // Whether each output's next rule has a sample of its own, drawn when its last rule was found.
  bool own_samples_ = false;
  std::vector<std::vector<float>> samples_;  // how often each record counts, for each output
  std::vector<double> sample_units_;
  std::vector<DrawKey> keys_;  // of the next draw for each view
  DrawKey key_;                // of what is drawn for the rule that grows
  std::int64_t n_earlier_ = 0;
  std::vector<RuleCandidate> known_best_;  // of each output, if known_
  std::vector<char> known_;
  std::vector<StatPair> changes_;
  std::vector<std::int32_t> reaching_;
  std::vector<double> most_;                // of the columns that are looked at
  double row_length_ = 0;                   // stored values of a record, on average
  std::vector<std::int32_t> column_sizes_;  // stored values of each column
  BoundsWidener widener_;
  OutputBounds rule_bounds_;  // of the rule that grows, while bounded_
  bool bounded_ = false;
  std::unique_ptr<RuleHistograms> histograms_;  // null where they do not suit
  ColumnScan scan_;
  double best_loss_ = 0;
  std::int64_t best_size_ = 0;
  bool done_ = false;
};

}  // namespace tacit
