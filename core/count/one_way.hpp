// One-way counts of stored values (equation 1's right-hand side).
#pragma once

#include "base/parallel.hpp"
#include "base/records.hpp"

namespace tacit {

// counts[v] = Σ over the chosen records r that hold v of weight(r), for each of the n_values ids.
// Count is int64 (records.weights is ignored) or double. O(l + n_values).
template <class V, class Count>
void one_way(const Records<V>& records, Count* counts, int n_jobs, Poll poll);

// counts[t * n_values + v] = Σ of the weights of the chosen records that hold both the target's
// value first + t and v, for t in [0, n_states). Records whose target is at its default are passed
// over. O(l + n_states · n_values).
template <class V, class Count>
void two_way(const Records<V>& records, std::int64_t first, std::int64_t n_states, Count* counts,
             int n_jobs, Poll poll);

}  // namespace tacit
