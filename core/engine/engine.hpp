// What all counting engines do: the contingency table of some columns, given some values.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/parallel.hpp"
#include "base/records.hpp"
#include "engine/column_store.hpp"

namespace tacit {

struct Condition {
  std::int64_t column;
  CodeSet codes;  // any of these
};

// Columns are distinct and so are those of the conditions; a column may be in both.
struct Question {
  std::vector<std::int64_t> columns;
  std::vector<Condition> given;
};

// The number of cells of a table of these columns; the caller has made sure that it fits.
std::int64_t count_cells(const ColumnStore& store, const std::vector<std::int64_t>& columns);

// Steps between codes of each column in C order.
std::vector<std::int64_t> c_strides(const ColumnStore& store,
                                    const std::vector<std::int64_t>& columns);

// Where counts go: int64, or double where records have weights that are not whole.
struct Result {
  std::int64_t* counts;
  double* sums;
};

// The cells that are not zero, by ascending C-order number.
struct SparseCells {
  Buffer<std::int64_t> cells;
  Buffer<std::int64_t> counts;  // or sums, whichever the store asks for
  Buffer<double> sums;
};

class Engine {
 public:
  explicit Engine(std::shared_ptr<const ColumnStore> store) : store_(std::move(store)) {}
  virtual ~Engine() = default;
  const ColumnStore& store() const { return *store_; }

  // Writes every cell, in C order of the question's columns.
  virtual void dense(const Question& question, Result out, Poll poll) = 0;
  virtual SparseCells sparse(const Question& question, Poll poll) = 0;
  // Tables of many sets of columns one after another: set k is columns[starts[k] … starts[k + 1]),
  // its table begins at offsets[k] of `out`.
  virtual void dense_many(const std::int64_t* columns, const std::int64_t* starts,
                          const std::int64_t* offsets, std::size_t n_sets,
                          const std::vector<Condition>& given, Result out, Poll poll);
  virtual std::int64_t bytes() const = 0;  // beyond the arrays of the table

 protected:
  std::shared_ptr<const ColumnStore> store_;
};

// How a cell's count is kept while it is worked out: a number of records, or exact units of weight.
template <class Count>
struct Tally {
  const FixedWeights& weights;
  Count of(std::int32_t record) const {
    if constexpr (sizeof(Count) == sizeof(Int128))
      return weights[static_cast<std::size_t>(record)];
    else
      return 1;
  }
  void write(Count count, Result out, std::int64_t at) const {
    if constexpr (sizeof(Count) != sizeof(Int128))
      out.counts[at] = count;
    else if (weights.whole())
      out.counts[at] = static_cast<std::int64_t>(weights.to_double(count));
    else
      out.sums[at] = weights.to_double(count);
  }
};

// Calls body(Tally<…>) for what the store's records count.
template <class Body>
auto with_tally(const ColumnStore& store, const Body& body) {
  if (store.weighted()) return body(Tally<Int128>{store.weights()});
  return body(Tally<std::int32_t>{store.weights()});
}

template <class Count>
struct Entry {
  std::int64_t cell;
  Count count;
};

// Sorts by cell, adds up entries of the same cell and drops those that come to nothing.
template <class Count>
void combine(std::vector<Entry<Count>>& entries);

template <class Count>
SparseCells to_cells(const Tally<Count>& tally, std::vector<Entry<Count>>& entries);

// Adds each record to its cell: Σ stride · code over the columns. O(records · columns).
template <class Count>
void tally_records(const ColumnStore& store, const Some& some, const Tally<Count>& tally,
                   const std::vector<std::int64_t>& columns,
                   const std::vector<std::int64_t>& strides, Count* cells);

// The same, into a list of cells.
template <class Count>
void tally_records(const ColumnStore& store, const Some& some, const Tally<Count>& tally,
                   const std::vector<std::int64_t>& columns,
                   const std::vector<std::int64_t>& strides, std::vector<Entry<Count>>& entries);

// The records that meet all conditions, or all records where there is none. `room` keeps the list.
Some matching(const ColumnStore& store, const std::vector<Condition>& given,
              std::vector<std::int32_t>& room);

}  // namespace tacit
