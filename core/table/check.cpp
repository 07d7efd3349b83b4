#include "table/check.hpp"

#include <algorithm>
#include <vector>

namespace tacit {

template <class Offset, class Index>
Finding check_sparse(const Offset* indptr, std::int64_t n_rows, const Index* indices,
                     std::int64_t length, std::int64_t n) {
  if (indptr[0] != 0) return {Fault::indptr_start, 0, static_cast<std::int64_t>(indptr[0])};
  for (std::int64_t r = 0; r < n_rows; ++r)
    if (indptr[r + 1] < indptr[r] || static_cast<std::int64_t>(indptr[r + 1]) > length)
      return {Fault::indptr_order, r, static_cast<std::int64_t>(indptr[r + 1])};
  if (static_cast<std::int64_t>(indptr[n_rows]) != length)
    return {Fault::indptr_end, n_rows, static_cast<std::int64_t>(indptr[n_rows])};
  Finding unsorted;
  std::vector<Index> sorted;
  for (std::int64_t r = 0; r < n_rows; ++r) {
    const Index* const begin = indices + indptr[r];
    const Index* const end = indices + indptr[r + 1];
    bool ascending = true;
    for (const Index* p = begin; p < end; ++p) {
      const auto index = static_cast<std::int64_t>(*p);
      if (index < 0 || index >= n) return {Fault::out_of_range, r, index};
      ascending &= p == begin || p[-1] < *p;
    }
    if (ascending) continue;
    sorted.assign(begin, end);
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) return {Fault::duplicate, r, static_cast<std::int64_t>(*twice)};
    if (unsorted.fault == Fault::none) unsorted = {Fault::unsorted, r, 0};
  }
  return unsorted;
}

template <class V>
Finding check_columns(const std::int64_t* indptr, std::int64_t n_rows, const V* values,
                      const std::int64_t* offsets, std::int64_t n_columns) {
  std::vector<std::int64_t> column(static_cast<std::size_t>(offsets[n_columns]));
  for (std::int64_t c = 0; c < n_columns; ++c)
    std::fill(column.begin() + offsets[c], column.begin() + offsets[c + 1], c);
  for (std::int64_t r = 0; r < n_rows; ++r)
    for (std::int64_t k = indptr[r] + 1; k < indptr[r + 1]; ++k)
      if (column[values[k - 1]] == column[values[k]])
        return {Fault::duplicate, r, column[values[k]]};
  return {};
}

#define TACIT_INSTANTIATE(Index)                                                               \
  template Finding check_sparse(const std::int32_t*, std::int64_t, const Index*, std::int64_t, \
                                std::int64_t);                                                 \
  template Finding check_sparse(const std::int64_t*, std::int64_t, const Index*, std::int64_t, \
                                std::int64_t);
TACIT_INSTANTIATE(std::int32_t)
TACIT_INSTANTIATE(std::int64_t)
TACIT_INSTANTIATE(std::uint16_t)
TACIT_INSTANTIATE(std::uint32_t)
#undef TACIT_INSTANTIATE
template Finding check_columns(const std::int64_t*, std::int64_t, const std::uint16_t*,
                               const std::int64_t*, std::int64_t);
template Finding check_columns(const std::int64_t*, std::int64_t, const std::uint32_t*,
                               const std::int64_t*, std::int64_t);

}  // namespace tacit
