#include "leaf_counts.hpp"

#include <algorithm>
#include <vector>

namespace tacit {
namespace {

template <class V>
class LeafCounter {
 public:
  LeafCounter(const TreeTable<V>& table, const LeafPaths& paths,
              const std::vector<std::int64_t>& singles, Meter& meter)
      : table_(table), paths_(paths), singles_(singles), meter_(meter) {}

  void count(std::int64_t leaf, std::int64_t* out) {
    begin_ = paths_.start[leaf];
    end_ = paths_.start[leaf + 1];
    first_ = table_.offsets[paths_.target[leaf]];
    last_ = table_.offsets[paths_.target[leaf] + 1];
    out_ = out;
    if (begin_ == end_) return count_root();
    mark(1);
    const std::int64_t rarest = find_rarest();
    if (rarest < 0)
      for (std::int64_t r = 0; r < table_.records.n_records; ++r) visit(r);
    else
      for (std::int64_t i = table_.start[paths_.low[rarest]];
           i < table_.start[paths_.high[rarest]]; ++i)
        visit(table_.rows[i]);
    mark(0);
  }

 private:
  std::int64_t weight(std::int64_t r) const { return table_.weights ? table_.weights[r] : 1; }

  void count_root() {
    std::copy(singles_.begin(), singles_.end(), out_);
    for (std::int64_t v = first_; v < last_; ++v) {
      std::int64_t* plane = out_ + (v - first_ + 1) * table_.records.n_values;
      for (std::int64_t i = table_.start[v]; i < table_.start[v + 1]; ++i)
        add(table_.rows[i], plane);
    }
  }

  void add(std::int64_t r, std::int64_t* plane) {
    const std::int64_t own = weight(r);
    const V *v = table_.records.begin(r), *end = table_.records.end(r);
    meter_.spend(4 + (end - v));
    for (; v < end; ++v) plane[*v] += own;
  }

  // Marks ids that the leaf's records do not hold, or clears the marks.
  void mark(std::uint8_t flag) {
    if (barred_.empty()) barred_.assign(static_cast<std::size_t>(table_.records.n_values), 0);
    n_outside_ = 0;
    for (std::int64_t i = begin_; i < end_; ++i) {
      if (paths_.inside[i]) continue;
      std::fill(barred_.begin() + paths_.low[i], barred_.begin() + paths_.high[i], flag);
      ++n_outside_;
    }
  }

  std::int64_t find_rarest() const {
    std::int64_t rarest = -1, fewest = 0;
    for (std::int64_t i = begin_; i < end_; ++i) {
      if (!paths_.inside[i]) continue;
      const std::int64_t n = table_.start[paths_.high[i]] - table_.start[paths_.low[i]];
      if (rarest < 0 || n < fewest) {
        rarest = i;
        fewest = n;
      }
    }
    return rarest;
  }

  // The id in [low, high) that a record holds, or -1.
  std::int64_t find(std::int64_t r, std::int64_t low, std::int64_t high) const {
    const V* end = table_.records.end(r);
    const V* at = std::lower_bound(table_.records.begin(r), end, low, [](V id, std::int64_t x) {
      return static_cast<std::int64_t>(id) < x;
    });
    return at < end && static_cast<std::int64_t>(*at) < high ? static_cast<std::int64_t>(*at) : -1;
  }

  // Of few ids each is looked up among the marks, among many each condition is.
  bool holds_barred(std::int64_t r) const {
    const V *v = table_.records.begin(r), *end = table_.records.end(r);
    if (end - v <= 4 * n_outside_)
      return std::any_of(v, end, [&](V id) { return barred_[id] != 0; });
    for (std::int64_t i = begin_; i < end_; ++i)
      if (!paths_.inside[i] && find(r, paths_.low[i], paths_.high[i]) >= 0) return true;
    return false;
  }

  void visit(std::int64_t r) {
    meter_.spend(4 + (table_.records.end(r) - table_.records.begin(r)));
    if (n_outside_ > 0 && holds_barred(r)) return;
    for (std::int64_t i = begin_; i < end_; ++i)
      if (paths_.inside[i] && find(r, paths_.low[i], paths_.high[i]) < 0) return;
    add(r, out_);
    const std::int64_t own = find(r, first_, last_);
    if (own >= 0) add(r, out_ + (own - first_ + 1) * table_.records.n_values);
  }

  const TreeTable<V>& table_;
  const LeafPaths& paths_;
  const std::vector<std::int64_t>& singles_;
  Meter& meter_;
  std::int64_t begin_ = 0, end_ = 0, first_ = 0, last_ = 0, n_outside_ = 0;
  std::int64_t* out_ = nullptr;
  std::vector<std::uint8_t> barred_;  // by value id; 0 between leaves
};

// The weight of each value: what all roots have in common.
template <class V>
std::vector<std::int64_t> count_singles(const TreeTable<V>& table) {
  std::vector<std::int64_t> singles(static_cast<std::size_t>(table.records.n_values), 0);
  for (std::size_t v = 0; v < singles.size(); ++v) {
    if (!table.weights)
      singles[v] = table.start[v + 1] - table.start[v];
    else
      for (std::int64_t i = table.start[v]; i < table.start[v + 1]; ++i)
        singles[v] += table.weights[table.rows[i]];
  }
  return singles;
}

}  // namespace

template <class V>
void leaf_counts(const TreeTable<V>& table, const LeafPaths& paths, std::int64_t* out, int n_jobs,
                 Poll poll) {
  const auto is_root = [&](std::int64_t k) { return paths.start[k] == paths.start[k + 1]; };
  std::vector<std::int64_t> singles;
  for (std::int64_t k = 0; k < paths.n_leaves && singles.empty(); ++k)
    if (is_root(k)) singles = count_singles(table);
  const std::int64_t n_blocks = std::min<std::int64_t>(paths.n_leaves, 256);
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t block, Pulse& pulse) {
    Meter meter(pulse);
    LeafCounter<V> counter(table, paths, singles, meter);
    const Range own = block_range(paths.n_leaves, n_blocks, block);
    for (std::int64_t k = own.begin; k < own.end; ++k) {
      std::int64_t* counts = out + paths.out_start[k];
      std::fill(counts, out + paths.out_start[k + 1], 0);
      counter.count(k, counts);
    }
  });
}

#define TACIT_INSTANTIATE(V)                                                                  \
  template void leaf_counts(const TreeTable<V>&, const LeafPaths&, std::int64_t*, int, Poll);
TACIT_INSTANTIATE(std::uint16_t)
TACIT_INSTANTIATE(std::uint32_t)
#undef TACIT_INSTANTIATE

}  // namespace tacit
