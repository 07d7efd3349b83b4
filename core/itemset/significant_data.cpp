#include "itemset/significant_data.hpp"

#include <algorithm>
#include <numeric>

namespace tacit {

SignificantData prepare_significant(const SignificantQuery& q, std::int64_t n_positives) {
  SignificantData data{&q, {}, {}, {}, {}};
  const auto support = [&](std::int32_t i) { return q.start[i + 1] - q.start[i]; };
  for (std::int32_t i = 0; i < q.n_items; ++i)
    if (support(i) >= q.min_support && support(i) < q.n_records) data.item.push_back(i);
  std::stable_sort(data.item.begin(), data.item.end(),
                   [&](std::int32_t a, std::int32_t b) { return support(a) < support(b); });
  const auto n = static_cast<std::size_t>(q.n_records);
  data.position.resize(n);
  std::int64_t next[2] = {n_positives, 0};
  for (std::size_t r = 0; r < n; ++r)
    data.position[r] = static_cast<std::int32_t>(next[q.labels[r] != 0]++);
  std::vector<std::int64_t> length(n + 1, 0);
  for (const std::int32_t i : data.item)
    for (std::int64_t k = q.start[i]; k < q.start[i + 1]; ++k)
      ++length[static_cast<std::size_t>(data.position[static_cast<std::size_t>(q.rows[k])]) + 1];
  std::partial_sum(length.begin(), length.end(), length.begin());
  data.rows.start = length;
  data.rows.items.resize(static_cast<std::size_t>(length[n]));
  for (std::size_t rank = 0; rank < data.item.size(); ++rank)
    for (std::int64_t k = q.start[data.item[rank]]; k < q.start[data.item[rank] + 1]; ++k) {
      const auto p = static_cast<std::size_t>(data.position[static_cast<std::size_t>(q.rows[k])]);
      data.rows.items[static_cast<std::size_t>(length[p]++)] = static_cast<std::int32_t>(rank);
    }
  // Positions in order, as rows are read: nothing has to be sorted.
  for (const std::int32_t i : data.item)
    data.occurrences.emplace_back().reserve(static_cast<std::size_t>(support(i)));
  for (std::size_t p = 0; p < n; ++p)
    for (std::int64_t k = data.rows.start[p]; k < data.rows.start[p + 1]; ++k)
      data.occurrences[static_cast<std::size_t>(data.rows.items[static_cast<std::size_t>(k)])]
          .push_back(static_cast<std::int32_t>(p));
  return data;
}

}  // namespace tacit
