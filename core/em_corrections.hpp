// The tables that a pass over the records multiplies: what follows from a mixture's probabilities.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "em_lanes.hpp"
#include "em_step.hpp"
#include "records.hpp"

namespace tacit {

// A positive, normal double x as mantissa · 2^exponent with mantissa in [1, 2).
struct Split {
  double mantissa;
  std::int64_t exponent;
};
TACIT_INLINE Split split(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  return {std::bit_cast<double>((bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL),
          static_cast<std::int64_t>(bits >> 52) - 1023};
}

// mantissa · 2^exponent, for normal results.
TACIT_INLINE double join(double mantissa, std::int64_t exponent) {
  return mantissa * std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// A product of any length.
struct LongProduct {
  double mantissa = 1;
  std::int64_t exponent = 0;
  TACIT_INLINE void multiply(double x) {
    const Split part = split(mantissa * x);
    mantissa = part.mantissa;
    exponent += part.exponent;
  }
  // At most a thousand numbers: their mantissas' product stays in range.
  TACIT_INLINE void multiply(const double* x, std::int64_t n) {
    double product = mantissa;
    for (std::int64_t i = 0; i < n; ++i) {
      const Split part = split(x[i]);
      product *= part.mantissa;
      exponent += part.exponent;
    }
    mantissa = 1;
    multiply(product);
  }
  double log() const { return std::log(mantissa) + static_cast<double>(exponent) * kLog2; }
  static constexpr double kLog2 = 0.693147180559945309417232121458;
};

// What a float row was divided by, and how far it can raise a cluster: powers of two, packed so
// that those of a record add up in one go.
struct RowRange {
  std::int64_t packed;
  static RowRange of(std::int64_t scale, std::int64_t rise) {
    return {scale * (std::int64_t{1} << 32) + rise};
  }
  std::int64_t rise() const { return packed & 0xffffffff; }
  std::int64_t scale() const { return packed >> 32; }
};

// rows[v] holds, for each cluster, P(v | cluster) / P(default of v's column | cluster) (equation 7;
// for floats over 2^scale, so that clusters of average size stay near 1); `start` the probability
// of the record of defaults (equation 6) over 2^(top - kHead). Padding clusters have start 0.
template <class T>
struct Corrections {
  std::int64_t n_clusters, width;  // width: n_clusters, padded
  Buffer<T> rows;                  // n_values × width
  Buffer<RowRange> ranges;         // n_values, for floats
  Buffer<T> start;                 // width
  Buffer<double> wide_start;       // the same from where doubles start
  Buffer<double> mantissas;        // start = mantissa · 2^(exponent - top)
  Buffer<std::int64_t> exponents;
  std::int64_t top;
  std::int64_t rise;   // no row of doubles raises a cluster by more powers of two than this
  std::int64_t chunk;  // products of this many rows, in double, stay in range from a mantissa

  Corrections(const MixtureModel& model);
};

// Products start here: probabilities go down, and there is as much room above 1 as below.
template <class T>
constexpr int kHead = std::is_same_v<T, float> ? 100 : 500;

template <class T>
Corrections<T>::Corrections(const MixtureModel& model)
    : n_clusters(model.n_clusters),
      width((model.n_clusters + kUnit - 1) / kUnit * kUnit),
      rows(static_cast<std::size_t>(model.n_values * width)),
      ranges(static_cast<std::size_t>(std::is_same_v<T, float> ? model.n_values : 0)),
      start(static_cast<std::size_t>(width)),
      wide_start(static_cast<std::size_t>(width)),
      mantissas(static_cast<std::size_t>(width)),
      exponents(static_cast<std::size_t>(width)) {
  const std::int64_t K = n_clusters;
  Buffer<LongProduct> base(static_cast<std::size_t>(K));
  for (std::int64_t k = 0; k < K; ++k)
    base.data()[k] = LongProduct{}, base.data()[k].multiply(std::max(model.shares[k], kLeastProbability));
  Buffer<double> row(static_cast<std::size_t>(K)), floor(static_cast<std::size_t>(K));
  double least = 1, most = 1;
  for (std::int64_t c = 0; c < model.n_columns; ++c) {
    for (std::int64_t k = 0; k < K; ++k) {
      const double p = std::max(model.defaults[c * K + k], kLeastProbability);
      floor.data()[k] = p;
      base.data()[k].multiply(p);
    }
    for (std::int64_t v = model.offsets[c]; v < model.offsets[c + 1]; ++v) {
      double average = 0, lowest = std::numeric_limits<double>::infinity(), highest = 0;
      for (std::int64_t k = 0; k < K; ++k) {
        const double x = std::max(model.stored[v * K + k], kLeastProbability) / floor.data()[k];
        row.data()[k] = x;
        average += model.shares[k] * x;
        lowest = std::min(lowest, x);
        highest = std::max(highest, x);
      }
      least = std::min(least, lowest);
      most = std::max(most, highest);
      T* const out = rows.data() + v * width;
      if constexpr (std::is_same_v<T, float>) {
        // A cluster far from the average may leave the range of floats: ranges tell.
        const std::int64_t scale = split(std::max(average, kLeastProbability)).exponent;
        const double factor = std::ldexp(1.0, static_cast<int>(-scale));
        const std::int64_t up = split(highest).exponent + 1 - scale;
        ranges.data()[v] = RowRange::of(scale, std::max<std::int64_t>(up, 0));
        for (std::int64_t k = 0; k < K; ++k) out[k] = static_cast<float>(row.data()[k] * factor);
      } else {
        for (std::int64_t k = 0; k < K; ++k) out[k] = row.data()[k];
      }
      for (std::int64_t k = K; k < width; ++k) out[k] = 1;
    }
  }
  top = std::numeric_limits<std::int64_t>::min();
  for (std::int64_t k = 0; k < K; ++k) {
    mantissas.data()[k] = base.data()[k].mantissa;
    exponents.data()[k] = base.data()[k].exponent;
    top = std::max(top, exponents.data()[k]);
  }
  for (std::int64_t k = 0; k < width; ++k) start.data()[k] = 0, wide_start.data()[k] = 0;
  for (std::int64_t k = K; k < width; ++k) mantissas.data()[k] = 1, exponents.data()[k] = 0;
  for (std::int64_t k = 0; k < K; ++k) {
    const std::int64_t below = std::max<std::int64_t>(exponents.data()[k] - top, -1000);
    start.data()[k] = static_cast<T>(join(mantissas.data()[k], below + kHead<T>));
    wide_start.data()[k] = join(mantissas.data()[k], below + kHead<double>);
  }
  rise = std::max<std::int64_t>(split(most).exponent + 1, 0);
  // Floats, too, come down to 2^-149; products of six are in the range of doubles.
  const std::int64_t step = std::max(rise, -split(least).exponent) + 1;
  chunk = std::is_same_v<T, float> ? 6 : 1000 / step;
}

}  // namespace tacit
