// The tables that a pass over the records multiplies: what follows from a mixture's probabilities.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/records.hpp"
#include "em/lanes.hpp"
#include "em/step.hpp"

namespace tacit {

// A positive, normal double x as mantissa · 2^exponent with mantissa in [1, 2).
struct Split {
  double mantissa;
  std::int64_t exponent;
};
TACIT_INLINE Split split(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return {std::bit_cast<double>((bits & kMantissa) | kOne),
          static_cast<std::int64_t>(bits >> 52) - 1023};
}

// mantissa · 2^exponent, for normal results.
TACIT_INLINE double join(double mantissa, std::int64_t exponent) {
  return mantissa * std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// A product of any number of positive, normal doubles.
struct LongProduct {
  double mantissa = 1;
  std::int64_t exponent = 0;
  TACIT_INLINE void multiply(double x) {
    const Split part = split(mantissa * x);
    mantissa = part.mantissa;
    exponent += part.exponent;
  }
  TACIT_INLINE void multiply(const double* x, std::int64_t n) {
    constexpr std::int64_t kMost = 250;  // four times as many mantissas' product stays in range
    while (n >= 4) {
      // Vectors of 16 bytes: all machines have them.
      Double2 product = {1, 1}, other = {1, 1};
      Bits2 exponents = {0, 0};
      const std::int64_t n_fours = n < 4 * kMost ? n / 4 : kMost;
      for (std::int64_t i = 0; i < n_fours; ++i, x += 4) {
        const Bits2 a = *reinterpret_cast<const Bits2*>(x);
        const Bits2 b = *reinterpret_cast<const Bits2*>(x + 2);
        product *= reinterpret_cast<Double2>((a & kMantissa) | kOne);
        other *= reinterpret_cast<Double2>((b & kMantissa) | kOne);
        exponents += (a >> 52) + (b >> 52);
      }
      product *= other;
      multiply(product[0] * product[1]);
      exponent += static_cast<std::int64_t>(exponents[0] + exponents[1]) - 4 * 1023 * n_fours;
      n -= 4 * n_fours;
    }
    for (; n > 0; --n, ++x) multiply(*x);
  }
  double log() const { return std::log(mantissa) + static_cast<double>(exponent) * kLog2; }
  static constexpr double kLog2 = 0.693147180559945309417232121458;
};

// Where products start, as a power of two: those of clusters that a record does not fit go down.
template <class T>
constexpr int kHead = sizeof(T) == 4 ? 100 : 400;

// A cluster that falls below this, or starts there, is 0 from then on.
template <class T>
constexpr T kBottom = static_cast<T>(sizeof(T) == 4 ? 0x1p-126 : 0x1p-1000);

// Sums over clusters outside of this are not used.
template <class T>
constexpr double kLow = sizeof(T) == 4 ? 0x1p-90 : 0x1p-900;
template <class T>
constexpr double kHigh = sizeof(T) == 4 ? 0x1p120 : 0x1p1000;

// rows[v] holds, for each cluster, P(v | cluster) / P(default of v's column | cluster) (equation 7)
// over 2^scale; `start` the probability of the record of defaults (equation 6) over
// 2^(top - kHead). Padding clusters start at 0.
template <class T>
struct Corrections {
  std::int64_t n_clusters, width;  // width: n_clusters, padded
  std::int64_t top;
  std::int64_t scale;        // such that a cluster stays where it starts with the values it expects
  Buffer<T> rows;            // n_values × width
  Buffer<T> start;           // width
  Buffer<double> mantissas;  // of the record of defaults, mantissa · 2^exponent
  Buffer<std::int64_t> exponents;
  Buffer<T> rises;    // n_values: the largest entry of each row, or 1
  std::int64_t rise;  // no row raises a cluster by more than 2^rise
  std::int64_t
      chunk;      // so many rows' product stays in range from a mantissa; for floats, from 2^64
  bool lossless;  // no entry is beyond the range of T; always so for doubles

  Corrections(const MixtureModel& model);

 private:
  void find_scale(const MixtureModel& model);
  void fill_rows(const MixtureModel& model);
  void fill_start();
};

}  // namespace tacit
