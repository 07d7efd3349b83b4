// Growing decision trees and decision graphs from stored values alone.
//
// Every binary split is a range of value ids of one column: a record that holds one of them goes
// inside, any other outside. One value against the rest, the default against the rest, and a
// threshold on an ordered column are all such ranges, so that the records on one side of a split
// are listed by the postings and the other side follows by subtraction. Missing values, whose code
// is a column's last, go to either side of a threshold: their id may go inside beside the range.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "base/records.hpp"

namespace tacit {

// A table by record and by value, and what its columns are like.
template <class V>
struct TreeTable {
  Records<V> records;         // all of them; weights are those below
  const std::int64_t* start;  // postings: rows[start[v] …] are the records that hold v
  const std::int32_t* rows;
  const std::int64_t* offsets;   // the first value id of each column, and n_values
  const std::int64_t* defaults;  // each column's default code
  const std::uint8_t* ordered;   // 1: a column's codes have an order; 2: they are those of numbers,
                                 // which are split at thresholds whatever splits there are; 4
                                 // more: the last code is that of missing values
  std::int64_t n_columns;
  const std::int64_t* weights;  // for each record in units of 1 / unit, or null where each counts 1

  std::int64_t arity(std::int64_t column) const {
    return offsets[column + 1] - offsets[column] + 1;
  }
};

enum class TreeCriterion { kBayesFactor, kBic, kEntropy, kGini, kSquaredError, kNormal };

// A normal-inverse-gamma prior for the values of a regression's leaf.
struct NormalPrior {
  double mean, strength, shape, rate;
};

struct TreeRules {
  TreeCriterion criterion;
  double unit;  // counts and sums are in units of 1 / unit
  bool bdeu;    // the prior's weight is shared among leaves, instead of the same in each
  double prior_weight;
  double log_kappa;  // the structure prior, for each free parameter
  // The structure prior of a split, -log P(split): found for each leaf (see SplitPrices), or this,
  // of which columns with many splits have more.
  bool leaf_prices = false;
  double split_price = 0.0;
  std::vector<double> extra_price;  // by column; empty where there is none
  NormalPrior normal;
  std::int64_t min_leaf;  // least weight of a leaf, in units
  std::int64_t max_depth, max_leaves;
  double min_gain;
  bool binary, complete;  // which splits there are
  bool merge;             // whether leaves may be merged: a graph
  bool timed;             // whether to measure how long counting takes
};

// What is to be predicted: classes, or numbers by their first and second moments.
struct TreeTarget {
  const std::int32_t* classes;
  std::int64_t n_classes;
  const std::int64_t* first_moments;
  const std::int64_t* second_moments;
};

// Node 0 is the root; children come after their parents. See Nodes in tree/nodes.py.
struct GrownTree {
  std::vector<std::int32_t> column, low, high, left, right, first, children, also;
  std::vector<std::uint8_t> complete;
  std::vector<double> gain, prior_fraction;
  std::vector<std::int64_t> stats;  // n_stats for each node: classes in order, or w, w·d, w·d²
  std::int64_t n_stats = 0;
  double counting_seconds = 0.0;  // if timed: as against scoring and listing

  std::int64_t n_nodes() const { return static_cast<std::int64_t>(column.size()); }
};

// Grows best first, until no split raises the score or the rules say stop. A leaf's counts of all
// columns against the target take O(its stored values), those of the larger child nothing but a
// subtraction. `excluded` are columns that are not asked about.
template <class V>
GrownTree grow_tree(const TreeTable<V>& table, const TreeTarget& target,
                    const std::vector<std::int64_t>& excluded, const TreeRules& rules, Poll poll);

// One tree for each target column given all others. `pairs` has the counts of all pairs of stored
// values (n_values squared, unweighted) or is null; with it no root is counted, and leaves near the
// root cost what their records have in common with leaves that were split off before.
template <class V>
std::vector<GrownTree> grow_forest(const TreeTable<V>& table,
                                   const std::vector<std::int64_t>& targets,
                                   const std::int64_t* pairs, const TreeRules& rules, int n_jobs,
                                   Poll poll);

}  // namespace tacit
