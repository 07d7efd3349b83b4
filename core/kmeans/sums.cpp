#include <algorithm>
#include <type_traits>
#include <vector>

#include "kmeans/assign.hpp"

namespace tacit {
namespace {

// Which records are added to each cluster's sum, and which are taken off it: the records of list
// 2 k join cluster k, those of list 2 k + 1 leave it. Ascending, so that sums are always made in
// the same order.
class Moves {
 public:
  Moves(std::int64_t n_records, std::int64_t n_clusters, const std::int32_t* labels,
        const std::int32_t* previous)
      : start_(static_cast<std::size_t>(2 * n_clusters + 1)) {
    const std::int64_t n_changed = previous ? find_changed(n_records, labels, previous) : n_records;
    const auto count = [&](std::int64_t list) -> std::int64_t& {
      return start_[static_cast<std::size_t>(list + 1)];
    };
    const auto each = [&](const auto& body) {
      for (std::int64_t k = 0; k < n_changed; ++k) {
        const std::int64_t r = previous ? changed_[static_cast<std::size_t>(k)] : k;
        if (previous) body(2 * std::int64_t{previous[r]} + 1, r);
        body(2 * std::int64_t{labels[r]}, r);
      }
    };
    each([&](std::int64_t list, std::int64_t) { ++count(list); });
    for (std::size_t k = 1; k < start_.size(); ++k) start_[k] += start_[k - 1];
    records_ = Buffer<std::int32_t>(static_cast<std::size_t>(start_.back()));
    std::vector<std::int64_t> next(start_.begin(), start_.end() - 1);
    each([&](std::int64_t list, std::int64_t r) {
      records_[static_cast<std::size_t>(next[static_cast<std::size_t>(list)]++)] =
          static_cast<std::int32_t>(r);
    });
  }

  std::int64_t size(std::int64_t list) const { return end(list) - begin(list); }
  const std::int32_t* begin(std::int64_t list) const {
    return records_.data() + start_[static_cast<std::size_t>(list)];
  }
  const std::int32_t* end(std::int64_t list) const { return begin(list + 1); }

 private:
  std::int64_t find_changed(std::int64_t n_records, const std::int32_t* labels,
                            const std::int32_t* previous) {
    changed_ = Buffer<std::int32_t>(static_cast<std::size_t>(n_records) + 1);
    std::int64_t n = 0;
    for (std::int64_t r = 0; r < n_records; ++r) {
      changed_[static_cast<std::size_t>(n)] = static_cast<std::int32_t>(r);
      n += labels[r] != previous[r];
    }
    return n;
  }

  std::vector<std::int64_t> start_;
  Buffer<std::int32_t> changed_, records_;
};

// A chunk of a list, small enough to divide evenly and large enough to be worth a row of its own.
struct RecordChunk {
  std::int64_t cluster;
  const std::int32_t *begin, *end;
  double sign;
};

std::vector<RecordChunk> cut(const Moves& moves, std::int64_t n_clusters, std::int64_t n_values,
                             double mean_length) {
  constexpr double kSmallest = 1 << 16;
  const double work = std::max(kSmallest, 4.0 * static_cast<double>(n_values));
  const auto most = static_cast<std::int64_t>(work / (mean_length + 1)) + 1;
  std::vector<RecordChunk> chunks;
  for (std::int64_t list = 0; list < 2 * n_clusters; ++list) {
    const std::int64_t n_chunks = (moves.size(list) + most - 1) / most;
    for (std::int64_t p = 0; p < n_chunks; ++p) {
      const Range range = block_range(moves.size(list), n_chunks, p);
      chunks.push_back({list / 2, moves.begin(list) + range.begin, moves.begin(list) + range.end,
                        list % 2 ? -1.0 : 1.0});
    }
  }
  return chunks;
}

// row[v] += ± weight · x for the stored values of the chunk's records; returns ± their weight.
template <class V, class X>
double add_records(const Points<V, X>& points, const RecordChunk& chunk, const double* weights,
                   double* row, StopToken& token) {
  constexpr std::ptrdiff_t kAhead = 12;  // records lie apart: fetch them before they are needed
  Meter meter(token);
  double total = 0;
  for (const std::int32_t* p = chunk.begin; p < chunk.end; ++p) {
    if (chunk.end - p > 2 * kAhead) {
      __builtin_prefetch(points.indptr + p[2 * kAhead]);
      const std::int64_t soon = points.indptr[p[kAhead]];
      __builtin_prefetch(points.values + soon);
      if constexpr (!std::is_same_v<X, AllOnes>) __builtin_prefetch(points.x + soon);
    }
    const std::int64_t begin = points.indptr[*p], end = points.indptr[*p + 1];
    const double weight = chunk.sign * (weights ? weights[*p] : 1.0);
    for (std::int64_t i = begin; i < end; ++i) {
      if constexpr (std::is_same_v<X, AllOnes>)
        row[points.values[i]] += weight;
      else
        row[points.values[i]] += weight * static_cast<double>(points.x[i]);
    }
    total += weight;
    meter.spend(end - begin + 2);
  }
  return total;
}

}  // namespace

template <class V, class X>
void kmeans_sums(const Points<V, X>& points, std::int64_t n_clusters, const double* weights,
                 const std::int32_t* labels, const std::int32_t* previous, double* sums,
                 double* totals, int n_jobs, Poll poll) {
  const std::int64_t m = points.n_records, n = points.n_values;
  if (!previous) {
    std::fill_n(sums, n_clusters * n, 0.0);
    std::fill_n(totals, n_clusters, 0.0);
  }
  if (m == 0) return;
  const Moves moves(m, n_clusters, labels, previous);
  const std::vector<RecordChunk> chunks =
      cut(moves, n_clusters, n, static_cast<double>(points.indptr[m]) / static_cast<double>(m));
  const auto is_first = [&](std::size_t p) {  // it alone writes to the cluster's row
    return p == 0 || chunks[p].cluster != chunks[p - 1].cluster;
  };
  std::vector<Buffer<double>> rows(chunks.size());
  std::vector<double> weight(chunks.size());
  for_blocks(static_cast<std::int64_t>(chunks.size()), n_jobs, poll,
             [&](std::int64_t b, StopToken& token) {
               const auto p = static_cast<std::size_t>(b);
               double* row = sums + chunks[p].cluster * n;
               if (!is_first(p)) {
                 rows[p] = Buffer<double>(static_cast<std::size_t>(n));
                 row = rows[p].data();
                 std::fill_n(row, n, 0.0);
               }
               weight[p] = add_records(points, chunks[p], weights, row, token);
             });
  for (std::size_t p = 0; p < chunks.size(); ++p) {
    totals[chunks[p].cluster] += weight[p];
    if (is_first(p)) continue;
    double* row = sums + chunks[p].cluster * n;
    for (std::int64_t v = 0; v < n; ++v) row[v] += rows[p][static_cast<std::size_t>(v)];
    rows[p] = Buffer<double>();
  }
}

#define TACIT_INSTANTIATE(V, X)                                                                    \
  template void kmeans_sums(const Points<V, X>&, std::int64_t, const double*, const std::int32_t*, \
                            const std::int32_t*, double*, double*, int, Poll);
TACIT_FOR_POINTS(TACIT_INSTANTIATE)
#undef TACIT_INSTANTIATE

}  // namespace tacit
