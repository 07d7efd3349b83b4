#include "itemset/projection.hpp"

#include <algorithm>
#include <bit>

namespace tacit {
namespace {

// A step along a list costs about as much as this many words of bitmaps (measured).
constexpr double kWordsPerStep = 6;

}  // namespace

void Projection::arrange(std::int64_t n_flat, const std::vector<std::int64_t>* record_weights,
                         std::int64_t n_records, std::int64_t squares) {
  const auto n = static_cast<double>(n_items());
  const double by_rows = n * n * static_cast<double>((n_records + 63) / 64);
  weighted = record_weights != nullptr;
  dense = by_rows <= kWordsPerStep * static_cast<double>(squares);
  if (dense)
    make_rows(n_flat, record_weights, n_records);
  else
    make_lists(n_flat, record_weights);
}

void Projection::make_lists(std::int64_t n_flat, const std::vector<std::int64_t>* record_weights) {
  const std::int64_t n = n_items();
  std::int64_t* first = start.resize(static_cast<std::size_t>(n) + 1);
  std::fill(first, first + n + 1, 0);
  const std::uint32_t* ranks = flat.data();
  for (std::int64_t k = 0; k < n_flat; ++k)
    if (ranks[k] != kEnd) ++first[ranks[k] + 1];
  for (std::int64_t i = 0; i < n; ++i) first[i + 1] += first[i];
  position.assign(first, first + n);
  std::uint32_t* where = at.resize(static_cast<std::size_t>(first[n]));
  if (weighted) weight.resize(static_cast<std::size_t>(first[n]));
  std::int64_t record = -1;
  for (std::int64_t k = 0; k < n_flat; ++k) {
    if (ranks[k] == kEnd) {
      ++record;
      continue;
    }
    const std::uint32_t slot = position[ranks[k]]++;
    where[slot] = static_cast<std::uint32_t>(k);
    if (weighted) weight[slot] = (*record_weights)[static_cast<std::size_t>(record)];
  }
}

void Projection::make_rows(std::int64_t n_flat, const std::vector<std::int64_t>* record_weights,
                           std::int64_t n_records) {
  const std::int64_t n = n_items();
  words = (n_records + 63) / 64;
  std::uint64_t* bits = rows.resize(static_cast<std::size_t>(n * words));
  std::fill(bits, bits + n * words, 0);
  std::int64_t record = -1;
  for (std::int64_t k = 0; k < n_flat; ++k) {
    const std::uint32_t rank = flat[static_cast<std::size_t>(k)];
    if (rank == kEnd)
      ++record;
    else
      bits[rank * words + (record >> 6)] |= std::uint64_t{1} << (record & 63);
  }
  make_planes(record_weights);
  std::vector<std::int64_t> held(static_cast<std::size_t>(n));
  count_rows()(matrix(), 0, n, planes.data(), n_planes, held.data());
  entire.resize(held.size());
  for (std::size_t i = 0; i < held.size(); ++i) entire[i] = held[i] == counts[i];
}

// The binary digits of the weights; without weights, a digit that is always 1.
void Projection::make_planes(const std::vector<std::int64_t>* record_weights) {
  std::int64_t all = 1;
  if (weighted)
    for (const std::int64_t w : *record_weights) all |= w;
  n_planes = std::bit_width(static_cast<std::uint64_t>(all));
  std::uint64_t* digits = planes.resize(static_cast<std::size_t>(n_planes * words));
  std::fill(digits, digits + n_planes * words, weighted ? 0 : ~std::uint64_t{0});
  if (!weighted) return;
  for (std::size_t r = 0; r < record_weights->size(); ++r)
    for (std::int64_t p = 0; p < n_planes; ++p)
      digits[p * words + static_cast<std::int64_t>(r >> 6)] |=
          static_cast<std::uint64_t>((*record_weights)[r] >> p & 1) << (r & 63);
}

}  // namespace tacit
