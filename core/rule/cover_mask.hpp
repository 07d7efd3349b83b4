// Which records a rule covers, without ever listing those that it cannot see.
//
// A value for each record and an indicator: a record is covered if its value is the indicator. A
// condition that the default value fails lists whom it covers: they and the indicator get the
// number of the condition. One that the default value satisfies lists whom it does not cover:
// they get that number, and the indicator stays.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "rule/columns.hpp"

namespace tacit {

class CoverMask {
 public:
  static constexpr int kMostConditions = 255;

  explicit CoverMask(std::int64_t n_records) : values_(static_cast<std::size_t>(n_records), 0) {}

  void reset() {
    if (n_conditions_ > 0) std::memset(values_.data(), 0, values_.size());
    indicator_ = 0;
    n_conditions_ = 0;
    listed_ = false;
    list_.clear();
  }

  bool covers(std::int64_t record) const {
    return values_[static_cast<std::size_t>(record)] == indicator_;
  }
  std::uint8_t indicator() const { return indicator_; }
  int n_conditions() const { return n_conditions_; }
  const std::vector<std::uint8_t>& values() const { return values_; }

  // Begins with the next condition; lists of those that it keeps or drops follow, each by one call
  // of mark(), and then kept() if they were kept.
  std::uint8_t next() {
    if (n_conditions_ == kMostConditions) throw std::length_error("a rule has too many conditions");
    fresh_.clear();
    return static_cast<std::uint8_t>(++n_conditions_);
  }
  void mark(const std::int32_t* records, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto record = static_cast<std::size_t>(records[i]);
      if (values_[record] != indicator_) continue;
      values_[record] = static_cast<std::uint8_t>(n_conditions_);
      fresh_.push_back(records[i]);
    }
  }
  void kept() {
    indicator_ = static_cast<std::uint8_t>(n_conditions_);
    listed_ = true;
    list_.swap(fresh_);
    fresh_.clear();
  }
  // Whom the last condition took out, if it listed them.
  const std::vector<std::int32_t>& dropped() const { return fresh_; }
  bool last_kept() const { return indicator_ == n_conditions_; }  // listed whom it covers instead
  bool listed() const { return listed_; }  // whether all who are covered were listed once

  // Adds a condition, by whichever strategy touches no record of the default value.
  void add(const RuleColumns& columns, const RuleCondition& condition);

  // Calls body(record) for each record covered; only records listed once are looked at, if any.
  template <class Body>
  void for_each(const Body& body) const {
    if (listed_) {
      for (const std::int32_t record : list_)
        if (values_[static_cast<std::size_t>(record)] == indicator_) body(record);
      return;
    }
    const auto n = static_cast<std::int32_t>(values_.size());
    for (std::int32_t record = 0; record < n; ++record)
      if (values_[static_cast<std::size_t>(record)] == indicator_) body(record);
  }
  // At most so many records are covered.
  std::int64_t at_most() const {
    return static_cast<std::int64_t>(listed_ ? list_.size() : values_.size());
  }

 private:
  std::vector<std::uint8_t> values_;
  std::uint8_t indicator_ = 0;
  int n_conditions_ = 0;
  bool listed_ = false;  // whether list_ holds all who are covered
  std::vector<std::int32_t> list_, fresh_;
};

}  // namespace tacit
