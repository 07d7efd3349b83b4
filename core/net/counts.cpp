#include "net/counts.hpp"

#include <algorithm>

namespace tacit {

double states_of(const NetColumns& columns, const Parents& parents) {
  double q = 1;
  for (const int p : parents) q *= columns.states(p);
  return q;
}

std::vector<int> others_of(const NetColumns& columns, const NetRequest& request) {
  std::vector<int> others;
  const double q = states_of(columns, request.parents);
  for (int c = request.begin; c < request.end; ++c) {
    const double cells = 1.0 * columns.arity(request.child) * columns.arity(c);
    if (c != request.child && cells <= NetGroups::kMostCells &&
        q * columns.states(c) <= kMostStates &&
        !std::binary_search(request.parents.begin(), request.parents.end(), c))
      others.push_back(c);
  }
  return others;
}

std::int64_t width_of(const NetColumns& columns, const NetRequest& request) {
  std::int64_t codes = 1;
  for (const int c : others_of(columns, request)) codes += columns.arity(c);
  return codes * columns.arity(request.child);
}

NetCounts count_request(const NetData& data, const NetRequest& request) {
  const NetGroups groups(data, request.child, request.parents);
  NetCounts result;
  if (groups.too_large()) {
    result.too_large = true;
    return result;
  }
  const auto arity = static_cast<std::size_t>(data.arity(request.child));
  const auto width = static_cast<std::size_t>(width_of(data.columns(), request));
  const auto n_states = static_cast<std::size_t>(groups.n_states());
  result.n_states = groups.n_states();
  result.states = groups.state_codes();
  result.states.resize(n_states * request.parents.size());
  result.rows.resize(n_states * width);
  const auto put = [&](std::size_t at, const std::vector<double>& cells, std::size_t n) {
    for (std::size_t s = 0; s < n_states; ++s)
      std::copy_n(cells.begin() + static_cast<std::ptrdiff_t>(s * n), n,
                  result.rows.begin() + static_cast<std::ptrdiff_t>(s * width + at));
  };
  put(0, groups.counts(), arity);
  std::size_t at = arity;
  std::vector<double> cells;
  for (const int other : others_of(data.columns(), request)) {
    groups.count_with(other, cells);
    const std::size_t n = arity * static_cast<std::size_t>(data.arity(other));
    put(at, cells, n);
    at += n;
  }
  return result;
}

NetCounts merge_counts(const NetCountsView& one, const NetCountsView& other, std::size_t n_parents,
                       std::int64_t width) {
  NetCounts result;
  if (one.n_states < 0 || other.n_states < 0) {
    result.too_large = true;
    return result;
  }
  const auto w = static_cast<std::size_t>(width);
  const NetCountsView* const parts[2] = {&one, &other};
  std::size_t at[2] = {0, 0};
  const std::size_t ends[2] = {static_cast<std::size_t>(one.n_states),
                               static_cast<std::size_t>(other.n_states)};
  result.rows.reserve(std::max(ends[0], ends[1]) * w);
  while (at[0] < ends[0] || at[1] < ends[1]) {
    const std::uint16_t* keys[2];
    for (int k = 0; k < 2; ++k) keys[k] = parts[k]->states + at[k] * n_parents;
    bool takes[2] = {at[0] < ends[0], at[1] < ends[1]};
    if (takes[0] && takes[1]) {
      if (std::lexicographical_compare(keys[0], keys[0] + n_parents, keys[1], keys[1] + n_parents))
        takes[1] = false;
      else if (!std::equal(keys[0], keys[0] + n_parents, keys[1]))
        takes[0] = false;
    }
    const std::uint16_t* key = takes[0] ? keys[0] : keys[1];
    result.states.insert(result.states.end(), key, key + n_parents);
    const std::size_t row = result.rows.size();
    result.rows.resize(row + w, 0.0);
    for (int k = 0; k < 2; ++k) {
      if (!takes[k]) continue;
      const double* from = parts[k]->rows + at[k] * w;
      for (std::size_t x = 0; x < w; ++x) result.rows[row + x] += from[x];
      ++at[k];
    }
    ++result.n_states;
  }
  return result;
}

}  // namespace tacit
