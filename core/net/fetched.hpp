// Families of records that are elsewhere, in parts: their counts are fetched, many at a time.
//
// A fetch is a pass over all records and costs much; another family in it costs little. So the
// search runs ahead of what is known on guesses, the families that it comes across are noted and
// fetched together, and then it goes the same way again with what is known for certain. Guesses
// decide how many passes there are, and nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "net/families.hpp"

namespace tacit {

struct NetMissing {};  // thrown for a family that has not been fetched
struct NetEnough {};   // thrown when no more is to be asked for ahead

struct NetFetched {
  double total;  // Σ weights of all records
  std::vector<NetCounts> counts;
};
// Is told how many bytes the counts will take, at most.
using NetFetch = std::function<NetFetched(const std::vector<NetRequest>&, std::int64_t)>;

class FetchedFamilies final : public NetFamilies {
 public:
  enum class Mode {
    kFetch,   // what is not known is fetched at once
    kStrict,  // or NetMissing is thrown
    kGuess,   // or guessed and noted, until NetEnough is thrown
  };

  // No pass asks for more than about most_bytes of counts, unless one other column takes more.
  FetchedFamilies(NetColumns columns, NetScoreKind kind, double prior_weight,
                  std::int64_t n_records, std::int64_t most_bytes, int n_jobs, Poll poll,
                  NetFetch fetch);

  const NetFamily& family(int child, const Parents& parents) override;
  double score(int child, const Parents& parents) override;
  std::vector<double> scores(const std::vector<std::pair<int, Parents>>& wanted) override;
  void prepare(const std::vector<std::pair<int, Parents>>& wanted, int n_jobs, Poll poll) override;
  bool forget_if_large() override;

  // Fetches all families without parents, on which guesses rest, and some others; the total is
  // known then.
  void start(const std::vector<Parents>& parents);
  void set_mode(Mode mode);
  bool guesses() const { return mode_ == Mode::kGuess; }
  bool knows(int child, const Parents& parents) const {
    return known_score(key_of(child, parents)) != nullptr;
  }
  std::size_t n_noted() const { return noted_.size(); }
  void fetch_noted();  // and forget the guesses

 private:
  struct Noted {
    int child;
    Parents parents;
    bool full;
  };
  struct Building {  // a family of which some other columns are still to come
    NetFamily family;
    bool begun = false, too_large = false;
  };

  const NetFamily* known(const NetKey& key) const;  // whether it was asked for before or not
  const double* known_score(const NetKey& key) const;
  bool note(int child, const Parents& parents, bool full);
  double n_states_bound(const Parents& parents) const;
  double bytes_bound(const NetRequest& request) const;
  std::vector<NetRequest> requests_of(const Noted& noted) const;
  void fetch_all(const std::vector<NetRequest>& requests);
  void fetch_pass(std::vector<NetRequest> requests, double bytes);
  void take(const std::vector<NetRequest>& requests, const std::vector<NetCounts>& counts);
  void begin(Building& building, const NetRequest& request, const NetCounts& counts) const;
  void extend(Building& building, const NetRequest& request, const NetCounts& counts) const;
  const NetFamily& guess(int child, const Parents& parents);
  const double* score_nearby(int child, const Parents& parents) const;
  double guess_score(int child, const Parents& parents);

  std::int64_t n_records_, most_bytes_;
  int n_jobs_;
  Poll poll_;
  NetFetch fetch_;
  Mode mode_ = Mode::kFetch;
  bool ready_ = false;                          // whether all is known that scores need
  NetMap<std::unique_ptr<NetFamily>> fetched_;  // and not asked for yet
  NetMap<double> fetched_scores_;
  NetMap<std::unique_ptr<Building>> building_;
  NetMap<double> n_states_;  // of sets of parents that were counted
  NetMap<std::unique_ptr<NetFamily>> guesses_;
  std::vector<Noted> noted_;
  NetMap<bool> is_noted_;  // whether in full
  double noted_bytes_ = 0;
};

}  // namespace tacit
