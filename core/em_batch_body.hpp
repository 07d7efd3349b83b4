// The inner loops of EM, to be compiled for each type of numbers by a file of its own.
#pragma once

#include <algorithm>
#include <type_traits>

#include "em_batch.hpp"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define TACIT_X86 1
#endif

namespace tacit {
namespace {

constexpr std::int64_t kLong = 48;   // stored values whose product often leaves the range of floats

// How many clusters there are, as far as the compiler is to know: vectors of a group, those of the
// last group, and whether there are groups before it. That a row's width is a constant is worth a
// sixth of the time.
template <int kFront, int kLast, bool kMany>
struct Shape {
  static constexpr int kFrontUnits = kFront, kLastUnits = kLast;
  template <class T>
  static TACIT_INLINE std::int64_t width(std::int64_t actual) {
    return kMany ? actual : kLast * kUnit<T>;
  }
  // Calls body(first cluster, number of vectors) for each group.
  template <class T, class Body>
  static TACIT_INLINE void for_groups(std::int64_t actual, const Body& body) {
    const std::int64_t n_front = width<T>(actual) - kLast * kUnit<T>;
    for (std::int64_t first = 0; first < n_front; first += kFront * kUnit<T>)
      body(first, std::integral_constant<int, kFront>{});
    body(n_front, std::integral_constant<int, kLast>{});
  }
};

// Powers of two by which a record's rows can raise a cluster.
template <class V, class T>
std::int64_t record_rise(const Corrections<T>& c, const V* p, const V* end) {
  std::int64_t rise = 0;
  for (; p < end; ++p) rise += c.rises.data()[*p];
  return rise;
}

// For the rare record whose product could leave the range of doubles: exponents are kept apart.
template <class V, class T>
__attribute__((noinline)) void weigh_apart(const Corrections<T>& c, const V* p, const V* end,
                                           Batch<T>& batch, std::int64_t slot) {
  const std::int64_t K = c.n_clusters;
  double* const mantissas = batch.wide.data();
  double* const row = batch.row.data();
  std::int64_t* const exponents = batch.wide_exponents.data();
  std::copy_n(c.mantissas.data(), K, mantissas);
  std::copy_n(c.exponents.data(), K, exponents);
  const std::int64_t scale = (end - p) * c.scale;
  while (p < end) {
    const V* const stop = end - p > c.chunk ? p + c.chunk : end;
    for (; p < stop; ++p) {
      c.exact_row(static_cast<std::int64_t>(*p), row);
      for (std::int64_t k = 0; k < K; ++k) mantissas[k] *= row[k];
    }
    for (std::int64_t k = 0; k < K; ++k) {
      const Split part = split(mantissas[k]);
      mantissas[k] = part.mantissa;
      exponents[k] += part.exponent;
    }
  }
  const std::int64_t top = *std::max_element(exponents, exponents + K);
  T* const out = batch.clusters.data() + slot * c.width;
  double sum = 0;
  for (std::int64_t k = 0; k < K; ++k) {
    const std::int64_t below = exponents[k] - top;  // and below 2^-120 it adds nothing to the sum
    const double x = below < -120 ? 0 : join(mantissas[k], below);
    out[k] = static_cast<T>(x);
    sum += x;
  }
  for (std::int64_t k = K; k < c.width; ++k) out[k] = 0;
  batch.sums[slot] = sum;
  batch.exponents[slot] = top + scale;
}

// Multiplies floats, a few at a time, into doubles: for records that leave the range of floats.
template <class S, class V>
TACIT_INLINE void weigh_wide(const Corrections<float>& c, const V* begin, const V* end,
                             Batch<float>& batch, std::int64_t slot) {
  constexpr std::int64_t kChunk = 8;
  constexpr float kFrom = 0x1p64f;  // from here, eight rows may fall by 2^-23 each
  const std::int64_t width = S::template width<float>(c.width);
  double* const wide = batch.wide.data();
  const float* const rows = c.rows.data();
  const double* const start = c.wide_start.data();
  double sum = 0;
  Double4 least = Double4{} + 1;
  S::template for_groups<float>(c.width, [&](std::int64_t first, auto units) TACIT_INLINE_LAMBDA {
    WideLanes<units> product;
    product.load(start + first);
    for (const V* p = begin; p < end;) {
      Lanes<float, units> part;
      part.fill(kFrom);
      const V* const stop = end - p > kChunk ? p + kChunk : end;
      for (; p < stop; ++p) part.multiply(rows + static_cast<std::int64_t>(*p) * width + first);
      product.multiply(part, 1.0 / double{kFrom});
    }
    sum += product.sum();
    product.lower(least);
    product.store(wide + first);
  });
  bool trusted = sum > 0x1p-900 && sum < 0x1p1000;
  const Split part = split(sum);
  if (trusted && any_zero(least)) {
    // A factor below 2^-126 was 0; the cluster might have risen before and afterwards.
    const std::int64_t most = kHead<double> + kBottom<float> + record_rise(c, begin, end);
    trusted = most < part.exponent - 30;
  }
  if (!trusted) return weigh_apart<V, float>(c, begin, end, batch, slot);
  float* const out = batch.clusters.data() + slot * width;
  S::template for_groups<float>(c.width, [&](std::int64_t first, auto units) TACIT_INLINE_LAMBDA {
    WideLanes<units> product;
    product.load(wide + first);
    product.scale(join(1, -part.exponent));
    product.store_floats(out + first);
  });
  batch.sums[slot] = part.mantissa;
  batch.exponents[slot] = c.top - kHead<double> + (end - begin) * c.scale + part.exponent;
}

// Whether a product of Ts can be trusted. A cluster that fell out of the range on the way is 0; it
// might have risen again, and must not matter even then.
template <class V, class T>
__attribute__((noinline)) bool lost_nothing(const Corrections<T>& c, const V* p, const V* end,
                                            const T* clusters, double sum) {
  if (std::find(clusters, clusters + c.n_clusters, T{0}) == clusters + c.n_clusters) return true;
  const std::int64_t from = c.lossless ? 0 : kHead<T>;
  const std::int64_t most = from + kBottom<T> + record_rise(c, p, end);
  return most < split(sum).exponent - (sizeof(T) == 4 ? 30 : 60);
}

template <class S, class V, class T>
TACIT_INLINE void weigh_body(const Corrections<T>& c, const Records<V>& records, Batch<T>& batch) {
  constexpr double kLow = sizeof(T) == 4 ? 0x1p-100 : 0x1p-900;
  constexpr double kHigh = sizeof(T) == 4 ? 0x1p120 : 0x1p1000;
  const std::int64_t width = S::template width<T>(c.width), n = batch.n;
  // Vectors may alias anything: read what they could overwrite once.
  const T *const rows = c.rows.data(), *const start = c.start.data();
  T* const clusters = batch.clusters.data();
  const V *begins[kBatch], *ends[kBatch];
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t r = records.record(batch.first + i);
    begins[i] = records.begin(r);
    ends[i] = records.end(r);
    batch.sums[i] = 0;
  }
  typename VectorOf<T>::Type least = typename VectorOf<T>::Type{} + 1;
  S::template for_groups<T>(c.width, [&](std::int64_t first, auto units) TACIT_INLINE_LAMBDA {
    for (std::int64_t i = 0; i < n; ++i) {
      const V *p = begins[i], *const end = ends[i];
      if (sizeof(T) == 4 && end - p > kLong) continue;
      Lanes<T, units> product;
      product.load(start + first);
      for (; p < end; ++p) product.multiply(rows + static_cast<std::int64_t>(*p) * width + first);
      product.store(clusters + i * width + first);
      product.lower(least);
      batch.sums[i] += static_cast<double>(product.sum());
    }
  });
  const bool any_lost = any_zero(least);  // in some record of the batch
  batch.n_stored = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t length = ends[i] - begins[i];
    batch.exponents[i] = c.top - kHead<T> + length * c.scale;
    batch.n_stored += length;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    const bool in_range = batch.sums[i] > kLow && batch.sums[i] < kHigh;
    if (in_range && !any_lost) [[likely]] continue;
    if (in_range && lost_nothing(c, begins[i], ends[i], clusters + i * width, batch.sums[i]))
      continue;
    if constexpr (sizeof(T) == 4)
      weigh_wide<S, V>(c, begins[i], ends[i], batch, i);
    else
      weigh_apart<V, T>(c, begins[i], ends[i], batch, i);
  }
}

template <class S, class V, class T>
TACIT_INLINE void add_body(const Corrections<T>& c, const Records<V>& records,
                           const Batch<T>& batch, T* stored, double* totals) {
  const std::int64_t width = S::template width<T>(c.width), n = batch.n;
  const T* const clusters = batch.clusters.data();
  S::template for_groups<T>(c.width, [&](std::int64_t first, auto units) TACIT_INLINE_LAMBDA {
    Lanes<T, units> whole;
    whole.fill(0);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t r = records.record(batch.first + i);
      const V *p = records.begin(r), *const end = records.end(r);
      Lanes<T, units> lanes;
      lanes.load(clusters + i * width + first);
      if (records.weights) lanes.scale(batch.powers[i]);
      lanes.scale(batch.factors[i]);
      whole.add(lanes);
      for (; p < end; ++p) lanes.add_to(stored + static_cast<std::int64_t>(*p) * width + first);
    }
    T sums[units * kUnit<T>];
    whole.store(sums);
    for (std::int64_t k = 0; k < units * kUnit<T>; ++k)
      totals[first + k] += static_cast<double>(sums[k]);
  });
}

template <class S, class V, class T>
struct PlainKernel {
  static void weigh(const Corrections<T>& c, const Records<V>& records, Batch<T>& batch) {
    weigh_body<S, V, T>(c, records, batch);
  }
  static void add(const Corrections<T>& c, const Records<V>& records, const Batch<T>& batch,
                  T* stored, double* totals) {
    add_body<S, V, T>(c, records, batch, stored, totals);
  }
};

#ifdef TACIT_X86
template <class S, class V, class T>
struct Avx2Kernel {
  __attribute__((target("avx2"))) static void weigh(const Corrections<T>& c,
                                                    const Records<V>& records, Batch<T>& batch) {
    weigh_body<S, V, T>(c, records, batch);
  }
  __attribute__((target("avx2"))) static void add(const Corrections<T>& c,
                                                  const Records<V>& records,
                                                  const Batch<T>& batch, T* stored,
                                                  double* totals) {
    add_body<S, V, T>(c, records, batch, stored, totals);
  }
};
#endif

template <class S, class V, class T>
BatchKernel<V, T> kernel_of_shape() {
#ifdef TACIT_X86
  using Kernel = Avx2Kernel<S, V, T>;
#else
  using Kernel = PlainKernel<S, V, T>;
#endif
  return {Kernel::weigh, Kernel::add};
}

// Finds the shape whose last group has so many vectors, counting down from kLast.
template <int kLast, class V, class T>
BatchKernel<V, T> kernel_of_width(std::int64_t width) {
  constexpr int kFront = kGroup / kUnit<T>, kStep = kUnit<float> / kUnit<T>;
  const std::int64_t last = (width - 1) % kGroup / kUnit<T> + 1;
  if constexpr (kLast > 1)
    if (last != kLast) return kernel_of_width<kLast - 1, V, T>(width);
  if constexpr (kLast % kStep == 0)
    if (width > kGroup) return kernel_of_shape<Shape<kFront, kLast, true>, V, T>();
  return kernel_of_shape<Shape<kFront, kLast, false>, V, T>();
}

}  // namespace

template <class V, class T>
BatchKernel<V, T> batch_kernel(std::int64_t width) {
#ifdef TACIT_X86
  if (!__builtin_cpu_supports("avx2")) {  // any width, one vector at a time
    using Kernel = PlainKernel<Shape<1, 1, true>, V, T>;
    return {Kernel::weigh, Kernel::add};
  }
#endif
  return kernel_of_width<kGroup / kUnit<T>, V, T>(width);
}

}  // namespace tacit
