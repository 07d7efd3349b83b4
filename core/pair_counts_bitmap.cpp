#include <algorithm>
#include <vector>

#include "bits.hpp"
#include "outer.hpp"
#include "pair_counts.hpp"

namespace tacit {
namespace {

constexpr std::int64_t kWords = 256;            // of each value's bitmap in one slab: 2 KiB
constexpr std::int64_t kSlab = 64 * kWords;     // records in a slab
constexpr std::int64_t kLine = 8;               // words in a cache line
constexpr std::int64_t kTile = 8;               // rows that stay in the first-level cache

// Writes the bitmaps of the slab that begins at record `from`: bit r of bitmap v says whether its
// r-th record holds v. A cache line of every bitmap at a time is put together where all of them
// are near, so that setting a bit does not mean fetching a line from afar.
template <class V>
void set_bits(const Records<V>& records, std::int64_t from, std::int64_t to, std::uint64_t* bits,
              int n_jobs, Poll poll) {
  for_blocks(kWords / kLine, n_jobs, poll, [&](std::int64_t block, Pulse&) {
    std::vector<std::uint64_t> lines(static_cast<std::size_t>(records.n_values * kLine), 0);
    const std::int64_t begin = from + 64 * kLine * block;
    const std::int64_t end = std::min(to, begin + 64 * kLine);
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t r = records.record(k), place = k - begin;
      std::uint64_t* const word = lines.data() + place / 64;
      const std::uint64_t bit = std::uint64_t{1} << (place % 64);
      for (const V* p = records.begin(r); p < records.end(r); ++p)
        word[static_cast<std::int64_t>(*p) * kLine] |= bit;
    }
    for (std::int64_t v = 0; v < records.n_values; ++v)
      std::copy_n(lines.data() + v * kLine, kLine, bits + v * kWords + block * kLine);
  });
}

}  // namespace

template <class V>
void pair_counts_bitmap(const Records<V>& records, std::int64_t* square, int n_jobs, Poll poll) {
  const std::int64_t n = records.n_values;
  if (n == 0) return;
  const AndPopcount both = and_popcount();
  std::fill_n(square, n * n, std::int64_t{0});
  Buffer<std::uint64_t> bits(static_cast<std::size_t>(n * kWords));
  const std::int64_t n_tiles = (n + kTile - 1) / kTile;
  for (std::int64_t from = 0; from < records.size(); from += kSlab) {
    const std::int64_t to = std::min(from + kSlab, records.size());
    set_bits(records, from, to, bits.data(), n_jobs, poll);
    const std::int64_t words =
        ((to - from + 63) / 64 + kPopcountWords - 1) / kPopcountWords * kPopcountWords;
    for_blocks(n_tiles, n_jobs, poll, [&](std::int64_t tile, Pulse&) {
      const std::int64_t lo = tile * kTile, hi = std::min(lo + kTile, n);
      for (std::int64_t j = lo; j < n; ++j)
        for (std::int64_t i = lo; i < std::min(hi, j + 1); ++i)
          square[i * n + j] += both(bits.data() + i * kWords, bits.data() + j * kWords, words);
    });
  }
  mirror(square, n, n_jobs, poll);
}

template void pair_counts_bitmap(const Records<std::uint16_t>&, std::int64_t*, int, Poll);
template void pair_counts_bitmap(const Records<std::uint32_t>&, std::int64_t*, int, Poll);

}  // namespace tacit
