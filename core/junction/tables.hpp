// Products and sums of tables over some of the axes of a larger table that is never stored.
//
// All tables list their axes in one common order, so a table over some axes of a clique is walked
// in the clique's own order with one step for each axis (0 where the table does not have it). The
// clique is gone through in blocks that fit into the first-level cache: a block is the product of
// all factors there, and is summed into all targets before the next block is begun.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"

namespace tacit {

// The axes of a clique, cut into leading ones, which number the blocks, and those inside a block.
struct BlockShape {
  std::vector<std::size_t> outer, inner;
  std::size_t n_blocks = 1, block_cells = 1;

  BlockShape() = default;
  explicit BlockShape(const std::vector<std::size_t>& sizes);
};

// Neighbouring axes that a table has, or has not, taken together.
struct TableLevel {
  std::size_t n, block_step;
  std::size_t table_step;  // 0: the table does not have these axes
};

// How a table over some of a clique's axes is walked along with the clique.
struct TableWalk {
  std::vector<std::size_t> steps;  // by axis of the clique
  std::vector<TableLevel> levels;  // inside a block, innermost last
  std::size_t cells = 1;
  bool whole = false;  // has all axes of the clique

  TableWalk() = default;
  // Bit a of `axes` says whether the table has axis a; at most 64 axes.
  TableWalk(const BlockShape& shape, std::uint64_t axes);
};

struct TableFactor {
  const TableWalk* walk;
  const double* data;
};
struct TableTarget {
  const TableWalk* walk;
  double* data;
};

enum class Reduce { kSum, kMax };

// Memory that passes use again and again.
struct PassScratch {
  std::vector<double> block;
  std::vector<std::size_t> index;
  std::vector<TableFactor> factors;
  std::vector<TableTarget> targets;
};

// Adds to every target (or takes the maximum with) the product of scratch.factors over the axes
// that the target does not have. Moves the data pointers while at work and leaves them as they
// were. O(cells of the clique · (factors + targets)).
void run_pass(const BlockShape& shape, Reduce reduce, PassScratch& scratch, Meter& meter);

// to[i…] = or *= from[Σ i·step], over all cells of `to`, whose axes have these sizes.
void fold_table(const std::vector<std::size_t>& sizes, const std::vector<std::size_t>& steps,
                bool assign, double* to, const double* from);

// The way back: to[Σ i·step] += weight · from[i…].
void unfold_table(const std::vector<std::size_t>& sizes, const std::vector<std::size_t>& steps,
                  double weight, double* to, const double* from);

// Divides by the largest value, which is returned; all zeros stay as they are.
double scale_to_one(double* table, std::size_t n);

}  // namespace tacit
