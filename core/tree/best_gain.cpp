#include "tree/best_gain.hpp"

#include <algorithm>

namespace tacit {

BestGain::BestGain(const TreeScore& score, const std::int64_t* whole, double prior_fraction)
    : score_(score),
      whole_(whole[0]),
      half_(0.5 * prior_fraction),
      before_(score.leaf(whole, prior_fraction)) {
  std::int64_t base = whole[0];
  for (std::int64_t p = 1; p < score.n_stats(); ++p) {
    base -= whole[p];
    if (whole[p] > 0) classes_.push_back(whole[p]);
  }
  if (base > 0) classes_.push_back(base);
  std::sort(classes_.begin(), classes_.end());
  up_to_.push_back(0);
  terms_.push_back(0.0);
  for (const std::int64_t weight : classes_) {
    up_to_.push_back(up_to_.back() + weight);
    terms_.push_back(terms_.back() + score.count_term(weight, half_));
  }
  double most = at(peak_);
  for (const std::int64_t up_to : up_to_) {
    const std::int64_t side = std::min(up_to, whole_ / 2);
    const double gain = at(side);
    if (gain > most + kRounding) {
      peak_ = side;
      most = gain;
    }
    if (side < up_to) break;
  }
}

double BestGain::at(std::int64_t side) const {
  const auto next = std::upper_bound(up_to_.begin(), up_to_.end() - 1, side);
  const auto k = static_cast<std::size_t>(next - up_to_.begin()) - 1;  // that is divided
  double in = terms_[k], out = terms_.back() - terms_[std::min(k + 1, classes_.size())];
  if (k < classes_.size()) {
    const std::int64_t inside = side - up_to_[k];
    in += score_.count_term(inside, half_);
    out += score_.count_term(classes_[k] - inside, half_);
  }
  return score_.close_weight(in, side, half_) + score_.close_weight(out, whole_ - side, half_) -
         before_ + score_.per_leaf();
}

std::pair<std::int64_t, std::int64_t> BestGain::range(double price) const {
  const auto pays = [&](std::int64_t side) { return at(side) > price + kRounding; };
  if (!pays(peak_)) return {1, 0};
  std::int64_t least = 0, most = whole_ / 2 + 1;  // outside, as long as the others are inside
  for (std::int64_t inside = peak_; inside - least > 1;) {
    const std::int64_t middle = least + (inside - least) / 2;
    (pays(middle) ? inside : least) = middle;
  }
  for (std::int64_t inside = peak_; most - inside > 1;) {
    const std::int64_t middle = inside + (most - inside) / 2;
    (pays(middle) ? inside : most) = middle;
  }
  return {least + 1, most - 1};
}

}  // namespace tacit
