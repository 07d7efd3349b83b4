#include "itemset/significant_counts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/simd.hpp"

namespace tacit {
namespace {

constexpr std::int64_t kWords = PermutedLabels::kWords;

// SplitMix64, begun anew for each permutation.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t stream) : state_(mix(seed ^ mix(stream + 1))) {}

  // Uniform in [0, n), without bias: Lemire's method.
  std::uint64_t below(std::uint64_t n) {
    for (;;) {
      const std::uint64_t x = next() >> 32;
      const std::uint64_t product = x * n, low = product & 0xFFFFFFFFu;
      if (low >= n || low >= (std::uint64_t{1} << 32) % n) return product >> 32;
    }
  }
  std::uint64_t next() { return mix(state_ += 0x9E3779B97F4A7C15u); }

 private:
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

// What 64 permutations are drawn into: the words of all records, some of whose bits are turned over
// for the records that are drawn.
struct Lanes {
  std::uint64_t* words;
  const std::int32_t* position;  // of each record among the words
  std::int64_t n_records, n_drawn, first, last;
  std::uint64_t seed;
  bool turned;  // whether bits are 1 before

  std::uint64_t& at(std::int64_t record) const {
    return words[position[record] * PermutedLabels::kWords];
  }
};

// Few of many records: each permutation by the first cards of a deck.
void draw_few(const Lanes& lanes, Meter& meter) {
  std::vector<std::int32_t> deck(static_cast<std::size_t>(lanes.n_records));
  std::iota(deck.begin(), deck.end(), 0);
  std::vector<std::int32_t> swaps(static_cast<std::size_t>(lanes.n_drawn));
  for (std::int64_t b = lanes.first; b < lanes.last; ++b) {
    // A permutation begins with the records in order, whatever was drawn before: undone below.
    Draws draws(lanes.seed, static_cast<std::uint64_t>(b));
    const std::uint64_t bit = std::uint64_t{1} << (b % 64);
    for (std::int64_t k = 0; k < lanes.n_drawn; ++k) {
      const auto other = k + static_cast<std::int64_t>(
                                 draws.below(static_cast<std::uint64_t>(lanes.n_records - k)));
      swaps[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(other);
      std::swap(deck[static_cast<std::size_t>(k)], deck[static_cast<std::size_t>(other)]);
      lanes.at(deck[static_cast<std::size_t>(k)]) ^= bit;
    }
    for (std::int64_t k = lanes.n_drawn - 1; k >= 0; --k)
      std::swap(deck[static_cast<std::size_t>(k)],
                deck[static_cast<std::size_t>(swaps[static_cast<std::size_t>(k)])]);
    meter.spend(16 * lanes.n_drawn);
  }
}

// Each record with a probability of so many 256ths, for 64 permutations at once; then as many at
// random as are missing or too many. A set of random size, of which all of a size are equally
// probable, stays so when others are added or left out at random. Few are missing, and adding is
// quick: so the probability is three standard deviations below the fraction.
void draw_many(const Lanes& lanes, Meter& meter) {
  const double n = static_cast<double>(lanes.n_records), k = static_cast<double>(lanes.n_drawn);
  const double fraction = k / n - 3 * std::sqrt(k * (1 - k / n)) / n;
  const auto threshold = static_cast<std::int64_t>(std::max(0.0, 256 * fraction));
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - (lanes.last - lanes.first));
  Draws draws(lanes.seed, ~static_cast<std::uint64_t>(lanes.first / 64));
  const int lowest = std::countr_zero(static_cast<std::uint64_t>(threshold | 256));
  std::uint64_t planes[32] = {};  // bit-sliced counts
  for (std::int64_t r = 0; r < lanes.n_records; ++r) {
    std::uint64_t drawn = 0;
    for (int bit = lowest; bit < 8; ++bit) {
      const std::uint64_t half = draws.next();
      drawn = threshold >> bit & 1 ? drawn | half : drawn & half;
    }
    drawn &= all;
    lanes.at(r) ^= drawn;
    for (std::uint64_t* plane = planes; drawn; ++plane) {
      const std::uint64_t carry = *plane & drawn;
      *plane ^= drawn;
      drawn = carry;
    }
  }
  meter.spend(40 * lanes.n_records);
  const bool turned = lanes.turned;
  for (std::int64_t b = lanes.first; b < lanes.last; ++b) {
    const std::uint64_t bit = std::uint64_t{1} << (b % 64);
    std::int64_t missing = lanes.n_drawn;
    for (int l = 0; l < 32; ++l)
      missing -= static_cast<std::int64_t>(planes[l] >> (b % 64) & 1) << l;
    Draws more(lanes.seed, static_cast<std::uint64_t>(b));
    while (missing) {
      std::uint64_t& word = lanes.at(
          static_cast<std::int64_t>(more.below(static_cast<std::uint64_t>(lanes.n_records))));
      const bool drawn = ((word & bit) != 0) != turned;
      if (drawn == (missing > 0)) continue;
      word ^= bit;
      missing += missing > 0 ? -1 : 1;
    }
  }
}

// Adds three bits in each position: low gets the sum, the return value the carry.
TACIT_INLINE Bits4 carry_save(Bits4& low, Bits4 a, Bits4 b) {
  const Bits4 u = low ^ a;
  const Bits4 carry = (low & a) | (u & b);
  low = u ^ b;
  return carry;
}

TACIT_INLINE void ripple(std::uint64_t* planes, std::int64_t first, std::int64_t last,
                         Bits4 carry) {
  for (std::int64_t l = first; l < last; ++l) {
    Bits4& plane = vector_at(planes + l * kWords);
    const Bits4 both = plane & carry;
    plane ^= carry;
    carry = both;
  }
}

// One chunk: planes[0 … n_planes) are written in full.
TACIT_INLINE void count_body(const std::uint64_t* rows, const std::int32_t* positions,
                             std::int64_t n, std::uint64_t* planes, std::int64_t n_planes) {
  std::fill(planes, planes + n_planes * kWords, 0);
  const auto row = [&](std::int64_t k) TACIT_INLINE_LAMBDA {
    return vector_at(rows + std::int64_t{positions[k]} * kWords);
  };
  std::int64_t k = 0;
  if (n >= 16) {  // so that there are five planes at least
    Bits4 ones{}, twos{}, fours{}, eights{};
    for (; k + 16 <= n; k += 16) {
      Bits4 t[2], f[2], e[2];
      for (int half = 0; half < 2; ++half) {
        for (int quarter = 0; quarter < 2; ++quarter) {
          const std::int64_t at = k + 8 * half + 4 * quarter;
          t[0] = carry_save(ones, row(at), row(at + 1));
          t[1] = carry_save(ones, row(at + 2), row(at + 3));
          f[quarter] = carry_save(twos, t[0], t[1]);
        }
        e[half] = carry_save(fours, f[0], f[1]);
      }
      const Bits4 sixteens = carry_save(eights, e[0], e[1]);
      const auto width =
          static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(k + 16)));
      ripple(planes, 4, std::min(n_planes, width), sixteens);
    }
    vector_at(planes) = ones;
    vector_at(planes + kWords) = twos;
    vector_at(planes + 2 * kWords) = fours;
    vector_at(planes + 3 * kWords) = eights;
  }
  const auto width = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(n)));
  for (; k < n; ++k) ripple(planes, 0, width, row(k));
}

TACIT_INLINE void subtract_body(const std::uint64_t* whole, std::uint64_t* planes,
                                std::int64_t n_planes) {
  Bits4 borrow{};
  for (std::int64_t l = 0; l < n_planes; ++l) {
    const Bits4 a = vector_at(whole + l * kWords), b = vector_at(planes + l * kWords);
    vector_at(planes + l * kWords) = a ^ b ^ borrow;
    borrow = (~a & (b | borrow)) | (b & borrow);
  }
}

// Words that say which counts are below `low` or above `high`.
TACIT_INLINE void outside_body(const std::uint64_t* planes, std::int64_t n_planes, std::int64_t low,
                               std::int64_t high, std::uint64_t* found) {
  Bits4 under{}, over{}, as_low = ~under, as_high = ~under;
  for (std::int64_t l = n_planes - 1; l >= 0; --l) {
    const Bits4 bits = vector_at(planes + l * kWords);
    if (low >> l & 1) {
      under |= as_low & ~bits;
      as_low &= bits;
    } else {
      as_low &= ~bits;
    }
    if (high >> l & 1) {
      as_high &= bits;
    } else {
      over |= as_high & bits;
      as_high &= ~bits;
    }
  }
  vector_at(found) = under | over;
}

}  // namespace

PermutedLabels::PermutedLabels(std::int64_t n_records, std::int64_t n_positives,
                               std::int64_t n_permutations, std::uint64_t seed,
                               const std::int32_t* order, int n_jobs, Poll poll)
    : n_records_(n_records),
      n_permutations_(n_permutations),
      n_chunks_((n_permutations + kLanes - 1) / kLanes),
      words_(static_cast<std::size_t>(n_chunks_ * n_records * kWords)) {
  std::fill(words_.begin(), words_.end(), 0);
  std::vector<std::int32_t> position(static_cast<std::size_t>(n_records));
  for (std::int64_t p = 0; p < n_records; ++p)
    position[static_cast<std::size_t>(order ? order[p] : p)] = static_cast<std::int32_t>(p);
  // The fewer ones are drawn: where positives are in the majority, all are first made positive.
  const bool minority = 2 * n_positives <= n_records;
  const std::int64_t drawn = minority ? n_positives : n_records - n_positives;
  const std::int64_t n_blocks = (n_permutations + 63) / 64;  // a word for each record
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t block, StopToken& token) {
    Meter meter(token);
    std::uint64_t* const words =
        words_.data() + block / kWords * n_records_ * kWords + block % kWords;
    const std::int64_t last = std::min<std::int64_t>(n_permutations, 64 * block + 64);
    if (!minority) {
      const std::uint64_t all = ~std::uint64_t{0} >> (64 - (last - 64 * block));
      for (std::int64_t r = 0; r < n_records; ++r) words[r * kWords] = all;
    }
    const Lanes lanes{words, position.data(), n_records, drawn, 64 * block, last, seed, !minority};
    drawn < n_records / 16 ? draw_few(lanes, meter) : draw_many(lanes, meter);
  });
}

std::uint64_t PermutedLabels::valid(std::int64_t c, std::int64_t word) const {
  const std::int64_t left = n_permutations_ - (c * kLanes + word * 64);
  return left <= 0 ? 0 : left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
}

std::int64_t PlaneCounts::count(std::int64_t permutation) const {
  const std::int64_t lane = permutation % PermutedLabels::kLanes;
  const std::uint64_t* const planes = chunk(permutation / PermutedLabels::kLanes) + lane / 64;
  std::int64_t sum = 0;
  for (std::int64_t l = 0; l < n_planes_; ++l)
    sum |= static_cast<std::int64_t>(planes[l * kWords] >> (lane % 64) & 1) << l;
  return sum;
}

void PlaneCounts::fill(std::int64_t n_chunks, std::int64_t count) {
  for (std::int64_t c = 0; c < n_chunks; ++c)
    for (std::int64_t l = 0; l < n_planes_; ++l)
      std::fill_n(chunk(c) + l * kWords, kWords, count >> l & 1 ? ~std::uint64_t{0} : 0);
}

void count_positives(const PermutedLabels& labels, const std::int32_t* positions, std::int64_t n,
                     PlaneCounts& counts) {
  static const auto body = avx2_or_plain<count_body>();
  for (std::int64_t c = 0; c < labels.n_chunks(); ++c)
    body(labels.chunk(c), positions, n, counts.chunk(c), counts.n_planes());
}

void subtract_from(const PlaneCounts& whole, std::int64_t n_chunks, PlaneCounts& counts) {
  static const auto body = avx2_or_plain<subtract_body>();
  for (std::int64_t c = 0; c < n_chunks; ++c)
    body(whole.chunk(c), counts.chunk(c), counts.n_planes());
}

void outside(const PermutedLabels& labels, const PlaneCounts& counts, std::int64_t most,
             std::int64_t low, std::int64_t high, std::vector<std::int64_t>& permutations) {
  const auto n_planes = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(most)));
  static const auto body = avx2_or_plain<outside_body>();
  for (std::int64_t c = 0; c < labels.n_chunks(); ++c) {
    std::uint64_t found[kWords];
    if (low > high)
      std::fill_n(found, kWords, ~std::uint64_t{0});
    else
      body(counts.chunk(c), n_planes, low, high, found);
    for (std::int64_t w = 0; w < kWords; ++w)
      for (std::uint64_t bits = found[w] & labels.valid(c, w); bits; bits &= bits - 1)
        permutations.push_back(c * PermutedLabels::kLanes + 64 * w + std::countr_zero(bits));
  }
}

}  // namespace tacit
