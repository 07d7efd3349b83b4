// Scores of a family in a Bayes net: a column and its parents. Higher is better.
#pragma once

#include <cstdint>
#include <vector>

namespace tacit {

enum class NetScoreKind { kBic, kAic, kPenalised, kBdeu, kBds, kK2 };

struct NetScore {
  NetScoreKind kind;
  double prior_weight;  // K2: of each cell; BDeu, BDs: of the whole table
  double total;         // Σ weights of all records, for the price of a parameter

  double price() const;  // of a parameter, by BIC and AIC; other scores charge about as much

  // Of counts by parent state (rows, of which only those with records need be there) and child
  // code; r and q are the states of the child and of all parents together that could be.
  double operator()(const double* counts, std::int64_t n_rows, int arity, int r, double q,
                    std::vector<double>& room) const;
};

}  // namespace tacit
