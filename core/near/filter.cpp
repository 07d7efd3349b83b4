#include "near/filter.hpp"

#include <bit>
#include <type_traits>

#include "base/simd.hpp"

namespace tacit {
namespace {

constexpr int kTogether = 6;  // queries whose sums are held in registers at once

template <class Mask>
TACIT_INLINE bool any(Mask mask) {
  const Bits4 m = reinterpret_cast<Bits4>(mask);
  return (m[0] | m[1] | m[2] | m[3]) != 0;
}

template <class X>
TACIT_INLINE float to_float(X x, double scale) {
  return static_cast<float>(static_cast<double>(x) * scale);
}

// Calls some(count, q) for queries from q on, as many as are held in registers at once.
template <class Some>
TACIT_INLINE int filter_by(int n_queries, const Some& some) {
  int n_hits = 0;
  for (int q = 0; q < n_queries; q += kTogether)
    n_hits += with_constant<1, 2, 3, 4, 5, kTogether>(
        n_queries - q, [&](auto count) TACIT_INLINE_LAMBDA { return some(count, q, n_hits); });
  return n_hits;
}

template <int kQueries>
TACIT_INLINE int filter_some(const float* leaf, const float* bases, std::int64_t width,
                             const float* const* queries, const float* limits, int first,
                             NearHit* hits) {
  int n_hits = 0;
  for (std::int64_t t = 0; t < kNearLeaf / kNearTile; ++t) {
    const float* tile = leaf + t * width * kNearTile;
    Float8 low[kQueries], high[kQueries];
    for (int q = 0; q < kQueries; ++q) {
      low[q] = vector_at(bases + t * kNearTile);
      high[q] = vector_at(bases + t * kNearTile + 8);
    }
    for (std::int64_t j = 0; j < width; ++j, tile += kNearTile) {
      const Float8 left = vector_at(tile);
      const Float8 right = vector_at(tile + 8);
      for (int q = 0; q < kQueries; ++q) {
        const Float8 x = Float8{} + queries[q][j];
        low[q] += left * x;
        high[q] += right * x;
      }
    }
    for (int q = 0; q < kQueries; ++q) {
      const Float8 limit = Float8{} + limits[q];
      if (!any((low[q] <= limit) | (high[q] <= limit))) continue;
      for (int i = 0; i < kNearTile; ++i) {
        const float sum = i < 8 ? low[q][i] : high[q][i - 8];
        if (sum <= limits[q])
          hits[n_hits++] = {first + q, static_cast<std::int32_t>(t * kNearTile) + i, sum};
      }
    }
  }
  return n_hits;
}

TACIT_INLINE int filter_all(const float* leaf, const float* bases, std::int64_t width,
                            const float* const* queries, const float* limits, int n_queries,
                            NearHit* hits) {
  return filter_by(n_queries, [&](auto count, int q, int n_hits) TACIT_INLINE_LAMBDA {
    return filter_some<decltype(count)::value>(leaf, bases, width, queries + q, limits + q, q,
                                               hits + n_hits);
  });
}

#if TACIT_X86
#define TACIT_AVX512 TACIT_TARGET("avx512f")

// With 32 registers of 16 numbers, the whole leaf at once: 24 sums, four tiles, one number of a
// query; two fused operations in each clock cycle.
template <int kQueries>
TACIT_AVX512 inline int filter_some_avx512(const float* leaf, const float* bases,
                                           std::int64_t width, const float* const* queries,
                                           const float* limits, int first, NearHit* hits) {
  constexpr int kTiles = kNearLeaf / kNearTile;
  const std::int64_t stride = width * kNearTile;
  __m512 sums[kQueries][kTiles];
#pragma GCC unroll 6
  for (int q = 0; q < kQueries; ++q)
#pragma GCC unroll 4
    for (int t = 0; t < kTiles; ++t) sums[q][t] = _mm512_loadu_ps(bases + t * kNearTile);
  for (std::int64_t j = 0; j < width; ++j, leaf += kNearTile) {
    __m512 tile[kTiles];
#pragma GCC unroll 4
    for (int t = 0; t < kTiles; ++t) tile[t] = _mm512_loadu_ps(leaf + t * stride);
#pragma GCC unroll 6
    for (int q = 0; q < kQueries; ++q) {
      const __m512 x = _mm512_set1_ps(queries[q][j]);
#pragma GCC unroll 4
      for (int t = 0; t < kTiles; ++t) sums[q][t] = _mm512_fmadd_ps(tile[t], x, sums[q][t]);
    }
  }
  int n_hits = 0;
#pragma GCC unroll 6
  for (int q = 0; q < kQueries; ++q) {
    const __m512 limit = _mm512_set1_ps(limits[q]);
    std::uint64_t bits = 0;
#pragma GCC unroll 4
    for (int t = 0; t < kTiles; ++t)
      bits |= static_cast<std::uint64_t>(_mm512_cmp_ps_mask(sums[q][t], limit, _CMP_LE_OQ))
              << (t * kNearTile);
    if (__builtin_expect(bits == 0, 1)) continue;
    float stored[kNearLeaf];
#pragma GCC unroll 4
    for (int t = 0; t < kTiles; ++t) _mm512_storeu_ps(stored + t * kNearTile, sums[q][t]);
    for (; bits; bits &= bits - 1) {
      const int p = std::countr_zero(bits);
      hits[n_hits++] = {first + q, p, stored[p]};
    }
  }
  return n_hits;
}

int filter_all_avx512(const float* leaf, const float* bases, std::int64_t width,
                      const float* const* queries, const float* limits, int n_queries,
                      NearHit* hits) {
  return filter_by(n_queries, [&](auto count, int q, int n_hits) {
    return filter_some_avx512<decltype(count)::value>(leaf, bases, width, queries + q, limits + q,
                                                      q, hits + n_hits);
  });
}
#endif

template <class X>
TACIT_INLINE int filter_stored(const std::int64_t* indptr, const std::int32_t* indices,
                               const X* numbers, const std::int32_t* rows, const float* bases,
                               std::int64_t n_rows, double scale, const float* lanes,
                               const float* limits, NearHit* hits) {
  const Float8 left = vector_at(limits);
  const Float8 right = vector_at(limits + 8);
  int n_hits = 0;
  for (std::int64_t r = 0; r < n_rows; ++r) {
    const std::int64_t end = indptr[rows[r] + 1];
    Float8 low = Float8{} + bases[r], high = low;
    for (std::int64_t i = indptr[rows[r]]; i < end; ++i) {
      const float* const lane = lanes + static_cast<std::int64_t>(indices[i]) * kNearLanes;
      const Float8 x = Float8{} + to_float(numbers[i], scale);
      low += vector_at(lane) * x;
      high += vector_at(lane + 8) * x;
    }
    if (!any((low <= left) | (high <= right))) continue;
    for (int q = 0; q < kNearLanes; ++q) {
      const float sum = q < 8 ? low[q] : high[q - 8];
      if (sum <= limits[q]) hits[n_hits++] = {q, static_cast<std::int32_t>(r), sum};
    }
  }
  return n_hits;
}

}  // namespace

int filter_leaf(const float* leaf, const float* bases, std::int64_t width,
                const float* const* queries, const float* limits, int n_queries, NearHit* hits) {
#if TACIT_X86
  static const auto filter = has_avx512() ? filter_all_avx512 : avx2_fma_or_plain<filter_all>();
#else
  static const auto filter = avx2_fma_or_plain<filter_all>();
#endif
  return filter(leaf, bases, width, queries, limits, n_queries, hits);
}

template <class X>
int filter_rows(const std::int64_t* indptr, const std::int32_t* indices, const X* numbers,
                const std::int32_t* rows, const float* bases, std::int64_t n_rows, double scale,
                const float* lanes, const float* limits, NearHit* hits) {
  static const auto filter = avx2_fma_or_plain<filter_stored<X>>();
  return filter(indptr, indices, numbers, rows, bases, n_rows, scale, lanes, limits, hits);
}

#define TACIT_INSTANTIATE(X)                                                                      \
  template int filter_rows(const std::int64_t*, const std::int32_t*, const X*,                    \
                           const std::int32_t*, const float*, std::int64_t, double, const float*, \
                           const float*, NearHit*);
TACIT_INSTANTIATE(float)
TACIT_INSTANTIATE(double)
#undef TACIT_INSTANTIATE

}  // namespace tacit
