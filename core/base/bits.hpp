// Bit tricks that want instructions not every processor has, chosen at run time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tacit {

// Σ popcount(a[k] & b[k]) for k in [0, n). n must be a multiple of kPopcountWords.
using AndPopcount = std::int64_t (*)(const std::uint64_t* a, const std::uint64_t* b,
                                     std::int64_t n);
constexpr std::int64_t kPopcountWords = 64;
AndPopcount and_popcount();

// Writes the positions of the set bits of words[0 … n), ascending, clears the words, and returns
// how many there were. Up to kListSlack positions behind the last one are written over; `hit` is
// room for n + kListSlack numbers.
using ListBits = std::int64_t (*)(std::uint64_t* words, std::int64_t n, std::uint32_t* hit,
                                  std::uint32_t* positions);
constexpr std::int64_t kListSlack = 4;
ListBits list_bits();

// cells[k] = base + Σ strides[c] · codes[c][k] for k in [0, n), modulo 2^16. The function is for
// one number of columns, from 1 to kMostIndexed.
using IndexBytes = void (*)(const std::uint8_t* const* codes, const std::uint16_t* strides,
                            std::uint16_t base, std::int64_t n, std::uint16_t* cells);
constexpr std::size_t kMostIndexed = 4;
IndexBytes index_bytes(std::size_t n_columns);

// Packs bytes 0 and 1 into bits: bit c of words[r] is byte c of the r-th row, for n_rows rows of
// `width` bytes that begin `stride` bytes after each other. Returns the union of all bytes, eight
// abreast. width is from 1 to 64.
using PackRows = std::uint64_t (*)(const std::uint8_t* rows, std::int64_t n_rows,
                                   std::int64_t stride, std::int64_t width, std::uint64_t* words);
PackRows pack_rows();

}  // namespace tacit
