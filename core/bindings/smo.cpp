#include "svm/smo.hpp"

#include "bindings/common.hpp"

namespace tacit::bindings {
namespace {

using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::tuple bind_solve_duals(const In<std::int64_t>& indptr, const In<std::int32_t>& indices,
                           const AnyIn& values, const In<double>& diagonal, const Rows& targets,
                           const Rows& lower, const Rows& upper, double tolerance,
                           std::int64_t most_iterations, int n_jobs) {
  const std::size_t n = diagonal.size(), size = targets.shape(0);
  if (indptr.size() != n + 1 || values.size() != indices.size())
    throw std::invalid_argument("indptr, indices, values and diagonal must be of one matrix");
  for (const Rows* rows : {&targets, &lower, &upper})
    if (rows->shape(0) != size || rows->shape(1) != n)
      throw std::invalid_argument("targets, lower and upper must have a column for each object");
  if (!(tolerance > 0)) throw std::invalid_argument("tolerance must be above 0");
  Buffer<double> coefficients(size * n), sums(size * n), intercepts(size), gaps(size);
  Buffer<std::int64_t> iterations(size);
  const DualProblems problems{
      targets.data(),      lower.data(), upper.data(),      static_cast<std::int64_t>(size),
      coefficients.data(), sums.data(),  intercepts.data(), gaps.data(),
      iterations.data()};
  with_floats(values.dtype(), "values", [&](auto number) {
    using X = decltype(number);
    const SparseKernel<X> kernel{indptr.data(), indices.data(),
                                 static_cast<const X*>(values.data()), diagonal.data(),
                                 static_cast<std::int64_t>(n)};
    run([&] { solve_duals(kernel, problems, tolerance, most_iterations, n_jobs, signal_pending); });
  });
  return nb::make_tuple(to_numpy(std::move(coefficients), {size, n}),
                        to_numpy(std::move(sums), {size, n}),
                        to_numpy(std::move(intercepts), {size}), to_numpy(std::move(gaps), {size}),
                        to_numpy(std::move(iterations), {size}));
}

}  // namespace

void register_smo(nb::module_& m) {
  m.def("solve_duals", bind_solve_duals, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
        nb::arg("diagonal"), nb::arg("targets"), nb::arg("lower"), nb::arg("upper"),
        nb::arg("tolerance"), nb::arg("most_iterations"), nb::arg("n_jobs"),
        nb::sig("def solve_duals(indptr: Ints, indices: Indices, values: Numbers, "
                "diagonal: Floats, targets: Floats, lower: Floats, upper: Floats, "
                "tolerance: float, most_iterations: int, n_jobs: int) "
                "-> tuple[Floats, Floats, Floats, Floats, Ints]"),
        "Solve support vector problems on one sparse kernel matrix: coefficients, their sums "
        "over the matrix, intercepts, gaps and iterations.");
}

}  // namespace tacit::bindings
