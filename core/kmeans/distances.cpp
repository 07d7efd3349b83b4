#include <vector>

#include "kmeans/scores.hpp"

namespace tacit {
namespace {

std::int64_t count_distance_blocks(std::int64_t work) {
  return std::clamp<std::int64_t>(work >> 17, 1, 256);
}

// Differences that rounding alone explains are no distance.
TACIT_INLINE double not_below_zero(double distance, double noise) {
  return distance > noise ? distance : 0.0;
}

template <class V, class X>
struct DistanceJob {
  const Points<V, X>& points;
  const ScoreTable<double>& table;
  std::int64_t n_centres;
  double* distances;
  const double *closest, *weights;
};

template <int kBytes, class V, class X>
TACIT_INLINE void measure_range(const DistanceJob<V, X>& job, Range range, double* potentials,
                                double* scores, StopToken& token) {
  Meter meter(token);
  const Points<V, X>& points = job.points;
  const ScoreTable<double>& table = job.table;
  for (std::int64_t r = range.begin; r < range.end; ++r) {
    const std::int64_t begin = points.indptr[r], end = points.indptr[r + 1];
    score_all<kBytes>(points, table, r, scores);
    const double zero = table.least_base() + (points.norms ? points.norms[r] : 0);
    const double noise =
        0x1p-52 * rounding_steps(end - begin) * (std::abs(zero) + magnitude(points, table, r));
    double* const out = job.distances + r * job.n_centres;
    for (std::int64_t k = 0; k < job.n_centres; ++k)
      out[k] = not_below_zero(zero + scores[k], noise);
    if (job.closest) {
      const double w = job.weights ? job.weights[r] : 1.0;
      for (std::int64_t k = 0; k < job.n_centres; ++k)
        potentials[k] += w * std::min(job.closest[r], out[k]);
    }
    meter.spend((end - begin + 4) * table.units());
  }
}

}  // namespace

template <class V, class X>
void kmeans_distances(const Points<V, X>& points, const Centres& centres, double* distances,
                      const double* closest, const double* weights, double* potentials, int n_jobs,
                      Poll poll) {
  const ScoreTable<double> table(centres, points.n_values);
  const DistanceJob<V, X> job{points, table, centres.size, distances, closest, weights};
  const auto measure = avx2_or_plain<measure_range<16, V, X>>();
  const std::int64_t n_blocks =
      count_distance_blocks(points.indptr[points.n_records] + 4 * points.n_records);
  const auto stride = static_cast<std::size_t>(centres.size);
  std::vector<double> partial(static_cast<std::size_t>(n_blocks) * stride, 0.0);
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    std::vector<ScoreUnit> scores(static_cast<std::size_t>(table.units()));
    measure(job, block_range(points.n_records, n_blocks, b),
            partial.data() + static_cast<std::size_t>(b) * stride, scores.data()->numbers, token);
  });
  std::fill_n(potentials, stride, 0.0);
  for (std::size_t k = 0; k < partial.size(); ++k) potentials[k % stride] += partial[k];
}

template <class V, class X>
void kmeans_own_distances(const Points<V, X>& points, const Centres& centres,
                          const std::int32_t* labels, double* distances, int n_jobs, Poll poll) {
  const std::int64_t n_blocks =
      count_distance_blocks(points.indptr[points.n_records] + 4 * points.n_records);
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    Meter meter(token);
    const Range range = block_range(points.n_records, n_blocks, b);
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      const std::int64_t begin = points.indptr[r], end = points.indptr[r + 1];
      const double* centre = centres.corrections + labels[r] * points.n_values;
      double sum = 0, absolute = 0;
      for (std::int64_t i = begin; i < end; ++i) {
        double term = centre[points.values[i]];
        if constexpr (!std::is_same_v<X, AllOnes>) term *= static_cast<double>(points.x[i]);
        sum += term;
        absolute += std::abs(term);
      }
      const double zero = centres.base[labels[r]] + (points.norms ? points.norms[r] : 0);
      const double noise =
          0x1p-52 * static_cast<double>(end - begin + 4) * (std::abs(zero) + absolute);
      distances[r] = not_below_zero(zero + sum, noise);
      meter.spend(end - begin + 4);
    }
  });
}

#define TACIT_INSTANTIATE(V, X)                                                                \
  template void kmeans_distances(const Points<V, X>&, const Centres&, double*, const double*,  \
                                 const double*, double*, int, Poll);                           \
  template void kmeans_own_distances(const Points<V, X>&, const Centres&, const std::int32_t*, \
                                     double*, int, Poll);
TACIT_FOR_POINTS(TACIT_INSTANTIATE)
#undef TACIT_INSTANTIATE

}  // namespace tacit
