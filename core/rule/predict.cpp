#include "rule/predict.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <tuple>
#include <vector>

namespace tacit {
namespace {

using Word = std::uint64_t;
constexpr Word kAll = ~Word{0};

using Rank = std::uint16_t;
constexpr Rank kMissingRank = 0xffff;

bool is_missing(double value) { return value != value; }
bool is_missing(Rank rank) { return rank == kMissingRank; }

// Eight bytes of 0 or 1 as bits.
Word pack_flags(const std::uint8_t* flags) {
  Word eight;
  std::memcpy(&eight, flags, 8);
  return eight * 0x0102040810204080 >> 56;
}

// Calls body with a test that the compiler knows, so that loops around it are tight. Values are
// numbers, or their ranks (see RankedThresholds); what is missing satisfies no test.
template <class T, class Body>
void with_test(RuleOp op, T t, const Body& body) {
  switch (op) {
    case RuleOp::at_most:
      return body([t](T v) { return v <= t; });
    case RuleOp::above:
      return body([t](T v) -> bool { return (v > t) & !is_missing(v); });
    case RuleOp::equal:
      return body([t](T v) { return v == t; });
    default:
      return body([t](T v) -> bool { return (v != t) & !is_missing(v); });
  }
}

bool satisfies(RuleOp op, double value, double threshold) {
  bool answer = false;
  with_test(op, threshold, [&](const auto& test) { answer = test(value); });
  return answer;
}

// The thresholds of one column, and where numbers are among them: 2 j + 1 for the j-th threshold,
// 2 j for what is between it and the one before. Comparing ranks is several times faster than
// comparing numbers, as many more fit in a register.
class RankedThresholds {
 public:
  explicit RankedThresholds(std::vector<double> thresholds) : sorted_(std::move(thresholds)) {
    std::sort(sorted_.begin(), sorted_.end());
    sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
  }
  bool fit() const { return 2 * sorted_.size() < kMissingRank; }

  Rank rank(double value) const {
    if (value != value) return kMissingRank;
    const double* first = sorted_.data();
    for (std::size_t n = sorted_.size(); n > 1;) {  // a search that does not branch
      const std::size_t half = n / 2;
      first += half * static_cast<std::size_t>(first[half - 1] < value);
      n -= half;
    }
    const std::size_t position =
        static_cast<std::size_t>(first - sorted_.data()) + (*first < value);
    const bool met = position < sorted_.size() && sorted_[position] == value;
    return static_cast<Rank>(2 * position + met);
  }

 private:
  std::vector<double> sorted_;
};

// Conditions on one column: those with the numbers [begin, end) among the distinct ones.
struct ColumnConditions {
  std::int32_t column;
  std::size_t begin, end;
  RankedThresholds ranks;
};

// The distinct conditions of all rules, by column, and where each rule's are among them.
struct DistinctConditions {
  std::vector<RuleOp> ops;
  std::vector<double> thresholds;
  std::vector<ColumnConditions> columns;
  std::vector<std::uint32_t> positions;  // of every condition of every rule

  explicit DistinctConditions(const RuleConditions& rules) {
    const auto n = static_cast<std::size_t>(rules.start[rules.n_rules]);
    std::vector<std::uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    const auto key = [&](std::uint32_t k) {
      return std::make_tuple(rules.columns[k], rules.ops[k],
                             std::bit_cast<std::uint64_t>(rules.thresholds[k]));
    };
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    positions.resize(n);
    std::size_t begin = 0;
    for (std::size_t k = 0; k < n; ++k) {
      if (k == 0 || key(order[k]) != key(order[k - 1])) {
        ops.push_back(static_cast<RuleOp>(rules.ops[order[k]]));
        thresholds.push_back(rules.thresholds[order[k]]);
      }
      positions[order[k]] = static_cast<std::uint32_t>(ops.size() - 1);
      const std::int32_t column = rules.columns[order[k]];
      if (k + 1 < n && rules.columns[order[k + 1]] == column) continue;
      const auto first = thresholds.begin() + static_cast<std::ptrdiff_t>(begin);
      columns.push_back({column, begin, ops.size(), RankedThresholds({first, thresholds.end()})});
      begin = ops.size();
    }
  }
  std::size_t size() const { return ops.size(); }
};

// Bit k says whether the k-th value satisfies a test.
template <class T, class Test>
void test_all(const T* values, std::int64_t n, const Test& test, Word* bits) {
  std::int64_t k = 0;
  for (; k + 64 <= n; k += 64) {
    std::uint8_t flags[64];
    for (int j = 0; j < 64; ++j) flags[j] = test(values[k + j]);
    Word word = 0;
    for (int j = 0; j < 64; j += 8) word |= pack_flags(flags + j) << j;
    *bits++ = word;
  }
  if (k == n) return;
  Word word = 0;
  for (int position = 0; k < n; ++k, ++position)
    word |= static_cast<Word>(test(values[k])) << position;
  *bits = word;
}

// The bitmaps of one block of records, of at most `n_words` words each.
class BlockCover {
 public:
  BlockCover(const NumberColumns& columns, const RuleConditions& rules,
             const DistinctConditions& distinct, std::int64_t n_words)
      : columns_(columns),
        rules_(rules),
        distinct_(distinct),
        bits_(distinct.size() * static_cast<std::size_t>(n_words)) {}

  void evaluate(Range records, Meter& meter) {
    range_ = records;
    n_words_ = (records.end - records.begin + 63) / 64;
    for (const ColumnConditions& conditions : distinct_.columns) {
      if (columns_.full)
        test_full(conditions, meter);
      else
        test_listed(conditions, meter);
    }
  }

  // Calls body(first, bits) for the words of the block that rule q covers something of: bit k
  // stands for the record first + k of the block.
  template <class Body>
  void for_covered(std::int64_t q, const Body& body) const {
    const std::int64_t begin = rules_.start[q], end = rules_.start[q + 1];
    const std::int64_t n = range_.end - range_.begin;
    for (std::int64_t w = 0; w < n_words_; ++w) {
      Word word = n - 64 * w >= 64 ? kAll : (Word{1} << (n - 64 * w)) - 1;
      for (std::int64_t k = begin; k < end; ++k)
        word &= bits_[distinct_.positions[static_cast<std::size_t>(k)] *
                          static_cast<std::size_t>(n_words_) +
                      static_cast<std::size_t>(w)];
      if (word) body(64 * w, word);
    }
  }

 private:
  Word* bits_of(std::size_t condition) {
    return bits_.data() + condition * static_cast<std::size_t>(n_words_);
  }

  void test_full(const ColumnConditions& conditions, Meter& meter) {
    const std::int64_t n = range_.end - range_.begin;
    const double* const values =
        columns_.values + columns_.indptr[conditions.column] + range_.begin;
    const bool ranked =
        conditions.end - conditions.begin >= kWorthRanking && conditions.ranks.fit();
    if (ranked) {
      ranks_.resize(static_cast<std::size_t>(n));
      std::transform(values, values + n, ranks_.begin(),
                     [&](double v) { return conditions.ranks.rank(v); });
    }
    for (std::size_t d = conditions.begin; d < conditions.end; ++d) {
      const double t = distinct_.thresholds[d];
      if (ranked)
        with_test(distinct_.ops[d], conditions.ranks.rank(t),
                  [&](const auto& test) { test_all(ranks_.data(), n, test, bits_of(d)); });
      else
        with_test(distinct_.ops[d], t,
                  [&](const auto& test) { test_all(values, n, test, bits_of(d)); });
      meter.spend(n);
    }
  }

  void test_listed(const ColumnConditions& conditions, Meter& meter) {
    const std::int32_t* const all = columns_.records;
    const std::int32_t* const end = all + columns_.indptr[conditions.column + 1];
    const std::int32_t* const from =
        std::lower_bound(all + columns_.indptr[conditions.column], end, range_.begin);
    const std::int32_t* const to = std::lower_bound(from, end, range_.end);
    for (std::size_t d = conditions.begin; d < conditions.end; ++d) {
      const double threshold = distinct_.thresholds[d];
      const bool rest =
          satisfies(distinct_.ops[d], columns_.unlisted[conditions.column], threshold);
      Word* const bits = bits_of(d);
      std::fill_n(bits, n_words_, rest ? kAll : Word{0});
      with_test(distinct_.ops[d], threshold, [&](const auto& test) {
        for (const std::int32_t* r = from; r < to; ++r) {
          const std::int64_t position = *r - range_.begin;
          const auto differs = static_cast<Word>(test(columns_.values[r - all]) != rest);
          bits[position / 64] ^= differs << (position % 64);
        }
      });
      meter.spend(n_words_ + (to - from));
    }
  }

  static constexpr std::size_t kWorthRanking = 4;  // conditions on a column

  const NumberColumns& columns_;
  const RuleConditions& rules_;
  const DistinctConditions& distinct_;
  std::vector<Word> bits_;
  std::vector<Rank> ranks_;
  Range range_{0, 0};
  std::int64_t n_words_ = 0;
};

void add_to_covered(double* scores, Word word, double score) {
  if (word == kAll) {
    for (int k = 0; k < 64; ++k) scores[k] += score;
    return;
  }
  for (; word; word &= word - 1) scores[std::countr_zero(word)] += score;
}

// Records to a block: scores of all outputs and bitmaps are to stay in the cache.
std::int64_t block_size(std::int64_t n_outputs) {
  const std::int64_t fits = (std::int64_t{1} << 15) / std::max<std::int64_t>(n_outputs, 1);
  return std::clamp<std::int64_t>(fits / 64 * 64, 256, 2048);
}

}  // namespace

void rule_scores(const NumberColumns& columns, const RuleConditions& rules, const RuleHeads& heads,
                 double* scores, int n_jobs, Poll poll) {
  const DistinctConditions distinct(rules);
  const std::int64_t size = block_size(heads.n_outputs), n_outputs = heads.n_outputs;
  // Several blocks at a time, to make bitmaps once and not too often.
  const std::int64_t n_blocks = (columns.n_records + size - 1) / size;
  const std::int64_t n_groups = std::min<std::int64_t>(n_blocks, 256);
  for_blocks(n_groups, n_jobs, poll, [&](std::int64_t g, StopToken& token) {
    BlockCover cover(columns, rules, distinct, size / 64);
    std::vector<double> sums(static_cast<std::size_t>(size * n_outputs));  // by output
    Meter meter(token);
    const Range blocks = block_range(n_blocks, n_groups, g);
    for (std::int64_t b = blocks.begin; b < blocks.end; ++b) {
      const Range records{b * size, std::min((b + 1) * size, columns.n_records)};
      cover.evaluate(records, meter);
      for (std::int64_t o = 0; o < n_outputs; ++o)
        std::fill_n(sums.data() + o * size, size, heads.default_scores[o]);
      for (std::int64_t q = 0; q < rules.n_rules; ++q) {
        cover.for_covered(q, [&](std::int64_t first, Word word) {
          for (std::int64_t h = heads.start[q]; h < heads.start[q + 1]; ++h)
            add_to_covered(sums.data() + heads.outputs[h] * size + first, word, heads.scores[h]);
        });
        meter.spend(size * (1 + heads.start[q + 1] - heads.start[q]));
      }
      double* const out = scores + records.begin * n_outputs;
      for (std::int64_t r = 0; r < records.end - records.begin; ++r)
        for (std::int64_t o = 0; o < n_outputs; ++o)
          out[r * n_outputs + o] = sums[static_cast<std::size_t>(o * size + r)];
    }
  });
}

RuleCover rule_cover(const NumberColumns& columns, const RuleConditions& rules, int n_jobs,
                     Poll poll) {
  const DistinctConditions distinct(rules);
  const std::int64_t size = block_size(1);
  const std::int64_t n_blocks = (columns.n_records + size - 1) / size;
  std::vector<std::vector<std::int32_t>> hits(static_cast<std::size_t>(n_blocks));
  RuleCover out;
  out.indptr = Buffer<std::int64_t>(static_cast<std::size_t>(columns.n_records) + 1);
  out.indptr[0] = 0;
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    BlockCover cover(columns, rules, distinct, size / 64);
    Meter meter(token);
    const Range records{b * size, std::min((b + 1) * size, columns.n_records)};
    cover.evaluate(records, meter);
    std::vector<std::size_t> next(static_cast<std::size_t>(size) + 1, 0);
    const auto for_all = [&](const auto& body) {
      for (std::int64_t q = 0; q < rules.n_rules; ++q) {
        cover.for_covered(q, [&](std::int64_t first, Word word) {
          for (; word; word &= word - 1)
            body(static_cast<std::size_t>(first + std::countr_zero(word)), q);
        });
        meter.spend(size);
      }
    };
    for_all([&](std::size_t record, std::int64_t) { ++next[record + 1]; });
    std::int64_t* const lengths = out.indptr.data() + records.begin + 1;
    for (std::int64_t r = 0; r < records.end - records.begin; ++r)
      lengths[r] = static_cast<std::int64_t>(next[static_cast<std::size_t>(r) + 1]);
    std::partial_sum(next.begin(), next.end(), next.begin());
    auto& block_hits = hits[static_cast<std::size_t>(b)];
    block_hits.resize(next.back());
    for_all([&](std::size_t record, std::int64_t q) {
      block_hits[next[record]++] = static_cast<std::int32_t>(q);
    });
  });
  std::partial_sum(out.indptr.begin(), out.indptr.end(), out.indptr.begin());
  const std::int64_t n_covered = out.indptr[static_cast<std::size_t>(columns.n_records)];
  out.rules = Buffer<std::int32_t>(static_cast<std::size_t>(n_covered));
  std::int32_t* position = out.rules.data();
  for (const auto& block_hits : hits)
    position = std::copy(block_hits.begin(), block_hits.end(), position);
  return out;
}

}  // namespace tacit
