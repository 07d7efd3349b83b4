#include "rule/boost_bounds.hpp"

#include <limits>

namespace tacit {
namespace {

constexpr ColumnBound kUnknown{std::numeric_limits<float>::infinity(), 0, 0, 0};
constexpr std::int64_t kMostBounds = std::int64_t{1} << 25;
constexpr double kRounding = 1 + 1e-6;  // floats round to 6e-8

float rounded_up(double x) { return static_cast<float>(x * kRounding); }

}  // namespace

void OutputBounds::forget() { std::fill_n(bounds_, n_columns_, kUnknown); }

void OutputBounds::start(const StatPair& all, const RuleColumns& columns,
                         const std::vector<std::int32_t>& column_sizes) {
  const double first = static_cast<double>(all.first), second = static_cast<double>(all.second);
  for (std::int64_t c = 0; c < n_columns_; ++c) {
    const double n = column_sizes[static_cast<std::size_t>(c)], g = n * first, h = n * second;
    bounds_[c] = {rounded_up(std::abs(g) / std::sqrt(h + l2_)), rounded_up(std::max(g, 0.0)),
                  rounded_up(std::max(-g, 0.0)), rounded_up(h)};
    if (columns.default_code[c] == kMissingCode) bounds_[c] = kUnknown;
  }
}

void OutputBounds::learn(std::int32_t column, const ColumnScan& scan) {
  const SideBounds sides = side_bounds(scan, {l1_, l2_, 1});
  bounds_[column] = {rounded_up(std::sqrt(sides.score)), rounded_up(sides.up),
                     rounded_up(sides.down), rounded_up(sides.hessian)};
}

// With h ≤ e^|s| times what it was, gradients on a side of Hessian h move by |s| e^|s| h at most.
void OutputBounds::widen_all(double step, double grid,
                             const std::vector<std::int32_t>& column_sizes) {
  const double far = std::abs(step), factor = std::exp(far), root = std::exp(far / 2);
  for (std::int64_t c = 0; c < n_columns_; ++c) {
    ColumnBound& bound = bounds_[c];
    const double rounding = grid * static_cast<double>(column_sizes[static_cast<std::size_t>(c)]);
    const double hessian = static_cast<double>(bound.hessian);
    const double move = far * factor * hessian + rounding;
    const double stored = static_cast<double>(bound.stored) * root * std::sqrt(1 + rounding / l2_) +
                          far * factor * root * std::sqrt(hessian) + rounding / std::sqrt(l2_);
    bound = {rounded_up(stored),
             rounded_up(static_cast<double>(bound.up) + (step > 0 ? move : rounding)),
             rounded_up(static_cast<double>(bound.down) + (step < 0 ? move : rounding)),
             rounded_up(hessian * factor + rounding)};
  }
}

// |g'| ≤ |g| + Δ and h' ≥ max(h − Δ', 0) give the bound of the new root of a score.
void BoundsWidener::apply(OutputBounds& bounds) {
  const double root = std::sqrt(bounds.l2_);
  for (const std::int32_t c : touched_) {
    Move& move = moves_[static_cast<std::size_t>(c)];
    ColumnBound& bound = bounds.bounds_[c];
    const double stored =
        static_cast<double>(bound.stored) * std::sqrt(1 + move.loss / bounds.l2_) +
        std::max(move.up, move.down) / root;
    bound = {rounded_up(stored), rounded_up(static_cast<double>(bound.up) + move.up),
             rounded_up(static_cast<double>(bound.down) + move.down),
             rounded_up(static_cast<double>(bound.hessian) + move.growth)};
    move = {};
  }
  touched_.clear();
}

ColumnBounds::ColumnBounds(std::int64_t n_outputs, std::int64_t n_columns, const NewtonScore& score)
    : n_columns_(n_columns), score_(score) {
  if (!(score.l2 > 1e-6) || n_outputs > kMostBounds / std::max<std::int64_t>(n_columns, 1)) return;
  bounds_.assign(static_cast<std::size_t>(n_outputs * n_columns), kUnknown);
}

OutputBounds ColumnBounds::copy(std::int64_t output) {
  const auto begin = bounds_.begin() + output * n_columns_;
  copy_.assign(begin, begin + n_columns_);
  return {copy_.data(), n_columns_, score_};
}

}  // namespace tacit
