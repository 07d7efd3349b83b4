// The search for a Bayes net of high score: from one net to the next by adding, removing or turning
// an arc, by letting two columns change places, and between nets that say the same.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "net/families.hpp"
#include "net/fetched.hpp"
#include "net/graph.hpp"

namespace tacit {

struct NetRules {
  int max_parents;
  const std::uint8_t* required;   // [from · n + to]
  const std::uint8_t* forbidden;  // [from · n + to]
  std::int64_t restarts;          // at most
  std::int64_t patience;  // restarts that may bring nothing, one after another; 0 for any number
  std::int64_t tabu;      // steps that may lead down before a climb is given up
  std::int64_t walks;     // fruitless walks among equivalent nets before one is given up
  bool swaps;
  bool orders;  // whether orders of columns are searched, too
  std::uint64_t seed;
  double max_seconds;  // 0 for no limit
  int n_jobs;
};

struct NetProgress {
  std::int64_t restart, n_scored;
  double score, seconds;
};

struct NetResult {
  std::vector<Parents> parents;
  double score = 0;
  std::vector<double> family_scores;
  std::int64_t n_scored = 0, n_moves = 0;
  bool interrupted = false, out_of_time = false;
  std::vector<NetProgress> trace;  // each time a better net was found
};

// `tell` is called after the first climb and after each restart, on the calling thread.
NetResult find_net(NetFamilies& families, const std::vector<Parents>& start, const NetRules& rules,
                   Poll poll, const std::function<void(const NetProgress&)>& tell);

}  // namespace tacit
