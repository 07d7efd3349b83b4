// Going back down a junction tree with values instead of tables: the most probable ones, or drawn.
#include <algorithm>
#include <cmath>

#include "base/uniform.hpp"
#include "junction/junction.hpp"

namespace tacit {
namespace {

constexpr std::size_t kLargestTable = std::size_t{1} << 23;  // cells of a clique that is stored
constexpr std::int64_t kRecords = 4096;                      // drawn by one block

std::size_t residual_cells(const PlannedClique& clique) {
  std::size_t cells = 1;
  for (std::size_t a = 0; a < clique.n_residual; ++a) cells *= clique.sizes[a];
  return cells;
}

// Writes the values of a clique's residual columns.
void set_residual(const JunctionPlan& plan, const PlannedClique& clique, std::size_t cell,
                  std::int32_t* codes) {
  for (std::size_t a = clique.n_residual; a-- > 0;) {
    codes[plan.columns[clique.slots[a]]] = static_cast<std::int32_t>(cell % clique.sizes[a]);
    cell /= clique.sizes[a];
  }
}

// The cell of the separator that a record is in.
std::size_t separator_cell(const JunctionPlan& plan, const PlannedClique& clique,
                           const std::int32_t* codes) {
  std::size_t cell = 0;
  for (std::size_t a = clique.n_residual; a < clique.slots.size(); ++a)
    cell +=
        clique.separator.steps[a] * static_cast<std::size_t>(codes[plan.columns[clique.slots[a]]]);
  return cell;
}

void copy_observed(const JunctionNet& net, const std::int32_t* codes, std::int32_t* out) {
  for (std::size_t c = 0; c < net.n_columns(); ++c) out[c] = std::max(codes[c], 0);
}

// The first cell whose cumulated sum is above a fraction u of the last one. Never a cell that adds
// nothing, even where rounding makes the product as large as the sum.
std::size_t find_cell(const double* sums, std::size_t n, std::size_t step, double u) {
  const double all = sums[(n - 1) * step], wanted = std::min(u * all, std::nextafter(all, 0.0));
  std::size_t low = 0, high = n - 1;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (sums[middle * step] > wanted)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace

// The product of a clique's tables for each cell of its residual, at the separator's values.
void JunctionRun::residual_products(const PlannedClique& clique, const std::int32_t* codes,
                                    std::vector<double>& out) const {
  const auto end = static_cast<std::ptrdiff_t>(clique.n_residual);
  const std::vector<std::size_t> sizes(clique.sizes.begin(), clique.sizes.begin() + end);
  out.assign(residual_cells(clique), 1.0);
  bool first = true;
  for (const PlacedTable& factor : clique.factors) {
    const auto& steps = factor.walk.steps;
    const double* from = arena_.data() + factor.at;
    for (std::size_t a = clique.n_residual; a < clique.slots.size(); ++a)
      from += steps[a] * static_cast<std::size_t>(codes[plan_.columns[clique.slots[a]]]);
    fold_table(sizes, {steps.begin(), steps.begin() + end}, first, out.data(), from);
    first = false;
  }
}

double JunctionRun::most_probable(const std::int32_t* codes, std::int32_t* out) {
  if (!collect(codes, true)) return kImpossible;
  copy_observed(net_, codes, out);
  std::vector<double> products;
  for (const PlannedClique& clique : plan_.cliques) {
    residual_products(clique, out, products);
    const auto best = std::max_element(products.begin(), products.end());
    set_residual(plan_, clique, static_cast<std::size_t>(best - products.begin()), out);
  }
  return log_evidence_;
}

// The whole product of a clique, summed up over its residual for each cell of its separator.
Buffer<double> JunctionRun::cumulated_products(const PlannedClique& clique) {
  const TableWalk all(clique.shape, ~std::uint64_t{0});
  const std::size_t n_rows = residual_cells(clique), row = all.cells / n_rows;
  Buffer<double> table(all.cells);
  std::fill_n(table.data(), all.cells, 0.0);
  set_factors(clique, false);
  scratch_.targets.push_back({&all, table.data()});
  run_pass(clique.shape, Reduce::kSum, scratch_, meter_);
  for (std::size_t i = row; i < all.cells; ++i) table[i] += table[i - row];
  return table;
}

// Clique after clique, for all records: its residual given its separator.
double JunctionRun::sample(const std::int32_t* codes, std::uint64_t seed, std::size_t n,
                           std::int32_t* out, int n_jobs, Poll poll) {
  if (!collect(codes, true)) return kImpossible;
  const std::size_t n_columns = net_.n_columns(), n_cliques = plan_.cliques.size();
  for (std::size_t r = 0; r < n; ++r) copy_observed(net_, codes, out + r * n_columns);
  const auto n_records = static_cast<std::int64_t>(n);
  const std::int64_t n_blocks = (n_records + kRecords - 1) / kRecords;
  for (std::size_t c = 0; c < n_cliques; ++c) {
    const PlannedClique& clique = plan_.cliques[c];
    const std::size_t n_residual = residual_cells(clique), n_shared = clique.separator.cells;
    // Few records need few cells of a large clique.
    const bool stored = n_shared <= n && n_residual * n_shared <= kLargestTable;
    const Buffer<double> table = stored ? cumulated_products(clique) : Buffer<double>();
    for_blocks(n_blocks, n_jobs, poll, [&](std::int64_t b, StopToken& token) {
      const Range range = block_range(n_records, n_blocks, b);
      Meter meter(token);
      std::vector<double> sums;
      for (std::int64_t k = range.begin; k < range.end; ++k) {
        const auto r = static_cast<std::size_t>(k);
        std::int32_t* const record = out + r * n_columns;
        const double u = uniform_at(seed, r * n_cliques + c);
        std::size_t cell;
        if (stored) {
          const double* const first = table.data() + separator_cell(plan_, clique, record);
          cell = find_cell(first, n_residual, n_shared, u);
        } else {
          residual_products(clique, record, sums);
          for (std::size_t i = 1; i < n_residual; ++i) sums[i] += sums[i - 1];
          cell = find_cell(sums.data(), n_residual, 1, u);
          meter.spend(static_cast<std::int64_t>(n_residual));
        }
        set_residual(plan_, clique, cell, record);
      }
    });
  }
  return log_evidence_;
}

}  // namespace tacit
