// Rows of bits, a row an item and a bit a record: counting and shrinking them.
#pragma once

#include <cstdint>

namespace tacit {

// A matrix of bits: row r is the words from rows + r * words on.
struct BitRows {
  const std::uint64_t* rows;
  std::int64_t words;
};

// counts[r] = Σ_p 2^p Σ_k popcount(masks[p][k] & row r [k]) for r in [first, end). The masks of the
// n_planes binary digits of weights follow each other; without weights there is one.
using CountRows = void (*)(BitRows matrix, std::int64_t first, std::int64_t end,
                           const std::uint64_t* masks, std::int64_t n_planes, std::int64_t* counts);
CountRows count_rows();

// One word of a mask that is not zero.
struct MaskWord {
  std::uint64_t bits;
  std::int64_t at;
  int count;
};

// Writes the words of a mask that are not zero; returns how many there are.
using MaskWords = std::int64_t (*)(const std::uint64_t* mask, std::int64_t words, MaskWord* out);
MaskWords mask_words();

// Writes the bits of a row at the mask's positions, next to each other; the last word is filled up
// with zeros. Returns the end of what was written.
using CompressRow = std::uint64_t* (*)(const std::uint64_t* row, const MaskWord* mask,
                                       std::int64_t n_mask, std::uint64_t* out);
CompressRow compress_row();

}  // namespace tacit
