// exp of numbers that are not positive, several at once and without branches.
//
// Within 2 units in the last place; 0 where the result would be no normal number.
#pragma once

#include <cstdint>

#include "base/simd.hpp"

namespace tacit {

// e^x = 2^n e^r with |r| ≤ ½ log 2; adding 1.5·2^52 leaves n in the low bits of the sum.
TACIT_INLINE Double4 fast_exp(Double4 x) {
  constexpr double kShift = 0x1.8p52, kLeast = -708.3;
  constexpr double kLog2High = 0x1.62e42fefa3800p-1, kLog2Low = 0x1.ef35793c76730p-45;
  const Double4 kept = x < kLeast ? Double4{} + kLeast : x;
  const Double4 shifted = kept * 0x1.71547652b82fep0 + kShift;
  const Double4 n = shifted - kShift;
  const Double4 r = (kept - n * kLog2High) - n * kLog2Low;
  Double4 sum = r * (1.0 / 479001600) + 1.0 / 39916800;
  sum = sum * r + 1.0 / 3628800;
  sum = sum * r + 1.0 / 362880;
  sum = sum * r + 1.0 / 40320;
  sum = sum * r + 1.0 / 5040;
  sum = sum * r + 1.0 / 720;
  sum = sum * r + 1.0 / 120;
  sum = sum * r + 1.0 / 24;
  sum = sum * r + 1.0 / 6;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  const Double4 scaled = (Double4)((Bits4)sum + ((Bits4)shifted << 52));
  return x < kLeast ? Double4{} : scaled;
}

TACIT_INLINE Float8 fast_exp(Float8 x) {
  constexpr float kShift = 0x1.8p23f, kLeast = -87.3f;
  constexpr float kLog2High = 0x1.62e000p-1f, kLog2Low = 0x1.0bfbe8p-15f;
  const Float8 kept = x < kLeast ? Float8{} + kLeast : x;
  const Float8 shifted = kept * 0x1.715476p0f + kShift;
  const Float8 n = shifted - kShift;
  const Float8 r = (kept - n * kLog2High) - n * kLog2Low;
  Float8 sum = r * (1.0f / 5040) + 1.0f / 720;
  sum = sum * r + 1.0f / 120;
  sum = sum * r + 1.0f / 24;
  sum = sum * r + 1.0f / 6;
  sum = sum * r + 0.5f;
  sum = sum * r + 1.0f;
  sum = sum * r + 1.0f;
  const Float8 scaled = (Float8)((Bits8)sum + ((Bits8)shifted << 23));
  return x < kLeast ? Float8{} : scaled;
}

}  // namespace tacit
