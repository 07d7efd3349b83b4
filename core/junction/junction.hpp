// Exact inference in Bayes nets by messages in a junction tree.
//
// Collecting sends a message from every clique to its parent: the product of its tables and of the
// messages from below, summed over what the parent does not have. Distributing goes back down and
// leaves each clique, and so each column and family, with its distribution given the evidence.
// Cliques are gone through block by block and never stored; only messages are, each divided by its
// largest value so that nothing underflows. Logarithms of those values add up to the evidence's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/records.hpp"
#include "junction/plan.hpp"

namespace tacit {

// Evidence that cannot occur.
constexpr double kImpossible = -std::numeric_limits<double>::infinity();

// One question's run through its plan. codes: -1 where a column is not observed. Every answer
// returns the logarithm of the evidence's probability, or kImpossible, and then writes nothing
// that is of use.
class JunctionRun {
 public:
  JunctionRun(const JunctionNet& net, const JunctionPlan& plan, StopToken& token);

  double evidence(const std::int32_t* codes);
  // P(targets | evidence), an axis for each free target in turn.
  double joint(const std::int32_t* codes, double* out);
  // Every column's distribution, one after another. O(cells of all cliques).
  double marginals(const std::int32_t* codes, double* out);
  // Adds weight · P(family | evidence) to a table for each family, laid out as the net's own.
  double families(const std::int32_t* codes, double weight, double* out);
  // The most probable values of all columns; returns the logarithm of P(values, evidence). Of
  // equally probable ones, those that come first in the order of the plan.
  double most_probable(const std::int32_t* codes, std::int32_t* out);
  // n records given the evidence. The number drawn for a record and a clique is a function of the
  // seed and of both, so it depends neither on n nor on threads.
  double sample(const std::int32_t* codes, std::uint64_t seed, std::size_t n, std::int32_t* out,
                int n_jobs, Poll poll);

 private:
  enum class Asked { kMarginals, kFamilies };

  bool collect(const std::int32_t* codes, bool with_roots);
  bool weigh_observed();
  void fold(std::size_t clique);
  void lift(double* table, std::size_t n);
  double settle(double* table, std::size_t n);
  bool send_up(std::size_t clique);
  bool distribute(Asked asked, double weight, double* out);
  void set_factors(const PlannedClique& clique, bool with_down);
  void set_targets(const PlannedClique& clique, Asked asked, double* out);
  void give_families(const PlannedClique& clique, double weight, double* out);
  void send_down(std::size_t child, Asked asked, double* out);
  std::size_t observed_cell(const ObservedAxes& axes) const;
  void residual_products(const PlannedClique& clique, const std::int32_t* codes,
                         std::vector<double>& out) const;
  Buffer<double> cumulated_products(const PlannedClique& clique);

  const JunctionNet& net_;
  const JunctionPlan& plan_;
  Meter meter_;
  Buffer<double> arena_;
  PassScratch scratch_;
  std::vector<double> tables_;  // families of one clique
  std::vector<std::int64_t> lifts_;
  std::vector<double> log_scale_;  // by clique: what was divided out there and below
  const std::int32_t* codes_ = nullptr;
  double log_evidence_ = 0;
};

// A net with the plans of the last few questions, for any number of threads.
class JunctionTree {
 public:
  JunctionTree(JunctionNet net, JunctionLimits limits, Poll poll);

  const JunctionNet& net() const { return net_; }
  const std::vector<std::uint32_t>& order() const { return order_; }
  const JunctionNeeds& needs() const { return needs_; }

  std::shared_ptr<const JunctionPlan> plan(JunctionTask task, const std::int32_t* codes,
                                           const std::vector<std::uint32_t>& targets, Poll poll);

  // For each of n records (-1: missing) the logarithm of its probability. Records that lack the
  // same columns share a plan. If `families` is not null, it gets the sum over the records of
  // weight · P(family | record); records that cannot occur add nothing.
  void evidence_many(const std::int32_t* codes, std::size_t n, const double* weights,
                     double* log_evidence, double* families, int n_jobs, Poll poll);

 private:
  using Key = std::vector<std::uint64_t>;

  const JunctionNet net_;
  const JunctionLimits limits_;
  std::vector<std::uint32_t> order_;
  JunctionNeeds needs_;
  std::mutex mutex_;
  std::list<std::pair<Key, std::shared_ptr<const JunctionPlan>>> recent_;  // latest first
};

}  // namespace tacit
