// Permuted labels, and how many positives each permutation has among some records: all at once.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "base/records.hpp"

namespace tacit {

// n_permutations draws of n_positives of n_records, a function of the seed. Rows lie record by
// record in chunks of 256 permutations: bit b of the four words at row(c, r) says whether
// permutation 256 c + b makes record r positive. Of k positives or negatives, whichever are fewer:
// O(n_permutations · k), and O(n_permutations · (n_records / 8 + √k)) where they are many.
class PermutedLabels {
 public:
  static constexpr std::int64_t kLanes = 256;  // permutations of a chunk
  static constexpr std::int64_t kWords = kLanes / 64;

  // Position p in the rows is record order[p]; null where it is record p.
  PermutedLabels(std::int64_t n_records, std::int64_t n_positives, std::int64_t n_permutations,
                 std::uint64_t seed, const std::int32_t* order, int n_jobs, Poll poll);

  std::int64_t n_permutations() const { return n_permutations_; }
  std::int64_t n_chunks() const { return n_chunks_; }
  const std::uint64_t* chunk(std::int64_t c) const {
    return words_.data() + c * n_records_ * kWords;
  }
  // The permutations that there are in the four words of a chunk.
  std::uint64_t valid(std::int64_t c, std::int64_t word) const;

 private:
  std::int64_t n_records_, n_permutations_, n_chunks_;
  Buffer<std::uint64_t> words_;
};

// Counts of all permutations, bit-sliced: plane l of chunk c holds bit l of 256 counts.
class PlaneCounts {
 public:
  PlaneCounts() = default;
  PlaneCounts(std::int64_t n_chunks, std::int64_t n_planes)
      : n_planes_(n_planes),
        words_(static_cast<std::size_t>(n_chunks * n_planes * PermutedLabels::kWords), 0) {}

  std::int64_t n_planes() const { return n_planes_; }
  std::uint64_t* chunk(std::int64_t c) {
    return words_.data() + c * n_planes_ * PermutedLabels::kWords;
  }
  const std::uint64_t* chunk(std::int64_t c) const {
    return words_.data() + c * n_planes_ * PermutedLabels::kWords;
  }
  std::int64_t count(std::int64_t permutation) const;
  void fill(std::int64_t n_chunks, std::int64_t count);  // the same count for all permutations

 private:
  std::int64_t n_planes_ = 0;
  std::vector<std::uint64_t> words_;
};

// counts = positives among the n records at these positions, by carry-save adders: about a dozen
// operations on 256 bits for a record and chunk. n < 2^n_planes.
void count_positives(const PermutedLabels& labels, const std::int32_t* positions, std::int64_t n,
                     PlaneCounts& counts);

// counts = whole − counts, for all permutations.
void subtract_from(const PlaneCounts& whole, std::int64_t n_chunks, PlaneCounts& counts);

// Appends the permutations whose count is not within [low, high]. No count is above `most`.
void outside(const PermutedLabels& labels, const PlaneCounts& counts, std::int64_t most,
             std::int64_t low, std::int64_t high, std::vector<std::int64_t>& permutations);

}  // namespace tacit
