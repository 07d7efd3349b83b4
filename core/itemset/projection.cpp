#include "itemset/projection.hpp"

#include <algorithm>
#include <bit>

namespace tacit {
namespace {

// A step along a list costs about as much as this many words of bitmaps (measured).
constexpr double kWordsPerStep = 6;

std::int64_t digits_of(const std::vector<std::int64_t>* weights) {
  std::int64_t digits = 1;
  if (weights)
    for (const std::int64_t w : *weights) digits |= w;
  return std::bit_width(static_cast<std::uint64_t>(digits));
}

}  // namespace

bool Projection::better_dense(std::int64_t n_items, std::int64_t n_digits, std::int64_t n_records,
                              std::int64_t squares) {
  const auto n = static_cast<double>(n_items);
  const auto row = static_cast<double>(n_digits * ((n_records + 63) / 64));
  return n * n * row <= kWordsPerStep * static_cast<double>(squares);
}

bool Projection::better_dense(const Written& records) const {
  return better_dense(n_items(), digits_of(records.weights), records.n_records, records.squares);
}

void Projection::arrange(const Written& records, bool as_rows) {
  weighted = records.weights != nullptr;
  dense = as_rows;
  if (dense)
    make_rows(records);
  else
    make_lists(records);
}

void Projection::make_lists(const Written& records) {
  const std::int64_t n = n_items();
  std::int64_t* first = start.resize(static_cast<std::size_t>(n) + 1);
  std::fill(first, first + n + 1, 0);
  const std::uint32_t* ranks = flat.data();
  for (std::int64_t k = 0; k < records.n_flat; ++k)
    if (ranks[k] != kEnd) ++first[ranks[k] + 1];
  for (std::int64_t i = 0; i < n; ++i) first[i + 1] += first[i];
  position.assign(first, first + n);
  const auto n_values = static_cast<std::size_t>(first[n]);
  std::uint32_t* where = at.resize(n_values);
  if (weighted) weight.resize(n_values);
  const bool origin = !origins.empty();
  if (origin) occurrence_origins.resize(n_values);
  std::size_t record = 0;  // one more: the first kEnd stands before all records
  for (std::int64_t k = 0; k < records.n_flat; ++k) {
    if (ranks[k] == kEnd) {
      ++record;
      continue;
    }
    const std::uint32_t slot = position[ranks[k]]++;
    where[slot] = static_cast<std::uint32_t>(k);
    if (weighted) weight[slot] = (*records.weights)[record - 1];
    if (origin) occurrence_origins[slot] = origins[record - 1];
  }
}

void Projection::make_rows(const Written& records) {
  const std::int64_t n = n_items();
  n_planes = digits_of(records.weights);
  words = (records.n_records + 63) / 64;
  record_origins = origins.data();
  entire.clear();
  std::uint64_t* bits = rows.resize(static_cast<std::size_t>(n * words));
  std::fill(bits, bits + n * words, 0);
  bits += records.first * words;
  std::int64_t record = -1;
  for (std::int64_t k = 0; k < records.n_flat; ++k) {
    const std::uint32_t rank = flat[static_cast<std::size_t>(k)];
    if (rank == kEnd)
      ++record;
    else
      bits[rank * words + (record >> 6)] |= std::uint64_t{1} << (record & 63);
  }
  make_planes(records.weights);
}

void Projection::find_entire() {
  std::vector<std::int64_t> held(items.size());
  count_rows()(matrix(), 0, n_items(), planes.data(), n_planes, held.data());
  entire.resize(held.size());
  for (std::size_t i = 0; i < held.size(); ++i) entire[i] = held[i] == counts[i];
}

// The binary digits of the weights; without weights, a digit that is always 1.
void Projection::make_planes(const std::vector<std::int64_t>* record_weights) {
  std::uint64_t* digits = planes.resize(static_cast<std::size_t>(n_planes * words));
  std::fill(digits, digits + n_planes * words, weighted ? 0 : ~std::uint64_t{0});
  if (!weighted) return;
  for (std::size_t r = 0; r < record_weights->size(); ++r)
    for (std::int64_t p = 0; p < n_planes; ++p)
      digits[p * words + static_cast<std::int64_t>(r >> 6)] |=
          static_cast<std::uint64_t>((*record_weights)[r] >> p & 1) << (r & 63);
}

}  // namespace tacit
