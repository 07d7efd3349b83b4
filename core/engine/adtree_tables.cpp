// Contingency tables out of an ADtree: the paper's MakeContab, dense, sparse and with bounds.
#include <algorithm>
#include <atomic>

#include "engine/adtree.hpp"

namespace tacit {

constexpr std::int64_t kWriting = 16;

// Goes through one tree for one question. `grow` says whether it may change the tree.
template <class Count>
class TableWalk {
 public:
  TableWalk(Tree& tree, const Tally<Count>& tally, const std::vector<Axis>& axes, bool grow,
            std::uint32_t now, Poller& poller)
      : tree_(tree),
        tally_(tally),
        axes_(axes),
        grow_(grow),
        now_(now),
        poller_(poller),
        spare_(axes.size()) {}

  // Writes the block of axes k, k + 1, … for the records of a node.
  void fill(std::uint32_t node, std::int64_t depth, std::size_t k, Count* out) {
    if (k == axes_.size()) {
      *out = count(node);
      return;
    }
    const Axis& axis = axes_[k];
    if (counts_records(node, depth, k)) {
      std::fill_n(out, axis.cells(), Count{0});
      const Some some = remaining(node, k);
      columns_.clear();
      strides_.clear();
      for (std::size_t later = k; later < axes_.size(); ++later) {
        if (!axes_[later].asked) continue;
        columns_.push_back(axes_[later].column);
        strides_.push_back(axes_[later].block);
      }
      tally_records(tree_.store(), some, tally_, columns_, strides_, out);
      return;
    }
    const Vary vary = vary_of(node, axis);
    if (axis.given && axis.asked)
      fill_some(node, depth, k, vary, out);
    else if (axis.given)
      fill_given(node, depth, k, vary, out);
    else if (k + 1 == axes_.size())
      fill_last(node, vary, axis, out);
    else
      fill_all(node, depth, k, vary, out);
  }

  // Appends the non-zero cells of axes k, k + 1, …, numbered in the order asked for.
  void list(std::uint32_t node, std::int64_t depth, std::size_t k,
            std::vector<Entry<Count>>& entries) {
    if (k == axes_.size()) {
      if (const Count n = count(node); n != 0) entries.push_back({0, n});
      return;
    }
    const Axis& axis = axes_[k];
    if (lists_records(node, depth, k)) {
      const Some some = remaining(node, k);
      std::vector<std::int64_t> columns, strides;
      for (std::size_t later = k; later < axes_.size(); ++later) {
        if (!axes_[later].asked) continue;
        columns.push_back(axes_[later].column);
        strides.push_back(axes_[later].stride);
      }
      std::vector<Entry<Count>> tallied;
      tally_records(tree_.store(), some, tally_, columns, strides, tallied);
      combine(tallied);
      entries.insert(entries.end(), tallied.begin(), tallied.end());
      return;
    }
    const Vary vary = vary_of(node, axis);
    const auto step = [&](std::uint32_t code) {
      return axis.asked ? static_cast<std::int64_t>(code) * axis.stride : 0;
    };
    // The table of the most common value: that of all, minus those of the others. Values that are
    // wanted and not told apart stay in it.
    const bool rest_wanted = axis.wants(vary.common);
    std::vector<Entry<Count>> rest;
    if (rest_wanted) list(node, depth, k + 1, rest);
    for (std::uint32_t child = vary.first; child < vary.first + vary.children; ++child) {
      const std::uint32_t code = tree_.nodes_[child].code;
      const bool wanted = axis.wants(code);
      if (axis.asked ? !wanted && !rest_wanted : wanted == rest_wanted) continue;
      std::vector<Entry<Count>> part;
      list(child, depth + 1, k + 1, part);
      if (wanted)
        for (const auto& entry : part) entries.push_back({entry.cell + step(code), entry.count});
      if (rest_wanted)
        for (const auto& entry : part) rest.push_back({entry.cell, -entry.count});
    }
    if (!rest_wanted) return;
    combine(rest);
    for (const auto& entry : rest) entries.push_back({entry.cell + step(vary.common), entry.count});
  }

 private:
  Count count(std::uint32_t node) const {
    if constexpr (sizeof(Count) == sizeof(Int128))
      return tree_.sums_[node];
    else
      return static_cast<Count>(tree_.nodes_[node].records);
  }

  // Whether to count a node's records one by one: at a leaf, and where they are listed and many
  // times fewer than the cells, which take writing and subtracting.
  bool counts_records(std::uint32_t node, std::int64_t depth, std::size_t k) const {
    if (tree_.is_leaf(node, depth)) return true;
    if (k + 1 == axes_.size() || node == 0 || !tree_.has_list(node)) return false;
    const Axis& axis = axes_[k];
    return kWriting * tree_.nodes_[node].records < axis.cells();
  }

  // The same for the sparse form, whose work can double with every axis.
  bool lists_records(std::uint32_t node, std::int64_t depth, std::size_t k) const {
    const std::size_t left = std::min<std::size_t>(axes_.size() - k, 30);
    return tree_.is_leaf(node, depth) || tree_.nodes_[node].records <= INT64_C(4) << left;
  }

  // The records of a node that meet the conditions among axes k, k + 1, …
  Some remaining(std::uint32_t node, std::size_t k) {
    if (!tree_.has_list(node)) {
      if (!grow_) throw Tree::Missing();
      tree_.ensure_list(node);
    }
    Some some = tree_.some_of(node);
    for (; k < axes_.size(); ++k) {
      if (!axes_[k].given) continue;
      kept_.resize(std::max(kept_.size(), static_cast<std::size_t>(some.n)));
      const Column& column = tree_.store().column(axes_[k].column);
      some = {kept_.data(), keep_codes(column, some, *axes_[k].given, kept_.data())};
    }
    return some;
  }

  Vary vary_of(std::uint32_t node, const Axis& axis) {
    const auto position =
        static_cast<std::uint32_t>(tree_.position_[static_cast<std::size_t>(axis.column)]);
    return tree_.varies_[tree_.reach(node, position, grow_, now_, poller_)];
  }

  void fill_last(std::uint32_t node, const Vary& vary, const Axis& axis, Count* out) const {
    std::fill_n(out, axis.arity, Count{0});
    Count rest = count(node);
    for (std::uint32_t child = vary.first; child < vary.first + vary.children; ++child) {
      const Count n = count(child);
      out[tree_.nodes_[child].code] = n;
      rest -= n;
    }
    out[vary.common] = rest;
  }

  void fill_all(std::uint32_t node, std::int64_t depth, std::size_t k, const Vary& vary,
                Count* out) {
    const Axis& axis = axes_[k];
    Count* rest = out + vary.common * axis.block;
    fill(node, depth, k + 1, rest);
    std::int64_t next = 0;  // the first code not yet written
    const auto nothing_until = [&](std::int64_t code) {
      for (; next < code; ++next)
        if (next != vary.common) std::fill_n(out + next * axis.block, axis.block, Count{0});
      ++next;
    };
    for (std::uint32_t child = vary.first; child < vary.first + vary.children; ++child) {
      const std::uint32_t code = tree_.nodes_[child].code;
      nothing_until(code);
      Count* part = out + code * axis.block;
      fill(child, depth + 1, k + 1, part);
      for (std::int64_t x = 0; x < axis.block; ++x) rest[x] -= part[x];
    }
    nothing_until(axis.arity);
  }

  // Only some codes of an axis that is asked for.
  void fill_some(std::uint32_t node, std::int64_t depth, std::size_t k, const Vary& vary,
                 Count* out) {
    const Axis& axis = axes_[k];
    std::fill_n(out, axis.cells(), Count{0});
    const bool rest_wanted = axis.given->has(vary.common);
    Count* rest = out + vary.common * axis.block;
    if (rest_wanted) fill(node, depth, k + 1, rest);
    for (std::uint32_t child = vary.first; child < vary.first + vary.children; ++child) {
      const std::uint32_t code = tree_.nodes_[child].code;
      const bool wanted = axis.given->has(code);
      if (!wanted && !rest_wanted) continue;
      Count* part = wanted ? out + code * axis.block : spare(k);
      fill(child, depth + 1, k + 1, part);
      if (!rest_wanted) continue;
      for (std::int64_t x = 0; x < axis.block; ++x) rest[x] -= part[x];
    }
  }

  // The sum over the codes of a condition: of its children or, where the most common value is among
  // them, what the others leave of all.
  void fill_given(std::uint32_t node, std::int64_t depth, std::size_t k, const Vary& vary,
                  Count* out) {
    const Axis& axis = axes_[k];
    const bool rest_wanted = axis.given->has(vary.common);
    bool written = rest_wanted;
    if (rest_wanted) fill(node, depth, k + 1, out);
    for (std::uint32_t child = vary.first; child < vary.first + vary.children; ++child) {
      if (axis.given->has(tree_.nodes_[child].code) == rest_wanted) continue;
      Count* part = written ? spare(k) : out;
      fill(child, depth + 1, k + 1, part);
      if (rest_wanted)
        for (std::int64_t x = 0; x < axis.block; ++x) out[x] -= part[x];
      else if (written)
        for (std::int64_t x = 0; x < axis.block; ++x) out[x] += part[x];
      if (!rest_wanted && axis.given->is_one()) return;
      written = true;
    }
    if (!written) std::fill_n(out, axis.block, Count{0});
  }

  // Room for one table of the axes behind k.
  Count* spare(std::size_t k) {
    spare_[k].resize(static_cast<std::size_t>(axes_[k].block));
    return spare_[k].data();
  }

  Tree& tree_;
  const Tally<Count>& tally_;
  const std::vector<Axis>& axes_;
  bool grow_;
  std::uint32_t now_;
  Poller& poller_;
  std::vector<std::vector<Count>> spare_;  // one table for each axis that is given
  std::vector<std::int32_t> kept_;
  std::vector<std::int64_t> columns_, strides_;
};

std::vector<Axis> Tree::tree_axes(const Question& question) const {
  return order_axes(*store_, question, [&](std::int64_t a, std::int64_t b) {
    return position_[static_cast<std::size_t>(a)] < position_[static_cast<std::size_t>(b)];
  });
}

// The Vary of a node, made if it must be and may be.
std::uint32_t Tree::reach(std::uint32_t node, std::uint32_t position, bool grow, std::uint32_t now,
                          Poller& poller) {
  std::uint32_t vary = slot_of(node, position);
  if (vary == kNone) {
    if (!grow) throw Missing();
    poller.check();
    ensure_list(node);
    vary = expand(node, position, some_of(node));
  } else if (unread_) {
    unread_->need_vary(*store_, order_, node, position, vary);
  }
  std::atomic_ref(stamps_[vary]).store(now, std::memory_order_relaxed);
  return vary;
}

void Tree::dense(const Question& question, Result out, Poll poll) {
  const std::vector<Axis> axes = tree_axes(question);
  Poller poller(poll);
  with_tally(*store_, [&](const auto& tally) {
    using Count = decltype(tally.of(0));
    std::vector<Count> cells(static_cast<std::size_t>(count_cells(*store_, question.columns)));
    answer(axes, [&](bool grow, std::uint32_t now) {
      TableWalk<Count>(*this, tally, axes, grow, now, poller).fill(0, 0, 0, cells.data());
    });
    write_cells(tally, axes, cells.data(), out);
  });
}

SparseCells Tree::sparse(const Question& question, Poll poll) {
  const std::vector<Axis> axes = tree_axes(question);
  Poller poller(poll);
  return with_tally(*store_, [&](const auto& tally) {
    using Count = decltype(tally.of(0));
    std::vector<Entry<Count>> entries;
    answer(axes, [&](bool grow, std::uint32_t now) {
      entries.clear();
      TableWalk<Count>(*this, tally, axes, grow, now, poller).list(0, 0, 0, entries);
    });
    return to_cells(tally, entries);
  });
}

}  // namespace tacit
