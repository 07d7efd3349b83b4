// Families and what they score, each worked out once.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/parallel.hpp"
#include "net/counts.hpp"
#include "net/data.hpp"
#include "net/score.hpp"

namespace tacit {

// The scores of a column with its parents, and with every other set that is one arc away.
struct NetFamily {
  double score;
  std::vector<double> with;     // by column: with it as one more parent; -inf if that must not be
  std::vector<double> without;  // by position among the parents
  std::int64_t n_scored;
};

using NetKey = std::vector<int>;  // the child, then its parents
struct NetKeyHash {
  std::size_t operator()(const NetKey& key) const;
};
template <class T>
using NetMap = std::unordered_map<NetKey, T, NetKeyHash>;
NetKey key_of(int child, const Parents& parents);

// Turns counts into scores.
class NetScorer {
 public:
  NetScorer(const NetColumns& columns, NetScore score) : columns_(columns), score_(score) {}

  const NetColumns& columns() const { return columns_; }
  const NetScore& score() const { return score_; }
  void set_total(double total) { score_.total = total; }
  // Where values may be missing: the counts of each column, to compare families by.
  void set_alone(std::vector<std::vector<double>> alone) { alone_ = std::move(alone); }

  // Of counts by parent state and child code. Where records are left out because something in them
  // is not known, the family is credited with what it gains, on the records that it has, over the
  // child alone; two families are never compared by how lucky their records are.
  double counts(int child, const double* counts, std::int64_t n_rows, double q,
                std::vector<double>& room) const;

  // A family with its score, and those without one parent; `rest` scores families of which a
  // parent that may be missing was left out, because records that lack it count again then.
  NetFamily begin(int child, const Parents& parents, std::int64_t n_states,
                  const std::uint16_t* state_codes, const double* counts,
                  const std::function<double(const Parents&)>& rest) const;
  // Adds the score with one more parent: cells as NetGroups::count_with has them.
  void add(NetFamily& family, int child, const Parents& parents, std::int64_t n_states, int other,
           const double* cells, std::vector<double>& room) const;
  // Whether that is worth counting at all.
  bool can_add(int child, const Parents& parents, std::int64_t n_states, int other) const;
  static bool too_large(std::int64_t n_states, int arity, double q) {
    return q > kMostStates || 1.0 * static_cast<double>(n_states) * arity > NetGroups::kMostCells;
  }

 private:
  NetColumns columns_;
  NetScore score_;
  std::vector<std::vector<double>> alone_;  // counts of each column, where some are not known
};

// What the search asks.
class NetFamilies {
 public:
  virtual ~NetFamilies() = default;

  const NetColumns& columns() const { return scorer_.columns(); }
  double total() const { return scorer_.score().total; }
  const NetScorer& scorer() const { return scorer_; }
  // Scores are small differences of sums as large as n log n: they are rounded by less than this.
  double noise() const { return 4e-12 * total() * std::log(total() + 2.0); }
  std::int64_t n_scored() const { return n_scored_; }
  // Families with as many parents as that are not looked at with one more.
  void set_max_parents(int most) { max_parents_ = most; }

  // A reference holds until the next call of prepare() or forget_if_large().
  virtual const NetFamily& family(int child, const Parents& parents) = 0;
  virtual double score(int child, const Parents& parents) = 0;  // of one family alone
  virtual std::vector<double> scores(const std::vector<std::pair<int, Parents>>& wanted);

  // Works out families of which several will be asked for, on n_jobs threads.
  virtual void prepare(const std::vector<std::pair<int, Parents>>& wanted, int n_jobs,
                       Poll poll) = 0;
  virtual bool forget_if_large();  // whether it did

 protected:
  bool is_large(std::size_t n_families, std::size_t n_singles) const;
  explicit NetFamilies(NetScorer scorer) : scorer_(std::move(scorer)) {}

  bool has_room(const Parents& parents) const {
    return parents.size() < static_cast<std::size_t>(max_parents_);
  }

  NetScorer scorer_;
  int max_parents_ = std::numeric_limits<int>::max();
  NetMap<std::unique_ptr<NetFamily>> families_;
  NetMap<double> singles_;
  std::int64_t n_scored_ = 0;
};

// Families of records in memory.
class HeldFamilies final : public NetFamilies {
 public:
  HeldFamilies(const NetTable& table, NetScoreKind kind, double prior_weight);

  const NetData& data() const { return data_; }
  const NetFamily& family(int child, const Parents& parents) override;
  double score(int child, const Parents& parents) override;
  void prepare(const std::vector<std::pair<int, Parents>>& wanted, int n_jobs, Poll poll) override;

 private:
  HeldFamilies(NetData data, NetScoreKind kind, double prior_weight);
  NetFamily work_out(int child, const Parents& parents) const;

  NetData data_;
};

}  // namespace tacit
