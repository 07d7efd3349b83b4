// k-means on sparse records: squared distances from the distance of an all-default record.
//
// The squared distance of record r to centre k is
//     norms[r] + base[k] + Σ over the stored values v of r of corrections[k][v] · x,
// so that a pass costs O(l · K). For real numbers base[k] = |c_k|², corrections = -2 c_k and
// norms[r] = |x_r|². For discrete columns, seen as one 0/1 coordinate for each label, norms is null
// (0) and x is 1.
#pragma once

#include "base/parallel.hpp"
#include "base/records.hpp"

namespace tacit {

struct AllOnes {};  // in place of an array of numbers: every stored value is 1

// M(V, X) for each type of points: X is float, double or AllOnes.
#define TACIT_FOR_POINTS(M) \
  M(std::uint16_t, AllOnes) \
  M(std::uint16_t, float)   \
  M(std::uint16_t, double)  \
  M(std::uint32_t, AllOnes) M(std::uint32_t, float) M(std::uint32_t, double)

template <class V, class X>
struct Points {
  const std::int64_t* indptr;  // n_records + 1 offsets into values and x
  const V* values;             // value ids in [0, n_values)
  const X* x;
  const double* norms;  // what is added to every distance of a record, or null for nothing
  std::int64_t n_records, n_values;
};

struct Centres {
  std::int64_t size;          // K, at least 1
  const double* base;         // K
  const double* corrections;  // K × n_values
};

// Hamerly's bounds: upper[r] + moved[a] is at least the distance of r to its centre a, and
// lower[r] - rest[a] at most that to any other one. moved[a] is how far a has moved in all, rest[a]
// the sum over passes of the farthest move of another centre, half[a] half the distance from a to
// the nearest other centre.
struct CentreBounds {
  float *upper, *lower;  // one for each record, or null: no bounds
  const double *moved, *rest, *half;
};

struct AssignTally {
  std::int64_t changed;    // records whose label is not the previous one
  std::int64_t scanned;    // records that were compared with all centres
  std::int64_t rechecked;  // of these, those too close to call in single precision
};

// labels[r] = the nearest centre of each record, the lowest of several that are as near but for
// rounding. Records are compared in single precision, and again in double precision where its error
// could matter, so that labels are those of double precision. With `previous` and `prune`, those
// whose bounds show that they stay where they are are passed over. Bounds, if given, are kept up to
// date. O(l · K) at most.
template <class V, class X>
AssignTally kmeans_assign(const Points<V, X>& points, const Centres& centres,
                          const std::int32_t* previous, bool prune, const CentreBounds& bounds,
                          std::int32_t* labels, int n_jobs, Poll poll);

// distances[r * K + k] = the squared distance of r to centre k, not below 0. With `closest`,
// potentials[k] = Σ weight(r) · min(closest[r], distances[r * K + k]), else 0. O(l · K).
template <class V, class X>
void kmeans_distances(const Points<V, X>& points, const Centres& centres, double* distances,
                      const double* closest, const double* weights, double* potentials, int n_jobs,
                      Poll poll);

// distances[r] = the squared distance of r to centre labels[r], not below 0. O(l).
template <class V, class X>
void kmeans_own_distances(const Points<V, X>& points, const Centres& centres,
                          const std::int32_t* labels, double* distances, int n_jobs, Poll poll);

// sums[k * n_values + v] = Σ weight(r) · x over the records r with label k that store v, and
// totals[k] = Σ weight(r). With `previous` labels, both are brought up to date from these: only
// records whose label changed are looked at. O(l + K · n_values), or O(m + what changed).
template <class V, class X>
void kmeans_sums(const Points<V, X>& points, std::int64_t n_clusters, const double* weights,
                 const std::int32_t* labels, const std::int32_t* previous, double* sums,
                 double* totals, int n_jobs, Poll poll);

}  // namespace tacit
