// A directed graph without cycles, and which arcs it could gain, lose or turn round.
#pragma once

#include <cstdint>
#include <vector>

#include "net/families.hpp"

namespace tacit {

class NetGraph {
 public:
  explicit NetGraph(std::vector<Parents> parents);

  int size() const { return static_cast<int>(parents_.size()); }
  const std::vector<Parents>& all() const { return parents_; }
  const Parents& parents(int x) const { return parents_[static_cast<std::size_t>(x)]; }
  bool has(int from, int to) const;
  bool reaches(int from, int to) const {  // along arcs; a column reaches itself
    return reach_[row(from) + static_cast<std::size_t>(to / 64)] >> (to % 64) & 1;
  }
  bool can_add(int from, int to) const { return !reaches(to, from); }
  bool can_turn(int from, int to) const;  // no other way leads from one to the other
  // Turning a covered arc leaves the same independences: both ends have the same other parents.
  bool is_covered(int from, int to) const;

  void add(int from, int to);
  void remove(int from, int to);
  void turn(int from, int to);
  // Two columns change places: each gets the other's parents and children.
  std::vector<Parents> swapped(int a, int b) const;

 private:
  std::size_t row(int x) const { return static_cast<std::size_t>(x) * words_; }
  void find_ways();

  std::vector<Parents> parents_;
  std::size_t words_;
  std::vector<std::uint64_t> reach_;
};

}  // namespace tacit
