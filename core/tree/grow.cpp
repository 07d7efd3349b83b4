#include <algorithm>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "tree/graph.hpp"

namespace tacit {
namespace {

// Histograms are [all, classes but the default in order]; results have all classes in order.
void to_classes(GrownTree& tree, std::int64_t base) {
  const std::int64_t k = tree.n_stats;
  for (std::int64_t node = 0; node < tree.n_nodes(); ++node) {
    std::int64_t* stats = tree.stats.data() + node * k;
    for (std::int64_t p = 1; p < k; ++p) stats[0] -= stats[p];
    std::rotate(stats, stats + 1, stats + base + 1);
  }
}

template <class V, class T>
GrownTree grow_one(const TreeTable<V>& table, const TreeColumns& columns, const TreeTarget& target,
                   std::int64_t n_stats, const std::vector<std::int64_t>& excluded,
                   const std::int64_t* pairs, std::int64_t target_column, const TreeRules& rules,
                   TreeScratch& scratch, Meter& meter) {
  std::int64_t whole = table.records.n_records;
  if (table.weights) {
    whole = 0;
    for (std::int64_t r = 0; r < table.records.n_records; ++r) whole += table.weights[r];
  }
  TreeGrower<V, T> grower(table, columns, target, n_stats, whole, excluded, pairs, target_column,
                          rules, scratch, meter);
  grower.grow();
  if (rules.merge) grower.merge();
  return grower.take_tree();
}

// The class of most records: the others' are the ones that are counted.
std::int64_t base_class(const TreeTarget& target, std::int64_t n_records) {
  if (target.n_classes == 2) {
    std::int64_t ones = 0;
    for (std::int64_t r = 0; r < n_records; ++r) ones += target.classes[r];
    return 2 * ones > n_records;
  }
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(target.n_classes), 0);
  for (std::int64_t r = 0; r < n_records; ++r) ++sizes[static_cast<std::size_t>(target.classes[r])];
  return std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
}

// Lists every record and keeps the minority ones: which they are cannot be guessed.
void list_minority(const TreeTarget& target, std::int64_t n_records, std::int64_t base,
                   std::vector<MinorityRecord>& minority) {
  minority.resize(static_cast<std::size_t>(n_records) + 1);
  MinorityRecord* next = minority.data();
  for (std::int64_t r = 0; r < n_records; ++r) {
    const std::int32_t code = target.classes ? target.classes[r] : 0;
    *next = {static_cast<std::int32_t>(r), code + (code < base ? 1 : 0)};
    next +=
        target.classes ? code != base : (target.first_moments[r] | target.second_moments[r]) != 0;
  }
  minority.resize(static_cast<std::size_t>(next - minority.data()));
}

// A token for work on the calling thread alone.
class CallerToken : public StopToken {
 public:
  explicit CallerToken(Poll poll) : poller_(poll) {}
  void check() override { poller_.check(); }

 private:
  Poller poller_;
};

// Lends each thread what it needs to grow trees, and takes it back.
class ScratchPool {
 public:
  std::unique_ptr<TreeScratch> take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty()) return std::make_unique<TreeScratch>();
    auto scratch = std::move(free_.back());
    free_.pop_back();
    return scratch;
  }
  void give(std::unique_ptr<TreeScratch> scratch) {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(std::move(scratch));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<TreeScratch>> free_;
};

}  // namespace

template <class V>
GrownTree grow_tree(const TreeTable<V>& table, const TreeTarget& target,
                    const std::vector<std::int64_t>& excluded, const TreeRules& rules, Poll poll) {
  CallerToken token(poll);
  Meter meter(token);
  TreeScratch scratch;
  const TreeColumns columns(table);
  const std::int64_t n_records = table.records.n_records;
  const std::int64_t base = target.classes ? base_class(target, n_records) : 0;
  list_minority(target, n_records, base, scratch.minority);
  const std::int64_t n_stats = target.classes ? target.n_classes : 3;
  const auto grow =
      table.weights || !target.classes ? grow_one<V, std::int64_t> : grow_one<V, std::int32_t>;
  GrownTree tree =
      grow(table, columns, target, n_stats, excluded, nullptr, -1, rules, scratch, meter);
  if (target.classes) to_classes(tree, base);
  return tree;
}

template <class V>
std::vector<GrownTree> grow_forest(const TreeTable<V>& table,
                                   const std::vector<std::int64_t>& targets,
                                   const std::int64_t* pairs, const TreeRules& rules, int n_jobs,
                                   Poll poll) {
  const TreeColumns columns(table);
  std::vector<GrownTree> trees(targets.size());
  ScratchPool pool;
  const auto grow = table.weights ? grow_one<V, std::int64_t> : grow_one<V, std::int32_t>;
  for_blocks(
      static_cast<std::int64_t>(targets.size()), n_jobs, poll,
      [&](std::int64_t block, StopToken& token) {
        Meter meter(token);
        auto scratch = pool.take();
        const std::int64_t column = targets[static_cast<std::size_t>(block)];
        const std::int64_t first = table.offsets[column];
        scratch->minority.clear();
        for (std::int64_t v = first; v < table.offsets[column + 1]; ++v)
          for (std::int64_t i = table.start[v]; i < table.start[v + 1]; ++i)
            scratch->minority.push_back({table.rows[i], static_cast<std::int32_t>(v - first + 1)});
        const TreeTarget target{nullptr, table.arity(column), nullptr, nullptr};
        GrownTree& tree = trees[static_cast<std::size_t>(block)];
        tree = grow(table, columns, target, target.n_classes, {column},
                    table.weights ? nullptr : pairs, column, rules, *scratch, meter);
        to_classes(tree, table.defaults[column]);
        pool.give(std::move(scratch));
      });
  return trees;
}

#define TACIT_INSTANTIATE(V)                                                              \
  template GrownTree grow_tree(const TreeTable<V>&, const TreeTarget&,                    \
                               const std::vector<std::int64_t>&, const TreeRules&, Poll); \
  template std::vector<GrownTree> grow_forest(const TreeTable<V>&,                        \
                                              const std::vector<std::int64_t>&,           \
                                              const std::int64_t*, const TreeRules&, int, Poll);
TACIT_FOR_VALUE_TYPES(TACIT_INSTANTIATE)
#undef TACIT_INSTANTIATE

}  // namespace tacit
