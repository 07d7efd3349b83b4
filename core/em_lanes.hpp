// A row of clusters held in vector registers, four at a time.
#pragma once

#include <cstdint>

#define TACIT_INLINE inline __attribute__((always_inline))

namespace tacit {

constexpr std::int64_t kUnit = 4;        // clusters are padded to a multiple of this
constexpr std::int64_t kMostUnits = 8;   // that fit into registers beside what else is needed

// The compiler turns these types into whatever the function they are inlined into may use. They may
// lie at any multiple of their elements' size.
typedef double Double4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef float Float4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float Float8 __attribute__((vector_size(32), aligned(4), may_alias));

template <class T, int kUnits>
struct Lanes;

template <int kUnits>
struct Lanes<double, kUnits> {
  Double4 part[kUnits];

  TACIT_INLINE void load(const double* p) {
    for (int u = 0; u < kUnits; ++u) part[u] = *reinterpret_cast<const Double4*>(p + 4 * u);
  }
  TACIT_INLINE void store(double* p) const {
    for (int u = 0; u < kUnits; ++u) *reinterpret_cast<Double4*>(p + 4 * u) = part[u];
  }
  TACIT_INLINE void store(float* p) const {
    for (int u = 0; u < kUnits; ++u)
      for (int i = 0; i < 4; ++i) p[4 * u + i] = static_cast<float>(part[u][i]);
  }
  TACIT_INLINE void multiply(const double* p) {
    for (int u = 0; u < kUnits; ++u) part[u] *= *reinterpret_cast<const Double4*>(p + 4 * u);
  }
  TACIT_INLINE void multiply(const float* p) {
    for (int u = 0; u < kUnits; ++u) {
      const float* const q = p + 4 * u;
      part[u] *= Double4{q[0], q[1], q[2], q[3]};
    }
  }
  TACIT_INLINE void add_to(double* p) const {
    for (int u = 0; u < kUnits; ++u) *reinterpret_cast<Double4*>(p + 4 * u) += part[u];
  }
  TACIT_INLINE void scale(double factor) {
    for (int u = 0; u < kUnits; ++u) part[u] *= factor;
  }
  TACIT_INLINE double sum() const {
    Double4 all = part[0];
    for (int u = 1; u < kUnits; ++u) all += part[u];
    return (all[0] + all[2]) + (all[1] + all[3]);
  }
};

template <int kUnits>
struct Lanes<float, kUnits> {
  static constexpr int kPairs = kUnits / 2;
  static constexpr bool kOdd = kUnits % 2 == 1;
  Float8 part[kPairs + 1];
  Float4 rest;

  TACIT_INLINE void load(const float* p) {
    for (int u = 0; u < kPairs; ++u) part[u] = *reinterpret_cast<const Float8*>(p + 8 * u);
    if (kOdd) rest = *reinterpret_cast<const Float4*>(p + 8 * kPairs);
  }
  TACIT_INLINE void store(float* p) const {
    for (int u = 0; u < kPairs; ++u) *reinterpret_cast<Float8*>(p + 8 * u) = part[u];
    if (kOdd) *reinterpret_cast<Float4*>(p + 8 * kPairs) = rest;
  }
  TACIT_INLINE void multiply(const float* p) {
    for (int u = 0; u < kPairs; ++u) part[u] *= *reinterpret_cast<const Float8*>(p + 8 * u);
    if (kOdd) rest *= *reinterpret_cast<const Float4*>(p + 8 * kPairs);
  }
  TACIT_INLINE void add_to(float* p) const {
    for (int u = 0; u < kPairs; ++u) *reinterpret_cast<Float8*>(p + 8 * u) += part[u];
    if (kOdd) *reinterpret_cast<Float4*>(p + 8 * kPairs) += rest;
  }
  TACIT_INLINE void add_to(double* p) const {
    for (int u = 0; u < kPairs; ++u)
      for (int i = 0; i < 8; ++i) p[8 * u + i] += static_cast<double>(part[u][i]);
    if (kOdd)
      for (int i = 0; i < 4; ++i) p[8 * kPairs + i] += static_cast<double>(rest[i]);
  }
  TACIT_INLINE void scale(float factor) {
    for (int u = 0; u < kPairs; ++u) part[u] *= factor;
    if (kOdd) rest *= factor;
  }
  TACIT_INLINE float sum() const {
    Float4 all = {0, 0, 0, 0};
    if (kOdd) all = rest;
    for (int u = 0; u < kPairs; ++u) {
      const Float4 low = {part[u][0], part[u][1], part[u][2], part[u][3]};
      const Float4 high = {part[u][4], part[u][5], part[u][6], part[u][7]};
      all += low + high;
    }
    return (all[0] + all[2]) + (all[1] + all[3]);
  }
};

}  // namespace tacit
