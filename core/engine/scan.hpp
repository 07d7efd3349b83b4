// Contingency tables by reading the records: nothing is prepared, nothing is kept.
//
// All records and a table of few cells: cell numbers of a block are worked out column by column
// (vector instructions), then counted into several histograms at once, so that a common cell does
// not wait for itself. About 0.5 ns a record. Columns that are almost all default: only records
// with a stored value among them are read, the rest follows by subtraction.
#pragma once

#include "engine/engine.hpp"

namespace tacit {

class Scan : public Engine {
 public:
  Scan(std::shared_ptr<const ColumnStore> store, int n_jobs)
      : Engine(std::move(store)), n_jobs_(n_jobs) {}
  void dense(const Question& question, Result out, Poll poll) override;
  SparseCells sparse(const Question& question, Poll poll) override;
  std::int64_t bytes() const override { return store_->bytes(); }

  // Some records only: `chosen` is ascending.
  void dense_some(const std::vector<std::int64_t>& columns, const Some& chosen, Result out);
  SparseCells sparse_some(const std::vector<std::int64_t>& columns, const Some& chosen);

 private:
  int n_jobs_;
};

}  // namespace tacit
