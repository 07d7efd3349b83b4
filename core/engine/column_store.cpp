#include "engine/column_store.hpp"

#include <algorithm>

namespace tacit {
namespace {

// A code for each record pays where at least one record in this many has a stored value: below
// that the lists are smaller by more than they are slower.
constexpr std::int64_t kSparse = 16;

template <class Code>
void fill_codes(const Column& column, std::int64_t n_records, Code* codes) {
  std::fill_n(codes, n_records, static_cast<Code>(column.default_code));
  for (std::int64_t v = 0; v < column.n_values(); ++v) {
    const auto code = static_cast<Code>(column.code_of(v));
    for (const std::int32_t* r = column.begin(v); r != column.begin(v + 1); ++r) codes[*r] = code;
  }
}

// Calls each(k, code) for every record, in order.
template <class Each>
void for_codes(const Column& column, const Some& some, const Each& each) {
  with_codes(column, [&](const auto* codes) {
    if (some.list)
      for (std::int64_t k = 0; k < some.n; ++k) each(k, codes[some.list[k]]);
    else
      for (std::int64_t k = 0; k < some.n; ++k) each(k, codes[k]);
  });
}

// Four counts for each code where there are records enough: a common code then does not wait for
// itself.
void count_coded(const Column& column, const Some& some, std::uint32_t* counts) {
  constexpr std::int64_t kCopies = 4;
  const std::int64_t arity = column.arity;
  if (some.n < 16 * arity) {
    for_codes(column, some, [&](std::int64_t, auto code) { ++counts[code]; });
    return;
  }
  std::vector<std::uint32_t> copies(static_cast<std::size_t>(kCopies * arity));
  std::uint32_t* h = copies.data();
  for_codes(column, some, [&](std::int64_t k, auto code) { ++h[k % kCopies * arity + code]; });
  for (std::int64_t k = 0; k < kCopies * arity; ++k)
    counts[k % arity] += copies[static_cast<std::size_t>(k)];
}

// First all records that go anywhere, without a branch; then, of these, each to its position.
void split_coded(const Column& column, const Some& some, std::int32_t** ends) {
  std::vector<std::uint8_t> wanted(static_cast<std::size_t>(column.arity));
  for (std::size_t c = 0; c < wanted.size(); ++c) wanted[c] = ends[c] != nullptr;
  Buffer<std::int32_t> kept(static_cast<std::size_t>(some.n));
  std::int64_t n = 0;
  for_codes(column, some, [&](std::int64_t k, auto code) {
    kept[static_cast<std::size_t>(n)] = some[k];
    n += wanted[code];
  });
  with_codes(column, [&](const auto* codes) {
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int32_t record = kept[static_cast<std::size_t>(k)];
      *ends[codes[record]]++ = record;
    }
  });
}

// The positions of the records with a stored value that pick(code) chooses, as marks.
template <class Pick>
std::vector<std::uint8_t> stored_marks(const Column& column, const Some& some, const Pick& pick) {
  std::vector<std::uint8_t> marks(static_cast<std::size_t>(some.n));
  for (std::int64_t v = 0; v < column.n_values(); ++v)
    if (pick(column.code_of(v)))
      intersect(some, column.begin(v), column.length(v),
                [&](std::int64_t k) { marks[static_cast<std::size_t>(k)] = 1; });
  return marks;
}

// Keeps the records for which wanted(code), without a branch.
template <class Wanted>
std::int64_t keep_coded(const Column& column, const Some& some, std::int32_t* kept,
                        const Wanted& wanted) {
  std::int64_t n = 0;
  for_codes(column, some, [&](std::int64_t k, auto code) {
    kept[n] = some[k];
    n += wanted(static_cast<std::uint32_t>(code));
  });
  return n;
}

}  // namespace

ColumnStore::ColumnStore(std::int64_t n_records, std::int64_t n_columns,
                         const std::int64_t* offsets, const std::int64_t* defaults,
                         const std::int64_t* start, const std::int32_t* rows, const double* weights,
                         bool whole)
    : n_records_(n_records),
      weighted_(weights != nullptr),
      codes_(static_cast<std::size_t>(n_columns)),
      ready_(new std::atomic<bool>[static_cast<std::size_t>(n_columns)]()) {
  if (weights) weights_ = FixedWeights(weights, n_records, whole);
  bytes_ = weights_.bytes();
  columns_.reserve(static_cast<std::size_t>(n_columns));
  for (std::int64_t c = 0; c < n_columns; ++c) {
    Column column{offsets[c + 1] - offsets[c] + 1, defaults[c], start + offsets[c], rows};
    if (column.n_stored() * kSparse >= n_records)
      column.width = column.arity <= 256 ? 1 : column.arity <= 65536 ? 2 : 4;
    ready_[static_cast<std::size_t>(c)] = column.width == 0;
    columns_.push_back(column);
  }
}

const Column& ColumnStore::column(std::int64_t column) const {
  if (!ready_[static_cast<std::size_t>(column)].load(std::memory_order_acquire)) make_codes(column);
  return at(column);
}

void ColumnStore::make_codes(std::int64_t c) const {
  const auto position = static_cast<std::size_t>(c);
  const std::lock_guard lock(making_);
  if (ready_[position].load(std::memory_order_relaxed)) return;
  Column& column = columns_[position];
  const auto size = static_cast<std::size_t>(n_records_ * column.width);
  Buffer<std::uint8_t> codes(size);
  if (column.width == 1)
    fill_codes(column, n_records_, codes.data());
  else if (column.width == 2)
    fill_codes(column, n_records_, reinterpret_cast<std::uint16_t*>(codes.data()));
  else
    fill_codes(column, n_records_, reinterpret_cast<std::uint32_t*>(codes.data()));
  column.codes = codes.data();
  codes_[position] = std::move(codes);
  bytes_ += static_cast<std::int64_t>(size);
  ready_[position].store(true, std::memory_order_release);
}

std::int64_t ColumnStore::count_of(std::int64_t c, std::int64_t code) const {
  const Column& column = at(c);
  if (code == column.default_code) return n_records_ - column.n_stored();
  return column.length(column.value_of(code));
}

std::int64_t ColumnStore::count_of(std::int64_t c, const CodeSet& codes) const {
  const Column& column = at(c);
  const bool rest = codes.has(column.default_code);  // then the others are fewer, as a rule
  std::int64_t n = 0;
  for (std::int64_t v = 0; v < column.n_values(); ++v)
    if (codes.has(column.code_of(v)) != rest) n += column.length(v);
  return rest ? n_records_ - n : n;
}

std::int64_t ColumnStore::common_code(std::int64_t c) const {
  std::int64_t best = 0;
  for (std::int64_t code = 1; code < arity(c); ++code)
    if (count_of(c, code) > count_of(c, best)) best = code;
  return best;
}

std::int64_t ColumnStore::missing_bytes(std::int64_t column) const {
  const bool ready = ready_[static_cast<std::size_t>(column)].load(std::memory_order_acquire);
  return ready ? 0 : n_records_ * at(column).width;
}

std::int64_t ColumnStore::bytes() const { return bytes_; }

void add_codes(const Column& column, const Some& some, std::int64_t stride, std::int64_t* cells) {
  if (column.width) {
    for_codes(column, some, [&](std::int64_t k, auto code) {
      cells[k] += stride * static_cast<std::int64_t>(code);
    });
    return;
  }
  for (std::int64_t k = 0; k < some.n; ++k) cells[k] += stride * column.default_code;
  for (std::int64_t v = 0; v < column.n_values(); ++v) {
    const std::int64_t step = stride * (column.code_of(v) - column.default_code);
    intersect(some, column.begin(v), column.length(v), [&](std::int64_t k) { cells[k] += step; });
  }
}

void count_codes(const Column& column, const Some& some, std::uint32_t* counts) {
  if (column.width) {
    count_coded(column, some, counts);
    return;
  }
  std::int64_t stored = 0;
  for (std::int64_t v = 0; v < column.n_values(); ++v) {
    std::uint32_t n_matching = 0;
    if (some.list)
      intersect(some, column.begin(v), column.length(v), [&](std::int64_t) { ++n_matching; });
    else
      n_matching = static_cast<std::uint32_t>(column.length(v));
    counts[column.code_of(v)] += n_matching;
    stored += n_matching;
  }
  counts[column.default_code] += static_cast<std::uint32_t>(some.n - stored);
}

void split_codes(const Column& column, const Some& some, std::int32_t** ends) {
  if (column.width) {
    split_coded(column, some, ends);
    return;
  }
  for (std::int64_t v = 0; v < column.n_values(); ++v)
    if (std::int32_t*& end = ends[column.code_of(v)]; end)
      intersect(some, column.begin(v), column.length(v), [&](std::int64_t k) { *end++ = some[k]; });
  if (std::int32_t*& end = ends[column.default_code]; end) {
    const auto marks = stored_marks(column, some, [](std::int64_t) { return true; });
    for (std::int64_t k = 0; k < some.n; ++k)
      if (!marks[static_cast<std::size_t>(k)]) *end++ = some[k];
  }
}

std::int64_t keep_codes(const Column& column, const Some& some, const CodeSet& codes,
                        std::int32_t* kept) {
  if (column.width && codes.is_range()) {
    const auto first = static_cast<std::uint32_t>(codes.first());
    const auto n_codes = static_cast<std::uint32_t>(codes.last() - codes.first() + 1);
    return keep_coded(column, some, kept,
                      [=](std::uint32_t code) { return code - first < n_codes; });
  }
  if (column.width) {
    std::vector<std::uint8_t> wanted(static_cast<std::size_t>(column.arity));
    for (std::int64_t code = codes.first(); code <= codes.last(); ++code)
      wanted[static_cast<std::size_t>(code)] = codes.has(code);
    return keep_coded(column, some, kept, [&](std::uint32_t code) { return wanted[code]; });
  }
  std::int64_t n = 0;
  if (codes.is_one() && codes.first() != column.default_code) {
    const std::int64_t v = column.value_of(codes.first());
    intersect(some, column.begin(v), column.length(v),
              [&](std::int64_t k) { kept[n++] = some[k]; });
    return n;
  }
  if (!codes.has(column.default_code)) {
    std::vector<std::int64_t> found;
    for (std::int64_t code = codes.first(); code <= codes.last(); ++code) {
      if (!codes.has(code)) continue;
      const std::int64_t v = column.value_of(code);
      intersect(some, column.begin(v), column.length(v),
                [&](std::int64_t k) { found.push_back(k); });
    }
    std::sort(found.begin(), found.end());
    for (const std::int64_t k : found) kept[n++] = some[k];
    return n;
  }
  const auto others =
      stored_marks(column, some, [&](std::int64_t code) { return !codes.has(code); });
  for (std::int64_t k = 0; k < some.n; ++k) {
    kept[n] = some[k];
    n += !others[static_cast<std::size_t>(k)];
  }
  return n;
}

}  // namespace tacit
