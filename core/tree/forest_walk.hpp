// Walks down a forest that has one tree for each column of a table: dependency networks.
//
// Most trees end at the leaf of the record that holds nothing. Another leaf is possible only where
// the way to that leaf asks about an id that the record holds, so a record is served by the trees
// that an index names for its ids, and the rest of its answer is that of the empty record.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "base/records.hpp"
#include "tree/walk.hpp"

namespace tacit {

struct WalkForest {
  WalkNodes nodes;                  // of all trees, one after another
  std::int64_t n_trees;             // as many as columns: tree t tells column t from the others
  const std::int64_t* roots;        // n_trees + 1: where each tree's nodes begin
  const std::int64_t* offsets;      // n_trees + 1: the first value id of each column
  const std::int64_t* defaults;     // the default code of each column
  const double* table;              // a number for each node and code, as table_start says
  const std::int64_t* table_start;  // n_trees + 1

  void check(std::int64_t n_numbers) const;  // throws std::invalid_argument, as WalkNodes does
  std::int32_t root(std::int64_t tree) const { return static_cast<std::int32_t>(roots[tree]); }
  std::int64_t n_values() const { return offsets[n_trees]; }
  std::int64_t arity(std::int64_t column) const {
    return offsets[column + 1] - offsets[column] + 1;
  }
  // A node's numbers, one for each code of its tree's column.
  const double* row(std::int64_t tree, std::int32_t node) const {
    return table + table_start[tree] + (node - roots[tree]) * arity(tree);
  }
  std::int64_t code(std::int64_t column, std::int64_t id) const {
    const std::int64_t rank = id - offsets[column];
    return rank + (rank >= defaults[column] ? 1 : 0);
  }
};

// Where the ways of the empty record turn off: for each id the trees whose way asks about it, and
// the first node that does. Also the leaf at the end of each way.
class DefaultWays {
 public:
  struct Turning {
    std::int32_t tree, node;
  };

  explicit DefaultWays(const WalkForest& forest);
  std::int32_t leaf(std::int64_t tree) const { return leaves_[static_cast<std::size_t>(tree)]; }
  const Turning* begin(std::int64_t id) const { return at(id); }
  const Turning* end(std::int64_t id) const { return at(id + 1); }

 private:
  const Turning* at(std::int64_t id) const {
    return turnings_.data() + start_[static_cast<std::size_t>(id)];
  }

  std::vector<std::int32_t> leaves_;
  std::vector<std::int64_t> start_;
  std::vector<Turning> turnings_;
};

// The leaf given the id that each column holds, -1 for its default. O(depth).
inline std::int32_t leaf_of_state(const WalkNodes& nodes, std::int32_t node,
                                  const std::int32_t* held) {
  while (!nodes.is_leaf(node)) {
    const std::int32_t id = held[nodes.column[node]];
    const bool inside = (id >= nodes.low[node] && id < nodes.high[node]) ||
                        (id >= 0 && id == nodes.also_inside(node));
    node = inside ? nodes.inside(node, id) : nodes.outside(node);
  }
  return node;
}

// scores[r] = Σ over the trees of the table's number for the record's leaf and own code; with
// logarithms of probabilities, the sum of log P(value of column t | all other values). Numbers may
// be -inf. O(stored values + trees that they turn off · depth) a record.
template <class V>
void forest_scores(const Records<V>& records, const WalkForest& forest, double* scores, int n_jobs,
                   Poll poll);

// out[r * n_values + v] = the table's number for the leaf of record r in the tree of v's column,
// and v's code. O(n_values) a record to write, and as forest_scores to find what differs.
template <class V>
void forest_probabilities(const Records<V>& records, const WalkForest& forest, double* out,
                          int n_jobs, Poll poll);

// Gibbs sampling: `n_sweeps` times, every column in order is drawn anew from the leaf of its tree
// given the codes of all others. codes is n_chains × n_columns, changed in place; the table holds
// probabilities. The draw of column c in sweep s is a function of the chain's seed and of
// (first_sweep + s) · n_columns + c, so it depends neither on threads nor on how sweeps are cut
// into calls. A tree is walked only while its default way asks about something that is held, so a
// draw mostly costs O(arity), and at most O(depth + arity).
void forest_gibbs(const WalkForest& forest, std::int64_t n_chains, const std::int64_t* seeds,
                  std::int64_t first_sweep, std::int64_t n_sweeps, std::int32_t* codes, int n_jobs,
                  Poll poll);

}  // namespace tacit
