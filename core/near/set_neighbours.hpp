// The nearest of many sets, exactly: by inverted lists, with bounds on what a set can still reach.
//
// How near two sets are depends on their sizes a and b and on the number c of elements that they
// share, and grows with c. So a threshold on nearness is one on c. Blocks hold sets of about the
// same size: a block is passed over if even c = min(a, b) would not be enough. Within a block, the
// lists of the query's rarest elements come first; what shares none of them cannot reach the
// threshold by the rest alone, once that is fewer than c must be. The longest lists need not be
// read then: the few candidates are looked at one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "near/inverted.hpp"
#include "near/matches.hpp"

namespace tacit {

enum class SetMeasure { kJaccard, kCosine, kOverlap, kHamming };

// How near two sets are; equal doubles for equal nearness. The Jaccard index; the square of the
// cosine; the share of the smaller set; the number of elements that only one of them has, negative.
double set_nearness(SetMeasure measure, std::int64_t a, std::int64_t b, std::int64_t shared);

// The same as a distance: 1 less the index, the cosine or the share; or the fraction of n_columns.
double set_distance(SetMeasure measure, double nearness, std::int64_t n_columns);

class SetIndex {
 public:
  SetIndex(const SparsePattern& rows, Poll poll) : lists_(rows, poll) {}

  std::int64_t n_rows() const { return lists_.n_rows(); }
  std::int64_t n_columns() const { return lists_.n_columns(); }

  // The k ≤ n_rows (less one with `itself`) nearest rows of each query, k for each query. With
  // `itself`, queries are rows of the matrix, and not neighbours of themselves. The worst case is
  // the sum of the lengths of the lists of each query's elements.
  void nearest(const SparsePattern& queries, bool itself, SetMeasure measure, std::int64_t k,
               double* distances, std::int32_t* rows, int n_jobs, Poll poll) const;

  // All rows at least so near to each query: of each query, in the order of their numbers.
  // `once`: queries are all rows of the matrix, and each pair of them is found for one of the two.
  void within(const SparsePattern& queries, bool itself, bool once, SetMeasure measure,
              double least, std::vector<std::vector<Match>>& found, int n_jobs, Poll poll) const;

 private:
  InvertedLists lists_;
};

}  // namespace tacit
