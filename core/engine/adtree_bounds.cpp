// Tables of a tree that keeps no small counts: every cell as an estimate between two bounds.
#include <algorithm>

#include "engine/adtree.hpp"

namespace tacit {

// Three tables at once. A value that has no child at a node where something was dropped holds
// between 0 and min_count - 1 of its records; the most common value's bounds follow from those of
// the others, the estimate takes what was dropped for nothing.
class BoundWalk {
 public:
  struct Cells {
    std::vector<std::int64_t> estimate, lower, upper;
    explicit Cells(std::int64_t n)
        : estimate(static_cast<std::size_t>(n)), lower(estimate), upper(estimate) {}
  };

  BoundWalk(Tree& tree, const std::vector<Axis>& axes, bool grow, std::uint32_t now, Poller& poller)
      : tree_(tree), axes_(axes), grow_(grow), now_(now), poller_(poller) {}

  Cells table(std::uint32_t node, std::int64_t depth, std::size_t k) {
    if (k == axes_.size()) {
      Cells one(1);
      one.estimate[0] = one.lower[0] = one.upper[0] = tree_.nodes_[node].records;
      return one;
    }
    const Axis& axis = axes_[k];
    Cells cells(axis.cells());
    if (tree_.is_leaf(node, depth)) {
      count_leaf(node, k, cells);
      return cells;
    }
    const Vary vary = vary_of(node, axis);
    if (!axis.asked) return sum(node, vary, depth, k, *axis.given);
    for (std::int64_t code = 0; code < axis.arity; ++code) {
      if (!axis.wants(code)) continue;
      CodeSet one;
      one.add(code, code);
      put(cells, axis, code, sum(node, vary, depth, k, one));
    }
    return cells;
  }

 private:
  static void put(Cells& cells, const Axis& axis, std::int64_t code, const Cells& part) {
    const auto at = static_cast<std::ptrdiff_t>(code * axis.block);
    std::copy(part.estimate.begin(), part.estimate.end(), cells.estimate.begin() + at);
    std::copy(part.lower.begin(), part.lower.end(), cells.lower.begin() + at);
    std::copy(part.upper.begin(), part.upper.end(), cells.upper.begin() + at);
  }

  // The table of some values of axis k together: those of its children and of what was dropped or,
  // where the most common value is among them, what the others leave of all.
  Cells sum(std::uint32_t node, const Vary& vary, std::int64_t depth, std::size_t k,
            const CodeSet& codes) {
    const bool rest = codes.has(vary.common);
    Cells total = rest ? table(node, depth, k + 1) : Cells(axes_[k].block);
    std::int64_t records = tree_.nodes_[node].records, unknown = 0, wanted_unknown = 0;
    std::uint32_t child = vary.first;
    for (std::int64_t code = 0; code < axes_[k].arity; ++code) {
      const bool wanted = codes.has(code);
      if (child < vary.first + vary.children && tree_.nodes_[child].code == code) {
        if (wanted != rest) add(total, table(child, depth + 1, k + 1), rest);
        if (!wanted) records -= tree_.nodes_[child].records;
        ++child;
      } else if (code != vary.common) {
        ++(wanted ? wanted_unknown : unknown);
      }
    }
    // Of what was dropped, this much at most is in cells of values that are (not) wanted.
    const std::int64_t dropped = vary.dropped;
    const std::int64_t most = std::min<std::int64_t>(tree_.options_.min_count - 1, dropped);
    const std::int64_t others = std::min(unknown * most, dropped);
    const std::int64_t own = std::min(wanted_unknown * most, dropped);
    if (!rest) {
      for (std::int64_t& x : total.upper) x += own;
      return total;
    }
    records -= dropped - own;
    for (std::size_t x = 0; x < total.lower.size(); ++x) {
      total.lower[x] = std::max<std::int64_t>(0, total.lower[x] - others);
      total.upper[x] = std::clamp<std::int64_t>(total.upper[x], total.lower[x], records);
      total.estimate[x] = std::clamp(total.estimate[x], total.lower[x], total.upper[x]);
    }
    return total;
  }

  static void add(Cells& total, const Cells& part, bool subtract) {
    for (std::size_t x = 0; x < total.lower.size(); ++x) {
      total.estimate[x] += subtract ? -part.estimate[x] : part.estimate[x];
      total.lower[x] += subtract ? -part.upper[x] : part.lower[x];
      total.upper[x] += subtract ? -part.lower[x] : part.upper[x];
    }
  }

  void count_leaf(std::uint32_t node, std::size_t k, Cells& cells) {
    if (!tree_.has_list(node)) {
      if (!grow_) throw Tree::Missing();
      tree_.ensure_list(node);
    }
    Some some = tree_.some_of(node);
    std::vector<std::int32_t> kept(static_cast<std::size_t>(some.n));
    std::vector<std::int64_t> columns, strides;
    for (std::size_t later = k; later < axes_.size(); ++later) {
      const Axis& axis = axes_[later];
      if (axis.given)
        some = {kept.data(),
                keep_codes(tree_.store().column(axis.column), some, *axis.given, kept.data())};
      if (axis.asked) columns.push_back(axis.column), strides.push_back(axis.block);
    }
    std::vector<std::int32_t> counts(cells.estimate.size());
    tally_records(tree_.store(), some, Tally<std::int32_t>{tree_.store().weights()}, columns,
                  strides, counts.data());
    cells.estimate.assign(counts.begin(), counts.end());
    cells.lower = cells.upper = cells.estimate;
  }

  Vary vary_of(std::uint32_t node, const Axis& axis) {
    const auto position =
        static_cast<std::uint32_t>(tree_.position_[static_cast<std::size_t>(axis.column)]);
    return tree_.varies_[tree_.reach(node, position, grow_, now_, poller_)];
  }

  Tree& tree_;
  const std::vector<Axis>& axes_;
  bool grow_;
  std::uint32_t now_;
  Poller& poller_;
};

void Tree::bounded(const Question& question, Result estimate, Result lower, Result upper,
                   Poll poll) {
  const std::vector<Axis> axes = tree_axes(question);
  Poller poller(poll);
  answer(axes, [&](bool grow, std::uint32_t now) {
    const BoundWalk::Cells cells = BoundWalk(*this, axes, grow, now, poller).table(0, 0, 0);
    const auto write = [&](const std::vector<std::int64_t>& from, Result out) {
      const std::vector<std::int32_t> counts(from.begin(), from.end());
      write_cells(Tally<std::int32_t>{store_->weights()}, axes, counts.data(), out);
    };
    write(cells.estimate, estimate);
    write(cells.lower, lower);
    write(cells.upper, upper);
  });
}

}  // namespace tacit
