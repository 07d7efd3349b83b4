// Association rules A → c with one item c, from the counts of closed frequent itemsets.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "itemset/supersets.hpp"

namespace tacit {

struct AssociationOptions {
  double total;           // of all records
  double min_confidence;  // count(A ∪ c) / count(A)
  bool redundant;         // whether rules that say no more than a shorter one are kept
  double min_improvement;
  const std::uint8_t* consequents;  // for each item whether it may be one, or null
  std::int64_t max_bytes;           // of the rules and of what is noted on the way
};

struct AssociationList {
  std::vector<std::int64_t> indptr{0};     // where the antecedent of each rule begins
  std::vector<std::uint32_t> antecedents;  // items, ascending within a rule
  std::vector<std::uint32_t> consequents;
  std::vector<double> both, antecedent_counts;
  bool complete = true;  // or they would take more than max_bytes
};

// Listed are all closed frequent sets, or all frequent sets, or these up to some size: a set that is
// part of a listed one has the greatest count of the listed sets that hold it.
//
// Redundant is A → c where a part of A, the empty one too, has a rule to c that is as confident, or
// whose confidence is less than min_improvement below. Then count(A) is smaller than the count of
// every part of A: with an item that makes no difference A → c says no more than without it. So only
// such sets are antecedents, the generators; all their parts are generators. The search is
// depth-first over lists of the closed sets that hold A, the most frequent first. All parts of a set
// are visited before it, and the highest confidence of each with each consequent is noted.
//
// Confidences within 1e-12 are the same. Work: for each antecedent, the items of the closed sets that
// hold it.
AssociationList association_rules(const SetLists& listed, const double* counts,
                                  std::int64_t n_items, const AssociationOptions& options,
                                  Poll poll);

}  // namespace tacit
