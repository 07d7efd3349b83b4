#include <type_traits>

#include "count/one_way.hpp"
#include "count/outer.hpp"
#include "count/pair_counts.hpp"

namespace tacit {
namespace {

// A tile's cells should stay in a core's part of the last-level cache.
constexpr std::int64_t kTileBytes = std::int64_t{4} << 20;
constexpr std::int64_t kMirror = 32;  // edge of the squares that mirroring moves at a time

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

template <class V>
std::vector<std::int64_t> cut_tiles(const Records<V>& records, std::int64_t bytes, int n_jobs,
                                    Poll poll) {
  const std::int64_t n = records.n_values;
  std::int64_t n_tiles = (bytes + kTileBytes - 1) / kTileBytes;
  if (n_jobs > 1) n_tiles = std::max<std::int64_t>(n_tiles, 4 * n_jobs);
  n_tiles = std::clamp<std::int64_t>(n_tiles, 1, std::max<std::int64_t>(n, 1));
  if (n_tiles == 1) return {0, n};
  std::vector<std::int64_t> counts(static_cast<std::size_t>(n));
  one_way(records, counts.data(), n_jobs, poll);
  return triangle_tiles({counts.begin(), counts.end()}, n_tiles);
}

// Adds the records in `range` to the cells whose row is in `rows`.
template <class V, class Cells, class Count>
void add_records(const Records<V>& records, Range range, Range rows, const Cells& cells, Count one,
                 StopToken& token) {
  Meter meter(token);
  for (std::int64_t k = range.begin; k < range.end; ++k) {
    const std::int64_t r = records.record(k);
    const std::int64_t length = records.end(r) - records.begin(r);
    meter.spend(length * length / 2 + 8);
    Count w = one;
    if constexpr (std::is_floating_point_v<Count>)
      if (records.weights) w = records.weights[r];
    add_outer(records.begin(r), records.end(r), rows.begin, rows.end, cells, w);
  }
}

// Each tile of cells has one owner, who sees all records in order.
template <class V, class Cells, class Count>
void fill_tiles(const Records<V>& records, std::int64_t bytes, const Cells& cells, Count one,
                int n_jobs, Poll poll) {
  const auto tiles = cut_tiles(records, bytes, n_jobs, poll);
  for_blocks(static_cast<std::int64_t>(tiles.size()) - 1, n_jobs, poll,
             [&](std::int64_t tile, StopToken& token) {
               const Range rows{tiles[at(tile)], tiles[at(tile) + 1]};
               add_records(records, {0, records.size()}, rows, cells, one, token);
             });
}

// Whole numbers add up to the same in any order: where triangles are small each thread fills one
// of its own from a part of the records, and the rest are added to the first.
template <class V>
void fill_parts(const Records<V>& records, std::uint32_t* cells, std::int64_t size, int n_parts,
                Poll poll) {
  Buffer<std::uint32_t> others(at((n_parts - 1) * size));
  const auto cells_of = [&](std::int64_t part) {
    return part ? others.data() + (part - 1) * size : cells;
  };
  for_blocks(n_parts, n_parts, poll, [&](std::int64_t part, StopToken& token) {
    if (part) std::fill_n(cells_of(part), size, 0u);
    add_records(records, block_range(records.size(), n_parts, part), {0, records.n_values},
                Triangle<std::uint32_t>{cells_of(part), records.n_values}, std::uint32_t{1}, token);
  });
  for (std::int64_t part = 1; part < n_parts; ++part) {
    const std::uint32_t* from = cells_of(part);
    for (std::int64_t k = 0; k < size; ++k) cells[k] += from[k];
  }
}

// Runs body(I, J) for all pairs of bands of kMirror rows with J <= I.
template <class Body>
void for_bands(std::int64_t n, int n_jobs, Poll poll, const Body& body) {
  const std::int64_t n_bands = (n + kMirror - 1) / kMirror;
  for_blocks(n_bands, n_jobs, poll, [&](std::int64_t band, StopToken&) {
    for (std::int64_t other = 0; other <= band; ++other) body(band * kMirror, other * kMirror);
  });
}

}  // namespace

std::vector<std::int64_t> triangle_tiles(const std::vector<double>& occurrences,
                                         std::int64_t n_tiles) {
  const auto n = static_cast<std::int64_t>(occurrences.size());
  // A record that holds i meets each later value about as often as that value occurs.
  double later = 0, total = 0;
  for (const double c : occurrences) later += c;
  std::vector<double> work(occurrences.size());
  for (std::size_t i = 0; i < work.size(); ++i) {
    work[i] = occurrences[i] * later + 1;
    later -= occurrences[i];
    total += work[i];
  }
  std::vector<std::int64_t> bounds{0};
  double done = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    done += work[static_cast<std::size_t>(i)];
    const auto wanted = static_cast<double>(bounds.size());
    if (done * static_cast<double>(n_tiles) >= wanted * total && i + 1 < n &&
        static_cast<std::int64_t>(bounds.size()) < n_tiles)
      bounds.push_back(i + 1);
  }
  bounds.push_back(n);
  return bounds;
}

template <class Count>
void mirror(Count* square, std::int64_t n, int n_jobs, Poll poll) {
  for_bands(n, n_jobs, poll, [&](std::int64_t I, std::int64_t J) {
    for (std::int64_t i = I; i < std::min(I + kMirror, n); ++i)
      for (std::int64_t j = J; j < std::min(J + kMirror, i); ++j)
        square[i * n + j] = square[j * n + i];
  });
}

template <class V>
void pair_triangle(const Records<V>& records, std::uint32_t* cells, int n_jobs, Poll poll) {
  const std::int64_t n = records.n_values, size = triangle_size(n);
  if (n_jobs > 1 && n_jobs <= 8 && size * 4 <= kTileBytes)
    fill_parts(records, cells, size, n_jobs, poll);
  else
    fill_tiles(records, size * 4, Triangle<std::uint32_t>{cells, n}, std::uint32_t{1}, n_jobs,
               poll);
}

void triangle_to_square(const std::uint32_t* cells, std::int64_t n, std::int64_t* square,
                        int n_jobs, Poll poll) {
  const Triangle<const std::uint32_t> triangle{cells, n};
  for_bands(n, n_jobs, poll, [&](std::int64_t I, std::int64_t J) {
    const std::int64_t rows = std::min(I + kMirror, n), cols = std::min(J + kMirror, n);
    for (std::int64_t j = J; j < cols; ++j) {
      const std::uint32_t* from = triangle.row(j);
      for (std::int64_t i = std::max(I, j); i < rows; ++i) square[j * n + i] = from[i];
    }
    for (std::int64_t i = I; i < rows; ++i)
      for (std::int64_t j = J; j < std::min(cols, i); ++j) square[i * n + j] = triangle.row(j)[i];
  });
}

std::int64_t triangle_size(std::int64_t n) { return Triangle<std::uint32_t>::size(n); }

template <class V, class Count>
void pair_counts_outer(const Records<V>& records, Count* square, int n_jobs, Poll poll) {
  const std::int64_t n = records.n_values;
  if constexpr (std::is_integral_v<Count>) {
    // Counts fit 32 bits while they are gathered: a quarter of the cache lines of the result.
    if (records.size() <= INT64_C(0xffffffff)) {
      Buffer<std::uint32_t> cells(at(triangle_size(n)));
      std::fill_n(cells.data(), triangle_size(n), 0u);
      pair_triangle(records, cells.data(), n_jobs, poll);
      triangle_to_square(cells.data(), n, square, n_jobs, poll);
      return;
    }
  }
  std::fill_n(square, n * n, Count{0});
  fill_tiles(records, n * n / 2 * static_cast<std::int64_t>(sizeof(Count)),
             UpperSquare<Count>{square, n}, Count{1}, n_jobs, poll);
  mirror(square, n, n_jobs, poll);
}

template void mirror(std::int64_t*, std::int64_t, int, Poll);
template void mirror(double*, std::int64_t, int, Poll);
template void mirror(std::uint32_t*, std::int64_t, int, Poll);
#define TACIT_INSTANTIATE(V)                                                    \
  template void pair_triangle(const Records<V>&, std::uint32_t*, int, Poll);    \
  template void pair_counts_outer(const Records<V>&, std::int64_t*, int, Poll); \
  template void pair_counts_outer(const Records<V>&, double*, int, Poll);
TACIT_FOR_VALUE_TYPES(TACIT_INSTANTIATE)
#undef TACIT_INSTANTIATE

}  // namespace tacit
