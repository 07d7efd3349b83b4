// The minimum spanning tree of mutual reachability distances.
//
// The core distance of an object is that to its n_core-th nearest object, itself the first of them.
// Two objects reach each other at the largest of their distance and of both core distances.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "near/store.hpp"

namespace tacit {

struct ReachEdge {
  double reach,
      square;         // squared, times scale²: at which the ends reach each other, their distance
  std::int32_t a, b;  // a < b
  // One order of all edges, so that the tree is one and the same whatever is found first.
  bool operator<(const ReachEdge& other) const {
    if (reach != other.reach) return reach < other.reach;
    if (square != other.square) return square < other.square;
    return a != other.a ? a < other.a : b < other.b;
  }
};

struct ReachTree {
  std::vector<ReachEdge> edges;  // ascending
  std::vector<double> cores;     // squared, times scale²
  double scale;
};

// The n_nearest nearest objects of each, the object itself among them.
struct ReachLists {
  const std::int32_t* nearest;  // n_nearest for each object
  std::int64_t n_nearest;
  std::int64_t n_core;         // at most the objects that n_nearest rows, or all, stand for
  const std::int64_t* counts;  // how many objects at one place each row stands for
};

// coords are products of the rows with a matrix of norm 1. Rows should differ from each other: many
// that are equal would all be compared.
//
// Borůvka's rounds: every component is joined to the one that it reaches first, and an edge that is
// the least one to leave a component is in the tree. An object looks for the nearest one of other
// components no more often than it must: what it has found stays the nearest until that is of its
// own component, what it has not found bounds what there is, and its component needs nothing
// beyond the best that any of its objects knows. Boxes that are farther than that, or hold nothing
// but the object's own component, are passed over.
template <class Store>
ReachTree reach_tree(const typename Store::Rows& rows, const double* coords, std::int64_t n_coords,
                     const ReachLists& lists, int n_jobs, Poll poll);

}  // namespace tacit
