#include <nanobind/stl/vector.h>

#include "bindings/common.hpp"
#include "count/all_tables.hpp"
#include "count/one_way.hpp"
#include "count/pair_counts.hpp"

namespace tacit::bindings {
namespace {

using Indptr = In<std::int64_t>;
using Chosen = std::optional<In<std::int64_t>>;
using Weights = std::optional<In<double>>;

// Calls body(records, Count{}) for the types at hand: int64 counts, or double sums of weights.
template <class Body>
nb::object counted(const Indptr& indptr, const AnyIn& values, std::int64_t n_values,
                   const Chosen& chosen, const Weights& weights, const Body& body) {
  return with_values(values.dtype(), [&](auto v) {
    const auto records = as_records<decltype(v)>(indptr, values, n_values, chosen, weights);
    return weights ? body(records, double{}) : body(records, std::int64_t{});
  });
}

nb::object bind_one_way(const Indptr& indptr, const AnyIn& values, std::int64_t n_values,
                        const Chosen& chosen, const Weights& weights, int n_jobs) {
  return counted(indptr, values, n_values, chosen, weights, [&](const auto& records, auto count) {
    Buffer<decltype(count)> counts(static_cast<std::size_t>(n_values));
    run([&] { one_way(records, counts.data(), n_jobs, signal_pending); });
    return nb::cast(to_numpy(std::move(counts), {static_cast<std::size_t>(n_values)}));
  });
}

nb::object bind_two_way(const Indptr& indptr, const AnyIn& values, std::int64_t n_values,
                        std::int64_t first, std::int64_t n_states, const Chosen& chosen,
                        const Weights& weights, int n_jobs) {
  return counted(indptr, values, n_values, chosen, weights, [&](const auto& records, auto count) {
    const auto rows = static_cast<std::size_t>(n_states), cols = static_cast<std::size_t>(n_values);
    Buffer<decltype(count)> counts(rows * cols);
    run([&] { two_way(records, first, n_states, counts.data(), n_jobs, signal_pending); });
    return nb::cast(to_numpy(std::move(counts), {rows, cols}));
  });
}

nb::object bind_outer(const Indptr& indptr, const AnyIn& values, std::int64_t n_values,
                      const Chosen& chosen, const Weights& weights, int n_jobs) {
  return counted(indptr, values, n_values, chosen, weights, [&](const auto& records, auto count) {
    const auto n = static_cast<std::size_t>(n_values);
    Buffer<decltype(count)> square(n * n);
    run([&] { pair_counts_outer(records, square.data(), n_jobs, signal_pending); });
    return nb::cast(to_numpy(std::move(square), {n, n}));
  });
}

void bind_triangle(const Indptr& indptr, const AnyIn& values, std::int64_t n_values,
                   const Chosen& chosen, const Out<std::uint32_t>& cells, int n_jobs) {
  if (static_cast<std::int64_t>(cells.size()) != triangle_size(n_values))
    throw nb::value_error("cells: wrong length");
  with_values(values.dtype(), [&](auto v) {
    const auto records = as_records<decltype(v)>(indptr, values, n_values, chosen, std::nullopt);
    run([&] { pair_triangle(records, cells.data(), n_jobs, signal_pending); });
  });
}

nb::object bind_triangle_to_square(const In<std::uint32_t>& cells, std::int64_t n_values,
                                   int n_jobs) {
  if (n_values < 0 || static_cast<std::int64_t>(cells.size()) != triangle_size(n_values))
    throw nb::value_error("cells: wrong length");
  const auto n = static_cast<std::size_t>(n_values);
  Buffer<std::int64_t> square(n * n);
  run([&] { triangle_to_square(cells.data(), n_values, square.data(), n_jobs, signal_pending); });
  return nb::cast(to_numpy(std::move(square), {n, n}));
}

nb::object bind_bitmap(const Indptr& indptr, const AnyIn& values, std::int64_t n_values,
                       const Chosen& chosen, int n_jobs) {
  return with_values(values.dtype(), [&](auto v) {
    const auto records = as_records<decltype(v)>(indptr, values, n_values, chosen, std::nullopt);
    const auto n = static_cast<std::size_t>(n_values);
    Buffer<std::int64_t> square(n * n);
    run([&] { pair_counts_bitmap(records, square.data(), n_jobs, signal_pending); });
    return nb::cast(to_numpy(std::move(square), {n, n}));
  });
}

nb::object bind_sparse(const Indptr& indptr, const AnyIn& values, std::int64_t n_values,
                       const Chosen& chosen, const Weights& weights, int n_jobs) {
  return counted(indptr, values, n_values, chosen, weights, [&](const auto& records, auto count) {
    SparsePairs<decltype(count)> pairs;
    run([&] {
      pairs =
          pair_counts_sparse<std::remove_const_t<std::remove_pointer_t<decltype(records.values)>>,
                             decltype(count)>(records, n_jobs, signal_pending);
    });
    const auto n = static_cast<std::size_t>(n_values);
    const auto stored = static_cast<std::size_t>(pairs.indptr[n]);
    return nb::cast(nb::make_tuple(to_numpy(std::move(pairs.indptr), {n + 1}),
                                   to_numpy(std::move(pairs.indices), {stored}),
                                   to_numpy(std::move(pairs.counts), {stored})));
  });
}

nb::object bind_all_tables(const Indptr& indptr, const AnyIn& values, const Indptr& offsets,
                           const Indptr& defaults, const std::vector<std::int64_t>& columns,
                           std::int64_t target, std::int64_t size) {
  const auto shape = [&](std::int64_t c) {
    const std::int64_t first = offsets.data()[c];
    return ColumnShape{first, offsets.data()[c + 1] - first + 1, defaults.data()[c]};
  };
  std::vector<ColumnShape> shapes;
  for (const std::int64_t c : columns) shapes.push_back(shape(c));
  const auto n = static_cast<std::size_t>(all_cells(shapes, shape(target), size));
  Buffer<std::int64_t> counts(n);
  with_values(values.dtype(), [&](auto v) {
    const std::int64_t n_values = offsets.data()[offsets.size() - 1];
    const auto records =
        as_records<decltype(v)>(indptr, values, n_values, std::nullopt, std::nullopt);
    run([&] { all_tables(records, shapes, shape(target), size, counts.data(), signal_pending); });
  });
  return nb::cast(to_numpy(std::move(counts), {n}));
}

}  // namespace

void register_counts(nb::module_& m) {
  m.def("one_way", bind_one_way, nb::arg("indptr"), nb::arg("values"), nb::arg("n_values"),
        nb::arg("chosen").none(), nb::arg("weights").none(), nb::arg("n_jobs"),
        nb::sig("def one_way(indptr: Ints, values: Values, n_values: int, chosen: Ints | None, "
                "weights: Floats | None, n_jobs: int) -> Counts"),
        "Count every stored value.");
  m.def(
      "two_way", bind_two_way, nb::arg("indptr"), nb::arg("values"), nb::arg("n_values"),
      nb::arg("first"), nb::arg("n_states"), nb::arg("chosen").none(), nb::arg("weights").none(),
      nb::arg("n_jobs"),
      nb::sig("def two_way(indptr: Ints, values: Values, n_values: int, first: int, n_states: int, "
              "chosen: Ints | None, weights: Floats | None, n_jobs: int) -> Counts"),
      "Count every stored value together with each of a target's n_states values.");
  m.def("pair_counts_outer", bind_outer, nb::arg("indptr"), nb::arg("values"), nb::arg("n_values"),
        nb::arg("chosen").none(), nb::arg("weights").none(), nb::arg("n_jobs"),
        nb::sig("def pair_counts_outer(indptr: Ints, values: Values, n_values: int, "
                "chosen: Ints | None, weights: Floats | None, n_jobs: int) -> Counts"),
        "Count all pairs of stored values by row outer products, into a square array.");
  m.def("pair_triangle", bind_triangle, nb::arg("indptr"), nb::arg("values"), nb::arg("n_values"),
        nb::arg("chosen").none(), nb::arg("cells"), nb::arg("n_jobs"),
        nb::sig("def pair_triangle(indptr: Ints, values: Values, n_values: int, "
                "chosen: Ints | None, cells: Any, n_jobs: int) -> None"),
        "Add the counts of all pairs i <= j of stored values to uint32 cells, row after row.");
  m.def("triangle_to_square", bind_triangle_to_square, nb::arg("cells"), nb::arg("n_values"),
        nb::arg("n_jobs"),
        nb::sig("def triangle_to_square(cells: Any, n_values: int, n_jobs: int) -> Ints"),
        "Return the symmetric square that a triangle of counts stands for.");
  m.def("pair_counts_bitmap", bind_bitmap, nb::arg("indptr"), nb::arg("values"),
        nb::arg("n_values"), nb::arg("chosen").none(), nb::arg("n_jobs"),
        nb::sig("def pair_counts_bitmap(indptr: Ints, values: Values, n_values: int, "
                "chosen: Ints | None, n_jobs: int) -> Ints"),
        "Count all pairs of stored values by AND and population count, into a square array.");
  m.def("pair_counts_sparse", bind_sparse, nb::arg("indptr"), nb::arg("values"),
        nb::arg("n_values"), nb::arg("chosen").none(), nb::arg("weights").none(), nb::arg("n_jobs"),
        nb::sig("def pair_counts_sparse(indptr: Ints, values: Values, n_values: int, "
                "chosen: Ints | None, weights: Floats | None, n_jobs: int) "
                "-> tuple[Ints, Indices, Counts]"),
        "Count all pairs of stored values into a symmetric CSR matrix: indptr, indices, counts.");
  m.def(
      "all_tables", bind_all_tables, nb::arg("indptr"), nb::arg("values"), nb::arg("offsets"),
      nb::arg("defaults"), nb::arg("columns"), nb::arg("target"), nb::arg("size"),
      nb::sig("def all_tables(indptr: Ints, values: Values, offsets: Ints, defaults: Ints, "
              "columns: Sequence[int], target: int, size: int) -> Ints"),
      "Count the tables of all sets of `size` ascending columns with a target, one after another.");
}

}  // namespace tacit::bindings
