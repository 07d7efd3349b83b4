#include "engine/axes.hpp"

#include <algorithm>

namespace tacit {

std::vector<Axis> list_axes(const ColumnStore& store, const Question& question) {
  std::vector<Axis> axes;
  axes.reserve(question.columns.size() + question.given.size());
  std::int64_t stride = 1;
  for (std::size_t k = question.columns.size(); k-- > 0;) {
    const std::int64_t c = question.columns[k];
    axes.push_back({c, store.arity(c), nullptr, true, stride});
    stride *= store.arity(c);
  }
  for (const Condition& condition : question.given) {
    const auto same = std::find_if(axes.begin(), axes.end(), [&](const Axis& axis) {
      return axis.column == condition.column;
    });
    if (same != axes.end())
      same->given = &condition.codes;
    else
      axes.push_back({condition.column, store.arity(condition.column), &condition.codes, false, 0});
  }
  return axes;
}

void set_blocks(std::vector<Axis>& axes) {
  std::int64_t block = 1;
  for (std::size_t k = axes.size(); k-- > 0;) {
    axes[k].block = block;
    if (axes[k].asked) block *= axes[k].arity;
  }
}

template <class Count>
void write_cells(const Tally<Count>& tally, const std::vector<Axis>& axes, const Count* cells,
                 Result out) {
  std::vector<Axis> asked;
  for (const Axis& axis : axes)
    if (axis.asked) asked.push_back(axis);
  if (asked.empty()) {
    tally.write(cells[0], out, 0);
    return;
  }
  const Axis last = asked.back();
  asked.pop_back();
  std::vector<std::int64_t> codes(asked.size());
  std::int64_t at = 0;
  for (const Count* from = cells;; from += last.arity) {
    for (std::int64_t c = 0; c < last.arity; ++c) tally.write(from[c], out, at + c * last.stride);
    std::size_t k = asked.size();
    for (; k > 0; --k) {  // the next combination of the other axes
      const Axis& axis = asked[k - 1];
      at += axis.stride;
      if (++codes[k - 1] < axis.arity) break;
      codes[k - 1] = 0;
      at -= axis.stride * axis.arity;
    }
    if (k == 0) return;
  }
}

template void write_cells(const Tally<std::int32_t>&, const std::vector<Axis>&, const std::int32_t*,
                          Result);
template void write_cells(const Tally<Int128>&, const std::vector<Axis>&, const Int128*, Result);

}  // namespace tacit
