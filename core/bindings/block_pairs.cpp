#include "near/block_pairs.hpp"

#include "bindings/common.hpp"
#include "near/taper.hpp"

namespace tacit::bindings {
namespace {

using Ids = In<std::int32_t>;
using Longs = In<std::int64_t>;
using Square = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The arrays that NearBlocks points to.
struct NearArrays {
  Longs starts;
  Ids row_order;
  Longs pointer, first, last;
  Ids column_order;
};

NearArrays as_arrays(const nb::tuple& near) {
  if (near.size() != 6) throw std::invalid_argument("near must be six arrays");
  return {nb::cast<Longs>(near[0]), nb::cast<Ids>(near[1]),   nb::cast<Longs>(near[2]),
          nb::cast<Longs>(near[3]), nb::cast<Longs>(near[4]), nb::cast<Ids>(near[5])};
}

NearBlocks as_near(const NearArrays& arrays, int which) {
  if (arrays.starts.size() < 1 || arrays.pointer.size() != arrays.starts.size() ||
      arrays.first.size() != arrays.last.size())
    throw std::invalid_argument("near: starts and pointer, first and last must be equally long");
  if (which < 0 || which > 3) throw std::invalid_argument("which must be from 0 to 3");
  const auto n_columns = static_cast<std::int64_t>(arrays.column_order.size());
  return {arrays.starts.data(),       static_cast<std::int64_t>(arrays.starts.size()) - 1,
          arrays.row_order.data(),    arrays.pointer.data(),
          arrays.first.data(),        arrays.last.data(),
          arrays.column_order.data(), n_columns,
          static_cast<Near>(which)};
}

// Finds where rows begin, makes room for the matrix and has it written. Offsets and indices are
// 64 bits wide only where they have to be.
template <class T, class Offset, class Write>
nb::tuple written(const Buffer<std::int64_t>& offsets, bool values, const Write& write) {
  const auto n = static_cast<std::size_t>(offsets[offsets.size() - 1]);
  Buffer<Offset> narrow(offsets.size()), indices(n);
  Buffer<T> similarities(values ? n : 0);
  const NearMatrix<T, Offset> out{offsets.data(), indices.data(),
                                  values ? similarities.data() : nullptr};
  run([&] {
    for (std::size_t i = 0; i < offsets.size(); ++i) narrow[i] = static_cast<Offset>(offsets[i]);
    write(out);
  });
  return nb::make_tuple(to_numpy(std::move(narrow), {offsets.size()}),
                        to_numpy(std::move(indices), {n}),
                        to_numpy(std::move(similarities), {values ? n : 0}));
}

template <class T, class Write>
nb::tuple written(NearBlocks blocks, std::size_t n_rows, bool values, int n_jobs,
                  const Write& write) {
  NearLists lists;
  Buffer<std::int64_t> offsets(n_rows + 1);
  run([&] {
    if (blocks.which == Near::kLater || blocks.which == Near::kLaterAndSelf) {
      lists = list_near(blocks, n_jobs, signal_pending);
      blocks.list_starts = lists.starts.data();
      blocks.lists = lists.ids.data();
    }
    near_offsets(blocks, static_cast<std::int64_t>(n_rows), offsets.data(), n_jobs, signal_pending);
  });
  const auto fill = [&](const auto& out) { write(blocks, out); };
  if (offsets[n_rows] >= std::int64_t{1} << 31)
    return written<T, std::int64_t>(offsets, values, fill);
  return written<T, std::int32_t>(offsets, values, fill);
}

Measure as_measure(int measure) {
  if (measure < 0 || measure > 4) throw std::invalid_argument("measure must be from 0 to 4");
  return static_cast<Measure>(measure);
}

void check_rows(std::size_t rows, std::size_t columns, const NearArrays& near) {
  if (rows != near.row_order.size() || columns != near.column_order.size())
    throw std::invalid_argument("numbers and objects must be equally many");
}

using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

DenseNumbers as_dense(const AnyMatrix& numbers, const std::optional<In<double>>& norms,
                      const std::optional<In<double>>& centre, Measure measure) {
  const bool single = with_floats(numbers.dtype(), "numbers",
                                  [](auto x) { return std::is_same_v<decltype(x), float>; });
  if (measure == Measure::kCosine && (!norms || norms->size() != numbers.shape(0)))
    throw std::invalid_argument("cosines need the length of each object");
  if (centre && centre->size() != numbers.shape(1))
    throw std::invalid_argument("centre must have one number for each column");
  return {numbers.data(), single, static_cast<std::int64_t>(numbers.shape(1)),
          norms ? norms->data() : nullptr, centre ? centre->data() : nullptr};
}

nb::tuple bind_dense(const nb::tuple& near, int which, const AnyMatrix& rows,
                     const std::optional<AnyMatrix>& columns,
                     const std::optional<In<double>>& row_norms,
                     const std::optional<In<double>>& column_norms,
                     const std::optional<In<double>>& centre, int measure, double scale,
                     bool values, bool single, int n_jobs) {
  const NearArrays arrays = as_arrays(near);
  const NearBlocks blocks = as_near(arrays, which);
  const Measure kind = as_measure(measure);
  check_rows(rows.shape(0), columns ? columns->shape(0) : rows.shape(0), arrays);
  if (columns && rows.shape(1) != columns->shape(1))
    throw std::invalid_argument("rows and columns must have equally many numbers");
  const DenseNumbers left = as_dense(rows, row_norms, centre, kind);
  const DenseNumbers other = columns ? as_dense(*columns, column_norms, centre, kind) : left;
  const auto write = [&](const NearBlocks& listed, const auto& out) {
    dense_similarities(listed, left, columns ? other : left, kind, scale, out, n_jobs,
                       signal_pending);
  };
  if (single) return written<float>(blocks, rows.shape(0), values, n_jobs, write);
  return written<double>(blocks, rows.shape(0), values, n_jobs, write);
}

SparseNumbers<std::int32_t> as_sparse(const Longs& indptr, const Ids& indices,
                                      const In<double>& numbers, const In<double>& squares,
                                      std::int64_t width) {
  if (indices.size() != numbers.size() || squares.size() + 1 != indptr.size())
    throw std::invalid_argument("indices and numbers, rows and squares must be equally many");
  return {indptr.data(), indices.data(), numbers.data(), squares.data(), width};
}

nb::tuple bind_sparse(const nb::tuple& near, int which, const nb::tuple& rows,
                      const nb::tuple& columns, std::int64_t width, int measure, double scale,
                      bool single, int n_jobs) {
  const NearArrays arrays = as_arrays(near);
  const NearBlocks blocks = as_near(arrays, which);
  const auto part = [](const nb::tuple& t, std::size_t k) { return t[k]; };
  if (rows.size() != 4 || columns.size() != 4)
    throw std::invalid_argument("rows and columns must be four arrays each");
  const auto row_indptr = nb::cast<Longs>(part(rows, 0));
  const auto column_indptr = nb::cast<Longs>(part(columns, 0));
  const auto row_indices = nb::cast<Ids>(part(rows, 1));
  const auto column_indices = nb::cast<Ids>(part(columns, 1));
  const auto row_numbers = nb::cast<In<double>>(part(rows, 2));
  const auto column_numbers = nb::cast<In<double>>(part(columns, 2));
  const auto row_squares = nb::cast<In<double>>(part(rows, 3));
  const auto column_squares = nb::cast<In<double>>(part(columns, 3));
  check_rows(row_squares.size(), column_squares.size(), arrays);
  const auto left = as_sparse(row_indptr, row_indices, row_numbers, row_squares, width);
  const auto other =
      as_sparse(column_indptr, column_indices, column_numbers, column_squares, width);
  const Measure kind = as_measure(measure);
  const auto write = [&](const NearBlocks& listed, const auto& out) {
    sparse_similarities(listed, left, other, kind, scale, out, n_jobs, signal_pending);
  };
  const std::size_t n = row_squares.size();
  if (single) return written<float>(blocks, n, true, n_jobs, write);
  return written<double>(blocks, n, true, n_jobs, write);
}

nb::object bind_hats(const Longs& indptr, const Ids& indices, const Square& rows,
                     const Square& columns, int n_jobs) {
  const auto n = static_cast<std::int64_t>(indptr.size()) - 1;
  require(n == static_cast<std::int64_t>(rows.shape(0)) && rows.shape(1) == columns.shape(1),
          "rows and columns must fit the matrix");
  require(indptr.data()[n] == static_cast<std::int64_t>(indices.size()),
          "indptr and indices must be of one CSR array");
  Buffer<double> weights(indices.size());
  run([&] {
    hat_weights(indptr.data(), indices.data(), n, rows.data(), columns.data(),
                static_cast<std::int64_t>(rows.shape(1)), weights.data(), n_jobs, signal_pending);
  });
  return nb::cast(to_numpy(std::move(weights), {indices.size()}));
}

}  // namespace

void register_block_pairs(nb::module_& m) {
  m.def("dense_similarities", bind_dense, nb::arg("near"), nb::arg("which"), nb::arg("rows"),
        nb::arg("columns").none(), nb::arg("row_norms").none(), nb::arg("column_norms").none(),
        nb::arg("centre").none(), nb::arg("measure"), nb::arg("scale"), nb::arg("values"),
        nb::arg("single"), nb::arg("n_jobs"),
        nb::sig("def dense_similarities(near: tuple[Any, ...], which: int, rows: Any, "
                "columns: Any | None, row_norms: Floats | None, column_norms: Floats | None, "
                "centre: Floats | None, measure: int, scale: float, values: bool, single: bool, "
                "n_jobs: int) "
                "-> tuple[Any, Any, Any]"),
        "Compare near objects given as rows of numbers: a CSR array's offsets, indices, values.");
  m.def("sparse_similarities", bind_sparse, nb::arg("near"), nb::arg("which"), nb::arg("rows"),
        nb::arg("columns"), nb::arg("width"), nb::arg("measure"), nb::arg("scale"),
        nb::arg("single"), nb::arg("n_jobs"),
        nb::sig("def sparse_similarities(near: tuple[Any, ...], which: int, rows: tuple[Any, ...], "
                "columns: tuple[Any, ...], width: int, measure: int, scale: float, single: bool, "
                "n_jobs: int) -> tuple[Any, Any, Any]"),
        "Compare near objects given as sparse rows: a CSR array's offsets, indices, values.");
  m.def("hat_weights", bind_hats, nb::arg("indptr"), nb::arg("indices"), nb::arg("rows"),
        nb::arg("columns"), nb::arg("n_jobs"),
        nb::sig("def hat_weights(indptr: Ints, indices: Indices, rows: Floats, columns: Floats, "
                "n_jobs: int) -> Floats"),
        "Of each entry of a CSR array the product of 1 - |u - v|, or 0, over its coordinates.");
}

}  // namespace tacit::bindings
