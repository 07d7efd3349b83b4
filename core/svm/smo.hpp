// Support vectors by sequential minimal optimisation on a sparse kernel matrix.
//
// A problem: minimise ½ βᵀKβ − yᵀβ over β, where Σβ = 0 and lower ≤ β ≤ upper. For a C-SVC with
// classes y = ±1 and α = yβ, the bounds are [0, C] or [−C, 0]. An object whose bounds are both 0 is
// left out, and what the others say of it comes at no cost: that is how folds are made.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"

namespace tacit {

// A symmetric matrix by rows; only values off the diagonal are stored. What is not stored is 0.
template <class X>
struct SparseKernel {
  const std::int64_t* indptr;   // n + 1
  const std::int32_t* indices;  // ascending within a row, without the row's own number
  const X* values;
  const double* diagonal;
  std::int64_t n;
};

// Of each problem a row of n numbers, and one number for what is known of its solution.
struct DualProblems {
  const double *targets, *lower, *upper;  // lower ≤ 0 ≤ upper
  std::int64_t size;
  double* coefficients;  // β
  double* sums;          // Kβ
  double* intercepts;    // b: objects with Kβ + b > 0 are on the side of y = 1
  double* gaps;          // by how much the most violating pair is out of order
  std::int64_t* iterations;
};

// Solves problems from β = 0 until no pair violates the conditions of optimality by `tolerance` or
// more, or for `most_iterations`. Each iteration changes the two coefficients that promise the
// greatest decrease by second order, and reads three rows of the matrix and one number for each 64
// objects: nothing takes time proportional to n². A problem is solved by one thread.
template <class X>
void solve_duals(const SparseKernel<X>& kernel, const DualProblems& problems, double tolerance,
                 std::int64_t most_iterations, int n_jobs, Poll poll);

}  // namespace tacit
