// The search for rules where each record lists the states it holds: for many sparse columns.
#include <type_traits>

#include "rule/find_data.hpp"
#include "rule/find_spare.hpp"

namespace tacit {
namespace {

// A cell is a state of a column; cells are numbered column after column in the order of the search.
template <class Count>
struct Rows {
  // With weights, defaults are listed like all others: differences of sums would be rounded.
  static constexpr bool kListDefaults = std::is_floating_point_v<Count>;

  explicit Rows(const RuleData<Count>& data_) : data(data_) {
    for (const auto& column : data.columns) {
      first_cell.push_back(static_cast<std::int32_t>(column_of.size()));
      column_of.insert(column_of.end(), static_cast<std::size_t>(column.n_states()),
                       static_cast<std::int32_t>(first_cell.size()) - 1);
    }
    first_cell.push_back(static_cast<std::int32_t>(column_of.size()));
    const auto n = static_cast<std::size_t>(data.query->n_records);
    begin.assign(n + 1, 0);
    each([&](std::int32_t position, std::int32_t) {
      ++begin[static_cast<std::size_t>(position) + 1];
    });
    for (std::size_t p = 0; p < n; ++p) begin[p + 1] += begin[p];
    cells = Buffer<std::int32_t>(static_cast<std::size_t>(begin[n]));
    std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
    each([&](std::int32_t position, std::int32_t cell) {
      cells[static_cast<std::size_t>(next[static_cast<std::size_t>(position)]++)] = cell;
    });
  }

  bool is_condition(std::int32_t cell) const {
    return state(cell) < n_conditions(column_of_(cell));
  }
  std::int32_t column_of_(std::int32_t cell) const {
    return column_of[static_cast<std::size_t>(cell)];
  }
  std::int32_t state(std::int32_t cell) const {
    return cell - first_cell[static_cast<std::size_t>(column_of_(cell))];
  }
  std::int32_t n_conditions(std::int32_t c) const {
    return static_cast<std::int32_t>(data.columns[static_cast<std::size_t>(c)].codes.size());
  }
  RuleCondition condition(std::int32_t cell) const {
    const auto& column = data.columns[static_cast<std::size_t>(column_of_(cell))];
    return {column.column, column.codes[static_cast<std::size_t>(state(cell))]};
  }
  // The cell of a column's default, if that can be a condition and is not listed; else -1.
  std::int32_t default_cell(std::size_t c) const {
    const std::int32_t last = data.columns[c].state_of.back();
    const bool told = kListDefaults || last >= n_conditions(static_cast<std::int32_t>(c));
    return told ? -1 : first_cell[c] + last;
  }

  const RuleData<Count>& data;
  std::vector<std::int32_t> first_cell;  // of each column, and one past the last
  std::vector<std::int32_t> column_of;   // of each cell
  std::vector<std::int64_t> begin;       // of each record, in the new order
  Buffer<std::int32_t> cells;            // ascending within a record

 private:
  // Calls body(position, cell) for all that is listed, column by column: conditions, and all other
  // stored values where the count of a default follows from them.
  template <class Body>
  void each(const Body& body) const {
    const RuleQuery& q = *data.query;
    std::vector<std::uint8_t> holds(kListDefaults ? static_cast<std::size_t>(q.n_records) : 0);
    for (std::size_t c = 0; c < data.columns.size(); ++c) {
      const auto& column = data.columns[c];
      const bool list_others = default_cell(c) >= 0;
      std::fill(holds.begin(), holds.end(), std::uint8_t{0});
      for (std::size_t v = 0; v + 1 < column.state_of.size(); ++v) {
        const std::int32_t state = column.state_of[v];
        const bool listed = list_others || state < n_conditions(static_cast<std::int32_t>(c));
        const std::int64_t id = q.offsets[column.column] + static_cast<std::int64_t>(v);
        for (std::int64_t k = q.start[id]; k < q.start[id + 1]; ++k) {
          const auto r = static_cast<std::size_t>(q.rows[k]);
          if (kListDefaults) holds[r] = 1;
          if (listed) body(data.position[r], first_cell[c] + state);
        }
      }
      const std::int32_t state = column.state_of.back();
      if (!kListDefaults || state >= n_conditions(static_cast<std::int32_t>(c))) continue;
      for (std::size_t r = 0; r < holds.size(); ++r)
        if (!holds[r]) body(data.position[r], first_cell[c] + state);
    }
  }
};

struct List {  // ascending records, hits first
  const std::int32_t* records;
  std::int64_t n;
};

// What a node of the search holds while its branches are followed.
template <class Count>
struct Node {
  std::vector<Count> hits, rest;      // of each cell
  std::vector<std::int32_t> n;        // records that list the cell
  std::vector<std::int32_t> touched;  // cells with n > 0
  std::vector<std::int32_t> open;     // cells worth following
  std::vector<std::int64_t> lists;    // where each cell's records begin, if it is open
  Buffer<std::int32_t> records;
  std::vector<std::int32_t> without;  // records that list no value of a column
};

template <class Count>
class Walker {
 public:
  Walker(const Rows<Count>& rows, const Scorer<Count>& scorer, BestRules<Count>& best,
         StopToken& token)
      : rows_(rows),
        spare_(rows.data, scorer, token),
        bar_(scorer, best, rows.data.query->redundant ? nullptr : &spare_),
        meter_(token),
        shortest_(static_cast<std::size_t>(rows.data.query->shortest)),
        longest_(static_cast<std::size_t>(rows.data.query->longest)),
        nodes_(longest_ + 1) {}

  // Goes through the rules that add conditions on column `first` or later ones to those on the
  // path, which the records of the list match. At the root, only those of one block.
  void expand(const List& list, std::size_t first, std::int64_t block, std::int64_t n_blocks) {
    const std::size_t depth = path_.size();
    Node<Count>& node = nodes_[depth];
    count(list, first, node);
    bar_.refresh();
    node.open.clear();
    const auto visit = [&](std::int32_t cell) {
      const Count hits = node.hits[at(cell)], support = hits + node.rest[at(cell)];
      if (!rows_.is_condition(cell) || !bar_.open(support, hits)) return;
      node.open.push_back(cell);
      if (depth + 1 < shortest_ || block > 0) return;
      path_.push_back(rows_.condition(cell));
      bar_.offer(support, hits, path_);
      path_.pop_back();
    };
    for (const std::int32_t cell : node.touched) visit(cell);
    for (std::size_t c = first; c < rows_.data.columns.size(); ++c)
      if (rows_.default_cell(c) >= 0) visit(rows_.default_cell(c));
    if (depth + 1 < longest_) {
      std::sort(node.open.begin(), node.open.end());
      deliver(list, first, node);
      for (const std::int32_t cell : node.open)  // which are open may differ between blocks
        if (cell % n_blocks == block) follow(list, node, cell);
    }
    for (const std::int32_t cell : node.touched)
      node.n[at(cell)] = 0, node.hits[at(cell)] = 0, node.rest[at(cell)] = 0;
    node.touched.clear();
  }

 private:
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

  // Calls body(cell) for what a record lists of column `first` and later ones.
  template <class Body>
  void each(std::int32_t record, std::size_t first, const Body& body) const {
    const std::int32_t* low = rows_.cells.data() + rows_.begin[at(record)];
    const std::int32_t* p = rows_.cells.data() + rows_.begin[at(record) + 1];
    while (p > low && p[-1] >= rows_.first_cell[first]) body(*--p);
  }

  void count(const List& list, std::size_t first, Node<Count>& node) {
    const std::size_t n_cells = rows_.column_of.size();
    node.hits.resize(n_cells);
    node.rest.resize(n_cells);
    node.n.resize(n_cells);
    Count all_hits = 0, all_rest = 0;
    for (std::int64_t k = 0; k < list.n; ++k) {
      const std::int32_t record = list.records[k];
      const bool hit = record < rows_.data.n_hits;
      Count one = 1;
      if constexpr (Rows<Count>::kListDefaults) one = rows_.data.weights[at(record)];
      (hit ? all_hits : all_rest) += one;
      std::vector<Count>& counts = hit ? node.hits : node.rest;
      std::int64_t steps = 8;
      each(record, first, [&](std::int32_t cell) {
        counts[at(cell)] += one;
        if (node.n[at(cell)]++ == 0) node.touched.push_back(cell);
        ++steps;
      });
      meter_.spend(steps);
    }
    if constexpr (!Rows<Count>::kListDefaults) {
      for (std::size_t c = first; c < rows_.data.columns.size(); ++c) {
        const std::int32_t cell = rows_.default_cell(c);
        if (cell < 0) continue;
        Count hits = all_hits, rest = all_rest;
        for (std::int32_t other = rows_.first_cell[c]; other < rows_.first_cell[c + 1]; ++other) {
          if (other == cell) continue;
          hits -= node.hits[at(other)];
          rest -= node.rest[at(other)];
        }
        node.hits[at(cell)] = hits;
        node.rest[at(cell)] = rest;
        meter_.spend(8);
      }
    }
  }

  // Lists the records of each open cell that is listed itself.
  void deliver(const List& list, std::size_t first, Node<Count>& node) {
    node.lists.assign(rows_.column_of.size(), -1);
    std::int64_t total = 0;
    for (const std::int32_t cell : node.open) {
      node.lists[at(cell)] = total;
      total += node.n[at(cell)];
    }
    if (node.records.size() < static_cast<std::size_t>(total))
      node.records = Buffer<std::int32_t>(static_cast<std::size_t>(total));
    for (std::int64_t k = 0; k < list.n; ++k)
      each(list.records[k], first, [&](std::int32_t cell) {
        std::int64_t& next = node.lists[at(cell)];
        if (next >= 0) node.records[static_cast<std::size_t>(next++)] = list.records[k];
      });
    for (const std::int32_t cell : node.open) node.lists[at(cell)] -= node.n[at(cell)];
  }

  void follow(const List& list, Node<Count>& node, std::int32_t cell) {
    const auto c = at(rows_.column_of_(cell));
    const Count hits = node.hits[at(cell)];
    if (c + 1 == rows_.data.columns.size() || !bar_.open(hits + node.rest[at(cell)], hits)) return;
    List followed{node.records.data() + node.lists[at(cell)], node.n[at(cell)]};
    if (cell == rows_.default_cell(c)) {
      node.without.clear();
      for (std::int64_t k = 0; k < list.n; ++k) {
        bool holds = false;
        each(list.records[k], c, [&](std::int32_t x) { holds |= x < rows_.first_cell[c + 1]; });
        if (!holds) node.without.push_back(list.records[k]);
      }
      meter_.spend(list.n * 8);
      followed = {node.without.data(), static_cast<std::int64_t>(node.without.size())};
    }
    path_.push_back(rows_.condition(cell));
    expand(followed, c + 1, 0, 1);
    path_.pop_back();
  }

  const Rows<Count>& rows_;
  SpareConditions<Count> spare_;
  Bar<Count> bar_;
  Meter meter_;
  const std::size_t shortest_, longest_;
  std::vector<Node<Count>> nodes_;  // one for each depth
  std::vector<RuleCondition> path_;
};

}  // namespace

template <class Count>
void search_rows(const RuleData<Count>& data, const Scorer<Count>& scorer, BestRules<Count>& best,
                 int n_jobs, Poll poll) {
  const Rows<Count> rows(data);
  Buffer<std::int32_t> all(static_cast<std::size_t>(data.query->n_records));
  for (std::size_t p = 0; p < all.size(); ++p) all[p] = static_cast<std::int32_t>(p);
  // Every block counts the root anew, so there are not many.
  const std::int64_t n_blocks = data.query->longest > 1 ? 16 : 1;
  for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t block, StopToken& token) {
    Walker<Count>(rows, scorer, best, token)
        .expand({all.data(), static_cast<std::int64_t>(all.size())}, 0, block, n_blocks);
  });
}

template void search_rows(const RuleData<std::int64_t>&, const Scorer<std::int64_t>&,
                          BestRules<std::int64_t>&, int, Poll);
template void search_rows(const RuleData<double>&, const Scorer<double>&, BestRules<double>&, int,
                          Poll);

}  // namespace tacit
