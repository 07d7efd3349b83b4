#include "rule/boost_loss.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rule/boost_heads.hpp"
#include "rule/logistic_pairs.hpp"

namespace tacit {
namespace {

// Floats hold 24 bits; a step below leaves room for rounding.
constexpr int kGridBits = 22;
constexpr double kTie = 0x1p-44;     // of the largest number: what sums of scores are rounded by
constexpr double kMostPower = 80.0;  // e to it is a float, should held-out records come to it

double power_above(double x) { return std::ldexp(1.0, std::ilogb(std::max(x, 1e-290)) + 1); }

double to_grid(double x, double step) {
  const double shift = 0x1.8p52 * step;
  return (x + shift) - shift;
}

}  // namespace

ExactSum::ExactSum(double largest, double n_terms) {
  const int bits = 61 - std::ilogb(power_above(std::max(n_terms, 1.0)));
  scale_ = std::ldexp(1.0, std::min(bits - std::ilogb(power_above(largest)), 1000));
}

BoostLoss::BoostLoss(LossKind kind, BoostTargets targets, std::int64_t n_outputs,
                     std::int64_t n_records, const double* weights, const float* units,
                     const double* held_weights, bool joint)
    : kind_(kind),
      targets_(targets),
      n_outputs_(n_outputs),
      m_(n_records),
      weights_(weights),
      units_(units),
      held_weights_(held_weights),
      joint_(joint),
      default_(static_cast<std::size_t>(n_outputs), 0.0),
      scores_(static_cast<std::size_t>(n_outputs * n_records), 0.0),
      stats_(static_cast<std::size_t>(n_outputs * n_views() * n_records)),
      totals_(static_cast<std::size_t>(n_outputs * n_views())),
      grids_(totals_.size()),
      tie_(static_cast<std::size_t>(n_outputs), 0.0),
      n_tied_(tie_.size(), 0) {
  double heaviest = 0;
  for (std::int64_t i = 0; i < m_; ++i) {
    n_units_ += units ? static_cast<double>(units[i]) : 1;
    if (weights && counts(i)) heaviest = std::max(heaviest, weights[i]);
  }
  if (weights) heaviest_ = heaviest;
  if (joint) rows_.assign(static_cast<std::size_t>(joint_stats().width() * m_), 0.0f);
  if (!decomposable()) {
    shift_.resize(static_cast<std::size_t>(m_));
    denominator_.resize(static_cast<std::size_t>(m_));
  }
}

GradientPair BoostLoss::decomposed(double f, double y, double tie, bool from_below) const {
  switch (kind_) {
    case LossKind::squared:
      return {f - y, 1};
    case LossKind::absolute:
    case LossKind::quantile: {
      const bool below = std::abs(f - y) <= tie ? from_below : f < y;
      return {below ? slope_below() : slope_above(), 1};
    }
    case LossKind::poisson: {
      const double mean = std::exp(std::min(f, kMostPower));
      return {mean - y, mean};
    }
    default:  // squared hinge: max(0, 1 − f)² of what is relevant, max(0, f)² of the rest
      if (y > 0.5) return f < 1 ? GradientPair{-2 * (1 - f), 2} : GradientPair{0, 0};
      return f > 0 ? GradientPair{2 * f, 2} : GradientPair{0, 0};
  }
}

GradientPair BoostLoss::coupled(std::int64_t output, std::int64_t record) const {
  const std::int64_t i = output * m_ + record;
  const auto r = static_cast<std::size_t>(record);
  const double f = scores_[static_cast<std::size_t>(i)], y = targets_.at(i);
  const bool soft = kind_ == LossKind::softmax;
  const double exponent = soft ? f : y > 0.5 ? -f : f;
  const double p = std::exp(exponent - shift_[r]) / denominator_[r];
  // diag(p) − p pᵀ is at most diag(p): heads of several outputs never overshoot.
  return {soft ? p - y : y > 0.5 ? -p : p, joint_ ? p : p * (1 - p)};
}

template <class Body>
void BoostLoss::for_pairs(std::int64_t view, const std::int32_t* records, std::int64_t n,
                          const Body& body) const {
  constexpr int kBlock = 256;
  const std::int64_t output = view / n_views();
  const bool from_below = view % n_views() == 1;
  const double tie = tie_[static_cast<std::size_t>(output)];
  double f[kBlock], y[kBlock], g[kBlock], h[kBlock];
  const double* const scores = scores_.data() + output * m_;
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const int size = static_cast<int>(std::min<std::int64_t>(kBlock, n - begin));
    const auto record = [&](int k) {
      return records ? records[begin + k] : static_cast<std::int32_t>(begin + k);
    };
    if (decomposable())
      for (int k = 0; k < size; ++k) {
        f[k] = scores[record(k)];
        y[k] = targets_.at(output * m_ + record(k));
      }
    if (kind_ == LossKind::logistic) {
      logistic_pairs(f, y, size, g, h);
    } else {
      for (int k = 0; k < size; ++k) {
        const GradientPair pair =
            decomposable() ? decomposed(f[k], y[k], tie, from_below) : coupled(output, record(k));
        g[k] = pair.g;
        h[k] = pair.h;
      }
    }
    for (int k = 0; k < size; ++k) {
      const double w = weights_ ? weights_[record(k)] : 1;
      body(record(k), GradientPair{w * g[k], w * h[k]});
    }
  }
}

void BoostLoss::find_denominators(const std::vector<std::int32_t>& records) {
  const bool soft = kind_ == LossKind::softmax;
  const auto exponent = [&](std::int64_t o, std::int64_t r) {
    const std::int64_t i = o * m_ + r;
    const double f = scores_[static_cast<std::size_t>(i)];
    return soft || targets_.at(i) < 0.5 ? f : -f;
  };
  for (const std::int32_t record : records) {
    const auto r = static_cast<std::size_t>(record);
    double most = soft ? -std::numeric_limits<double>::infinity() : 0;
    for (std::int64_t o = 0; o < n_outputs_; ++o) most = std::max(most, exponent(o, record));
    double sum = soft ? 0 : std::exp(-most);
    for (std::int64_t o = 0; o < n_outputs_; ++o) sum += std::exp(exponent(o, record) - most);
    shift_[r] = most;
    denominator_[r] = sum;
  }
}

void BoostLoss::set_grid(std::int64_t view, double largest_g, double largest_h) {
  // Sums of all records must be exact in a double, too.
  const int bits = std::min(kGridBits, 52 - std::ilogb(power_above(std::max(n_units_, 1.0))));
  grids_[static_cast<std::size_t>(view)] = {largest_g, largest_h,
                                            std::ldexp(power_above(largest_g), -bits),
                                            std::ldexp(power_above(largest_h), -bits), 0};
}

GradientPair BoostLoss::largest(std::int64_t view) const {
  GradientPair most{0, 0};
  for_pairs(view, nullptr, m_, [&](std::int32_t record, const GradientPair& pair) {
    if (counts(record)) most = {std::max(most.g, std::abs(pair.g)), std::max(most.h, pair.h)};
  });
  return most;
}

void BoostLoss::renew_all(std::int64_t view) {
  // Where gradients have no bound, those twice as large still fit.
  if (bounded()) {
    set_grid(view, heaviest_, (joint_ || has_kink() ? 1 : 0.25) * heaviest_);
  } else {
    const GradientPair most = largest(view);
    const double curve = kind_ == LossKind::squared_hinge ? 2 : 1;
    set_grid(view, 2 * most.g, kind_ == LossKind::poisson ? 2 * most.h : curve * heaviest_);
  }
  const Grid& grid = grids_[static_cast<std::size_t>(view)];
  StatSums& totals = totals_[static_cast<std::size_t>(view)] = {};
  for_pairs(view, nullptr, m_, [&](std::int32_t record, const GradientPair& pair) {
    const double g = to_grid(pair.g, grid.step_g), h = to_grid(pair.h, grid.step_h);
    const double units = units_ ? static_cast<double>(units_[record]) : 1;
    totals.first += units * g;
    totals.second += units * h;
    set(view, record, g, h);
  });
}

void BoostLoss::set(std::int64_t view, std::int32_t record, double g, double h) {
  const StatPair stat{static_cast<float>(g), static_cast<float>(h)};
  stats_[static_cast<std::size_t>(view * m_ + record)] = stat;
  if (!joint_) return;
  const std::int64_t position = joint_stats().width() * record + JointStats::position(view);
  rows_[static_cast<std::size_t>(position)] = stat.first;
  rows_[static_cast<std::size_t>(position + 4)] = stat.second;
}

bool BoostLoss::renew(std::int64_t view, const std::vector<std::int32_t>& records,
                      StatPair* changes) {
  const Grid grid = grids_[static_cast<std::size_t>(view)];
  const StatPair* const stats = stats_.data() + view * m_;
  StatSums& totals = totals_[static_cast<std::size_t>(view)];
  bool fits = true;
  std::size_t i = 0;
  const auto n = static_cast<std::int64_t>(records.size());
  for_pairs(view, records.data(), n, [&](std::int32_t record, const GradientPair& pair) {
    const bool fit_h = pair.h <= grid.largest_h || kind_ != LossKind::poisson;
    fits = fits && ((std::abs(pair.g) <= grid.largest_g && fit_h) || !counts(record));
    const double g = to_grid(pair.g, grid.step_g), h = to_grid(pair.h, grid.step_h);
    const double dg = g - static_cast<double>(stats[record].first);
    const double dh = h - static_cast<double>(stats[record].second);
    const double units = units_ ? static_cast<double>(units_[record]) : 1;
    totals.first += units * dg;
    totals.second += units * dh;
    if (changes) changes[i++] = {static_cast<float>(dg), static_cast<float>(dh)};
    set(view, record, g, h);
  });
  // A grid that has become too small, or much too large for what is left, is set anew.
  int& n_renewed = grids_[static_cast<std::size_t>(view)].n_renewed;
  if (fits && !bounded() && ++n_renewed == 64) {
    n_renewed = 0;
    fits = largest(view).g > grid.largest_g / 32;
  }
  if (!fits) renew_all(view);
  return fits;
}

StatSums BoostLoss::sums(std::int64_t view, const std::vector<std::int32_t>& records) const {
  const Grid& grid = grids_[static_cast<std::size_t>(view)];
  ExactSum g(grid.largest_g, n_units_), h(grid.largest_h, n_units_);
  const auto n = static_cast<std::int64_t>(records.size());
  for_pairs(view, records.data(), n, [&](std::int32_t record, const GradientPair& pair) {
    const double units = units_ ? static_cast<double>(units_[record]) : 1;
    g.add(pair.g * units);
    h.add(pair.h * units);
  });
  return {g.value(), h.value()};
}

double BoostLoss::quantile_of_residuals(std::int64_t output,
                                        const std::vector<std::int32_t>& records) const {
  const ExactSum weight(heaviest_, n_units_);
  std::vector<WeightedValue> values;
  values.reserve(records.size());
  for (const std::int32_t record : records) {
    const std::int64_t i = output * m_ + record;
    const double w =
        (weights_ ? weights_[record] : 1) * (units_ ? static_cast<double>(units_[record]) : 1);
    values.push_back({targets_.at(i) - scores_[static_cast<std::size_t>(i)], weight.whole(w)});
  }
  return weighted_quantile(values, quantile_);
}

double BoostLoss::head(std::int64_t view, const StatSums& sums,
                       const std::vector<std::int32_t>& records, const NewtonScore& score,
                       double rate, bool again) const {
  if (kind_ == LossKind::poisson)
    return rate * poisson_head(sums.second, sums.second - sums.first, score);
  if (!has_kink()) return rate * score.head(sums);
  const std::int64_t output = view / n_views();
  const double best = quantile_of_residuals(output, records);
  double head = rate * best;
  if (!again) return head;
  // No statistic changes before the first record that scores move towards is reached.
  const double tie = tie_[static_cast<std::size_t>(output)];
  double reached = std::abs(best);
  for (const std::int32_t record : records) {
    const double far = residual(output, record) * (best > 0 ? 1 : -1);
    if (far >= -tie) reached = std::min(reached, far > tie ? far - tie : 0);
  }
  for (double before = 0; std::abs(head) < reached && head != before;) {
    before = head;
    head += rate * (best - head);
  }
  return head;
}

std::int64_t BoostLoss::n_tied(std::int64_t output,
                               const std::vector<std::int32_t>& records) const {
  const StatPair* const up = stats(2 * output);
  const StatPair* const down = stats(2 * output + 1);
  return std::count_if(records.begin(), records.end(), [&](std::int32_t record) {
    return counts(record) && up[record].first != down[record].first;
  });
}

bool BoostLoss::add(const std::vector<std::int32_t>& records,
                    const std::vector<std::int32_t>& outputs, const std::vector<double>& scores,
                    std::vector<StatPair>* changes) {
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    double* const target = scores_.data() + outputs[k] * m_;
    for (const std::int32_t record : records) target[record] += scores[k];
  }
  bool fits = true;
  if (decomposable()) {
    const std::size_t n = records.size();
    if (changes) changes->resize(n * static_cast<std::size_t>(n_views()));
    for (const std::int32_t output : outputs) {
      std::int64_t& tied = n_tied_[static_cast<std::size_t>(output)];
      if (has_kink()) tied -= n_tied(output, records);
      for (int k = 0; k < n_views(); ++k) {
        StatPair* const to = changes ? changes->data() + static_cast<std::size_t>(k) * n : nullptr;
        fits = renew(output * n_views() + k, records, to) && fits;
      }
      if (has_kink()) tied += n_tied(output, records);
    }
    return fits;
  }
  find_denominators(records);
  for (std::int64_t output = 0; output < n_outputs_; ++output) renew(output, records, nullptr);
  return false;
}

void BoostLoss::start_example_logistic() {
  // Newton's steps with the bound diag(p): each lowers the loss.
  std::vector<std::int32_t> all(static_cast<std::size_t>(m_));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
  const bool joint = joint_;
  joint_ = true;
  for (int step = 0; step < 10; ++step) {
    find_denominators(all);
    for (std::int64_t o = 0; o < n_outputs_; ++o) {
      set_grid(o, heaviest_, heaviest_);
      const StatSums s = sums(o, all);
      default_[static_cast<std::size_t>(o)] -= s.first / (s.second + weight_unit_);
    }
    for (std::int64_t o = 0; o < n_outputs_; ++o)
      std::fill_n(scores_.begin() + o * m_, m_, default_[static_cast<std::size_t>(o)]);
  }
  joint_ = joint;
}

// The sum of a number of each record, none beyond `largest`; it does not depend on their order.
template <class Number>
double BoostLoss::weighted_sum(double largest, const Number& number) const {
  ExactSum sum(largest * heaviest_, n_units_);
  for (std::int64_t r = 0; r < m_; ++r) {
    if (!counts(r)) continue;
    const double w = (weights_ ? weights_[r] : 1) * (units_ ? static_cast<double>(units_[r]) : 1);
    sum.add(w * number(r));
  }
  return sum.value();
}

void BoostLoss::start(bool optimal) {
  const double half = 0.5 * weight_unit_;
  std::vector<double> hits;
  std::vector<std::int32_t> counted;
  for (std::int64_t r = 0; r < m_; ++r)
    if (counts(r)) counted.push_back(static_cast<std::int32_t>(r));
  const double all = weighted_sum(1, [](std::int64_t) { return 1.0; });
  for (std::int64_t o = 0; o < n_outputs_; ++o) {
    double largest = 0;
    for (std::int64_t r = 0; r < m_; ++r)
      if (counts(r)) largest = std::max(largest, std::abs(targets_.at(o * m_ + r)));
    tie_[static_cast<std::size_t>(o)] = kTie * largest;
    hits.push_back(weighted_sum(largest, [&](std::int64_t r) { return targets_.at(o * m_ + r); }));
  }
  if (optimal && kind_ == LossKind::example_logistic) {
    start_example_logistic();
  } else if (optimal) {
    for (std::size_t o = 0; o < hits.size(); ++o) {
      const double fraction = all > 0 ? hits[o] / all : 0;
      // Half a record on either side keeps the odds of constant labels finite.
      const double odds = (hits[o] + half) / (all - hits[o] + half);
      if (kind_ == LossKind::logistic)
        default_[o] = std::log(odds);
      else if (kind_ == LossKind::softmax)
        default_[o] = std::log((hits[o] + half) / (all + half * static_cast<double>(n_outputs_)));
      else if (kind_ == LossKind::poisson)  // nothing at all is as little as half a record of one
        default_[o] = std::log((hits[o] > 0 ? hits[o] : half) / all);
      else if (has_kink())
        default_[o] = quantile_of_residuals(static_cast<std::int64_t>(o), counted);
      else
        default_[o] = fraction;
    }
  }
  for (std::int64_t o = 0; o < n_outputs_; ++o)
    std::fill_n(scores_.begin() + o * m_, m_, default_[static_cast<std::size_t>(o)]);
  if (!decomposable()) {
    std::vector<std::int32_t> every(static_cast<std::size_t>(m_));
    for (std::size_t i = 0; i < every.size(); ++i) every[i] = static_cast<std::int32_t>(i);
    find_denominators(every);
  }
  for (std::int64_t view = 0; view < n_outputs_ * n_views(); ++view) renew_all(view);
  if (has_kink())
    for (std::int64_t o = 0; o < n_outputs_; ++o)
      n_tied_[static_cast<std::size_t>(o)] = n_tied(o, counted);
}

double BoostLoss::loss(const std::vector<std::int32_t>& records) const {
  double sum = 0;
  for (const std::int32_t record : records) {
    const auto r = static_cast<std::size_t>(record);
    double loss = 0;
    for (std::int64_t o = 0; o < n_outputs_; ++o) {
      const std::int64_t i = o * m_ + record;
      const double f = scores_[static_cast<std::size_t>(i)], y = targets_.at(i);
      if (kind_ == LossKind::logistic) {
        const double margin = y > 0.5 ? f : -f;
        loss += margin > 0 ? std::log1p(std::exp(-margin)) : std::log1p(std::exp(margin)) - margin;
      } else if (kind_ == LossKind::squared) {
        loss += 0.5 * (f - y) * (f - y);
      } else if (has_kink()) {
        loss += (f < y ? slope_below() : slope_above()) * (f - y);
      } else if (kind_ == LossKind::poisson) {
        loss += std::exp(f) - y * f;
      } else if (kind_ == LossKind::squared_hinge) {
        const double gap = y > 0.5 ? std::max(0.0, 1 - f) : std::max(0.0, f);
        loss += gap * gap;
      } else if (kind_ == LossKind::softmax && y > 0.5) {
        loss -= f;
      }
    }
    if (!decomposable()) loss += shift_[r] + std::log(denominator_[r]);
    sum += (held_weights_ ? held_weights_[record] : 1) * loss;
  }
  return sum;
}

}  // namespace tacit
