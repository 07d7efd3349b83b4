#include "tree/forest_walk.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace tacit {

void WalkForest::check(std::int64_t n_numbers) const {
  if (roots[0] != 0 || roots[n_trees] != nodes.size || table_start[0] != 0 ||
      table_start[n_trees] != n_numbers || offsets[0] != 0 || n_values() > INT32_MAX)
    throw std::invalid_argument("roots, table_start and offsets must begin and end with theirs");
  for (std::int64_t t = 0; t < n_trees; ++t) {
    const std::int64_t begin = roots[t], end = roots[t + 1];
    const std::int64_t n_codes = arity(t), n = table_start[t + 1] - table_start[t];
    if (begin < 0 || begin >= end || end > nodes.size)
      throw std::invalid_argument("roots must ascend");
    if (n_codes < 1 || defaults[t] < 0 || defaults[t] >= n_codes)
      throw std::invalid_argument("offsets and defaults must be those of columns");
    if (n % n_codes != 0 || n / n_codes != end - begin)
      throw std::invalid_argument("table must have a number for each node and code");
    nodes.check(begin, end, n_values());
    for (std::int64_t node = begin; node < end; ++node) {
      const std::int64_t asked = nodes.column[node];
      if (asked >= n_trees) throw std::invalid_argument("column must be one of the columns");
      if (asked >= 0 && (nodes.low[node] < offsets[asked] || nodes.high[node] > offsets[asked + 1]))
        throw std::invalid_argument("low and high must be a range of the column's value ids");
      const std::int64_t more = asked < 0 ? -1 : nodes.also_inside(static_cast<std::int32_t>(node));
      if (more >= 0 && (more < offsets[asked] || more >= offsets[asked + 1]))
        throw std::invalid_argument("also must be one of the column's value ids");
    }
  }
}

DefaultWays::DefaultWays(const WalkForest& forest) {
  const WalkNodes& nodes = forest.nodes;
  const auto n_values = static_cast<std::size_t>(forest.n_values());
  std::vector<std::int32_t> seen(n_values);
  // Calls body(tree, node, id) the first time that a tree's way asks about an id.
  const auto each = [&](const auto& body) {
    std::fill(seen.begin(), seen.end(), -1);
    for (std::int32_t tree = 0; tree < forest.n_trees; ++tree)
      for (std::int32_t node = forest.root(tree); !nodes.is_leaf(node); node = nodes.outside(node))
        nodes.each_inside(node, [&](std::int32_t id) {
          std::int32_t& last = seen[static_cast<std::size_t>(id)];
          if (last != tree) body(tree, node, static_cast<std::size_t>(id));
          last = tree;
        });
  };
  start_.assign(n_values + 1, 0);
  each([&](std::int32_t, std::int32_t, std::size_t id) { ++start_[id + 1]; });
  for (std::size_t id = 0; id < n_values; ++id) start_[id + 1] += start_[id];
  turnings_.resize(static_cast<std::size_t>(start_[n_values]));
  std::vector<std::int64_t> next(start_.begin(), start_.end() - 1);
  each([&](std::int32_t tree, std::int32_t node, std::size_t id) {
    turnings_[static_cast<std::size_t>(next[id]++)] = {tree, node};
  });
  leaves_.reserve(static_cast<std::size_t>(forest.n_trees));
  for (std::int64_t tree = 0; tree < forest.n_trees; ++tree) {
    std::int32_t node = forest.root(tree);
    while (!nodes.is_leaf(node)) node = nodes.outside(node);
    leaves_.push_back(node);
  }
}

namespace {

constexpr std::int32_t kStays = std::numeric_limits<std::int32_t>::max();

// The column of each value id.
std::vector<std::int32_t> columns_of_ids(const WalkForest& forest) {
  std::vector<std::int32_t> columns(static_cast<std::size_t>(forest.n_values()));
  for (std::int64_t c = 0; c < forest.n_trees; ++c)
    std::fill(columns.begin() + forest.offsets[c], columns.begin() + forest.offsets[c + 1],
              static_cast<std::int32_t>(c));
  return columns;
}

// One record at a time: what each of its columns holds, and the trees whose answer may differ from
// that for the empty record.
class Touched {
 public:
  Touched(const WalkForest& forest, const DefaultWays& ways, const std::int32_t* columns)
      : forest_(forest),
        ways_(ways),
        columns_(columns),
        held_(static_cast<std::size_t>(forest.n_trees), -1),
        turning_(static_cast<std::size_t>(forest.n_trees), kStays) {}

  // Calls body(tree, leaf) for the trees that turn off their default ways, in the order of the
  // record's ids, which does not depend on threads. Returns how many there are.
  template <class V, class Body>
  std::int64_t each(const V* begin, const V* end, const Body& body) {
    for (const V* p = begin; p < end; ++p) held_at(*p) = static_cast<std::int32_t>(*p);
    for (const V* p = begin; p < end; ++p)
      for (auto at = ways_.begin(*p); at < ways_.end(*p); ++at) {
        std::int32_t& turning = turning_[static_cast<std::size_t>(at->tree)];
        if (turning == kStays) trees_.push_back(at->tree);
        turning = std::min(turning, at->node);  // numbers ascend along a way
      }
    for (const std::int32_t tree : trees_) {
      std::int32_t& turning = turning_[static_cast<std::size_t>(tree)];
      body(tree, leaf_of_state(forest_.nodes, turning, held_.data()));
      turning = kStays;
    }
    for (const V* p = begin; p < end; ++p) held_at(*p) = -1;
    const auto n = static_cast<std::int64_t>(trees_.size());
    trees_.clear();
    return n;
  }

  // The id that the record holds in a column, while it is looked at; -1 for the default.
  std::int32_t held(std::int64_t column) const { return held_[static_cast<std::size_t>(column)]; }

 private:
  std::int32_t& held_at(std::int64_t id) { return held_[static_cast<std::size_t>(columns_[id])]; }

  const WalkForest& forest_;
  const DefaultWays& ways_;
  const std::int32_t* columns_;
  std::vector<std::int32_t> held_, turning_, trees_;
};

// Runs body(range of records, touched, meter) in blocks that depend on the data only.
template <class V, class Body>
void over_records(const Records<V>& records, const WalkForest& forest, const DefaultWays& ways,
                  const std::int32_t* columns, std::int64_t record_cost, int n_jobs, Poll poll,
                  const Body& body) {
  const std::int64_t work = records.n_records * record_cost + 8 * records.indptr[records.n_records];
  const std::int64_t smallest = std::max<std::int64_t>(1 << 15, 4 * forest.n_trees);
  const std::int64_t n_blocks =
      std::clamp<std::int64_t>(work / smallest, 1, std::min<std::int64_t>(records.n_records, 256));
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
    Touched touched(forest, ways, columns);
    Meter meter(token);
    body(block_range(records.n_records, n_blocks, b), touched, meter);
  });
}

// A sum of which terms that are -inf can be taken away again.
struct ScoreSum {
  double finite = 0;
  std::int64_t n_infinite = 0;

  void add(double term) {
    if (std::isinf(term))
      ++n_infinite;
    else
      finite += term;
  }
  void remove(double term) {
    if (std::isinf(term))
      --n_infinite;
    else
      finite -= term;
  }
  double value() const {
    return n_infinite > 0 ? -std::numeric_limits<double>::infinity() : finite;
  }
};

}  // namespace

template <class V>
void forest_scores(const Records<V>& records, const WalkForest& forest, double* scores, int n_jobs,
                   Poll poll) {
  if (records.n_records == 0) return;
  const DefaultWays ways(forest);
  const std::vector<std::int32_t> columns = columns_of_ids(forest);
  std::vector<double> usual(static_cast<std::size_t>(forest.n_trees));
  ScoreSum empty;
  for (std::int64_t t = 0; t < forest.n_trees; ++t) {
    usual[static_cast<std::size_t>(t)] = forest.row(t, ways.leaf(t))[forest.defaults[t]];
    empty.add(usual[static_cast<std::size_t>(t)]);
  }
  const auto score = [&](Touched& touched, const V* begin, const V* end, Meter& meter) {
    ScoreSum sum = empty;
    // First as if every tree had its default leaf, then what other leaves change.
    for (const V* p = begin; p < end; ++p) {
      const std::int64_t c = columns[*p];
      sum.remove(usual[static_cast<std::size_t>(c)]);
      sum.add(forest.row(c, ways.leaf(c))[forest.code(c, *p)]);
    }
    const std::int64_t n = touched.each(begin, end, [&](std::int64_t tree, std::int32_t leaf) {
      const std::int32_t id = touched.held(tree);
      const std::int64_t code = id < 0 ? forest.defaults[tree] : forest.code(tree, id);
      sum.remove(forest.row(tree, ways.leaf(tree))[code]);
      sum.add(forest.row(tree, leaf)[code]);
    });
    meter.spend(16 * n + 8 * (end - begin) + 8);
    return sum.value();
  };
  over_records(records, forest, ways, columns.data(), 8, n_jobs, poll,
               [&](Range range, Touched& touched, Meter& meter) {
                 for (std::int64_t r = range.begin; r < range.end; ++r)
                   scores[r] = score(touched, records.begin(r), records.end(r), meter);
               });
}

template <class V>
void forest_probabilities(const Records<V>& records, const WalkForest& forest, double* out,
                          int n_jobs, Poll poll) {
  if (records.n_records == 0) return;
  const DefaultWays ways(forest);
  const std::int64_t n_values = forest.n_values();
  const auto write = [&](std::int64_t tree, std::int32_t leaf, double* to) {
    const double* row = forest.row(tree, leaf);
    for (std::int64_t id = forest.offsets[tree]; id < forest.offsets[tree + 1]; ++id)
      to[id] = row[forest.code(tree, id)];
  };
  const std::vector<std::int32_t> columns = columns_of_ids(forest);
  std::vector<double> empty(static_cast<std::size_t>(n_values));
  for (std::int64_t t = 0; t < forest.n_trees; ++t) write(t, ways.leaf(t), empty.data());
  over_records(records, forest, ways, columns.data(), n_values, n_jobs, poll,
               [&](Range range, Touched& touched, Meter& meter) {
                 for (std::int64_t r = range.begin; r < range.end; ++r) {
                   double* to = out + r * n_values;
                   std::copy(empty.begin(), empty.end(), to);
                   const std::int64_t n = touched.each(
                       records.begin(r), records.end(r),
                       [&](std::int64_t tree, std::int32_t leaf) { write(tree, leaf, to); });
                   meter.spend(n_values + 16 * n);
                 }
               });
}

#define TACIT_INSTANTIATE(V)                                                             \
  template void forest_scores(const Records<V>&, const WalkForest&, double*, int, Poll); \
  template void forest_probabilities(const Records<V>&, const WalkForest&, double*, int, Poll);
TACIT_FOR_VALUE_TYPES(TACIT_INSTANTIATE)
#undef TACIT_INSTANTIATE

}  // namespace tacit
