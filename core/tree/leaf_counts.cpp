#include "tree/leaf_counts.hpp"

#include <algorithm>
#include <utility>
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
    std::fill(out, out + n_classes(leaf) * table_.records.n_values, 0);
    count_into(leaf, out);
  }

  // Counts a leaf and appends what is not zero.
  void count(std::int64_t leaf, DisjointCells& out) {
    const auto size = static_cast<std::size_t>(n_classes(leaf) * table_.records.n_values);
    if (spare_.size() < size) spare_.resize(size, 0);
    touched_.clear();
    touching_ = true;
    if (paths_.ahead_start[leaf] < paths_.ahead_start[leaf + 1]) {
      count_ahead(leaf, out);
    } else {
      count_into(leaf, spare_.data());
      close_cell(leaf, 0, out);
    }
    touching_ = false;
  }

 private:
  std::int64_t n_classes(std::int64_t leaf) const { return table_.arity(paths_.target[leaf]); }

  void enter(std::int64_t leaf, std::int64_t* out) {
    begin_ = paths_.start[leaf];
    end_ = paths_.start[leaf + 1];
    first_ = table_.offsets[paths_.target[leaf]];
    last_ = table_.offsets[paths_.target[leaf] + 1];
    out_ = out;
  }

  // Notes what has been counted in the spare histograms as a disjoint cell, and clears them.
  void close_cell(std::int64_t leaf, std::int64_t mask, DisjointCells& out) {
    if (touched_.empty()) return;
    std::sort(touched_.begin(), touched_.end());
    const std::int64_t n_values = table_.records.n_values;
    for (std::int64_t p = 0; p < n_classes(leaf); ++p) {
      std::int64_t* histogram = spare_.data() + p * n_values;
      for (const std::int32_t v : touched_) {
        if (histogram[v] == 0) continue;
        out.keys.push_back(p * n_values + v);
        out.counts.push_back(histogram[v]);
        histogram[v] = 0;
      }
    }
    touched_.clear();
    out.leaf.push_back(leaf);
    out.mask.push_back(mask);
    out.start.push_back(static_cast<std::int64_t>(out.keys.size()));
  }

  // Sorts records that hold a candidate by which they hold, and counts each set of them apart.
  void count_ahead(std::int64_t leaf, DisjointCells& out) {
    enter(leaf, spare_.data());
    mark(1);
    mark_ahead(leaf);
    held_.clear();
    const std::int64_t rarest = find_rarest();
    const std::int64_t first = paths_.ahead_start[leaf], last = paths_.ahead_start[leaf + 1];
    std::int64_t n_ahead = 0;
    for (std::int64_t j = first; j < last; ++j)
      n_ahead += listed(paths_.ahead_low[j], paths_.ahead_high[j]);
    if (rarest >= 0 && listed(paths_.low[rarest], paths_.high[rarest]) < n_ahead) {
      for (std::int64_t i = table_.start[paths_.low[rarest]]; i < table_.start[paths_.high[rarest]];
           ++i)
        if (const std::int64_t mask = ahead_of(table_.rows[i])) hold(leaf, mask, table_.rows[i]);
    } else {
      for (std::int64_t j = first; j < last; ++j)
        for (std::int64_t i = table_.start[paths_.ahead_low[j]];
             i < table_.start[paths_.ahead_high[j]]; ++i) {
          const std::int64_t mask = ahead_of(table_.rows[i]);
          if ((mask & -mask) == std::int64_t{1} << (j - first)) hold(leaf, mask, table_.rows[i]);
        }
    }
    mark(0);
    for (std::int64_t j = first; j < last; ++j)
      std::fill(ahead_.begin() + paths_.ahead_low[j], ahead_.begin() + paths_.ahead_high[j], 0);
    std::sort(held_.begin(), held_.end());
    for (std::size_t i = 0; i < held_.size(); ++i) {
      tally(held_[i].second);
      if (i + 1 == held_.size() || held_[i + 1].first != held_[i].first)
        close_cell(leaf, held_[i].first, out);
    }
  }

  void mark_ahead(std::int64_t leaf) {
    if (ahead_.empty()) ahead_.assign(static_cast<std::size_t>(table_.records.n_values), 0);
    const std::int64_t first = paths_.ahead_start[leaf];
    for (std::int64_t j = first; j < paths_.ahead_start[leaf + 1]; ++j)
      for (std::int64_t v = paths_.ahead_low[j]; v < paths_.ahead_high[j]; ++v)
        ahead_[static_cast<std::size_t>(v)] |= std::int64_t{1} << (j - first);
  }

  // The candidates that a record holds.
  std::int64_t ahead_of(std::int64_t r) const {
    std::int64_t mask = 0;
    for (const V *v = table_.records.begin(r), *end = table_.records.end(r); v < end; ++v)
      mask |= ahead_[*v];
    return mask;
  }

  void hold(std::int64_t leaf, std::int64_t mask, std::int64_t r) {
    meter_.spend(4 + (table_.records.end(r) - table_.records.begin(r)));
    if (belongs(r)) held_.emplace_back(paths_.ordered[leaf] ? mask & -mask : mask, r);
  }

  std::int64_t listed(std::int64_t low, std::int64_t high) const {
    return table_.start[high] - table_.start[low];
  }

  void count_into(std::int64_t leaf, std::int64_t* out) {
    enter(leaf, out);
    if (begin_ == end_) return count_root();
    mark(1);
    const std::int64_t rarest = find_rarest();
    if (rarest < 0)
      for (std::int64_t r = 0; r < table_.records.n_records; ++r) visit(r);
    else
      for (std::int64_t i = table_.start[paths_.low[rarest]]; i < table_.start[paths_.high[rarest]];
           ++i)
        visit(table_.rows[i]);
    mark(0);
  }

  std::int64_t weight(std::int64_t r) const { return table_.weights ? table_.weights[r] : 1; }

  void count_root() {
    std::copy(singles_.begin(), singles_.end(), out_);
    for (std::size_t v = 0; touching_ && v < singles_.size(); ++v)
      if (singles_[v] > 0) touched_.push_back(static_cast<std::int32_t>(v));
    for (std::int64_t v = first_; v < last_; ++v) {
      std::int64_t* histogram = out_ + (v - first_ + 1) * table_.records.n_values;
      for (std::int64_t i = table_.start[v]; i < table_.start[v + 1]; ++i)
        add(table_.rows[i], histogram);
    }
  }

  void add(std::int64_t r, std::int64_t* histogram) {
    const std::int64_t record_weight = weight(r);
    const V *v = table_.records.begin(r), *end = table_.records.end(r);
    meter_.spend(4 + (end - v));
    for (; v < end; ++v) histogram[*v] += record_weight;
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
      const std::int64_t n = listed(paths_.low[i], paths_.high[i]);
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

  // Whether a record is one of the leaf's and weighs anything.
  bool belongs(std::int64_t r) const {
    if (weight(r) == 0 || (n_outside_ > 0 && holds_barred(r))) return false;
    for (std::int64_t i = begin_; i < end_; ++i)
      if (paths_.inside[i] && find(r, paths_.low[i], paths_.high[i]) < 0) return false;
    return true;
  }

  void visit(std::int64_t r) {
    meter_.spend(4 + (table_.records.end(r) - table_.records.begin(r)));
    if (belongs(r)) tally(r);
  }

  void tally(std::int64_t r) {
    if (touching_)
      for (const V *v = table_.records.begin(r), *end = table_.records.end(r); v < end; ++v)
        if (out_[*v] == 0) touched_.push_back(static_cast<std::int32_t>(*v));
    add(r, out_);
    const std::int64_t id = find(r, first_, last_);
    if (id >= 0) add(r, out_ + (id - first_ + 1) * table_.records.n_values);
  }

  const TreeTable<V>& table_;
  const LeafPaths& paths_;
  const std::vector<std::int64_t>& singles_;
  Meter& meter_;
  std::int64_t begin_ = 0, end_ = 0, first_ = 0, last_ = 0, n_outside_ = 0;
  std::int64_t* out_ = nullptr;
  std::vector<std::uint8_t> barred_;  // by value id; 0 between leaves
  std::vector<std::int64_t> spare_;   // histograms of leaves that are not dense; 0 between them
  std::vector<std::int32_t> touched_;
  std::vector<std::int64_t> ahead_;  // the candidates that have a value id; 0 between leaves
  std::vector<std::pair<std::int64_t, std::int64_t>> held_;  // candidates and the record
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
DisjointCells leaf_counts(const TreeTable<V>& table, const LeafPaths& paths, std::int64_t* out,
                          int n_jobs, Poll poll) {
  const auto is_root = [&](std::int64_t k) {
    return paths.start[k] == paths.start[k + 1] && paths.ahead_start[k] == paths.ahead_start[k + 1];
  };
  std::vector<std::int64_t> singles;
  for (std::int64_t k = 0; k < paths.n_leaves && singles.empty(); ++k)
    if (is_root(k)) singles = count_singles(table);
  const std::int64_t n_blocks = std::min<std::int64_t>(paths.n_leaves, 256);
  std::vector<DisjointCells> parts(static_cast<std::size_t>(n_blocks));
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t block, StopToken& token) {
    Meter meter(token);
    LeafCounter<V> counter(table, paths, singles, meter);
    const Range leaves = block_range(paths.n_leaves, n_blocks, block);
    for (std::int64_t k = leaves.begin; k < leaves.end; ++k) {
      if (paths.dense[k])
        counter.count(k, out + paths.out_start[k]);
      else
        counter.count(k, parts[static_cast<std::size_t>(block)]);
    }
  });
  if (n_blocks == 1) return std::move(parts[0]);
  DisjointCells all;
  std::size_t n_keys = 0;
  for (const DisjointCells& part : parts) n_keys += part.keys.size();
  all.keys.reserve(n_keys);
  all.counts.reserve(n_keys);
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (const DisjointCells& part : parts) {
    const auto before = static_cast<std::int64_t>(all.keys.size());
    for (std::size_t i = 1; i < part.start.size(); ++i) all.start.push_back(before + part.start[i]);
    append(all.leaf, part.leaf);
    append(all.mask, part.mask);
    append(all.keys, part.keys);
    append(all.counts, part.counts);
  }
  return all;
}

DisjointCells add_disjoint_cells(const DisjointCellView& one, const DisjointCellView& other) {
  DisjointCells all;
  const auto n_keys = static_cast<std::size_t>(one.start[one.n_cells] + other.start[other.n_cells]);
  all.keys.reserve(n_keys);
  all.counts.reserve(n_keys);
  const auto push = [&](std::int64_t cell, std::int64_t count) {
    all.keys.push_back(cell);
    all.counts.push_back(count);
  };
  std::int64_t i = 0, j = 0;
  while (i < one.n_cells || j < other.n_cells) {
    int which = i == one.n_cells ? 1 : j == other.n_cells ? -1 : 0;  // the side that comes first
    if (which == 0) {
      const auto a = std::pair(one.leaf[i], one.mask[i]),
                 b = std::pair(other.leaf[j], other.mask[j]);
      which = a < b ? -1 : b < a ? 1 : 0;
    }
    all.leaf.push_back(which > 0 ? other.leaf[j] : one.leaf[i]);
    all.mask.push_back(which > 0 ? other.mask[j] : one.mask[i]);
    std::int64_t a = 0, a_end = 0, b = 0, b_end = 0;
    if (which <= 0) {
      a = one.start[i];
      a_end = one.start[++i];
    }
    if (which >= 0) {
      b = other.start[j];
      b_end = other.start[++j];
    }
    while (a < a_end && b < b_end) {
      const std::int64_t x = one.keys[a], y = other.keys[b];
      const std::int64_t sum = (x <= y ? one.counts[a] : 0) + (y <= x ? other.counts[b] : 0);
      push(std::min(x, y), sum);
      a += x <= y;
      b += y <= x;
    }
    for (; a < a_end; ++a) push(one.keys[a], one.counts[a]);
    for (; b < b_end; ++b) push(other.keys[b], other.counts[b]);
    all.start.push_back(static_cast<std::int64_t>(all.keys.size()));
  }
  return all;
}

TakenLeaves take_disjoint_cells(const DisjointCellView& cells,
                                const std::vector<CellChoice>& choices, std::int64_t n_values) {
  TakenLeaves all;
  std::vector<std::int64_t> position(static_cast<std::size_t>(n_values), -1);  // -1 between leaves
  for (const CellChoice& choice : choices) {
    const auto chosen = [&](std::int64_t i) {
      return (choice.bit < 0 || (cells.mask[i] >> choice.bit & 1)) &&
             !(cells.mask[i] & choice.used);
    };
    const auto begin = static_cast<std::ptrdiff_t>(all.ids.size());
    for (std::int64_t i = choice.begin; i < choice.end; ++i) {
      if (!chosen(i)) continue;
      for (std::int64_t c = cells.start[i]; c < cells.start[i + 1]; ++c) {
        const std::int64_t id = cells.keys[c] % n_values;
        std::int64_t& at = position[static_cast<std::size_t>(id)];
        if (at < 0) all.ids.push_back(static_cast<std::int32_t>(id));
        at = 0;
      }
    }
    std::sort(all.ids.begin() + begin, all.ids.end());
    const std::int64_t n = static_cast<std::int64_t>(all.ids.size()) - begin;
    for (std::int64_t k = 0; k < n; ++k)
      position[static_cast<std::size_t>(all.ids[static_cast<std::size_t>(begin + k)])] = k;
    const std::int64_t first = all.histogram_start.back();
    all.histograms.resize(static_cast<std::size_t>(first + choice.n_classes * n), 0);
    for (std::int64_t i = choice.begin; i < choice.end; ++i) {
      if (!chosen(i)) continue;
      for (std::int64_t c = cells.start[i]; c < cells.start[i + 1]; ++c) {
        const std::int64_t histogram = cells.keys[c] / n_values, id = cells.keys[c] % n_values;
        all.histograms[static_cast<std::size_t>(
            first + histogram * n + position[static_cast<std::size_t>(id)])] += cells.counts[c];
      }
    }
    for (std::int64_t k = 0; k < n; ++k)
      position[static_cast<std::size_t>(all.ids[static_cast<std::size_t>(begin + k)])] = -1;
    all.id_start.push_back(static_cast<std::int64_t>(all.ids.size()));
    all.histogram_start.push_back(static_cast<std::int64_t>(all.histograms.size()));
  }
  return all;
}

bool subtract_histograms(std::int64_t n_classes, const LeafCells& leaf, std::int64_t* histograms,
                         const LeafCells& part, const std::int64_t* counts) {
  std::vector<std::int64_t> position(static_cast<std::size_t>(part.n));
  for (std::int64_t i = 0, at = 0; i < part.n; ++i) {
    const std::int64_t id = part.ids ? part.ids[i] : i;
    if (leaf.ids)
      while (at < leaf.n && leaf.ids[at] < id) ++at;
    else
      at = id;
    if (at < 0 || at >= leaf.n || (leaf.ids && leaf.ids[at] != id)) return false;
    position[static_cast<std::size_t>(i)] = at;
  }
  for (std::int64_t p = 0; p < n_classes; ++p)
    for (std::int64_t i = 0; i < part.n; ++i)
      histograms[p * leaf.n + position[static_cast<std::size_t>(i)]] -= counts[p * part.n + i];
  return true;
}

#define TACIT_INSTANTIATE(V)                                                                    \
  template DisjointCells leaf_counts(const TreeTable<V>&, const LeafPaths&, std::int64_t*, int, \
                                     Poll);
TACIT_FOR_VALUE_TYPES(TACIT_INSTANTIATE)
#undef TACIT_INSTANTIATE

}  // namespace tacit
