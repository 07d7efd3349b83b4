#include "net/fetched.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace tacit {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

Parents without(const Parents& parents, std::size_t position) {
  Parents fewer = parents;
  fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(position));
  return fewer;
}

Parents with(const Parents& parents, int other) {
  Parents more = parents;
  more.insert(std::lower_bound(more.begin(), more.end(), other), other);
  return more;
}

}  // namespace

FetchedFamilies::FetchedFamilies(NetColumns columns, NetScoreKind kind, double prior_weight,
                                 std::int64_t n_records, std::int64_t most_bytes, int n_jobs,
                                 Poll poll, NetFetch fetch)
    : NetFamilies(NetScorer(columns, NetScore{kind, prior_weight, 0.0})),
      n_records_(n_records),
      most_bytes_(most_bytes),
      n_jobs_(n_jobs),
      poll_(poll),
      fetch_(std::move(fetch)) {}

void FetchedFamilies::start(const std::vector<Parents>& parents) {
  for (int c = 0; c < columns().n_columns(); ++c)
    for (const Parents& candidate : {Parents{}, parents[static_cast<std::size_t>(c)]})
      if (!known(key_of(c, candidate))) note(c, candidate, true);
  fetch_noted();
}

// What is known

const NetFamily* FetchedFamilies::known(const NetKey& key) const {
  if (const auto match = families_.find(key); match != families_.end()) return match->second.get();
  if (const auto match = fetched_.find(key); match != fetched_.end()) return match->second.get();
  return nullptr;
}

const double* FetchedFamilies::known_score(const NetKey& key) const {
  if (const NetFamily* family = known(key)) return &family->score;
  if (const auto match = singles_.find(key); match != singles_.end()) return &match->second;
  if (const auto match = fetched_scores_.find(key); match != fetched_scores_.end())
    return &match->second;
  return nullptr;
}

// What counts as scored is what is asked for, not what was fetched ahead: as in memory.
const NetFamily& FetchedFamilies::family(int child, const Parents& parents) {
  const NetKey key = key_of(child, parents);
  if (guesses()) {
    if (const NetFamily* match = known(key)) return *match;
    return guess(child, parents);
  }
  if (const auto match = families_.find(key); match != families_.end()) return *match->second;
  if (!fetched_.contains(key)) {
    if (mode_ == Mode::kStrict) throw NetMissing();
    note(child, parents, true);
    fetch_noted();
  }
  const auto match = fetched_.find(key);
  if (match == fetched_.end()) throw std::invalid_argument("a family has too many states");
  auto& position = families_[key] = std::move(match->second);
  fetched_.erase(match);
  n_scored_ += position->n_scored;
  return *position;
}

double FetchedFamilies::score(int child, const Parents& parents) {
  const NetKey key = key_of(child, parents);
  if (guesses()) {
    if (const double* match = known_score(key)) return *match;
    note(child, parents, false);
    return guess_score(child, parents);
  }
  if (const auto match = families_.find(key); match != families_.end()) return match->second->score;
  if (const auto match = singles_.find(key); match != singles_.end()) return match->second;
  if (!known_score(key)) {
    if (mode_ == Mode::kStrict) throw NetMissing();
    note(child, parents, false);
    fetch_noted();
  }
  const double value = *known_score(key);
  fetched_scores_.erase(key);
  if (std::isfinite(value)) ++n_scored_;
  return singles_[key] = value;
}

std::vector<double> FetchedFamilies::scores(const std::vector<std::pair<int, Parents>>& wanted) {
  if (mode_ == Mode::kFetch) {
    for (const auto& [child, parents] : wanted)
      if (!known_score(key_of(child, parents))) note(child, parents, false);
    fetch_noted();
  }
  return NetFamilies::scores(wanted);
}

void FetchedFamilies::prepare(const std::vector<std::pair<int, Parents>>& wanted, int, Poll) {
  if (mode_ == Mode::kFetch) {
    for (const auto& [child, parents] : wanted)
      if (!known(key_of(child, parents))) note(child, parents, true);
    fetch_noted();
  }
  for (const auto& [child, parents] : wanted) family(child, parents);
}

bool FetchedFamilies::forget_if_large() {
  if (guesses()) return false;
  if (!is_large(families_.size() + fetched_.size(), singles_.size() + fetched_scores_.size()))
    return false;
  const auto has_parents = [](const auto& item) { return item.first.size() > 1; };
  std::erase_if(families_, has_parents);  // guesses rest on the others
  std::erase_if(fetched_, has_parents);
  singles_.clear();
  fetched_scores_.clear();
  n_states_.clear();
  return true;
}

// Asking for more

void FetchedFamilies::set_mode(Mode mode) {
  mode_ = mode;
  guesses_.clear();
  noted_.clear();
  is_noted_.clear();
  noted_bytes_ = 0;
}

bool FetchedFamilies::note(int child, const Parents& parents, bool full) {
  const auto [position, is_new] = is_noted_.try_emplace(key_of(child, parents), full);
  if (!is_new && (position->second || !full)) return false;
  const Noted noted{child, parents, full};
  double bytes = 0;
  for (const NetRequest& each : requests_of(noted)) bytes += bytes_bound(each);
  if (guesses() && !noted_.empty() && noted_bytes_ + bytes > static_cast<double>(most_bytes_))
    throw NetEnough();
  position->second = full;
  noted_bytes_ += bytes;
  noted_.push_back(noted);
  return true;
}

double FetchedFamilies::n_states_bound(const Parents& parents) const {
  if (const auto match = n_states_.find(parents); match != n_states_.end()) return match->second;
  double bound = static_cast<double>(n_records_), product = 1;
  for (std::size_t k = 0; k < parents.size(); ++k) {
    product *= columns().arity(parents[k]);
    if (const auto match = n_states_.find(without(parents, k)); match != n_states_.end())
      bound = std::fmin(bound, match->second * columns().arity(parents[k]));
  }
  return std::fmin(bound, product);
}

double FetchedFamilies::bytes_bound(const NetRequest& request) const {
  return n_states_bound(request.parents) *
         (8.0 * static_cast<double>(width_of(columns(), request)) +
          2.0 * static_cast<double>(request.parents.size()));
}

std::vector<NetRequest> FetchedFamilies::requests_of(const Noted& noted) const {
  std::vector<NetRequest> requests;
  const int n = columns().n_columns();
  if (!noted.full) return {{noted.child, noted.parents, 0, 0}};
  for (std::size_t k = 0; k < noted.parents.size(); ++k) {  // for scores without a parent
    Parents fewer = without(noted.parents, k);
    if (columns().missing(noted.parents[k]) >= 0 && !known_score(key_of(noted.child, fewer)))
      requests.push_back({noted.child, std::move(fewer), 0, 0});
  }
  if (!has_room(noted.parents)) {
    requests.push_back({noted.child, noted.parents, n, n});
    return requests;
  }
  // Where all other columns are too many for one pass, some of them at a time.
  const double each = 8.0 * n_states_bound(noted.parents) * columns().arity(noted.child);
  NetRequest part{noted.child, noted.parents, 0, 0};
  double bytes = each;
  for (int other = 0; other < n; ++other) {
    const double more = each * columns().arity(other);
    if (other > part.begin && bytes + more > static_cast<double>(most_bytes_)) {
      requests.push_back(part);
      part.begin = other;
      bytes = each;
    }
    part.end = other + 1;
    bytes += more;
  }
  requests.push_back(part);
  return requests;
}

void FetchedFamilies::fetch_noted() {
  std::vector<NetRequest> requests;
  NetMap<bool> singles;
  for (const Noted& noted : noted_) {
    if (!noted.full && is_noted_[key_of(noted.child, noted.parents)]) continue;  // in full later
    for (NetRequest& each : requests_of(noted)) {
      const bool is_full = each.end > 0;
      if (!is_full && !singles.try_emplace(key_of(each.child, each.parents), true).second) continue;
      requests.push_back(std::move(each));
    }
  }
  set_mode(mode_);
  fetch_all(requests);
}

void FetchedFamilies::fetch_all(const std::vector<NetRequest>& requests) {
  // Scores without a parent are needed to work out families.
  std::vector<const NetRequest*> order;
  for (const bool full : {false, true})
    for (const NetRequest& each : requests)
      if ((each.end > 0) == full) order.push_back(&each);
  building_.clear();
  std::vector<NetRequest> pass;
  double bytes = 0;
  const auto fly = [&] {
    if (!pass.empty()) fetch_pass(std::move(pass), bytes);
    pass.clear();
    bytes = 0;
  };
  for (const NetRequest* each : order) {
    const double more = bytes_bound(*each);
    if (bytes + more > static_cast<double>(most_bytes_)) fly();
    pass.push_back(*each);
    bytes += more;
  }
  fly();
}

void FetchedFamilies::fetch_pass(std::vector<NetRequest> requests, double bytes) {
  const std::size_t n = requests.size();
  if (!ready_ && !columns().all_known())
    for (int c = 0; c < columns().n_columns(); ++c) requests.push_back({c, {}, 0, 0});
  NetFetched fetched = fetch_(requests, static_cast<std::int64_t>(std::fmin(bytes, 0x1p62)));
  if (fetched.counts.size() != requests.size()) throw std::invalid_argument("counts are missing");
  if (requests.size() > n) {
    std::vector<std::vector<double>> alone;
    for (std::size_t k = n; k < requests.size(); ++k) alone.push_back(fetched.counts[k].rows);
    scorer_.set_alone(std::move(alone));
    requests.resize(n);
    fetched.counts.resize(n);
  }
  scorer_.set_total(fetched.total);
  ready_ = true;
  take(requests, fetched.counts);
}

void FetchedFamilies::take(const std::vector<NetRequest>& requests,
                           const std::vector<NetCounts>& counts) {
  std::vector<std::size_t> full;
  std::vector<double> room;
  for (std::size_t at = 0; at < requests.size(); ++at) {
    const NetRequest& request = requests[at];
    const NetCounts& table = counts[at];
    if (!table.too_large) n_states_[request.parents] = static_cast<double>(table.n_states);
    if (request.end > 0) {
      full.push_back(at);
      continue;
    }
    const double q = states_of(columns(), request.parents);
    const int arity = columns().arity(request.child);
    const bool counted = !table.too_large && !NetScorer::too_large(table.n_states, arity, q);
    fetched_scores_[key_of(request.child, request.parents)] =
        counted ? scorer_.counts(request.child, table.rows.data(), table.n_states, q, room)
                : kImpossible;
  }
  // Requests for parts of one family follow each other, and are done by one thread.
  std::vector<std::pair<std::size_t, std::size_t>> runs;
  for (std::size_t k = 0; k < full.size(); ++k) {
    const NetRequest& request = requests[full[k]];
    if (runs.empty() || requests[full[runs.back().first]].child != request.child ||
        requests[full[runs.back().first]].parents != request.parents)
      runs.emplace_back(k, k);
    runs.back().second = k + 1;
    auto& position = building_[key_of(request.child, request.parents)];
    if (!position) position = std::make_unique<Building>();
  }
  const auto& building = building_;
  for_blocks(
      static_cast<std::int64_t>(runs.size()), n_jobs_, poll_, [&](std::int64_t b, StopToken&) {
        const auto [first, last] = runs[static_cast<std::size_t>(b)];
        for (std::size_t k = first; k < last; ++k) {
          const NetRequest& request = requests[full[k]];
          Building& position = *building.find(key_of(request.child, request.parents))->second;
          if (!position.begun) begin(position, request, counts[full[k]]);
          extend(position, request, counts[full[k]]);
        }
      });
  for (const auto& [first, last] : runs) {
    const NetRequest& request = requests[full[last - 1]];
    if (request.end < columns().n_columns()) continue;  // the rest comes with the next pass
    const auto position = building_.find(key_of(request.child, request.parents));
    if (!position->second->too_large)
      fetched_[position->first] = std::make_unique<NetFamily>(std::move(position->second->family));
    building_.erase(position);
  }
}

void FetchedFamilies::begin(Building& building, const NetRequest& request,
                            const NetCounts& counts) const {
  building.begun = true;
  const int arity = columns().arity(request.child);
  building.too_large =
      counts.too_large ||
      NetScorer::too_large(counts.n_states, arity, states_of(columns(), request.parents));
  if (building.too_large) return;
  const auto n = static_cast<std::size_t>(arity);
  const auto width = static_cast<std::size_t>(width_of(columns(), request));
  std::vector<double> margin(static_cast<std::size_t>(counts.n_states) * n);
  for (std::size_t s = 0; s < static_cast<std::size_t>(counts.n_states); ++s)
    std::copy_n(counts.rows.begin() + static_cast<std::ptrdiff_t>(s * width), n,
                margin.begin() + static_cast<std::ptrdiff_t>(s * n));
  const auto rest = [&](const Parents& fewer) {
    return *known_score(key_of(request.child, fewer));
  };
  building.family = scorer_.begin(request.child, request.parents, counts.n_states,
                                  counts.states.data(), margin.data(), rest);
}

void FetchedFamilies::extend(Building& building, const NetRequest& request,
                             const NetCounts& counts) const {
  if (building.too_large) return;
  const auto arity = static_cast<std::size_t>(columns().arity(request.child));
  const auto width = static_cast<std::size_t>(width_of(columns(), request));
  const auto n_states = static_cast<std::size_t>(counts.n_states);
  std::vector<double> cells, room;
  std::size_t at = arity;
  for (const int other : others_of(columns(), request)) {
    const std::size_t n = arity * static_cast<std::size_t>(columns().arity(other));
    if (scorer_.can_add(request.child, request.parents, counts.n_states, other)) {
      cells.resize(n_states * n);
      for (std::size_t s = 0; s < n_states; ++s)
        std::copy_n(counts.rows.begin() + static_cast<std::ptrdiff_t>(s * width + at), n,
                    cells.begin() + static_cast<std::ptrdiff_t>(s * n));
      scorer_.add(building.family, request.child, request.parents, counts.n_states, other,
                  cells.data(), room);
    }
    at += n;
  }
}

// Guessing. What a family scores is known if one arc away there is one that is known; what its next
// parents would gain is taken to be what they gain there, at the price of more states.

const NetFamily& FetchedFamilies::guess(int child, const Parents& parents) {
  const NetKey key = key_of(child, parents);
  if (const auto match = guesses_.find(key); match != guesses_.end()) return *match->second;
  note(child, parents, true);
  const int n = columns().n_columns();
  const double q = states_of(columns(), parents);
  const double price = scorer_.score().price() * (columns().states(child) - 1);
  NetFamily family{guess_score(child, parents),
                   std::vector<double>(static_cast<std::size_t>(n), kImpossible),
                   {},
                   0};
  std::vector<double> gain(static_cast<std::size_t>(n), std::numeric_limits<double>::infinity());
  bool found_base = false;
  const auto learn = [&](const NetFamily& base, double base_states) {
    found_base = true;
    for (int x = 0; x < n; ++x) {
      const auto at = static_cast<std::size_t>(x);
      if (!std::isfinite(base.with[at])) continue;
      const double dearer = price * (columns().states(x) - 1) * (q - base_states);
      gain[at] = std::fmin(gain[at], base.with[at] - base.score - dearer);
    }
  };
  std::vector<const NetFamily*> fewer(parents.size(), nullptr);
  for (std::size_t k = 0; k < parents.size(); ++k) {
    const Parents rest = without(parents, k);
    fewer[k] = known(key_of(child, rest));
    if (fewer[k]) learn(*fewer[k], q / columns().states(parents[k]));
  }
  for (std::size_t k = 0; k < parents.size() && !found_base; ++k) {
    const auto match = guesses_.find(key_of(child, without(parents, k)));
    if (match != guesses_.end()) learn(*match->second, q / columns().states(parents[k]));
  }
  if (!found_base) learn(*known(key_of(child, {})), 1.0);
  for (int x = 0; x < n; ++x) {
    const auto at = static_cast<std::size_t>(x);
    if (x != child && !std::binary_search(parents.begin(), parents.end(), x) &&
        std::isfinite(gain[at])) {
      const double* exact = score_nearby(child, with(parents, x));
      family.with[at] = exact ? *exact : family.score + gain[at];
    }
  }
  for (std::size_t k = 0; k < parents.size(); ++k) {
    const double* exact = known_score(key_of(child, without(parents, k)));
    family.without.push_back(exact ? *exact : guess_score(child, without(parents, k)));
  }
  return *(guesses_[key] = std::make_unique<NetFamily>(std::move(family)));
}

// A score that is known from the family itself, or from one with a parent less.
const double* FetchedFamilies::score_nearby(int child, const Parents& parents) const {
  if (const double* exact = known_score(key_of(child, parents))) return exact;
  for (std::size_t k = 0; k < parents.size(); ++k)
    if (const NetFamily* base = known(key_of(child, without(parents, k))))
      if (const double& exact = base->with[static_cast<std::size_t>(parents[k])];
          std::isfinite(exact))
        return &exact;
  return nullptr;
}

double FetchedFamilies::guess_score(int child, const Parents& parents) {
  if (const double* exact = known_score(key_of(child, parents))) return *exact;
  for (const bool surely : {true, false}) {
    const auto at = [&](const Parents& near) -> const NetFamily* {
      if (surely) return known(key_of(child, near));
      const auto match = guesses_.find(key_of(child, near));
      return match == guesses_.end() ? nullptr : match->second.get();
    };
    for (std::size_t k = 0; k < parents.size(); ++k)
      if (const NetFamily* base = at(without(parents, k)))
        return base->with[static_cast<std::size_t>(parents[k])];
    for (int x = 0; x < columns().n_columns(); ++x) {
      if (x == child || std::binary_search(parents.begin(), parents.end(), x)) continue;
      const Parents more = with(parents, x);
      const NetFamily* base = at(more);
      const auto position =
          static_cast<std::size_t>(std::lower_bound(more.begin(), more.end(), x) - more.begin());
      if (base && position < base->without.size()) return base->without[position];
    }
  }
  const NetFamily& alone = *known(key_of(child, {}));
  double best = alone.score;
  for (const int p : parents) best = std::fmax(best, alone.with[static_cast<std::size_t>(p)]);
  return best;
}

}  // namespace tacit
