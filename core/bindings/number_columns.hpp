// Columns of numbers as Python hands them over; checked, as a wrong offset would be followed.
#pragma once

#include "bindings/common.hpp"
#include "rule/coding.hpp"

namespace tacit::bindings {

inline NumberColumns as_columns(std::int64_t n_records, const In<std::int64_t>& indptr,
                                const std::optional<In<std::int32_t>>& records,
                                const In<double>& values, const In<double>& unlisted) {
  const std::size_t n = unlisted.size();
  if (indptr.size() != n + 1)
    throw std::invalid_argument("indptr must have an entry for each column, and one more");
  if (n_records < 0 || n_records > 0x7fffffff)
    throw std::invalid_argument("n_records is out of range");
  const std::int64_t* const start = indptr.data();
  if (start[0] != 0 || start[n] != static_cast<std::int64_t>(values.size()))
    throw std::invalid_argument("indptr must begin with 0 and end with the number of values");
  for (std::size_t c = 0; c < n; ++c) {
    if (start[c + 1] < start[c]) throw std::invalid_argument("indptr must not decrease");
    if (!records && start[c + 1] - start[c] != n_records)
      throw std::invalid_argument("columns without records must have a value for each record");
  }
  if (records) {
    if (records->size() != values.size())
      throw std::invalid_argument("records must be as many as values");
    const std::int32_t* const chosen = records->data();
    for (std::size_t c = 0; c < n; ++c) {
      std::int64_t last = -1;
      bool fine = true;
      for (std::int64_t k = start[c]; k < start[c + 1]; ++k) {
        fine = fine && last < chosen[k];
        last = chosen[k];
      }
      if (!fine || last >= n_records)
        throw std::invalid_argument("records must ascend within a column, below n_records");
    }
  }
  const std::int32_t* const listed = records ? records->data() : nullptr;
  return {n_records,       static_cast<std::int64_t>(n), start, listed, values.data(),
          unlisted.data(), !records.has_value()};
}

}  // namespace tacit::bindings
