#include "bindings/common.hpp"
#include "near/group_means.hpp"
#include "near/sparse_product.hpp"

namespace tacit::bindings {
namespace {

using Indptr = In<std::int64_t>;
using Positions = In<std::int32_t>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Body>
auto with_rows(const Indptr& indptr, const Positions& indices, const AnyIn& numbers,
               std::int64_t n_columns, const Body& body) {
  if (indptr.size() < 1 || indices.size() != numbers.size())
    throw std::invalid_argument("numbers must be as many as indices");
  return with_floats(numbers.dtype(), "numbers", [&](auto number) {
    using X = decltype(number);
    return body(SparseRows<X>{indptr.data(), indices.data(), static_cast<const X*>(numbers.data()),
                              static_cast<std::int64_t>(indptr.size()) - 1, n_columns});
  });
}

nb::object bind_product(const Indptr& indptr, const Positions& indices, const AnyIn& numbers,
                        std::int64_t n_columns, const Matrix& right, bool transposed, int n_jobs) {
  return with_rows(indptr, indices, numbers, n_columns, [&](const auto& rows) {
    const auto inner = static_cast<std::size_t>(transposed ? rows.n_rows : rows.n_columns);
    const auto outer = static_cast<std::size_t>(transposed ? rows.n_columns : rows.n_rows);
    if (right.shape(0) != inner) throw std::invalid_argument("the shapes do not go together");
    const std::size_t width = right.shape(1);
    Buffer<double> out(outer * width);
    run([&] {
      const auto w = static_cast<std::int64_t>(width);
      if (transposed)
        transposed_sparse_product(rows, right.data(), w, out.data(), n_jobs, signal_pending);
      else
        sparse_product(rows, right.data(), w, out.data(), n_jobs, signal_pending);
    });
    return nb::cast(to_numpy(std::move(out), {outer, width}));
  });
}

nb::tuple bind_moments(const Indptr& indptr, const Positions& indices, const AnyIn& numbers,
                       std::int64_t n_columns) {
  const auto d = static_cast<std::size_t>(n_columns);
  Buffer<double> mean(d), variance(d), lower(d), upper(d);
  with_rows(indptr, indices, numbers, n_columns, [&](const auto& rows) {
    run([&] {
      sparse_column_moments(rows, {mean.data(), variance.data(), lower.data(), upper.data()},
                            signal_pending);
    });
  });
  return nb::make_tuple(to_numpy(std::move(mean), {d}), to_numpy(std::move(variance), {d}),
                        to_numpy(std::move(lower), {d}), to_numpy(std::move(upper), {d}));
}

nb::object bind_group_means(const AnyMatrix& rows, const Positions& order, const Indptr& starts,
                            int n_jobs) {
  if (starts.size() < 1 || order.size() != rows.shape(0))
    throw std::invalid_argument("order must name all rows");
  const std::size_t n_groups = starts.size() - 1, width = rows.shape(1);
  return with_floats(rows.dtype(), "numbers", [&](auto number) {
    using X = decltype(number);
    Buffer<X> means(n_groups * width);
    run([&] {
      group_means(static_cast<const X*>(rows.data()), static_cast<std::int64_t>(width),
                  order.data(), starts.data(), static_cast<std::int64_t>(n_groups), means.data(),
                  n_jobs, signal_pending);
    });
    return nb::cast(to_numpy(std::move(means), {n_groups, width}));
  });
}

}  // namespace

void register_numbers(nb::module_& m) {
  m.def("sparse_product", bind_product, nb::arg("indptr"), nb::arg("indices"), nb::arg("numbers"),
        nb::arg("n_columns"), nb::arg("right"), nb::arg("transposed"), nb::arg("n_jobs"),
        nb::sig("def sparse_product(indptr: Ints, indices: Indices, numbers: Numbers, "
                "n_columns: int, right: Floats, transposed: bool, n_jobs: int) -> Floats"),
        "Multiply sparse rows, or their transpose, with a narrow matrix.");
  m.def("sparse_column_moments", bind_moments, nb::arg("indptr"), nb::arg("indices"),
        nb::arg("numbers"), nb::arg("n_columns"),
        nb::sig("def sparse_column_moments(indptr: Ints, indices: Indices, numbers: Numbers, "
                "n_columns: int) -> tuple[Floats, Floats, Floats, Floats]"),
        "Mean, variance, least and greatest number of each column of sparse rows.");
  m.def("group_means", bind_group_means, nb::arg("rows"), nb::arg("order"), nb::arg("starts"),
        nb::arg("n_jobs"),
        nb::sig("def group_means(rows: Numbers, order: Indices, starts: Ints, n_jobs: int) "
                "-> Numbers"),
        "Average the rows of each group.");
}

}  // namespace tacit::bindings
