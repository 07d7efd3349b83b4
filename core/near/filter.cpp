#include "near/filter.hpp"

#include <type_traits>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define TACIT_FMA_CLONES 1
#endif
#define TACIT_INLINE inline __attribute__((always_inline))

namespace tacit {
namespace {

typedef float Eight __attribute__((vector_size(32), aligned(4), may_alias));
typedef std::int32_t EightBits __attribute__((vector_size(32)));

constexpr int kTogether = 6;  // queries whose sums are held in registers at once

TACIT_INLINE bool any(EightBits mask) {
  typedef std::int64_t Four __attribute__((vector_size(32)));
  const Four m = reinterpret_cast<Four>(mask);
  return (m[0] | m[1] | m[2] | m[3]) != 0;
}

template <class X>
TACIT_INLINE float to_float(X x, double scale) {
  return static_cast<float>(static_cast<double>(x) * scale);
}

template <int kQueries>
TACIT_INLINE int filter_some(const float* tiles, const float* bases, std::int64_t n_tiles,
                             std::int64_t width, const float* const* queries, const float* limits,
                             int first, NearHit* hits) {
  int n_hits = 0;
  for (std::int64_t t = 0; t < n_tiles; ++t) {
    const float* tile = tiles + t * width * kNearTile;
    Eight low[kQueries], high[kQueries];
    for (int q = 0; q < kQueries; ++q) {
      low[q] = *reinterpret_cast<const Eight*>(bases + t * kNearTile);
      high[q] = *reinterpret_cast<const Eight*>(bases + t * kNearTile + 8);
    }
    for (std::int64_t j = 0; j < width; ++j, tile += kNearTile) {
      const Eight left = *reinterpret_cast<const Eight*>(tile);
      const Eight right = *reinterpret_cast<const Eight*>(tile + 8);
      for (int q = 0; q < kQueries; ++q) {
        const Eight x = Eight{} + queries[q][j];
        low[q] += left * x;
        high[q] += right * x;
      }
    }
    for (int q = 0; q < kQueries; ++q) {
      const Eight limit = Eight{} + limits[q];
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

TACIT_INLINE int filter_all(const float* tiles, const float* bases, std::int64_t n_tiles,
                            std::int64_t width, const float* const* queries, const float* limits,
                            int n_queries, NearHit* hits) {
  int n_hits = 0;
  for (int q = 0; q < n_queries; q += kTogether) {
    const auto some = [&](auto count) __attribute__((always_inline)) {
      return filter_some<decltype(count)::value>(tiles, bases, n_tiles, width, queries + q,
                                                 limits + q, q, hits + n_hits);
    };
    switch (n_queries - q) {
      case 1:
        n_hits += some(std::integral_constant<int, 1>{});
        break;
      case 2:
        n_hits += some(std::integral_constant<int, 2>{});
        break;
      case 3:
        n_hits += some(std::integral_constant<int, 3>{});
        break;
      case 4:
        n_hits += some(std::integral_constant<int, 4>{});
        break;
      case 5:
        n_hits += some(std::integral_constant<int, 5>{});
        break;
      default:
        n_hits += some(std::integral_constant<int, kTogether>{});
    }
  }
  return n_hits;
}

template <class X>
TACIT_INLINE int filter_stored(const std::int64_t* indptr, const std::int32_t* indices,
                               const X* numbers, const std::int32_t* rows, const float* bases,
                               std::int64_t n_rows, double scale, const float* lanes,
                               const float* limits, NearHit* hits) {
  const Eight left = *reinterpret_cast<const Eight*>(limits);
  const Eight right = *reinterpret_cast<const Eight*>(limits + 8);
  int n_hits = 0;
  for (std::int64_t r = 0; r < n_rows; ++r) {
    const std::int64_t end = indptr[rows[r] + 1];
    Eight low = Eight{} + bases[r], high = low;
    for (std::int64_t i = indptr[rows[r]]; i < end; ++i) {
      const float* const own = lanes + static_cast<std::int64_t>(indices[i]) * kNearLanes;
      const Eight x = Eight{} + to_float(numbers[i], scale);
      low += *reinterpret_cast<const Eight*>(own) * x;
      high += *reinterpret_cast<const Eight*>(own + 8) * x;
    }
    if (!any((low <= left) | (high <= right))) continue;
    for (int q = 0; q < kNearLanes; ++q) {
      const float sum = q < 8 ? low[q] : high[q - 8];
      if (sum <= limits[q]) hits[n_hits++] = {q, static_cast<std::int32_t>(r), sum};
    }
  }
  return n_hits;
}

int tiles_plain(const float* tiles, const float* bases, std::int64_t n_tiles, std::int64_t width,
                const float* const* queries, const float* limits, int n_queries, NearHit* hits) {
  return filter_all(tiles, bases, n_tiles, width, queries, limits, n_queries, hits);
}
template <class X>
int rows_plain(const std::int64_t* indptr, const std::int32_t* indices, const X* numbers,
               const std::int32_t* rows, const float* bases, std::int64_t n_rows, double scale,
               const float* lanes, const float* limits, NearHit* hits) {
  return filter_stored(indptr, indices, numbers, rows, bases, n_rows, scale, lanes, limits, hits);
}
#ifdef TACIT_FMA_CLONES
__attribute__((target("avx2,fma"))) int tiles_fma(const float* tiles, const float* bases,
                                                  std::int64_t n_tiles, std::int64_t width,
                                                  const float* const* queries, const float* limits,
                                                  int n_queries, NearHit* hits) {
  return filter_all(tiles, bases, n_tiles, width, queries, limits, n_queries, hits);
}
template <class X>
__attribute__((target("avx2,fma"))) int rows_fma(const std::int64_t* indptr,
                                                 const std::int32_t* indices, const X* numbers,
                                                 const std::int32_t* rows, const float* bases,
                                                 std::int64_t n_rows, double scale,
                                                 const float* lanes, const float* limits,
                                                 NearHit* hits) {
  return filter_stored(indptr, indices, numbers, rows, bases, n_rows, scale, lanes, limits, hits);
}
#endif

bool has_fma() {
#ifdef TACIT_FMA_CLONES
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
#else
  return false;
#endif
}

}  // namespace

int filter_tiles(const float* tiles, const float* bases, std::int64_t n_tiles, std::int64_t width,
                 const float* const* queries, const float* limits, int n_queries, NearHit* hits) {
#ifdef TACIT_FMA_CLONES
  if (has_fma()) return tiles_fma(tiles, bases, n_tiles, width, queries, limits, n_queries, hits);
#endif
  return tiles_plain(tiles, bases, n_tiles, width, queries, limits, n_queries, hits);
}

template <class X>
int filter_rows(const std::int64_t* indptr, const std::int32_t* indices, const X* numbers,
                const std::int32_t* rows, const float* bases, std::int64_t n_rows, double scale,
                const float* lanes, const float* limits, NearHit* hits) {
#ifdef TACIT_FMA_CLONES
  if (has_fma())
    return rows_fma(indptr, indices, numbers, rows, bases, n_rows, scale, lanes, limits, hits);
#endif
  return rows_plain(indptr, indices, numbers, rows, bases, n_rows, scale, lanes, limits, hits);
}

#define TACIT_INSTANTIATE(X)                                                                      \
  template int filter_rows(const std::int64_t*, const std::int32_t*, const X*,                    \
                           const std::int32_t*, const float*, std::int64_t, double, const float*, \
                           const float*, NearHit*);
TACIT_INSTANTIATE(float)
TACIT_INSTANTIATE(double)
#undef TACIT_INSTANTIATE

}  // namespace tacit
