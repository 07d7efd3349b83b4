// What a question about a Bayes net takes: a junction tree for the columns that are not observed.
//
// A plan depends on which columns are observed, not on their values. Observed columns are cut out
// of all tables first, so findings make cliques smaller and cut the tree apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "junction/order.hpp"
#include "junction/tables.hpp"

namespace tacit {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// A Bayes net: for each column its number of values, its parents, and P(column | parents) as a
// table with an axis for each parent in turn and the column itself last. Rows sum to one.
struct JunctionNet {
  std::vector<std::size_t> sizes;
  std::vector<std::vector<std::uint32_t>> parents;
  std::vector<double> tables;       // one after another
  std::vector<std::size_t> starts;  // n + 1: where each table begins
  std::vector<std::size_t> values;  // n + 1: the number of a column's first value among all values

  std::size_t n_columns() const { return sizes.size(); }
  std::size_t n_parents(std::size_t family) const { return parents[family].size(); }
  // Axis a of a family's table: its parents in turn, then itself.
  std::uint32_t member(std::size_t family, std::size_t a) const {
    return a < n_parents(family) ? parents[family][a] : static_cast<std::uint32_t>(family);
  }
};

enum class JunctionTask {
  kEvidence,   // the probability of what is observed
  kJoint,      // the joint distribution of some columns
  kPosterior,  // every column, or every family
  kMost,       // the most probable values of all columns
  kSample,     // values drawn for all columns
};

struct JunctionLimits {
  double cells, bytes;
};

// What a plan costs, known before anything large is allocated.
struct JunctionNeeds {
  std::size_t width = 0;  // columns of the widest clique
  double largest = 0;     // cells of the largest clique
  double cells = 0;       // of all cliques: the work
  double bytes = 0;       // of all tables that are kept at a time
};

struct JunctionTooWide : std::exception {
  explicit JunctionTooWide(const JunctionNeeds& n) : needs(n) {}
  const char* what() const noexcept override { return "too wide for exact inference"; }
  JunctionNeeds needs;
};

// Axes of a family's table that are observed, with the steps between their values.
using ObservedAxes = std::vector<std::pair<std::uint32_t, std::size_t>>;

// A table multiplied into another one with at least its axes.
struct TableFold {
  std::size_t family = kNone;  // the table of a family, cut at what is observed, or
  std::size_t child = kNone;   // the message of a clique
  ObservedAxes observed;
  std::vector<std::size_t> sizes, steps;  // axes of the table that it goes into
  std::size_t to = 0, cells = 1;          // that table
  bool assign = false;                    // the first one to go there
};

struct PlacedTable {
  TableWalk walk;
  std::size_t at;  // in the arena
};

// Where P(family | evidence) is found, with the family's free columns in the tree's order.
struct PlannedFamily {
  std::size_t family;
  TableWalk walk;
  std::vector<std::size_t> sizes, steps;  // from that order into the family's table
  ObservedAxes observed;
};

struct PlannedClique {
  std::vector<std::size_t> slots;  // ascending; those of the separator are the last ones
  std::vector<std::size_t> sizes;
  std::size_t n_residual = 0;  // slots of the residual: not in the separator
  std::size_t parent = kNone;
  bool unit = false;  // its message is 1 whatever the values: nothing is observed down there
  BlockShape shape;
  TableWalk separator;   // for a root: no axis, or the columns of a joint distribution
  std::size_t up = 0;    // its message, in the arena; on the way back, the message that it gets
  std::size_t down = 0;  // where its parent sums up the separator, shared with other parents
  std::vector<TableFold> folds;  // small tables put together before the pass
  std::vector<PlacedTable> factors;
  std::vector<std::pair<std::size_t, TableWalk>> children;  // and their separators
  std::vector<std::pair<std::uint32_t, TableWalk>> marginals;
  std::vector<PlannedFamily> families;
};

// A column whose marginal is read off a separator, which is smaller than any clique.
struct SeparatorMarginal {
  std::uint32_t column;
  std::size_t before, size, behind;
};

struct JunctionPlan {
  JunctionTask task;
  std::vector<std::uint32_t> columns;  // by slot; slots are numbered as they are eliminated
  std::vector<PlannedClique> cliques;  // parents before children
  std::vector<std::vector<SeparatorMarginal>> separator_marginals;  // by clique
  std::vector<PlannedFamily> observed_families;  // without a free column; walk is not used
  std::size_t arena = 0;                         // doubles
  JunctionNeeds needs;
};

// codes: -1 where a column is not observed. `order` has all columns; it is what the greedy orders
// have to beat. Throws JunctionTooWide.
JunctionPlan plan_junction(const JunctionNet& net, JunctionTask task, const std::int32_t* codes,
                           const std::vector<std::uint32_t>& targets,
                           const std::vector<std::uint32_t>& order, int n_tries,
                           const JunctionLimits& limits, Poll poll);

// A good order of all columns when nothing is observed, and what it costs.
std::pair<std::vector<std::uint32_t>, JunctionNeeds> order_columns(const JunctionNet& net,
                                                                   Poll poll);

}  // namespace tacit
