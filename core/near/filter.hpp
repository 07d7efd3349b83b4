// Distances of a few queries to many objects in single precision: which objects may be near enough.
//
// What is found here is looked at again in double precision, with room for all rounding errors. So
// these sums may be contracted to fused operations: no result depends on them.
#pragma once

#include <cstdint>

namespace tacit {

constexpr std::int64_t kNearLeaf = 64;  // objects that are looked at together
constexpr std::int64_t kNearTile = 16;  // of them, side by side
constexpr int kNearLanes = 16;          // queries of sparse rows side by side: a cache line

// An object that may be near enough for a query, and the sum that says so.
struct NearHit {
  std::int32_t query, position;
  float sum;
};

// Notes every position p of a leaf with sum = bases[p] + Σ_j queries[q][j] · leaf[p][j] ≤ limits[q].
// A leaf is made of tiles, which hold a coordinate of all their objects after another. Returns how
// many hits there are; there must be room for kNearLeaf · n_queries.
int filter_leaf(const float* leaf, const float* bases, std::int64_t width,
                const float* const* queries, const float* limits, int n_queries, NearHit* hits);

// Notes every row r < n_rows with sum = bases[r] + Σ_j lanes[j][q] · scale · x_rj ≤ limits[q] for
// one of kNearLanes queries, whose coordinates lie side by side. Rows are given by their numbers.
template <class X>
int filter_rows(const std::int64_t* indptr, const std::int32_t* indices, const X* numbers,
                const std::int32_t* rows, const float* bases, std::int64_t n_rows, double scale,
                const float* lanes, const float* limits, NearHit* hits);

}  // namespace tacit
