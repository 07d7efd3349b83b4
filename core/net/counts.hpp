// Counts of families of a Bayes net, for records that come in parts: what each part counts, and how
// the counts of two parts are added up. Scores are worked out from the counts of all.
#pragma once

#include <cstdint>
#include <vector>

#include "net/data.hpp"

namespace tacit {

using Parents = std::vector<int>;  // ascending

// A column with its parents, and the columns from `begin` to `end`, each as one more parent.
struct NetRequest {
  int child;
  Parents parents;
  int begin, end;
};

// Product of states that all parents together could be in; more than kMostStates are never counted.
constexpr double kMostStates = 1e200;  // fractions of priors stay normal
double states_of(const NetColumns& columns, const Parents& parents);

// The columns that a request counts as one more parent: not the child, not a parent, and none with
// more cells than could ever be scored. Ascending.
std::vector<int> others_of(const NetColumns& columns, const NetRequest& request);

// Numbers in a row of counts: one for each code of the child; then for each other column and each
// of its codes, again one for each code of the child.
std::int64_t width_of(const NetColumns& columns, const NetRequest& request);

// The parent states that have records, in ascending order of their codes, and a row for each.
struct NetCounts {
  bool too_large = false;             // the family has more cells than are counted
  std::vector<std::uint16_t> states;  // n_states × number of parents
  std::vector<double> rows;           // n_states × width
  std::int64_t n_states = 0;
};
struct NetCountsView {
  std::int64_t n_states;  // -1 for too large
  const std::uint16_t* states;
  const double* rows;
};

// Σ weights of the records of each parent state by the child's code, alone and with each other
// column's code. As NetGroups counts: a word operation for every 64 records, or a look-up for each.
NetCounts count_request(const NetData& data, const NetRequest& request);

// The counts of both. O((n_states of both) · width).
NetCounts merge_counts(const NetCountsView& one, const NetCountsView& other, std::size_t n_parents,
                       std::int64_t width);

}  // namespace tacit
