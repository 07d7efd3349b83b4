#include "table/arrange.hpp"

#include <algorithm>

namespace tacit {
namespace {

constexpr std::size_t kScratch = 1 << 17;  // bytes
constexpr std::int64_t kWide = 4096;       // columns beyond which scratch rows are too few
constexpr std::int64_t kBlock = 4096;      // records whose cursors stay in the first-level cache

template <class Body>
void in_record_blocks(std::int64_t n_records, int n_jobs, Poll poll, const Body& body) {
  for_blocks((n_records + kBlock - 1) / kBlock, n_jobs, poll, [&](std::int64_t block, StopToken&) {
    body(block * kBlock, std::min(n_records, (block + 1) * kBlock));
  });
}

// Calls emit(new id) for every value that the record stores under the new ids, in column order.
template <class V, class Emit>
void recode_record(const Records<V>& records, const Recoding& recoding, std::int64_t r,
                   const Emit& emit) {
  const V* p = records.begin(r);
  const V* const end = records.end(r);
  const auto keep = [&](V v) {
    if (recoding.ids[v] >= 0) emit(recoding.ids[v]);
  };
  for (std::int64_t f = 0; f < recoding.n_fills; ++f) {
    while (p < end && static_cast<std::int64_t>(*p) < recoding.first[f]) keep(*p++);
    if (p < end && static_cast<std::int64_t>(*p) < recoding.last[f])
      keep(*p++);
    else
      emit(recoding.fill[f]);
  }
  while (p < end) keep(*p++);
}

}  // namespace

void stored_lengths(const std::vector<CodeColumn>& columns, std::int64_t n_records,
                    std::int64_t* lengths, int n_jobs, Poll poll) {
  in_record_blocks(n_records, n_jobs, poll, [&](std::int64_t from, std::int64_t to) {
    std::fill(lengths + from, lengths + to, std::int64_t{0});
    for (const CodeColumn& column : columns)
      for (std::int64_t r = from; r < to; ++r) lengths[r] += column.ids[column.codes[r]] >= 0;
  });
}

namespace {

// Where little is stored a branch is guessed well, and nothing is written in vain.
template <class V>
void write_stored(const std::vector<CodeColumn>& columns, std::int64_t from, std::int64_t to,
                  const std::int64_t* indptr, V* values) {
  std::vector<V*> position(static_cast<std::size_t>(to - from));
  for (std::int64_t r = from; r < to; ++r)
    position[static_cast<std::size_t>(r - from)] = values + (indptr[r] - indptr[0]);
  for (const CodeColumn& column : columns)
    for (std::int64_t r = from; r < to; ++r)
      if (const std::int32_t id = column.ids[column.codes[r]]; id >= 0)
        *position[static_cast<std::size_t>(r - from)]++ = static_cast<V>(id);
}

// Else every id is written and what is stored stays, without a branch: into rows of scratch memory
// that have room for all columns, and from there to where the record belongs.
template <class V>
void write_all(const std::vector<CodeColumn>& columns, std::int64_t from, std::int64_t to,
               const std::int64_t* indptr, V* values) {
  const std::size_t width = columns.size() + 1;
  const std::size_t rows = std::clamp<std::size_t>(kScratch / (width * sizeof(V)), 16, 1024);
  std::vector<V> scratch(rows * width);
  std::vector<V*> position(rows);
  for (; from < to; from += static_cast<std::int64_t>(rows)) {
    const std::size_t height = std::min(rows, static_cast<std::size_t>(to - from));
    for (std::size_t r = 0; r < height; ++r) position[r] = scratch.data() + r * width;
    for (const CodeColumn& column : columns) {
      const std::uint32_t* const codes = column.codes + from;
      for (std::size_t r = 0; r < height; ++r) {
        const std::int32_t id = column.ids[codes[r]];
        *position[r] = static_cast<V>(id);
        position[r] += id >= 0;
      }
    }
    for (std::size_t r = 0; r < height; ++r)
      std::copy(scratch.data() + r * width, position[r],
                values + (indptr[from + static_cast<std::int64_t>(r)] - indptr[0]));
  }
}

}  // namespace

template <class V>
void stored_values(const std::vector<CodeColumn>& columns, std::int64_t n_records,
                   const std::int64_t* indptr, V* values, int n_jobs, Poll poll) {
  const auto n_columns = static_cast<std::int64_t>(columns.size());
  const bool dense = n_columns <= kWide && n_records > 0 &&
                     (indptr[n_records] - indptr[0]) / n_records >= n_columns / 16 + 1;
  in_record_blocks(n_records, n_jobs, poll, [&](std::int64_t from, std::int64_t to) {
    if (dense)
      write_all(columns, from, to, indptr, values);
    else
      write_stored(columns, from, to, indptr, values);
  });
}

template <class V>
void recoded_lengths(const Records<V>& records, const Recoding& recoding, std::int64_t* lengths,
                     int n_jobs, Poll poll) {
  in_record_blocks(records.size(), n_jobs, poll, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t k = from; k < to; ++k) {
      std::int64_t length = 0;
      recode_record(records, recoding, records.record(k), [&](std::int64_t) { ++length; });
      lengths[k] = length;
    }
  });
}

template <class V, class W>
void recoded_values(const Records<V>& records, const Recoding& recoding, const std::int64_t* indptr,
                    W* values, int n_jobs, Poll poll) {
  in_record_blocks(records.size(), n_jobs, poll, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t k = from; k < to; ++k) {
      W* const begin = values + (indptr[k] - indptr[0]);
      W* position = begin;
      recode_record(records, recoding, records.record(k),
                    [&](std::int64_t id) { *position++ = static_cast<W>(id); });
      // Columns keep their order unless the caller changed it.
      if (!std::is_sorted(begin, position)) std::sort(begin, position);
    }
  });
}

template <class V>
void postings(const Records<V>& records, const std::int64_t* start, std::int32_t* rows, Poll poll) {
  std::vector<std::int64_t> position(start, start + records.n_values);
  in_record_blocks(records.n_records, 1, poll, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t r = from; r < to; ++r)
      for (const V* p = records.begin(r); p < records.end(r); ++p)
        rows[position[*p]++] = static_cast<std::int32_t>(r);
  });
}

#define TACIT_INSTANTIATE(V)                                                                     \
  template void stored_values(const std::vector<CodeColumn>&, std::int64_t, const std::int64_t*, \
                              V*, int, Poll);                                                    \
  template void recoded_lengths(const Records<V>&, const Recoding&, std::int64_t*, int, Poll);   \
  template void recoded_values(const Records<V>&, const Recoding&, const std::int64_t*,          \
                               std::uint16_t*, int, Poll);                                       \
  template void recoded_values(const Records<V>&, const Recoding&, const std::int64_t*,          \
                               std::uint32_t*, int, Poll);                                       \
  template void postings(const Records<V>&, const std::int64_t*, std::int32_t*, Poll);
TACIT_FOR_VALUE_TYPES(TACIT_INSTANTIATE)
#undef TACIT_INSTANTIATE

}  // namespace tacit
