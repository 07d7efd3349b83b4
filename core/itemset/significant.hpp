// Conjunctions of items that a label depends on, with an error rate over all that were searched.
//
//   significant_test      p-values of 2 × 2 tables with given margins
//   significant_counts    positives of all permutations among some records
//   significant_bound     which p-values can still be significant, given what was seen so far
//   significant           the search for closed sets, or for sets of few items
//   significant_reduce    fewer rules, and shorter ones
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "itemset/significant_test.hpp"

namespace tacit {

enum class Correction { permutation, tarone, false_discovery };

struct SignificantQuery {
  // rows[start[i] … start[i + 1]) are the ascending records that hold item i.
  const std::int64_t* start;
  const std::int32_t* rows;
  std::int64_t n_items, n_records;
  const std::uint8_t* labels;  // 1 for each positive record
  MarginTestKind test;
  Alternative alternative;
  Correction correction;
  double alpha;
  std::int64_t n_permutations;  // α (n_permutations + 1) ≥ 1
  std::uint64_t seed;
  std::int64_t min_support;  // ≥ 1
  std::int64_t max_size;     // items of a conjunction, or 0 for any number
};

struct SignificantRules {
  // Of each rule: items whose records are the rule's, all items that these records hold, how many
  // records and positives there are, and the logarithm of the p-value. By p-value, the least first;
  // then by support, the greatest first; then by items.
  std::vector<std::int64_t> path_start{0}, closed_start{0};
  std::vector<std::int32_t> path, closed;
  std::vector<std::int64_t> support, positives;
  std::vector<double> log_p;

  double limit = 0;                // logarithm of the p-value that is compared with
  std::int64_t n_tests = 1;        // by which p-values are multiplied for Tarone's bound
  std::int64_t n_testable = 0;     // hypotheses whose p-value could have reached the limit
  std::int64_t least_support = 0;  // of such a hypothesis
  std::vector<double> minima;      // least log p of permutations, ascending; those below the limit
};

// A hypothesis is a set of records that is the occurrence set of a conjunction (of at most max_size
// items) with min_support; conjunctions of the same records are one hypothesis. With psi(h) the
// least p-value that h could have, given its support:
// - permutation (Westfall and Young, "light"): rules have p < limit, the k-th least of the minimal
//   p-values of all permutations, k = floor(α (n_permutations + 1)). Those with psi ≥ limit need
//   not be visited.
// - tarone (LAMP): rules have p ≤ α / n_tests, n_tests the least K with #{h: psi(h) ≤ α / K} ≤ K.
// - false_discovery: the hypotheses that are testable by Tarone's bound and have p ≤ α.
//
// Depth first over closed sets by prefix-preserving extensions (LCM, Uno et al.), or over sets of at
// most max_size items, each of which excludes records. The bound rises while the search runs; what
// is left out cannot change the answer, so that this does not depend on the order, nor on n_jobs.
// A set costs the items of its records, and with permutations a few operations on as many bits as
// there are permutations for each of its records, or for each record that its superset has more.
SignificantRules significant_rules(const SignificantQuery& query, int n_jobs, Poll poll);

// Of rules by ascending p-value: drops those that add nothing to one before them (unless all are
// wanted), and leaves out items of each path that exclude no record. Returns the rules kept; their
// paths replace those given. A rule adds nothing to a kept one that has all of its records and goes
// in the same direction, unless it is stronger among those: query.test, one-sided, with a log p of
// at most `limit`.
std::vector<std::int64_t> reduce_rules(const SignificantQuery& query, bool redundant, double limit,
                                       SignificantRules& rules, int n_jobs, Poll poll);

}  // namespace tacit
