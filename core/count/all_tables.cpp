#include "count/all_tables.hpp"

#include <algorithm>
#include <iterator>

namespace tacit {
namespace {

// What is left of a record behind the values chosen so far.
struct Tail {
  std::uint32_t begin;
  std::uint16_t length;
  std::uint16_t target;  // its code
};

// Adds a tail's values and pairs of values. Short tails, which are most, have loops of known
// length: where each ends need not be guessed.
template <int kLength>
void add_pairs(const std::uint16_t* values, int length, std::int64_t base, std::int64_t width,
               std::uint32_t* single, std::uint32_t* square) {
  const int n = kLength < 0 ? length : kLength;
  for (int i = 0; i < n; ++i) {
    ++single[values[i] - base];
    std::uint32_t* row = square + (values[i] - base) * width;
    for (int j = i + 1; j < n; ++j) ++row[values[j] - base];
  }
}
using AddPairs = decltype(&add_pairs<0>);
constexpr AddPairs kAddPairs[] = {add_pairs<0>, add_pairs<1>, add_pairs<2>, add_pairs<3>,
                                  add_pairs<4>, add_pairs<5>, add_pairs<6>, add_pairs<7>,
                                  add_pairs<8>, add_pairs<9>, add_pairs<10>};
constexpr std::size_t kShort = std::size(kAddPairs);

class AllTables {
 public:
  AllTables(const std::vector<ColumnShape>& columns, std::int64_t n_targets, std::int64_t size,
            Poll poll)
      : columns_(columns),
        n_(static_cast<std::int64_t>(columns.size())),
        n_targets_(n_targets),
        first_(columns.size() + 1),
        set_cells_(static_cast<std::size_t>(size) + 1),
        poller_(poll) {
    for (std::size_t c = 0; c < columns.size(); ++c)
      first_[c + 1] = first_[c] + columns[c].arity - 1;
    set_cells_[0] = {n_targets};
    for (std::size_t r = 1; r < set_cells_.size(); ++r)
      for (std::int64_t a = 0; a < n_; ++a)
        for (const std::int64_t* rest = sets_behind(a, r - 1); rest != sets_end(r - 1); ++rest)
          set_cells_[r].push_back(columns_[at(a)].arity * *rest);
  }

  // Renumbers the stored values of the columns, one after another, and notes each record's target.
  template <class V>
  void read(const Records<V>& records, const ColumnShape& target) {
    std::vector<std::int32_t> number(static_cast<std::size_t>(records.n_values), -1);
    for (std::int64_t c = 0; c < n_; ++c)
      for (std::int64_t v = 0; v < columns_[at(c)].arity - 1; ++v)
        number[at(columns_[at(c)].first + v)] = static_cast<std::int32_t>(first_[at(c)] + v);
    values_ =
        Buffer<std::uint16_t>(static_cast<std::size_t>(records.indptr[records.n_records]) + 1);
    tails_.reserve(static_cast<std::size_t>(records.n_records));
    const std::int64_t last = target.arity - 1;
    std::uint16_t* next = values_.data();
    for (std::int64_t r = 0; r < records.n_records; ++r) {
      const auto begin = static_cast<std::uint32_t>(next - values_.data());
      std::int64_t code = target.default_code;
      for (const V* v = records.begin(r); v != records.end(r); ++v) {
        const std::int32_t index = number[*v];
        *next = static_cast<std::uint16_t>(index);  // written over if it is not one of ours
        next += index >= 0;
        if (const std::int64_t t = *v - target.first; t >= 0 && t < last)
          code = t + (t >= target.default_code);
      }
      const auto length = static_cast<std::uint16_t>(next - values_.data() - begin);
      tails_.push_back({begin, length, static_cast<std::uint16_t>(code)});
    }
    // Records of the same length one after another: what a processor guesses comes true.
    std::vector<std::size_t> start(at(n_) + 2);
    for (const Tail& tail : tails_) ++start[tail.length + 1u];
    for (std::size_t k = 1; k < start.size(); ++k) start[k] += start[k - 1];
    std::vector<Tail> sorted(tails_.size());
    for (const Tail& tail : tails_) sorted[start[tail.length]++] = tail;
    tails_.swap(sorted);
  }

  void run(std::int64_t size, std::int64_t* out) {
    fill(tails_.data(), tails_.size(), 0, at(size), out);
  }

 private:
  static std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

  // Cells of the sets of r columns, in lexicographic order: those behind column a come last.
  const std::int64_t* sets_behind(std::int64_t a, std::size_t r) const {
    std::int64_t n = 1;  // C(n_ - a - 1, r)
    for (std::size_t k = 0; k < r; ++k)
      n = n * (n_ - a - 1 - static_cast<std::int64_t>(k)) / (static_cast<std::int64_t>(k) + 1);
    return sets_end(r) - std::max<std::int64_t>(n, 0);
  }
  const std::int64_t* sets_end(std::size_t r) const {
    return set_cells_[r].data() + set_cells_[r].size();
  }
  std::int64_t cells_behind(std::int64_t a, std::size_t r) const {
    std::int64_t total = 0;
    for (const std::int64_t* set = sets_behind(a, r); set != sets_end(r); ++set) total += *set;
    return total;
  }

  // The tables of all sets of r columns from `from` on, for some records whose tails have values of
  // these columns only.
  void fill(const Tail* tails, std::size_t n, std::int64_t from, std::size_t r, std::int64_t* out) {
    if (n_ - from < static_cast<std::int64_t>(r)) return;  // there is no such set
    poller_.check();
    if (r == 1)
      singles(tails, n, from, out);
    else if (r == 2)
      pairs(tails, n, from, out);
    else
      more(tails, n, from, r, out);
  }

  void singles(const Tail* tails, std::size_t n, std::int64_t from, std::int64_t* out) {
    std::vector<std::int64_t> totals(at(n_targets_));
    const std::int64_t base = first_[at(from)], width = first_.back() - base;
    std::vector<std::int64_t> counts(at(n_targets_ * width));
    for (std::size_t k = 0; k < n; ++k) {
      ++totals[tails[k].target];
      std::int64_t* row = counts.data() + tails[k].target * width;
      const std::uint16_t* values = values_.data() + tails[k].begin;
      for (std::uint16_t i = 0; i < tails[k].length; ++i) ++row[values[i] - base];
    }
    for (std::int64_t a = from; a < n_; ++a) {
      const ColumnShape& column = columns_[at(a)];
      for (std::int64_t y = 0; y < n_targets_; ++y) {
        std::int64_t rest = totals[at(y)];
        for (std::int64_t v = 0; v < column.arity - 1; ++v) {
          const std::int64_t count = counts[at(y * width + first_[at(a)] - base + v)];
          out[(v + (v >= column.default_code)) * n_targets_ + y] = count;
          rest -= count;
        }
        out[column.default_code * n_targets_ + y] = rest;
      }
      out += column.arity * n_targets_;
    }
  }

  // Pairs of values of each record go into a square, one for each code of the target.
  void pairs(const Tail* tails, std::size_t n, std::int64_t from, std::int64_t* out) {
    const std::int64_t base = first_[at(from)], width = first_.back() - base;
    totals_.assign(at(n_targets_), 0);
    counts_.assign(at(n_targets_ * width), 0);
    square_.assign(at(n_targets_ * width * width), 0);
    for (std::size_t k = 0; k < n; ++k) {
      const Tail tail = tails[k];
      ++totals_[tail.target];
      const AddPairs add = tail.length < kShort ? kAddPairs[tail.length] : add_pairs<-1>;
      add(values_.data() + tail.begin, tail.length, base, width,
          counts_.data() + tail.target * width, square_.data() + tail.target * width * width);
    }
    for (std::int64_t a = from; a < n_; ++a)
      for (std::int64_t b = a + 1; b < n_; ++b) {
        for (std::int64_t y = 0; y < n_targets_; ++y) pair(a, b, y, base, width, out);
        out += columns_[at(a)].arity * columns_[at(b)].arity * n_targets_;
      }
  }

  // One table of two columns, for one code of the target, out of the square.
  void pair(std::int64_t a, std::int64_t b, std::int64_t y, std::int64_t base, std::int64_t width,
            std::int64_t* out) {
    const ColumnShape &A = columns_[at(a)], &B = columns_[at(b)];
    const std::uint32_t* single = counts_.data() + y * width;
    const std::uint32_t* single_b = single + first_[at(b)] - base;
    left_.assign(single_b, single_b + B.arity - 1);  // counts of b where a has its default
    std::int64_t corner = totals_[at(y)];
    const auto cell = [&](std::int64_t code_a, std::int64_t code_b) -> std::int64_t& {
      return out[(code_a * B.arity + code_b) * n_targets_ + y];
    };
    for (std::int64_t u = 0; u < A.arity - 1; ++u) {
      const std::int64_t code_a = u + (u >= A.default_code), value = first_[at(a)] + u;
      const std::uint32_t* row =
          square_.data() + (y * width + value - base) * width + first_[at(b)] - base;
      std::int64_t rest = single[value - base];
      corner -= rest;
      for (std::int64_t w = 0; w < B.arity - 1; ++w) {
        cell(code_a, w + (w >= B.default_code)) = row[w];
        rest -= row[w];
        left_[at(w)] -= row[w];
      }
      cell(code_a, B.default_code) = rest;
    }
    for (std::int64_t w = 0; w < B.arity - 1; ++w) {
      cell(A.default_code, w + (w >= B.default_code)) = left_[at(w)];
      corner -= left_[at(w)];
    }
    cell(A.default_code, B.default_code) = corner;
  }

  // By the first column: its values have records of their own, its default what they leave.
  void more(const Tail* tails, std::size_t n, std::int64_t from, std::size_t r, std::int64_t* out) {
    std::vector<std::int64_t> without(at(cells_behind(from, r - 1)));  // tables without it
    std::vector<Tail> shorter(tails, tails + n);
    for (Tail& tail : shorter)
      if (tail.length > 0 && values_[tail.begin] < first_[at(from + 1)])
        ++tail.begin, --tail.length;
    fill(shorter.data(), n, from + 1, r - 1, without.data());
    const std::int64_t base = first_[at(from)];
    std::vector<std::size_t> start(at(first_.back() - base + 2));
    for (std::size_t k = 0; k < n; ++k)
      for (std::uint16_t i = 0; i < tails[k].length; ++i)
        ++start[at(values_[tails[k].begin + std::size_t{i}] - base + 2)];
    for (std::size_t v = 2; v < start.size(); ++v) start[v] += start[v - 1];
    Buffer<Tail> below(start.back());
    for (std::size_t k = 0; k < n; ++k) {
      Tail tail = tails[k];
      for (; tail.length > 0;) {
        const std::int64_t value = values_[tail.begin++];
        --tail.length;
        below[start[at(value - base + 1)]++] = tail;
      }
    }
    std::vector<std::int64_t> part(without.size());
    for (std::int64_t a = from; a < n_; ++a) {
      const ColumnShape& column = columns_[at(a)];
      const std::int64_t behind = cells_behind(a, r - 1);
      const std::int64_t* all = without.data() + without.size() - behind;
      std::int64_t* table = out;
      for (const std::int64_t* set = sets_behind(a, r - 1); set != sets_end(r - 1); ++set) {
        std::copy_n(all, *set, table + column.default_code * *set);
        all += *set;
        table += column.arity * *set;
      }
      for (std::int64_t v = 0; v < column.arity - 1; ++v) {
        const std::size_t value = at(first_[at(a)] + v - base);
        const std::int64_t code = v + (v >= column.default_code);
        fill(below.data() + start[value], start[value + 1] - start[value], a + 1, r - 1,
             part.data());
        table = out;
        const std::int64_t* source = part.data();
        for (const std::int64_t* set = sets_behind(a, r - 1); set != sets_end(r - 1); ++set) {
          std::copy_n(source, *set, table + code * *set);
          std::int64_t* rest = table + column.default_code * *set;
          for (std::int64_t x = 0; x < *set; ++x) rest[x] -= source[x];
          source += *set;
          table += column.arity * *set;
        }
      }
      out += column.arity * behind;
    }
  }

  const std::vector<ColumnShape>& columns_;
  std::int64_t n_, n_targets_;
  std::vector<std::int64_t> first_;                   // number of each column's first value
  std::vector<std::vector<std::int64_t>> set_cells_;  // cells of each set of r columns
  Buffer<std::uint16_t> values_;
  std::vector<Tail> tails_;
  std::vector<std::int64_t> totals_, left_;
  std::vector<std::uint32_t> counts_, square_;
  Poller poller_;
};

}  // namespace

std::int64_t all_cells(const std::vector<ColumnShape>& columns, const ColumnShape& target,
                       std::int64_t size) {
  // cells[r]: of all sets of r of the columns seen so far
  std::vector<std::int64_t> cells(static_cast<std::size_t>(size) + 1);
  cells[0] = target.arity;
  for (const ColumnShape& column : columns)
    for (std::size_t r = cells.size() - 1; r > 0; --r) cells[r] += cells[r - 1] * column.arity;
  return cells.back();
}

template <class V>
void all_tables(const Records<V>& records, const std::vector<ColumnShape>& columns,
                const ColumnShape& target, std::int64_t size, std::int64_t* counts, Poll poll) {
  AllTables tables(columns, target.arity, size, poll);
  tables.read(records, target);
  tables.run(size, counts);
}

template void all_tables(const Records<std::uint16_t>&, const std::vector<ColumnShape>&,
                         const ColumnShape&, std::int64_t, std::int64_t*, Poll);
template void all_tables(const Records<std::uint32_t>&, const std::vector<ColumnShape>&,
                         const ColumnShape&, std::int64_t, std::int64_t*, Poll);

}  // namespace tacit
