// The nearest of many sparse vectors by the angle between them, exactly: by inverted lists, with
// bounds on what the rest of a query can still add.
//
// Products are summed in single precision, the rarest columns first. What the rest of a query can
// add is at most its length, by Cauchy and Schwarz, and at most the sum of its parts times the
// largest number of each list. Once that is less than the k-th best cosine so far, nothing new can
// come up, and the longest lists are not read. The few rows left are measured in double precision.
#pragma once

#include <cstdint>
#include <vector>

#include "near/inverted.hpp"
#include "near/matches.hpp"
#include "near/reach_forest.hpp"

namespace tacit {

// A pattern, the numbers, none of them 0, and the length of each row.
struct SparseVectors {
  SparsePattern pattern;
  const double* numbers;
  const double* lengths;
};

class CosineIndex {
 public:
  // The vectors must stay.
  CosineIndex(const SparseVectors& rows, Poll poll);

  std::int64_t n_rows() const { return lists_.n_rows(); }
  std::int64_t n_columns() const { return lists_.n_columns(); }

  // As of SetIndex: 1 less the cosine, and the rows; ties by number. A cosine is the sum of
  // products in the order of columns, divided by the product of both lengths; 0 of empty rows.
  void nearest(const SparseVectors& queries, bool itself, std::int64_t k, double* distances,
               std::int32_t* rows, int n_jobs, Poll poll) const;
  void within(const SparseVectors& queries, bool itself, bool once, double least,
              std::vector<std::vector<Match>>& found, int n_jobs, Poll poll) const;
  // 1 less the cosine of two rows, the same from both; of a row with itself, 0.
  double distance(std::int64_t i, std::int64_t j) const;
  std::int64_t mean_length() const;  // stored values of a row
  // Of each of these rows that is not settled when its turn comes, the first of other components
  // that it reaches.
  void reach_others(const std::vector<std::int32_t>& rows, ReachForest& forest, int n_jobs,
                    Poll poll) const;

 private:
  friend class CosineWalk;

  SparseVectors rows_;
  InvertedLists lists_;
  Buffer<float> parts_;  // of each entry of the lists: the number divided by its row's length
  std::vector<float> largest_;  // of each list
};

}  // namespace tacit
