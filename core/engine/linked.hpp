// Tables of several selections in one pass: what linked views ask when one of them is dragged.
//
// Records come as one array of codes for each column, and how often each occurs. They are taken
// a thousand at a time: each condition becomes a bitmap of them, each selection the AND of
// some bitmaps, and each table counts the records that are left. A condition that many selections
// share is looked at once.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "engine/column_store.hpp"

namespace tacit {

struct CodedColumn {
  const void* codes;  // unsigned, of this many bytes each: 1, 2 or 4
  int width;
  std::int64_t arity;
};

struct CodedRecords {
  std::int64_t n;
  std::vector<CodedColumn> columns;
  const std::uint32_t* times;  // how often each occurs; null if once
};

struct LinkedCondition {
  std::int64_t column;
  CodeSet codes;
};

struct LinkedTables {
  std::vector<LinkedCondition> conditions;
  std::vector<std::vector<std::size_t>> selections;  // conditions that all hold
  struct Table {
    std::size_t selection;
    std::vector<std::int64_t> columns;
  };
  std::vector<Table> tables;
};

// out: all cells of all tables, one table after another, each in C order of its columns.
// O(records · conditions / vector + Σ records selected · columns), over tables. The same for any
// number of threads.
void linked_tables(const CodedRecords& records, const LinkedTables& asked, std::int64_t* out,
                   int n_jobs, Poll poll);

}  // namespace tacit
