// Counts of leaves that are given by the conditions on the way to them: a tree that grows level by
// level asks for these, wherever the records are, and adds them up.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "tree/tree.hpp"

namespace tacit {

// Condition i asks whether a record holds one of the value ids [low[i], high[i]), which are of one
// column. The records of leaf k hold one where inside[i] is 1 and none where it is 0, for all i in
// [start[k], start[k + 1]).
//
// A leaf may have candidates j in [ahead_start[k], ahead_start[k + 1]), no more than
// kMostCandidates: ranges that it may be split by, one after another. Of these records only those
// that hold a candidate's id are counted, apart for each set of candidates that they hold. From
// such counts follow those of every split of the leaf by a candidate, of what is then left of it,
// and so on. Where ordered[k] is 1, a record is only counted with the first candidate it holds.
struct LeafPaths {
  std::int64_t n_leaves;
  const std::int64_t* start;
  const std::int32_t* low;
  const std::int32_t* high;
  const std::uint8_t* inside;
  const std::int32_t* target;       // the column that each leaf's tree predicts
  const std::uint8_t* dense;        // 1: all counts are wanted; 0: only those that are not zero
  const std::int64_t* ahead_start;  // a dense leaf has no candidates
  const std::int32_t* ahead_low;
  const std::int32_t* ahead_high;
  const std::uint8_t* ordered;
  const std::int64_t* out_start;  // where each leaf's counts begin, and where the last one's end:
                                  // nothing for leaves that are not dense
};

constexpr std::int64_t kMostCandidates = 62;

// Counts that are not zero of leaves that are not dense. Cell i has the records of a leaf that hold
// the candidates in mask[i] and no others (bit 0 is the first candidate; 0 where there are none).
// Its counts are [start[i], start[i + 1]), with ascending keys: histogram · n_values + value id.
// Disjoint cells ascend by leaf, then by mask; there are none without records.
struct DisjointCells {
  std::vector<std::int64_t> leaf, mask, start{0}, keys, counts;
};

// Of each leaf, a histogram for each code of its target's column. With the records R of the leaf,
// weights w and position q among the ids of the target's column,
//   histogram 0 of v      = Σ w(r) of r in R that hold v
//   histogram q + 1 of v  = Σ w(r) of those that hold the q-th id as well.
// The histogram of the default follows by subtraction. Those of a dense leaf k follow each other
// from out[out_start[k]], n_values counts each. Sums of integers: any order gives the same.
//
// A leaf costs the postings of its rarest inside condition and the stored values of what they list;
// one without such a condition those of all records, and a root those of the records that do not
// have the target's default. With candidates it costs no more than their postings. Each leaf is one
// thread's.
template <class V>
DisjointCells leaf_counts(const TreeTable<V>& table, const LeafPaths& paths, std::int64_t* out,
                          int n_jobs, Poll poll);

// Disjoint cells that are given from elsewhere, as in DisjointCells.
struct DisjointCellView {
  std::int64_t n_cells;
  const std::int64_t *leaf, *mask, *start, *keys, *counts;
};

// The disjoint cells of two sets of records together. O(keys).
DisjointCells add_disjoint_cells(const DisjointCellView& one, const DisjointCellView& other);

// Disjoint cells [begin, end) of one leaf: those that hold candidate `bit` (all of them if it is
// -1) and no candidate in the mask `used`.
struct CellChoice {
  std::int64_t begin, end, bit, used, n_classes;
};

// The sums of chosen disjoint cells: those of choice k are of the ids [id_start[k], id_start[k +
// 1]), which ascend and are those that occur; histogram p of its i-th id is
// histograms[histogram_start[k] + p · n + i].
struct TakenLeaves {
  std::vector<std::int64_t> id_start{0}, histogram_start{0}, histograms;
  std::vector<std::int32_t> ids;
};

// O(keys of all cells that are looked at, with a logarithm for sorting).
TakenLeaves take_disjoint_cells(const DisjointCellView& cells,
                                const std::vector<CellChoice>& choices, std::int64_t n_values);

// The ids that a leaf has counts of: n ascending ones, or null for all.
struct LeafCells {
  const std::int32_t* ids;
  std::int64_t n;
};

// histograms -= part, for ids that both have; false, and nothing is done, if the part has others.
// O(histograms · ids of the part), and the ids of the leaf where it lists them.
bool subtract_histograms(std::int64_t n_classes, const LeafCells& leaf, std::int64_t* histograms,
                         const LeafCells& part, const std::int64_t* counts);

}  // namespace tacit
