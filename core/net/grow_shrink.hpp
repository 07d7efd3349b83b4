// The parents that a column takes of those that come before it. Whatever was found on the way is
// remembered, as in grow-shrink trees (Andrews and others).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "net/families.hpp"

namespace tacit {

// Which columns come before a column.
class ColumnSet {
 public:
  explicit ColumnSet(int n) : words_((static_cast<std::size_t>(n) + 63) / 64, 0) {}
  bool has(int c) const { return words_[static_cast<std::size_t>(c / 64)] >> (c % 64) & 1; }
  void add(int c) { words_[static_cast<std::size_t>(c / 64)] |= std::uint64_t{1} << (c % 64); }
  void remove(int c) {
    words_[static_cast<std::size_t>(c / 64)] &= ~(std::uint64_t{1} << (c % 64));
  }

 private:
  std::vector<std::uint64_t> words_;
};

struct Grown {
  double score;
  Parents parents;
};

// What an answer depends on: the columns that were parents on the way, and those that would have
// been had they been at hand. Any other column can come or go.
struct Reasons {
  ColumnSet used, wanted;
};

// A climb over sets of parents: one is added as long as that raises the score, the best first; then
// one is taken away, likewise; then one takes the place of another.
class GrowShrink {
 public:
  // `forbidden` and `required` are [from · n + to].
  GrowShrink(NetFamilies& families, int max_parents, const std::uint8_t* forbidden,
             const std::uint8_t* required);

  // A reference holds until forget(). O(parents) look-ups with what is remembered.
  const Grown& best(int child, const ColumnSet& before, Reasons* reasons = nullptr);
  void forget();

 private:
  struct Node;
  struct Move {
    double score;
    int gone, next;  // columns, or -1
    Node* to;        // once it was made
  };
  struct Moves {  // those that raise the score, the best first
    bool known = false;
    std::vector<Move> list;
  };
  struct Node {
    Grown here;
    Moves grow, shrink, replace;
  };

  Node* node_of(int child, const Parents& parents, double score);
  void find_growth(int child, Node& node);
  void find_shrinkage(int child, Node& node);
  void find_replacements(int child, Node& node);
  Node* take(int child, Node& node, Moves& moves, const ColumnSet& before, Reasons* reasons);
  bool may(int from, int to) const { return !forbidden_[at(from, to)]; }
  bool must(int from, int to) const { return required_[at(from, to)]; }
  std::size_t at(int from, int to) const {
    return static_cast<std::size_t>(from) * static_cast<std::size_t>(n_) +
           static_cast<std::size_t>(to);
  }

  NetFamilies& families_;
  int n_, max_parents_;
  const std::uint8_t *forbidden_, *required_;
  double noise_;
  NetMap<std::unique_ptr<Node>> nodes_;
  std::vector<Node*> roots_;
};

}  // namespace tacit
