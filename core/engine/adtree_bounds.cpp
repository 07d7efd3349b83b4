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
    Cells cells(axis.block * (axis.asked ? axis.arity : 1));
    if (tree_.is_leaf(node, depth)) {
      count_leaf(node, k, cells);
      return cells;
    }
    const Vary vary = vary_of(node, axis);
    for (std::int64_t code = 0; code < axis.arity; ++code)
      if ((axis.code < 0 || axis.code == code) && code != vary.common)
        put(cells, axis, code, value(vary, depth, k, code));
    if (axis.code < 0 || axis.code == vary.common)
      put(cells, axis, vary.common, common_value(node, vary, depth, k));
    return cells;
  }

 private:
  static void put(Cells& cells, const Axis& axis, std::int64_t code, const Cells& part) {
    const auto at = static_cast<std::ptrdiff_t>(axis.asked ? code * axis.block : 0);
    std::copy(part.estimate.begin(), part.estimate.end(), cells.estimate.begin() + at);
    std::copy(part.lower.begin(), part.lower.end(), cells.lower.begin() + at);
    std::copy(part.upper.begin(), part.upper.end(), cells.upper.begin() + at);
  }

  // The table of a value that is not the most common one.
  Cells value(const Vary& vary, std::int64_t depth, std::size_t k, std::int64_t code) {
    for (std::uint32_t child = vary.first; child < vary.first + vary.children; ++child)
      if (tree_.nodes_[child].code == code) return table(child, depth + 1, k + 1);
    Cells unknown(axes_[k].block);
    const std::int64_t most = std::min<std::int64_t>(tree_.options_.min_count - 1, vary.dropped);
    std::fill(unknown.upper.begin(), unknown.upper.end(), most);
    return unknown;
  }

  Cells common_value(std::uint32_t node, const Vary& vary, std::int64_t depth, std::size_t k) {
    Cells rest = table(node, depth, k + 1);
    std::int64_t records = tree_.nodes_[node].records - vary.dropped;
    for (std::uint32_t child = vary.first; child < vary.first + vary.children; ++child) {
      const Cells part = table(child, depth + 1, k + 1);
      records -= tree_.nodes_[child].records;
      for (std::size_t x = 0; x < rest.lower.size(); ++x) {
        rest.estimate[x] -= part.estimate[x];
        rest.lower[x] -= part.upper[x];
        rest.upper[x] -= part.lower[x];
      }
    }
    for (std::size_t x = 0; x < rest.lower.size(); ++x) {
      rest.lower[x] = std::max<std::int64_t>(0, rest.lower[x] - vary.dropped);
      rest.upper[x] = std::clamp<std::int64_t>(rest.upper[x], rest.lower[x], records);
      rest.estimate[x] = std::clamp(rest.estimate[x], rest.lower[x], rest.upper[x]);
    }
    return rest;
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
      if (axis.code >= 0)
        some = {kept.data(),
                keep_code(tree_.store().column(axis.column), some, axis.code, kept.data())};
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
