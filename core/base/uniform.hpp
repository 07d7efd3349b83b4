// Random numbers that are a function of a seed and a position, so that they do not depend on
// threads.
#pragma once

#include <cstdint>

namespace tacit {

// SplitMix64's output function on a counter: random bits for each (seed, counter).
inline std::uint64_t bits_at(std::uint64_t seed, std::uint64_t counter) {
  std::uint64_t z = seed + (counter + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// A uniform number in [0, 1) for each (seed, counter).
inline double uniform_at(std::uint64_t seed, std::uint64_t counter) {
  return static_cast<double>(bits_at(seed, counter) >> 11) * 0x1.0p-53;
}

}  // namespace tacit
