// The search for rules where a byte holds the state of a record in a column.
#include <array>
#include <bit>
#include <functional>

#include "rule/find_bits.hpp"
#include "rule/find_data.hpp"
#include "rule/find_spare.hpp"

namespace tacit {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::size_t kAtOnce = 4;         // columns side by side
constexpr std::size_t kMostBitmaps = 16;   // of a column
constexpr std::int64_t kWordsPerStep = 4;  // of bitmaps, in the time in which a record is counted

// Records of a node, the hits first: at ascending positions in its arrays, or all (positions is
// null).
struct List {
  const std::int32_t* positions;
  std::int64_t n, n_hits;

  std::int64_t n_rest() const { return n - n_hits; }
  const std::int32_t* rest() const { return positions ? positions + n_hits : nullptr; }
};

// A node of the search: the records that match some conditions, and how the columns that follow
// are distributed among them.
template <class Count>
struct Node {
  using Cell = std::conditional_t<std::is_floating_point_v<Count>, double, std::uint32_t>;

  List records{};
  std::vector<std::size_t> columns;        // those with a state that is worth following; for each:
  std::vector<const std::uint8_t*> codes;  // the states
  std::vector<const Cell*> hits, rest;     // counts of each state
  const double* weights = nullptr;
  double all_rest = 0;          // records that are no hits
  std::vector<double> removal;  // for each column, how many of those a condition on it can exclude

  const StateBits* bits = nullptr;  // of columns with few open states; null if there are none

  // What the node needs while it is being expanded.
  StateBits held_bits;
  Buffer<std::uint8_t> held_codes;
  Buffer<double> held_weights;
  Buffer<std::int32_t> others;
  Buffer<std::int32_t> positions;            // of the state that is followed
  std::vector<Cell> cross_hits, cross_rest;  // counts by states of two columns
  std::vector<std::size_t> cross_begin;      // for each column; kNone where nothing is worth it
};

template <class T>
void make_room(Buffer<T>& buffer, std::int64_t size) {
  if (buffer.size() < static_cast<std::size_t>(size))
    buffer = Buffer<T>(static_cast<std::size_t>(size));
}

// cells[w][base[k] + codes[w][position k]] += 1 or its weight, for W columns side by side: an
// increment may have to wait for the one before it in the same column, but not for others.
template <bool listed, std::size_t W, class Cell>
void tally(const std::uint8_t* const* codes, Cell* const* cells, const std::int32_t* positions,
           std::int64_t first, std::int64_t n, const std::uint16_t* base, const double* weights) {
  std::array<const std::uint8_t*, W> from;
  std::array<Cell*, W> to;
  std::copy_n(codes, W, from.begin());
  std::copy_n(cells, W, to.begin());
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t p = listed ? positions[k] : first + k;
    Cell one = 1;
    if constexpr (std::is_floating_point_v<Cell>) one = weights[p];
    for (std::size_t w = 0; w < W; ++w) to[w][base[k] + from[w][p]] += one;
  }
}

template <std::size_t W, class... Rest>
void tally_w(bool listed, const Rest&... rest) {
  listed ? tally<true, W>(rest...) : tally<false, W>(rest...);
}

template <std::size_t W>
void gather(const std::uint8_t* const* codes, std::uint8_t* const* out, const List& list) {
  std::array<const std::uint8_t*, W> from;
  std::array<std::uint8_t*, W> to;
  std::copy_n(codes, W, from.begin());
  std::copy_n(out, W, to.begin());
  for (std::int64_t k = 0; k < list.n; ++k) {
    const std::int32_t p = list.positions[k];
    std::array<std::uint8_t, W> code;
    for (std::size_t w = 0; w < W; ++w) code[w] = from[w][p];
    for (std::size_t w = 0; w < W; ++w) to[w][k] = code[w];
  }
}

// What all threads share.
template <class Count>
struct Search {
  Search(const RuleData<Count>& data_, const Scorer<Count>& scorer_, BestRules<Count>& best_)
      : data(data_),
        scorer(scorer_),
        best(best_),
        shortest(static_cast<std::size_t>(data.query->shortest)),
        longest(static_cast<std::size_t>(data.query->longest)),
        rounding(std::is_floating_point_v<Count>
                     ? 1e-15 * static_cast<double>(data.query->n_records)
                     : 0) {
    const RuleQuery& q = *data.query;
    const auto n = static_cast<std::size_t>(q.n_records);
    codes = Buffer<std::uint8_t>(n * data.columns.size());
    for (std::size_t c = 0; c < data.columns.size(); ++c) {
      const auto& column = data.columns[c];
      std::uint8_t* out = codes.data() + c * n;
      std::fill_n(out, n, static_cast<std::uint8_t>(column.state_of.back()));
      for (std::size_t v = 0; v + 1 < column.state_of.size(); ++v) {
        const auto state = static_cast<std::uint8_t>(column.state_of[v]);
        const std::int64_t id = q.offsets[column.column] + static_cast<std::int64_t>(v);
        for (std::int64_t p = q.start[id]; p < q.start[id + 1]; ++p)
          out[data.position[static_cast<std::size_t>(q.rows[p])]] = state;
      }
    }
  }

  std::size_t n_conditions(std::size_t c) const { return data.columns[c].codes.size(); }
  std::size_t n_states(std::size_t c) const {
    return static_cast<std::size_t>(data.columns[c].n_states());
  }
  // Tables are 2^shift wide. Columns of equally wide tables are counted together, so that those
  // with few states get room for 16.
  int shift(std::size_t c) const {
    return std::max(4, static_cast<int>(std::bit_width(n_states(c) - 1)));
  }

  const RuleData<Count>& data;
  const Scorer<Count>& scorer;
  BestRules<Count>& best;
  const std::size_t shortest, longest;
  const double rounding;       // what sums of weights may be off by, as a fraction of the largest
  Buffer<std::uint8_t> codes;  // column by column
};

// One thread's way through one part of the search.
template <class Count>
class Walker {
 public:
  using Cell = typename Node<Count>::Cell;
  static constexpr bool kWeighted = std::is_floating_point_v<Count>;

  Walker(const Search<Count>& search, StopToken& token)
      : search_(search),
        spare_(search.data, search.scorer, token),
        bar_(search.scorer, search.best, search.data.query->redundant ? nullptr : &spare_),
        meter_(token),
        nodes_(search.longest + 1) {}

  // Offers the rules of one condition.
  void offer_singles(const Node<Count>& root) {
    for (std::size_t k = 0; k < root.columns.size(); ++k)
      offer_all(root.columns[k], root.hits[k], root.rest[k], 1);
  }

  // Whether a node of this depth with so many columns left has rules with two conditions more, and
  // as many as are asked for.
  bool can_reach(std::size_t depth, std::size_t n_columns) const {
    return n_columns >= 2 && depth + n_columns >= search_.shortest;
  }

  // Goes through the rules that have two conditions or more than the node has.
  void expand(Node<Count>& node, std::size_t depth) {
    bar_.refresh();
    for (std::size_t k = 0; can_reach(depth, node.columns.size() - k); ++k)
      expand_column(node, k, depth);
  }

  // The same for rules whose next condition is on the k-th column.
  void expand_column(Node<Count>& node, std::size_t k, std::size_t depth) {
    bar_.refresh();
    std::vector<std::size_t> states;  // a few
    choose(node, k, depth, states);
    if (chosen_.empty()) return;
    const bool deeper = depth + 2 < search_.longest;
    lay_out(node, k);
    cross_bits(node, k, states);
    if (!chosen_.empty()) {
      const std::size_t large = large_state(node, k);
      const bool derive =
          large != kNone && std::find(states.begin(), states.end(), large) != states.end();
      cross(node, k, large == kNone ? node.records : set_apart(node, k, large),
            derive ? large : kNone, states);
    }
    for (const std::size_t s : states) {
      Node<Count>& child = nodes_[depth + 1];
      path_.push_back(condition(node.columns[k], s));
      take_row(node, k, s, depth, child);
      if (deeper && can_reach(depth + 1, child.columns.size()) && open(node, k, s) &&
          promises(child, depth + 1)) {
        const bool copy = depth + 3 < search_.longest || (!kWeighted && child.columns.size() >= 6);
        take_records(node, k, s, copy, child);
        draw_bits(child);
        expand(child, depth + 1);
      }
      path_.pop_back();
    }
  }

  // Draws bitmaps where the node's records lie in a row. Weights are added one by one.
  void draw_bits(Node<Count>& node) {
    node.bits = nullptr;
    if (kWeighted || node.records.positions) return;
    node.held_bits.reset(node.columns.size(), node.records.n_hits, node.records.n_rest());
    for (std::size_t j = 0; j < node.columns.size(); ++j) {
      list_open(node, j);
      if (!open_.empty() && open_.size() <= kMostBitmaps)
        node.held_bits.add(j, node.codes[j], open_);
    }
    node.bits = &node.held_bits;
  }

 private:
  Count support(const Cell* hits, const Cell* rest, std::size_t state) const {
    return static_cast<Count>(hits[state]) + static_cast<Count>(rest[state]);
  }
  bool open(const Node<Count>& node, std::size_t k, std::size_t state) const {
    return bar_.open(support(node.hits[k], node.rest[k], state), node.hits[k][state]);
  }
  RuleCondition condition(std::size_t c, std::size_t state) const {
    const auto& column = search_.data.columns[c];
    return {column.column, column.codes[state]};
  }

  // Offers the rules that end with a condition on column c; whether one is worth following.
  bool offer_all(std::size_t c, const Cell* hits, const Cell* rest, std::size_t length) {
    bool any = false;
    for (std::size_t s = 0; s < search_.n_conditions(c); ++s) {
      if (!bar_.open(support(hits, rest, s), hits[s])) continue;
      any = true;
      if (length < search_.shortest) continue;
      path_.push_back(condition(c, s));
      bar_.offer(support(hits, rest, s), hits[s], path_);
      path_.pop_back();
    }
    return any;
  }

  // A state that more than half of the records have: its counts follow from those of the node and
  // of all others. Not with weights: differences of sums are rounded.
  std::size_t large_state(const Node<Count>& node, std::size_t k) const {
    if constexpr (!kWeighted)
      for (std::size_t s = 0; s < search_.n_states(node.columns[k]); ++s)
        if (2 * support(node.hits[k], node.rest[k], s) > node.records.n) return s;
    return kNone;
  }

  // Lists the records that are not in the large state. Without a branch: every position is written,
  // and kept by counting it.
  List set_apart(Node<Count>& node, std::size_t k, std::size_t large) {
    const List& all = node.records;
    make_room(node.others, all.n + 1);
    const std::uint8_t* codes = node.codes[k];
    const auto code = static_cast<std::uint8_t>(large);
    std::int32_t* out = node.others.data();
    if (all.positions) {
      for (std::int64_t i = 0; i < all.n; ++i) {
        const std::int32_t p = all.positions[i];
        *out = p;
        out += codes[p] != code;
      }
    } else {
      for (std::int32_t p = 0; p < all.n; ++p) {
        *out = p;
        out += codes[p] != code;
      }
    }
    return {node.others.data(), out - node.others.data(),
            all.n_hits - static_cast<std::int64_t>(node.hits[k][large])};
  }

  // What conditions on one column can exclude of the records that are no hits, column by column.
  void find_removals(Node<Count>& node) const {
    node.removal.clear();
    for (std::size_t j = 0; j < node.columns.size(); ++j) {
      double least = node.all_rest;
      for (std::size_t t = 0; t < search_.n_conditions(node.columns[j]); ++t)
        if (bar_.open(node.hits[j][t]))
          least = std::min(least, static_cast<double>(node.rest[j][t]));
      node.removal.push_back(node.all_rest - least);
    }
  }

  // The most that `n` conditions on columns after the k-th can exclude, without the j-th for each
  // j.
  void find_slack(const Node<Count>& node, std::size_t k, std::size_t n) {
    slack_.assign(node.columns.size(), search_.rounding * node.all_rest);
    if (n == 0) return;
    largest_.assign(node.removal.begin() + static_cast<std::ptrdiff_t>(k) + 1, node.removal.end());
    n = std::min(n, largest_.size());
    std::partial_sort(
        largest_.begin(),
        largest_.begin() + static_cast<std::ptrdiff_t>(std::min(n + 1, largest_.size())),
        largest_.end(), std::greater<>());
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += largest_[i];
    const double next = n < largest_.size() ? largest_[n] : 0;
    for (std::size_t j = k + 1; j < node.columns.size(); ++j)
      slack_[j] += node.removal[j] >= largest_[n - 1] ? sum - node.removal[j] + next : sum;
  }

  // Whether a rule with conditions on states s and t of two columns can be good, given how many
  // hits those have at most. Each condition excludes no more of the rest than it does on its own.
  bool hopeful(const Node<Count>& node, std::size_t k, std::size_t s, std::size_t j, std::size_t t,
               Cell hits) const {
    if (!bar_.open(hits)) return false;
    const double rest = static_cast<double>(node.rest[k][s]) +
                        static_cast<double>(node.rest[j][t]) - node.all_rest - slack_[j];
    return bar_.within_reach(static_cast<double>(hits), std::max(rest, 0.0));
  }

  void list_open(const Node<Count>& node, std::size_t k) {
    open_.clear();
    for (std::size_t s = 0; s < search_.n_conditions(node.columns[k]); ++s)
      if (open(node, k, s)) open_.push_back(s);
  }

  // Chooses the columns that are to be counted together with the k-th, and states of that one.
  void choose(Node<Count>& node, std::size_t k, std::size_t depth,
              std::vector<std::size_t>& states) {
    chosen_.clear();
    list_open(node, k);
    if (open_.empty()) return;
    if (node.removal.empty()) find_removals(node);
    find_slack(node, k, search_.longest - depth - 2);
    useful_.assign(open_.size(), 0);
    for (std::size_t j = k + 1; j < node.columns.size(); ++j) {
      bool any = false;
      for (std::size_t t = 0; t < search_.n_conditions(node.columns[j]); ++t) {
        if (!open(node, j, t)) continue;
        for (std::size_t i = 0; i < open_.size(); ++i)
          if (hopeful(node, k, open_[i], j, t, std::min(node.hits[k][open_[i]], node.hits[j][t])))
            any = true, useful_[i] = 1;
      }
      if (any) chosen_.push_back(j);
    }
    for (std::size_t i = 0; i < open_.size(); ++i)
      if (useful_[i]) states.push_back(open_[i]);
  }

  // Whether there is anything to count in a node.
  bool promises(Node<Count>& node, std::size_t depth) {
    node.removal.clear();
    for (std::size_t k = 0; can_reach(depth, node.columns.size() - k); ++k) {
      std::vector<std::size_t> states;
      choose(node, k, depth, states);
      if (!chosen_.empty()) return true;
    }
    return false;
  }

  // Makes room for the counts of the k-th column's states together with those of the chosen ones.
  void lay_out(Node<Count>& node, std::size_t k) {
    const std::size_t rows = search_.n_states(node.columns[k]);
    std::size_t n_cells = 0;
    node.cross_begin.assign(node.columns.size(), kNone);
    for (const std::size_t j : chosen_) {
      node.cross_begin[j] = n_cells;
      n_cells += rows << search_.shift(node.columns[j]);
    }
    node.cross_hits.assign(n_cells, 0);
    if (node.cross_rest.size() < n_cells) node.cross_rest.resize(n_cells);
  }

  // Counts pairs of states by their bitmaps where that is quicker, and removes those columns from
  // the chosen ones. Pairs that are not worth following keep a count of 0.
  void cross_bits(Node<Count>& node, std::size_t k, const std::vector<std::size_t>& states) {
    if (!node.bits || !node.bits->has(k)) return;
    const std::size_t rows = search_.n_states(node.columns[k]);
    std::erase_if(chosen_, [&](std::size_t j) {
      if (!node.bits->has(j)) return false;
      list_open(node, j);
      const auto n_pairs = static_cast<std::int64_t>(open_.size() * states.size());
      if (n_pairs * node.bits->n_words() > kWordsPerStep * node.records.n) return false;
      meter_.spend(n_pairs * node.bits->n_words() / kWordsPerStep + 20);
      const int shift = search_.shift(node.columns[j]);
      Cell* all_hits = node.cross_hits.data() + node.cross_begin[j];
      Cell* all_rest = node.cross_rest.data() + node.cross_begin[j];
      std::fill_n(all_rest, rows << shift, Cell{0});
      bool any = false;
      for (const std::size_t s : states)
        for (const std::size_t t : open_) {
          if (!hopeful(node, k, s, j, t, std::min(node.hits[k][s], node.hits[j][t]))) continue;
          const auto hits = static_cast<Cell>(node.bits->hits(k, s, j, t));
          if (!hopeful(node, k, s, j, t, hits)) continue;
          all_hits[(s << shift) + t] = hits;
          all_rest[(s << shift) + t] = static_cast<Cell>(node.bits->rest(k, s, j, t));
          any = true;
        }
      if (!any) node.cross_begin[j] = kNone;
      return true;
    });
  }

  // Counts the states of the node's k-th column together with those of each chosen one, for some
  // of its records; `derived` is a state that is none of theirs, to be found by subtraction. Where
  // no pair with one of `states` is worth following, the count is left unfinished.
  void cross(Node<Count>& node, std::size_t k, const List& list, std::size_t derived,
             const std::vector<std::size_t>& states) {
    const std::size_t rows = search_.n_states(node.columns[k]);
    meter_.spend((list.n + 20) * static_cast<std::int64_t>(chosen_.size()));
    tally_chosen(node, k, list.positions, 0, list.n_hits, node.cross_hits);
    std::erase_if(chosen_, [&](std::size_t j) {
      const int shift = search_.shift(node.columns[j]);
      Cell* hits = node.cross_hits.data() + node.cross_begin[j];
      if (derived != kNone) derive(node, j, node.hits[j], hits, rows, derived);
      for (const std::size_t s : states)
        for (std::size_t t = 0; t < search_.n_conditions(node.columns[j]); ++t)
          if (hopeful(node, k, s, j, t, hits[(s << shift) + t])) return false;
      node.cross_begin[j] = kNone;
      return true;
    });
    for (const std::size_t j : chosen_)
      std::fill_n(node.cross_rest.data() + node.cross_begin[j],
                  rows << search_.shift(node.columns[j]), Cell{0});
    tally_chosen(node, k, list.rest(), list.n_hits, list.n_rest(), node.cross_rest);
    if (derived == kNone) return;
    for (const std::size_t j : chosen_)
      derive(node, j, node.rest[j], node.cross_rest.data() + node.cross_begin[j], rows, derived);
  }

  // Counts for the chosen columns, those with equally wide tables together.
  void tally_chosen(const Node<Count>& node, std::size_t k, const std::int32_t* positions,
                    std::int64_t first, std::int64_t n, std::vector<Cell>& cells) {
    if (n == 0) return;
    make_room(base_, n);
    for (int shift = 4; shift <= 8; ++shift) {
      from_.clear();
      to_.clear();
      for (const std::size_t j : chosen_) {
        if (search_.shift(node.columns[j]) != shift) continue;
        from_.push_back(node.codes[j]);
        to_.push_back(cells.data() + node.cross_begin[j]);
      }
      if (from_.empty()) continue;
      const std::uint8_t* rows = node.codes[k];
      std::uint16_t* base = base_.data();
      if (positions)
        for (std::int64_t i = 0; i < n; ++i)
          base[i] = static_cast<std::uint16_t>(rows[positions[i]] << shift);
      else
        for (std::int64_t i = 0; i < n; ++i)
          base[i] = static_cast<std::uint16_t>(rows[first + i] << shift);
      for (std::size_t j = 0; j < from_.size(); j += kAtOnce) {
        const auto count = [&](auto width) {
          tally_w<width>(positions, &from_[j], &to_[j], positions, first, n, base, node.weights);
        };
        with_constant<1, 2, 3, kAtOnce>(static_cast<std::int64_t>(from_.size() - j), count);
      }
    }
  }

  void derive(const Node<Count>& node, std::size_t j, const Cell* whole, Cell* table,
              std::size_t rows, std::size_t derived) const {
    const std::size_t c = node.columns[j];
    const int shift = search_.shift(c);
    for (std::size_t t = 0; t < search_.n_states(c); ++t) {
      if (support(node.hits[j], node.rest[j], t) == 0) continue;  // none, or not worth a count
      Cell left = whole[t];
      for (std::size_t s = 0; s < rows; ++s) left -= table[(s << shift) + t];
      table[(derived << shift) + t] = left;
    }
  }

  // Makes `child` the node of one state of the k-th column, as far as counts go.
  void take_row(const Node<Count>& node, std::size_t k, std::size_t state, std::size_t depth,
                Node<Count>& child) {
    child.all_rest = static_cast<double>(node.rest[k][state]);
    child.columns.clear();
    child.codes.clear();
    child.hits.clear();
    child.rest.clear();
    for (std::size_t j = k + 1; j < node.columns.size(); ++j) {
      if (node.cross_begin[j] == kNone) continue;
      const std::size_t c = node.columns[j];
      const std::size_t row = node.cross_begin[j] + (state << search_.shift(c));
      const Cell* hits = node.cross_hits.data() + row;
      const Cell* rest = node.cross_rest.data() + row;
      if (!offer_all(c, hits, rest, depth + 2)) continue;
      child.columns.push_back(c);
      child.codes.push_back(node.codes[j]);
      child.hits.push_back(hits);
      child.rest.push_back(rest);
    }
  }

  // Lists the records of one state. Without a branch, as in set_apart().
  std::int64_t list_state(Node<Count>& node, std::size_t k, std::size_t state) {
    make_room(node.positions, node.records.n + 1);
    const std::uint8_t* codes = node.codes[k];
    const auto code = static_cast<std::uint8_t>(state);
    const auto n = static_cast<std::int32_t>(node.records.n);
    std::int32_t* out = node.positions.data();
    for (std::int32_t p = 0; p < n; ++p) {
      *out = p;
      out += codes[p] == code;
    }
    return out - node.positions.data();
  }

  // Gives `child` its records: as a list, or copied so that they lie in a row.
  void take_records(Node<Count>& node, std::size_t k, std::size_t state, bool copy,
                    Node<Count>& child) {
    const std::int64_t n = list_state(node, k, state);
    const std::int32_t* positions = node.positions.data();
    if constexpr (kWeighted)
      child.records = {positions, n,
                       std::lower_bound(positions, positions + n, node.records.n_hits) - positions};
    else
      child.records = {positions, n, node.hits[k][state]};
    child.weights = node.weights;
    if (!copy) return;
    make_room(child.held_codes, n * static_cast<std::int64_t>(child.columns.size()));
    out_.clear();
    for (std::size_t j = 0; j < child.columns.size(); ++j)
      out_.push_back(child.held_codes.data() + static_cast<std::size_t>(n) * j);
    std::size_t j = 0;
    for (; j + kAtOnce <= out_.size(); j += kAtOnce)
      gather<kAtOnce>(&child.codes[j], &out_[j], child.records);
    for (; j < out_.size(); ++j) gather<1>(&child.codes[j], &out_[j], child.records);
    std::copy(out_.begin(), out_.end(), child.codes.begin());
    if constexpr (kWeighted) {
      make_room(child.held_weights, n);
      for (std::int64_t p = 0; p < n; ++p)
        child.held_weights[static_cast<std::size_t>(p)] = node.weights[positions[p]];
      child.weights = child.held_weights.data();
    }
    child.records.positions = nullptr;
  }

  const Search<Count>& search_;
  SpareConditions<Count> spare_;
  Bar<Count> bar_;
  Meter meter_;
  std::vector<Node<Count>> nodes_;  // one for each depth
  std::vector<RuleCondition> path_;
  std::vector<std::size_t> chosen_;        // columns that are being counted
  std::vector<const std::uint8_t*> from_;  // their states
  std::vector<Cell*> to_;                  // their counts
  std::vector<std::size_t> open_;          // states that are
  std::vector<std::uint8_t> useful_;       // for each of those
  std::vector<double> largest_, slack_;
  std::vector<std::uint8_t*> out_;
  Buffer<std::uint16_t> base_;  // the row of each record in the table that is being filled
};

}  // namespace

template <class Count>
void search_codes(const RuleData<Count>& data, const Scorer<Count>& scorer, BestRules<Count>& best,
                  int n_jobs, Poll poll) {
  using Cell = typename Node<Count>::Cell;
  const Search<Count> search(data, scorer, best);
  const auto n = static_cast<std::size_t>(data.query->n_records);
  std::vector<std::vector<Cell>> hits(data.columns.size()), rest(data.columns.size());
  Node<Count> root;
  root.records = {nullptr, static_cast<std::int64_t>(n), data.n_hits};
  root.weights = data.weights.data();
  root.all_rest = static_cast<double>(data.total - data.total_hits);
  for (std::size_t c = 0; c < data.columns.size(); ++c) {
    for (std::size_t s = 0; s < search.n_states(c); ++s) {
      hits[c].push_back(static_cast<Cell>(data.columns[c].hits[s]));
      rest[c].push_back(static_cast<Cell>(data.columns[c].rest[s]));
    }
    root.columns.push_back(c);
    root.codes.push_back(search.codes.data() + c * n);
    root.hits.push_back(hits[c].data());
    root.rest.push_back(rest[c].data());
  }
  for_blocks(1, 1, poll, [&](std::int64_t, StopToken& token) {
    Walker<Count> walker(search, token);
    walker.offer_singles(root);
    if (search.longest > 1) walker.draw_bits(root);
  });
  if (search.longest < 2) return;
  for_blocks(static_cast<std::int64_t>(root.columns.size()) - 1, n_jobs, poll,
             [&](std::int64_t b, StopToken& token) {
               Walker<Count> walker(search, token);
               // The last columns first: their branches are few and soon raise the bar.
               const std::size_t k = root.columns.size() - 2 - static_cast<std::size_t>(b);
               Node<Count> node;
               node.records = root.records;
               node.columns = root.columns;
               node.codes = root.codes;
               node.hits = root.hits;
               node.rest = root.rest;
               node.weights = root.weights;
               node.all_rest = root.all_rest;
               node.bits = root.bits;
               if (walker.can_reach(0, node.columns.size() - k)) walker.expand_column(node, k, 0);
             });
}

template void search_codes(const RuleData<std::int64_t>&, const Scorer<std::int64_t>&,
                           BestRules<std::int64_t>&, int, Poll);
template void search_codes(const RuleData<double>&, const Scorer<double>&, BestRules<double>&, int,
                           Poll);

}  // namespace tacit
