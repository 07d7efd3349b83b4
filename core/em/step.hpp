// One step of EM for a mixture of clusters within which columns are independent (naive Bayes).
//
// Probabilities are multiplied, not their logarithms added: a record starts from the probability
// that all of its columns have their defaults (equation 6 of the sparse-data paper) and takes one
// correction row for each stored value (equations 7 and 8). Products that could leave the range of
// a double give up their exponents to integers on the way, so that nothing is lost for any number
// of columns, and no logarithm or exponential is taken of a cluster.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"
#include "base/records.hpp"

namespace tacit {

// Probabilities below this count as this, so that a correction always exists.
constexpr double kLeastProbability = 1e-60;

struct MixtureModel {
  std::int64_t n_clusters, n_columns, n_values;
  const std::int64_t* offsets;   // first value id of each column, and one past the last
  const double* mixing_weights;  // P(cluster)
  const double* stored;          // P(value | cluster), n_values × n_clusters
  const double* defaults;        // P(default | cluster), n_columns × n_clusters
};

// totals[k] = Σ over the chosen records r of w(r) P(k | r), stored[v, k] the same over those that
// hold v; returns Σ of w(r) log P(r). The default's sums follow by subtraction.
//
// O(l K). With `single`, corrections and partial sums are floats: half the memory to go through.
// (Not so where probabilities are too far apart for floats, nor where there are few stored values
// for each of many sums: doubles are faster then.)
// The result does not depend on n_jobs.
template <class V>
double em_step(const Records<V>& records, const MixtureModel& model, bool single, double* totals,
               double* stored, int n_jobs, Poll poll);

// P(k | r) for each chosen record, n × n_clusters, and log P(r); either may be null. O(l K).
template <class V>
void em_posterior(const Records<V>& records, const MixtureModel& model, double* responsibilities,
                  double* log_likelihoods, int n_jobs, Poll poll);

// The M-step. A pseudo-count for each value id and for each column's default is the same in all
// clusters; cells whose pseudo-count is negative say nothing (missing at random): they are left out
// of their column, and have probability 1.
struct MixturePrior {
  double clusters;         // pseudo-count of each cluster
  const double* stored;    // n_values
  const double* defaults;  // n_columns
};

// Turns expected counts into the probabilities of `mixing_weights`, `stored` and `defaults`;
// returns the logarithm of the prior's density, up to a constant: Σ pseudo-count · log probability.
double em_maximise(std::int64_t n_clusters, std::int64_t n_columns, const std::int64_t* offsets,
                   const double* totals, const double* counts, const MixturePrior& prior,
                   double* mixing_weights, double* stored, double* defaults);

}  // namespace tacit
