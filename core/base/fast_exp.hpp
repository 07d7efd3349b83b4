// exp of numbers that are not positive, several at once and without branches.
//
// Within 2 units in the last place; 0 where the result would be no normal number.
#pragma once

#include <cstdint>

#include "base/simd.hpp"

namespace tacit {

// e^x = 2^n e^r with |r| ≤ ½ log 2; adding `shift` (1.5·2^52 for doubles) leaves n in the low bits
// of the sum. e^r is a polynomial, its coefficients from the highest power down.
template <int kMantissaBits, class Bits, class V, class X, class... Series>
TACIT_INLINE V scaled_exp(V x, X shift, X least, X log2_e, X log2_high, X log2_low,
                          Series... series) {
  const V kept = x < least ? V{} + least : x;
  const V shifted = kept * log2_e + shift;
  const V n = shifted - shift;
  const V r = (kept - n * log2_high) - n * log2_low;
  const V scaled = (V)((Bits)polynomial(r, series...) + ((Bits)shifted << kMantissaBits));
  return x < least ? V{} : scaled;
}

TACIT_INLINE Double4 fast_exp(Double4 x) {
  return scaled_exp<52, Bits4>(x, 0x1.8p52, -708.3, 0x1.71547652b82fep0, 0x1.62e42fefa3800p-1,
                               0x1.ef35793c76730p-45, 1.0 / 479001600, 1.0 / 39916800,
                               1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
                               1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0);
}

TACIT_INLINE Float8 fast_exp(Float8 x) {
  return scaled_exp<23, Bits8>(x, 0x1.8p23f, -87.3f, 0x1.715476p0f, 0x1.62e000p-1f, 0x1.0bfbe8p-15f,
                               1.0f / 5040, 1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f,
                               1.0f);
}

}  // namespace tacit
