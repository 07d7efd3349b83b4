// Bitmaps of the states of a node's columns: pairs of few states are counted many records at once.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bits.hpp"
#include "base/records.hpp"
#include "base/simd.hpp"

namespace tacit {

// Sets bit k of the words where codes[k] is the state, for k in [0, n), and clears the others of
// n_words words.
inline void mark_state(const std::uint8_t* codes, std::int64_t n, std::uint8_t state,
                       std::uint64_t* words, std::int64_t n_words) {
  std::int64_t w = 0;
#if TACIT_X86
  const __m128i target = _mm_set1_epi8(static_cast<char>(state));
  const auto sixteen = [&](std::int64_t k) {
    const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes + k));
    return static_cast<std::uint64_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(some, target)));
  };
  for (; 64 * (w + 1) <= n; ++w)
    words[w] = sixteen(64 * w) | sixteen(64 * w + 16) << 16 | sixteen(64 * w + 32) << 32 |
               sixteen(64 * w + 48) << 48;
#endif
  for (; w < n_words; ++w) {
    std::uint64_t word = 0;
    for (std::int64_t k = 64 * w; k < n && k < 64 * (w + 1); ++k)
      word |= static_cast<std::uint64_t>(codes[k] == state) << (k - 64 * w);
    words[w] = word;
  }
}

// Bitmaps of some states of some columns. Each has the hits first, then the other records.
class StateBits {
 public:
  void reset(std::size_t n_columns, std::int64_t n_hits, std::int64_t n_rest) {
    n_hits_ = n_hits;
    n_rest_ = n_rest;
    hit_words_ = padded(n_hits);
    rest_words_ = padded(n_rest);
    for (auto& slots : slots_) slots.clear();
    if (slots_.size() < n_columns) {
      slots_.resize(n_columns);
      words_.resize(n_columns);
    }
  }

  bool has(std::size_t j) const { return j < slots_.size() && !slots_[j].empty(); }
  std::int64_t n_words() const { return hit_words_ + rest_words_; }

  // Draws the bitmaps of column j, whose hits begin at `codes`.
  void add(std::size_t j, const std::uint8_t* codes, const std::vector<std::size_t>& states) {
    const std::size_t n = states.size() * static_cast<std::size_t>(n_words());
    if (words_[j].size() < n) words_[j] = Buffer<std::uint64_t>(n);
    std::uint64_t* out = words_[j].data();
    slots_[j].assign(256, -1);
    for (std::size_t i = 0; i < states.size(); ++i, out += n_words()) {
      const auto state = static_cast<std::uint8_t>(states[i]);
      slots_[j][state] = static_cast<std::int16_t>(i);
      mark_state(codes, n_hits_, state, out, hit_words_);
      mark_state(codes + n_hits_, n_rest_, state, out + hit_words_, rest_words_);
    }
  }

  std::int64_t hits(std::size_t k, std::size_t s, std::size_t j, std::size_t t) const {
    return count_(bits(k, s), bits(j, t), hit_words_);
  }
  std::int64_t rest(std::size_t k, std::size_t s, std::size_t j, std::size_t t) const {
    return count_(bits(k, s) + hit_words_, bits(j, t) + hit_words_, rest_words_);
  }

 private:
  static std::int64_t padded(std::int64_t n) {
    const std::int64_t block = 64 * kPopcountWords;
    return (n + block - 1) / block * kPopcountWords;
  }
  const std::uint64_t* bits(std::size_t j, std::size_t state) const {
    return words_[j].data() + slots_[j][state] * n_words();
  }

  AndPopcount count_ = and_popcount();
  std::int64_t n_hits_ = 0, n_rest_ = 0, hit_words_ = 0, rest_words_ = 0;
  std::vector<std::vector<std::int16_t>> slots_;  // of each column: where each state's bitmap is
  std::vector<Buffer<std::uint64_t>> words_;      // of each column
};

}  // namespace tacit
