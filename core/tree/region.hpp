// Which part of the joint space of all columns' codes leads to a leaf. Under BDeu that is the
// fraction of the prior's weight that the leaf has, whichever splits led to it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tree/columns.hpp"

namespace tacit {

// One way to a leaf: a product of sets of codes, one set for each column.
struct LeafWay {
  double fraction = 1.0;   // of the joint space
  std::int32_t last = -1;  // the last condition on it; -1 at the root
};

// A leaf of a tree has one way; merged leaves have those of all that they are made of. Ways that no
// record can go are left out.
using LeafRegion = std::vector<LeafWay>;

// What a record has to hold on a way, or must not.
struct WayCondition {
  std::int32_t before;  // the condition before this one, or -1
  std::int32_t column, low, high;
  bool inside;
};

// The conditions on the ways to all leaves of a tree.
class WayConditions {
 public:
  explicit WayConditions(const TreeColumns& columns) : columns_(columns) {}

  // No leaf has less, whether or not a way leads to it: the logarithm of its prior is finite.
  static constexpr double kLeastFraction = 1e-150;
  static double fraction(const LeafRegion& region) {
    double sum = 0.0;
    for (const LeafWay& way : region) sum += way.fraction;
    return std::max(sum, kLeastFraction);
  }

  std::int32_t add(const WayCondition& condition) {
    all_.push_back(condition);
    return static_cast<std::int32_t>(all_.size() - 1);
  }

  // The regions of a split's children, in their order. O(ways · (depth + arity)).
  std::vector<LeafRegion> split(const LeafRegion& region, const TreeSplit& split) {
    const std::int64_t n_inside = split.complete ? split.high - split.low : 1;
    std::vector<LeafRegion> children(static_cast<std::size_t>(n_inside + 1));
    std::vector<std::uint8_t> possible;
    for (const LeafWay& way : region) {
      possible.assign(static_cast<std::size_t>(columns_.arity(split.column)), 1);
      for (std::int32_t i = way.last; i >= 0; i = at(i).before)
        if (at(i).column == split.column) exclude(columns_, at(i), possible);
      const std::int64_t n = count(possible);
      std::int64_t rest = n;
      const auto enter = [&](std::size_t child, std::int32_t low, std::int32_t high, bool inside,
                             std::int64_t n_codes) {
        if (n_codes == 0) return;
        const double part = static_cast<double>(n_codes) / static_cast<double>(n);
        std::int32_t last = way.last;
        if (split.also < 0) {
          last = add({last, split.column, low, high, inside});
        } else if (inside) {  // any id of the column but those between
          const auto end = static_cast<std::int32_t>(columns_.offsets[split.column + 1]);
          last = add({last, split.column, low, end, true});
          last = add({last, split.column, high, split.also, false});
        } else {
          last = add({last, split.column, low, high, false});
          last = add({last, split.column, split.also, split.also + 1, false});
        }
        children[child].push_back({std::max(way.fraction * part, kLeastFraction), last});
      };
      for (std::int64_t k = 0; k < n_inside; ++k) {
        const auto low = static_cast<std::int32_t>(split.low + k);
        const std::int32_t high = split.complete ? low + 1 : split.high;
        std::int64_t held = 0;
        for (std::int32_t id = low; id < high; ++id)
          held += possible[static_cast<std::size_t>(columns_.code(split.column, id))];
        if (split.also >= 0)
          held += possible[static_cast<std::size_t>(columns_.code(split.column, split.also))];
        enter(static_cast<std::size_t>(k), low, high, true, held);
        rest -= held;
      }
      enter(static_cast<std::size_t>(n_inside), split.low, split.high, false, rest);
    }
    return children;
  }

  const WayCondition& at(std::int32_t i) const { return all_[static_cast<std::size_t>(i)]; }

  // Takes the codes away that a condition on their column excludes.
  static void exclude(const TreeColumns& columns, const WayCondition& condition,
                      std::vector<std::uint8_t>& possible) {
    const auto flag = [&](std::int32_t id) -> std::uint8_t& {
      return possible[static_cast<std::size_t>(columns.code(condition.column, id))];
    };
    if (!condition.inside) {
      for (std::int32_t id = condition.low; id < condition.high; ++id) flag(id) = 0;
      return;
    }
    possible[static_cast<std::size_t>(columns.defaults[condition.column])] = 0;
    const auto first = static_cast<std::int32_t>(columns.offsets[condition.column]);
    const auto last = static_cast<std::int32_t>(columns.offsets[condition.column + 1]);
    for (std::int32_t id = first; id < condition.low; ++id) flag(id) = 0;
    for (std::int32_t id = condition.high; id < last; ++id) flag(id) = 0;
  }
  static std::int64_t count(const std::vector<std::uint8_t>& possible) {
    return std::count(possible.begin(), possible.end(), 1);
  }

 private:
  const TreeColumns& columns_;
  std::vector<WayCondition> all_;
};

// The fractions of one column's codes in the region of a leaf.
struct CodeFractions {
  std::int64_t arity = 1;
  bool uniform = true;  // nothing has been asked about the column
  std::vector<double> each, cumulated;

  double of(std::int64_t code) const {
    return uniform ? 1.0 / static_cast<double>(arity) : each[static_cast<std::size_t>(code)];
  }
  double up_to(std::int64_t code) const {
    return uniform ? static_cast<double>(code + 1) / static_cast<double>(arity)
                   : cumulated[static_cast<std::size_t>(code)];
  }
};

// A leaf's region, column by column.
class RegionColumns {
 public:
  explicit RegionColumns(const TreeColumns& columns) : columns_(columns) {}

  // Sorts the conditions on all ways to a leaf by column.
  void read(const WayConditions& conditions, const LeafRegion& region) {
    asked_.clear();
    fractions_.clear();
    double whole = 0.0;
    for (const LeafWay& way : region) whole += way.fraction;
    for (std::size_t w = 0; w < region.size(); ++w) {
      fractions_.push_back(region[w].fraction / whole);
      for (std::int32_t i = region[w].last; i >= 0; i = conditions.at(i).before)
        asked_.push_back({conditions.at(i), w});
    }
    std::sort(asked_.begin(), asked_.end(), [](const Asked& a, const Asked& b) {
      return std::pair(a.condition.column, a.way) < std::pair(b.condition.column, b.way);
    });
  }

  // O(arity · ways) for a column that has been asked about, else O(1).
  const CodeFractions& of(std::int32_t column) {
    const auto before = [](const Asked& asked, std::int32_t c) {
      return asked.condition.column < c;
    };
    auto asked = std::lower_bound(asked_.begin(), asked_.end(), column, before);
    const auto is_asked = [&] {
      return asked != asked_.end() && asked->condition.column == column;
    };
    found_.arity = columns_.arity(column);
    found_.uniform = !is_asked();
    if (found_.uniform) return found_;
    const auto arity = static_cast<std::size_t>(found_.arity);
    found_.each.assign(arity, 0.0);
    found_.cumulated.assign(arity, 0.0);
    for (std::size_t w = 0; w < fractions_.size(); ++w) {
      possible_.assign(arity, 1);
      for (; is_asked() && asked->way == w; ++asked)
        WayConditions::exclude(columns_, asked->condition, possible_);
      const auto n = static_cast<double>(WayConditions::count(possible_));
      double codes = 0.0;
      for (std::size_t code = 0; code < arity; ++code) {
        codes += possible_[code];
        found_.each[code] += fractions_[w] * possible_[code] / n;
        found_.cumulated[code] += fractions_[w] * codes / n;
      }
    }
    return found_;
  }

 private:
  struct Asked {
    WayCondition condition;
    std::size_t way;
  };

  const TreeColumns& columns_;
  std::vector<Asked> asked_;
  std::vector<double> fractions_;  // of each way
  std::vector<std::uint8_t> possible_;
  CodeFractions found_;
};

}  // namespace tacit
