#include "rule/find_rules.hpp"

#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include "rule/find_data.hpp"

namespace tacit {
namespace {

// Numbers the records anew, hits first.
template <class Count>
void order_records(const RuleQuery& q, RuleData<Count>& data) {
  const auto n = static_cast<std::size_t>(q.n_records);
  std::vector<std::uint8_t> hit(n, q.code == q.defaults[q.target]);
  const std::int64_t first = q.offsets[q.target], last = q.offsets[q.target + 1];
  for (std::int64_t v = first; v < last; ++v) {
    const std::int64_t rank = v - first, code = rank + (rank >= q.defaults[q.target]);
    for (std::int64_t k = q.start[v]; k < q.start[v + 1]; ++k)
      hit[static_cast<std::size_t>(q.rows[k])] = code == q.code;
  }
  data.n_hits = std::count(hit.begin(), hit.end(), std::uint8_t{1});
  data.position = Buffer<std::int32_t>(n);
  std::int64_t next[2] = {data.n_hits, 0};
  for (std::size_t r = 0; r < n; ++r) data.position[r] = static_cast<std::int32_t>(next[hit[r]]++);
  if (!q.weights) return;
  data.weights = Buffer<double>(n);
  for (std::size_t r = 0; r < n; ++r)
    data.weights[static_cast<std::size_t>(data.position[r])] = q.weights[r];
}

template <class Count>
struct Split {
  Count rest = 0, hits = 0;
};

// Adds a record, or its weight, to the hits or to the rest. Weights have to be added in record
// order.
template <class Count>
void add(const RuleData<Count>& data, std::int64_t record, Split<Count>& sums) {
  const std::int32_t position = data.position[static_cast<std::size_t>(record)];
  Count one = 1;
  if constexpr (std::is_floating_point_v<Count>)
    one = data.weights[static_cast<std::size_t>(position)];
  (position < data.n_hits ? sums.hits : sums.rest) += one;
}

// Counts the records that hold no stored value of a column.
template <class Count>
Split<Count> count_default(const RuleQuery& q, const RuleData<Count>& data, std::int64_t c,
                           const std::vector<Split<Count>>& stored) {
  Split<Count> sums;
  if constexpr (std::is_floating_point_v<Count>) {  // differences of sums would be rounded
    std::vector<std::uint8_t> holds(static_cast<std::size_t>(q.n_records), 0);
    for (std::int64_t k = q.start[q.offsets[c]]; k < q.start[q.offsets[c + 1]]; ++k)
      holds[static_cast<std::size_t>(q.rows[k])] = 1;
    for (std::int64_t r = 0; r < q.n_records; ++r)
      if (!holds[static_cast<std::size_t>(r)]) add(data, r, sums);
  } else {
    sums = {data.total - data.total_hits, data.total_hits};
    for (const Split<Count>& value : stored) {
      sums.hits -= value.hits;
      sums.rest -= value.rest;
    }
  }
  return sums;
}

template <class Count>
RuleColumn<Count> prepare_column(const RuleQuery& q, const RuleData<Count>& data, std::int64_t c) {
  const std::int64_t first = q.offsets[c], last = q.offsets[c + 1];
  std::vector<Split<Count>> counts;
  for (std::int64_t v = first; v < last; ++v) {
    counts.emplace_back();
    for (std::int64_t k = q.start[v]; k < q.start[v + 1]; ++k) add(data, q.rows[k], counts.back());
  }
  counts.push_back(count_default(q, data, c, counts));

  RuleColumn<Count> column{static_cast<std::int32_t>(c), {}, {}, {}, {}, false};
  constexpr std::int32_t kOthers = -1;
  Split<Count> others;
  for (std::size_t v = 0; v < counts.size(); ++v) {
    const auto [rest, hits] = counts[v];
    const bool is_default = v + 1 == counts.size();
    if (static_cast<double>(hits + rest) < q.min_support || (is_default && !q.defaults_allowed)) {
      column.state_of.push_back(kOthers);
      column.others = true;
      others.hits += hits;
      others.rest += rest;
      continue;
    }
    const auto rank = static_cast<std::int32_t>(v), skip = static_cast<std::int32_t>(q.defaults[c]);
    column.state_of.push_back(static_cast<std::int32_t>(column.codes.size()));
    column.codes.push_back(is_default ? skip : rank + (rank >= skip));
    column.hits.push_back(hits);
    column.rest.push_back(rest);
  }
  std::replace(column.state_of.begin(), column.state_of.end(), kOthers,
               static_cast<std::int32_t>(column.codes.size()));
  if (column.others) {
    column.hits.push_back(others.hits);
    column.rest.push_back(others.rest);
  }
  return column;
}

}  // namespace

template <class Count>
RuleData<Count> prepare_rules(const RuleQuery& q) {
  RuleData<Count> data;
  data.query = &q;
  order_records(q, data);
  Split<Count> all;
  for (std::int64_t r = 0; r < q.n_records; ++r) add(data, r, all);
  data.total = all.hits + all.rest;
  data.total_hits = all.hits;
  for (std::int64_t c = 0; c < q.n_columns; ++c) {
    if (c == q.target) continue;
    RuleColumn<Count> column = prepare_column(q, data, c);
    if (!column.codes.empty()) data.columns.push_back(std::move(column));
  }
  // Columns that scatter the records come first: branches get small soon. What remains last has a
  // state with most of the records, which is counted by subtraction.
  const auto largest = [&](const RuleColumn<Count>& column) {
    Count most = 0;
    for (std::size_t s = 0; s < column.hits.size(); ++s)
      most = std::max(most, column.hits[s] + column.rest[s]);
    return most;
  };
  std::stable_sort(data.columns.begin(), data.columns.end(),
                   [&](const auto& a, const auto& b) { return largest(a) < largest(b); });
  return data;
}

template <class Count>
bool fits_codes(const RuleData<Count>& data) {
  return std::all_of(data.columns.begin(), data.columns.end(),
                     [](const auto& column) { return column.n_states() <= 256; });
}

// Bytes for all columns pay where a good part of them differs from the default.
template <class Count>
bool prefers_codes(const RuleData<Count>& data) {
  const RuleQuery& q = *data.query;
  std::int64_t stored = 0, n_states = 0;
  for (const auto& column : data.columns) {
    stored += q.start[q.offsets[column.column + 1]] - q.start[q.offsets[column.column]];
    n_states += column.n_states();
  }
  const auto n_columns = static_cast<std::int64_t>(data.columns.size());
  return fits_codes(data) && n_states <= 4096 &&
         (n_columns <= 32 || 8 * stored >= n_columns * q.n_records);
}

template <class Count>
RuleAnswer<Count> find_rules(const RuleQuery& query, RuleMethod method, int n_jobs, Poll poll) {
  RuleData<Count> data = prepare_rules<Count>(query);
  const Scorer<Count> scorer{
      query.measure, static_cast<double>(data.total_hits) / static_cast<double>(data.total),
      query.z,       query.min_support,
      data.total,    data.total_hits};
  if (method == RuleMethod::codes && !fits_codes(data))
    throw std::invalid_argument("a column has more than 256 states");
  BestRules<Count> best(static_cast<std::size_t>(query.n_rules));
  if (method == RuleMethod::codes || (method == RuleMethod::automatic && prefers_codes(data)))
    search_codes(data, scorer, best, n_jobs, poll);
  else
    search_rows(data, scorer, best, n_jobs, poll);
  return {best.sorted(), data.total, data.total_hits};
}

template RuleAnswer<std::int64_t> find_rules(const RuleQuery&, RuleMethod, int, Poll);
template RuleAnswer<double> find_rules(const RuleQuery&, RuleMethod, int, Poll);

}  // namespace tacit
