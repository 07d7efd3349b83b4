// Scores of one record against all centres, held in vector registers.
//
// Everything here is inlined into functions that are compiled for one instruction set or another.
// Vectors are 32 bytes wide in any case; where the machine's are narrower the compiler splits them, and
// the numbers are the same.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "kmeans.hpp"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define TACIT_AVX2_CLONES 1
#endif
#define TACIT_INLINE inline __attribute__((always_inline))

namespace tacit {

template <class T>
struct Wide {
  typedef T Vec __attribute__((vector_size(32), may_alias));
  static constexpr std::int64_t kLanes = 32 / sizeof(T);
};

struct alignas(32) ScoreVector {
  double numbers[4];
};

// Clusters are scored in groups of at most so many vectors, which fit in registers.
constexpr int kGroupVectors = 4;
// Sums are made of partial sums of so many terms, which bounds rounding errors for long records.
constexpr std::int64_t kPartTerms = 64;

// The table that scores are read from: a row of corrections for each value id, padded to whole vectors.
// The least base is taken off all of them. Padding scores worse than any cluster.
template <class T>
class ScoreTable {
 public:
  static constexpr T kFar = sizeof(T) == 4 ? static_cast<T>(FLT_MAX / 2) : static_cast<T>(DBL_MAX / 2);

  ScoreTable(const Centres& centres, std::int64_t n_values);
  const T* rows() const { return rows_; }
  const T* base() const { return base_; }
  std::int64_t stride() const { return stride_; }
  std::int64_t vectors() const { return stride_ / Wide<T>::kLanes; }
  double least_base() const { return least_base_; }
  double span() const { return span_; }    // the largest base, the least one taken off
  double reach() const { return reach_; }  // the largest norm of a centre's corrections

 private:
  std::int64_t stride_;
  double least_base_, span_, reach_;
  Buffer<T> memory_;
  T *rows_, *base_;
};

// total[0 … kVectors) = base + Σ row(v) · x over the stored values at [begin, end).
template <class T, int kVectors, class V, class X>
TACIT_INLINE void add_scores(const Points<V, X>& points, std::int64_t begin, std::int64_t end,
                             const T* rows, std::int64_t stride, const T* base,
                             typename Wide<T>::Vec* total) {
  using Vec = typename Wide<T>::Vec;
  for (int j = 0; j < kVectors; ++j) total[j] = reinterpret_cast<const Vec*>(base)[j];
  while (begin < end) {
    const std::int64_t stop = std::min(end, begin + kPartTerms);
    Vec part[kVectors] = {};
    for (; begin < stop; ++begin) {
      const Vec* row =
          reinterpret_cast<const Vec*>(rows + static_cast<std::int64_t>(points.values[begin]) * stride);
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

// Calls the body with the number of vectors as a constant, for each group of clusters.
template <class T, class Body>
TACIT_INLINE void in_groups(std::int64_t vectors, const Body& body) {
  for (std::int64_t first = 0; first < vectors; first += kGroupVectors) {
    const std::int64_t place = first * Wide<T>::kLanes;
    switch (std::min<std::int64_t>(kGroupVectors, vectors - first)) {
      case 1: body(std::integral_constant<int, 1>{}, place); break;
      case 2: body(std::integral_constant<int, 2>{}, place); break;
      case 3: body(std::integral_constant<int, 3>{}, place); break;
      default: body(std::integral_constant<int, 4>{}, place);
    }
  }
}

}  // namespace tacit
