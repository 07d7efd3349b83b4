// Rules whose heads have several outputs: all, or a fixed number of the best.
#include <algorithm>
#include <memory>
#include <mutex>

#include "rule/boost_rules.hpp"
#include "rule/over_columns.hpp"

namespace tacit {
JointSums RuleBooster::joint_totals() const {
  const JointScan scan(loss_.joint_stats(), settings_.score, 1);
  const float* const units = search_.units();
  JointSums sums(static_cast<std::size_t>(loss_.joint_stats().width()), 0.0);
  search_.mask().for_each([&](std::int32_t record) {
    const double weight = units ? static_cast<double>(units[record]) : 1;
    if (weight > 0) scan.add(record, weight, sums);
  });
  return sums;
}

RuleCandidate RuleBooster::best_joint(const JointStats& stats, const JointSums& totals,
                                      const RuleCandidate& floor, int n_jobs, Poll poll) {
  const std::int64_t n_kept =
      settings_.heads == HeadKind::complete ? n_outputs_ : settings_.head_size;
  std::mutex mutex;
  std::vector<std::unique_ptr<JointScan>> spare;
  return best_of_columns(search_, draw_columns(), floor, n_jobs, poll,
                         [&](ColumnScan& listed, std::int32_t c, RuleCandidate& best) {
                           std::unique_ptr<JointScan> scan;
                           {
                             const std::lock_guard<std::mutex> lock(mutex);
                             if (!spare.empty()) {
                               scan = std::move(spare.back());
                               spare.pop_back();
                             }
                           }
                           if (!scan)
                             scan = std::make_unique<JointScan>(stats, settings_.score,
                                                                std::min(n_kept, stats.n_outputs));
                           search_.list(c, listed);
                           scan->best_condition(listed, c, totals, best);
                           const std::lock_guard<std::mutex> lock(mutex);
                           spare.push_back(std::move(scan));
                         });
}

// The statistics of a few outputs, as if there were no others.
std::vector<float> RuleBooster::chosen_rows(const std::vector<std::int32_t>& outputs) const {
  const JointStats all = loss_.joint_stats();
  const JointStats few{nullptr, static_cast<std::int64_t>(outputs.size())};
  std::vector<float> rows(static_cast<std::size_t>(few.width() * n_records()), 0.0f);
  search_.mask().for_each([&](std::int32_t record) {
    float* const to = rows.data() + few.width() * record;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const std::int64_t from = JointStats::position(outputs[k]);
      const std::int64_t position = JointStats::position(static_cast<std::int64_t>(k));
      to[position] = all.row(record)[from];
      to[position + 4] = all.row(record)[from + 4];
    }
  });
  return rows;
}

bool RuleBooster::grow_joint(Growing& rule, int n_jobs, Poll poll) {
  rule.outputs = all_views_;
  JointStats stats = loss_.joint_stats();
  std::vector<float> rows;
  JointSums totals = joint_totals();
  double score = 0;
  for (int k = 0; k < settings_.max_conditions; ++k) {
    RuleCandidate floor;
    floor.score = score;
    const RuleCandidate best = best_joint(stats, totals, floor, n_jobs, poll);
    if (!best.valid() || !(best.score > score)) break;
    score = best.score;
    rule.conditions.push_back(best.condition);
    add_condition(best);
    totals = joint_totals();
    const JointScan all(loss_.joint_stats(), settings_.score, 1);
    // The first condition decides which outputs a partial head is about.
    if (k == 0 && settings_.heads == HeadKind::partial && settings_.head_size < n_outputs_) {
      std::stable_sort(
          rule.outputs.begin(), rule.outputs.end(), [&](std::int32_t a, std::int32_t b) {
            return settings_.score(all.of(totals, a)) > settings_.score(all.of(totals, b));
          });
      rule.outputs.resize(static_cast<std::size_t>(settings_.head_size));
      std::sort(rule.outputs.begin(), rule.outputs.end());
      rows = chosen_rows(rule.outputs);
      stats = {rows.data(), settings_.head_size};
    }
    std::vector<double> head;
    JointSums chosen(static_cast<std::size_t>(stats.width()), 0.0);
    for (std::size_t j = 0; j < rule.outputs.size(); ++j) {
      const StatSums pair = all.of(totals, rule.outputs[j]);
      const auto position =
          static_cast<std::size_t>(JointStats::position(static_cast<std::int64_t>(j)));
      chosen[position] = pair.first;
      chosen[position + 4] = pair.second;
      head.push_back(settings_.score.head(pair));
    }
    totals.swap(chosen);
    rule.heads.push_back(head);
  }
  return !rule.conditions.empty();
}

}  // namespace tacit
