#include "em_corrections.hpp"

#include <algorithm>
#include <limits>

namespace tacit {
namespace {

double at_least(double p) { return p > kLeastProbability ? p : kLeastProbability; }

// P(value), over all clusters.
double overall(const double* row, const double* shares, std::int64_t n) {
  const auto at = [](const double* p) { return *reinterpret_cast<const Double2*>(p); };
  Double2 sum = {0, 0}, other = {0, 0};
  std::int64_t k = 0;
  for (; k + 4 <= n; k += 4) {
    sum += at(row + k) * at(shares + k);
    other += at(row + k + 2) * at(shares + k + 2);
  }
  double whole = (sum[0] + other[0]) + (sum[1] + other[1]);
  for (; k < n; ++k) whole += row[k] * shares[k];
  return whole;
}

template <class T>
T rounded(double x) {
  if constexpr (sizeof(T) == 4) {
    if (x > std::numeric_limits<float>::max()) return std::numeric_limits<float>::infinity();
    if (x < std::numeric_limits<float>::min()) return 0;
  }
  return static_cast<T>(x);
}

}  // namespace

template <class T>
Corrections<T>::Corrections(const MixtureModel& mixture)
    : model(mixture),
      n_clusters(mixture.n_clusters),
      width(padded<T>(mixture.n_clusters)),
      rows(static_cast<std::size_t>(mixture.n_values * width)),
      start(static_cast<std::size_t>(width)),
      wide_start(static_cast<std::size_t>(width)),
      mantissas(static_cast<std::size_t>(width)),
      exponents(static_cast<std::size_t>(width)),
      rises(static_cast<std::size_t>(mixture.n_values)) {
  find_scale();
  fill_rows();
  fill_start();
}

// The typical factor of a stored value: its logarithm is averaged over all that are expected.
template <class T>
void Corrections<T>::find_scale() {
  double whole = 0, sum = 0;
  for (std::int64_t c = 0; c < model.n_columns; ++c) {
    const double base =
        at_least(overall(model.defaults + c * n_clusters, model.shares, n_clusters));
    for (std::int64_t v = model.offsets[c]; v < model.offsets[c + 1]; ++v) {
      const double p = at_least(overall(model.stored + v * n_clusters, model.shares, n_clusters));
      whole += p;
      sum += p * static_cast<double>(split(p / base).exponent);
    }
  }
  scale = whole > 0 ? std::llround(sum / whole) : 0;
}

template <class T>
void Corrections<T>::fill_rows() {
  const std::int64_t K = n_clusters;
  Buffer<double> inverse(static_cast<std::size_t>(K));
  double* const factor = inverse.data();
  const double unit = join(1, -scale);
  double least = 1, most = 1;
  for (std::int64_t c = 0; c < model.n_columns; ++c) {
    const double* const base = model.defaults + c * K;
    for (std::int64_t k = 0; k < K; ++k) factor[k] = unit / at_least(base[k]);
    for (std::int64_t v = model.offsets[c]; v < model.offsets[c + 1]; ++v) {
      const double* const p = model.stored + v * K;
      T* const out = rows.data() + v * width;
      double lowest = std::numeric_limits<double>::infinity(), highest = 0;
      for (std::int64_t k = 0; k < K; ++k) {
        const double x = at_least(p[k]) * factor[k];
        lowest = x < lowest ? x : lowest;
        highest = x > highest ? x : highest;
        out[k] = rounded<T>(x);
      }
      for (std::int64_t k = K; k < width; ++k) out[k] = 1;
      least = std::min(least, lowest);
      most = std::max(most, highest);
      const std::int64_t rise = std::max<std::int64_t>(split(highest).exponent + 1, 0);
      rises.data()[v] = static_cast<std::uint16_t>(rise);
    }
  }
  lossless = least >= static_cast<double>(std::numeric_limits<T>::min()) &&
             most <= static_cast<double>(std::numeric_limits<T>::max());
  chunk = 1000 / (std::max(split(most).exponent, -split(least).exponent) + 1);
}

template <class T>
void Corrections<T>::fill_start() {
  const std::int64_t K = n_clusters;
  constexpr std::int64_t kStretch = 4;  // so many probabilities' product is a normal number
  for (std::int64_t k = 0; k < width; ++k) {
    const Split part = split(k < K ? at_least(model.shares[k]) : 1);
    mantissas.data()[k] = part.mantissa;
    exponents.data()[k] = part.exponent;
  }
  for (std::int64_t c = 0; c < model.n_columns;) {
    const std::int64_t stop = std::min(c + kStretch, model.n_columns);
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
  const auto from = [&](std::int64_t k, std::int64_t head, std::int64_t bottom) {
    const std::int64_t exponent = exponents.data()[k] - top + head;
    if (k >= K) return join(1, bottom);
    return exponent >= bottom ? join(mantissas.data()[k], exponent) : 0.0;
  };
  for (std::int64_t k = 0; k < width; ++k) {
    start.data()[k] = static_cast<T>(from(k, kHead<T>, kBottom<T>));
    wide_start.data()[k] = from(k, kHead<double>, kBottom<double>);
  }
}

template <class T>
void Corrections<T>::exact_row(std::int64_t v, double* out) const {
  if (lossless) {
    const T* const row = rows.data() + v * width;
    for (std::int64_t k = 0; k < n_clusters; ++k) out[k] = static_cast<double>(row[k]);
    return;
  }
  const auto* const end = model.offsets + model.n_columns + 1;
  const std::int64_t c = std::upper_bound(model.offsets, end, v) - model.offsets - 1;
  const double* const base = model.defaults + c * n_clusters;
  const double* const p = model.stored + v * n_clusters;
  const double unit = join(1, -scale);
  for (std::int64_t k = 0; k < n_clusters; ++k) out[k] = at_least(p[k]) * (unit / at_least(base[k]));
}

template struct Corrections<double>;
template struct Corrections<float>;

}  // namespace tacit
