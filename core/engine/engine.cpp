#include "engine/engine.hpp"

#include <algorithm>

namespace tacit {
namespace {

constexpr std::int64_t kBlock = 1024;  // cells of this many records are worked out at a time

// Calls each(record, cell) for every record.
template <class Each>
void for_cells(const ColumnStore& store, const Some& some, const std::vector<std::int64_t>& columns,
               const std::vector<std::int64_t>& strides, const Each& each) {
  std::int64_t cells[kBlock];
  std::int32_t numbers[kBlock];
  for (std::int64_t from = 0; from < some.n; from += kBlock) {
    const std::int64_t n = std::min(kBlock, some.n - from);
    for (std::int64_t k = 0; k < n && !some.list; ++k)
      numbers[k] = static_cast<std::int32_t>(from + k);
    const Some block{some.list ? some.list + from : numbers, n};
    std::fill_n(cells, n, 0);
    for (std::size_t c = 0; c < columns.size(); ++c)
      add_codes(store.column(columns[c]), block, strides[c], cells);
    for (std::int64_t k = 0; k < n; ++k) each(block.list[k], cells[k]);
  }
}

}  // namespace

void Engine::dense_many(const std::int64_t* columns, const std::int64_t* starts,
                        const std::int64_t* offsets, std::size_t n_sets,
                        const std::vector<Condition>& given, Result out, Poll poll) {
  Question question{{}, given};
  Poller poller(poll);
  for (std::size_t k = 0; k < n_sets; ++k) {
    question.columns.assign(columns + starts[k], columns + starts[k + 1]);
    const std::int64_t at = offsets[k];
    dense(question, {out.counts ? out.counts + at : nullptr, out.sums ? out.sums + at : nullptr},
          poll);
    poller.check();
  }
}

std::int64_t count_cells(const ColumnStore& store, const std::vector<std::int64_t>& columns) {
  std::int64_t n = 1;
  for (const std::int64_t c : columns) n *= store.arity(c);
  return n;
}

std::vector<std::int64_t> c_strides(const ColumnStore& store,
                                    const std::vector<std::int64_t>& columns) {
  std::vector<std::int64_t> strides(columns.size());
  std::int64_t step = 1;
  for (std::size_t k = columns.size(); k-- > 0;) {
    strides[k] = step;
    step *= store.arity(columns[k]);
  }
  return strides;
}

template <class Count>
void combine(std::vector<Entry<Count>>& entries) {
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.cell < b.cell; });
  std::size_t kept = 0;
  for (std::size_t k = 0; k < entries.size();) {
    Entry<Count> sum = entries[k];
    for (++k; k < entries.size() && entries[k].cell == sum.cell; ++k) sum.count += entries[k].count;
    if (sum.count != 0) entries[kept++] = sum;
  }
  entries.resize(kept);
}

template <class Count>
SparseCells to_cells(const Tally<Count>& tally, std::vector<Entry<Count>>& entries) {
  combine(entries);
  SparseCells result;
  result.cells = Buffer<std::int64_t>(entries.size());
  Result out{nullptr, nullptr};
  if (sizeof(Count) == sizeof(Int128) && !tally.weights.whole()) {
    result.sums = Buffer<double>(entries.size());
    out.sums = result.sums.data();
  } else {
    result.counts = Buffer<std::int64_t>(entries.size());
    out.counts = result.counts.data();
  }
  for (std::size_t k = 0; k < entries.size(); ++k) {
    result.cells[k] = entries[k].cell;
    tally.write(entries[k].count, out, static_cast<std::int64_t>(k));
  }
  return result;
}

template <class Count>
void tally_records(const ColumnStore& store, const Some& some, const Tally<Count>& tally,
                   const std::vector<std::int64_t>& columns,
                   const std::vector<std::int64_t>& strides, Count* cells) {
  for_cells(store, some, columns, strides,
            [&](std::int32_t record, std::int64_t cell) { cells[cell] += tally.of(record); });
}

template <class Count>
void tally_records(const ColumnStore& store, const Some& some, const Tally<Count>& tally,
                   const std::vector<std::int64_t>& columns,
                   const std::vector<std::int64_t>& strides, std::vector<Entry<Count>>& entries) {
  const std::size_t before = entries.size();
  entries.reserve(before + static_cast<std::size_t>(some.n));
  for_cells(store, some, columns, strides, [&](std::int32_t record, std::int64_t cell) {
    entries.push_back({cell, tally.of(record)});
  });
}

Some matching(const ColumnStore& store, const std::vector<Condition>& given,
              std::vector<std::int32_t>& room) {
  Some some{nullptr, store.n_records()};
  if (given.empty()) return some;
  // The rarest value first: its records are listed already, unless it is a default.
  struct Counted {
    std::int64_t records;
    const Condition* condition;
  };
  std::vector<Counted> rarest;
  for (const Condition& condition : given)
    rarest.push_back({store.count_of(condition.column, condition.codes), &condition});
  std::sort(rarest.begin(), rarest.end(),
            [](const Counted& a, const Counted& b) { return a.records < b.records; });
  auto next = rarest.begin();
  const CodeSet& codes = next->condition->codes;
  const Column& first = store.peek(next->condition->column);
  if (codes.is_one() && codes.first() != first.default_code) {
    const std::int64_t value = first.value_of(codes.first());
    some = {first.begin(value), first.length(value)};
    ++next;
  }
  for (; next != rarest.end(); ++next) {
    room.resize(std::max(room.size(), static_cast<std::size_t>(some.n)));
    const Column& column = store.column(next->condition->column);
    some = {room.data(), keep_codes(column, some, next->condition->codes, room.data())};
  }
  return some;
}

#define TACIT_FOR_COUNT(Count)                                                                    \
  template void combine(std::vector<Entry<Count>>&);                                              \
  template SparseCells to_cells(const Tally<Count>&, std::vector<Entry<Count>>&);                 \
  template void tally_records(const ColumnStore&, const Some&, const Tally<Count>&,               \
                              const std::vector<std::int64_t>&, const std::vector<std::int64_t>&, \
                              Count*);                                                            \
  template void tally_records(const ColumnStore&, const Some&, const Tally<Count>&,               \
                              const std::vector<std::int64_t>&, const std::vector<std::int64_t>&, \
                              std::vector<Entry<Count>>&);
TACIT_FOR_COUNT(std::int32_t)
TACIT_FOR_COUNT(Int128)
#undef TACIT_FOR_COUNT

}  // namespace tacit
