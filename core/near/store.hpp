// Numbers of objects as a search for neighbours reads them: copies in single precision, in the
// order of the tree, that say which objects may be near; and distances in double precision of
// those.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "base/records.hpp"
#include "near/filter.hpp"
#include "near/order.hpp"

namespace tacit {

template <class X>
struct DenseNumbers {
  const X* numbers;  // row after row
  std::int64_t n_rows, width;
};

template <class X>
struct SparseNumbers {
  const std::int64_t* indptr;
  const std::int32_t* indices;  // ascending within a row
  const X* numbers;
  std::int64_t n_rows, width;
};

// The power of two that brings the largest number to between 1 and 2: no square of a difference
// overflows then, and none that matters underflows.
template <class X>
double near_scale(const DenseNumbers<X>& rows);
template <class X>
double near_scale(const SparseNumbers<X>& rows);

// The squared distance of two rows times scale². Terms are added in an order that depends on the
// rows alone.
template <class X>
double near_square(const DenseNumbers<X>& a, std::int64_t i, const DenseNumbers<X>& b,
                   std::int64_t j, double scale);
template <class X>
double near_square(const SparseNumbers<X>& a, std::int64_t i, const SparseNumbers<X>& b,
                   std::int64_t j, double scale);

// An object whose squared distance (times scale²) is between two numbers.
struct NearBounds {
  std::int32_t query;     // position of the query in its group
  std::int64_t position;  // of the object in the order
  double low, high;
};

// What rounding can do to ‖a‖² + ‖b‖² - 2 a·b with n_terms products in single precision: the error
// is at most relative · (‖a‖² + ‖b‖²) + rest. Each product and each sum is off by 2^-24 of sums up
// to twice those norms; a few more such steps are spent on rounding a, b and the norms. Underflow
// is the rest.
struct NearError {
  explicit NearError(std::int64_t n_terms)
      : relative(0x1p-24 * static_cast<double>(2 * n_terms + 24)),
        rest(0x1p-80 * static_cast<double>(n_terms + 1)) {}
  double relative, rest;
};

// Squared norms of queries beyond this are not told in single precision.
constexpr double kNearTooFar = 0x1p100;

template <class X>
class DenseStore {
 public:
  using Rows = DenseNumbers<X>;
  // Queries that are looked for together: few, which are near each other, where boxes rule much
  // out; many, which share what is read, where they do not.
  static constexpr int kGroup = 24, kMostGroup = 192;

  DenseStore(const Rows& rows, const NearOrder& order, double scale, int n_jobs, Poll poll);
  std::int64_t width() const { return width_; }

  // Looks for a group of queries. Objects are told apart by their differences from the mean of
  // their branch, which are small where their distances are.
  class Probe {
   public:
    Probe(const DenseStore& store, const Rows& queries);
    void begin(const std::int64_t* queries, int n_queries);
    // Objects of a leaf whose squared distance from a query may be within its limit.
    const std::vector<NearBounds>& leaf(std::int64_t leaf, const int* active, int n_active,
                                        const double* limits);

   private:
    void centre(int query, std::int64_t branch);

    const DenseStore& store_;
    const Rows queries_;
    const std::int64_t* group_ = nullptr;
    std::vector<float> lanes_;              // -2 (x - centre), a row for each query
    std::vector<double> norms_;             // ‖x - centre‖²
    std::vector<std::int64_t> centred_at_;  // the branch that each query is centred at
    std::vector<NearHit> hits_;
    std::vector<NearBounds> bounds_;
  };

 private:
  void copy_branch(const Rows& rows, const NearOrder& order, std::int64_t branch);

  std::int64_t size_, width_;
  double scale_;
  NearError error_;
  Buffer<double> centres_;
  Buffer<float> tiles_, norms_, bases_;  // bases: norms less what rounding can do to them
};

template <class X>
class SparseStore {
 public:
  using Rows = SparseNumbers<X>;
  static constexpr int kGroup = kNearLanes, kMostGroup = kNearLanes;

  SparseStore(const Rows& rows, const NearOrder& order, double scale, int n_jobs, Poll poll);

  class Probe {
   public:
    Probe(const SparseStore& store, const Rows& queries);
    void begin(const std::int64_t* queries, int n_queries);
    const std::vector<NearBounds>& leaf(std::int64_t leaf, const int* active, int n_active,
                                        const double* limits);

   private:
    void scatter(int n_queries, bool clear);

    const SparseStore& store_;
    const Rows queries_;
    std::vector<std::int64_t> group_;
    Buffer<float> lanes_;  // -2 x, the queries side by side
    std::vector<double> norms_;
    std::vector<NearHit> hits_;
    std::vector<NearBounds> bounds_;
  };

 private:
  static std::int64_t longest(const Rows& rows);

  const Rows rows_;
  const NearOrder& order_;
  double scale_;
  NearError error_;
  Buffer<float> norms_, bases_;
};

}  // namespace tacit
