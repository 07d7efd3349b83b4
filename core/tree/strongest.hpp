// The strongest links of each row of a sparse matrix.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"

namespace tacit {

// Writes the columns of the k largest values of each row, the largest first and the smaller column
// where two are equal; -1 beyond the end of a short row. O(stored values + n·k²) at worst.
void strongest_links(const std::int64_t* start, const std::int32_t* column, const double* value,
                     std::int64_t n_rows, std::int64_t k, std::int32_t* out, int n_jobs, Poll poll);

}  // namespace tacit
