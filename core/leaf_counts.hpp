// Counts of leaves that are given by the conditions on the way to them: a tree that grows level by
// level asks for these, wherever the records are, and adds them up.
#pragma once

#include <cstdint>
#include <vector>

#include "parallel.hpp"
#include "tree.hpp"

namespace tacit {

// Condition i asks whether a record holds one of the value ids [low[i], high[i]), which are of one
// column. The records of leaf k hold one where inside[i] is 1 and none where it is 0, for all i in
// [start[k], start[k + 1]).
struct LeafPaths {
  std::int64_t n_leaves;
  const std::int64_t* start;
  const std::int32_t* low;
  const std::int32_t* high;
  const std::uint8_t* inside;
  const std::int32_t* target;      // the column that each leaf's tree predicts
  const std::uint8_t* dense;       // 1: all counts are wanted; 0: only those that are not zero
  const std::int64_t* out_start;   // where each leaf's counts begin, and where the last one's end:
                                   // nothing for leaves that are not dense
};

// Counts that are not zero: those of row i are [row_start[i], row_start[i + 1]), with ascending ids.
// The rows are the planes of all leaves that are not dense, one leaf after another.
struct SparseCounts {
  std::vector<std::int64_t> row_start{0};
  std::vector<std::int32_t> ids;
  std::vector<std::int64_t> counts;
};

// Of each leaf, a plane for each code of its target's column. With the records R of the leaf,
// weights w and place q among the ids of the target's column,
//   plane 0 of v      = Σ w(r) of r in R that hold v
//   plane q + 1 of v  = Σ w(r) of those that hold the q-th id as well.
// The plane of the default follows by subtraction. Those of a dense leaf k follow each other from
// out[out_start[k]], n_values counts each. Sums of integers: any order gives the same.
//
// A leaf costs the postings of its rarest inside condition and the stored values of what they list;
// one without such a condition those of all records, and a root those of the records that do not
// have the target's default. Each leaf is one thread's.
template <class V>
SparseCounts leaf_counts(const TreeTable<V>& table, const LeafPaths& paths, std::int64_t* out,
                         int n_jobs, Poll poll);

}  // namespace tacit
