// What splitting needs to know of a table's columns; the same for all trees of a forest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tree/tree.hpp"

namespace tacit {

// A split of a leaf: which records go inside, and what that gains. Beside the range they may hold
// one more id, unless it is -1: that of missing values, where the range has all lower codes.
struct TreeSplit {
  double gain = 0.0;
  std::int32_t column = -1, low = 0, high = 0, left = -1, right = -1, also = -1;
  bool complete = false;
};

struct TreeColumns {
  std::vector<std::int32_t> column_of;  // by value id
  std::vector<std::uint8_t> ordered;
  const std::int64_t* offsets;
  const std::int64_t* defaults;
  std::int64_t n_values;
  bool all_binary = true;  // no column has more than two codes

  template <class V>
  explicit TreeColumns(const TreeTable<V>& table)
      : TreeColumns(table.offsets, table.defaults, table.ordered, table.n_columns) {}

  TreeColumns(const std::int64_t* first_ids, const std::int64_t* default_codes,
              const std::uint8_t* is_ordered, std::int64_t n_columns)
      : column_of(static_cast<std::size_t>(first_ids[n_columns])),
        ordered(is_ordered, is_ordered + n_columns),
        offsets(first_ids),
        defaults(default_codes),
        n_values(first_ids[n_columns]) {
    for (std::int64_t c = 0; c < n_columns; ++c) {
      std::fill(column_of.begin() + offsets[c], column_of.begin() + offsets[c + 1],
                static_cast<std::int32_t>(c));
      all_binary = all_binary && arity(c) <= 2;
    }
  }

  bool is_ordered(std::int64_t column) const {
    return (ordered[static_cast<std::size_t>(column)] & 3) != 0;
  }
  bool is_number(std::int64_t column) const {
    return (ordered[static_cast<std::size_t>(column)] & 3) == 2;
  }
  // Whether the last code of the column is that of missing values.
  bool has_missing(std::int64_t column) const {
    return (ordered[static_cast<std::size_t>(column)] & 4) != 0;
  }
  std::int64_t arity(std::int64_t c) const { return offsets[c + 1] - offsets[c] + 1; }
  std::int64_t code(std::int64_t column, std::int64_t id) const {
    const std::int64_t position = id - offsets[column];
    return position + (position >= defaults[column] ? 1 : 0);
  }
  // The first id of the column whose code is at least `code`.
  std::int64_t id_from(std::int64_t column, std::int64_t code) const {
    return offsets[column] + code - (code > defaults[column] ? 1 : 0);
  }
};

}  // namespace tacit
