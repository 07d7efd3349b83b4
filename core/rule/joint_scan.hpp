// Candidate conditions for heads of several outputs: all outputs of a record are added up at once.
#pragma once

#include <cstdint>
#include <vector>

#include "rule/newton_score.hpp"
#include "rule/scan.hpp"

namespace tacit {

// Statistics record by record: four gradients and the four Hessians that go with them, for as many
// blocks as there are outputs. What is left over of the last block is 0.
struct JointStats {
  const float* rows = nullptr;
  std::int64_t n_outputs = 0;
  std::int64_t n_blocks() const { return (n_outputs + 3) / 4; }
  std::int64_t width() const { return 8 * n_blocks(); }
  const float* row(std::int64_t record) const { return rows + record * width(); }
  // Where an output's gradient is in a row; its Hessian is four positions further.
  static std::int64_t position(std::int64_t output) { return output / 4 * 8 + output % 4; }
};

// Sums in the same layout.
using JointSums = std::vector<double>;

class JointScan {
 public:
  // `n_kept`: how many outputs a head has; the score is that of the best so many.
  JointScan(const JointStats& stats, const NewtonScore& score, std::int64_t n_kept);

  void add(std::int64_t record, double units, JointSums& sums) const;
  StatSums of(const JointSums& sums, std::int64_t output) const {
    const auto position = static_cast<std::size_t>(JointStats::position(output));
    return {sums[position], sums[position + 4]};
  }

  // Replaces `best` by the best candidate of a listed column, if that is better.
  void best_condition(const ColumnScan& listed, std::int32_t column, const JointSums& totals,
                      RuleCandidate& best);

 private:
  struct Scores {
    double stored, other;
  };
  void add_run(const ColumnScan& listed, int run, JointSums& sums) const;
  Scores both_sides(const JointSums& stored, const JointSums& totals);
  double kept_sum(std::vector<double>& worth) const;
  void consider(const ColumnScan& listed, std::int32_t column, int k, double score, bool other,
                RuleCandidate& best) const;

  JointStats stats_;
  NewtonScore score_;
  std::int64_t n_kept_;
  JointSums sums_, all_, totals_;
  std::vector<double> worth_[2];
};

}  // namespace tacit
