#include "rule/boost_sample.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/uniform.hpp"

namespace tacit {

RuleSampler::RuleSampler(SampleKind kind, double fraction, std::int64_t n_records,
                         const float* units, const std::int32_t* strata, std::uint64_t seed)
    : kind_(kind), fraction_(fraction), units_(units), seed_(seed) {
  std::map<std::int32_t, std::size_t> number;
  for (std::int64_t r = 0; r < n_records; ++r) {
    if (units && !(units[r] > 0)) continue;
    n_units_ += units ? static_cast<double>(units[r]) : 1;
    if (kind == SampleKind::none) continue;
    const auto [position, is_new] = number.try_emplace(strata ? strata[r] : 0, strata_.size());
    if (is_new) strata_.emplace_back();
    strata_[position->second].push_back(static_cast<std::int32_t>(r));
  }
  if (kind != SampleKind::none) drawn_.resize(static_cast<std::size_t>(n_records));
}

std::uint64_t RuleSampler::below(std::uint64_t n) {
  return static_cast<std::uint64_t>(uniform_at(seed_, counter_++) * static_cast<double>(n));
}

const float* RuleSampler::draw_records() {
  if (kind_ == SampleKind::none) return nullptr;
  std::fill(drawn_.begin(), drawn_.end(), 0.0f);
  n_units_ = 0;
  // Strata of few records: what is left of one's part is drawn in the next.
  double owed = 0;
  for (std::vector<std::int32_t>& members : strata_) {
    owed += fraction_ * static_cast<double>(members.size());
    const auto wanted = static_cast<std::size_t>(std::floor(owed + 0.5));
    const std::size_t n = kind_ == SampleKind::bagging ? wanted : std::min(wanted, members.size());
    owed -= static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) {
      std::size_t at = 0;
      if (kind_ == SampleKind::bagging) {
        at = below(members.size());
      } else {
        at = i;
        std::swap(members[i], members[i + below(members.size() - i)]);
      }
      const auto record = static_cast<std::size_t>(members[at]);
      const float units = units_ ? units_[record] : 1.0f;
      drawn_[record] += units;
      n_units_ += static_cast<double>(units);
    }
  }
  return drawn_.data();
}

void RuleSampler::draw(std::vector<std::int32_t>& numbers, std::size_t n,
                       std::vector<std::int32_t>& drawn) {
  for (std::size_t i = 0; i < n; ++i) std::swap(numbers[i], numbers[i + below(numbers.size() - i)]);
  drawn.assign(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(n));
  std::sort(drawn.begin(), drawn.end());
}

}  // namespace tacit
