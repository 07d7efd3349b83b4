// Tables are worked out in the order that suits an engine and handed over in the order asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/engine.hpp"

namespace tacit {

// One column of a question as an engine goes through them.
struct Axis {
  std::int64_t column, arity;
  const CodeSet* given;    // the question's, which outlives the axis; null where all codes count
  bool asked;              // whether it is a column of the table, and not a condition only
  std::int64_t stride;     // in the order asked for; 0 if it is not asked for
  std::int64_t block = 0;  // cells of the axes behind it, in the engine's order

  bool wants(std::int64_t code) const { return !given || given->has(code); }
  std::int64_t cells() const { return asked ? block * arity : block; }
};

// The axes of a question, sorted by less(column, column). Sets the blocks.
template <class Less>
std::vector<Axis> order_axes(const ColumnStore& store, const Question& question, const Less& less);

// Writes cells that are in the axes' order to `out`, in the order asked for.
template <class Count>
void write_cells(const Tally<Count>& tally, const std::vector<Axis>& axes, const Count* cells,
                 Result out);

std::vector<Axis> list_axes(const ColumnStore& store, const Question& question);
void set_blocks(std::vector<Axis>& axes);

template <class Less>
std::vector<Axis> order_axes(const ColumnStore& store, const Question& question, const Less& less) {
  std::vector<Axis> axes = list_axes(store, question);
  // A handful of axes: insertion keeps this cheap, and equal columns do not occur.
  for (std::size_t i = 1; i < axes.size(); ++i)
    for (std::size_t j = i; j > 0 && less(axes[j].column, axes[j - 1].column); --j)
      std::swap(axes[j], axes[j - 1]);
  set_blocks(axes);
  return axes;
}

}  // namespace tacit
