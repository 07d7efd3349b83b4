// The minimum spanning tree of mutual reachability distances.
//
// The core distance of an object is that to its n_core-th nearest object, itself the first of them.
// Two objects reach each other at the largest of their distance and of both core distances.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "near/cosine_neighbours.hpp"
#include "near/reach_forest.hpp"
#include "near/store.hpp"

namespace tacit {

struct ReachTree {
  std::vector<ReachEdge> edges;  // ascending
  std::vector<double> cores;
  double scale;  // lengths are squared, times scale²; 0: as they are
};

// coords are products of the rows with a matrix of norm 1. Rows should differ from each other: many
// that are equal would all be compared.
//
// Searches go through boxes of objects. Boxes that are farther than what is wanted, or hold nothing
// but the object's own component, are passed over.
template <class Store>
ReachTree reach_tree(const typename Store::Rows& rows, const double* coords, std::int64_t n_coords,
                     const ReachLists& lists, int n_jobs, Poll poll);

// The same of sparse vectors by 1 less their cosine: searches go through the inverted lists of the
// index, which is that of the rows, with bounds on what lists can still add.
ReachTree cosine_reach_tree(const CosineIndex& index, const ReachLists& lists, int n_jobs,
                            Poll poll);

}  // namespace tacit
