#include <vector>

#include "bindings/common.hpp"
#include "dependency/binary_table.hpp"
#include "dependency/pair_cells.hpp"
#include "dependency/pair_products.hpp"
#include "dependency/rooted_tree.hpp"

namespace tacit::bindings {
namespace {

using Rows = In<std::int64_t>;
using Numbers2 = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sums2 = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Pairs2 = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using AnyGrid = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

std::int64_t signed_size(std::size_t n) { return static_cast<std::int64_t>(n); }

// The number of rows of an array with two columns, all of whose entries are in [0, limit).
std::int64_t count_pairs(const Pairs2& pairs, std::int64_t limit, const char* problem) {
  if (pairs.shape(1) != 2) throw std::invalid_argument(problem);
  for (std::size_t k = 0; k < pairs.size(); ++k)
    if (pairs.data()[k] < 0 || pairs.data()[k] >= limit) throw std::invalid_argument(problem);
  return signed_size(pairs.shape(0));
}

nb::object bind_rooted_tree(const Numbers2& weights) {
  const std::size_t n = weights.shape(0);
  if (n == 0 || weights.shape(1) != n) throw std::invalid_argument("weights must be square");
  Buffer<std::int64_t> links(2 * (n - 1));
  run([&] {
    std::vector<TreeLink> edges(n - 1);
    rooted_tree(weights.data(), signed_size(n), edges.data(), signal_pending);
    for (std::size_t k = 0; k < edges.size(); ++k) {
      links[2 * k] = edges[k].parent;
      links[2 * k + 1] = edges[k].child;
    }
  });
  return nb::cast(to_numpy(std::move(links), {n - 1, 2}));
}

std::vector<TreeLink> as_links(const Pairs2& links) {
  const std::int64_t n = signed_size(links.shape(0)) + 1;
  const char* const problem = "links must be a tree, each parent before its children";
  count_pairs(links, n, problem);
  std::vector<TreeLink> tree;
  std::vector<bool> inside(static_cast<std::size_t>(n), false);
  inside[0] = true;
  for (std::size_t k = 0; k < links.shape(0); ++k) {
    const std::int64_t u = links.data()[2 * k], v = links.data()[2 * k + 1];
    if (!inside[static_cast<std::size_t>(u)] || inside[static_cast<std::size_t>(v)])
      throw std::invalid_argument(problem);
    inside[static_cast<std::size_t>(v)] = true;
    tree.push_back({u, v});
  }
  return tree;
}

nb::object bind_path_minima(const Pairs2& links, const In<double>& weights) {
  const std::vector<TreeLink> tree = as_links(links);
  if (weights.size() != tree.size())
    throw std::invalid_argument("weights must be as many as links");
  const std::size_t n = tree.size() + 1;
  Buffer<double> minima(n * n);
  run([&] {
    path_minima(tree.data(), weights.data(), signed_size(n), minima.data(), signal_pending);
  });
  return nb::cast(to_numpy(std::move(minima), {n, n}));
}

nb::object bind_covered_links(const Pairs2& links, const Pairs2& pairs) {
  const std::vector<TreeLink> tree = as_links(links);
  const std::int64_t n = signed_size(tree.size()) + 1;
  const std::int64_t n_pairs = count_pairs(pairs, n, "pairs must be two nodes each");
  Buffer<std::uint8_t> covered(tree.size());
  run([&] { covered_links(tree.data(), n, pairs.data(), n_pairs, covered.data()); });
  return nb::cast(to_numpy(std::move(covered), {tree.size()}));
}

void bind_pair_products(const Numbers2& block, const Pairs2& pairs, const Sums2& sums, int n_jobs) {
  const NumberBlock columns{block.data(), signed_size(block.shape(0)), signed_size(block.shape(1))};
  const std::int64_t n_pairs =
      count_pairs(pairs, columns.n_columns, "pairs must be two columns of the block each");
  if (sums.shape(0) != pairs.shape(0) || sums.shape(1) != 4)
    throw std::invalid_argument("sums must be four for each pair");
  run([&] { pair_products(columns, pairs.data(), n_pairs, sums.data(), n_jobs, signal_pending); });
}

nb::object bind_gather_columns(const AnyGrid& numbers, const Rows& rows, const Rows& columns,
                               int n_jobs) {
  const auto check = [](const Rows& positions, std::size_t limit, const char* problem) {
    for (std::size_t k = 0; k < positions.size(); ++k)
      if (positions.data()[k] < 0 || positions.data()[k] >= signed_size(limit))
        throw std::invalid_argument(problem);
  };
  check(rows, numbers.shape(0), "rows must be rows of the array");
  check(columns, numbers.shape(1), "columns must be columns of the array");
  Buffer<double> out(rows.size() * columns.size());
  with_floats(numbers.dtype(), "numbers", [&](auto number) {
    const NumberGrid<decltype(number)> grid{static_cast<const decltype(number)*>(numbers.data()),
                                            numbers.stride(0), numbers.stride(1)};
    run([&] {
      gather_columns(grid, rows.data(), signed_size(rows.size()), columns.data(),
                     signed_size(columns.size()), out.data(), n_jobs, signal_pending);
    });
  });
  return nb::cast(to_numpy(std::move(out), {columns.size(), rows.size()}));
}

nb::object bind_pair_cells(const RecordArrays& given, const In<std::int32_t>& slots,
                           std::int64_t n_slots, const Pairs2& pairs, int n_jobs) {
  const std::int64_t n_pairs = count_pairs(pairs, n_slots, "pairs must be two slots each");
  for (std::size_t v = 0; v < slots.size(); ++v)
    if (slots.data()[v] >= n_slots) throw std::invalid_argument("slots must be below n_slots");
  Buffer<std::int64_t> counts(pairs.shape(0));
  given.visit([&](const auto& records) {
    run([&] {
      const ValueBits bits = value_bits(records, slots.data(), n_slots, n_jobs, signal_pending);
      pair_cells(bits, pairs.data(), n_pairs, counts.data(), n_jobs, signal_pending);
    });
  });
  return nb::cast(to_numpy(std::move(counts), {pairs.shape(0)}));
}

nb::tuple bind_likelihood_ends(const Numbers2& counts, const In<double>& a, const In<double>& b,
                               const In<double>& drop, int n_jobs) {
  const std::size_t n = counts.shape(0);
  if (counts.shape(1) != 4 || a.size() != n || b.size() != n || drop.size() != n)
    throw std::invalid_argument("each table needs four counts, two margins and a drop");
  const BinaryTables tables{counts.data(), a.data(), b.data(), drop.data(), signed_size(n)};
  Buffer<double> low(n), high(n);
  run([&] { likelihood_ends(tables, low.data(), high.data(), n_jobs, signal_pending); });
  return nb::make_tuple(to_numpy(std::move(low), {n}), to_numpy(std::move(high), {n}));
}

}  // namespace

void register_dependency_tree(nb::module_& m) {
  m.def("rooted_tree", bind_rooted_tree, nb::arg("weights"),
        nb::sig("def rooted_tree(weights: Floats) -> Ints"),
        "Find the heaviest spanning tree: parent and child of each link, parents first.");
  m.def("path_minima", bind_path_minima, nb::arg("links"), nb::arg("weights"),
        nb::sig("def path_minima(links: Ints, weights: Floats) -> Floats"),
        "Find the least weight on the path between every two nodes of a tree.");
  m.def("covered_links", bind_covered_links, nb::arg("links"), nb::arg("pairs"),
        nb::sig("def covered_links(links: Ints, pairs: Ints) -> Flags"),
        "Say which links of a tree are on a path between the two nodes of any pair.");
  m.def("pair_products", bind_pair_products, nb::arg("block"), nb::arg("pairs"), nb::arg("sums"),
        nb::arg("n_jobs"),
        nb::sig("def pair_products(block: Floats, pairs: Ints, sums: Floats, n_jobs: int) -> None"),
        "Add the sums of xy, x²y², x³y and xy³ of some pairs of columns.");
  m.def("gather_columns", bind_gather_columns, nb::arg("numbers"), nb::arg("rows"),
        nb::arg("columns"), nb::arg("n_jobs"),
        nb::sig("def gather_columns(numbers: Numbers, rows: Ints, columns: Ints, n_jobs: int) "
                "-> Floats"),
        "Copy some rows of some columns, column after column.");
  m.def("pair_cells", bind_pair_cells, nb::arg("records"), nb::arg("slots"), nb::arg("n_slots"),
        nb::arg("pairs"), nb::arg("n_jobs"),
        nb::sig("def pair_cells(records: Records, slots: Indices, "
                "n_slots: int, pairs: Ints, n_jobs: int) -> Ints"),
        "Count the chosen records that hold both values of each pair of slots.");
  m.def("likelihood_ends", bind_likelihood_ends, nb::arg("counts"), nb::arg("a"), nb::arg("b"),
        nb::arg("drop"), nb::arg("n_jobs"),
        nb::sig("def likelihood_ends(counts: Floats, a: Floats, b: Floats, drop: Floats, "
                "n_jobs: int) -> tuple[Floats, Floats]"),
        "Find how far one cell of each binary table may be from the likeliest.");
}

}  // namespace tacit::bindings
