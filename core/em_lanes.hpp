// A row of clusters held in vector registers.
#pragma once

#include <cstdint>

#define TACIT_INLINE inline __attribute__((always_inline))
#define TACIT_INLINE_LAMBDA __attribute__((always_inline))

namespace tacit {

// The compiler turns these types into whatever the function they are inlined into may use. They may
// lie at any multiple of their elements' size, and over anything.
typedef double Double4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef float Float4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float Float8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef std::int64_t Long4 __attribute__((vector_size(32), aligned(8), may_alias));

template <class T>
struct VectorOf;
template <>
struct VectorOf<double> {
  typedef Double4 Type;
};
template <>
struct VectorOf<float> {
  typedef Float8 Type;
};

// Rows are padded to whole vectors of 32 bytes: then none of them straddles two cache lines.
template <class T>
constexpr std::int64_t kUnit = 32 / static_cast<std::int64_t>(sizeof(T));
constexpr std::int64_t kGroup = 32;  // clusters that are held in registers at once

template <class T>
constexpr std::int64_t padded(std::int64_t n_clusters) {
  const std::int64_t unit = n_clusters > kGroup ? kUnit<float> : kUnit<T>;
  return (n_clusters + unit - 1) / unit * unit;
}

TACIT_INLINE const Double4& at4(const double* p) { return *reinterpret_cast<const Double4*>(p); }
TACIT_INLINE Double4& at4(double* p) { return *reinterpret_cast<Double4*>(p); }
TACIT_INLINE double sum4(const Double4& x) { return (x[0] + x[2]) + (x[1] + x[3]); }

template <class T, int kUnits>
struct Lanes {
  typedef typename VectorOf<T>::Type Vector;
  static constexpr std::int64_t kStep = kUnit<T>;
  Vector part[kUnits];

  static TACIT_INLINE Vector& at(T* p, int u) { return *reinterpret_cast<Vector*>(p + kStep * u); }
  static TACIT_INLINE const Vector& at(const T* p, int u) {
    return *reinterpret_cast<const Vector*>(p + kStep * u);
  }

  TACIT_INLINE void fill(T x) {
    for (int u = 0; u < kUnits; ++u) part[u] = Vector{} + x;
  }
  TACIT_INLINE void load(const T* p) {
    for (int u = 0; u < kUnits; ++u) part[u] = at(p, u);
  }
  TACIT_INLINE void store(T* p) const {
    for (int u = 0; u < kUnits; ++u) at(p, u) = part[u];
  }
  TACIT_INLINE void multiply(const T* p) {
    for (int u = 0; u < kUnits; ++u) part[u] *= at(p, u);
  }
  TACIT_INLINE void scale(T factor) {
    for (int u = 0; u < kUnits; ++u) part[u] *= factor;
  }
  TACIT_INLINE void add(const Lanes& other) {
    for (int u = 0; u < kUnits; ++u) part[u] += other.part[u];
  }
  TACIT_INLINE void add_to(T* p) const {
    for (int u = 0; u < kUnits; ++u) at(p, u) += part[u];
  }
  TACIT_INLINE T sum() const {
    Vector all = part[0];
    for (int u = 1; u < kUnits; ++u) all += part[u];
    if constexpr (sizeof(T) == 8) {
      return sum4(all);
    } else {
      const Float4 half = __builtin_shufflevector(all, all, 0, 1, 2, 3) +
                          __builtin_shufflevector(all, all, 4, 5, 6, 7);
      return (half[0] + half[2]) + (half[1] + half[3]);
    }
  }
  TACIT_INLINE bool any_zero() const {
    auto zero = part[0] == Vector{};
    for (int u = 1; u < kUnits; ++u) zero |= part[u] == Vector{};
    const Long4 found = reinterpret_cast<Long4>(zero);
    return ((found[0] | found[2]) | (found[1] | found[3])) != 0;
  }
};

// As many clusters as Lanes<float, kUnits>, in doubles.
template <int kUnits>
struct WideLanes {
  Double4 part[2 * kUnits];

  TACIT_INLINE void load(const double* p) {
    for (int u = 0; u < 2 * kUnits; ++u) part[u] = at4(p + 4 * u);
  }
  TACIT_INLINE void store(double* p) const {
    for (int u = 0; u < 2 * kUnits; ++u) at4(p + 4 * u) = part[u];
  }
  TACIT_INLINE void multiply(const Lanes<float, kUnits>& x, double factor) {
    for (int u = 0; u < kUnits; ++u) {
      const Float8 all = x.part[u];
      const Float4 low = __builtin_shufflevector(all, all, 0, 1, 2, 3);
      const Float4 high = __builtin_shufflevector(all, all, 4, 5, 6, 7);
      part[2 * u] *= __builtin_convertvector(low, Double4) * factor;
      part[2 * u + 1] *= __builtin_convertvector(high, Double4) * factor;
    }
  }
};

}  // namespace tacit
