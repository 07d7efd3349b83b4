// The inner loops of EM, to be compiled for each type of numbers by a file of its own.
#pragma once

#include <algorithm>
#include <type_traits>

#include "em/batch.hpp"

namespace tacit {
namespace {

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
  // Calls body(first cluster, number of vectors, whether it is the last) for each group.
  template <class T, class Body>
  static TACIT_INLINE void for_groups(std::int64_t actual, const Body& body) {
    const std::int64_t n_front = width<T>(actual) - kLast * kUnit<T>;
    for (std::int64_t first = 0; first < n_front; first += kFront * kUnit<T>)
      body(first, std::integral_constant<int, kFront>{}, std::false_type{});
    body(n_front, std::integral_constant<int, kLast>{}, std::true_type{});
  }
};

// Hands over what was found with exponents apart: clusters over the power of two of the largest.
template <class T>
__attribute__((noinline)) void settle(const Corrections<T>& c, std::int64_t length, Batch<T>& batch,
                                      std::int64_t slot) {
  const double* const mantissas = batch.mantissas.data();
  const std::int64_t* const exponents = batch.cluster_exponents.data();
  const std::int64_t top = *std::max_element(exponents, exponents + c.n_clusters);
  T* const out = batch.clusters.data() + slot * c.width;
  double sum = 0;
  for (std::int64_t k = 0; k < c.n_clusters; ++k) {
    const std::int64_t below = exponents[k] - top;  // and below 2^-120 it adds nothing to the sum
    const double x = below < -120 ? 0 : join(mantissas[k], below);
    out[k] = static_cast<T>(x);
    sum += x;
  }
  std::fill(out + c.n_clusters, out + c.width, T{0});
  batch.sums[slot] = sum;
  batch.exponents[slot] = top + length * c.scale;
}

// For a record whose product leaves the range: exponents are split off before they can do so. Of
// floats, a few can be multiplied as such.
template <class S, class T, class V>
TACIT_INLINE void weigh_apart(const Corrections<T>& c, const V* begin, const V* end,
                              Batch<T>& batch, std::int64_t slot) {
  const std::int64_t width = S::template width<T>(c.width);
  const T* const rows = c.rows.data();
  S::template for_groups<T>(c.width, [&](std::int64_t first, auto units, auto) TACIT_INLINE_LAMBDA {
    ApartLanes<static_cast<int>(sizeof(double) / sizeof(T)) * units> product;
    product.load(c.mantissas.data() + first, c.exponents.data() + first);
    for (const V* p = begin; p < end;) {
      const V* const stop = end - p > c.chunk ? p + c.chunk : end;
      if constexpr (std::is_same_v<T, float>) {
        Lanes<float, units> part;
        part.fill(0x1p64f);
        for (; p < stop; ++p) part.multiply(rows + static_cast<std::int64_t>(*p) * width + first);
        product.multiply(part);
        product.split_off(64);
      } else {
        for (; p < stop; ++p)
          product.multiply(rows + static_cast<std::int64_t>(*p) * width + first);
        product.split_off();
      }
    }
    product.store(batch.mantissas.data() + first, batch.cluster_exponents.data() + first);
  });
  settle(c, end - begin, batch, slot);
}

// A cluster that falls out of the range is 0 from then on, but might have risen again. None of them
// can be above the record's watch: that starts at the bottom, and rises with each value as much as
// any cluster does.
template <class V>
__attribute__((noinline)) double watch_record(const Corrections<double>& c, const V* p,
                                              const V* end) {
  const double* const rises = c.rises.data();
  double watch = kBottom<double>, a = 1, b = 1, d = 1;  // four products: none waits for another
  for (; end - p >= 4; p += 4) {
    watch *= rises[p[0]];
    a *= rises[p[1]];
    b *= rises[p[2]];
    d *= rises[p[3]];
  }
  for (; p < end; ++p) watch *= rises[*p];
  return watch * a * b * d;
}

template <class S, class V, class T>
TACIT_INLINE void weigh_body(const Corrections<T>& c, const Records<V>& records, Batch<T>& batch) {
  constexpr bool kFloats = sizeof(T) == 4;
  constexpr double kNothing = kFloats ? 0x1p-30 : 0x1p-60;  // beside 1
  constexpr std::int64_t kLong = kFloats ? 96 : 400;  // stored values that would leave the range
  const std::int64_t width = S::template width<T>(c.width), n = batch.n;
  // Vectors may alias anything: read what they could overwrite once.
  const T *const rows = c.rows.data(), *const start = c.start.data();
  const T* const rises = c.rises.data();
  T* const clusters = batch.clusters.data();
  const V *begins[kBatch], *ends[kBatch];
  T watches[kBatch];  // of floats
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t r = records.record(batch.first + i);
    begins[i] = records.begin(r);
    ends[i] = records.end(r);
    batch.sums[i] = 0;
  }
  S::template for_groups<T>(
      c.width, [&](std::int64_t first, auto units, auto last) TACIT_INLINE_LAMBDA {
        for (std::int64_t i = 0; i < n; ++i) {
          const V *p = begins[i], *const end = ends[i];
          if (end - p > kLong) continue;
          Lanes<T, units> product;
          product.load(start + first);
          T watch = kBottom<T>;
          for (; p < end; ++p) {
            product.multiply(rows + static_cast<std::int64_t>(*p) * width + first);
            if (kFloats && last) watch *= rises[*p];
          }
          product.store(clusters + i * width + first);
          batch.sums[i] += static_cast<double>(product.sum());
          if (kFloats && last) watches[i] = watch;
        }
      });
  batch.n_stored = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t length = ends[i] - begins[i];
    batch.exponents[i] = c.top - kHead<T> + length * c.scale;
    batch.n_stored += length;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    const double sum = batch.sums[i];
    if (sum > kLow<T> && sum < kHigh<T>) [[likely]] {
      if constexpr (kFloats) {
        if (static_cast<double>(watches[i]) < kNothing * sum) [[likely]]
          continue;
      } else {  // there is so much room that a look at the length will do
        const std::int64_t room = split(kNothing * sum).exponent - split(kBottom<T>).exponent;
        if ((ends[i] - begins[i]) * c.rise < room) [[likely]]
          continue;
        if (watch_record(c, begins[i], ends[i]) < kNothing * sum) continue;
      }
    }
    weigh_apart<S>(c, begins[i], ends[i], batch, i);
  }
}

// What is less of a record than this belongs to no cluster, where records are long; floats are 0
// there.
template <class T>
constexpr T kNoRecord = static_cast<T>(sizeof(T) == 4 ? 0x1p-126 : 0x1p-200);

template <class T, class V>
TACIT_INLINE void add_unit(const T* unit, const V* p, const V* end, std::int64_t width, T* stored) {
  Lanes<T, 1> lanes;
  lanes.load(unit);
  for (; p < end; ++p) lanes.add_to(stored + static_cast<std::int64_t>(*p) * width);
}

// A long record mostly belongs to one cluster: vectors in which it has no part are left out.
template <class S, bool kLong, class V, class T>
TACIT_INLINE void add_body(const Corrections<T>& c, const Records<V>& records,
                           const Batch<T>& batch, T* stored, double* totals) {
  const std::int64_t width = S::template width<T>(c.width), n = batch.n;
  const T* const clusters = batch.clusters.data();
  S::template for_groups<T>(c.width, [&](std::int64_t first, auto units, auto) TACIT_INLINE_LAMBDA {
    Lanes<T, units> whole;
    whole.fill(0);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t r = records.record(batch.first + i);
      const V *p = records.begin(r), *const end = records.end(r);
      Lanes<T, units> lanes;
      lanes.load(clusters + i * width + first);
      if (records.weights) lanes.scale(batch.powers[i]);
      lanes.scale(batch.factors[i]);
      if constexpr (kLong) lanes.drop_below(kNoRecord<T>);
      whole.add(lanes);
      if constexpr (kLong) {
        T parts[units * kUnit<T>];
        lanes.store(parts);
        int active[units];
        const int n_active = lanes.active(active);
        if (2 * n_active <= units) {
          for (int a = 0; a < n_active; ++a)
            add_unit(parts + kUnit<T> * active[a], p, end, width,
                     stored + first + kUnit<T> * active[a]);
          continue;
        }
      }
      for (; p < end; ++p) lanes.add_to(stored + static_cast<std::int64_t>(*p) * width + first);
    }
    T sums[units * kUnit<T>];
    whole.store(sums);
    for (std::int64_t k = 0; k < units * kUnit<T>; ++k)
      totals[first + k] += static_cast<double>(sums[k]);
  });
}

template <class S, class V, class T>
BatchKernel<V, T> kernel_of_shape() {
  using Weigh = Clones<weigh_body<S, V, T>>;
  using Add = Clones<add_body<S, false, V, T>>;
  using AddLong = Clones<add_body<S, true, V, T>>;
  return {Weigh::avx2, Add::avx2, AddLong::avx2};
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
  if (TACIT_X86 && !has_avx2())  // any width, one vector at a time
    return {Clones<weigh_body<Shape<1, 1, true>, V, T>>::plain,
            Clones<add_body<Shape<1, 1, true>, false, V, T>>::plain,
            Clones<add_body<Shape<1, 1, true>, true, V, T>>::plain};
  return kernel_of_width<kGroup / kUnit<T>, V, T>(width);
}

}  // namespace tacit
