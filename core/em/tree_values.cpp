#include "em/tree_values.hpp"

#include <algorithm>
#include <vector>

namespace tacit {
namespace {

constexpr std::int64_t kBlock = 4096;  // records

std::vector<std::int32_t> columns_of_values(const TreeColumns& tree) {
  std::vector<std::int32_t> columns(static_cast<std::size_t>(tree.offsets[tree.n_columns]));
  for (std::int64_t c = 0; c < tree.n_columns; ++c)
    std::fill(columns.begin() + tree.offsets[c], columns.begin() + tree.offsets[c + 1],
              static_cast<std::int32_t>(c));
  return columns;
}

// Which value each column of one record stores; begun anew by walking over its values again.
class Held {
 public:
  explicit Held(std::int64_t n_columns) : rank_(static_cast<std::size_t>(n_columns), -1) {}
  std::int64_t operator[](std::int64_t column) const {
    return column < 0 ? -1 : rank_[static_cast<std::size_t>(column)];
  }
  void set(std::int64_t column, std::int64_t rank) {
    rank_[static_cast<std::size_t>(column)] = rank;
  }

 private:
  std::vector<std::int64_t> rank_;  // among the column's stored values, or -1
};

// Calls visit(k, values of the k-th chosen record, what its columns hold).
template <class V, class Visit>
void for_records(const Records<V>& records, const TreeColumns& tree,
                 const std::vector<std::int32_t>& columns, int n_jobs, Poll poll,
                 const Visit& visit) {
  const std::int64_t n_blocks = (records.size() + kBlock - 1) / kBlock;
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    Held held(tree.n_columns);
    Meter meter(token);
    const Range range = block_range(records.size(), n_blocks, b);
    for (std::int64_t k = range.begin; k < range.end; ++k) {
      const std::int64_t r = records.record(k);
      const V *const begin = records.begin(r), *const end = records.end(r);
      for (const V* v = begin; v < end; ++v)
        held.set(columns[*v], static_cast<std::int64_t>(*v) - tree.offsets[columns[*v]]);
      visit(k, begin, end, held);
      for (const V* v = begin; v < end; ++v) held.set(columns[*v], -1);
      meter.spend(4 * (end - begin));
    }
  });
}

}  // namespace

template <class V>
void tree_lengths(const Records<V>& records, const TreeColumns& tree, std::int64_t* lengths,
                  int n_jobs, Poll poll) {
  const auto columns = columns_of_values(tree);
  for_records(records, tree, columns, n_jobs, poll,
              [&](std::int64_t k, const V* begin, const V* end, const Held& held) {
                std::int64_t n = end - begin;
                for (const V* v = begin; v < end; ++v) {
                  const std::int64_t c = columns[*v];
                  n += tree.extras[c] + (held[tree.parents[c]] >= 0);
                }
                lengths[k] = n;
              });
}

template <class V, class W>
void tree_values(const Records<V>& records, const TreeColumns& tree, const std::int64_t* indptr,
                 W* out, int n_jobs, Poll poll) {
  const auto columns = columns_of_values(tree);
  for_records(records, tree, columns, n_jobs, poll,
              [&](std::int64_t k, const V* begin, const V* end, const Held& held) {
                W* next = std::copy(begin, end, out + indptr[k]);
                for (const V* v = begin; v < end; ++v) {
                  const std::int64_t c = columns[*v];
                  const std::int64_t width = tree.offsets[c + 1] - tree.offsets[c];
                  for (std::int64_t j = 0; j < tree.extras[c]; ++j)
                    *next++ = static_cast<W>(tree.first_extra[c] + j * width + held[c]);
                }
                for (const V* v = begin; v < end; ++v) {
                  const std::int64_t c = columns[*v], above = held[tree.parents[c]];
                  const std::int64_t width = tree.offsets[c + 1] - tree.offsets[c];
                  if (above >= 0)
                    *next++ = static_cast<W>(tree.first_pair[c] + above * width + held[c]);
                }
              });
}

#define TACIT_INSTANTIATE(V)                                                                   \
  template void tree_lengths(const Records<V>&, const TreeColumns&, std::int64_t*, int, Poll); \
  template void tree_values(const Records<V>&, const TreeColumns&, const std::int64_t*,        \
                            std::uint16_t*, int, Poll);                                        \
  template void tree_values(const Records<V>&, const TreeColumns&, const std::int64_t*,        \
                            std::uint32_t*, int, Poll);
TACIT_FOR_VALUE_TYPES(TACIT_INSTANTIATE)
#undef TACIT_INSTANTIATE

}  // namespace tacit
