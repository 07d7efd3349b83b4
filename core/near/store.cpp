#include "near/store.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "base/simd.hpp"

namespace tacit {
namespace {

template <class X>
double scale_for(const X* numbers, std::int64_t n) {
  X most = 0;
  for (std::int64_t i = 0; i < n; ++i) most = std::max(most, std::abs(numbers[i]));
  if (most == 0) return 1.0;
  return std::ldexp(1.0, -std::clamp(std::ilogb(static_cast<double>(most)), -1000, 1000));
}

// The limit of a sum from the limit of a squared distance, rounded up. Nothing is beyond infinity
// but padding.
float sum_limit(double limit, double norm, const NearError& error) {
  if (!(norm < kNearTooFar)) return FLT_MAX;
  const double sum = limit - (1 - error.relative) * norm + error.rest;
  if (!(sum < FLT_MAX)) return FLT_MAX;
  const auto rounded = static_cast<float>(sum);
  return static_cast<double>(rounded) < sum
             ? std::nextafter(rounded, std::numeric_limits<float>::infinity())
             : rounded;
}

template <class X>
TACIT_INLINE Double4 scaled(const X* x, double scale) {
  return __builtin_convertvector(
             *reinterpret_cast<const typename VectorOf<X, 4 * sizeof(X)>::Type*>(x), Double4) *
         scale;
}

// In sixteen sums, so that none waits for another.
template <class X>
TACIT_INLINE double square_of(const X* x, const X* y, std::int64_t width, double scale) {
  constexpr int kSums = 4;
  Double4 sums[kSums] = {};
  std::int64_t c = 0;
  for (; c + 4 * kSums <= width; c += 4 * kSums)
    for (int u = 0; u < kSums; ++u) {
      const Double4 off = scaled(x + c + 4 * u, scale) - scaled(y + c + 4 * u, scale);
      sums[u] += off * off;
    }
  for (; c + 4 <= width; c += 4) {
    const Double4 off = scaled(x + c, scale) - scaled(y + c, scale);
    sums[0] += off * off;
  }
  const Double4 all = (sums[0] + sums[2]) + (sums[1] + sums[3]);
  double sum = (all[0] + all[2]) + (all[1] + all[3]);
  for (; c < width; ++c) {
    const double off = static_cast<double>(x[c]) * scale - static_cast<double>(y[c]) * scale;
    sum += off * off;
  }
  return sum;
}

// lane = -2 (x - centre); returns ‖x - centre‖².
template <class X>
TACIT_INLINE double centre_row(const X* x, const double* centre, std::int64_t width, double scale,
                               float* lane) {
  Double4 sums[2] = {};
  std::int64_t j = 0;
  for (; j + 8 <= width; j += 8)
    for (int u = 0; u < 2; ++u) {
      const Double4 off = scaled(x + j + 4 * u, scale) - vector_at(centre + j + 4 * u);
      *reinterpret_cast<Float4*>(lane + j + 4 * u) = __builtin_convertvector(off * -2.0, Float4);
      sums[u] += off * off;
    }
  const Double4 both = sums[0] + sums[1];
  double norm = (both[0] + both[2]) + (both[1] + both[3]);
  for (; j < width; ++j) {
    const double off = static_cast<double>(x[j]) * scale - centre[j];
    lane[j] = static_cast<float>(-2 * off);
    norm += off * off;
  }
  return norm;
}

// Adds a row times a factor to a sum.
template <class X>
TACIT_INLINE void add_row(const X* x, std::int64_t width, double factor, double* sum) {
  std::int64_t j = 0;
  for (; j + 4 <= width; j += 4) vector_at(sum + j) += scaled(x + j, factor);
  for (; j < width; ++j) sum[j] += static_cast<double>(x[j]) * factor;
}

// Puts a row less its centre into a tile; returns its squared norm.
template <class X>
TACIT_INLINE double put_row(const X* x, const double* centre, std::int64_t width, double scale,
                            float* tile) {
  Double4 sums{};
  std::int64_t j = 0;
  for (; j + 4 <= width; j += 4) {
    const Double4 off = scaled(x + j, scale) - vector_at(centre + j);
    const Float4 kept = __builtin_convertvector(off, Float4);
    for (int u = 0; u < 4; ++u) tile[(j + u) * kNearTile] = kept[u];
    sums += off * off;
  }
  double norm = (sums[0] + sums[2]) + (sums[1] + sums[3]);
  for (; j < width; ++j) {
    const double off = static_cast<double>(x[j]) * scale - centre[j];
    tile[j * kNearTile] = static_cast<float>(off);
    norm += off * off;
  }
  return norm;
}

NearBounds bounds_of(std::int32_t query, std::int64_t position, float sum, double norm,
                     double row_norm, const NearError& error) {
  if (!(norm < kNearTooFar)) return {query, position, 0.0, std::numeric_limits<double>::infinity()};
  const double low = (1 - error.relative) * norm + static_cast<double>(sum) - error.rest;
  const double width = 2.01 * (error.relative * (norm + row_norm) + error.rest);
  return {query, position, low, low + width};
}

}  // namespace

template <class X>
double near_scale(const DenseNumbers<X>& rows) {
  return scale_for(rows.numbers, rows.n_rows * rows.width);
}

template <class X>
double near_scale(const SparseNumbers<X>& rows) {
  return scale_for(rows.numbers, rows.indptr[rows.n_rows]);
}

template <class X>
double near_square(const DenseNumbers<X>& a, std::int64_t i, const DenseNumbers<X>& b,
                   std::int64_t j, double scale) {
  static const auto square = avx2_or_plain<square_of<X>>();
  return square(a.numbers + i * a.width, b.numbers + j * b.width, a.width, scale);
}

template <class X>
double near_square(const SparseNumbers<X>& a, std::int64_t i, const SparseNumbers<X>& b,
                   std::int64_t j, double scale) {
  std::int64_t u = a.indptr[i], v = b.indptr[j];
  const std::int64_t end = a.indptr[i + 1], other_end = b.indptr[j + 1];
  double sum = 0;
  while (u < end || v < other_end) {
    const std::int32_t left = u < end ? a.indices[u] : std::numeric_limits<std::int32_t>::max();
    const std::int32_t right =
        v < other_end ? b.indices[v] : std::numeric_limits<std::int32_t>::max();
    const double x = left <= right ? static_cast<double>(a.numbers[u++]) : 0.0;
    const double y = right <= left ? static_cast<double>(b.numbers[v++]) : 0.0;
    const double off = x * scale - y * scale;
    sum += off * off;
  }
  return sum;
}

// Dense rows

template <class X>
DenseStore<X>::DenseStore(const Rows& rows, const NearOrder& order, double scale, int n_jobs,
                          Poll poll)
    : size_(order.size()),
      width_(rows.width),
      scale_(scale),
      error_(rows.width),
      centres_(static_cast<std::size_t>(order.n_branches() * rows.width)),
      tiles_(static_cast<std::size_t>(order.n_leaves() * kNearLeaf * rows.width)),
      norms_(static_cast<std::size_t>(order.n_leaves() * kNearLeaf)),
      bases_(static_cast<std::size_t>(order.n_leaves() * kNearLeaf)) {
  for_blocks(order.n_branches(), n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    copy_branch(rows, order, b);
    token.check();
  });
}

template <class X>
void DenseStore<X>::copy_branch(const Rows& rows, const NearOrder& order, std::int64_t branch) {
  const std::int64_t begin = order.branch(branch).begin * kNearLeaf;
  const std::int64_t filled = order.branch(branch).end * kNearLeaf;
  const std::int64_t end = std::min(filled, size_);
  const std::int32_t* const objects = order.objects().data();
  double* const centre = centres_.data() + branch * width_;
  std::fill_n(centre, width_, 0.0);
  const double factor = scale_ / static_cast<double>(end - begin);
  static const auto add = avx2_or_plain<add_row<X>>();
  static const auto put = avx2_or_plain<put_row<X>>();
  for (std::int64_t p = begin; p < end; ++p)
    add(rows.numbers + objects[p] * width_, width_, factor, centre);
  for (std::int64_t p = begin; p < filled; ++p) {
    float* const tile = tiles_.data() + p / kNearTile * kNearTile * width_ + p % kNearTile;
    double norm = std::numeric_limits<double>::infinity();  // of padding, which is near nothing
    if (p < end)
      norm = put(rows.numbers + objects[p] * width_, centre, width_, scale_, tile);
    else
      for (std::int64_t j = 0; j < width_; ++j) tile[j * kNearTile] = 0;
    norms_[static_cast<std::size_t>(p)] = static_cast<float>(norm);
    bases_[static_cast<std::size_t>(p)] = static_cast<float>((1 - error_.relative) * norm);
  }
}

template <class X>
DenseStore<X>::Probe::Probe(const DenseStore& store, const Rows& queries)
    : store_(store),
      queries_(queries),
      lanes_(static_cast<std::size_t>(kMostGroup * store.width_)),
      norms_(kMostGroup),
      centred_at_(kMostGroup),
      hits_(static_cast<std::size_t>(kMostGroup * kNearLeaf)) {}

template <class X>
void DenseStore<X>::Probe::begin(const std::int64_t* queries, int) {
  group_ = queries;
  std::fill(centred_at_.begin(), centred_at_.end(), -1);
}

template <class X>
void DenseStore<X>::Probe::centre(int query, std::int64_t branch) {
  static const auto centre_it = avx2_or_plain<centre_row<X>>();
  const std::int64_t width = store_.width_;
  float* const lane = lanes_.data() + query * width;
  const double norm =
      centre_it(queries_.numbers + group_[query] * width, store_.centres_.data() + branch * width,
                width, store_.scale_, lane);
  if (!(norm < kNearTooFar)) std::fill_n(lane, width, 0.0F);
  norms_[static_cast<std::size_t>(query)] = norm;
  centred_at_[static_cast<std::size_t>(query)] = branch;
}

template <class X>
const std::vector<NearBounds>& DenseStore<X>::Probe::leaf(std::int64_t leaf, const int* active,
                                                          int n_active, const double* limits) {
  const float* rows[kMostGroup];
  float sums[kMostGroup];
  for (int i = 0; i < n_active; ++i) {
    const auto q = static_cast<std::size_t>(active[i]);
    if (centred_at_[q] != leaf / kNearBranch) centre(active[i], leaf / kNearBranch);
    rows[i] = lanes_.data() + active[i] * store_.width_;
    sums[i] = sum_limit(limits[q], norms_[q], store_.error_);
  }
  const std::int64_t first = leaf * kNearLeaf;
  const int n_hits =
      filter_leaf(store_.tiles_.data() + first * store_.width_, store_.bases_.data() + first,
                  store_.width_, rows, sums, n_active, hits_.data());
  bounds_.clear();
  for (int h = 0; h < n_hits; ++h) {
    const NearHit& hit = hits_[static_cast<std::size_t>(h)];
    const std::int32_t query = active[hit.query];
    const std::int64_t position = first + hit.position;
    if (position < store_.size_)
      bounds_.push_back(bounds_of(query, position, hit.sum, norms_[static_cast<std::size_t>(query)],
                                  store_.norms_[static_cast<std::size_t>(position)],
                                  store_.error_));
  }
  return bounds_;
}

// Sparse rows

template <class X>
std::int64_t SparseStore<X>::longest(const Rows& rows) {
  std::int64_t most = 0;
  for (std::int64_t r = 0; r < rows.n_rows; ++r)
    most = std::max(most, rows.indptr[r + 1] - rows.indptr[r]);
  return most;
}

template <class X>
double squared_norm(const SparseNumbers<X>& rows, std::int64_t r, double scale) {
  double norm = 0;
  for (std::int64_t i = rows.indptr[r]; i < rows.indptr[r + 1]; ++i) {
    const double x = static_cast<double>(rows.numbers[i]) * scale;
    norm += x * x;
  }
  return norm;
}

template <class X>
SparseStore<X>::SparseStore(const Rows& rows, const NearOrder& order, double scale, int n_jobs,
                            Poll poll)
    : rows_(rows),
      order_(order),
      scale_(scale),
      error_(longest(rows)),
      norms_(static_cast<std::size_t>(order.size())),
      bases_(static_cast<std::size_t>(order.size())) {
  for_blocks(order.n_branches(), n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    const Range leaves = order.branch(b);
    const std::int64_t end = std::min(leaves.end * kNearLeaf, order.size());
    for (std::int64_t p = leaves.begin * kNearLeaf; p < end; ++p) {
      const auto position = static_cast<std::size_t>(p);
      const double norm = squared_norm(rows, order.objects()[position], scale);
      norms_[position] = static_cast<float>(norm);
      bases_[position] = static_cast<float>((1 - error_.relative) * norm);
    }
    token.check();
  });
}

template <class X>
SparseStore<X>::Probe::Probe(const SparseStore& store, const Rows& queries)
    : store_(store),
      queries_(queries),
      lanes_(static_cast<std::size_t>(queries.width * kNearLanes)),
      norms_(kGroup),
      hits_(static_cast<std::size_t>(kGroup * kNearLeaf)) {
  std::fill(lanes_.begin(), lanes_.end(), 0.0F);
}

template <class X>
void SparseStore<X>::Probe::scatter(int n_queries, bool clear) {
  for (int q = 0; q < n_queries; ++q) {
    const std::int64_t r = group_[static_cast<std::size_t>(q)];
    const bool zero = clear || !(norms_[static_cast<std::size_t>(q)] < kNearTooFar);
    for (std::int64_t i = queries_.indptr[r]; i < queries_.indptr[r + 1]; ++i) {
      const double x = static_cast<double>(queries_.numbers[i]) * store_.scale_;
      lanes_[static_cast<std::size_t>(queries_.indices[i]) * kNearLanes +
             static_cast<std::size_t>(q)] = zero ? 0.0F : static_cast<float>(-2 * x);
    }
  }
}

template <class X>
void SparseStore<X>::Probe::begin(const std::int64_t* queries, int n_queries) {
  scatter(static_cast<int>(group_.size()), true);
  group_.assign(queries, queries + n_queries);
  for (int q = 0; q < n_queries; ++q)
    norms_[static_cast<std::size_t>(q)] = squared_norm(queries_, queries[q], store_.scale_);
  scatter(n_queries, false);
}

template <class X>
const std::vector<NearBounds>& SparseStore<X>::Probe::leaf(std::int64_t leaf, const int* active,
                                                           int n_active, const double* limits) {
  float sums[kNearLanes];
  std::fill_n(sums, kNearLanes, -std::numeric_limits<float>::infinity());
  for (int i = 0; i < n_active; ++i) {
    const auto q = static_cast<std::size_t>(active[i]);
    sums[q] = sum_limit(limits[q], norms_[q], store_.error_);
  }
  const Range positions = store_.order_.leaf(leaf);
  const SparseNumbers<X>& rows = store_.rows_;
  const int n_hits = filter_rows(
      rows.indptr, rows.indices, rows.numbers, store_.order_.objects().data() + positions.begin,
      store_.bases_.data() + positions.begin, positions.end - positions.begin, store_.scale_,
      lanes_.data(), sums, hits_.data());
  bounds_.clear();
  for (int h = 0; h < n_hits; ++h) {
    const NearHit& hit = hits_[static_cast<std::size_t>(h)];
    const std::int64_t position = positions.begin + hit.position;
    bounds_.push_back(bounds_of(hit.query, position, hit.sum,
                                norms_[static_cast<std::size_t>(hit.query)],
                                store_.norms_[static_cast<std::size_t>(position)], store_.error_));
  }
  return bounds_;
}

#define TACIT_INSTANTIATE(X)                                                                  \
  template double near_scale(const DenseNumbers<X>&);                                         \
  template double near_scale(const SparseNumbers<X>&);                                        \
  template double near_square(const DenseNumbers<X>&, std::int64_t, const DenseNumbers<X>&,   \
                              std::int64_t, double);                                          \
  template double near_square(const SparseNumbers<X>&, std::int64_t, const SparseNumbers<X>&, \
                              std::int64_t, double);                                          \
  template class DenseStore<X>;                                                               \
  template class SparseStore<X>;
TACIT_INSTANTIATE(float)
TACIT_INSTANTIATE(double)
#undef TACIT_INSTANTIATE

}  // namespace tacit
