#include "net_families.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace tacit {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();
constexpr double kMostStates = 1e200;  // of all parents together; shares of priors stay normal
constexpr std::size_t kMostBytes = std::size_t{1} << 29;  // of remembered families

}  // namespace

std::size_t NetFamilies::Hash::operator()(const Key& key) const {
  std::uint64_t hash = 0x9e3779b97f4a7c15;
  for (const int x : key) {
    hash ^= static_cast<std::uint64_t>(x) + 1;
    hash *= 0xbf58476d1ce4e5b9;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash);
}

NetFamilies::Key NetFamilies::key_of(int child, const Parents& parents) {
  Key key{child};
  key.insert(key.end(), parents.begin(), parents.end());
  return key;
}

NetFamilies::NetFamilies(const NetTable& table, NetScoreKind kind, double prior_weight)
    : data_(table), score_{kind, prior_weight, data_.total()} {
  bool all_known = true;
  for (int c = 0; c < data_.n_columns(); ++c) all_known = all_known && data_.missing(c) < 0;
  if (all_known) return;
  for (int c = 0; c < data_.n_columns(); ++c) alone_.push_back(NetGroups(data_, c, {}).counts());
}

double NetFamilies::score_counts(int child, const double* counts, std::int64_t n_rows, double q,
                                 std::vector<double>& room) const {
  const int arity = data_.arity(child), r = data_.states(child);
  const double own = score_(counts, n_rows, arity, r, q, room);
  if (alone_.empty()) return own;
  std::vector<double> known(static_cast<std::size_t>(arity), 0.0);
  for (std::int64_t j = 0; j < n_rows; ++j)
    for (int k = 0; k < arity; ++k) known[static_cast<std::size_t>(k)] += counts[j * arity + k];
  const std::vector<double>& all = alone_[static_cast<std::size_t>(child)];
  if (known == all) return own;
  return own - score_(known.data(), 1, arity, r, 1.0, room) +
         score_(all.data(), 1, arity, r, 1.0, room);
}

double NetFamilies::states_of(const Parents& parents) const {
  double q = 1;
  for (const int p : parents) q *= data_.states(p);
  return q;
}

NetFamily NetFamilies::work_out(int child, const Parents& parents, std::int64_t& n_scored) const {
  const NetGroups groups(data_, child, parents);
  const int arity = data_.arity(child), n = data_.n_columns();
  const double q = states_of(parents);
  if (q > kMostStates || groups.too_large())
    throw std::invalid_argument("a family has too many states");
  std::vector<double> room, cells;
  NetFamily family{score_counts(child, groups.counts().data(), groups.n_states(), q, room),
                   std::vector<double>(static_cast<std::size_t>(n), kImpossible), {}};
  n_scored = 1;
  for (int other = 0; other < n; ++other) {
    const double states = q * data_.states(other);
    const double cells_needed = 1.0 * groups.n_states() * data_.arity(other) * arity;
    if (other == child || states > kMostStates || cells_needed > NetGroups::kMostCells ||
        std::binary_search(parents.begin(), parents.end(), other))
      continue;
    groups.count_with(other, cells);
    family.with[static_cast<std::size_t>(other)] = score_counts(
        child, cells.data(), std::int64_t{groups.n_states()} * data_.arity(other), states, room);
    ++n_scored;
  }
  // Without one parent: states that differ in it alone fall together.
  const std::size_t k = parents.size();
  const auto width = static_cast<std::size_t>(arity);
  std::vector<std::int32_t> order(static_cast<std::size_t>(groups.n_states()));
  for (std::size_t left_out = 0; left_out < k; ++left_out) {
    if (data_.missing(parents[left_out]) >= 0) {  // records that lack it count again
      Parents fewer = parents;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(left_out));
      const NetGroups rest(data_, child, fewer);
      family.without.push_back(
          score_counts(child, rest.counts().data(), rest.n_states(), states_of(fewer), room));
      ++n_scored;
      continue;
    }
    const std::uint16_t* codes = groups.state_codes().data();
    const auto compare = [&](std::int32_t a, std::int32_t b) {
      const std::uint16_t* x = codes + static_cast<std::size_t>(a) * k;
      const std::uint16_t* y = codes + static_cast<std::size_t>(b) * k;
      for (std::size_t p = 0; p < k; ++p)
        if (p != left_out && x[p] != y[p]) return x[p] < y[p] ? -1 : 1;
      return 0;
    };
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      const int order_of = compare(a, b);
      return order_of ? order_of < 0 : a < b;
    });
    cells.clear();
    for (std::size_t s = 0; s < order.size(); ++s) {
      if (s == 0 || compare(order[s - 1], order[s]) != 0) cells.resize(cells.size() + width, 0.0);
      const double* from = groups.counts().data() + static_cast<std::size_t>(order[s]) * width;
      double* to = cells.data() + cells.size() - width;
      for (std::size_t x = 0; x < width; ++x) to[x] += from[x];
    }
    family.without.push_back(
        score_counts(child, cells.data(), static_cast<std::int64_t>(cells.size() / width),
                     q / data_.states(parents[left_out]), room));
    ++n_scored;
  }
  return family;
}

const NetFamily& NetFamilies::family(int child, const Parents& parents) {
  auto& place = families_[key_of(child, parents)];
  if (!place) {
    std::int64_t n_scored = 0;
    place = std::make_unique<NetFamily>(work_out(child, parents, n_scored));
    n_scored_ += n_scored;
  }
  return *place;
}

double NetFamilies::score(int child, const Parents& parents) {
  const Key key = key_of(child, parents);
  if (const auto found = families_.find(key); found != families_.end()) return found->second->own;
  const auto [place, is_new] = singles_.try_emplace(key, 0.0);
  if (is_new) {
    const double states = states_of(parents);
    const NetGroups groups(data_, child, parents);
    if (states > kMostStates || groups.too_large()) return place->second = kImpossible;
    std::vector<double> room;
    place->second = score_counts(child, groups.counts().data(), groups.n_states(), states, room);
    ++n_scored_;
  }
  return place->second;
}

void NetFamilies::prepare(const std::vector<std::pair<int, Parents>>& wanted, int n_jobs,
                          Poll poll) {
  std::vector<const std::pair<int, Parents>*> missing;
  for (const auto& each : wanted)
    if (!families_.contains(key_of(each.first, each.second))) missing.push_back(&each);
  std::vector<std::unique_ptr<NetFamily>> found(missing.size());
  std::vector<std::int64_t> n_scored(missing.size());
  for_blocks(static_cast<std::int64_t>(missing.size()), n_jobs, poll,
             [&](std::int64_t b, Pulse&) {
               const auto at = static_cast<std::size_t>(b);
               found[at] = std::make_unique<NetFamily>(
                   work_out(missing[at]->first, missing[at]->second, n_scored[at]));
             });
  for (std::size_t at = 0; at < missing.size(); ++at) {
    families_[key_of(missing[at]->first, missing[at]->second)] = std::move(found[at]);
    n_scored_ += n_scored[at];
  }
}

void NetFamilies::forget_if_large() {
  const std::size_t each = 200 + 8 * static_cast<std::size_t>(data_.n_columns());
  if (families_.size() * each > kMostBytes) families_.clear();
  if (singles_.size() * 128 > kMostBytes) singles_.clear();
}

}  // namespace tacit
