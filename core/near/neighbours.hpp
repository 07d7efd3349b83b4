// The nearest objects of queries: exactly, or among those that are near on a grid.
//
// Coordinates are products z = Px with a matrix of norm 1, the same for objects and queries: no two
// are farther apart than the objects themselves (‖Px - Py‖ ≤ ‖x - y‖). So a leaf whose box is
// farther from a query than the k-th nearest object so far holds none of the k nearest.
#pragma once

#include <cstdint>
#include <vector>

#include "near/order.hpp"
#include "near/store.hpp"

namespace tacit {

// Cells of a grid, for each object or query one in each dimension; null where there is no grid.
struct NearCells {
  const std::int32_t* cells;
  std::int64_t n_dimensions;
};

// How queries see the grid. Objects in cells that touch are near. Where they are fewer than k,
// queries look at twice as many cells in each direction, again and again; once there are k, as far
// as others may be nearer.
struct NearGrid {
  NearCells queries;
  const double* positions;         // where queries are, counted in intervals from the first one on
  const std::int32_t* resolution;  // intervals in each dimension
  const double* widths;            // of an interval
  double reach;  // all is seen that is within this many k-th distances on the grid
};

// Fewer numbers that tell what is too far, where boxes do not: no two rows of them are farther apart
// than the objects, but for error · (farthest + the norm of the query's row). Objects are in the
// order of the index, and scaled as they are there; null if there are none.
struct NearNarrow {
  const DenseStore<double>* objects;
  DenseNumbers<double> queries;
  double farthest;  // the largest norm of an object's row
  double error;
};

struct NearAnswer {
  double* distances;  // k for each query, ascending; equal ones by number
  std::int32_t* objects;
  std::int32_t* turns;   // how often it looked farther
  std::uint8_t* lonely;  // whether no object at all was near at first
};

template <class Store>
class NearIndex {
 public:
  using Rows = typename Store::Rows;

  // The rows must stay. n_objects ≥ 1. The order follows the first n_split coordinates: those of
  // the grid, if there is one.
  NearIndex(const Rows& rows, const double* coords, std::int64_t n_coords, std::int64_t n_split,
            const NearCells& cells, int n_jobs, Poll poll);

  // The k ≤ n_objects nearest of each query; without a grid (cells are null) among all objects.
  // Time is that of distances to the objects of leaves that the coordinates do not rule out,
  // sixteen numbers to a clock cycle or two. Returns how many pairs were compared.
  std::int64_t search(const Rows& queries, const double* coords, const NearGrid& grid,
                      const NearNarrow& narrow, std::int64_t k, const NearAnswer& answer,
                      int n_jobs, Poll poll) const;

  const NearOrder& order() const { return order_; }
  double scale() const { return scale_; }

 private:
  template <class>
  friend class NearWalk;

  Rows rows_;
  double scale_;
  NearOrder order_;
  Store store_;
  NearBoxes<double> leaf_boxes_, branch_boxes_;
  NearBoxes<std::int32_t> leaf_cells_, branch_cells_;
  std::vector<std::int32_t> cells_in_leaves_;  // leaf after leaf, a dimension after another
};

}  // namespace tacit
