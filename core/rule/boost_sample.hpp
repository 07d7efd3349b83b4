// Which records, and which columns, a rule may learn from.
#pragma once

#include <cstdint>
#include <vector>

namespace tacit {

enum class SampleKind { none, bagging, subsample };

class RuleSampler {
 public:
  // `units`: how often each record counts, or null for once. `strata`: records of each are drawn by
  // the same fraction; null for one stratum.
  RuleSampler(SampleKind kind, double fraction, std::int64_t n_records, const float* units,
              const std::int32_t* strata, std::uint64_t seed);

  // How often each record counts for the next rule; null if none are drawn, and all count as ever.
  const float* draw_records();
  double n_units() const { return n_units_; }  // the sum of the same

  // Draws n of some numbers, which it shuffles, and sorts those drawn.
  void draw(std::vector<std::int32_t>& numbers, std::size_t n, std::vector<std::int32_t>& drawn);

 private:
  std::uint64_t below(std::uint64_t n);

  SampleKind kind_;
  double fraction_, n_units_ = 0;
  const float* units_;
  std::uint64_t seed_, counter_ = 0;
  std::vector<std::vector<std::int32_t>> strata_;
  std::vector<float> drawn_;
};

}  // namespace tacit
