// Population count of the AND of two bitmaps, with the widest vectors the machine has.
#pragma once

#include <cstdint>

namespace tacit {

// Σ popcount(a[k] & b[k]) for k in [0, n). n must be a multiple of kPopcountWords.
using AndPopcount = std::int64_t (*)(const std::uint64_t* a, const std::uint64_t* b,
                                     std::int64_t n);
constexpr std::int64_t kPopcountWords = 64;

AndPopcount and_popcount();  // chosen once, by what the processor can do

}  // namespace tacit
