// Which conditions of a rule are spare: without them it would be as good.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/bits.hpp"
#include "base/parallel.hpp"
#include "rule/find_data.hpp"

namespace tacit {

struct HashConditions {
  std::size_t operator()(const std::vector<RuleCondition>& conditions) const {
    std::uint64_t h = conditions.size();
    for (const RuleCondition& c : conditions) {
      h ^= static_cast<std::uint64_t>(c.column) << 32 | static_cast<std::uint32_t>(c.code);
      h *= 0x9e3779b97f4a7c15;
      h ^= h >> 29;
    }
    return static_cast<std::size_t>(h);
  }
};

// One thread's answers to whether a rule is better than those with some of its conditions, and to
// which records it covers. Records of conditions are bitmaps, made when they are first asked for:
// the hits first, then the others. What was worked out is kept, up to a limit.
template <class Count>
class SpareConditions {
 public:
  SpareConditions(const RuleData<Count>& data, const Scorer<Count>& scorer, StopToken& token)
      : data_(data),
        scorer_(scorer),
        meter_(token),
        hit_words_(padded(data.n_hits)),
        n_words_(hit_words_ + padded(data.query->n_records - data.n_hits)) {}

  // Whether a rule with some of these conditions, but not all, has this score or a higher one. Of
  // more than kDeep conditions only one is left out at a time.
  bool any(const std::vector<RuleCondition>& conditions, double score) {
    if (conditions.size() < 2) return false;
    const bool deep = conditions.size() <= kDeep;
    for (std::size_t k = 0; k < conditions.size(); ++k) {
      const std::vector<RuleCondition> fewer = without(conditions, k);
      if ((deep ? best(fewer) : this->score(fewer)) >= score) return true;
    }
    return false;
  }

  Cover cover(const std::vector<RuleCondition>& conditions) {
    meet(conditions, conditions.size());
    if constexpr (kWeighted) drop_weightless();
    Cover cover{1, 2};
    for (std::int64_t w = 0; w < n_words_; ++w) {
      const std::uint64_t word = work_[at(w)];
      cover[0] = mix(cover[0] ^ word);
      cover[1] = mix(cover[1] + word * 0xd6e8feb86659fd93);
    }
    return cover;
  }

 private:
  static constexpr bool kWeighted = std::is_floating_point_v<Count>;
  static constexpr std::size_t kDeep = 12;
  static constexpr std::size_t kMostKept = std::size_t{1} << 18;     // conjunctions
  static constexpr std::int64_t kMostWords = std::int64_t{1} << 23;  // of bitmaps

  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  static std::int64_t padded(std::int64_t n) {
    const std::int64_t block = 64 * kPopcountWords;
    return (n + block - 1) / block * kPopcountWords;
  }
  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  static std::vector<RuleCondition> without(const std::vector<RuleCondition>& conditions,
                                            std::size_t k) {
    std::vector<RuleCondition> fewer = conditions;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
    return fewer;
  }

  // The highest score of a rule that has these conditions or some of them.
  double best(const std::vector<RuleCondition>& conditions) {
    if (conditions.size() == 1) return score(conditions);
    const auto known = best_.find(conditions);
    if (known != best_.end()) return known->second;
    double highest = score(conditions);
    for (std::size_t k = 0; k < conditions.size(); ++k)
      highest = std::max(highest, best(without(conditions, k)));
    if (best_.size() >= kMostKept) best_.clear();
    best_.emplace(conditions, highest);
    return highest;
  }

  double score(const std::vector<RuleCondition>& conditions) {
    const auto [hits, rest] = count(conditions);
    return scorer_.score(hits, hits + rest);
  }

  std::pair<Count, Count> count(const std::vector<RuleCondition>& conditions) {
    if (conditions.size() == 1) return count_one(conditions[0]);
    const std::size_t last = conditions.size() - 1;
    if constexpr (kWeighted) {
      meet(conditions, conditions.size());
      return {weigh(0, hit_words_, 0), weigh(hit_words_, n_words_, data_.n_hits)};
    } else {
      meet(conditions, last);
      const std::uint64_t* other = bits(conditions[last]);
      return {count_(work_.data(), other, hit_words_),
              count_(work_.data() + hit_words_, other + hit_words_, n_words_ - hit_words_)};
    }
  }

  std::pair<Count, Count> count_one(const RuleCondition& condition) const {
    for (const RuleColumn<Count>& column : data_.columns) {
      if (column.column != condition.column) continue;
      const auto place = std::find(column.codes.begin(), column.codes.end(), condition.code);
      const auto state = static_cast<std::size_t>(place - column.codes.begin());
      return {column.hits[state], column.rest[state]};
    }
    return {0, 0};  // never: a condition is one of a column
  }

  // Sums the weights of the records in some words, in their order.
  Count weigh(std::int64_t first, std::int64_t last, std::int64_t position) const {
    Count sum = 0;
    each(first, last, position, [&](std::int64_t p) { sum += data_.weights[at(p)]; });
    return sum;
  }

  void drop_weightless() {
    const auto drop = [&](std::int64_t first, std::int64_t last, std::int64_t position) {
      each(first, last, position, [&](std::int64_t p) {
        if (data_.weights[at(p)] != 0) return;
        const std::int64_t bit = p - position;
        work_[at(first + bit / 64)] &= ~(std::uint64_t{1} << (bit % 64));
      });
    };
    drop(0, hit_words_, 0);
    drop(hit_words_, n_words_, data_.n_hits);
  }

  template <class Body>
  void each(std::int64_t first, std::int64_t last, std::int64_t position, const Body& body) const {
    for (std::int64_t w = first; w < last; ++w)
      for (std::uint64_t word = work_[at(w)]; word; word &= word - 1)
        body(position + 64 * (w - first) + std::countr_zero(word));
  }

  // Puts the records of the first n conditions into work_.
  void meet(const std::vector<RuleCondition>& conditions, std::size_t n) {
    meter_.spend(static_cast<std::int64_t>(n) * n_words_ / 4);
    const std::uint64_t* first = bits(conditions[0]);
    work_.assign(first, first + n_words_);
    for (std::size_t k = 1; k < n; ++k) {
      const std::uint64_t* other = bits(conditions[k]);
      for (std::int64_t w = 0; w < n_words_; ++w) work_[at(w)] &= other[w];
    }
  }

  // The bitmap of a condition; others may be gone then.
  const std::uint64_t* bits(const RuleCondition& condition) {
    const auto known = bits_.find({condition});
    if (known != bits_.end()) return known->second.data();
    const auto most = std::max(kMostWords / std::max(n_words_, std::int64_t{1}), std::int64_t{8});
    if (static_cast<std::int64_t>(bits_.size()) >= most) bits_.clear();
    std::vector<std::uint64_t>& words = bits_[{condition}];
    const RuleQuery& q = *data_.query;
    const std::int64_t absent = q.defaults[condition.column];
    const bool is_default = condition.code == absent;
    words.assign(at(n_words_), 0);
    const auto flip = [&](std::int64_t position) {
      const bool hit = position < data_.n_hits;
      const std::int64_t bit = hit ? position : position - data_.n_hits;
      words[at((hit ? 0 : hit_words_) + bit / 64)] ^= std::uint64_t{1} << (bit % 64);
    };
    std::int64_t first = q.offsets[condition.column], last = q.offsets[condition.column + 1];
    if (is_default) {
      for (std::int64_t p = 0; p < q.n_records; ++p) flip(p);
    } else {
      first += condition.code - (condition.code > absent);
      last = first + 1;
    }
    for (std::int64_t k = q.start[first]; k < q.start[last]; ++k)
      flip(data_.position[at(q.rows[k])]);
    meter_.spend(n_words_ + q.start[last] - q.start[first] + (is_default ? q.n_records : 0));
    return words.data();
  }

  const RuleData<Count>& data_;
  const Scorer<Count>& scorer_;
  Meter meter_;
  const std::int64_t hit_words_, n_words_;
  AndPopcount count_ = and_popcount();
  std::vector<std::uint64_t> work_;
  std::unordered_map<std::vector<RuleCondition>, double, HashConditions> best_;
  std::unordered_map<std::vector<RuleCondition>, std::vector<std::uint64_t>, HashConditions> bits_;
};

}  // namespace tacit
