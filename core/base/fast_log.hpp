// Logarithms and log-gamma functions, of one number or of four at once.
//
// Accurate to about 1e-15 (log) and 1e-13 (log_gamma) of the result; arguments are positive and
// neither denormal nor infinite. No branches, so that a loop over counts runs in vector registers.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/simd.hpp"

namespace tacit {

TACIT_INLINE std::uint64_t bits_of(double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
TACIT_INLINE double number_of(std::uint64_t bits) {
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
TACIT_INLINE Word4 bits_of(Number4 x) { return (Word4)x; }
TACIT_INLINE Number4 number_of(Word4 bits) { return (Number4)bits; }

// log x = e log 2 + log m with m in [√½, √2), and log m = 2 artanh((m - 1) / (m + 1)).
template <class D>
TACIT_INLINE D fast_log(D x) {
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e667f3bcd, kExponent = 0xfff0000000000000;
  constexpr std::uint64_t kUnity = 0x3ff0000000000000;
  constexpr std::uint64_t kTwo52 = 0x4330000000000000;  // the bits of 2^52
  const auto bits = bits_of(x);
  const auto moved = bits + (kUnity - kRootHalf);
  const D exponent = number_of((moved >> 52) | kTwo52) - (4503599627370496.0 + 1023.0);
  const D m = number_of(bits - (moved & kExponent) + kUnity);
  const D s = (m - 1.0) / (m + 1.0);
  const D z = s * s;
  const D series = polynomial(z, 1.0 / 21.0, 1.0 / 19.0, 1.0 / 17.0, 1.0 / 15.0, 1.0 / 13.0,
                              1.0 / 11.0, 1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0);
  constexpr double kLog2High = 0x1.62e42fefa3800p-1, kLog2Low = 0x1.ef35793c76730p-45;
  return exponent * kLog2High + (2.0 * s + (2.0 * s * (z * series) + exponent * kLog2Low));
}

// Stirling's series at x + 8, less the logarithm of x (x + 1) … (x + 7).
template <class D>
TACIT_INLINE D log_gamma(D x) {
  const D y = x + 8.0;
  const D product =
      (x * (x + 1.0)) * ((x + 2.0) * (x + 3.0)) * ((x + 4.0) * (x + 5.0)) * ((x + 6.0) * (x + 7.0));
  const D r = 1.0 / y;
  const D q = r * r;
  const D series =
      polynomial(q, 1.0 / 1188.0, -1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0);
  constexpr double kHalfLog2Pi = 0.91893853320467274178;
  return (y - 0.5) * fast_log(y) - y + (kHalfLog2Pi + r * series) - fast_log(product);
}

}  // namespace tacit
