// Scores of one record against all centres, held in vector registers.
//
// Everything here is inlined into functions that are compiled for one instruction set or another,
// with vectors as wide as its registers. The numbers are the same for all.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/simd.hpp"
#include "kmeans/assign.hpp"

namespace tacit {

// Rows are padded to whole units, and clusters are scored in groups of at most so many units, which
// fit in registers.
constexpr int kUnitBytes = sizeof(Double4);
constexpr int kGroupUnits = 4;

struct alignas(kUnitBytes) ScoreUnit {
  double numbers[kUnit<double>];
};

// Sums are made of partial sums of so many terms, which bounds rounding errors for long records.
constexpr std::int64_t kPartTerms = 64;

// The table that scores are read from: a row of corrections for each value id, padded to whole
// units. The least base is taken off all of them. Padding scores worse than any cluster.
template <class T>
class ScoreTable {
 public:
  static constexpr T kFar = std::numeric_limits<T>::max() / 2;

  ScoreTable(const Centres& centres, std::int64_t n_values);
  const T* rows() const { return rows_; }
  const T* base() const { return base_; }
  std::int64_t stride() const { return stride_; }
  std::int64_t units() const { return stride_ / kUnit<T>; }
  double least_base() const { return least_base_; }
  double span() const { return span_; }    // the largest base, the least one taken off
  double reach() const { return reach_; }  // the largest norm of a centre's corrections

 private:
  std::int64_t stride_;
  double least_base_, span_, reach_;
  Buffer<T> memory_;
  T *rows_, *base_;
};

// total[…] = base + Σ row(v) · x over the stored values at [begin, end), for kUnits units.
template <int kBytes, int kUnits, class T, class V, class X>
TACIT_INLINE void add_scores(const Points<V, X>& points, std::int64_t begin, std::int64_t end,
                             const T* rows, std::int64_t stride, const T* base,
                             typename Aligned<T, kBytes>::Vector* total) {
  using Vec = typename Aligned<T, kBytes>::Vector;
  constexpr int kVectors = kUnits * (kUnitBytes / kBytes);
  for (int j = 0; j < kVectors; ++j) total[j] = reinterpret_cast<const Vec*>(base)[j];
  while (begin < end) {
    const std::int64_t stop = std::min(end, begin + kPartTerms);
    Vec part[kVectors] = {};
    for (; begin < stop; ++begin) {
      const std::int64_t value = points.values[begin];
      const Vec* row = reinterpret_cast<const Vec*>(rows + value * stride);
      if constexpr (std::is_same_v<X, AllOnes>) {
        for (int j = 0; j < kVectors; ++j) part[j] += row[j];
      } else {
        const T x = static_cast<T>(points.x[begin]);
        for (int j = 0; j < kVectors; ++j) part[j] += row[j] * x;
      }
    }
    for (int j = 0; j < kVectors; ++j) total[j] += part[j];
  }
}

// How much the error of a sum of n terms grows with n.
inline double rounding_steps(std::int64_t n) {
  return static_cast<double>(std::min(n, kPartTerms) + n / kPartTerms + 4);
}

// What scores of this record can add up to in absolute terms, by Cauchy and Schwarz.
template <class T, class V, class X>
TACIT_INLINE double magnitude(const Points<V, X>& points, const ScoreTable<T>& table,
                              std::int64_t r) {
  double square;
  if constexpr (std::is_same_v<X, AllOnes>)
    square = static_cast<double>(points.indptr[r + 1] - points.indptr[r]);
  else
    square = points.norms[r];
  return table.span() + std::sqrt(square) * table.reach();
}

// Calls the body with the number of units as a constant and the first cluster, for each group.
template <class T, class Body>
TACIT_INLINE void in_groups(std::int64_t units, const Body& body) {
  for (std::int64_t first = 0; first < units; first += kGroupUnits) {
    with_constant<1, 2, 3, kGroupUnits>(
        units - first, [&](auto n_units) TACIT_INLINE_LAMBDA { body(n_units, first * kUnit<T>); });
  }
}

// scores[k] = the score of cluster k in double precision, for all of the table, padding included.
template <int kBytes, class V, class X>
TACIT_INLINE void score_all(const Points<V, X>& points, const ScoreTable<double>& table,
                            std::int64_t r, double* scores) {
  const std::int64_t begin = points.indptr[r], end = points.indptr[r + 1];
  in_groups<double>(table.units(), [&](auto units, std::int64_t position) TACIT_INLINE_LAMBDA {
    constexpr int kUnits = decltype(units)::value;
    typename Aligned<double, kBytes>::Vector sums[kUnits * (kUnitBytes / kBytes)];
    add_scores<kBytes, kUnits>(points, begin, end, table.rows() + position, table.stride(),
                               table.base() + position, sums);
    std::memcpy(scores + position, sums, sizeof sums);
  });
}

}  // namespace tacit
