// A row of clusters held in vector registers.
#pragma once

#include "base/simd.hpp"

namespace tacit {

// The bits of a double's mantissa, and those of 1.
constexpr std::uint64_t kMantissa = 0x000fffffffffffff, kOne = 0x3ff0000000000000;

// Rows are padded to whole vectors: then none of them straddles two cache lines.
constexpr std::int64_t kGroup = 32;  // clusters that are held in registers at once

template <class T>
constexpr std::int64_t padded(std::int64_t n_clusters) {
  const std::int64_t unit = n_clusters > kGroup ? kUnit<float> : kUnit<T>;
  return (n_clusters + unit - 1) / unit * unit;
}

template <class T, int kUnits>
struct Lanes {
  typedef typename VectorOf<T>::Type Vector;
  static constexpr std::int64_t kStep = kUnit<T>;
  Vector part[kUnits];

  TACIT_INLINE void fill(T x) {
    for (int u = 0; u < kUnits; ++u) part[u] = Vector{} + x;
  }
  TACIT_INLINE void load(const T* p) {
    for (int u = 0; u < kUnits; ++u) part[u] = vector_at(p + kStep * u);
  }
  TACIT_INLINE void store(T* p) const {
    for (int u = 0; u < kUnits; ++u) vector_at(p + kStep * u) = part[u];
  }
  TACIT_INLINE void multiply(const T* p) {
    for (int u = 0; u < kUnits; ++u) part[u] *= vector_at(p + kStep * u);
  }
  TACIT_INLINE void scale(T factor) {
    for (int u = 0; u < kUnits; ++u) part[u] *= factor;
  }
  TACIT_INLINE void add(const Lanes& other) {
    for (int u = 0; u < kUnits; ++u) part[u] += other.part[u];
  }
  TACIT_INLINE void add_to(T* p) const {
    for (int u = 0; u < kUnits; ++u) vector_at(p + kStep * u) += part[u];
  }
  TACIT_INLINE void drop_below(T least) {
    for (int u = 0; u < kUnits; ++u) part[u] = part[u] < least ? Vector{} : part[u];
  }
  // Finds the vectors that are not all 0, and returns how many there are.
  TACIT_INLINE int active(int* found) const {
    int n = 0;
    for (int u = 0; u < kUnits; ++u) {
      bool any = false;
      for (int i = 0; i < kStep; ++i) any |= part[u][i] != 0;
      found[n] = u;
      n += any;
    }
    return n;
  }
  TACIT_INLINE T sum() const {
    Vector all = part[0];
    for (int u = 1; u < kUnits; ++u) all += part[u];
    if constexpr (sizeof(T) == 8) {
      return (all[0] + all[2]) + (all[1] + all[3]);
    } else {
      const Float4 half = __builtin_shufflevector(all, all, 0, 1, 2, 3) +
                          __builtin_shufflevector(all, all, 4, 5, 6, 7);
      return (half[0] + half[2]) + (half[1] + half[3]);
    }
  }
};

// Doubles whose exponents are kept apart.
template <int kUnits>
struct ApartLanes {
  Double4 mantissa[kUnits];
  Bits4 exponent[kUnits];  // of a two's complement

  TACIT_INLINE void load(const double* mantissas, const std::int64_t* exponents) {
    for (int u = 0; u < kUnits; ++u) {
      mantissa[u] = vector_at(mantissas + 4 * u);
      exponent[u] = *reinterpret_cast<const Bits4*>(exponents + 4 * u);
    }
  }
  TACIT_INLINE void store(double* mantissas, std::int64_t* exponents) const {
    for (int u = 0; u < kUnits; ++u) {
      vector_at(mantissas + 4 * u) = mantissa[u];
      *reinterpret_cast<Bits4*>(exponents + 4 * u) = exponent[u];
    }
  }
  TACIT_INLINE void multiply(const double* p) {
    for (int u = 0; u < kUnits; ++u) mantissa[u] *= vector_at(p + 4 * u);
  }
  TACIT_INLINE void multiply(const Lanes<float, kUnits / 2>& x) {
    for (int u = 0; u < kUnits / 2; ++u) {
      const Float8 all = x.part[u];
      const Float4 low = __builtin_shufflevector(all, all, 0, 1, 2, 3);
      const Float4 high = __builtin_shufflevector(all, all, 4, 5, 6, 7);
      mantissa[2 * u] *= __builtin_convertvector(low, Double4);
      mantissa[2 * u + 1] *= __builtin_convertvector(high, Double4);
    }
  }
  // Takes the exponents, and another `less`, out of the mantissas.
  TACIT_INLINE void split_off(std::uint64_t less = 0) {
    for (int u = 0; u < kUnits; ++u) {
      const Bits4 bits = reinterpret_cast<Bits4>(mantissa[u]);
      exponent[u] += (bits >> 52) - (1023 + less);
      mantissa[u] = reinterpret_cast<Double4>((bits & kMantissa) | kOne);
    }
  }
};

}  // namespace tacit
