#include <algorithm>
#include <cmath>

#include "junction/junction.hpp"

namespace tacit {
namespace {

// Below this a table is scaled, far from where numbers lose digits.
constexpr double kSmall = 0x1p-500;

double sum_of(const double* table, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += table[i];
  return sum;
}

void scale(double* table, std::size_t n, double sum) {
  for (std::size_t i = 0; i < n; ++i) table[i] /= sum;
}

// What the clique above says about a separator: its distribution without the message from below,
// whose place it takes.
void divide(const double* whole, double* message, std::size_t n) {
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (whole[i] > 0) largest = std::max(largest, whole[i] / message[i]);
  const double factor = std::isinf(largest) ? 0x1p+600 : 1;  // then only tiny ones matter
  for (std::size_t i = 0; i < n; ++i)
    message[i] = whole[i] > 0 ? whole[i] / (message[i] * factor) : 0;
}

}  // namespace

JunctionRun::JunctionRun(const JunctionNet& net, const JunctionPlan& plan, StopToken& token)
    : net_(net), plan_(plan), meter_(token), arena_(plan.arena) {}

std::size_t JunctionRun::observed_cell(const ObservedAxes& axes) const {
  std::size_t cell = 0;
  for (const auto& [column, step] : axes)  // a column with one value need not be observed
    cell += step * static_cast<std::size_t>(std::max(codes_[column], 0));
  return cell;
}

// Families all of whose columns are observed are mere factors.
bool JunctionRun::weigh_observed() {
  for (const PlannedFamily& family : plan_.observed_families) {
    const double value = net_.tables[net_.starts[family.family] + observed_cell(family.observed)];
    if (!(value > 0)) return false;
    log_evidence_ += std::log(value);
  }
  return true;
}

// Puts small tables together. Thousands of findings about one column may point this way first and
// then that way: each cell has a scale of its own until the last of them is in.
void JunctionRun::fold(std::size_t c) {
  const PlannedClique& clique = plan_.cliques[c];
  for (std::size_t k = 0; k < clique.folds.size(); ++k) {
    const TableFold& step = clique.folds[k];
    double* const to = arena_.data() + step.to;
    const double* const from =
        step.family == kNone
            ? arena_.data() + plan_.cliques[step.child].up
            : net_.tables.data() + net_.starts[step.family] + observed_cell(step.observed);
    fold_table(step.sizes, step.steps, step.assign, to, from);
    if (step.assign) lifts_.clear();
    lift(to, step.cells);
    const bool last = k + 1 == clique.folds.size() || clique.folds[k + 1].assign;
    if (last) log_scale_[c] += settle(to, step.cells);
  }
}

// Multiplies small cells by 2^500 and remembers how often that was done.
void JunctionRun::lift(double* table, std::size_t n) {
  double smallest = 1;
  for (std::size_t i = 0; i < n; ++i) smallest = std::min(smallest, table[i] > 0 ? table[i] : 1.0);
  if (smallest >= kSmall) return;
  lifts_.resize(n, 0);
  for (std::size_t i = 0; i < n; ++i)
    if (table[i] > 0 && table[i] < kSmall) {
      table[i] /= kSmall;
      ++lifts_[i];
    }
}

// Brings all cells to one scale, at which the largest is not small; returns its logarithm. All
// zeros stay what they are: the pass will find that out.
double JunctionRun::settle(double* table, std::size_t n) {
  double log_scale = 0, largest = 0;
  if (!lifts_.empty()) {
    std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < n; ++i)
      if (table[i] > 0) fewest = std::min(fewest, lifts_[i]);
    for (std::size_t i = 0; i < n; ++i)
      if (lifts_[i] > fewest) table[i] *= lifts_[i] == fewest + 1 ? kSmall : 0;
    log_scale = static_cast<double>(fewest) * std::log(kSmall);
  }
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, table[i]);
  if (!(largest > 0)) return 0;
  return largest < 0x1p-50 ? log_scale + std::log(scale_to_one(table, n)) : log_scale;
}

void JunctionRun::set_factors(const PlannedClique& clique, bool with_down) {
  scratch_.factors.clear();
  scratch_.targets.clear();
  for (const PlacedTable& factor : clique.factors)
    scratch_.factors.push_back({&factor.walk, arena_.data() + factor.at});
  if (with_down) scratch_.factors.push_back({&clique.separator, arena_.data() + clique.up});
}

bool JunctionRun::send_up(std::size_t c) {
  const PlannedClique& clique = plan_.cliques[c];
  set_factors(clique, false);
  double* const up = arena_.data() + clique.up;
  std::fill_n(up, clique.separator.cells, 0.0);
  scratch_.targets.push_back({&clique.separator, up});
  run_pass(clique.shape, plan_.task == JunctionTask::kMost ? Reduce::kMax : Reduce::kSum, scratch_,
           meter_);
  const double largest = scale_to_one(up, clique.separator.cells);
  if (!(largest > 0)) return false;
  log_scale_[c] += std::log(largest);
  (clique.parent == kNone ? log_evidence_ : log_scale_[clique.parent]) += log_scale_[c];
  return true;
}

// From the leaves to the roots. Where sums are all ones nothing is done, except at the root of a
// joint distribution, which is the answer.
bool JunctionRun::collect(const std::int32_t* codes, bool with_roots) {
  codes_ = codes;
  log_evidence_ = 0;
  log_scale_.assign(plan_.cliques.size(), 0.0);
  if (!weigh_observed()) return false;
  for (std::size_t c = plan_.cliques.size(); c-- > 0;) {
    const PlannedClique& clique = plan_.cliques[c];
    fold(c);
    const bool root = clique.parent == kNone;
    if (root && !with_roots) continue;
    if (clique.unit && !(root && clique.separator.cells > 1)) continue;
    if (!send_up(c)) return false;
  }
  return true;
}

double JunctionRun::evidence(const std::int32_t* codes) {
  return collect(codes, true) ? log_evidence_ : kImpossible;
}

double JunctionRun::joint(const std::int32_t* codes, double* out) {
  if (!collect(codes, true)) return kImpossible;
  out[0] = 1;
  if (plan_.cliques.empty() || plan_.cliques[0].separator.cells == 1) return log_evidence_;
  const std::size_t n = plan_.cliques[0].separator.cells;
  std::copy_n(arena_.data() + plan_.cliques[0].up, n, out);
  const double sum = sum_of(out, n);
  scale(out, n, sum);
  return log_evidence_ + std::log(sum);
}

double JunctionRun::marginals(const std::int32_t* codes, double* out) {
  if (!collect(codes, false)) return kImpossible;
  for (std::size_t c = 0; c < net_.n_columns(); ++c) {
    double* const probabilities = out + net_.values[c];
    std::fill_n(probabilities, net_.sizes[c], 0.0);
    if (codes[c] >= 0 || net_.sizes[c] == 1)
      probabilities[static_cast<std::size_t>(std::max(codes[c], 0))] = 1;
  }
  return distribute(Asked::kMarginals, 0, out) ? log_evidence_ : kImpossible;
}

double JunctionRun::families(const std::int32_t* codes, double weight, double* out) {
  if (!collect(codes, true)) return kImpossible;  // before anything is added
  const double log_evidence = log_evidence_;
  if (!distribute(Asked::kFamilies, weight, out)) return kImpossible;
  for (const PlannedFamily& family : plan_.observed_families)
    out[net_.starts[family.family] + observed_cell(family.observed)] += weight;
  return log_evidence;
}

// From the roots to the leaves: a pass over each clique for the separators of its children and for
// what is asked.
bool JunctionRun::distribute(Asked asked, double weight, double* out) {
  for (std::size_t c = 0; c < plan_.cliques.size(); ++c) {
    const PlannedClique& clique = plan_.cliques[c];
    const bool root = clique.parent == kNone;
    set_factors(clique, !root);
    set_targets(clique, asked, out);
    if (scratch_.targets.empty()) continue;
    run_pass(clique.shape, Reduce::kSum, scratch_, meter_);
    const TableTarget& any = scratch_.targets[0];
    const double sum = sum_of(any.data, any.walk->cells);
    if (!(sum > 0)) return false;
    if (root && !clique.unit) log_evidence_ += log_scale_[c] + std::log(sum);
    for (const TableTarget& target : scratch_.targets) scale(target.data, target.walk->cells, sum);
    if (asked == Asked::kFamilies) give_families(clique, weight, out);
    for (const auto& [child, walk] : clique.children) send_down(child, asked, out);
  }
  return true;
}

// Separators of children first, then marginals, which go straight to the answer, or families.
void JunctionRun::set_targets(const PlannedClique& clique, Asked asked, double* out) {
  for (const auto& [child, walk] : clique.children) {
    double* const down = arena_.data() + plan_.cliques[child].down;
    std::fill_n(down, walk.cells, 0.0);
    scratch_.targets.push_back({&walk, down});
  }
  if (asked == Asked::kMarginals) {
    for (const auto& [column, walk] : clique.marginals)
      scratch_.targets.push_back({&walk, out + net_.values[column]});
    return;
  }
  std::size_t n_cells = 0;
  for (const PlannedFamily& family : clique.families) n_cells += family.walk.cells;
  tables_.assign(n_cells, 0.0);
  double* at = tables_.data();
  for (const PlannedFamily& family : clique.families) {
    scratch_.targets.push_back({&family.walk, at});
    at += family.walk.cells;
  }
}

void JunctionRun::give_families(const PlannedClique& clique, double weight, double* out) {
  const double* from = tables_.data();
  for (const PlannedFamily& family : clique.families) {
    double* const to = out + net_.starts[family.family] + observed_cell(family.observed);
    unfold_table(family.sizes, family.steps, weight, to, from);
    from += family.walk.cells;
  }
}

// The separator's distribution is there: read off marginals, then take out what came from below.
void JunctionRun::send_down(std::size_t child, Asked asked, double* out) {
  const PlannedClique& clique = plan_.cliques[child];
  const double* const whole = arena_.data() + clique.down;
  if (asked == Asked::kMarginals)
    for (const SeparatorMarginal& marginal : plan_.separator_marginals[child]) {
      double* const to = out + net_.values[marginal.column];
      const double* from = whole;
      for (std::size_t i = 0; i < marginal.before; ++i)
        for (std::size_t k = 0; k < marginal.size; ++k, from += marginal.behind)
          to[k] += sum_of(from, marginal.behind);
    }
  double* const message = arena_.data() + clique.up;
  if (clique.unit)
    std::copy_n(whole, clique.separator.cells, message);
  else
    divide(whole, message, clique.separator.cells);
}

}  // namespace tacit
