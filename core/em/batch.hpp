// A batch of records, weighed and then added: what is slow about one record (a sum over clusters, a
// division) is done while others are on their way.
#pragma once

#include <cstdint>

#include "base/records.hpp"
#include "em/corrections.hpp"

namespace tacit {

constexpr std::int64_t kBatch = 64;

template <class T>
struct Batch {
  std::int64_t first, n;              // records first … first + n - 1 of those that are looked at
  std::int64_t n_stored;              // values of these records
  Buffer<T> clusters;                 // n × width: P(cluster, record) up to a power of two
  double sums[kBatch];                // over clusters
  std::int64_t exponents[kBatch];     // P(record) = sum · 2^exponent
  T powers[kBatch], factors[kBatch];  // by which clusters are multiplied before they are added
  Buffer<double> mantissas;           // of one record, where exponents are kept apart
  Buffer<std::int64_t> cluster_exponents;

  explicit Batch(std::int64_t width)
      : clusters(static_cast<std::size_t>(kBatch * width)),
        mantissas(static_cast<std::size_t>(width)),
        cluster_exponents(static_cast<std::size_t>(width)) {}
};

// The inner loops for as many clusters as there are, on the machine there is.
template <class V, class T>
struct BatchKernel {
  // Finds all but powers and factors. Small numbers must be flushed to zero meanwhile.
  void (*weigh)(const Corrections<T>& c, const Records<V>& records, Batch<T>& batch);
  // Adds clusters · factors to `totals` and to the rows in `stored` of each record's values.
  using Add = void (*)(const Corrections<T>& c, const Records<V>& records, const Batch<T>& batch,
                       T* stored, double* totals);
  Add add_short, add_long;
  // By a batch's records alone, so that the answer does not depend on threads.
  Add add(const Batch<T>& batch) const {
    constexpr std::int64_t kMany = 32;  // values of a record that mostly tell its cluster
    return batch.n_stored < kMany * batch.n ? add_short : add_long;
  }
};

template <class V, class T>
BatchKernel<V, T> batch_kernel(std::int64_t width);

}  // namespace tacit
