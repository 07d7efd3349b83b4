#include "base/bits.hpp"

#include <bit>
#include <cstring>

#include "base/simd.hpp"

namespace tacit {
namespace {

std::int64_t plain(const std::uint64_t* a, const std::uint64_t* b, std::int64_t n) {
  std::int64_t total = 0;
  for (std::int64_t k = 0; k < n; ++k) total += std::popcount(a[k] & b[k]);
  return total;
}

// The compiler makes vector code of this, for whatever it is inlined into.
template <std::size_t kColumns>
TACIT_INLINE void index_body(const std::uint8_t* const* codes, const std::uint16_t* strides,
                             std::uint16_t base, std::int64_t n, std::uint16_t* __restrict cells) {
  const std::uint8_t* column[kColumns];
  std::uint16_t stride[kColumns];
  for (std::size_t c = 0; c < kColumns; ++c) column[c] = codes[c], stride[c] = strides[c];
  for (std::int64_t k = 0; k < n; ++k) {
    std::uint16_t cell = base;
    for (std::size_t c = 0; c < kColumns; ++c)
      cell = static_cast<std::uint16_t>(cell + column[c][k] * stride[c]);
    cells[k] = cell;
  }
}

#if TACIT_X86
// Adds three bits in each position: low gets the sum, the return value the carry.
TACIT_TARGET("avx2") TACIT_INLINE __m256i carry_save(__m256i& low, __m256i a, __m256i b) {
  const __m256i u = _mm256_xor_si256(low, a);
  const __m256i carry = _mm256_or_si256(_mm256_and_si256(low, a), _mm256_and_si256(u, b));
  low = _mm256_xor_si256(u, b);
  return carry;
}

// Population count of each 64-bit lane, by table look-up of half bytes.
TACIT_TARGET("avx2") TACIT_INLINE __m256i count_lanes(__m256i v) {
  const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2,
                                         1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i mask = _mm256_set1_epi8(15);
  const __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(v, mask));
  const __m256i high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), mask));
  return _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256());
}

// Harley–Seal: sixteen vectors are added with carry-save adders before one of them is counted.
TACIT_TARGET("avx2")
std::int64_t avx2(const std::uint64_t* a, const std::uint64_t* b, std::int64_t n) {
  const auto* pa = reinterpret_cast<const __m256i*>(a);
  const auto* pb = reinterpret_cast<const __m256i*>(b);
  const auto both = [&](std::int64_t k) TACIT_TARGET("avx2") TACIT_INLINE_LAMBDA {
    return _mm256_and_si256(_mm256_loadu_si256(pa + k), _mm256_loadu_si256(pb + k));
  };
  __m256i ones = _mm256_setzero_si256(), twos = ones, fours = ones, eights = ones, total = ones;
  const std::int64_t vectors = n / 4;
  for (std::int64_t k = 0; k < vectors; k += 16) {
    __m256i t[2], f[2], e[2];
    for (int half = 0; half < 2; ++half) {
      for (int quarter = 0; quarter < 2; ++quarter) {
        const std::int64_t at = k + 8 * half + 4 * quarter;
        t[0] = carry_save(ones, both(at), both(at + 1));
        t[1] = carry_save(ones, both(at + 2), both(at + 3));
        f[quarter] = carry_save(twos, t[0], t[1]);
      }
      e[half] = carry_save(fours, f[0], f[1]);
    }
    total = _mm256_add_epi64(total, count_lanes(carry_save(eights, e[0], e[1])));
  }
  total = _mm256_slli_epi64(total, 4);
  total = _mm256_add_epi64(total, _mm256_slli_epi64(count_lanes(eights), 3));
  total = _mm256_add_epi64(total, _mm256_slli_epi64(count_lanes(fours), 2));
  total = _mm256_add_epi64(total, _mm256_slli_epi64(count_lanes(twos), 1));
  total = _mm256_add_epi64(total, count_lanes(ones));
  alignas(32) std::int64_t lanes[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), total);
  return lanes[0] + lanes[1] + lanes[2] + lanes[3];
}

TACIT_TARGET("popcnt")
std::int64_t scalar_popcnt(const std::uint64_t* a, const std::uint64_t* b, std::int64_t n) {
  std::int64_t total = 0;
  for (std::int64_t k = 0; k < n; ++k) total += __builtin_popcountll(a[k] & b[k]);
  return total;
}

#endif

TACIT_INLINE std::uint64_t eight_bytes(const std::uint8_t* position) {
  std::uint64_t eight;
  std::memcpy(&eight, position, 8);
  return eight;
}

// Bytes k, k + 1, … of a row, eight at a time: a product gathers them in its highest byte. The last
// ones are read together with those before them.
TACIT_INLINE std::uint64_t pack_rest(const std::uint8_t* row, std::int64_t k, std::int64_t width,
                                     std::uint64_t& seen) {
  std::uint64_t word = 0;
  for (; k + 8 <= width; k += 8) {
    const std::uint64_t eight = eight_bytes(row + k);
    seen |= eight;
    word |= (eight * 0x0102040810204080u >> 56) << k;
  }
  if (k == width) return word;
  std::uint64_t last = 0;
  if (width >= 8)
    last = eight_bytes(row + width - 8) >> 8 * (8 - (width - k));
  else
    for (std::int64_t c = 0; c < width; ++c) last |= std::uint64_t{row[c]} << 8 * c;
  seen |= last;
  return word | (last * 0x0102040810204080u >> 56) << k;
}

std::uint64_t pack_plain(const std::uint8_t* rows, std::int64_t n_rows, std::int64_t stride,
                         std::int64_t width, std::uint64_t* words) {
  std::uint64_t seen = 0;
  for (std::int64_t r = 0; r < n_rows; ++r) words[r] = pack_rest(rows + r * stride, 0, width, seen);
  return seen;
}

#if TACIT_X86
TACIT_TARGET("avx2")
std::uint64_t pack_avx2(const std::uint8_t* rows, std::int64_t n_rows, std::int64_t stride,
                        std::int64_t width, std::uint64_t* words) {
  __m256i all = _mm256_setzero_si256();
  std::uint64_t seen = 0;
  for (std::int64_t r = 0; r < n_rows; ++r) {
    const std::uint8_t* row = rows + r * stride;
    std::uint64_t word = 0;
    std::int64_t k = 0;
    for (; k + 32 <= width; k += 32) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + k));
      all = _mm256_or_si256(all, bytes);
      const int bits = _mm256_movemask_epi8(_mm256_slli_epi16(bytes, 7));
      word |= std::uint64_t{static_cast<std::uint32_t>(bits)} << k;
    }
    words[r] = k < width ? word | pack_rest(row, k, width, seen) : word;
  }
  alignas(32) std::uint64_t lanes[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), all);
  return seen | lanes[0] | lanes[1] | lanes[2] | lanes[3];
}
#endif

// Few words are hit, and which ones, and by how many bits, is a lottery no branch predictor wins:
// a fixed number of positions is written for each, whether there are as many or not.
template <int kAtOnce, class Popcount, class First>
TACIT_INLINE std::uint32_t* list_hits(std::uint64_t* words, std::int64_t n_hit,
                                      const std::uint32_t* hit, std::uint32_t* out,
                                      Popcount popcount, First first) {
  for (std::int64_t h = 0; h < n_hit; ++h) {
    std::uint64_t bits = words[hit[h]];
    words[hit[h]] = 0;
    const std::uint32_t base = 64 * hit[h];
    int left = popcount(bits);
    for (;; out += kAtOnce, left -= kAtOnce) {
      for (int k = 0; k < kAtOnce; ++k) {
        out[k] = base + first(bits);
        bits &= bits - 1;
      }
      if (left <= kAtOnce) break;
    }
    out += left;
  }
  return out;
}

std::int64_t list_plain(std::uint64_t* words, std::int64_t n, std::uint32_t* hit,
                        std::uint32_t* positions) {
  std::int64_t n_hit = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    hit[n_hit] = static_cast<std::uint32_t>(k);
    n_hit += words[k] != 0;
  }
  return list_hits<4>(
             words, n_hit, hit, positions, [](std::uint64_t b) { return std::popcount(b); },
             [](std::uint64_t b) { return static_cast<std::uint32_t>(std::countr_zero(b)); }) -
         positions;
}

#if TACIT_X86
#define TACIT_WIDE TACIT_TARGET("avx2,bmi,popcnt")
TACIT_WIDE std::int64_t list_avx2(std::uint64_t* words, std::int64_t n, std::uint32_t* hit,
                                  std::uint32_t* positions) {
  // For each of the 16 ways in which four words can be hit: which ones, and how many.
  alignas(16) static constexpr std::uint32_t which[16][4] = {
      {0, 0, 0, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {2, 0, 0, 0}, {0, 2, 0, 0},
      {1, 2, 0, 0}, {0, 1, 2, 0}, {3, 0, 0, 0}, {0, 3, 0, 0}, {1, 3, 0, 0}, {0, 1, 3, 0},
      {2, 3, 0, 0}, {0, 2, 3, 0}, {1, 2, 3, 0}, {0, 1, 2, 3}};
  const __m256i zero = _mm256_setzero_si256();
  std::int64_t n_hit = 0, k = 0;
  for (; k + 4 <= n; k += 4) {
    const __m256i four = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words + k));
    const __m256i empty = _mm256_cmpeq_epi64(four, zero);
    const int mask = 15 ^ _mm256_movemask_pd(_mm256_castsi256_pd(empty));
    const __m128i position =
        _mm_add_epi32(_mm_set1_epi32(static_cast<int>(k)),
                      _mm_load_si128(reinterpret_cast<const __m128i*>(which[mask])));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(hit + n_hit), position);
    n_hit += __builtin_popcount(static_cast<unsigned>(mask));
  }
  for (; k < n; ++k) {
    hit[n_hit] = static_cast<std::uint32_t>(k);
    n_hit += words[k] != 0;
  }
  const auto popcount = [](std::uint64_t b) TACIT_WIDE { return __builtin_popcountll(b); };
  const auto first = [](std::uint64_t b)
                         TACIT_WIDE { return static_cast<std::uint32_t>(_tzcnt_u64(b)); };
  // Where few words are hit, most of them are hit once or twice.
  return (n_hit * 2 < n ? list_hits<2>(words, n_hit, hit, positions, popcount, first)
                        : list_hits<4>(words, n_hit, hit, positions, popcount, first)) -
         positions;
}
#endif

}  // namespace

ListBits list_bits() {
#if TACIT_X86
  if (has_avx2() && TACIT_HAS("bmi") && TACIT_HAS("popcnt")) return list_avx2;
#endif
  return list_plain;
}

IndexBytes index_bytes(std::size_t n_columns) {
  return with_constant<1, 2, 3, kMostIndexed>(
      static_cast<std::int64_t>(n_columns),
      [](auto n) -> IndexBytes { return avx2_or_plain<index_body<n>>(); });
}

PackRows pack_rows() {
#if TACIT_X86
  if (has_avx2()) return pack_avx2;
#endif
  return pack_plain;
}

AndPopcount and_popcount() {
#if TACIT_X86
  if (has_avx2()) return avx2;
  if (TACIT_HAS("popcnt")) return scalar_popcnt;
#endif
  return plain;
}

}  // namespace tacit
