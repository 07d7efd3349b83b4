// Numbers too small to be normal are slow to compute with.
#pragma once

#include <cstdint>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <immintrin.h>
#endif

namespace tacit {

// For as long as this lives, such numbers become 0 on this thread, and stay 0.
class FlushToZero {
 public:
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
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
#endif
#if defined(__x86_64__) || defined(__aarch64__)
 public:
#endif
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;
};

}  // namespace tacit
