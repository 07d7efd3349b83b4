#include "itemset/bit_rows.hpp"

#include <bit>

#include "base/simd.hpp"

namespace tacit {
namespace {

TACIT_INLINE void count_body(BitRows matrix, std::int64_t first, std::int64_t end,
                             const std::uint64_t* masks, std::int64_t n_planes,
                             std::int64_t* counts) {
  const std::int64_t words = matrix.words;
  for (std::int64_t r = first; r < end; ++r) {
    const std::uint64_t* row = matrix.rows + r * words;
    std::int64_t total = 0;
    for (std::int64_t p = 0; p < n_planes; ++p) {
      const std::uint64_t* mask = masks + p * words;
      std::int64_t plane = 0;
      for (std::int64_t k = 0; k < words; ++k) plane += __builtin_popcountll(mask[k] & row[k]);
      total += plane << p;
    }
    counts[r] = total;
  }
}

TACIT_INLINE std::int64_t mask_body(const std::uint64_t* mask, std::int64_t words, MaskWord* out) {
  std::int64_t n = 0;
  for (std::int64_t k = 0; k < words; ++k) {
    out[n] = {mask[k], k, __builtin_popcountll(mask[k])};
    n += mask[k] != 0;
  }
  return n;
}

std::int64_t mask_plain(const std::uint64_t* mask, std::int64_t words, MaskWord* out) {
  return mask_body(mask, words, out);
}

// Bits of `word` at the set positions of `mask`, one after the other.
std::uint64_t extract_plain(std::uint64_t word, std::uint64_t mask) {
  std::uint64_t out = 0;
  for (int k = 0; mask != 0; ++k, mask &= mask - 1)
    out |= (word >> std::countr_zero(mask) & 1) << k;
  return out;
}

template <class Extract>
TACIT_INLINE std::uint64_t* compress_body(const std::uint64_t* row, const MaskWord* mask,
                                          std::int64_t n_mask, std::uint64_t* out,
                                          Extract extract) {
  std::uint64_t gathered = 0;
  int filled = 0;
  for (std::int64_t m = 0; m < n_mask; ++m) {
    const std::uint64_t bits = extract(row[mask[m].at], mask[m].bits);
    gathered |= bits << filled;
    filled += mask[m].count;
    if (filled >= 64) {
      *out++ = gathered;
      filled -= 64;
      // What did not fit; shifting by 64 is not defined, and nothing is left then.
      gathered = filled == 0 ? 0 : bits >> (mask[m].count - filled);
    }
  }
  if (filled > 0) *out++ = gathered;
  return out;
}

std::uint64_t* compress_plain(const std::uint64_t* row, const MaskWord* mask, std::int64_t n_mask,
                              std::uint64_t* out) {
  return compress_body(row, mask, n_mask, out, extract_plain);
}

void count_plain(BitRows matrix, std::int64_t first, std::int64_t end, const std::uint64_t* masks,
                 std::int64_t n_planes, std::int64_t* counts) {
  count_body(matrix, first, end, masks, n_planes, counts);
}

#if TACIT_X86
TACIT_TARGET("popcnt")
void count_popcnt(BitRows matrix, std::int64_t first, std::int64_t end, const std::uint64_t* masks,
                  std::int64_t n_planes, std::int64_t* counts) {
  count_body(matrix, first, end, masks, n_planes, counts);
}

TACIT_TARGET("popcnt")
std::int64_t mask_popcnt(const std::uint64_t* mask, std::int64_t words, MaskWord* out) {
  return mask_body(mask, words, out);
}

// GCC 12 takes the undefined upper half in its own header for an oversight.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
TACIT_TARGET("popcnt,avx512f,avx512vpopcntdq")
void count_avx512(BitRows matrix, std::int64_t first, std::int64_t end, const std::uint64_t* masks,
                  std::int64_t n_planes, std::int64_t* counts) {
  const std::int64_t words = matrix.words;
  if (words < 4) return count_popcnt(matrix, first, end, masks, n_planes, counts);
  const auto rest = static_cast<__mmask8>((1u << (words & 7)) - 1);
  const std::int64_t whole = words & ~std::int64_t{7};
  for (std::int64_t r = first; r < end; ++r) {
    const std::uint64_t* row = matrix.rows + r * words;
    std::int64_t total = 0;
    for (std::int64_t p = 0; p < n_planes; ++p) {
      const std::uint64_t* mask = masks + p * words;
      const __m512i last = _mm512_and_si512(_mm512_maskz_loadu_epi64(rest, row + whole),
                                            _mm512_maskz_loadu_epi64(rest, mask + whole));
      __m512i sum = _mm512_popcnt_epi64(last);
      for (std::int64_t k = 0; k < whole; k += 8) {
        const __m512i both =
            _mm512_and_si512(_mm512_loadu_si512(row + k), _mm512_loadu_si512(mask + k));
        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(both));
      }
      total += _mm512_reduce_add_epi64(sum) << p;
    }
    counts[r] = total;
  }
}
#pragma GCC diagnostic pop

// Spelt out, since a function for one instruction set is not inlined into a template for any.
TACIT_INLINE std::uint64_t extract_bmi2(std::uint64_t word, std::uint64_t mask) {
  std::uint64_t out;
  __asm__("pext %2, %1, %0" : "=r"(out) : "r"(word), "r"(mask));
  return out;
}

std::uint64_t* compress_bmi2(const std::uint64_t* row, const MaskWord* mask, std::int64_t n_mask,
                             std::uint64_t* out) {
  return compress_body(row, mask, n_mask, out, extract_bmi2);
}
#endif

}  // namespace

CountRows count_rows() {
#if TACIT_X86
  if (TACIT_HAS("avx512vpopcntdq")) return count_avx512;
  if (TACIT_HAS("popcnt")) return count_popcnt;
#endif
  return count_plain;
}

MaskWords mask_words() {
#if TACIT_X86
  if (TACIT_HAS("popcnt")) return mask_popcnt;
#endif
  return mask_plain;
}

CompressRow compress_row() {
#if TACIT_X86
  if (TACIT_HAS("bmi2")) return compress_bmi2;
#endif
  return compress_plain;
}

}  // namespace tacit
