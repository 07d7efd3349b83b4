// How good any condition of a column can be for an output, without looking at the column again.
//
// A rule changes the statistics of the records it covers. Columns that none of them has a stored
// value in have the same stored sides as before; the rest change by no more than what the covered
// records' gradients moved. So bounds are kept for each output and column, widened record by
// record, and a column is read again only if its bound reaches the best condition found elsewhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "rule/columns.hpp"
#include "rule/newton_score.hpp"
#include "rule/scan.hpp"

namespace tacit {

// Of one column, for one output.
struct ColumnBound {
  float stored;    // the root of any stored side's score
  float up, down;  // sums of gradients on any stored side, missing values with it, up and down
  float hessian;   // the sum of all stored values' Hessians
};

// The bounds of all columns for one output.
class OutputBounds {
 public:
  OutputBounds() = default;
  OutputBounds(ColumnBound* bounds, std::int64_t n_columns, const NewtonScore& score)
      : bounds_(bounds), n_columns_(n_columns), l1_(score.l1), l2_(score.l2) {}

  std::int64_t size() const { return n_columns_; }
  const ColumnBound* data() const { return bounds_; }

  // Nothing is known any more.
  void forget();
  // All records have the same statistics: nothing needs to be looked at. Columns whose default
  // value is missing stay unknown.
  void start(const StatPair& all, const RuleColumns& columns,
             const std::vector<std::int32_t>& column_sizes);
  // Notes what a column was found to hold.
  void learn(std::int32_t column, const ColumnScan& scan);

  // The highest score that a column's conditions may have, given the sums of all records.
  double most(std::int32_t column, const StatSums& totals) const {
    const ColumnBound& bound = bounds_[column];
    const double stored = static_cast<double>(bound.stored) * static_cast<double>(bound.stored);
    const double g = std::max(std::max(totals.first + static_cast<double>(bound.down),
                                       static_cast<double>(bound.up) - totals.first) -
                                  l1_,
                              0.0);
    const double h = std::max(totals.second - static_cast<double>(bound.hessian), 0.0) + l2_;
    return std::max(stored, g * g * kSlack / h);
  }

  // Every record's score moved by `step`, of a loss whose second derivative changes by a factor of
  // e^|step| at most; statistics are rounded to multiples of `grid`.
  void widen_all(double step, double grid, const std::vector<std::int32_t>& column_sizes);

 private:
  friend class BoundsWidener;
  static constexpr double kSlack = 1 + 1e-5;  // bounds are rounded to floats
  ColumnBound* bounds_ = nullptr;
  std::int64_t n_columns_ = 0;
  double l1_ = 0, l2_ = 1;
};

// Widens bounds by what changed in some records' statistics.
class BoundsWidener {
 public:
  // change(k) is that of records[k], its units included.
  template <class Change>
  void widen(OutputBounds& bounds, const std::vector<std::int32_t>& records, const RuleRows& rows,
             const Change& change) {
    moves_.resize(static_cast<std::size_t>(bounds.size()));
    for (std::size_t k = 0; k < records.size(); ++k) {
      const auto r = static_cast<std::size_t>(records[k]);
      const StatSums delta = change(k);
      const Move move{std::max(delta.first, 0.0), std::max(-delta.first, 0.0),
                      std::max(delta.second, 0.0), std::max(-delta.second, 0.0), true};
      for (std::int64_t i = rows.start[r]; i < rows.start[r + 1]; ++i)
        add(rows.columns[static_cast<std::size_t>(i)], move);
    }
    apply(bounds);
  }

 private:
  struct Move {
    double up = 0, down = 0, growth = 0, loss = 0;
    bool touched = false;
  };
  void add(std::int32_t column, const Move& move) {
    Move& total = moves_[static_cast<std::size_t>(column)];
    if (!total.touched) touched_.push_back(column);
    total = {total.up + move.up, total.down + move.down, total.growth + move.growth,
             total.loss + move.loss, true};
  }
  void apply(OutputBounds& bounds);

  std::vector<Move> moves_;
  std::vector<std::int32_t> touched_;
};

// The bounds of all outputs.
class ColumnBounds {
 public:
  ColumnBounds(std::int64_t n_outputs, std::int64_t n_columns, const NewtonScore& score);

  // Whether bounds are kept at all: not if nothing keeps Hessians off 0, nor if they were too many.
  bool kept() const { return !bounds_.empty(); }
  OutputBounds of(std::int64_t output) {
    return {bounds_.data() + output * n_columns_, n_columns_, score_};
  }
  // A copy of an output's bounds, for one rule.
  OutputBounds copy(std::int64_t output);

 private:
  std::int64_t n_columns_;
  NewtonScore score_;
  std::vector<ColumnBound> bounds_, copy_;
};

}  // namespace tacit
