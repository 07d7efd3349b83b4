#include "junction/tables.hpp"

#include <algorithm>

#include "base/simd.hpp"

namespace tacit {
namespace {

constexpr std::size_t kBlockCells = 2048;  // 16 kB: half of a first-level cache

struct Sum {
  static double join(double a, double b) { return a + b; }
};
struct Max {
  static double join(double a, double b) { return a < b ? b : a; }
};

// In a fixed order of four running results, so that the loop has no chain of dependences.
template <class R>
double reduce_row(const double* row, std::size_t n) {
  if (n < 8) {
    double all = row[0];
    for (std::size_t i = 1; i < n; ++i) all = R::join(all, row[i]);
    return all;
  }
  double lane[4] = {row[0], row[1], row[2], row[3]};
  std::size_t i = 4;
  for (; i + 4 <= n; i += 4)
    for (std::size_t k = 0; k < 4; ++k) lane[k] = R::join(lane[k], row[i + k]);
  double all = R::join(R::join(lane[0], lane[1]), R::join(lane[2], lane[3]));
  for (; i < n; ++i) all = R::join(all, row[i]);
  return all;
}

struct Assign {
  static void apply(double& cell, double value) { cell = value; }
};
struct Multiply {
  static void apply(double& cell, double value) { cell *= value; }
};

// Two innermost levels, the inner one of N cells, or of n where N is 0: most axes are short, and a
// loop of known length is several times cheaper.
template <class Op, std::size_t N>
void spread_rows(std::size_t rows, std::size_t n, double* __restrict block,
                 const double* __restrict table, bool inner_kept) {
  if (N) n = N;
  if (inner_kept)
    for (std::size_t j = 0; j < rows; ++j)
      for (std::size_t i = 0; i < n; ++i) Op::apply(block[j * n + i], table[i]);
  else
    for (std::size_t j = 0; j < rows; ++j) {
      const double value = table[j];
      for (std::size_t i = 0; i < n; ++i) Op::apply(block[j * n + i], value);
    }
}

template <class R, std::size_t N>
void gather_rows(std::size_t rows, std::size_t n, const double* __restrict block,
                 double* __restrict table, bool inner_kept) {
  if constexpr (N > 0) {
    if (inner_kept) {
      double held[N];
      for (std::size_t i = 0; i < N; ++i) held[i] = table[i];
      for (std::size_t j = 0; j < rows; ++j)
        for (std::size_t i = 0; i < N; ++i) held[i] = R::join(held[i], block[j * N + i]);
      for (std::size_t i = 0; i < N; ++i) table[i] = held[i];
    } else {
      for (std::size_t j = 0; j < rows; ++j) {
        double all = block[j * N];
        for (std::size_t i = 1; i < N; ++i) all = R::join(all, block[j * N + i]);
        table[j] = R::join(table[j], all);
      }
    }
  } else if (inner_kept) {
    for (std::size_t j = 0; j < rows; ++j)
      for (std::size_t i = 0; i < n; ++i) table[i] = R::join(table[i], block[j * n + i]);
  } else {
    for (std::size_t j = 0; j < rows; ++j)
      table[j] = R::join(table[j], reduce_row<R>(block + j * n, n));
  }
}

// Calls body(N) for a short inner level, body(0) for any other.
template <class Body>
void with_length(std::size_t n, const Body& body) {
  with_constant<2, 3, 4, 5, 6, 8, 0>(static_cast<std::int64_t>(n), body);
}

template <class Op>
void spread(const TableLevel* level, std::size_t depth, double* block, const double* table) {
  if (depth == 1) {
    spread_rows<Op, 0>(1, level->n, block, table, level->table_step != 0);
  } else if (depth == 2) {
    with_length(level[1].n, [&](auto n) {
      spread_rows<Op, n()>(level->n, level[1].n, block, table, level[1].table_step != 0);
    });
  } else {
    for (std::size_t j = 0; j < level->n; ++j)
      spread<Op>(level + 1, depth - 1, block + j * level->block_step,
                 table + j * level->table_step);
  }
}

template <class R>
void gather(const TableLevel* level, std::size_t depth, const double* block, double* table) {
  if (depth == 1) {
    gather_rows<R, 0>(1, level->n, block, table, level->table_step != 0);
  } else if (depth == 2) {
    with_length(level[1].n, [&](auto n) {
      gather_rows<R, n()>(level->n, level[1].n, block, table, level[1].table_step != 0);
    });
  } else {
    for (std::size_t j = 0; j < level->n; ++j)
      gather<R>(level + 1, depth - 1, block + j * level->block_step, table + j * level->table_step);
  }
}

// One block: the product, then its sums.
template <class R>
void run_block(const BlockShape& shape, PassScratch& scratch) {
  double* const block = scratch.block.data();
  const double* product = block;
  const auto& factors = scratch.factors;
  if (factors.empty()) {
    std::fill_n(block, shape.block_cells, 1.0);
  } else if (factors.size() == 1 && factors[0].walk->whole) {
    product = factors[0].data;
  } else {
    const TableWalk& first = *factors[0].walk;
    spread<Assign>(first.levels.data(), first.levels.size(), block, factors[0].data);
    for (std::size_t k = 1; k < factors.size(); ++k) {
      const TableWalk& walk = *factors[k].walk;
      spread<Multiply>(walk.levels.data(), walk.levels.size(), block, factors[k].data);
    }
  }
  for (const TableTarget& target : scratch.targets)
    gather<R>(target.walk->levels.data(), target.walk->levels.size(), product, target.data);
}

// Goes one step on in the leading axes; false at the end, when all is as at the beginning.
bool advance(const BlockShape& shape, PassScratch& scratch) {
  for (std::size_t a = shape.outer.size(); a-- > 0;) {
    const bool wraps = ++scratch.index[a] == shape.outer[a];
    const std::size_t back = wraps ? shape.outer[a] - 1 : 0;
    if (wraps) scratch.index[a] = 0;
    for (TableFactor& factor : scratch.factors) {
      const std::size_t step = factor.walk->steps[a];
      factor.data = wraps ? factor.data - step * back : factor.data + step;
    }
    for (TableTarget& target : scratch.targets) {
      const std::size_t step = target.walk->steps[a];
      target.data = wraps ? target.data - step * back : target.data + step;
    }
    if (!wraps) return true;
  }
  return false;
}

template <class R>
void run_blocks(const BlockShape& shape, PassScratch& scratch, Meter& meter) {
  const std::size_t n_tables = scratch.factors.size() + scratch.targets.size();
  do {
    run_block<R>(shape, scratch);
    meter.spend(static_cast<std::int64_t>(shape.block_cells * n_tables));
  } while (advance(shape, scratch));
}

void fold_axes(const std::size_t* sizes, const std::size_t* steps, std::size_t depth, bool assign,
               double*& to, const double* from) {
  const std::size_t n = depth ? *sizes : 1, step = depth ? *steps : 0;
  if (depth > 1) {
    for (std::size_t i = 0; i < n; ++i)
      fold_axes(sizes + 1, steps + 1, depth - 1, assign, to, from + i * step);
  } else {
    if (assign)
      for (std::size_t i = 0; i < n; ++i) to[i] = from[i * step];
    else
      for (std::size_t i = 0; i < n; ++i) to[i] *= from[i * step];
    to += n;
  }
}

void unfold_axes(const std::size_t* sizes, const std::size_t* steps, std::size_t depth,
                 double weight, double* to, const double*& from) {
  const std::size_t n = depth ? *sizes : 1, step = depth ? *steps : 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (depth > 1)
      unfold_axes(sizes + 1, steps + 1, depth - 1, weight, to + i * step, from);
    else
      to[i * step] += weight * *from++;
  }
}

}  // namespace

BlockShape::BlockShape(const std::vector<std::size_t>& sizes) {
  std::size_t cut = sizes.size();
  while (cut > 0 && (block_cells == 1 || block_cells * sizes[cut - 1] <= kBlockCells))
    block_cells *= sizes[--cut];
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(cut);
  outer.assign(sizes.begin(), middle);
  inner.assign(middle, sizes.end());
  for (const std::size_t n : outer) n_blocks *= n;
}

TableWalk::TableWalk(const BlockShape& shape, std::uint64_t axes) {
  const std::size_t n_outer = shape.outer.size(), n = n_outer + shape.inner.size();
  std::size_t block_step = 1;
  whole = true;
  steps.assign(n, 0);
  for (std::size_t a = n; a-- > n_outer;) {
    const std::size_t size = shape.inner[a - n_outer];
    const bool kept = axes >> a & 1;
    whole = whole && kept;
    if (!levels.empty() && (levels.back().table_step != 0) == kept)
      levels.back().n *= size;
    else
      levels.push_back({size, block_step, kept ? cells : 0});
    block_step *= size;
    if (!kept) continue;
    steps[a] = cells;
    cells *= size;
  }
  std::reverse(levels.begin(), levels.end());
  for (std::size_t a = n_outer; a-- > 0;) {
    const bool kept = axes >> a & 1;
    whole = whole && kept;
    if (!kept) continue;
    steps[a] = cells;
    cells *= shape.outer[a];
  }
}

void run_pass(const BlockShape& shape, Reduce reduce, PassScratch& scratch, Meter& meter) {
  if (scratch.block.size() < shape.block_cells) scratch.block.resize(shape.block_cells);
  scratch.index.assign(shape.outer.size(), 0);
  if (reduce == Reduce::kSum)
    run_blocks<Sum>(shape, scratch, meter);
  else
    run_blocks<Max>(shape, scratch, meter);
}

void fold_table(const std::vector<std::size_t>& sizes, const std::vector<std::size_t>& steps,
                bool assign, double* to, const double* from) {
  fold_axes(sizes.data(), steps.data(), sizes.size(), assign, to, from);
}

void unfold_table(const std::vector<std::size_t>& sizes, const std::vector<std::size_t>& steps,
                  double weight, double* to, const double* from) {
  unfold_axes(sizes.data(), steps.data(), sizes.size(), weight, to, from);
}

double scale_to_one(double* table, std::size_t n) {
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, table[i]);
  if (largest > 0 && largest != 1)
    for (std::size_t i = 0; i < n; ++i) table[i] /= largest;
  return largest;
}

}  // namespace tacit
