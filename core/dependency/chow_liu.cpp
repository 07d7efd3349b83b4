#include "dependency/chow_liu.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

#include "base/fast_log.hpp"
#include "base/records.hpp"

namespace tacit {
namespace {

double times_log(double x) { return x > 0 ? x * fast_log(x) : 0.0; }

// Of two edges the one that comes first: more information, or else the smaller ends. Digits beyond
// the twelfth depend on the order of summation, and do not count.
bool comes_first(const TreeEdge& x, const TreeEdge& y) {
  const double first = std::nearbyint(x.weight * 1e12), second = std::nearbyint(y.weight * 1e12);
  if (first != second) return first > second;
  return x.a != y.a ? x.a < y.a : x.b < y.b;
}

TreeEdge make_edge(std::int32_t a, std::int32_t b, double weight) {
  return {std::min(a, b), std::max(a, b), weight};
}

// What every pair of a column needs: records with its stored values, and parts of its entropy.
struct Margin {
  double stored = 0;     // Σ counts of stored values
  double of_values = 0;  // Σ x log x over them
  double all = 0;        // the same with the default
};

template <class CountOf>
std::vector<Margin> find_margins(const PairColumns& columns, const CountOf& count_of) {
  std::vector<Margin> margins(static_cast<std::size_t>(columns.n_columns));
  for (std::int64_t c = 0; c < columns.n_columns; ++c) {
    Margin& margin = margins[static_cast<std::size_t>(c)];
    for (std::int64_t v = columns.offsets[c]; v < columns.offsets[c + 1]; ++v) {
      margin.stored += count_of(v);
      margin.of_values += times_log(count_of(v));
    }
    margin.all = margin.of_values + times_log(columns.total - margin.stored);
  }
  return margins;
}

// Information of two columns from Σ x log x over the cells of their table.
double information(double cells, const Margin& a, const Margin& b, double total) {
  return std::max(0.0, (cells - a.all - b.all + times_log(total)) / total);
}

// The full table of two columns, for the few that need it: what is not known does not count.
template <class Count>
class KnownPairs {
 public:
  KnownPairs(const Count* square, const PairColumns& columns, const std::uint8_t* unknown,
             const std::uint8_t* default_unknown)
      : square_(square), columns_(columns), unknown_(unknown), default_unknown_(default_unknown) {}

  double operator()(std::int64_t a, std::int64_t b) {
    const std::int64_t n_values = columns_.offsets[columns_.n_columns];
    const std::int64_t a0 = columns_.offsets[a], ra = columns_.offsets[a + 1] - a0;
    const std::int64_t b0 = columns_.offsets[b], rb = columns_.offsets[b + 1] - b0;
    rows_.assign(static_cast<std::size_t>(ra + 1), 0.0);
    sides_.assign(static_cast<std::size_t>(rb + 1), 0.0);
    double cells = 0, total = 0;
    const auto add = [&](std::int64_t i, std::int64_t j, double x) {
      if (i < ra ? unknown_[a0 + i] : default_unknown_[a]) return;
      if (j < rb ? unknown_[b0 + j] : default_unknown_[b]) return;
      cells += times_log(x);
      rows_[static_cast<std::size_t>(i)] += x;
      sides_[static_cast<std::size_t>(j)] += x;
      total += x;
    };
    double corner = columns_.total;
    std::vector<double> left(static_cast<std::size_t>(rb));
    for (std::int64_t j = 0; j < rb; ++j)
      left[static_cast<std::size_t>(j)] =
          static_cast<double>(square_[(b0 + j) * n_values + b0 + j]);
    for (std::int64_t i = 0; i < ra; ++i) {
      double rest = static_cast<double>(square_[(a0 + i) * n_values + a0 + i]);
      corner -= rest;
      for (std::int64_t j = 0; j < rb; ++j) {
        const auto x = static_cast<double>(square_[(a0 + i) * n_values + b0 + j]);
        rest -= x;
        left[static_cast<std::size_t>(j)] -= x;
        add(i, j, x);
      }
      add(i, rb, rest);
    }
    for (std::int64_t j = 0; j < rb; ++j) {
      corner -= left[static_cast<std::size_t>(j)];
      add(ra, j, left[static_cast<std::size_t>(j)]);
    }
    add(ra, rb, corner);
    if (total <= 0) return 0;
    double margins = 0;
    for (const double x : rows_) margins += times_log(x);
    for (const double x : sides_) margins += times_log(x);
    return std::max(0.0, (cells - margins + times_log(total)) / total);
  }

 private:
  const Count* square_;
  const PairColumns& columns_;
  const std::uint8_t *unknown_, *default_unknown_;
  std::vector<double> rows_, sides_;
};

class Sets {  // of connected columns
 public:
  explicit Sets(std::int64_t n) : parent_(static_cast<std::size_t>(n)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  std::int32_t find(std::int32_t x) {
    while (at(x) != x) x = at(x) = at(at(x));
    return x;
  }
  bool join(std::int32_t a, std::int32_t b) {
    a = find(a), b = find(b);
    if (a == b) return false;
    at(std::max(a, b)) = std::min(a, b);
    return true;
  }

 private:
  std::int32_t& at(std::int32_t x) { return parent_[static_cast<std::size_t>(x)]; }
  std::vector<std::int32_t> parent_;
};

// Which ranks are not yet connected with rank 0. Most soon are, and then no queue of theirs has to
// look at each other's members again.
class Outside {
 public:
  explicit Outside(const std::vector<std::int32_t>& ranked) : next_(ranked.size() + 1) {
    std::iota(next_.begin(), next_.end(), 0);
    rank_of_.resize(ranked.size());
    members_.resize(ranked.size());
    set_of_.resize(ranked.size());
    for (std::size_t rank = 0; rank < ranked.size(); ++rank) {
      rank_of_[static_cast<std::size_t>(ranked[rank])] = static_cast<std::int32_t>(rank);
      members_[rank] = {static_cast<std::int32_t>(rank)};
      set_of_[rank] = static_cast<std::int32_t>(rank);
    }
    if (!ranked.empty()) next_[0] = 1;
  }
  bool has(std::int32_t rank) const { return at(next_, rank) == rank; }
  std::int32_t first(std::int32_t rank) {  // the first such rank that is not before this one
    std::int32_t end = rank;
    while (at(next_, end) != end) end = at(next_, end);
    while (at(next_, rank) != rank) {
      const std::int32_t then = at(next_, rank);
      next_[static_cast<std::size_t>(rank)] = end;
      rank = then;
    }
    return end;
  }
  void join(std::int32_t a, std::int32_t b) {  // two columns of different sets
    std::int32_t x = at(set_of_, at(rank_of_, a)), y = at(set_of_, at(rank_of_, b));
    if (x != at(set_of_, 0) && (y == at(set_of_, 0) || members(y).size() > members(x).size()))
      std::swap(x, y);
    for (const std::int32_t rank : members(y)) {
      set_of_[static_cast<std::size_t>(rank)] = x;
      if (x == at(set_of_, 0)) next_[static_cast<std::size_t>(rank)] = rank + 1;
    }
    members(x).insert(members(x).end(), members(y).begin(), members(y).end());
    members(y).clear();
  }

 private:
  static std::int32_t at(const std::vector<std::int32_t>& of, std::int32_t k) {
    return of[static_cast<std::size_t>(k)];
  }
  std::vector<std::int32_t>& members(std::int32_t set) {
    return members_[static_cast<std::size_t>(set)];
  }
  std::vector<std::int32_t> next_, rank_of_, set_of_;
  std::vector<std::vector<std::int32_t>> members_;
};

// Joins edges in order, heavy ones first; the light ones are only sorted if they are still needed.
void kruskal(TreeEdge* begin, TreeEdge* end, Sets& sets, std::vector<TreeEdge>& tree) {
  end = std::partition(begin, end,
                       [&](const TreeEdge& e) { return sets.find(e.a) != sets.find(e.b); });
  if (end - begin < 4096) {
    std::sort(begin, end, comes_first);
    for (const TreeEdge* e = begin; e < end; ++e)
      if (sets.join(e->a, e->b)) tree.push_back(*e);
    return;
  }
  TreeEdge* middle = begin + (end - begin) / 8;
  std::nth_element(begin, middle, end, comes_first);
  kruskal(begin, middle, sets, tree);
  kruskal(middle, end, sets, tree);
}

template <class Count>
class SparseTree {
 public:
  SparseTree(const std::int64_t* indptr, const std::int32_t* indices, const Count* counts,
             const PairColumns& columns)
      : indptr_(indptr), indices_(indices), counts_(counts), columns_(columns) {
    const std::int64_t n_values = columns.offsets[columns.n_columns];
    singles_.resize(static_cast<std::size_t>(n_values));
    for (std::int64_t v = 0; v < n_values; ++v) {
      const std::int32_t* end = indices + indptr[v + 1];
      const std::int32_t* position =
          std::lower_bound(indices + indptr[v], end, static_cast<std::int32_t>(v));
      const bool there = position < end && *position == v;
      singles_[static_cast<std::size_t>(v)] =
          there ? static_cast<double>(counts[position - indices]) : 0.0;
    }
    margins_ = find_margins(columns,
                            [&](std::int64_t v) { return singles_[static_cast<std::size_t>(v)]; });
    column_of_.resize(singles_.size());
    for (std::int64_t c = 0; c < columns.n_columns; ++c)
      std::fill(column_of_.begin() + columns.offsets[c],
                column_of_.begin() + columns.offsets[c + 1], static_cast<std::int32_t>(c));
  }

  std::vector<TreeEdge> find(int n_jobs, Poll poll) {
    std::vector<TreeEdge> candidates = of_neighbours(n_jobs, poll);
    const auto others = of_strangers(poll);
    candidates.insert(candidates.end(), others.begin(), others.end());
    // The tree of all edges is in the trees of any two parts of them.
    Sets sets(columns_.n_columns);
    std::vector<TreeEdge> tree;
    kruskal(candidates.data(), candidates.data() + candidates.size(), sets, tree);
    return tree;
  }

 private:
  // Columns that share values: weighed one by one, and thinned out to a forest block by block.
  std::vector<TreeEdge> of_neighbours(int n_jobs, Poll poll) {
    const std::int64_t n = columns_.n_columns, n_blocks = std::min<std::int64_t>(n, 64 * n_jobs);
    std::vector<std::vector<TreeEdge>> parts(static_cast<std::size_t>(n_blocks));
    for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t block, StopToken& token) {
      auto& edges = parts[static_cast<std::size_t>(block)];
      const Range range = block_range(n, n_blocks, block);
      std::vector<Shared> room;
      Meter meter(token);
      for (std::int64_t a = range.begin; a < range.end; ++a) {
        weigh(static_cast<std::int32_t>(a), room, edges);
        meter.spend(static_cast<std::int64_t>(room.size()));
      }
      Sets sets(n);
      std::vector<TreeEdge> forest;
      kruskal(edges.data(), edges.data() + edges.size(), sets, forest);
      edges = std::move(forest);
    });
    std::vector<TreeEdge> edges, forest;
    for (auto& part : parts) edges.insert(edges.end(), part.begin(), part.end());
    Sets sets(n);
    kruskal(edges.data(), edges.data() + edges.size(), sets, forest);
    return forest;
  }

  struct Shared {
    std::int32_t other, value;  // value ids
    double count;
  };

  // All edges from a to later columns with which it shares values.
  void weigh(std::int32_t a, std::vector<Shared>& room, std::vector<TreeEdge>& edges) const {
    const std::int64_t begin = columns_.offsets[a], end = columns_.offsets[a + 1];
    room.clear();
    for (std::int64_t v = begin; v < end; ++v) {
      const std::int32_t* last = indices_ + indptr_[v + 1];
      for (const std::int32_t* p =
               std::lower_bound(indices_ + indptr_[v], last, static_cast<std::int32_t>(end));
           p < last; ++p)
        room.push_back(
            {*p, static_cast<std::int32_t>(v), static_cast<double>(counts_[p - indices_])});
    }
    if (end - begin > 1)
      std::sort(room.begin(), room.end(), [](const Shared& x, const Shared& y) {
        return x.other != y.other ? x.other < y.other : x.value < y.value;
      });
    std::vector<double> shared_counts(static_cast<std::size_t>(end - begin), 0.0);
    for (std::size_t k = 0; k < room.size();) {
      const std::int32_t b = column_of_[static_cast<std::size_t>(room[k].other)];
      double cells = margins_[static_cast<std::size_t>(a)].of_values +
                     margins_[static_cast<std::size_t>(b)].of_values;
      double both = 0;
      const std::size_t first = k;
      while (k < room.size() && column_of_[static_cast<std::size_t>(room[k].other)] == b) {
        const std::int32_t value = room[k].other;
        double of_value = 0;
        for (; k < room.size() && room[k].other == value; ++k) {
          cells += times_log(room[k].count);
          of_value += room[k].count;
          shared_counts[static_cast<std::size_t>(room[k].value - begin)] += room[k].count;
        }
        const double single = singles_[static_cast<std::size_t>(value)];
        cells += times_log(single - of_value) - times_log(single);
        both += of_value;
      }
      for (std::size_t s = first; s < k; ++s) {
        double& shared = shared_counts[static_cast<std::size_t>(room[s].value - begin)];
        if (shared == 0) continue;
        const double single = singles_[static_cast<std::size_t>(room[s].value)];
        cells += times_log(single - shared) - times_log(single);
        shared = 0;
      }
      cells += times_log(columns_.total - margins_[static_cast<std::size_t>(a)].stored -
                         margins_[static_cast<std::size_t>(b)].stored + both);
      edges.push_back({a, b,
                       information(cells, margins_[static_cast<std::size_t>(a)],
                                   margins_[static_cast<std::size_t>(b)], columns_.total)});
    }
  }

  bool overlap(std::int32_t a, std::int32_t b) const {
    for (std::int64_t v = columns_.offsets[a]; v < columns_.offsets[a + 1]; ++v) {
      const std::int32_t* end = indices_ + indptr_[v + 1];
      const std::int32_t* p = std::lower_bound(indices_ + indptr_[v], end,
                                               static_cast<std::int32_t>(columns_.offsets[b]));
      if (p < end && *p < columns_.offsets[b + 1]) return true;
    }
    return false;
  }

  double weight_of_strangers(std::int32_t a, std::int32_t b) const {
    const Margin &x = margins_[static_cast<std::size_t>(a)],
                 &y = margins_[static_cast<std::size_t>(b)];
    const double cells =
        x.of_values + y.of_values + times_log(columns_.total - x.stored - y.stored);
    return information(cells, x, y, columns_.total);
  }

  // Columns that never meet: for each one the others wait in a queue, those with most records
  // first.
  std::vector<TreeEdge> of_strangers(Poll poll) const {
    const auto n = static_cast<std::int32_t>(columns_.n_columns);
    std::vector<std::int32_t> ranked(static_cast<std::size_t>(n));
    std::iota(ranked.begin(), ranked.end(), 0);
    std::stable_sort(ranked.begin(), ranked.end(), [&](std::int32_t x, std::int32_t y) {
      return margins_[static_cast<std::size_t>(x)].stored >
             margins_[static_cast<std::size_t>(y)].stored;
    });
    struct Waiting {
      TreeEdge edge;
      std::int32_t rank, next;  // of the column in whose queue it is; where that queue goes on
    };
    const auto later = [](const Waiting& x, const Waiting& y) {
      return comes_first(y.edge, x.edge);
    };
    std::priority_queue<Waiting, std::vector<Waiting>, decltype(later)> queue(later);
    Sets sets(n);
    Poller poller(poll);
    Outside outside(ranked);
    std::int64_t steps = 0;
    // Puts the next column that `column` could be joined to into the queue.
    const auto advance = [&](std::int32_t rank, std::int32_t from) {
      const std::int32_t column = ranked[static_cast<std::size_t>(rank)];
      for (std::int32_t k = from; k < rank; ++k) {
        if (!outside.has(rank)) k = outside.first(k);
        if (k >= rank) return;
        if (++steps % 65536 == 0) poller.check();
        const std::int32_t other = ranked[static_cast<std::size_t>(k)];
        if (sets.find(column) == sets.find(other) || overlap(column, other)) continue;
        queue.push({make_edge(column, other, weight_of_strangers(column, other)), rank, k + 1});
        return;
      }
    };
    for (std::int32_t rank = 1; rank < n; ++rank) advance(rank, 0);
    std::vector<TreeEdge> forest;
    while (!queue.empty() && static_cast<std::int32_t>(forest.size()) + 1 < n) {
      const Waiting first = queue.top();
      queue.pop();
      if (sets.join(first.edge.a, first.edge.b)) {
        forest.push_back(first.edge);
        outside.join(first.edge.a, first.edge.b);
      }
      advance(first.rank, first.next);
    }
    return forest;
  }

  const std::int64_t* indptr_;
  const std::int32_t* indices_;
  const Count* counts_;
  const PairColumns& columns_;
  std::vector<double> singles_;
  std::vector<Margin> margins_;
  std::vector<std::int32_t> column_of_;
};

}  // namespace

template <class Count>
void pair_information(const Count* square, const PairColumns& columns, const std::uint8_t* unknown,
                      const std::uint8_t* default_unknown, double* weights, int n_jobs, Poll poll) {
  const std::int64_t n = columns.n_columns, n_values = columns.offsets[n];
  const auto margins = find_margins(
      columns, [&](std::int64_t v) { return static_cast<double>(square[v * n_values + v]); });
  const std::int64_t n_blocks = std::min<std::int64_t>(n, 16 * n_jobs);
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t block, StopToken& token) {
    Meter meter(token);
    KnownPairs<Count> known(square, columns, unknown, default_unknown);
    std::vector<double> left;
    for (std::int64_t a = block; a < n; a += n_blocks) {
      const Margin& x = margins[static_cast<std::size_t>(a)];
      weights[a * n + a] = 0;
      const std::int64_t a0 = columns.offsets[a], a1 = columns.offsets[a + 1];
      for (std::int64_t b = a + 1; b < n; ++b) {
        const Margin& y = margins[static_cast<std::size_t>(b)];
        const std::int64_t b0 = columns.offsets[b], b1 = columns.offsets[b + 1];
        meter.spend((a1 - a0 + 1) * (b1 - b0 + 1) * 16);
        double weight;
        if (unknown) {
          weight = known(a, b);
        } else {
          double cells = 0, both = 0;
          left.resize(static_cast<std::size_t>(b1 - b0));
          for (std::int64_t j = b0; j < b1; ++j)
            left[static_cast<std::size_t>(j - b0)] = static_cast<double>(square[j * n_values + j]);
          for (std::int64_t i = a0; i < a1; ++i) {
            auto rest = static_cast<double>(square[i * n_values + i]);
            for (std::int64_t j = b0; j < b1; ++j) {
              const auto count = static_cast<double>(square[i * n_values + j]);
              cells += times_log(count);
              both += count;
              rest -= count;
              left[static_cast<std::size_t>(j - b0)] -= count;
            }
            cells += times_log(rest);
          }
          for (const double count : left) cells += times_log(count);
          cells += times_log(columns.total - x.stored - y.stored + both);
          weight = information(cells, x, y, columns.total);
        }
        weights[a * n + b] = weights[b * n + a] = weight;
      }
    }
  });
}

template <class Count>
std::vector<TreeEdge> sparse_spanning_tree(const std::int64_t* indptr, const std::int32_t* indices,
                                           const Count* counts, const PairColumns& columns,
                                           int n_jobs, Poll poll) {
  return SparseTree<Count>(indptr, indices, counts, columns).find(n_jobs, poll);
}

#define TACIT_FOR(Count)                                                                \
  template void pair_information(const Count*, const PairColumns&, const std::uint8_t*, \
                                 const std::uint8_t*, double*, int, Poll);              \
  template std::vector<TreeEdge> sparse_spanning_tree(                                  \
      const std::int64_t*, const std::int32_t*, const Count*, const PairColumns&, int, Poll);
TACIT_FOR(std::int64_t)
TACIT_FOR(double)
#undef TACIT_FOR

}  // namespace tacit
