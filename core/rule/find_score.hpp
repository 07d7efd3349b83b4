// How rules are scored and ranked, and which branches of the search cannot hold a good one.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tacit {

enum class Measure { confidence, lift, leverage, wilson };

struct RuleCondition {
  std::int32_t column, code;
  auto operator<=>(const RuleCondition&) const = default;
};

// Which records a rule covers, in 128 bits: other records have another, but for one chance in 2^128.
using Cover = std::array<std::uint64_t, 2>;

template <class Count>
struct FoundRule {
  double score;
  std::int64_t excess;  // of whole counts and by leverage: the score times all records, not rounded
  Count support, hits;
  std::vector<RuleCondition> conditions;  // ascending by column
  Cover cover;                            // zeros unless rules of the same records are one

  // The order of rules: by score, support, fewer conditions, columns, codes. No two are equal.
  bool operator<(const FoundRule& other) const {
    if (score != other.score) return score > other.score;
    if (excess != other.excess) return excess > other.excess;
    if (support != other.support) return support > other.support;
    if (conditions.size() != other.conditions.size())
      return conditions.size() < other.conditions.size();
    for (std::size_t k = 0; k < conditions.size(); ++k)
      if (conditions[k].column != other.conditions[k].column)
        return conditions[k].column < other.conditions[k].column;
    return conditions < other.conditions;
  }
};

template <class Count>
struct Scorer {
  Measure measure;
  double rate;  // fraction of hits among all records
  double z;
  double min_support;
  Count total, total_hits;

  // hits · total − support · total_hits: leverage in whole numbers, which tie exactly where they
  // should. Below 2^62, as there are fewer than 2^31 records; 0 for other measures and for weights.
  std::int64_t excess(Count hits, Count support) const {
    if constexpr (std::is_floating_point_v<Count>)
      return 0;
    else
      return measure == Measure::leverage ? hits * total - support * total_hits : 0;
  }

  // Grows with hits; falls with support where hits stay the same. Each step is one rounding, so
  // that the same formula elsewhere gives the same double.
  double score(Count hits, Count support) const {
    const double h = static_cast<double>(hits), s = static_cast<double>(support);
    const double confidence = h / s;
    switch (measure) {
      case Measure::lift:
        return confidence / rate;
      case Measure::leverage:
        return static_cast<double>(hits * total - support * total_hits) /
               static_cast<double>(total);
      case Measure::wilson: {
        if (hits == 0) return 0;  // and not what rounding leaves of it
        const double zz = z * z;
        const double spread = confidence * (1 - confidence) / s + zz / (4 * s * s);
        return (confidence + zz / (2 * s) - z * std::sqrt(spread)) / (1 + zz / s);
      }
      case Measure::confidence:
        break;
    }
    return confidence;
  }

  // No rule with at most `hits` hits and enough support has a higher score than this one, which
  // has no other records than hits unless those are too few.
  double bound(Count hits) const {
    const Count support = least_support(hits);
    const double score = this->score(hits, support);
    if (measure == Measure::leverage)
      return score + 1e-12 * static_cast<double>(total);  // more than is ever rounded
    if (measure == Measure::wilson) return score + 1e-12;
    return score;  // monotone in floating point, too
  }

  Count least_support(Count hits) const {
    if constexpr (std::is_floating_point_v<Count>)
      return std::max(hits, min_support);
    else
      return std::max(hits, static_cast<Count>(std::ceil(min_support)));
  }
};

// The best rules so far, shared by all threads. Of rules that cover the same records the first is
// kept, unless covers are zeros.
template <class Count>
class BestRules {
 public:
  explicit BestRules(std::size_t n_rules) : n_rules_(n_rules) {}

  void offer(FoundRule<Count>&& rule) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const bool full = best_.size() == n_rules_;
    if (full && !(rule < *best_.rbegin())) return;
    const bool unique = rule.cover != Cover{};
    if (unique) {
      const auto same = of_cover_.find(rule.cover);
      if (same != of_cover_.end()) {  // as good, and full or not as before
        if (rule < *same->second) {
          best_.erase(same->second);
          same->second = best_.insert(std::move(rule)).first;
          if (full) version_.fetch_add(1, std::memory_order_release);
        }
        return;
      }
    }
    if (full) {
      const auto last = std::prev(best_.end());
      of_cover_.erase(last->cover);
      best_.erase(last);
    }
    const auto place = best_.insert(std::move(rule)).first;
    if (unique) of_cover_.emplace(place->cover, place);
    if (best_.size() == n_rules_) version_.fetch_add(1, std::memory_order_release);
  }

  // Changes whenever the last place among the best gets better.
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

  // Score, excess and support of the rule in last place; only once version() is not 0.
  std::tuple<double, std::int64_t, Count> last() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const FoundRule<Count>& rule = *best_.rbegin();
    return {rule.score, rule.excess, rule.support};
  }

  std::vector<FoundRule<Count>> sorted() const { return {best_.begin(), best_.end()}; }

 private:
  const std::size_t n_rules_;
  std::set<FoundRule<Count>> best_;
  std::map<Cover, typename std::set<FoundRule<Count>>::const_iterator> of_cover_;
  mutable std::mutex mutex_;
  std::atomic<std::uint64_t> version_{0};
};

template <class Count>
class SpareConditions;  // rule/find_spare.hpp

// What it takes to be among the best: one thread's copy of the last place, as thresholds that are
// cheap to compare with. A rule that ties with the last place passes; BestRules decides.
template <class Count>
class Bar {
 public:
  // `spare` is null where rules may have spare conditions.
  Bar(const Scorer<Count>& scorer, BestRules<Count>& best, SpareConditions<Count>* spare)
      : scorer_(scorer), best_(best), spare_(spare) {
    least_support_ = scorer.least_support(0);
  }

  void refresh() {
    const std::uint64_t version = best_.version();
    if (version == version_) return;
    version_ = version;
    std::tie(score_, excess_, support_) = best_.last();
    raise_hits();
    constexpr double kSlack = 1 - 1e-9;
    offset_ = 0;
    switch (scorer_.measure) {
      case Measure::confidence:
        slope_ = score_ * kSlack;
        break;
      case Measure::wilson:
        slope_ = score_ - 1e-9;
        break;  // its bound is below confidence
      case Measure::lift:
        slope_ = score_ * scorer_.rate * kSlack;
        break;
      case Measure::leverage:
        slope_ = scorer_.rate;
        offset_ = score_ - 1e-9 * static_cast<double>(scorer_.total);
        break;
    }
  }

  // Whether conditions with this support and these hits can lead to a good rule.
  bool open(Count support, Count hits) const { return support >= least_support_ && hits >= hits_; }
  // The same where only the hits are known yet.
  bool open(Count hits) const { return hits >= hits_; }
  // Whether a rule with at most so many hits and at least so many other records can be good. All
  // measures grow with hits and fall with other records, and so does what the line leaves.
  bool within_reach(double hits, double rest) const {
    return hits >= slope_ * (hits + rest) + offset_;
  }

  template <class Conditions>
  void offer(Count support, Count hits, const Conditions& conditions) {
    const double h = static_cast<double>(hits), s = static_cast<double>(support);
    if (h < slope_ * s + offset_) return;
    const double score = scorer_.score(hits, support);
    const std::int64_t excess = scorer_.excess(hits, support);
    if (version_ &&
        (score < score_ || (score == score_ && excess == excess_ && support < support_)))
      return;
    FoundRule<Count> rule{score, excess, support, hits, {conditions.begin(), conditions.end()}, {}};
    std::sort(rule.conditions.begin(), rule.conditions.end());
    if (spare_) {
      if (spare_->any(rule.conditions, score)) return;
      rule.cover = spare_->cover(rule.conditions);
    }
    best_.offer(std::move(rule));
    refresh();
  }

 private:
  // Finds the least number of hits with which a rule can reach the last place.
  void raise_hits() {
    Count low = hits_, high = static_cast<Count>(scorer_.total);  // below low none can
    if constexpr (std::is_floating_point_v<Count>) {
      for (int step = 0; step < 60 && low < high; ++step) {
        const Count middle = low + (high - low) / 2;
        (hopeless(middle) ? low : high) = middle;
      }
    } else {
      while (low < high) {
        const Count middle = low + (high - low) / 2;
        if (hopeless(middle))
          low = middle + 1;
        else
          high = middle;
      }
    }
    hits_ = low;
  }

  bool hopeless(Count hits) const {
    const double bound = scorer_.bound(hits);
    if (bound != score_) return bound < score_;
    // A score as high as this one takes as few other records, so that support is known, too. Not
    // without hits: then all scores are 0. And sums of weights are rounded and say nothing of the
    // kind.
    if (std::is_floating_point_v<Count> || hits == 0 || scorer_.measure == Measure::leverage ||
        scorer_.measure == Measure::wilson)
      return false;
    return scorer_.least_support(hits) < support_;
  }

  const Scorer<Count>& scorer_;
  BestRules<Count>& best_;
  SpareConditions<Count>* const spare_;
  std::uint64_t version_ = 0;
  double score_ = 0;
  std::int64_t excess_ = 0;
  Count support_ = 0;
  Count hits_ = 0, least_support_;
  double slope_ = 0, offset_ = -std::numeric_limits<double>::infinity();
};

}  // namespace tacit
