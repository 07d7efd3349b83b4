// Row outer products into a packed upper triangle: the inner loop of the dense pair counts and of
// the popular values of the sparse ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"

namespace tacit {

// Row i of an n × n upper triangle without gaps: row(i)[j] is cell (i, j) for j >= i.
template <class Count>
struct Triangle {
  Count* cells;
  std::int64_t n;
  Count* row(std::int64_t i) const { return cells + i * (2 * n - i - 1) / 2; }
  static std::int64_t size(std::int64_t n) { return n * (n + 1) / 2; }
};

// The same cells inside a square array, where the triangle is part of the result.
template <class Count>
struct UpperSquare {
  Count* cells;
  std::int64_t n;
  Count* row(std::int64_t i) const { return cells + i * n; }
};

// Adds w to cell (i, j) for all i <= j in [begin, end) with i in [lo, hi). Two rows at a time: both
// run over the same j, which halves the loads and the loops too short to predict.
template <class V, class Cells, class Count>
inline void add_outer(const V* begin, const V* end, std::int64_t lo, std::int64_t hi,
                      const Cells& cells, Count w) {
  const V* p = begin;
  if (lo > 0) {
    if (end - begin > 32)
      p = std::lower_bound(begin, end, lo,
                           [](V v, std::int64_t x) { return static_cast<std::int64_t>(v) < x; });
    else
      while (p < end && static_cast<std::int64_t>(*p) < lo) ++p;
  }
  for (; p + 1 < end && static_cast<std::int64_t>(p[1]) < hi; p += 2) {
    auto* const first = cells.row(p[0]);
    auto* const second = cells.row(p[1]);
    first[p[0]] += w;
    first[p[1]] += w;
    second[p[1]] += w;
    for (const V* q = p + 2; q < end; ++q) {
      first[*q] += w;
      second[*q] += w;
    }
  }
  if (p < end && static_cast<std::int64_t>(*p) < hi) {
    auto* const row = cells.row(*p);
    for (const V* q = p; q < end; ++q) row[*q] += w;
  }
}

// Cuts the rows of a triangle into at most n_tiles ranges of about equal work, given how often each
// value occurs. Returns the n_tiles + 1 boundaries.
std::vector<std::int64_t> triangle_tiles(const std::vector<double>& occurrences,
                                         std::int64_t n_tiles);

// Copies the upper triangle of an n × n array below its diagonal.
template <class Count>
void mirror(Count* square, std::int64_t n, int n_jobs, Poll poll);

}  // namespace tacit
