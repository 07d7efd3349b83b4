#include "engine/scan.hpp"

#include <algorithm>
#include <type_traits>

#include "base/bits.hpp"

namespace tacit {
namespace {

using Columns = std::vector<std::int64_t>;

constexpr std::int64_t kBlock = 2048;           // records whose cell numbers are held at a time
constexpr std::int64_t kCopiedCells = 1 << 14;  // counts of all copies together, at most
constexpr std::int64_t kPart = 1 << 18;         // records that are worth a thread of their own
constexpr std::int64_t kPairCost = 24;          // sorting a stored value costs as much as reading
                                                // this many records

// cells[k] = base + Σ stride · code for the n records from `from` on; all columns have codes.
template <class Cell>
void index_block(const ColumnStore& store, const Columns& columns, const Columns& strides,
                 std::int64_t base, std::int64_t from, std::int64_t n, Cell* cells) {
  std::size_t c = 0;
  if constexpr (sizeof(Cell) == 2) {  // as many as there is a quick way for
    const std::uint8_t* codes[kMostIndexed];
    std::uint16_t steps[kMostIndexed];
    for (; c < std::min(columns.size(), kMostIndexed); ++c) {
      const Column& column = store.column(columns[c]);
      if (column.width != 1) break;
      codes[c] = static_cast<const std::uint8_t*>(column.codes) + from;
      steps[c] = static_cast<std::uint16_t>(strides[c]);
    }
    if (c > 0) index_bytes(c)(codes, steps, static_cast<std::uint16_t>(base), n, cells);
  }
  if (c == 0) std::fill_n(cells, n, static_cast<Cell>(base));
  for (; c < columns.size(); ++c) {
    const auto stride = static_cast<Cell>(strides[c]);
    with_codes(store.column(columns[c]), [&](const auto* codes) {
      for (std::int64_t k = 0; k < n; ++k)
        cells[k] = static_cast<Cell>(cells[k] + static_cast<Cell>(codes[from + k]) * stride);
    });
  }
}

// Adds stored values of a sparse column to cells that hold its default already.
template <class Cell>
void add_stored(const Column& column, std::int64_t stride, std::int64_t from, std::int64_t n,
                Cell* cells) {
  const auto low = static_cast<std::int32_t>(from), high = static_cast<std::int32_t>(from + n);
  for (std::int64_t v = 0; v < column.n_values(); ++v) {
    const auto step = static_cast<Cell>(stride * (column.code_of(v) - column.default_code));
    const std::int32_t* end = column.begin(v + 1);
    for (const std::int32_t* r = std::lower_bound(column.begin(v), end, low); r != end && *r < high;
         ++r)
      cells[*r - low] = static_cast<Cell>(cells[*r - low] + step);
  }
}

// Adds the records of a range to `counts`. Records that follow each other are counted in tables of
// their own: a common cell then does not wait for itself. The tables are apart, since counts side
// by side turned out slower by half.
template <int kCopies, class Cell, class Count>
void scan_copies(const ColumnStore& store, const Tally<Count>& tally, const Columns& columns,
                 const Columns& strides, std::int64_t n_cells, Range range, Count* counts,
                 StopToken& token) {
  Columns coded, coded_strides, listed, listed_strides;
  std::int64_t base = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Column& column = store.column(columns[c]);
    (column.width ? coded : listed).push_back(columns[c]);
    (column.width ? coded_strides : listed_strides).push_back(strides[c]);
    if (!column.width) base += strides[c] * column.default_code;
  }
  std::vector<Count> more(static_cast<std::size_t>((kCopies - 1) * n_cells));
  Count* h[kCopies] = {counts};
  for (int c = 1; c < kCopies; ++c) h[c] = more.data() + (c - 1) * n_cells;
  Meter meter(token);
  Cell cells[kBlock];
  for (std::int64_t from = range.begin; from < range.end; from += kBlock) {
    const std::int64_t n = std::min(kBlock, range.end - from);
    index_block(store, coded, coded_strides, base, from, n, cells);
    for (std::size_t c = 0; c < listed.size(); ++c)
      add_stored(store.column(listed[c]), listed_strides[c], from, n, cells);
    std::int64_t k = 0;
    for (; k + kCopies <= n; k += kCopies)
      for (int c = 0; c < kCopies; ++c)
        h[c][cells[k + c]] += tally.of(static_cast<std::int32_t>(from + k + c));
    for (; k < n; ++k) counts[cells[k]] += tally.of(static_cast<std::int32_t>(from + k));
    meter.spend(n);
  }
  for (int c = 1; c < kCopies; ++c)
    for (std::int64_t k = 0; k < n_cells; ++k) counts[k] += h[c][k];
}

// As many copies as fit into the nearest cache and stay a small part of the work.
template <class Count>
void scan_range(const ColumnStore& store, const Tally<Count>& tally, const Columns& columns,
                const Columns& strides, std::int64_t n_cells, Range range, Count* counts,
                StopToken& token) {
  const auto scan = [&](auto copies, auto cell) {
    scan_copies<copies(), decltype(cell)>(store, tally, columns, strides, n_cells, range, counts,
                                          token);
  };
  using One = std::integral_constant<int, 1>;
  const std::int64_t room = std::min(kCopiedCells, (range.end - range.begin) / 4);
  if (sizeof(Count) < sizeof(Int128) && 8 * n_cells <= room)
    scan(std::integral_constant<int, 8>(), std::uint16_t{});
  else if (sizeof(Count) < sizeof(Int128) && 4 * n_cells <= room)
    scan(std::integral_constant<int, 4>(), std::uint16_t{});
  else if (n_cells <= INT64_C(1) << 16)
    scan(One(), std::uint16_t{});
  else if (n_cells <= INT64_C(1) << 32)
    scan(One(), std::uint32_t{});
  else
    scan(One(), std::uint64_t{});
}

// Only records with a stored value in one of the columns; the all-default cell is what is left.
template <class Count>
void scan_stored(const ColumnStore& store, const Tally<Count>& tally, const Columns& columns,
                 const Columns& strides, std::vector<Entry<Count>>& entries) {
  struct Step {
    std::int32_t record;
    std::int64_t by;
  };
  std::vector<Step> steps;
  std::int64_t base = 0;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const Column& column = store.peek(columns[c]);
    base += strides[c] * column.default_code;
    for (std::int64_t v = 0; v < column.n_values(); ++v) {
      const std::int64_t by = strides[c] * (column.code_of(v) - column.default_code);
      for (const std::int32_t* r = column.begin(v); r != column.begin(v + 1); ++r)
        steps.push_back({*r, by});
    }
  }
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.record < b.record; });
  Count rest = 0;
  if constexpr (sizeof(Count) == sizeof(Int128))
    rest = tally.weights.total();
  else
    rest = static_cast<Count>(store.n_records());
  for (std::size_t k = 0; k < steps.size();) {
    const std::int32_t record = steps[k].record;
    std::int64_t cell = base;
    for (; k < steps.size() && steps[k].record == record; ++k) cell += steps[k].by;
    entries.push_back({cell, tally.of(record)});
    rest -= tally.of(record);
  }
  entries.push_back({base, rest});
}

std::int64_t n_stored(const ColumnStore& store, const Columns& columns) {
  std::int64_t n = 0;
  for (const std::int64_t c : columns) n += store.n_stored(c);
  return n;
}

template <class Count>
void write_all(const Tally<Count>& tally, const std::vector<Count>& counts, Result out) {
  for (std::size_t k = 0; k < counts.size(); ++k)
    tally.write(counts[k], out, static_cast<std::int64_t>(k));
}

}  // namespace

void Scan::dense(const Question& question, Result out, Poll poll) {
  const ColumnStore& store = *store_;
  if (!question.given.empty()) {
    std::vector<std::int32_t> room;
    const Some some = matching(store, question.given, room);
    dense_some(question.columns, some, out);
    return;
  }
  const std::int64_t n_cells = count_cells(store, question.columns);
  const Columns strides = c_strides(store, question.columns);
  const std::int64_t m = store.n_records();
  with_tally(store, [&](const auto& tally) {
    using Count = decltype(tally.of(0));
    std::vector<Count> counts(static_cast<std::size_t>(n_cells));
    if (n_stored(store, question.columns) * kPairCost < m) {
      std::vector<Entry<Count>> entries;
      scan_stored(store, tally, question.columns, strides, entries);
      for (const auto& entry : entries) counts[static_cast<std::size_t>(entry.cell)] += entry.count;
      write_all(tally, counts, out);
      return;
    }
    // Each part is counted apart: no more parts than threads, nor than the table is worth.
    const std::int64_t parts = std::clamp<std::int64_t>(
        std::min(m / kPart, m / std::max<std::int64_t>(n_cells, 1)), 1, n_jobs_);
    std::vector<std::vector<Count>> others(static_cast<std::size_t>(parts - 1), counts);
    for_blocks(parts, n_jobs_, poll, [&](std::int64_t part, StopToken& token) {
      Count* part_counts =
          part == 0 ? counts.data() : others[static_cast<std::size_t>(part - 1)].data();
      const Range range = block_range(m, parts, part);
      scan_range(store, tally, question.columns, strides, n_cells, range, part_counts, token);
    });
    for (const auto& other : others)
      for (std::size_t k = 0; k < counts.size(); ++k) counts[k] += other[k];
    write_all(tally, counts, out);
  });
}

SparseCells Scan::sparse(const Question& question, Poll) {
  const ColumnStore& store = *store_;
  if (question.given.empty() && n_stored(store, question.columns) * kPairCost < store.n_records()) {
    return with_tally(store, [&](const auto& tally) {
      std::vector<Entry<decltype(tally.of(0))>> entries;
      scan_stored(store, tally, question.columns, c_strides(store, question.columns), entries);
      return to_cells(tally, entries);
    });
  }
  std::vector<std::int32_t> room;
  return sparse_some(question.columns, matching(store, question.given, room));
}

void Scan::dense_some(const Columns& columns, const Some& chosen, Result out) {
  with_tally(*store_, [&](const auto& tally) {
    std::vector<decltype(tally.of(0))> counts(
        static_cast<std::size_t>(count_cells(*store_, columns)));
    tally_records(*store_, chosen, tally, columns, c_strides(*store_, columns), counts.data());
    write_all(tally, counts, out);
  });
}

SparseCells Scan::sparse_some(const Columns& columns, const Some& chosen) {
  return with_tally(*store_, [&](const auto& tally) {
    std::vector<Entry<decltype(tally.of(0))>> entries;
    tally_records(*store_, chosen, tally, columns, c_strides(*store_, columns), entries);
    return to_cells(tally, entries);
  });
}

}  // namespace tacit
