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

// Rows of doubles, two at a time: all machines have vectors of 16 bytes.
struct Pairs {
  static const Double2& at(const double* p) { return *reinterpret_cast<const Double2*>(p); }
  static Double2& at(double* p) { return *reinterpret_cast<Double2*>(p); }
};

// Adds up Σ mixing_weights · p, and the same times the exponent of p over that of `base` (by
// exponent_up).
void add_expected(const double* mixing_weights, const double* p, const double* base, std::int64_t n,
                  double& whole, double& sum) {
  Double2 parts = {0, 0}, sums = {0, 0};
  std::int64_t k = 0;
  for (; k + 2 <= n; k += 2) {
    const Double2 expected = Pairs::at(mixing_weights + k) * Pairs::at(p + k);
    const Bits2 bits = reinterpret_cast<const Bits2&>(Pairs::at(p + k)) >> 52 | 0x4330000000000000;
    parts += expected;
    sums += expected * (reinterpret_cast<Double2>(bits) - Pairs::at(base + k));
  }
  for (; k < n; ++k) {
    parts[0] += mixing_weights[k] * p[k];
    sums[0] += mixing_weights[k] * p[k] * (exponent_up(p[k]) - base[k]);
  }
  whole += parts[0] + parts[1];
  sum += sums[0] + sums[1];
}

// out = max(p, least probability) · factor; returns the lowest and the highest.
std::pair<double, double> correct(const double* p, const double* factor, std::int64_t n,
                                  double* out) {
  const Double2 floor = {kLeastProbability, kLeastProbability};
  Double2 lowest = Double2{} + std::numeric_limits<double>::infinity(), highest = {0, 0};
  std::int64_t k = 0;
  for (; k + 2 <= n; k += 2) {
    const Double2 value = Pairs::at(p + k);
    const Double2 x = (value > floor ? value : floor) * Pairs::at(factor + k);
    lowest = x < lowest ? x : lowest;
    highest = x > highest ? x : highest;
    Pairs::at(out + k) = x;
  }
  for (; k < n; ++k) {
    out[k] = at_least(p[k]) * factor[k];
    lowest[0] = std::min(lowest[0], out[k]);
    highest[0] = std::max(highest[0], out[k]);
  }
  return {std::min(lowest[0], lowest[1]), std::max(highest[0], highest[1])};
}

// Entries that floats can hold and multiply.
template <class T>
constexpr double kLeast = sizeof(T) == 4 ? 0x1p-126 : 0;
template <class T>
constexpr double kMost = sizeof(T) == 4 ? 0x1p60 : 0x1p1000;

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
  fill_start(model);
}

// log2 of a row's entry, rounded, on average over all stored values that are expected.
template <class T>
void Corrections<T>::find_scale(const MixtureModel& model) {
  const std::int64_t K = n_clusters;
  Buffer<double> base(static_cast<std::size_t>(K));
  double whole = 0, sum = 0;
  for (std::int64_t c = 0; c < model.n_columns; ++c) {
    for (std::int64_t k = 0; k < K; ++k)
      base.data()[k] = exponent_up(at_least(model.defaults[c * K + k]));
    for (std::int64_t v = model.offsets[c]; v < model.offsets[c + 1]; ++v)
      add_expected(model.mixing_weights, model.stored + v * K, base.data(), K, whole, sum);
  }
  scale = whole > 0 ? std::llround(sum / whole) : 0;
}

template <class T>
void Corrections<T>::fill_rows(const MixtureModel& model) {
  const std::int64_t K = n_clusters;
  Buffer<double> factor(static_cast<std::size_t>(K)), row(static_cast<std::size_t>(K));
  const double unit = join(1, -scale);
  double least = 1, most = 1;
  for (std::int64_t c = 0; c < model.n_columns; ++c) {
    const double* const base = model.defaults + c * K;
    for (std::int64_t k = 0; k < K; ++k) factor.data()[k] = unit / at_least(base[k]);
    for (std::int64_t v = model.offsets[c]; v < model.offsets[c + 1]; ++v) {
      const auto [low, high] = correct(model.stored + v * K, factor.data(), K, row.data());
      least = std::min(least, low);
      most = std::max(most, high);
      if (most > kMost<T>) break;
      T* const out = rows.data() + v * width;
      for (std::int64_t k = 0; k < K; ++k) out[k] = static_cast<T>(row.data()[k]);
      for (std::int64_t k = K; k < width; ++k) out[k] = 1;
      rises.data()[v] = static_cast<T>(std::max(high, 1.0));
    }
  }
  lossless = least >= kLeast<T> && most <= kMost<T>;
  rise = split(most).exponent + 1;
  const std::int64_t fall = 1 - split(least).exponent;
  chunk = sizeof(T) == 8 ? 1000 / std::max(rise, fall) : std::min(62 / rise, 189 / fall);
}

template <class T>
void Corrections<T>::fill_start(const MixtureModel& model) {
  const std::int64_t K = n_clusters;
  constexpr std::int64_t kChunk = 4;  // so many probabilities' product is a normal number
  for (std::int64_t k = 0; k < width; ++k) {
    const Split part = split(k < K ? at_least(model.mixing_weights[k]) : 1);
    mantissas.data()[k] = part.mantissa;
    exponents.data()[k] = part.exponent;
  }
  for (std::int64_t c = 0; c < model.n_columns;) {
    const std::int64_t stop = std::min(c + kChunk, model.n_columns);
    for (; c < stop; ++c)
      for (std::int64_t k = 0; k < K; ++k)
        mantissas.data()[k] *= at_least(model.defaults[c * K + k]);
    for (std::int64_t k = 0; k < K; ++k) {
      const Split part = split(mantissas.data()[k]);
      mantissas.data()[k] = part.mantissa;
      exponents.data()[k] += part.exponent;
    }
  }
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
