#include <algorithm>

#include "bits.hpp"
#include "outer.hpp"
#include "pair_counts.hpp"

namespace tacit {
namespace {

constexpr std::int64_t kWords = 256;            // of each value's bitmap in one slab: 2 KiB
constexpr std::int64_t kSlab = 64 * kWords;     // records in a slab
constexpr std::int64_t kTile = 8;               // rows that stay in the first-level cache

// Sets bit r of bitmap v for each value v of the r-th record of the slab that begins at `from`.
template <class V>
void set_bits(const Records<V>& records, std::int64_t from, std::int64_t to, std::uint64_t* bits,
              int n_jobs, Poll poll) {
  // Each block of records owns whole words, so no two threads write the same one.
  constexpr std::int64_t kBlocks = 8;
  for_blocks(kBlocks, n_jobs, poll, [&](std::int64_t block, Pulse&) {
    const Range words = block_range(kWords, kBlocks, block);
    for (std::int64_t v = 0; v < records.n_values; ++v)
      std::fill_n(bits + v * kWords + words.begin, words.end - words.begin, std::uint64_t{0});
    const std::int64_t end = std::min(to, from + 64 * words.end);
    for (std::int64_t k = from + 64 * words.begin; k < end; ++k) {
      const std::int64_t r = records.record(k), place = k - from;
      std::uint64_t* word = bits + place / 64;
      const std::uint64_t bit = std::uint64_t{1} << (place % 64);
      for (const V* p = records.begin(r); p < records.end(r); ++p)
        word[static_cast<std::int64_t>(*p) * kWords] |= bit;
    }
  });
}

}  // namespace

template <class V>
void pair_counts_bitmap(const Records<V>& records, std::int64_t* square, int n_jobs, Poll poll) {
  const std::int64_t n = records.n_values;
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
