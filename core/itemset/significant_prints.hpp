// What tells sets of records apart, and p-values that were computed before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "itemset/significant_test.hpp"

namespace tacit {

// 128 bits that say which records a set is: two sets share them by accident never in practice.
struct Print {
  std::uint64_t a = 0, b = 0;
  bool operator==(const Print&) const = default;
};
struct HashPrint {
  std::size_t operator()(const Print& print) const { return static_cast<std::size_t>(print.a); }
};

inline std::uint64_t mix_bits(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// Sets of records that were met before, on whichever thread.
class Met {
 public:
  explicit Met(std::int64_t n_records) : prints_(static_cast<std::size_t>(n_records)) {
    for (std::size_t r = 0; r < prints_.size(); ++r) {
      prints_[r].a = mix_bits((r + 1) * 0x9E3779B97F4A7C15u);
      prints_[r].b = mix_bits(prints_[r].a + 0x632BE59BD9B4E019u);
    }
  }

  Print print_of(const std::int32_t* records, std::int64_t n) const {
    Print print;
    for (std::int64_t k = 0; k < n; ++k) {
      const Print& one = prints_[static_cast<std::size_t>(records[k])];
      print.a += one.a;
      print.b += one.b;
    }
    return print;
  }
  bool insert(const Print& print) {
    Shard& shard = shards_[print.b % kShards];
    const std::lock_guard<std::mutex> lock(shard.mutex);
    return shard.prints.insert(print).second;
  }

 private:
  static constexpr std::size_t kShards = 64;
  struct Shard {
    std::mutex mutex;
    std::unordered_set<Print, HashPrint> prints;
  };
  std::vector<Print> prints_;  // what each record adds
  Shard shards_[kShards];
};

// The p-values that were asked for of late: conjunctions of the same records come again and again.
class RecentP {
 public:
  double log_p(const MarginTest& test, std::int64_t support, std::int64_t positives) {
    Known& known = known_[mix_bits(static_cast<std::uint64_t>(support) << 32 |
                                   static_cast<std::uint64_t>(positives)) %
                          kKnown];
    if (known.support != support || known.positives != positives)
      known = {support, positives, test.log_p(support, positives)};
    return known.log_p;
  }

 private:
  static constexpr std::size_t kKnown = 1 << 12;
  struct Known {
    std::int64_t support = -1, positives = -1;
    double log_p = 0;
  };
  std::vector<Known> known_ = std::vector<Known>(kKnown);
};

}  // namespace tacit
