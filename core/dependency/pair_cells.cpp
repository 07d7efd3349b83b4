#include "dependency/pair_cells.hpp"

#include <algorithm>
#include <vector>

#include "base/bits.hpp"

namespace tacit {
namespace {

constexpr std::int64_t kWordBlock = 8;   // words of every bitmap that are put together nearby
constexpr std::int64_t kCellBlock = 64;  // pairs of a block of work
constexpr std::int64_t kChunk = 512;     // words of a bitmap looked at together: 4 KiB

static_assert(kPopcountWords % kWordBlock == 0 && kChunk % kPopcountWords == 0);

}  // namespace

template <class V>
ValueBits value_bits(const Records<V>& records, const std::int32_t* slots, std::int64_t n_slots,
                     int n_jobs, Poll poll) {
  const std::int64_t step = 64 * kPopcountWords;
  const std::int64_t n_words = (records.size() + step - 1) / step * kPopcountWords;
  ValueBits bits{Buffer<std::uint64_t>(static_cast<std::size_t>(n_slots * n_words)), n_slots,
                 n_words};
  for_blocks(n_words / kWordBlock, n_jobs, poll, [&](std::int64_t block, StopToken&) {
    std::vector<std::uint64_t> lines(static_cast<std::size_t>(n_slots * kWordBlock), 0);
    const std::int64_t begin = 64 * kWordBlock * block;
    const std::int64_t end = std::min(records.size(), begin + 64 * kWordBlock);
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t r = records.record(k), at = k - begin;
      for (const V* p = records.begin(r); p < records.end(r); ++p)
        if (const std::int32_t slot = slots[*p]; slot >= 0)
          lines[static_cast<std::size_t>(slot * kWordBlock + at / 64)] |= std::uint64_t{1}
                                                                          << (at % 64);
    }
    for (std::int64_t s = 0; s < n_slots; ++s)
      std::copy_n(lines.data() + s * kWordBlock, kWordBlock,
                  bits.words.data() + s * n_words + block * kWordBlock);
  });
  return bits;
}

void pair_cells(const ValueBits& bits, const std::int64_t* pairs, std::int64_t n_pairs,
                std::int64_t* counts, int n_jobs, Poll poll) {
  const AndPopcount both = and_popcount();
  const std::int64_t n_blocks = (n_pairs + kCellBlock - 1) / kCellBlock;
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    Meter meter(token);
    const Range range = block_range(n_pairs, n_blocks, b);
    std::fill(counts + range.begin, counts + range.end, std::int64_t{0});
    for (std::int64_t from = 0; from < bits.n_words; from += kChunk) {
      const std::int64_t n = std::min(kChunk, bits.n_words - from);
      for (std::int64_t k = range.begin; k < range.end; ++k) {
        const std::uint64_t* const words = bits.words.data() + from;
        counts[k] +=
            both(words + pairs[2 * k] * bits.n_words, words + pairs[2 * k + 1] * bits.n_words, n);
        meter.spend(n);
      }
    }
  });
}

template ValueBits value_bits(const Records<std::uint16_t>&, const std::int32_t*, std::int64_t, int,
                              Poll);
template ValueBits value_bits(const Records<std::uint32_t>&, const std::int32_t*, std::int64_t, int,
                              Poll);

}  // namespace tacit
