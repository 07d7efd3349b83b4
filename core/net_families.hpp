// Families and what they score, each worked out once.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "net_data.hpp"
#include "net_score.hpp"
#include "parallel.hpp"

namespace tacit {

using Parents = std::vector<int>;  // ascending

// The scores of a column with its parents, and with every other set that is one arc away.
struct NetFamily {
  double own;
  std::vector<double> with;     // by column: with it as one more parent; -inf if that cannot be
  std::vector<double> without;  // by place among the parents
};

class NetFamilies {
 public:
  NetFamilies(const NetTable& table, NetScoreKind kind, double prior_weight);

  const NetData& data() const { return data_; }
  std::int64_t n_scored() const { return n_scored_; }

  // A reference holds until the next call of prepare() or forget().
  const NetFamily& family(int child, const Parents& parents);
  double score(int child, const Parents& parents);  // of one family alone

  // Works out families of which several will be asked for, on n_jobs threads.
  void prepare(const std::vector<std::pair<int, Parents>>& wanted, int n_jobs, Poll poll);
  void forget_if_large();

 private:
  using Key = std::vector<int>;  // the child, then its parents
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  static Key key_of(int child, const Parents& parents);
  NetFamily work_out(int child, const Parents& parents, std::int64_t& n_scored) const;
  double states_of(const Parents& parents) const;
  // Of counts by parent state and child code. Where records are left out because something in them
  // is not known, the family is credited with what it gains, on the records that it has, over the
  // child alone; two families are never compared by how lucky their records are.
  double score_counts(int child, const double* counts, std::int64_t n_rows, double q,
                      std::vector<double>& room) const;

  NetData data_;
  NetScore score_;
  std::vector<std::vector<double>> alone_;  // counts of each column, where some are not known
  std::unordered_map<Key, std::unique_ptr<NetFamily>, Hash> families_;
  std::unordered_map<Key, double, Hash> singles_;
  std::int64_t n_scored_ = 0;
};

}  // namespace tacit
