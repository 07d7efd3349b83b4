// Which engine is to answer a question: reading records, bitmaps, or the tree.
//
// What an engine will take is a formula in records, columns and cells, times a factor for questions
// of that shape which is learnt from the times that such questions took. The tree may have to grow
// first. It has nodes for every subset of a question's columns, so growth is kept account of by
// subsets: each answer without the tree is paid in, in proportion to what its subsets still need,
// and once what is left costs no more than doing without, the tree grows. Questions that share
// columns pay for the same subsets. Of a batch all questions pay in beforehand.
//
// A decision takes O(2^columns) for at most four columns, O(1) beyond that as a rule. Counts do not
// depend on it.
#pragma once

#include <array>
#include <mutex>
#include <vector>

#include "engine/adtree.hpp"
#include "engine/bitmaps.hpp"
#include "engine/scan.hpp"

namespace tacit {

// What subsets of columns have been paid in, by hash; an open table.
class Ledger {
 public:
  struct Entry {
    std::uint64_t key = 0;  // 0: free
    float paid = 0;
    bool grown = false;
  };
  const Entry* look(std::uint64_t key) const;
  Entry& at(std::uint64_t key);
  void clear();

 private:
  std::vector<Entry> entries_ = std::vector<Entry>(1024);
  std::size_t used_ = 0;
};

class Planner : public Engine {
 public:
  enum Kind { kScan, kBitmaps, kTree };
  struct Costs {  // nanoseconds; infinite where an engine is out of the question
    double scan, bitmaps, answer, growth;
    Kind kind;
  };

  // bitmap_limit: bytes of bitmaps. The tree has a limit of its own.
  Planner(std::shared_ptr<const ColumnStore> store, std::shared_ptr<Scan> scan,
          std::shared_ptr<Bitmaps> bitmaps, std::shared_ptr<Tree> tree, std::int64_t bitmap_limit);

  void dense(const Question& question, Result out, Poll poll) override;
  SparseCells sparse(const Question& question, Poll poll) override;
  void dense_many(const std::int64_t* columns, const std::int64_t* starts,
                  const std::int64_t* offsets, std::size_t n_sets,
                  const std::vector<Condition>& given, Result out, Poll poll) override;
  std::int64_t bytes() const override;

  Costs plan(const Question& question) const;  // as things are; changes nothing

 private:
  static constexpr std::size_t kMostColumns = 8, kShapes = 16;

  // One column of a question: how it goes on below it, in the tree's order.
  struct Step {
    std::int64_t column, position;
    double passing;            // the fraction of records that nodes below it have
    double children;           // and how many there are
    bool only;                 // nothing but these children is looked at
    std::uint64_t key, whole;  // of this column with its condition, and without
  };
  struct Need {
    std::uint64_t key;
    double cost;
  };
  struct Asked {
    std::array<Step, kMostColumns> steps;
    std::size_t n = 0;
    std::size_t shape;
    double base[3];  // by formula alone
    double cost[3];  // times the factor
    double growth = 0, uncovered = 0;
    std::vector<Need> needs;  // what the tree has yet to grow
  };
  struct Factor {
    double value = 1;
    std::int64_t n = 0;
    void learn(double ratio);
  };

  Asked look_at(const Question& question) const;
  void price(Asked& asked) const;
  double read_cost(const Question& question, double cells, double matching) const;
  double bitmap_cost(const Question& question, double cells) const;
  bool take_stock(Asked& asked, bool all) const;
  Kind choose(Asked& asked, bool batch);
  Kind pick(Asked& asked, bool batch, bool all) const;
  void pay(const Asked& asked, double amount);
  void learn(const Asked& asked, Kind kind, double nanoseconds);
  void settle(const Asked& asked, bool grown);
  void answer(const Question& question, Asked& asked, Kind kind, Result out, Poll poll);
  template <class Ask>
  void timed(Asked& asked, Kind kind, const Ask& ask);

  std::shared_ptr<Scan> scan_;
  std::shared_ptr<Bitmaps> bitmaps_;
  std::shared_ptr<Tree> tree_;
  std::int64_t bitmap_limit_;
  std::vector<double> rarer_;  // the fraction of records without the most common value
  std::vector<std::int64_t> common_;
  mutable std::mutex mutex_;  // of all below
  Ledger ledger_;
  std::int64_t evictions_ = 0;
  std::array<Factor, 3> overall_;
  std::array<std::array<Factor, kMostColumns * kShapes * 2>, 3> by_shape_;
  Factor growing_;
};

}  // namespace tacit
