// Confidence intervals for one cell of a two-way table of binary columns with known margins.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"

namespace tacit {

// The k-th table has the probabilities p, a − p, b − p and 1 − a − b + p, of which a and b are
// known, and counts[4k …] records in these cells: log L(p) = Σ count · log(probability). low[k] and
// high[k] are the ends of the p whose log L is at most drop[k] below the greatest; they err
// outwards by rounding only. O(n) with a few dozen logarithms each.
struct BinaryTables {
  const double *counts, *a, *b, *drop;
  std::int64_t n;
};
void likelihood_ends(const BinaryTables& tables, double* low, double* high, int n_jobs, Poll poll);

}  // namespace tacit
