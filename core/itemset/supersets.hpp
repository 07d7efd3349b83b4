// Counts of itemsets that are not listed, from the closed sets that are.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"
#include "base/records.hpp"

namespace tacit {

struct SetLists {
  const std::int64_t* indptr;  // n_sets + 1
  const std::uint32_t* items;  // ascending within a set
  std::int64_t n_sets;
};

// For each asked set the greatest count of a listed set that holds all of its items, or 0: if all
// closed sets are listed, this is how many records hold the asked one. Lists of sets are walked from
// the most frequent on, those of the asked set's rarest item: the first that holds it is the answer.
Buffer<std::int64_t> superset_counts(const SetLists& listed, const std::int64_t* counts,
                                     std::int64_t n_items, const SetLists& asked, int n_jobs,
                                     Poll poll);

}  // namespace tacit
