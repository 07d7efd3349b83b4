#include "base/sums.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tacit {

FixedWeights::FixedWeights(const double* weights, std::int64_t n, bool whole)
    : units_(static_cast<std::size_t>(n)), whole_(whole) {
  const double largest = n > 0 ? *std::max_element(weights, weights + n) : 0.0;
  int top = 0;  // every weight is below 2^top, so their sum is below 2^(top + bits of n)
  if (largest > 0) std::frexp(largest, &top);
  const int room = 126 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n)));
  exponent_ = room - top;
  for (std::size_t r = 0; r < units_.size(); ++r) {
    int power = 0;
    const auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(weights[r], &power), 53));
    const int shift = power - 53 + exponent_;
    if (shift >= 0)
      units_[r] = static_cast<Int128>(digits) << shift;
    else
      units_[r] = shift > -64 ? digits >> -shift : 0;
    total_ += units_[r];
  }
}

double FixedWeights::to_double(Int128 units) const {
  return std::ldexp(static_cast<double>(units), -exponent_);
}

}  // namespace tacit
