// Which records, and which columns, a rule may learn from.
#pragma once

#include <cstdint>
#include <vector>

namespace tacit {

enum class SampleKind { none, bagging, subsample };

// What a draw is for. It follows from the seed and from this alone, and not from draws before: who
// goes on with rules that are there already draws what one fit would have drawn.
struct DrawKey {
  std::uint64_t rule = 0;   // how many rules there were when the output last changed
  std::uint64_t view = 0;   // whose sample it is; 0 for that of all
  std::uint64_t trial = 0;  // how many draws for it came to nothing
};

class RuleSampler {
 public:
  // `units`: how often each record counts, or null for once. `strata`: records of each are drawn by
  // the same fraction; null for one stratum.
  RuleSampler(SampleKind kind, double fraction, std::int64_t n_records, const float* units,
              const std::int32_t* strata, std::uint64_t seed);

  // How often each record counts for a rule; null if none are drawn, and all count as ever.
  const float* draw_records(const DrawKey& key);
  double n_units() const { return n_units_; }  // the sum of the same

  // Draws n of some numbers for the next of so many conditions, and sorts those drawn. The numbers
  // are shuffled meanwhile.
  void draw(const DrawKey& key, std::int64_t n_conditions, std::vector<std::int32_t>& numbers,
            std::size_t n, std::vector<std::int32_t>& drawn);

 private:
  void seek(const DrawKey& key, std::uint64_t step);
  std::uint64_t below(std::uint64_t n);
  void shuffle(std::vector<std::int32_t>& numbers, std::size_t n);  // the first n
  void restore(std::vector<std::int32_t>& numbers);

  SampleKind kind_;
  double fraction_, n_units_ = 0;
  const float* units_;
  std::uint64_t seed_, stream_ = 0, counter_ = 0;
  std::vector<std::size_t> swaps_;  // of the last shuffle
  std::vector<std::vector<std::int32_t>> strata_;
  std::vector<float> drawn_;
};

}  // namespace tacit
