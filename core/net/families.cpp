#include "net/families.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace tacit {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();
constexpr std::size_t kMostBytes = std::size_t{1} << 29;  // of remembered families

}  // namespace

std::size_t NetKeyHash::operator()(const NetKey& key) const {
  std::uint64_t hash = 0x9e3779b97f4a7c15;
  for (const int x : key) {
    hash ^= static_cast<std::uint64_t>(x) + 1;
    hash *= 0xbf58476d1ce4e5b9;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash);
}

NetKey key_of(int child, const Parents& parents) {
  NetKey key{child};
  key.insert(key.end(), parents.begin(), parents.end());
  return key;
}

double NetScorer::counts(int child, const double* counts, std::int64_t n_rows, double q,
                         std::vector<double>& room) const {
  const int arity = columns_.arity(child), r = columns_.states(child);
  const double value = score_(counts, n_rows, arity, r, q, room);
  if (alone_.empty()) return value;
  std::vector<double> known(static_cast<std::size_t>(arity), 0.0);
  for (std::int64_t j = 0; j < n_rows; ++j)
    for (int k = 0; k < arity; ++k) known[static_cast<std::size_t>(k)] += counts[j * arity + k];
  const std::vector<double>& all = alone_[static_cast<std::size_t>(child)];
  if (known == all) return value;
  return value - score_(known.data(), 1, arity, r, 1.0, room) +
         score_(all.data(), 1, arity, r, 1.0, room);
}

NetFamily NetScorer::begin(int child, const Parents& parents, std::int64_t n_states,
                           const std::uint16_t* state_codes, const double* counts,
                           const std::function<double(const Parents&)>& rest) const {
  const int arity = columns_.arity(child);
  const double q = states_of(columns_, parents);
  if (too_large(n_states, arity, q)) throw std::invalid_argument("a family has too many states");
  std::vector<double> room, cells;
  NetFamily family{this->counts(child, counts, n_states, q, room),
                   std::vector<double>(static_cast<std::size_t>(columns_.n_columns()), kImpossible),
                   {},
                   1};
  // Without one parent: states that differ in it alone fall together.
  const std::size_t k = parents.size();
  const auto width = static_cast<std::size_t>(arity);
  std::vector<std::int32_t> order(static_cast<std::size_t>(n_states));
  for (std::size_t left_out = 0; left_out < k; ++left_out) {
    ++family.n_scored;
    if (columns_.missing(parents[left_out]) >= 0) {
      Parents fewer = parents;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(left_out));
      family.without.push_back(rest(fewer));
      continue;
    }
    const auto compare = [&](std::int32_t a, std::int32_t b) {
      const std::uint16_t* x = state_codes + static_cast<std::size_t>(a) * k;
      const std::uint16_t* y = state_codes + static_cast<std::size_t>(b) * k;
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
      const double* from = counts + static_cast<std::size_t>(order[s]) * width;
      double* to = cells.data() + cells.size() - width;
      for (std::size_t x = 0; x < width; ++x) to[x] += from[x];
    }
    family.without.push_back(this->counts(child, cells.data(),
                                          static_cast<std::int64_t>(cells.size() / width),
                                          q / columns_.states(parents[left_out]), room));
  }
  return family;
}

bool NetScorer::can_add(int child, const Parents& parents, std::int64_t n_states, int other) const {
  const double states = states_of(columns_, parents) * columns_.states(other);
  const double cells =
      1.0 * static_cast<double>(n_states) * columns_.arity(other) * columns_.arity(child);
  return other != child && states <= kMostStates && cells <= NetGroups::kMostCells &&
         !std::binary_search(parents.begin(), parents.end(), other);
}

void NetScorer::add(NetFamily& family, int child, const Parents& parents, std::int64_t n_states,
                    int other, const double* cells, std::vector<double>& room) const {
  const double states = states_of(columns_, parents) * columns_.states(other);
  family.with[static_cast<std::size_t>(other)] =
      counts(child, cells, n_states * columns_.arity(other), states, room);
  ++family.n_scored;
}

std::vector<double> NetFamilies::scores(const std::vector<std::pair<int, Parents>>& wanted) {
  std::vector<double> result;
  for (const auto& [child, parents] : wanted) result.push_back(score(child, parents));
  return result;
}

bool NetFamilies::is_large(std::size_t n_families, std::size_t n_singles) const {
  const std::size_t each = 200 + 8 * static_cast<std::size_t>(columns().n_columns());
  return n_families * each + n_singles * 128 > kMostBytes;
}

bool NetFamilies::forget_if_large() {
  if (!is_large(families_.size(), singles_.size())) return false;
  families_.clear();
  singles_.clear();
  return true;
}

HeldFamilies::HeldFamilies(const NetTable& table, NetScoreKind kind, double prior_weight)
    : HeldFamilies(NetData(table), kind, prior_weight) {}

HeldFamilies::HeldFamilies(NetData data, NetScoreKind kind, double prior_weight)
    : NetFamilies(NetScorer(data.columns(), NetScore{kind, prior_weight, data.total()})),
      data_(std::move(data)) {
  if (columns().all_known()) return;
  std::vector<std::vector<double>> alone;
  for (int c = 0; c < data_.n_columns(); ++c) alone.push_back(NetGroups(data_, c, {}).counts());
  scorer_.set_alone(std::move(alone));
}

NetFamily HeldFamilies::work_out(int child, const Parents& parents) const {
  const NetGroups groups(data_, child, parents);
  if (groups.too_large()) throw std::invalid_argument("a family has too many states");
  std::vector<double> room, cells;
  const auto rest = [&](const Parents& fewer) {
    const NetGroups without(data_, child, fewer);
    return scorer_.counts(child, without.counts().data(), without.n_states(),
                          states_of(columns(), fewer), room);
  };
  NetFamily family = scorer_.begin(child, parents, groups.n_states(), groups.state_codes().data(),
                                   groups.counts().data(), rest);
  for (int other = 0; other < data_.n_columns() && has_room(parents); ++other) {
    if (!scorer_.can_add(child, parents, groups.n_states(), other)) continue;
    groups.count_with(other, cells);
    scorer_.add(family, child, parents, groups.n_states(), other, cells.data(), room);
  }
  return family;
}

const NetFamily& HeldFamilies::family(int child, const Parents& parents) {
  auto& position = families_[key_of(child, parents)];
  if (!position) {
    position = std::make_unique<NetFamily>(work_out(child, parents));
    n_scored_ += position->n_scored;
  }
  return *position;
}

double HeldFamilies::score(int child, const Parents& parents) {
  const NetKey key = key_of(child, parents);
  if (const auto match = families_.find(key); match != families_.end()) return match->second->score;
  const auto [position, is_new] = singles_.try_emplace(key, 0.0);
  if (is_new) {
    const double states = states_of(columns(), parents);
    const NetGroups groups(data_, child, parents);
    if (states > kMostStates || groups.too_large()) return position->second = kImpossible;
    std::vector<double> room;
    position->second =
        scorer_.counts(child, groups.counts().data(), groups.n_states(), states, room);
    ++n_scored_;
  }
  return position->second;
}

void HeldFamilies::prepare(const std::vector<std::pair<int, Parents>>& wanted, int n_jobs,
                           Poll poll) {
  std::vector<const std::pair<int, Parents>*> missing;
  for (const auto& each : wanted)
    if (!families_.contains(key_of(each.first, each.second))) missing.push_back(&each);
  std::vector<std::unique_ptr<NetFamily>> computed(missing.size());
  for_blocks(static_cast<std::int64_t>(missing.size()), n_jobs, poll,
             [&](std::int64_t b, StopToken&) {
               const auto at = static_cast<std::size_t>(b);
               computed[at] =
                   std::make_unique<NetFamily>(work_out(missing[at]->first, missing[at]->second));
             });
  for (std::size_t at = 0; at < missing.size(); ++at) {
    n_scored_ += computed[at]->n_scored;
    families_[key_of(missing[at]->first, missing[at]->second)] = std::move(computed[at]);
  }
}

}  // namespace tacit
