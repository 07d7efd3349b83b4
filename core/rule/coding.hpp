// From columns of numbers to the sorted codes that the search for rules scans.
//
// Each column's distinct numbers are ranked, and the records of every rank but the default one
// are listed, ascending: a *run* for each (column, code) that is stored. Labels come as numbers,
// too. NaN is missing: its code is -1. -0.0 is 0.0.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"
#include "base/records.hpp"

namespace tacit {

struct NumberColumns {
  std::int64_t n_records, n_columns;
  const std::int64_t* indptr;   // n_columns + 1 offsets into records and values
  const std::int32_t* records;  // strictly ascending within a column; not read where `full`
  const double* values;         // no infinity
  const double* unlisted;       // what the records have that a column does not list
  bool full;                    // whether every column lists all records
};

enum class Binning : int { width = 0, frequency = 1 };

struct CodingPlan {
  const double* wanted;        // the default value of each column; NaN: missing
  const std::uint8_t* choose;  // where not 0, the most common value instead of the wanted one
  const std::uint8_t* binned;  // which columns are cut into bins
  Binning binning;
  std::int64_t n_bins;
};

struct RuleCoding {
  Buffer<std::int32_t> default_code;  // n_columns codes
  Buffer<std::int64_t> column_runs;   // n_columns + 1: the first run of each column
  Buffer<std::int32_t> run_codes;     // ascending within a column, without the default code
  Buffer<std::int64_t> run_start;     // runs + 1 offsets into records
  Buffer<std::int32_t> records;       // ascending within a run
  Buffer<std::int64_t> code_start;    // n_columns + 1: the first code of each column
  Buffer<double> lower, upper;        // the least and the greatest number of each code
};

// Without bins a code is one number. Equal width: bins as wide as each other from the least to the
// greatest number. Equal frequency: a number that fills a bin by itself has one, the others share
// the rest evenly. The most common number of a column always has a bin of its own. So bins do not
// depend on which value is the default. A default value that no record has is a code, too.
// Of several values that are equally common, that of the records not listed is chosen, if it is
// among them. O(l log(values of a column)), and O(records) for each column whose
// default value is not that of the records it does not list.
RuleCoding code_columns(const NumberColumns& columns, const CodingPlan& plan, int n_jobs,
                        Poll poll);

}  // namespace tacit
