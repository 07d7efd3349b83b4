// What depends on the instruction set: detection, dispatch at run time, vector types, denormals.
//
// A kernel writes its loop once, as a TACIT_INLINE function over vector types. The compiler turns
// these into whatever the function they are inlined into may use: avx2_or_plain<loop>() is that
// loop compiled for AVX2 where the processor has it, and for any processor elsewhere. Results are
// the same. Nothing is compiled with a global -march flag.
#pragma once

#include <cstdint>
#include <type_traits>

#if defined(__x86_64__)
#define TACIT_X86 1
#include <immintrin.h>
#define TACIT_TARGET(names) __attribute__((target(names)))
#define TACIT_HAS(name) (__builtin_cpu_supports(name) != 0)
#else
#define TACIT_X86 0
#define TACIT_TARGET(names)
#define TACIT_HAS(name) false
#endif
#define TACIT_INLINE_LAMBDA __attribute__((always_inline))
#define TACIT_INLINE inline TACIT_INLINE_LAMBDA

// Vectors never cross a call: all functions that take them are inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace tacit {

inline bool has_avx2() { return TACIT_HAS("avx2"); }
inline bool has_avx512() { return TACIT_HAS("avx512f"); }

// A function compiled for several instruction sets: what it calls inline is compiled with it.
template <auto kBody>
struct Clones;
template <class R, class... Args, R (*kBody)(Args...)>
struct Clones<kBody> {
  static R plain(Args... args) { return kBody(args...); }
  TACIT_TARGET("avx2") static R avx2(Args... args) { return kBody(args...); }
  TACIT_TARGET("avx2,fma") static R avx2_fma(Args... args) { return kBody(args...); }
};

// kNarrow: another body for processors without wide vectors.
template <auto kBody, auto kNarrow = kBody>
auto avx2_or_plain() {
#if !TACIT_X86
  return Clones<kNarrow>::plain;
#elif defined(__AVX2__)  // a -march flag has said so already
  return Clones<kBody>::plain;
#else
  return has_avx2() ? Clones<kBody>::avx2 : Clones<kNarrow>::plain;
#endif
}
// Only where rounding may differ between processors.
template <auto kBody>
auto avx2_fma_or_plain() {
#if !TACIT_X86 || (defined(__AVX2__) && defined(__FMA__))
  return Clones<kBody>::plain;
#else
  return has_avx2() && TACIT_HAS("fma") ? Clones<kBody>::avx2_fma : Clones<kBody>::plain;
#endif
}

// Calls body(integral_constant) with the one of the constants that n is, else with the last one: a
// loop whose length the compiler knows needs no counter and keeps its sums in registers.
template <int kFirst, int... kRest, class Body>
TACIT_INLINE auto with_constant(std::int64_t n, const Body& body) {
  if constexpr (sizeof...(kRest) > 0)
    if (n != kFirst) return with_constant<kRest...>(n, body);
  return body(std::integral_constant<int, kFirst>{});
}

// Vectors that may lie at any multiple of their elements' size, and over anything.
template <class T, int kBytes = 32>
struct VectorOf {
  typedef T Type __attribute__((vector_size(kBytes), aligned(sizeof(T)), may_alias));
};
using Double2 = VectorOf<double, 16>::Type;
using Double4 = VectorOf<double>::Type;
using Float4 = VectorOf<float, 16>::Type;
using Float8 = VectorOf<float>::Type;
using Bits2 = VectorOf<std::uint64_t, 16>::Type;
using Bits4 = VectorOf<std::uint64_t>::Type;
using Bits8 = VectorOf<std::uint32_t>::Type;

// Vectors that lie at multiples of their own size: templates take them without a warning.
typedef double Number4 __attribute__((vector_size(32)));
typedef std::uint64_t Word4 __attribute__((vector_size(32)));
template <class T, int kBytes>
struct Aligned {
  typedef T Vector __attribute__((vector_size(kBytes), may_alias));
};

// How many elements a vector of 32 bytes has.
template <class T>
constexpr std::int64_t kUnit = 32 / static_cast<std::int64_t>(sizeof(T));

template <class T>
TACIT_INLINE typename VectorOf<T>::Type& vector_at(T* p) {
  return *reinterpret_cast<typename VectorOf<T>::Type*>(p);
}
template <class T>
TACIT_INLINE const typename VectorOf<T>::Type& vector_at(const T* p) {
  return *reinterpret_cast<const typename VectorOf<T>::Type*>(p);
}

// Numbers too small to be normal are slow to compute with: for as long as this lives, they become 0
// on this thread.
class FlushToZero {
 public:
#if TACIT_X86
  static constexpr bool kWorks = true;
  FlushToZero() : old_(_mm_getcsr()) { _mm_setcsr(old_ | 0x8040); }
  ~FlushToZero() { _mm_setcsr(old_); }

 private:
  unsigned old_;
#elif defined(__aarch64__)
  static constexpr bool kWorks = true;
  FlushToZero() {
    __asm__ volatile("mrs %0, fpcr" : "=r"(old_));
    __asm__ volatile("msr fpcr, %0" : : "r"(old_ | std::uint64_t{1} << 24));
  }
  ~FlushToZero() { __asm__ volatile("msr fpcr, %0" : : "r"(old_)); }

 private:
  std::uint64_t old_;
#else
  static constexpr bool kWorks = false;
  FlushToZero() {}
#endif

 public:
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;
};

// By Horner's rule; the coefficients are given from the highest power down.
template <class V, class X, class... Rest>
TACIT_INLINE V polynomial(V x, X first, X second, Rest... rest) {
  V sum = x * first + second;
  ((sum = sum * x + rest), ...);
  return sum;
}

}  // namespace tacit
