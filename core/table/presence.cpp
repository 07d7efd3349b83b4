#include "table/presence.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace tacit {
namespace {

constexpr std::int64_t kStep = 1 << 14;  // values between two looks for an interruption

// Whether indices lie in [0, n), and how many are no greater than the one before. Both in one loop
// that the compiler turns into vector code: where rows begin is looked at apart.
template <class Index>
bool in_range(const Index* begin, const Index* end, std::int64_t n, std::int64_t& descents) {
  using Word = std::make_unsigned_t<Index>;
  const auto most =
      static_cast<Word>(std::min<std::int64_t>(n - 1, std::numeric_limits<Index>::max()));
  Word outside = 0, down = 0;
  for (const Index* p = begin; p < end; ++p) {
    outside |= static_cast<Word>(static_cast<Word>(*p) > most);
    down += static_cast<Word>(*p <= p[-1]);
  }
  descents += static_cast<std::int64_t>(down);
  return outside == 0;
}

}  // namespace

template <class Offset, class Index>
bool count_presence(const SparseRows<Offset, Index>& rows, std::int64_t* counts, Poll poll) {
  const auto& [indptr, n_rows, indices, length, n] = rows;
  if (indptr[0] != 0 || static_cast<std::int64_t>(indptr[n_rows]) != length) return false;
  bool ordered = true;
  for (std::int64_t r = 0; r < n_rows; ++r) ordered &= indptr[r] <= indptr[r + 1];
  if (!ordered) return false;
  std::fill_n(counts, n, std::int64_t{0});
  if (length == 0) return true;
  if (n == 0 || indices[0] < 0 || static_cast<std::int64_t>(indices[0]) >= n) return false;
  Poller poller(poll);
  ++counts[indices[0]];
  std::int64_t descents = 0;
  for (std::int64_t from = 1; from < length; from += kStep) {
    poller.check();
    const Index *begin = indices + from, *end = indices + std::min(from + kStep, length);
    if (!in_range(begin, end, n, descents)) return false;
    for (const Index* p = begin; p < end; ++p) ++counts[*p];
  }
  // Rows ascend if all descents are where a row begins.
  for (std::int64_t r = 0; r < n_rows; ++r) {
    const auto at = static_cast<std::int64_t>(indptr[r]);
    if (at > 0 && at < static_cast<std::int64_t>(indptr[r + 1]))
      descents -= indices[at] <= indices[at - 1];
  }
  return descents == 0;
}

template <class Offset, class Index, class V>
void store_presence(const SparseRows<Offset, Index>& rows, const std::int64_t* usual,
                    std::int64_t n_usual, std::int64_t* indptr, V* values, Poll poll) {
  Poller poller(poll);
  if (n_usual == 0) {
    std::copy(rows.indptr, rows.indptr + rows.n_rows + 1, indptr);
    for (std::int64_t from = 0; from < rows.length; from += kStep) {
      poller.check();
      const std::int64_t end = std::min(from + kStep, rows.length);
      for (std::int64_t i = from; i < end; ++i) values[i] = static_cast<V>(rows.indices[i]);
    }
    return;
  }
  std::vector<std::int64_t> absent(usual, usual + n_usual);
  absent.push_back(std::numeric_limits<std::int64_t>::max());
  V* next = values;
  indptr[0] = 0;
  std::int64_t spent = 0;
  for (std::int64_t r = 0; r < rows.n_rows; ++r) {
    const std::int64_t* expected = absent.data();
    for (auto i = rows.indptr[r]; i < rows.indptr[r + 1]; ++i) {
      const auto column = static_cast<std::int64_t>(rows.indices[i]);
      while (*expected < column) *next++ = static_cast<V>(*expected++);
      if (*expected == column)
        ++expected;
      else
        *next++ = static_cast<V>(column);
    }
    while (expected < absent.data() + n_usual) *next++ = static_cast<V>(*expected++);
    indptr[r + 1] = next - values;
    spent += static_cast<std::int64_t>(rows.indptr[r + 1] - rows.indptr[r]) + n_usual;
    if (spent > kStep) {
      poller.check();
      spent = 0;
    }
  }
}

#define TACIT_INSTANTIATE(Offset, Index)                                               \
  template bool count_presence(const SparseRows<Offset, Index>&, std::int64_t*, Poll); \
  template void store_presence(const SparseRows<Offset, Index>&, const std::int64_t*,  \
                               std::int64_t, std::int64_t*, std::uint16_t*, Poll);     \
  template void store_presence(const SparseRows<Offset, Index>&, const std::int64_t*,  \
                               std::int64_t, std::int64_t*, std::uint32_t*, Poll);
TACIT_INSTANTIATE(std::int32_t, std::int32_t)
TACIT_INSTANTIATE(std::int64_t, std::int64_t)
#undef TACIT_INSTANTIATE

}  // namespace tacit
