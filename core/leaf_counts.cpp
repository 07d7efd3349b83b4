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
    std::fill(out, out + n_planes(leaf) * table_.records.n_values, 0);
    count_into(leaf, out);
  }

  // Counts a leaf and appends what is not zero.
  void count(std::int64_t leaf, SparseCounts& found) {
    const std::int64_t n_values = table_.records.n_values;
    const auto size = static_cast<std::size_t>(n_planes(leaf) * n_values);
    if (spare_.size() < size) spare_.resize(size, 0);
    touched_.clear();
    touching_ = true;
    count_into(leaf, spare_.data());
    touching_ = false;
    std::sort(touched_.begin(), touched_.end());
    for (std::int64_t p = 0; p < n_planes(leaf); ++p) {
      std::int64_t* plane = spare_.data() + p * n_values;
      for (const std::int32_t v : touched_) {
        if (plane[v] == 0) continue;
        found.ids.push_back(v);
        found.counts.push_back(plane[v]);
        plane[v] = 0;
      }
      found.row_start.push_back(static_cast<std::int64_t>(found.ids.size()));
    }
  }

 private:
  std::int64_t n_planes(std::int64_t leaf) const { return table_.arity(paths_.target[leaf]); }

  void count_into(std::int64_t leaf, std::int64_t* out) {
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

  std::int64_t weight(std::int64_t r) const { return table_.weights ? table_.weights[r] : 1; }

  void count_root() {
    std::copy(singles_.begin(), singles_.end(), out_);
    for (std::size_t v = 0; touching_ && v < singles_.size(); ++v)
      if (singles_[v] > 0) touched_.push_back(static_cast<std::int32_t>(v));
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
    if (weight(r) == 0) return;
    if (n_outside_ > 0 && holds_barred(r)) return;
    for (std::int64_t i = begin_; i < end_; ++i)
      if (paths_.inside[i] && find(r, paths_.low[i], paths_.high[i]) < 0) return;
    if (touching_)
      for (const V *v = table_.records.begin(r), *end = table_.records.end(r); v < end; ++v)
        if (out_[*v] == 0) touched_.push_back(static_cast<std::int32_t>(*v));
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
  std::vector<std::int64_t> spare_;   // planes of leaves that are not dense; 0 between them
  std::vector<std::int32_t> touched_;
  bool touching_ = false;  // whether to note ids when they are first counted
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
SparseCounts leaf_counts(const TreeTable<V>& table, const LeafPaths& paths, std::int64_t* out,
                         int n_jobs, Poll poll) {
  const auto is_root = [&](std::int64_t k) { return paths.start[k] == paths.start[k + 1]; };
  std::vector<std::int64_t> singles;
  for (std::int64_t k = 0; k < paths.n_leaves && singles.empty(); ++k)
    if (is_root(k)) singles = count_singles(table);
  const std::int64_t n_blocks = std::min<std::int64_t>(paths.n_leaves, 256);
  std::vector<SparseCounts> parts(static_cast<std::size_t>(n_blocks));
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t block, Pulse& pulse) {
    Meter meter(pulse);
    LeafCounter<V> counter(table, paths, singles, meter);
    const Range own = block_range(paths.n_leaves, n_blocks, block);
    for (std::int64_t k = own.begin; k < own.end; ++k) {
      if (paths.dense[k])
        counter.count(k, out + paths.out_start[k]);
      else
        counter.count(k, parts[static_cast<std::size_t>(block)]);
    }
  });
  SparseCounts all;
  for (const SparseCounts& part : parts) {
    const auto before = static_cast<std::int64_t>(all.ids.size());
    for (std::size_t i = 1; i < part.row_start.size(); ++i)
      all.row_start.push_back(before + part.row_start[i]);
    all.ids.insert(all.ids.end(), part.ids.begin(), part.ids.end());
    all.counts.insert(all.counts.end(), part.counts.begin(), part.counts.end());
  }
  return all;
}

#define TACIT_INSTANTIATE(V)                                                                      \
  template SparseCounts leaf_counts(const TreeTable<V>&, const LeafPaths&, std::int64_t*, int, \
                                    Poll);
TACIT_INSTANTIATE(std::uint16_t)
TACIT_INSTANTIATE(std::uint32_t)
#undef TACIT_INSTANTIATE

}  // namespace tacit
