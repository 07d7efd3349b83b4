// Sums of record weights that do not depend on the order of addition.
//
// A weighted count is kept as a 128-bit integer, in units of 2^-exponent so fine that the sum of
// all weights just fits. Addition and subtraction are then exact and associative: every engine,
// path and thread count gives the same number, and it is rounded once, on the way out. The price: a
// weight about 2^70 times smaller than the largest loses bits, and a yet smaller one counts as 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tacit {

__extension__ typedef __int128 Int128;

class FixedWeights {
 public:
  FixedWeights() = default;
  // whole: weights say how often records occur, and sums are handed out as whole numbers.
  FixedWeights(const double* weights, std::int64_t n, bool whole = false);

  bool empty() const { return units_.empty(); }
  Int128 operator[](std::size_t record) const { return units_[record]; }
  Int128 total() const { return total_; }
  bool whole() const { return whole_; }
  double to_double(Int128 units) const;
  std::int64_t bytes() const { return static_cast<std::int64_t>(units_.size() * sizeof(Int128)); }

 private:
  std::vector<Int128> units_;
  Int128 total_ = 0;
  int exponent_ = 0;
  bool whole_ = false;
};

}  // namespace tacit
