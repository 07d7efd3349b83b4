#include "em/corrections.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tacit {
namespace {

double at_least(double p) { return p > kLeastProbability ? p : kLeastProbability; }

// The exponent of x as a number, and a constant: without a conversion, which is no vector
// operation.
double exponent_up(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) >> 52 | 0x4330000000000000);
}

// Four clusters at a time; compilers make of it what the machine has.
TACIT_INLINE const Double4& four(const double* p) { return *reinterpret_cast<const Double4*>(p); }
TACIT_INLINE Double4& four(double* p) { return *reinterpret_cast<Double4*>(p); }
TACIT_INLINE double lowest_of(Double4 x) {
  return std::min(std::min(x[0], x[1]), std::min(x[2], x[3]));
}
TACIT_INLINE double highest_of(Double4 x) {
  return std::max(std::max(x[0], x[1]), std::max(x[2], x[3]));
}
TACIT_INLINE void store_four(Double4 x, double* out) { four(out) = x; }
TACIT_INLINE void store_four(Double4 x, float* out) {
  *reinterpret_cast<Float4*>(out) = __builtin_convertvector(x, Float4);
}

struct Expected {
  double whole = 0, sum = 0;
};

// Adds up Σ mixing_weights · p, and the same times the exponent of p over that of the default (by
// exponent_up).
TACIT_INLINE void add_expected(const double* mixing_weights, const double* p, const double* base,
                               std::int64_t n, Expected* out) {
  Double4 parts = {}, sums = {};
  std::int64_t k = 0;
  const Double4 floor = Double4{} + kLeastProbability;
  for (; k + 4 <= n; k += 4) {
    const Double4 below = four(base + k) > floor ? four(base + k) : floor;
    const Double4 expected = four(mixing_weights + k) * four(p + k);
    const Bits4 up = reinterpret_cast<const Bits4&>(four(p + k)) >> 52 | 0x4330000000000000;
    const Bits4 down = reinterpret_cast<const Bits4&>(below) >> 52 | 0x4330000000000000;
    parts += expected;
    sums += expected * (reinterpret_cast<Double4>(up) - reinterpret_cast<Double4>(down));
  }
  for (; k < n; ++k) {
    parts[0] += mixing_weights[k] * p[k];
    sums[0] += mixing_weights[k] * p[k] * (exponent_up(p[k]) - exponent_up(at_least(base[k])));
  }
  out->whole += (parts[0] + parts[2]) + (parts[1] + parts[3]);
  out->sum += (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

// Entries that floats can hold and multiply.
template <class T>
constexpr double kLeast = sizeof(T) == 4 ? 0x1p-126 : 0;
template <class T>
constexpr double kMost = sizeof(T) == 4 ? 0x1p60 : 0x1p1000;

// What rows have been filled tells of their entries.
struct Extremes {
  double least = 1, most = 1;
};

// Rows of columns, and what their defaults do to the record of defaults. Each probability is read
// once; with many columns and few records a step takes little else.
template <class T>
TACIT_INLINE void fill_body(const MixtureModel& model, double unit, std::int64_t width,
                            double* factor, T* rows, T* rises, double* mantissas,
                            std::int64_t* exponents, Extremes* extremes) {
  const std::int64_t K = model.n_clusters, n_columns = model.n_columns;
  constexpr std::int64_t kChunk = 4;  // so many probabilities' product is a normal number
  const Double4 floor = Double4{} + kLeastProbability;
  double least = extremes->least, most = extremes->most;
  // What floats cannot hold, doubles will do all again.
  const auto fits = [&] { return least >= kLeast<T> && most <= kMost<T>; };
  for (std::int64_t c = 0; c < n_columns && fits(); ++c) {
    const double* const base = model.defaults + c * K;
    std::int64_t k = 0;
    for (; k + 4 <= K; k += 4) {
      const Double4 p = four(base + k) > floor ? four(base + k) : floor;
      four(factor + k) = unit / p;
      four(mantissas + k) *= p;
    }
    for (; k < K; ++k) {
      factor[k] = unit / at_least(base[k]);
      mantissas[k] *= at_least(base[k]);
    }
    if (c % kChunk == kChunk - 1 || c == n_columns - 1)
      for (k = 0; k < K; ++k) {
        const Split part = split(mantissas[k]);
        mantissas[k] = part.mantissa;
        exponents[k] += part.exponent;
      }
    for (std::int64_t v = model.offsets[c]; v < model.offsets[c + 1]; ++v) {
      const double* const p = model.stored + v * K;
      T* const out = rows + v * width;
      Double4 lows = Double4{} + std::numeric_limits<double>::infinity(), highs = {};
      for (k = 0; k + 4 <= K; k += 4) {
        const Double4 x = (four(p + k) > floor ? four(p + k) : floor) * four(factor + k);
        lows = x < lows ? x : lows;
        highs = x > highs ? x : highs;
        store_four(x, out + k);
      }
      double low = lowest_of(lows), high = highest_of(highs);
      for (; k < K; ++k) {
        const double x = at_least(p[k]) * factor[k];
        low = std::min(low, x);
        high = std::max(high, x);
        out[k] = static_cast<T>(x);
      }
      for (; k < width; ++k) out[k] = 1;
      least = std::min(least, low);
      most = std::max(most, high);
      rises[v] = static_cast<T>(std::max(high, 1.0));
      if (!fits()) break;
    }
  }
  *extremes = {least, most};
}

}  // namespace

template <class T>
Corrections<T>::Corrections(const MixtureModel& model)
    : n_clusters(model.n_clusters),
      width(padded<T>(model.n_clusters)),
      rows(static_cast<std::size_t>(model.n_values * width)),
      start(static_cast<std::size_t>(width)),
      mantissas(static_cast<std::size_t>(width)),
      exponents(static_cast<std::size_t>(width)),
      rises(static_cast<std::size_t>(model.n_values)) {
  find_scale(model);
  fill_rows(model);
  fill_start();
}

// log2 of a row's entry, rounded, on average over all stored values that are expected. Any number
// near it will do: of many columns some are looked at.
template <class T>
void Corrections<T>::find_scale(const MixtureModel& model) {
  constexpr std::int64_t kLooked = 2048;
  const auto add = avx2_or_plain<add_expected>();
  const std::int64_t K = n_clusters, step = model.n_columns / kLooked + 1;
  Expected expected;
  for (std::int64_t c = 0; c < model.n_columns; c += step)
    for (std::int64_t v = model.offsets[c]; v < model.offsets[c + 1]; ++v)
      add(model.mixing_weights, model.stored + v * K, model.defaults + c * K, K, &expected);
  scale = expected.whole > 0 ? std::llround(expected.sum / expected.whole) : 0;
}

template <class T>
void Corrections<T>::fill_rows(const MixtureModel& model) {
  const std::int64_t K = n_clusters;
  Buffer<double> factor(static_cast<std::size_t>(K));
  for (std::int64_t k = 0; k < width; ++k) {
    const Split part = split(k < K ? at_least(model.mixing_weights[k]) : 1);
    mantissas.data()[k] = part.mantissa;
    exponents.data()[k] = part.exponent;
  }
  Extremes extremes;
  avx2_or_plain<fill_body<T>>()(model, join(1, -scale), width, factor.data(), rows.data(),
                                rises.data(), mantissas.data(), exponents.data(), &extremes);
  const auto [least, most] = extremes;
  lossless = least >= kLeast<T> && most <= kMost<T>;
  rise = split(most).exponent + 1;
  const std::int64_t fall = 1 - split(least).exponent;
  chunk = sizeof(T) == 8 ? 1000 / std::max(rise, fall) : std::min(62 / rise, 189 / fall);
}

template <class T>
void Corrections<T>::fill_start() {
  const std::int64_t K = n_clusters;
  top = *std::max_element(exponents.data(), exponents.data() + K);
  for (std::int64_t k = 0; k < width; ++k) {
    const std::int64_t below = std::max<std::int64_t>(exponents.data()[k] - top, -1401);
    const double x = k < K ? join(mantissas.data()[k], below + kHead<T>) : 0;
    start.data()[k] = x < static_cast<double>(kBottom<T>) ? 0 : static_cast<T>(x);
  }
}

template struct Corrections<double>;
template struct Corrections<float>;

}  // namespace tacit
