#include <algorithm>
#include <vector>

#include "base/bits.hpp"
#include "count/outer.hpp"
#include "count/pair_counts.hpp"

namespace tacit {
namespace {

constexpr std::int64_t kWords = 256;         // of each value's bitmap in one slab: 2 KiB
constexpr std::int64_t kSlab = 64 * kWords;  // records in a slab
constexpr std::int64_t kLine = 8;            // words in a cache line
constexpr std::int64_t kTile = 8;            // rows that stay in the first-level cache

// Writes the bitmaps of the slab that begins at record `from`: bit r of bitmap v says whether its
// r-th record holds v. A cache line of every bitmap at a time is put together where all of them
// are near, so that setting a bit does not mean fetching a line from afar.
template <class V>
void set_bits(const Records<V>& records, std::int64_t from, std::int64_t to, std::uint64_t* bits,
              int n_jobs, Poll poll) {
  for_blocks(kWords / kLine, n_jobs, poll, [&](std::int64_t block, StopToken&) {
    std::vector<std::uint64_t> lines(static_cast<std::size_t>(records.n_values * kLine), 0);
    const std::int64_t begin = from + 64 * kLine * block;
    const std::int64_t end = std::min(to, begin + 64 * kLine);
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t r = records.record(k), position = k - begin;
      std::uint64_t* const word = lines.data() + position / 64;
      const std::uint64_t bit = std::uint64_t{1} << (position % 64);
      for (const V* p = records.begin(r); p < records.end(r); ++p)
        word[static_cast<std::int64_t>(*p) * kLine] |= bit;
    }
    for (std::int64_t v = 0; v < records.n_values; ++v)
      std::copy_n(lines.data() + v * kLine, kLine, bits + v * kWords + block * kLine);
  });
}

// Turns a square of 64 × 64 bits on its diagonal.
void transpose(std::uint64_t* a) {
  std::uint64_t mask = 0x00000000ffffffff;
  for (std::size_t j = 32; j; j >>= 1, mask ^= mask << j)
    for (std::size_t k = 0; k < 64; k = ((k | j) + 1) & ~j) {
      const std::uint64_t t = ((a[k] >> j) ^ a[k | j]) & mask;
      a[k] ^= t << j;
      a[k | j] ^= t;
    }
}

// The same bitmaps from a matrix of bytes 0 and 1; returns the union of all bytes seen.
std::uint64_t set_bits(const std::uint8_t* x, std::int64_t n, std::int64_t from, std::int64_t to,
                       std::uint64_t* bits, int n_jobs, Poll poll) {
  std::vector<std::uint64_t> seen(kWords / kLine, 0);
  for_blocks(kWords / kLine, n_jobs, poll, [&](std::int64_t block, StopToken&) {
    const PackRows pack = pack_rows();
    std::uint64_t square[64], lines[64 * kLine], any = 0;
    const std::int64_t first = block * kLine;
    for (std::int64_t column = 0; column < n; column += 64) {
      const std::int64_t width = std::min<std::int64_t>(64, n - column);
      for (std::int64_t word = 0; word < kLine; ++word) {
        const std::int64_t begin = from + 64 * (first + word);
        const std::int64_t n_rows = std::clamp<std::int64_t>(to - begin, 0, 64);
        if (n_rows > 0) any |= pack(x + begin * n + column, n_rows, n, width, square);
        std::fill(square + n_rows, square + 64, 0);
        transpose(square);
        for (std::int64_t c = 0; c < width; ++c) lines[c * kLine + word] = square[c];
      }
      for (std::int64_t c = 0; c < width; ++c)
        std::copy_n(lines + c * kLine, kLine, bits + (column + c) * kWords + first);
    }
    seen[static_cast<std::size_t>(block)] = any;
  });
  std::uint64_t all = 0;
  for (const std::uint64_t each : seen) all |= each;
  return all;
}

// Counts slab by slab; set(from, to, bits) writes a slab's bitmaps and says whether to go on.
template <class Set>
bool count_slabs(std::int64_t n_records, std::int64_t n, std::int64_t* square, int n_jobs,
                 Poll poll, const Set& set) {
  const AndPopcount both = and_popcount();
  std::fill_n(square, n * n, std::int64_t{0});
  Buffer<std::uint64_t> bits(static_cast<std::size_t>(n * kWords));
  const std::int64_t n_tiles = (n + kTile - 1) / kTile;
  for (std::int64_t from = 0; from < n_records; from += kSlab) {
    const std::int64_t to = std::min(from + kSlab, n_records);
    if (!set(from, to, bits.data())) return false;
    const std::int64_t words =
        ((to - from + 63) / 64 + kPopcountWords - 1) / kPopcountWords * kPopcountWords;
    for_blocks(n_tiles, n_jobs, poll, [&](std::int64_t tile, StopToken&) {
      const std::int64_t lo = tile * kTile, hi = std::min(lo + kTile, n);
      for (std::int64_t j = lo; j < n; ++j)
        for (std::int64_t i = lo; i < std::min(hi, j + 1); ++i)
          square[i * n + j] += both(bits.data() + i * kWords, bits.data() + j * kWords, words);
    });
  }
  mirror(square, n, n_jobs, poll);
  return true;
}

}  // namespace

template <class V>
void pair_counts_bitmap(const Records<V>& records, std::int64_t* square, int n_jobs, Poll poll) {
  if (records.n_values == 0) return;
  count_slabs(records.size(), records.n_values, square, n_jobs, poll,
              [&](std::int64_t from, std::int64_t to, std::uint64_t* bits) {
                set_bits(records, from, to, bits, n_jobs, poll);
                return true;
              });
}

bool pair_counts_bytes(const std::uint8_t* x, std::int64_t n_records, std::int64_t n,
                       std::int64_t* square, int n_jobs, Poll poll) {
  if (n == 0) return true;
  return count_slabs(n_records, n, square, n_jobs, poll,
                     [&](std::int64_t from, std::int64_t to, std::uint64_t* bits) {
                       const std::uint64_t seen = set_bits(x, n, from, to, bits, n_jobs, poll);
                       return (seen & ~std::uint64_t{0x0101010101010101}) == 0;
                     });
}

template void pair_counts_bitmap(const Records<std::uint16_t>&, std::int64_t*, int, Poll);
template void pair_counts_bitmap(const Records<std::uint32_t>&, std::int64_t*, int, Poll);

}  // namespace tacit
