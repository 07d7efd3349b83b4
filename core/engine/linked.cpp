#include "engine/linked.hpp"

#include <algorithm>
#include <cstring>

#include "base/bits.hpp"
#include "base/simd.hpp"

namespace tacit {
namespace {

constexpr std::int64_t kBlock = 2048;        // records
constexpr std::size_t kWords = kBlock / 64;  // of a bitmap of them
constexpr std::int64_t kPart = 1 << 16;      // records that are worth a thread of their own
constexpr std::int64_t kCopies = 4;          // of a small table: records that follow each other are
constexpr std::int64_t kCopied = 512;        // counted apart, so that none waits for the one before

using Bitmap = std::uint64_t[kWords];

template <class Body>
auto with_codes(const CodedColumn& column, std::int64_t from, const Body& body) {
  if (column.width == 1) return body(static_cast<const std::uint8_t*>(column.codes) + from);
  if (column.width == 2) return body(static_cast<const std::uint16_t*>(column.codes) + from);
  return body(static_cast<const std::uint32_t*>(column.codes) + from);
}

// The words of a bitmap from record `from` on, a multiple of 64: bit k is holds(k), 0 from n on.
template <class Holds>
TACIT_INLINE void set_bits(std::int64_t from, std::int64_t n, const Holds& holds,
                           std::uint64_t* bits) {
  for (std::int64_t k = from; k < kBlock; k += 64) {
    std::uint64_t word = 0;
    for (std::int64_t j = k; j < std::min(k + 64, n); ++j)
      word |= std::uint64_t{holds(j)} << (j - k);
    bits[k / 64] = word;
  }
}

// bits: which of n codes are in a range.
template <class Code>
void range_bits(const Code* codes, Code first, Code extent, std::int64_t n, std::uint64_t* bits) {
  const auto holds = [=](std::int64_t k) { return static_cast<Code>(codes[k] - first) <= extent; };
  set_bits(0, n, holds, bits);
}

#if TACIT_X86
TACIT_TARGET("avx2")
void byte_range_bits_avx2(const std::uint8_t* codes, std::uint8_t first, std::uint8_t extent,
                          std::int64_t n, std::uint64_t* bits) {
  const __m256i low = _mm256_set1_epi8(static_cast<char>(first));
  const __m256i most = _mm256_set1_epi8(static_cast<char>(extent));
  const auto half = [&](const std::uint8_t* from) TACIT_TARGET("avx2") {
    const __m256i own =
        _mm256_sub_epi8(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)), low);
    const __m256i holds = _mm256_cmpeq_epi8(_mm256_min_epu8(own, most), own);
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm256_movemask_epi8(holds)));
  };
  std::int64_t k = 0;
  for (; k + 64 <= n; k += 64) bits[k / 64] = half(codes + k) | half(codes + k + 32) << 32;
  const auto holds = [=](std::int64_t j) {
    return static_cast<std::uint8_t>(codes[j] - first) <= extent;
  };
  set_bits(k, n, holds, bits);
}
#endif

using ByteRangeBits = void (*)(const std::uint8_t*, std::uint8_t, std::uint8_t, std::int64_t,
                               std::uint64_t*);
ByteRangeBits byte_range_bits() {
#if TACIT_X86
  if (has_avx2()) return byte_range_bits_avx2;
#endif
  return range_bits<std::uint8_t>;
}

void find_holding(const CodedColumn& column, const CodeSet& set,
                  const std::vector<std::uint8_t>& marks, std::int64_t from, std::int64_t n,
                  std::uint64_t* bits) {
  static const ByteRangeBits bytes = byte_range_bits();
  if (set.last() < set.first()) {
    std::fill_n(bits, kWords, std::uint64_t{0});
    return;
  }
  with_codes(column, from, [&](const auto* codes) {
    using Code = std::remove_cvref_t<decltype(*codes)>;
    const auto first = static_cast<Code>(set.first());
    const auto extent = static_cast<Code>(set.last() - set.first());
    if (!set.is_range()) {
      set_bits(0, n, [&](std::int64_t k) { return marks[codes[k]] != 0; }, bits);
    } else if constexpr (sizeof(Code) == 1) {
      bytes(codes, first, extent, n, bits);
    } else {
      range_bits(codes, first, extent, n, bits);
    }
  });
}

// Of some records of a block: the codes of the columns that are counted, and how often each occurs.
struct Chosen {
  std::int64_t n = 0;
  const std::uint32_t* positions = nullptr;  // in the block; null for all of it
  std::vector<std::uint32_t> codes;          // kBlock for each column of the records
  std::uint32_t times[kBlock];

  void take(const CodedRecords& records, std::int64_t from,
            const std::vector<std::int64_t>& which) {
    for (const std::int64_t c : which) {
      std::uint32_t* own = codes.data() + c * kBlock;
      with_codes(records.columns[static_cast<std::size_t>(c)], from, [&](const auto* source) {
        if (positions)
          for (std::int64_t k = 0; k < n; ++k) own[k] = source[positions[k]];
        else
          for (std::int64_t k = 0; k < n; ++k) own[k] = source[k];
      });
    }
    const std::uint32_t* source = records.times + from;
    if (!records.times)
      std::fill_n(times, n, 1u);
    else if (positions)
      for (std::int64_t k = 0; k < n; ++k) times[k] = source[positions[k]];
    else
      std::copy_n(source, n, times);
  }
};

TACIT_INLINE void cells_body(const std::uint32_t* codes, std::uint32_t stride, bool first,
                             std::int64_t n, std::uint32_t* cells) {
  if (first)
    for (std::int64_t k = 0; k < n; ++k) cells[k] = stride * codes[k];
  else
    for (std::int64_t k = 0; k < n; ++k) cells[k] += stride * codes[k];
}

// Adds the chosen records to a table, of which there are kCopies one after another if it is small.
void count(const Chosen& chosen, const std::vector<std::int64_t>& columns,
           const std::vector<std::int64_t>& strides, std::int64_t n_cells, std::int64_t* counts) {
  static const auto add_to_cells = avx2_or_plain<cells_body>();
  std::uint32_t sums[kBlock];
  const std::uint32_t* cells = sums;
  if (columns.size() == 1)
    cells = chosen.codes.data() + columns[0] * kBlock;
  else if (columns.empty())
    std::fill_n(sums, chosen.n, 0u);
  else
    for (std::size_t c = 0; c < columns.size(); ++c)
      add_to_cells(chosen.codes.data() + columns[c] * kBlock,
                   static_cast<std::uint32_t>(strides[c]), c == 0, chosen.n, sums);
  const std::int64_t apart = n_cells <= kCopied ? n_cells : 0;
  std::int64_t* h[kCopies];
  for (std::int64_t c = 0; c < kCopies; ++c) h[c] = counts + c * apart;
  const std::uint32_t* times = chosen.times;
  std::int64_t k = 0;
  for (; k + kCopies <= chosen.n; k += kCopies)
    for (std::int64_t c = 0; c < kCopies; ++c) h[c][cells[k + c]] += times[k + c];
  for (; k < chosen.n; ++k) counts[cells[k]] += times[k];
}

struct Plan {
  std::vector<std::vector<std::int64_t>> strides;  // of each table
  std::vector<std::int64_t> cells;                 // and how many it has
  std::vector<std::vector<std::uint8_t>> marks;    // of conditions that are no range
  std::vector<std::vector<std::size_t>> tables;    // of each selection
  std::vector<std::vector<std::int64_t>> columns;  // that are counted of each selection
  std::int64_t n_cells = 0;
};

Plan make_plan(const CodedRecords& records, const LinkedTables& asked) {
  Plan plan;
  plan.tables.resize(asked.selections.size());
  plan.columns.resize(asked.selections.size());
  for (std::size_t t = 0; t < asked.tables.size(); ++t) {
    const auto& columns = asked.tables[t].columns;
    std::vector<std::int64_t> strides(columns.size());
    std::int64_t cells = 1;
    for (std::size_t k = columns.size(); k-- > 0;) {
      strides[k] = cells;
      cells *= records.columns[static_cast<std::size_t>(columns[k])].arity;
    }
    plan.strides.push_back(std::move(strides));
    plan.cells.push_back(cells);
    plan.n_cells += cells;
    plan.tables[asked.tables[t].selection].push_back(t);
    auto& counted = plan.columns[asked.tables[t].selection];
    for (const std::int64_t c : columns)
      if (std::find(counted.begin(), counted.end(), c) == counted.end()) counted.push_back(c);
  }
  for (const LinkedCondition& condition : asked.conditions) {
    std::vector<std::uint8_t> marks;
    if (!condition.codes.is_range()) {
      const auto arity = records.columns[static_cast<std::size_t>(condition.column)].arity;
      marks.resize(static_cast<std::size_t>(arity));
      for (std::int64_t code = 0; code < arity; ++code)
        marks[static_cast<std::size_t>(code)] = condition.codes.has(code);
    }
    plan.marks.push_back(std::move(marks));
  }
  return plan;
}

void count_range(const CodedRecords& records, const LinkedTables& asked, const Plan& plan,
                 Range range, std::int64_t* out, StopToken& token) {
  Meter meter(token);
  // Small tables have copies of their own, which are added up at the end.
  std::vector<std::int64_t*> counts(asked.tables.size());
  std::vector<std::vector<std::int64_t>> copies(asked.tables.size());
  std::int64_t* next = out;
  for (std::size_t t = 0; t < asked.tables.size(); ++t) {
    counts[t] = next;
    if (plan.cells[t] <= kCopied) {
      copies[t].resize(static_cast<std::size_t>(kCopies * plan.cells[t]));
      counts[t] = copies[t].data();
    }
    next += plan.cells[t];
  }
  static const ListBits list = list_bits();
  std::vector<std::uint64_t> bitmaps(asked.conditions.size() * kWords);
  std::uint32_t positions[kBlock + kListSlack], hit[kWords + kListSlack];
  Chosen chosen;
  chosen.codes.resize(records.columns.size() * kBlock);
  for (std::int64_t from = range.begin; from < range.end; from += kBlock) {
    const std::int64_t n = std::min(kBlock, range.end - from);
    for (std::size_t c = 0; c < asked.conditions.size(); ++c) {
      const LinkedCondition& condition = asked.conditions[c];
      find_holding(records.columns[static_cast<std::size_t>(condition.column)], condition.codes,
                   plan.marks[c], from, n, bitmaps.data() + c * kWords);
    }
    std::int64_t spent = n * static_cast<std::int64_t>(1 + asked.conditions.size());
    for (std::size_t s = 0; s < asked.selections.size(); ++s) {
      if (plan.tables[s].empty()) continue;
      const std::vector<std::size_t>& own = asked.selections[s];
      chosen.n = n;
      chosen.positions = nullptr;
      if (!own.empty()) {
        Bitmap bits;
        std::memcpy(bits, bitmaps.data() + own[0] * kWords, sizeof bits);
        for (std::size_t c = 1; c < own.size(); ++c)
          for (std::size_t w = 0; w < kWords; ++w) bits[w] &= bitmaps[own[c] * kWords + w];
        chosen.n = list(bits, kWords, hit, positions);
        chosen.positions = positions;
      }
      if (chosen.n == 0) continue;
      chosen.take(records, from, plan.columns[s]);
      for (const std::size_t t : plan.tables[s])
        count(chosen, asked.tables[t].columns, plan.strides[t], plan.cells[t], counts[t]);
      spent += chosen.n * static_cast<std::int64_t>(plan.columns[s].size() + plan.tables[s].size());
    }
    meter.spend(spent);
  }
  next = out;
  for (std::size_t t = 0; t < asked.tables.size(); ++t) {
    for (std::size_t k = 0; k < copies[t].size(); ++k)
      next[static_cast<std::int64_t>(k) % plan.cells[t]] += copies[t][k];
    next += plan.cells[t];
  }
}

}  // namespace

void linked_tables(const CodedRecords& records, const LinkedTables& asked, std::int64_t* out,
                   int n_jobs, Poll poll) {
  const Plan plan = make_plan(records, asked);
  std::fill_n(out, plan.n_cells, std::int64_t{0});
  const std::int64_t parts = std::clamp<std::int64_t>(
      std::min(records.n / kPart, records.n / std::max<std::int64_t>(plan.n_cells, 1)), 1, n_jobs);
  std::vector<std::vector<std::int64_t>> others(
      static_cast<std::size_t>(parts - 1),
      std::vector<std::int64_t>(static_cast<std::size_t>(plan.n_cells)));
  for_blocks(parts, n_jobs, poll, [&](std::int64_t part, StopToken& token) {
    count_range(records, asked, plan, block_range(records.n, parts, part),
                part == 0 ? out : others[static_cast<std::size_t>(part - 1)].data(), token);
  });
  for (const auto& other : others)
    for (std::size_t k = 0; k < other.size(); ++k) out[k] += other[k];
}

}  // namespace tacit
