// Counts of pairs of stored values among some records, for a list of pairs.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"
#include "base/records.hpp"

namespace tacit {

// Bitmaps of n_records bits each, padded with zeros to n_words words.
struct ValueBits {
  Buffer<std::uint64_t> words;
  std::int64_t n_slots, n_words;
};

// One bitmap for each slot: bit k says whether the k-th chosen record holds the value v with
// slots[v] = slot. Values with a negative slot are passed over. O(l + n_slots · n_words).
template <class V>
ValueBits value_bits(const Records<V>& records, const std::int32_t* slots, std::int64_t n_slots,
                     int n_jobs, Poll poll);

// counts[k] = how many records hold both values of pair k, by AND and population count.
// O(n_pairs · n_words).
void pair_cells(const ValueBits& bits, const std::int64_t* pairs, std::int64_t n_pairs,
                std::int64_t* counts, int n_jobs, Poll poll);

}  // namespace tacit
