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

void RuleSampler::seek(const DrawKey& key, std::uint64_t step) {
  stream_ = seed_;
  for (const std::uint64_t part : {key.rule, key.view, key.trial, step})
    stream_ = bits_at(stream_, part);
  counter_ = 0;
}

std::uint64_t RuleSampler::below(std::uint64_t n) {
  return static_cast<std::uint64_t>(uniform_at(stream_, counter_++) * static_cast<double>(n));
}

void RuleSampler::shuffle(std::vector<std::int32_t>& numbers, std::size_t n) {
  swaps_.clear();
  for (std::size_t i = 0; i < n; ++i) {
    swaps_.push_back(i + below(numbers.size() - i));
    std::swap(numbers[i], numbers[swaps_.back()]);
  }
}

void RuleSampler::restore(std::vector<std::int32_t>& numbers) {
  for (std::size_t i = swaps_.size(); i-- > 0;) std::swap(numbers[i], numbers[swaps_[i]]);
}

const float* RuleSampler::draw_records(const DrawKey& key) {
  if (kind_ == SampleKind::none) return nullptr;
  seek(key, 0);
  std::fill(drawn_.begin(), drawn_.end(), 0.0f);
  n_units_ = 0;
  // Strata of few records: what is left of one's part is drawn in the next.
  double owed = 0;
  for (std::vector<std::int32_t>& members : strata_) {
    owed += fraction_ * static_cast<double>(members.size());
    const auto wanted = static_cast<std::size_t>(std::floor(owed + 0.5));
    const bool again = kind_ == SampleKind::bagging;
    const std::size_t n = again ? wanted : std::min(wanted, members.size());
    owed -= static_cast<double>(n);
    if (!again) shuffle(members, n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = again ? below(members.size()) : i;
      const auto record = static_cast<std::size_t>(members[at]);
      const float units = units_ ? units_[record] : 1.0f;
      drawn_[record] += units;
      n_units_ += static_cast<double>(units);
    }
    if (!again) restore(members);
  }
  return drawn_.data();
}

void RuleSampler::draw(const DrawKey& key, std::int64_t n_conditions,
                       std::vector<std::int32_t>& numbers, std::size_t n,
                       std::vector<std::int32_t>& drawn) {
  seek(key, 1 + static_cast<std::uint64_t>(n_conditions));
  shuffle(numbers, n);
  drawn.assign(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(n));
  restore(numbers);
  std::sort(drawn.begin(), drawn.end());
}

}  // namespace tacit
