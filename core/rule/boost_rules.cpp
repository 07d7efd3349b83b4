#include "rule/boost_rules.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "rule/over_columns.hpp"

namespace tacit {
RuleBooster::RuleBooster(const RuleColumns& columns, BoostTargets targets, std::int64_t n_outputs,
                         const BoostSettings& settings, const float* units, const double* weights,
                         const double* held_weights, const std::int32_t* strata)
    : settings_(settings),
      n_outputs_(n_outputs),
      units_(units),
      loss_(settings.loss, targets, n_outputs, columns.n_records, weights, units, held_weights,
            settings.heads != HeadKind::single),
      n_views_(n_outputs * loss_.n_views()),
      search_(columns, units),
      sampler_(settings.sample, settings.sample_fraction, columns.n_records, units, strata,
               settings.seed),
      limits_(settings_.limits),
      lazy_(settings.heads == HeadKind::single && settings.sample == SampleKind::none &&
            loss_.decomposable()),
      bounds_(lazy_ ? n_views_ : 0, columns.n_columns, settings.score),
      own_samples_(settings.heads == HeadKind::single && settings.sample != SampleKind::none &&
                   loss_.decomposable()),
      samples_(own_samples_ ? static_cast<std::size_t>(n_views_) : 0),
      sample_units_(samples_.size()),
      known_best_(static_cast<std::size_t>(n_views_)),
      known_(static_cast<std::size_t>(n_views_), 0) {
  for (std::int64_t view = 0; view < n_views_; ++view)
    keys_.push_back({0, static_cast<std::uint64_t>(view) + 1, 0});
  loss_.set_weight_unit(settings.weight_unit);
  loss_.set_quantile(settings.quantile);
  loss_.start(settings.default_rule);
  if (draws_columns())
    search_.expect(static_cast<double>(settings.n_features) /
                   static_cast<double>(columns.n_columns));
  all_views_.resize(static_cast<std::size_t>(n_views_));
  std::iota(all_views_.begin(), all_views_.end(), 0);
  row_length_ = static_cast<double>(columns.n_stored()) /
                static_cast<double>(std::max<std::int64_t>(columns.n_records, 1));
  if (lazy_ && RuleHistograms::suit(columns, n_views_)) {
    histograms_ = std::make_unique<RuleHistograms>(columns, units, n_views_);
    search_.walk_rows(false);
  }
  for (std::int64_t c = 0; c < columns.n_columns; ++c)
    column_sizes_.push_back(static_cast<std::int32_t>(
        columns.run_start[columns.column_runs[c + 1]] - columns.run_start[columns.column_runs[c]]));
  if (bounds_.kept() && targets.flags && !units && !weights) start_bounds(targets);
  if (units)
    for (std::int64_t r = 0; r < columns.n_records; ++r)
      if (!(units[r] > 0)) held_out_.push_back(static_cast<std::int32_t>(r));
  rules_.start_loss = best_loss_ = loss_.loss(held_out_);
}

// Records without a label begin with the same statistics. So only the rows of those with it need to
// be walked to bound what any column holds: that is little, if a label is rare.
void RuleBooster::start_bounds(const BoostTargets& targets) {
  constexpr std::int64_t kWalkCost = 4;
  std::vector<std::int32_t> relevant;
  for (const std::int32_t view : all_views_) {
    const std::uint8_t* const flags = targets.flags + view * n_records();
    relevant.clear();
    std::int32_t other = -1;
    for (std::int32_t r = 0; r < n_records(); ++r)
      if (flags[r])
        relevant.push_back(r);
      else
        other = r;
    if (other < 0 || static_cast<std::int64_t>(relevant.size()) * kWalkCost > n_records()) continue;
    const StatPair* const stats = loss_.stats(view);
    OutputBounds bounds = bounds_.of(view);
    bounds.start(stats[other], search_.columns(), column_sizes_);
    widener_.widen(bounds, relevant, search_.rows(), [&](std::size_t k) {
      const StatPair& with = stats[relevant[k]];
      return StatSums{static_cast<double>(with.first) - static_cast<double>(stats[other].first),
                      static_cast<double>(with.second) - static_cast<double>(stats[other].second)};
    });
  }
}

std::int64_t RuleBooster::grow(std::int64_t n, std::int64_t patience, double seconds, int n_jobs,
                               Poll poll) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  Poller poller(poll);
  std::int64_t added = 0;
  while (added < n && !done_) {
    poller.check();
    if (seconds > 0 && added > 0 &&
        std::chrono::duration<double>(Clock::now() - start).count() >= seconds)
      break;
    if (!add_rule(n_jobs, poll)) {
      done_ = true;
      break;
    }
    ++added;
    if (held_out_.empty()) continue;
    const double loss = loss_.loss(held_out_);
    rules_.losses.push_back(loss);
    if (loss < best_loss_) {
      best_loss_ = loss;
      best_size_ = rules_.size();
    }
    done_ = patience > 0 && rules_.size() - best_size_ >= patience;
  }
  return added;
}

void RuleBooster::resume(std::int64_t n_rules, const std::int64_t* start,
                         const std::int32_t* covered, const std::int64_t* head_start,
                         const std::int32_t* outputs, const double* scores) {
  for (std::int64_t r = 0; r < n_rules; ++r) {
    covered_.assign(covered + start[r], covered + start[r + 1]);
    const std::vector<std::int32_t> some(outputs + head_start[r], outputs + head_start[r + 1]);
    const std::vector<double> head(scores + head_start[r], scores + head_start[r + 1]);
    loss_.add(covered_, some, head, nullptr);
    note_rule(some.data(), some.size(), ++n_earlier_);
  }
  if (bounds_.kept())
    for (const std::int32_t view : all_views_) bounds_.of(view).forget();
  rules_.start_loss = best_loss_ = loss_.loss(held_out_);
}

StatSums RuleBooster::totals(std::int64_t view) const {
  const StatPair* const stats = loss_.stats(view);
  const float* const units = search_.units();
  StatSums sum;
  search_.mask().for_each([&](std::int32_t record) {
    const double weight = units ? static_cast<double>(units[record]) : 1;
    sum.first += weight * static_cast<double>(stats[record].first);
    sum.second += weight * static_cast<double>(stats[record].second);
  });
  return sum;
}

const std::vector<std::int32_t>& RuleBooster::draw_columns() {
  const auto n = static_cast<std::size_t>(settings_.n_features);
  const std::vector<std::int32_t>& active = search_.active();
  const auto n_columns = static_cast<std::size_t>(search_.columns().n_columns);
  const bool all = n == 0 || n >= n_columns;
  if (limits_.narrowed()) {
    drawn_columns_ = limits_.allowed();
    if (!all && n < drawn_columns_.size()) {
      std::vector<std::int32_t> some = drawn_columns_;
      sampler_.draw(key_, search_.mask().n_conditions(), some, n, drawn_columns_);
    }
  } else if (all) {
    return active;
  } else {
    if (shuffled_.empty()) {
      shuffled_.resize(n_columns);
      std::iota(shuffled_.begin(), shuffled_.end(), 0);
    }
    sampler_.draw(key_, search_.mask().n_conditions(), shuffled_, n, drawn_columns_);
  }
  std::erase_if(drawn_columns_, [&](std::int32_t c) {
    return !std::binary_search(active.begin(), active.end(), c);
  });
  return drawn_columns_;
}

void RuleBooster::add_condition(const RuleCandidate& candidate) {
  search_.add(candidate.condition, candidate.n_covered);
  limits_.add(candidate.condition, search_.columns().n_columns);
}

bool RuleBooster::refused(const Growing& rule, const std::vector<double>& head) const {
  const auto has = [&](int sign) {
    return std::any_of(head.begin(), head.end(), [&](double s) { return s * sign > 0; });
  };
  if (!has(1) && !has(-1)) return true;
  return std::any_of(rule.conditions.begin(), rule.conditions.end(),
                     [&](const auto& condition) { return has(-settings_.limits.sign(condition)); });
}

RuleCandidate RuleBooster::best_single(const std::vector<std::int32_t>& columns,
                                       const std::vector<std::int32_t>& views,
                                       const std::vector<StatSums>& sums,
                                       const RuleCandidate& floor, int n_jobs, Poll poll) {
  const bool of_all = histograms_ && search_.mask().n_conditions() == 0;
  if (of_all)
    for (const std::int32_t view : views) histograms_->prepare(view, loss_.stats(view));
  const bool once = views.size() == 1 && search_.just_drawn();
  return best_of_columns(search_, columns, floor, n_jobs, poll,
                         [&](ColumnScan& scan, std::int32_t c, RuleCandidate& best) {
                           if (of_all) {
                             for (std::size_t k = 0; k < views.size(); ++k) {
                               histograms_->scan_root(views[k], c, sums[k], scan);
                               consider(scan, c, views[k], best);
                             }
                             return;
                           }
                           if (once) {
                             search_.sum_drawn(c, loss_.stats(views[0]), sums[0], scan);
                             consider(scan, c, views[0], best);
                             return;
                           }
                           search_.list(c, scan);
                           if (scan.size() == 0) return;
                           for (std::size_t k = 0; k < views.size(); ++k) {
                             scan.sum(loss_.stats(views[k]), sums[k]);
                             consider(scan, c, views[k], best);
                           }
                         });
}

RuleCandidate RuleBooster::best_by_bounds(OutputBounds bounds, std::int32_t view,
                                          const StatSums& totals,
                                          const std::vector<std::int32_t>& columns,
                                          const RuleCandidate& floor, int n_jobs, Poll poll) {
  const bool of_all = search_.mask().n_conditions() == 0 && histograms_;
  if (of_all) histograms_->prepare(view, loss_.stats(view));
  const auto scan_column = [&](ColumnScan& scan, std::int32_t c, RuleCandidate& best) {
    if (bounds.most(c, totals) < best.score) return;
    if (of_all) {
      histograms_->scan_root(view, c, totals, scan);
    } else {
      search_.list(c, scan);
      scan.sum(loss_.stats(view), totals);
    }
    consider(scan, c, view, best);
    bounds.learn(c, scan);
  };
  // The most promising column sets the mark; few others reach it.
  RuleCandidate best = floor;
  most_.clear();
  for (const std::int32_t c : columns) most_.push_back(bounds.most(c, totals));
  const auto highest = std::max_element(most_.begin(), most_.end());
  if (highest == most_.end() || *highest < floor.score) return best;
  const auto first = static_cast<std::size_t>(highest - most_.begin());
  scan_column(scan_, columns[first], best);
  reaching_.clear();
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (i != first && most_[i] >= best.score) reaching_.push_back(columns[i]);
  return best_of_columns(search_, reaching_, best, n_jobs, poll, scan_column);
}

void RuleBooster::draw_sample(std::int32_t view) {
  const float* const drawn = sampler_.draw_records(keys_[static_cast<std::size_t>(view)]);
  samples_[static_cast<std::size_t>(view)].assign(drawn, drawn + n_records());
  sample_units_[static_cast<std::size_t>(view)] = sampler_.n_units();
}

void RuleBooster::begin_sample(std::int32_t view) {
  const auto o = static_cast<std::size_t>(view);
  key_ = keys_[o];
  search_.begin(samples_[o].data(), sample_units_[o]);
}

// The output's sample is another one from now on.
void RuleBooster::note_rule(const std::int32_t* outputs, std::size_t n, std::int64_t n_rules) {
  for (std::size_t i = 0; i < n; ++i)
    for (int k = 0; k < loss_.n_views(); ++k) {
      const std::int32_t view = outputs[i] * loss_.n_views() + k;
      keys_[static_cast<std::size_t>(view)] = {static_cast<std::uint64_t>(n_rules),
                                               static_cast<std::uint64_t>(view) + 1, 0};
    }
}

void RuleBooster::try_again(std::int32_t view) {
  known_[static_cast<std::size_t>(view)] = 0;
  ++keys_[static_cast<std::size_t>(view)].trial;
}

RuleCandidate RuleBooster::best_of_samples(int n_jobs, Poll poll) {
  RuleCandidate nothing, best;
  nothing.score = best.score = 0;
  for (const std::int32_t view : all_views_) {
    const auto o = static_cast<std::size_t>(view);
    if (loss_.spare(view)) continue;
    if (!known_[o]) {
      draw_sample(view);
      begin_sample(view);
      known_best_[o] = best_single(draw_columns(), {view}, {totals(view)}, nothing, n_jobs, poll);
      known_[o] = 1;
    }
    if (known_best_[o].valid() && known_best_[o].better(best)) best = known_best_[o];
  }
  if (best.valid())
    begin_sample(best.output);
  else
    for (const std::int32_t view : all_views_) try_again(view);  // other samples may find something
  return best;
}

RuleCandidate RuleBooster::best_first(const std::vector<std::int32_t>& columns, int n_jobs,
                                      Poll poll) {
  RuleCandidate nothing;
  nothing.score = 0;
  const auto total = [&](std::int32_t view) {
    return settings_.sample == SampleKind::none ? loss_.totals(view) : totals(view);
  };
  if (!lazy_ || (draws_columns() && !bounds_.kept())) {
    std::vector<StatSums> sums;
    std::vector<std::int32_t> views;
    for (const std::int32_t view : all_views_)
      if (!loss_.spare(view)) {
        views.push_back(view);
        sums.push_back(total(view));
      }
    return best_single(columns, views, sums, nothing, n_jobs, poll);
  }
  const auto best_of = [&](std::int32_t view, const RuleCandidate& floor) {
    if (!bounds_.kept()) return best_single(columns, {view}, {total(view)}, floor, n_jobs, poll);
    return best_by_bounds(bounds_.of(view), view, total(view), columns, floor, n_jobs, poll);
  };
  RuleCandidate best = nothing;
  if (draws_columns()) {
    // The most promising outputs first: few others reach them.
    std::vector<std::pair<double, std::int32_t>> order;
    for (const std::int32_t view : all_views_) {
      if (loss_.spare(view)) continue;
      const OutputBounds bounds = bounds_.of(view);
      double most = 0;
      for (const std::int32_t c : columns) most = std::max(most, bounds.most(c, total(view)));
      order.emplace_back(-most, view);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [most, view] : order)
      if (-most >= best.score) best = best_of(view, best);
    return best;
  }
  for (const std::int32_t view : all_views_) {
    if (loss_.spare(view)) continue;
    RuleCandidate& known = known_best_[static_cast<std::size_t>(view)];
    if (!known_[static_cast<std::size_t>(view)]) {
      known = best_of(view, nothing);
      known_[static_cast<std::size_t>(view)] = 1;
    }
    if (known.valid() && known.better(best)) best = known;
  }
  return best;
}

// While a rule covers nearly all, bounds hold for what it covers: those dropped count as changed.
bool RuleBooster::narrow_bounds(std::int32_t view) {
  constexpr std::int64_t kWalkCost = 6;
  const std::vector<std::int32_t>& dropped = search_.mask().dropped();
  if (!bounds_.kept() || search_.mask().listed() ||
      static_cast<std::int64_t>(dropped.size()) * kWalkCost > n_records())
    return false;
  if (search_.mask().n_conditions() == 1)
    rule_bounds_ = bounds_.copy(view);
  else if (!bounded_)
    return false;
  const StatPair* const stats = loss_.stats(view);
  widener_.widen(rule_bounds_, dropped, search_.rows(), [&](std::size_t k) {
    const std::int32_t record = dropped[k];
    const double units = units_ ? static_cast<double>(units_[record]) : 1;
    return StatSums{-units * static_cast<double>(stats[record].first),
                    -units * static_cast<double>(stats[record].second)};
  });
  return true;
}

RuleCandidate RuleBooster::best_next(const RuleCandidate& current, int n_jobs, Poll poll) {
  const std::vector<std::int32_t>& columns = draw_columns();
  RuleCandidate floor;  // a longer rule must be better by its score
  floor.score = current.score;
  if (histograms_) {
    histograms_->narrow(current.output, loss_.stats(current.output), search_.mask(),
                        search_.rows());
    return best_of_columns(search_, columns, floor, n_jobs, poll,
                           [&](ColumnScan& scan, std::int32_t c, RuleCandidate& best) {
                             histograms_->scan_rule(c, search_.n_covered(), current.covered, scan);
                             consider(scan, c, current.output, best);
                           });
  }
  bounded_ = narrow_bounds(current.output);
  if (bounded_)
    return best_by_bounds(rule_bounds_, current.output, current.covered, columns, floor, n_jobs,
                          poll);
  return best_single(columns, {current.output}, {current.covered}, floor, n_jobs, poll);
}

bool RuleBooster::grow_single(Growing& rule, int n_jobs, Poll poll) {
  RuleCandidate current;
  current.score = 0;
  for (int k = 0; k < settings_.max_conditions; ++k) {
    const RuleCandidate best = k > 0          ? best_next(current, n_jobs, poll)
                               : own_samples_ ? best_of_samples(n_jobs, poll)
                                              : best_first(draw_columns(), n_jobs, poll);
    if (!best.valid() || !(best.score > current.score)) break;
    current = best;
    rule.conditions.push_back(best.condition);
    rule.heads.push_back({settings_.score.head(best.covered)});
    add_condition(best);
  }
  rule.outputs = {current.output};
  return !rule.conditions.empty();
}

// Keeps the conditions after which the rule does best on records that were not drawn.
void RuleBooster::prune(Growing& rule) {
  const float* const drawn = search_.units();
  double best = 0;
  std::size_t kept = 1;
  search_.mask().reset();
  for (std::size_t k = 0; k < rule.conditions.size(); ++k) {
    search_.mask().add(search_.columns(), rule.conditions[k]);
    double change = 0;
    for (std::size_t j = 0; j < rule.outputs.size(); ++j) {
      const StatPair* const stats = loss_.stats(rule.outputs[j]);
      StatSums sum;
      search_.mask().for_each([&](std::int32_t record) {
        if (drawn[record] > 0) return;
        const double weight = units_ ? static_cast<double>(units_[record]) : 1;
        sum.first += weight * static_cast<double>(stats[record].first);
        sum.second += weight * static_cast<double>(stats[record].second);
      });
      const double head = rule.heads[k][j];
      change += sum.first * head + 0.5 * sum.second * head * head;
    }
    if (k == 0 || change < best) {
      best = change;
      kept = k + 1;
    }
  }
  if (kept == rule.conditions.size()) return;
  rule.conditions.resize(kept);
  search_.mask().reset();
  for (const RuleCondition& condition : rule.conditions)
    search_.mask().add(search_.columns(), condition);
}

// Widens the bounds of the output that changed, or forgets them if that takes as long as looking.
void RuleBooster::note_changes(std::int32_t view, const StatPair* changes, double step,
                               bool only_covered) {
  known_[static_cast<std::size_t>(view)] = 0;
  if (!lazy_) return;
  if (histograms_) {
    if (only_covered)
      histograms_->change(view, covered_, changes, search_.rows());
    else
      histograms_->forget(view);
  }
  if (!bounds_.kept()) return;
  constexpr std::int64_t kWalkCost = 3;
  OutputBounds bounds = bounds_.of(view);
  // With sums of runs at hand, looking at all columns may cost less than walking rows.
  const double walk = static_cast<double>(covered_.size()) * row_length_;
  if (!only_covered || (histograms_ && walk > static_cast<double>(histograms_->n_runs())))
    bounds.forget();
  else if (static_cast<std::int64_t>(covered_.size()) * kWalkCost < n_records())
    widener_.widen(bounds, covered_, search_.rows(), [&](std::size_t k) {
      const double units = units_ ? static_cast<double>(units_[covered_[k]]) : 1;
      return StatSums{units * static_cast<double>(changes[k].first),
                      units * static_cast<double>(changes[k].second)};
    });
  else if (loss_.smooth())
    bounds.widen_all(step, loss_.grid(view) * (units_ ? 16 : 1), column_sizes_);
  else
    bounds.forget();
}

// Sets the head by all records that count and are covered, drawn or not, and applies it to all.
bool RuleBooster::finish(Growing& rule) {
  covered_.clear();
  std::vector<std::int32_t> counted;
  double support = 0;
  search_.mask().for_each([&](std::int32_t record) {
    covered_.push_back(record);
    if (!units_) return;
    if (units_[record] > 0) counted.push_back(record);
    support += static_cast<double>(units_[record]);
  });
  if (!units_) support = static_cast<double>(covered_.size());
  std::vector<double> head;
  double gain = 0;
  const std::vector<std::int32_t>& summed = units_ ? counted : covered_;
  for (const std::int32_t view : rule.outputs) {
    const StatSums sum = loss_.sums(view, summed);
    head.push_back(
        loss_.head(view, sum, summed, settings_.score, settings_.learning_rate, !draws()));
    gain += settings_.score(sum) / 2;
  }
  if (refused(rule, head)) {
    for (const std::int32_t view : rule.outputs) try_again(view);
    return false;
  }
  for (std::int32_t& view : rule.outputs) view = loss_.output_of(view);
  const bool only_covered = loss_.add(covered_, rule.outputs, head, lazy_ ? &changes_ : nullptr);
  const StatPair* changes = lazy_ ? changes_.data() : nullptr;
  for (int k = 0; k < loss_.n_views(); ++k) {
    note_changes(rule.outputs[0] * loss_.n_views() + k, changes, head[0], only_covered);
    if (lazy_) changes += covered_.size();
  }
  rules_.conditions.insert(rules_.conditions.end(), rule.conditions.begin(), rule.conditions.end());
  rules_.rule_conditions.push_back(static_cast<std::int64_t>(rules_.conditions.size()));
  rules_.outputs.insert(rules_.outputs.end(), rule.outputs.begin(), rule.outputs.end());
  rules_.scores.insert(rules_.scores.end(), head.begin(), head.end());
  rules_.rule_heads.push_back(static_cast<std::int64_t>(rules_.outputs.size()));
  rules_.support.push_back(support);
  rules_.gain.push_back(gain);
  note_rule(rule.outputs.data(), rule.outputs.size(), n_earlier_ + rules_.size());
  return true;
}

bool RuleBooster::add_rule(int n_jobs, Poll poll) {
  // Where records or columns are drawn, finding nothing may be bad luck.
  const int most = draws() ? 50 : 1;
  for (int trial = 0; trial < most; ++trial) {
    if (!own_samples_) {
      key_ = {static_cast<std::uint64_t>(n_earlier_ + rules_.size()), 0,
              static_cast<std::uint64_t>(trial)};
      const float* const drawn = sampler_.draw_records(key_);
      search_.begin(drawn, sampler_.n_units());
    }
    limits_.begin();
    Growing rule;
    const bool grown = settings_.heads == HeadKind::single ? grow_single(rule, n_jobs, poll)
                                                           : grow_joint(rule, n_jobs, poll);
    if (!grown) continue;
    if (settings_.prune && settings_.sample != SampleKind::none) prune(rule);
    if (finish(rule)) return true;
  }
  return false;
}

}  // namespace tacit
