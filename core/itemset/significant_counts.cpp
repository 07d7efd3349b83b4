#include "itemset/significant_counts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/simd.hpp"

namespace tacit {
namespace {

constexpr std::int64_t kWords = PermutedLabels::kWords;
constexpr int kFine = 12;  // bits of a probability

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

// What the permutations of a chunk are drawn into: the rows of all records, some of whose bits are
// turned over for the records that are drawn.
struct Lanes {
  std::uint64_t* words;
  const std::int32_t* position;  // of each record among the words
  std::int64_t n_records, n_drawn, first, last;
  std::uint64_t seed;
  bool turned;  // whether bits are 1 before

  std::uint64_t& at(std::int64_t record, std::int64_t lane) const {
    return words[position[record] * PermutedLabels::kWords + lane / 64];
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
      lanes.at(deck[static_cast<std::size_t>(k)], b - lanes.first) ^= bit;
    }
    for (std::int64_t k = lanes.n_drawn - 1; k >= 0; --k)
      std::swap(deck[static_cast<std::size_t>(k)],
                deck[static_cast<std::size_t>(swaps[static_cast<std::size_t>(k)])]);
    meter.spend(16 * lanes.n_drawn);
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

// The rows of a chunk: each record is drawn with a probability of so many 4096ths. Four generators
// (xoshiro256++ of Blackman and Vigna) give the bits of 256 permutations at once.
TACIT_INLINE void draw_body(std::uint64_t* rows, const std::int32_t* position, std::int64_t n,
                            std::int64_t threshold, const std::uint64_t* valid,
                            const std::uint64_t* state) {
  Bits4 a = vector_at(state), b = vector_at(state + 4), c = vector_at(state + 8),
        d = vector_at(state + 12);
  const Bits4 lanes = vector_at(valid);
  const int lowest = std::countr_zero(static_cast<std::uint64_t>(threshold | 1 << kFine));
  for (std::int64_t r = 0; r < n; ++r) {
    Bits4 drawn{};
    for (int bit = lowest; bit < kFine; ++bit) {
      const Bits4 sum = a + d, half = (sum << 23 | sum >> 41) + a, shifted = b << 17;
      c ^= a;
      d ^= b;
      b ^= c;
      a ^= d;
      c ^= shifted;
      d = d << 45 | d >> 19;
      drawn = threshold >> bit & 1 ? drawn | half : drawn & half;
    }
    vector_at(rows + std::int64_t{position[r]} * kWords) ^= drawn & lanes;
  }
}

// As many as are wanted of many records: each with some probability; then as many at random as are
// missing or too many. A set of random size, of which all of a size are equally probable, stays so
// when others are added or left out at random. Adding is quick where few are drawn: so the
// probability is three standard deviations below the fraction.
void draw_many(const Lanes& lanes, const std::uint64_t* valid, Meter& meter) {
  const double n = static_cast<double>(lanes.n_records), k = static_cast<double>(lanes.n_drawn);
  const double fraction = k / n - 3 * std::sqrt(k * (1 - k / n)) / n;
  const auto threshold = static_cast<std::int64_t>(std::max(0.0, (1 << kFine) * fraction));
  Draws seeds(lanes.seed, ~static_cast<std::uint64_t>(lanes.first / PermutedLabels::kLanes));
  std::uint64_t state[16];
  for (auto& word : state) word = seeds.next();
  static const auto draw = avx2_or_plain<draw_body>();
  draw(lanes.words, lanes.position, lanes.n_records, threshold, valid, state);
  meter.spend(16 * lanes.n_records);
  std::vector<std::int32_t> all(static_cast<std::size_t>(lanes.n_records));
  std::iota(all.begin(), all.end(), 0);
  const auto n_planes = static_cast<std::int64_t>(std::bit_width(all.size()));
  PlaneCounts ones(1, n_planes);
  static const auto count = avx2_or_plain<count_body>();
  count(lanes.words, all.data(), lanes.n_records, ones.chunk(0), n_planes);
  for (std::int64_t b = lanes.first; b < lanes.last; ++b) {
    const std::int64_t lane = b - lanes.first, found = ones.count(lane);
    std::int64_t missing = lanes.n_drawn - (lanes.turned ? lanes.n_records - found : found);
    Draws more(lanes.seed, static_cast<std::uint64_t>(b));
    while (missing) {
      std::uint64_t& word = lanes.at(
          static_cast<std::int64_t>(more.below(static_cast<std::uint64_t>(lanes.n_records))), lane);
      const bool drawn = (word >> (lane % 64) & 1) != static_cast<std::uint64_t>(lanes.turned);
      if (drawn == (missing > 0)) continue;
      word ^= std::uint64_t{1} << (lane % 64);
      missing += missing > 0 ? -1 : 1;
    }
    meter.spend(16 * static_cast<std::int64_t>(std::sqrt(n)));
  }
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
  for_blocks(n_chunks_, n_jobs, poll, [&](std::int64_t c, StopToken& token) {
    Meter meter(token);
    std::uint64_t* const rows = words_.data() + c * n_records_ * kWords;
    std::uint64_t there[kWords];
    for (std::int64_t w = 0; w < kWords; ++w) there[w] = valid(c, w);
    if (!minority)
      for (std::int64_t r = 0; r < n_records; ++r) std::copy_n(there, kWords, rows + r * kWords);
    const std::int64_t first = c * kLanes, last = std::min(n_permutations, first + kLanes);
    const Lanes lanes{rows, position.data(), n_records, drawn, first, last, seed, !minority};
    drawn < n_records / 16 ? draw_few(lanes, meter) : draw_many(lanes, there, meter);
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
