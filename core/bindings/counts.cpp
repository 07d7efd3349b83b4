#include <nanobind/stl/vector.h>

#include "bindings/common.hpp"
#include "count/all_tables.hpp"
#include "count/one_way.hpp"
#include "count/pair_counts.hpp"

namespace tacit::bindings {
namespace {

// A square array of counts of pairs.
template <class Count, class Kernel>
nb::object square_of(const RecordArrays& records, const Kernel& kernel) {
  const auto n = static_cast<std::size_t>(records.n_values());
  Buffer<Count> square(n * n);
  run([&] { kernel(square.data()); });
  return nb::cast(to_numpy(std::move(square), {n, n}));
}

nb::object bind_one_way(const RecordArrays& given, int n_jobs) {
  return given.count([&](const auto& records, auto count) {
    const auto n = static_cast<std::size_t>(records.n_values);
    Buffer<decltype(count)> counts(n);
    run([&] { one_way(records, counts.data(), n_jobs, signal_pending); });
    return nb::cast(to_numpy(std::move(counts), {n}));
  });
}

nb::object bind_two_way(const RecordArrays& given, std::int64_t first, std::int64_t n_states,
                        int n_jobs) {
  return given.count([&](const auto& records, auto count) {
    const auto rows = static_cast<std::size_t>(n_states);
    const auto cols = static_cast<std::size_t>(records.n_values);
    Buffer<decltype(count)> counts(rows * cols);
    run([&] { two_way(records, first, n_states, counts.data(), n_jobs, signal_pending); });
    return nb::cast(to_numpy(std::move(counts), {rows, cols}));
  });
}

nb::object bind_outer(const RecordArrays& given, int n_jobs) {
  return given.count([&](const auto& records, auto count) {
    return square_of<decltype(count)>(
        given, [&](auto* square) { pair_counts_outer(records, square, n_jobs, signal_pending); });
  });
}

nb::object bind_bitmap(const RecordArrays& given, int n_jobs) {
  return given.visit([&](const auto& records) {
    return square_of<std::int64_t>(
        given, [&](auto* square) { pair_counts_bitmap(records, square, n_jobs, signal_pending); });
  });
}

void bind_triangle(const RecordArrays& given, const Out<std::uint32_t>& cells, int n_jobs) {
  if (static_cast<std::int64_t>(cells.size()) != triangle_size(given.n_values()))
    throw nb::value_error("cells: wrong length");
  given.visit([&](const auto& records) {
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

nb::object bind_sparse(const RecordArrays& given, int n_jobs) {
  return given.count([&](const auto& records, auto count) {
    using V = std::remove_cvref_t<decltype(*records.values)>;
    SparsePairs<decltype(count)> pairs;
    run([&] { pairs = pair_counts_sparse<V, decltype(count)>(records, n_jobs, signal_pending); });
    const auto n = static_cast<std::size_t>(records.n_values);
    const auto stored = static_cast<std::size_t>(pairs.indptr[n]);
    return nb::cast(nb::make_tuple(to_numpy(std::move(pairs.indptr), {n + 1}),
                                   to_numpy(std::move(pairs.indices), {stored}),
                                   to_numpy(std::move(pairs.counts), {stored})));
  });
}

nb::object bind_all_tables(const RecordArrays& given, const In<std::int64_t>& offsets,
                           const In<std::int64_t>& defaults,
                           const std::vector<std::int64_t>& columns, std::int64_t target,
                           std::int64_t size) {
  const auto shape = [&](std::int64_t c) {
    const std::int64_t first = offsets.data()[c];
    return ColumnShape{first, offsets.data()[c + 1] - first + 1, defaults.data()[c]};
  };
  std::vector<ColumnShape> shapes;
  for (const std::int64_t c : columns) shapes.push_back(shape(c));
  const auto n = static_cast<std::size_t>(all_cells(shapes, shape(target), size));
  Buffer<std::int64_t> counts(n);
  given.visit([&](const auto& records) {
    run([&] { all_tables(records, shapes, shape(target), size, counts.data(), signal_pending); });
  });
  return nb::cast(to_numpy(std::move(counts), {n}));
}

}  // namespace

void register_counts(nb::module_& m) {
  m.def("one_way", bind_one_way, nb::arg("records"), nb::arg("n_jobs"),
        nb::sig("def one_way(records: Records, n_jobs: int) -> Counts"),
        "Count every stored value.");
  m.def("two_way", bind_two_way, nb::arg("records"), nb::arg("first"), nb::arg("n_states"),
        nb::arg("n_jobs"),
        nb::sig("def two_way(records: Records, first: int, n_states: int, n_jobs: int) -> Counts"),
        "Count every stored value together with each of a target's n_states values.");
  m.def("pair_counts_outer", bind_outer, nb::arg("records"), nb::arg("n_jobs"),
        nb::sig("def pair_counts_outer(records: Records, n_jobs: int) -> Counts"),
        "Count all pairs of stored values by row outer products, into a square array.");
  m.def("pair_triangle", bind_triangle, nb::arg("records"), nb::arg("cells"), nb::arg("n_jobs"),
        nb::sig("def pair_triangle(records: Records, cells: Any, n_jobs: int) -> None"),
        "Add the counts of all pairs i <= j of stored values to uint32 cells, row after row; "
        "weights are not looked at.");
  m.def("triangle_to_square", bind_triangle_to_square, nb::arg("cells"), nb::arg("n_values"),
        nb::arg("n_jobs"),
        nb::sig("def triangle_to_square(cells: Any, n_values: int, n_jobs: int) -> Ints"),
        "Return the symmetric square that a triangle of counts stands for.");
  m.def("pair_counts_bitmap", bind_bitmap, nb::arg("records"), nb::arg("n_jobs"),
        nb::sig("def pair_counts_bitmap(records: Records, n_jobs: int) -> Ints"),
        "Count all pairs of stored values by AND and population count, into a square array; "
        "weights are not looked at.");
  m.def("pair_counts_sparse", bind_sparse, nb::arg("records"), nb::arg("n_jobs"),
        nb::sig("def pair_counts_sparse(records: Records, n_jobs: int) "
                "-> tuple[Ints, Indices, Counts]"),
        "Count all pairs of stored values into a symmetric CSR matrix: indptr, indices, counts.");
  m.def(
      "all_tables", bind_all_tables, nb::arg("records"), nb::arg("offsets"), nb::arg("defaults"),
      nb::arg("columns"), nb::arg("target"), nb::arg("size"),
      nb::sig("def all_tables(records: Records, offsets: Ints, defaults: Ints, "
              "columns: Sequence[int], target: int, size: int) -> Ints"),
      "Count the tables of all sets of `size` ascending columns with a target, one after another.");
}

}  // namespace tacit::bindings
