#include "table/log.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

namespace tacit {
namespace {

constexpr std::int64_t kRows = 1 << 17;        // rows that a thread takes at a time
constexpr std::int64_t kRange = 1 << 15;       // rows of a range of records: they stay in the cache
constexpr std::int64_t kMostRanges = 1 << 10;  // so that as many places to write to do, too
constexpr std::int64_t kMostBlocks = 32;       // each of which counts the rows of all ranges
constexpr std::int64_t kFew = 24;              // items that are sorted by comparison

std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

// Where each chunk is cut into blocks.
struct Block {
  const Integers* chunk;
  std::int64_t from, to;  // within the chunk
  std::int64_t position;  // of `from` within the column
};

std::vector<Block> cut(const std::vector<Integers>& chunks) {
  std::vector<Block> blocks;
  std::int64_t position = 0;
  for (const Integers& chunk : chunks)
    for (std::int64_t from = 0; from < chunk.length; from += kRows) {
      const std::int64_t to = std::min(chunk.length, from + kRows);
      blocks.push_back({&chunk, from, to, position});
      position += to - from;
    }
  return blocks;
}

// Calls body(numbers of the block) with their type.
template <class Body>
void with_numbers(const Block& block, const Body& body) {
  if (block.chunk->wide)
    body(static_cast<const std::int64_t*>(block.chunk->numbers) + block.from);
  else
    body(static_cast<const std::int32_t*>(block.chunk->numbers) + block.from);
}

template <class T>
Bounds bounds_of(const T* numbers, std::int64_t n) {
  T low = numbers[0], high = numbers[0];
  for (std::int64_t k = 1; k < n; ++k) {
    low = std::min(low, numbers[k]);
    high = std::max(high, numbers[k]);
  }
  return {low, high};
}

}  // namespace

Bounds integer_bounds(const std::vector<Integers>& chunks, int n_jobs, Poll poll) {
  const std::vector<Block> blocks = cut(chunks);
  std::vector<Bounds> found(blocks.size());
  for_blocks(static_cast<std::int64_t>(blocks.size()), n_jobs, poll,
             [&](std::int64_t b, StopToken&) {
               const Block& block = blocks[at(b)];
               with_numbers(block, [&](const auto* numbers) {
                 found[at(b)] = bounds_of(numbers, block.to - block.from);
               });
             });
  Bounds all = found.at(0);
  for (const Bounds& bounds : found)
    all = {std::min(all.low, bounds.low), std::max(all.high, bounds.high)};
  return all;
}

std::vector<std::int64_t> code_integers(const std::vector<Integers>& chunks, const Bounds& bounds,
                                        std::int32_t* codes, int n_jobs, Poll poll) {
  const std::vector<Block> blocks = cut(chunks);
  const auto n_blocks = static_cast<std::int64_t>(blocks.size());
  const std::int64_t range = bounds.high - bounds.low + 1;
  // Threads mark the same numbers; all write the same, and only what is not marked yet.
  std::vector<std::atomic<std::uint8_t>> seen(at(range));
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken&) {
    const Block& block = blocks[at(b)];
    with_numbers(block, [&](const auto* numbers) {
      for (std::int64_t k = 0; k < block.to - block.from; ++k) {
        auto& mark = seen[at(numbers[k] - bounds.low)];
        if (!mark.load(std::memory_order_relaxed)) mark.store(1, std::memory_order_relaxed);
      }
    });
  });
  std::vector<std::int64_t> distinct;
  std::vector<std::int32_t> ranks(at(range));
  for (std::int64_t offset = 0; offset < range; ++offset)
    if (seen[at(offset)].load(std::memory_order_relaxed)) {
      ranks[at(offset)] = static_cast<std::int32_t>(distinct.size());
      distinct.push_back(bounds.low + offset);
    }
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken&) {
    const Block& block = blocks[at(b)];
    std::int32_t* const out = codes + block.position;
    with_numbers(block, [&](const auto* numbers) {
      for (std::int64_t k = 0; k < block.to - block.from; ++k)
        out[k] = ranks[at(numbers[k] - bounds.low)];
    });
  });
  return distinct;
}

namespace {

// Sorts the items of one record after the other; its memory serves for all of them.
template <class V>
class RecordSorter {
 public:
  explicit RecordSorter(std::int64_t n_items) : n_items_(n_items), n_groups_((n_items >> 12) + 1) {}

  // Writes the n items in ascending order, each once; returns how many these are.
  std::int64_t distinct(const std::int32_t* items, std::int64_t n, V* out) {
    if (ascending(items, n)) {
      std::transform(items, items + n, out, [](std::int32_t i) { return static_cast<V>(i); });
      return n;
    }
    if (compares(n)) {
      sort_keys(items, n);
      V* end = out;
      for (std::int64_t k = 0; k < n; ++k)
        if (k == 0 || keys_[at(k)] >> 32 != keys_[at(k - 1)] >> 32)
          *end++ = static_cast<V>(keys_[at(k)] >> 32);
      return end - out;
    }
    mark(items, n);
    V* end = out;
    take_marked([&](std::int64_t item) { *end++ = static_cast<V>(item); });
    return end - out;
  }

  // Writes items and values in the order of items, equal ones as they come or only one of them;
  // returns the number of distinct items.
  std::int64_t with_values(const std::int32_t* items, const std::int32_t* values, std::int64_t n,
                           Repeats repeats, V* out, std::int32_t* out_values) {
    if (ascending(items, n)) {
      std::transform(items, items + n, out, [](std::int32_t i) { return static_cast<V>(i); });
      std::copy(values, values + n, out_values);
      return n;
    }
    if (compares(n)) {
      sort_keys(items, n);
      std::int64_t n_distinct = 0, end = 0;
      for (std::int64_t k = 0; k < n; ++k) {
        const std::uint64_t key = keys_[at(k)];
        const bool is_new = k == 0 || key >> 32 != keys_[at(k - 1)] >> 32;
        n_distinct += is_new;
        if (!is_new && repeats == Repeats::first) continue;
        if (!is_new && repeats == Repeats::last) --end;
        out[end] = static_cast<V>(key >> 32);
        out_values[end++] = values[static_cast<std::uint32_t>(key)];
      }
      return n_distinct;
    }
    mark(items, n);
    if (!ranks_.size()) ranks_ = Buffer<std::int32_t>(at(n_items_));
    std::int32_t n_distinct = 0;
    take_marked([&](std::int64_t item) { ranks_[at(item)] = n_distinct++; });
    const auto write = [&](std::int64_t k, std::int64_t to) {
      out[to] = static_cast<V>(items[k]);
      out_values[to] = values[k];
    };
    if (repeats == Repeats::last) {
      for (std::int64_t k = 0; k < n; ++k) write(k, ranks_[at(items[k])]);
    } else if (repeats == Repeats::first) {
      for (std::int64_t k = n; k-- > 0;) write(k, ranks_[at(items[k])]);
    } else {  // a counting sort, in which an item's bucket is its rank among those of the record
      starts_.assign(at(n_distinct) + 1, 0);
      for (std::int64_t k = 0; k < n; ++k) ++starts_[at(ranks_[at(items[k])]) + 1];
      for (std::size_t r = 1; r < starts_.size(); ++r) starts_[r] += starts_[r - 1];
      for (std::int64_t k = 0; k < n; ++k) write(k, starts_[at(ranks_[at(items[k])])]++);
    }
    return n_distinct;
  }

 private:
  static bool ascending(const std::int32_t* items, std::int64_t n) {
    for (std::int64_t k = 1; k < n; ++k)
      if (items[k - 1] >= items[k]) return false;
    return true;
  }

  // Few items, or too few for all the groups of the bitmap that would be looked at.
  bool compares(std::int64_t n) const { return n < kFew || n_groups_ > 4 * n; }

  void sort_keys(const std::int32_t* items, std::int64_t n) {
    keys_.resize(at(n));
    for (std::int64_t k = 0; k < n; ++k)
      keys_[at(k)] = static_cast<std::uint64_t>(items[k]) << 32 | static_cast<std::uint64_t>(k);
    std::sort(keys_.begin(), keys_.end());
  }

  void mark(const std::int32_t* items, std::int64_t n) {
    if (words_.empty()) {
      words_.resize(at(n_items_ / 64 + 1));
      groups_.resize(words_.size() / 64 + 1);
    }
    for (std::int64_t k = 0; k < n; ++k) {
      const auto item = static_cast<std::uint32_t>(items[k]);
      words_[item >> 6] |= std::uint64_t{1} << (item & 63);
      groups_[item >> 12] |= std::uint64_t{1} << (item >> 6 & 63);
    }
  }

  // Calls emit(item) for each item that is marked, ascending, and clears the marks.
  template <class Emit>
  void take_marked(const Emit& emit) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (std::uint64_t group = groups_[g]; group; group &= group - 1) {
        const std::size_t w = g * 64 + at(std::countr_zero(group));
        for (std::uint64_t word = words_[w]; word; word &= word - 1)
          emit(static_cast<std::int64_t>(w * 64) + std::countr_zero(word));
        words_[w] = 0;
      }
      groups_[g] = 0;
    }
  }

  std::int64_t n_items_, n_groups_;
  std::vector<std::uint64_t> words_, groups_;  // a bit for each item; for each word that has any
  std::vector<std::uint64_t> keys_;            // item and position
  Buffer<std::int32_t> ranks_;                 // of the items of a record; others are not set
  std::vector<std::int64_t> starts_;
};

bool sorted_by_record(const Log& log, int n_jobs, Poll poll) {
  std::atomic<bool> sorted{true};
  for_blocks((log.n_rows + kRows - 1) / kRows, n_jobs, poll, [&](std::int64_t b, StopToken&) {
    if (!sorted.load(std::memory_order_relaxed)) return;
    const std::int64_t from = std::max<std::int64_t>(1, b * kRows);
    const std::int64_t to = std::min(log.n_rows, (b + 1) * kRows);
    bool falls = false;
    for (std::int64_t k = from; k < to; ++k) falls |= log.records[k - 1] > log.records[k];
    if (falls) sorted.store(false, std::memory_order_relaxed);
  });
  return sorted.load();
}

// Rows brought to ranges of 2^shift records, in their order.
struct Ranges {
  int shift = 0;
  std::vector<std::int64_t> starts;  // of each range, and the end
  Buffer<std::uint64_t> pairs;       // record and item
  Buffer<std::int32_t> values;
};

Ranges move_to_ranges(const Log& log, int n_jobs, Poll poll) {
  Ranges ranges;
  const std::int64_t most = std::clamp<std::int64_t>(log.n_rows / kRange, 1, kMostRanges);
  while ((log.n_records - 1) >> ranges.shift >= most) ++ranges.shift;
  const std::int64_t n_ranges = ((log.n_records - 1) >> ranges.shift) + 1;
  const std::int64_t n_blocks = std::clamp<std::int64_t>(log.n_rows / kRows, 1, kMostBlocks);
  std::vector<std::int64_t> positions(at(n_blocks * n_ranges), 0);  // block by block
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    Meter meter(token);
    std::int64_t* const counts = positions.data() + b * n_ranges;
    const auto [from, to] = block_range(log.n_rows, n_blocks, b);
    for (std::int64_t low = from; low < to; low += kRows) {
      const std::int64_t high = std::min(to, low + kRows);
      for (std::int64_t k = low; k < high; ++k) ++counts[log.records[k] >> ranges.shift];
      meter.spend(high - low);
    }
  });
  std::int64_t position = 0;
  for (std::int64_t r = 0; r < n_ranges; ++r) {
    ranges.starts.push_back(position);
    for (std::int64_t b = 0; b < n_blocks; ++b) {
      std::int64_t& entry = positions[at(b * n_ranges + r)];
      position += std::exchange(entry, position);
    }
  }
  ranges.starts.push_back(position);
  ranges.pairs = Buffer<std::uint64_t>(at(log.n_rows));
  if (log.values) ranges.values = Buffer<std::int32_t>(at(log.n_rows));
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    Meter meter(token);
    std::int64_t* const next = positions.data() + b * n_ranges;
    const auto [from, to] = block_range(log.n_rows, n_blocks, b);
    for (std::int64_t low = from; low < to; low += kRows) {
      const std::int64_t high = std::min(to, low + kRows);
      for (std::int64_t k = low; k < high; ++k) {
        const auto record = static_cast<std::uint32_t>(log.records[k]);
        const std::int64_t to_row = next[record >> ranges.shift]++;
        ranges.pairs[at(to_row)] =
            std::uint64_t{record} << 32 | static_cast<std::uint32_t>(log.items[k]);
        if (log.values) ranges.values[at(to_row)] = log.values[k];
      }
      meter.spend(4 * (high - low));
    }
  });
  return ranges;
}

// Sorts all records and says how many items are left of each.
template <class V>
class LogSorter {
 public:
  LogSorter(const Log& log, Repeats repeats, int n_jobs, Poll poll)
      : log_(log), repeats_(repeats), n_jobs_(n_jobs), poll_(poll), lengths_(at(log.n_records)) {
    sorted_.indptr = Buffer<std::int64_t>(at(log.n_records + 1));
    sorted_.items = Buffer<V>(at(log.n_rows));
    if (log.values) sorted_.values = Buffer<std::int32_t>(at(log.n_rows));
  }

  SortedLog<V> sort() {
    if (sorted_by_record(log_, n_jobs_, poll_))
      sort_in_place();
    else
      sort_ranges();
    std::int64_t n_distinct = 0;
    for (std::int64_t length : lengths_) n_distinct += length;
    sorted_.n_repeated = log_.n_rows - n_distinct;
    if (sorted_.n_repeated && !(log_.values && repeats_ == Repeats::all)) close_gaps(n_distinct);
    return std::move(sorted_);
  }

 private:
  // The rows of a record stand together already. Each begins in one block, which says where.
  void sort_in_place() {
    for_blocks((log_.n_rows + kRows - 1) / kRows, n_jobs_, poll_, [&](std::int64_t b, StopToken&) {
      const std::int64_t to = std::min(log_.n_rows, (b + 1) * kRows);
      for (std::int64_t k = b * kRows; k < to; ++k)
        for (std::int64_t r = record_before(k); r < log_.records[k]; ++r)
          sorted_.indptr[at(r + 1)] = k;
    });
    for (std::int64_t r = record_before(log_.n_rows); r < log_.n_records; ++r)
      sorted_.indptr[at(r + 1)] = log_.n_rows;
    const std::int64_t n_blocks = std::clamp<std::int64_t>(log_.n_rows / kRange, 1, kMostRanges);
    for_blocks(n_blocks, n_jobs_, poll_, [&](std::int64_t b, StopToken& token) {
      RecordSorter<V> sorter(log_.n_items);
      Meter meter(token);
      const auto [from, to] = block_range(log_.n_records, n_blocks, b);
      for (std::int64_t r = from; r < to; ++r) {
        const std::int64_t begin = sorted_.indptr[at(r)];
        const std::int64_t n = sorted_.indptr[at(r + 1)] - begin;
        sort_record(sorter, r, log_.items + begin, log_.values ? log_.values + begin : nullptr, n);
        meter.spend(8 * n);
      }
    });
  }

  std::int64_t record_before(std::int64_t k) const { return k ? log_.records[k - 1] : -1; }

  void sort_ranges() {
    const Ranges ranges = move_to_ranges(log_, n_jobs_, poll_);
    const auto n_ranges = static_cast<std::int64_t>(ranges.starts.size()) - 1;
    for_blocks(n_ranges, n_jobs_, poll_, [&](std::int64_t range, StopToken& token) {
      Meter meter(token);
      const std::int64_t begin = ranges.starts[at(range)], end = ranges.starts[at(range + 1)];
      const std::int64_t first = range << ranges.shift;
      const std::int64_t last = std::min(log_.n_records, (range + 1) << ranges.shift);
      std::vector<std::int64_t> next(at(last - first), 0);
      for (std::int64_t k = begin; k < end; ++k) ++next[at(record_of(ranges, k) - first)];
      meter.spend(2 * (end - begin));
      std::int64_t position = 0;
      for (std::int64_t r = first; r < last; ++r) {
        sorted_.indptr[at(r)] = begin + position;
        position += std::exchange(next[at(r - first)], position);
      }
      if (last == log_.n_records) sorted_.indptr[at(last)] = end;
      std::vector<std::int32_t> items(at(end - begin));
      std::vector<std::int32_t> values(log_.values ? items.size() : 0);
      for (std::int64_t k = begin; k < end; ++k) {
        const std::size_t to = at(next[at(record_of(ranges, k) - first)]++);
        items[to] = static_cast<std::int32_t>(ranges.pairs[at(k)] & 0xffffffffu);
        if (log_.values) values[to] = ranges.values[at(k)];
      }
      meter.spend(4 * (end - begin));
      RecordSorter<V> sorter(log_.n_items);
      for (std::int64_t r = first; r < last; ++r) {
        const std::int64_t to = next[at(r - first)];
        const std::int64_t from = sorted_.indptr[at(r)] - begin;
        sort_record(sorter, r, items.data() + from, log_.values ? values.data() + from : nullptr,
                    to - from);
        meter.spend(8 * (to - from));
      }
    });
  }

  static std::int64_t record_of(const Ranges& ranges, std::int64_t k) {
    return static_cast<std::int64_t>(ranges.pairs[at(k)] >> 32);
  }

  void sort_record(RecordSorter<V>& sorter, std::int64_t r, const std::int32_t* items,
                   const std::int32_t* values, std::int64_t n) {
    const std::int64_t begin = sorted_.indptr[at(r)];
    V* const out = sorted_.items.data() + begin;
    lengths_[at(r)] =
        values ? sorter.with_values(items, values, n, repeats_, out, sorted_.values.data() + begin)
               : sorter.distinct(items, n, out);
  }

  void close_gaps(std::int64_t n_distinct) {
    Buffer<V> items(at(n_distinct));
    Buffer<std::int32_t> values(log_.values ? items.size() : 0);
    Buffer<std::int64_t> indptr(at(log_.n_records + 1));
    std::int64_t position = 0;
    for (std::int64_t r = 0; r < log_.n_records; ++r) {
      indptr[at(r)] = position;
      position += lengths_[at(r)];
    }
    indptr[at(log_.n_records)] = position;
    const std::int64_t n_blocks = std::max<std::int64_t>(1, log_.n_rows / kRows);
    for_blocks(n_blocks, n_jobs_, poll_, [&](std::int64_t b, StopToken&) {
      const auto [from, to] = block_range(log_.n_records, n_blocks, b);
      for (std::int64_t r = from; r < to; ++r) {
        const std::int64_t was = sorted_.indptr[at(r)], now = indptr[at(r)], n = lengths_[at(r)];
        std::copy_n(sorted_.items.data() + was, n, items.data() + now);
        if (log_.values) std::copy_n(sorted_.values.data() + was, n, values.data() + now);
      }
    });
    sorted_.items = std::move(items);
    sorted_.values = std::move(values);
    sorted_.indptr = std::move(indptr);
  }

  const Log& log_;
  Repeats repeats_;
  int n_jobs_;
  Poll poll_;
  std::vector<std::int64_t> lengths_;
  SortedLog<V> sorted_;
};

}  // namespace

template <class V>
SortedLog<V> sort_log(const Log& log, Repeats repeats, int n_jobs, Poll poll) {
  return LogSorter<V>(log, repeats, n_jobs, poll).sort();
}

#define TACIT_INSTANTIATE(V) template SortedLog<V> sort_log(const Log&, Repeats, int, Poll);
TACIT_FOR_VALUE_TYPES(TACIT_INSTANTIATE)
#undef TACIT_INSTANTIATE

}  // namespace tacit
