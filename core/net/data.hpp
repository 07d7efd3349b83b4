// Records as the search for Bayes nets wants them: codes and bitmaps of every column, and groups
// of records that agree on some columns.
//
// A group of many records is a bitmap, one of few records a list: counting another column within
// it is then a word operation for every 64 records of the table, or a look-up for each record,
// whichever is less.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bits.hpp"
#include "base/records.hpp"

namespace tacit {

// What the search is given. All arrays must outlive the data made from them.
struct NetTable {
  std::int64_t n_records;
  std::int64_t n_columns;
  const std::int64_t* offsets;   // first value id of each column (n_columns + 1)
  const std::int64_t* defaults;  // default code of each column
  const std::int64_t* start;     // postings: where the records of each value id begin
  const std::int32_t* rows;
  const double* weights;        // or null where each record counts 1
  const std::int64_t* missing;  // of each column the code that says "not known", or -1
};

// What is known of columns without looking at records.
class NetColumns {
 public:
  NetColumns(std::int64_t n, const std::int64_t* offsets, const std::int64_t* missing);

  int n_columns() const { return static_cast<int>(arity_.size()); }
  int arity(int column) const { return arity_[static_cast<std::size_t>(column)]; }
  int missing(int column) const { return missing_[static_cast<std::size_t>(column)]; }
  bool all_known() const;
  // States that count: all but the one that says "not known".
  int states(int column) const {
    return arity(column) > 1 ? arity(column) - (missing(column) >= 0) : 1;
  }

 private:
  std::vector<int> arity_, missing_;
};

class NetData {
 public:
  explicit NetData(const NetTable& table);

  const NetColumns& columns() const { return columns_; }
  std::int64_t n_records() const { return n_records_; }
  std::int64_t n_words() const { return n_words_; }
  int n_columns() const { return columns_.n_columns(); }
  double total() const { return total_; }  // of the records' weights
  const double* weights() const { return weights_; }
  int arity(int column) const { return columns_.arity(column); }
  int missing(int column) const { return columns_.missing(column); }
  int common(int column) const { return common_[static_cast<std::size_t>(column)]; }
  const std::uint16_t* codes(int column) const {
    return codes_.data() + static_cast<std::size_t>(column) * static_cast<std::size_t>(n_records_);
  }
  // Null for the most common code, which follows from the others, and where records have weights.
  const std::uint64_t* bitmap(int column, int code) const {
    return bitmaps_[static_cast<std::size_t>(first_[static_cast<std::size_t>(column)] + code)];
  }
  // Groups of at least this many records are bitmaps.
  std::int64_t heavy() const { return heavy_; }

  static std::int64_t bytes(const NetTable& table);  // of memory that this will take

 private:
  void make_codes(const NetTable& table);
  void make_bitmaps();

  NetColumns columns_;
  std::int64_t n_records_, n_words_, heavy_;
  double total_;
  const double* weights_;
  std::vector<int> common_, first_;
  Buffer<std::uint16_t> codes_;
  Buffer<std::uint64_t> words_;
  std::vector<const std::uint64_t*> bitmaps_;
};

// The records that have every one of some columns' codes: those of the parents, of which `state`
// is the running number, and that of the child.
struct NetGroup {
  int state;
  int code;
  std::int64_t begin, n;  // heavy: n records, bitmap at words + begin; light: list[begin … + n)
  bool heavy;
};

// All groups of a family. Records with a missing code in one of its columns are in none. Parent
// states ascend by the codes of the first parent, then of the second, …: sums over them do not
// depend on how common a code is, and so are the same for counts that were merged.
class NetGroups {
 public:
  NetGroups(const NetData& data, int child, const std::vector<int>& parents);

  const std::vector<NetGroup>& groups() const { return groups_; }
  int n_states() const { return n_states_; }  // of the parents, with records
  // Whether the family's table has so many cells that it was not counted: no records could speak
  // for them.
  bool too_large() const { return too_large_; }
  static constexpr double kMostCells = 0x1p26;
  // Codes of the parents in each state, one after another.
  const std::vector<std::uint16_t>& state_codes() const { return state_codes_; }
  // Σ weights of the records of each parent state and child code: n_states × arity of the child.
  const std::vector<double>& counts() const { return counts_; }

  // cells[(state · arity of other + code of other) · arity of child + code of child].
  void count_with(int other, std::vector<double>& cells) const;

 private:
  void split(int column);
  void split_heavy(const NetGroup& group, int column, std::vector<NetGroup>& parts,
                   std::vector<std::uint64_t>& words, std::vector<std::int32_t>& list);
  void split_light(const NetGroup& group, int column, std::vector<NetGroup>& parts,
                   std::vector<std::int32_t>& list);
  void add_part(const std::uint64_t* bits, std::int64_t n, int state, int code,
                std::vector<NetGroup>& parts, std::vector<std::uint64_t>& words,
                std::vector<std::int32_t>& list) const;

  const NetData& data_;
  int child_;
  int n_states_ = 0;
  bool too_large_ = false;
  std::vector<NetGroup> groups_;
  std::vector<std::uint64_t> words_;
  std::vector<std::int32_t> list_;
  std::vector<std::uint16_t> state_codes_;
  std::vector<double> counts_;
  AndPopcount and_popcount_;
};

}  // namespace tacit
