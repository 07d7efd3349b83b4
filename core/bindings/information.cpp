#include "count/information.hpp"

#include "bindings/common.hpp"

namespace tacit::bindings {
namespace {

// Arrays for n tables, and the way they go to Python.
struct Results {
  explicit Results(std::size_t n) : rows(n), target(n), n_rows(n), n_cells(n), size(n) {}
  Entropies out() { return {rows.data(), target.data(), n_rows.data(), n_cells.data()}; }
  nb::tuple to_python() {
    return nb::make_tuple(to_numpy(std::move(rows), {size}), to_numpy(std::move(target), {size}),
                          to_numpy(std::move(n_rows), {size}),
                          to_numpy(std::move(n_cells), {size}));
  }

  Buffer<double> rows, target;
  Buffer<std::int64_t> n_rows, n_cells;
  std::size_t size;
};

// Calls body(pointer to the counts) for the type at hand: int64 counts, or double sums of weights.
template <class Body>
void with_counts(const AnyIn& counts, const Body& body) {
  if (counts.dtype() == nb::dtype<std::int64_t>())
    run([&] { body(static_cast<const std::int64_t*>(counts.data())); });
  else if (counts.dtype() == nb::dtype<double>())
    run([&] { body(static_cast<const double*>(counts.data())); });
  else
    throw nb::type_error("counts must be int64 or float64");
}

nb::tuple bind_table_entropies(const AnyIn& counts, const In<std::int64_t>& offsets,
                               const In<std::int64_t>& arities, int n_jobs) {
  const std::size_t n = arities.size();
  if (offsets.size() != n + 1) throw std::invalid_argument("offsets must be one more than arities");
  if (offsets.data()[n] > static_cast<std::int64_t>(counts.size()))
    throw std::invalid_argument("offsets must not pass the end of counts");
  Results results(n);
  with_counts(counts, [&](const auto* data) {
    table_entropies(data, offsets.data(), static_cast<std::int64_t>(n), arities.data(),
                    results.out(), n_jobs, signal_pending);
  });
  return results.to_python();
}

nb::tuple bind_cell_entropies(const In<std::int64_t>& cells, const AnyIn& counts,
                              std::int64_t arity) {
  if (cells.size() != counts.size())
    throw std::invalid_argument("cells and counts must be equally many");
  Results results(1);
  with_counts(counts, [&](const auto* data) {
    cell_entropies(cells.data(), data, static_cast<std::int64_t>(cells.size()), arity,
                   results.out());
  });
  return results.to_python();
}

}  // namespace

void register_information(nb::module_& m) {
  m.def(
      "table_entropies", bind_table_entropies, nb::arg("counts"), nb::arg("offsets"),
      nb::arg("arities"), nb::arg("n_jobs"),
      nb::sig("def table_entropies(counts: Counts, offsets: Ints, arities: Ints, n_jobs: int) "
              "-> tuple[Floats, Floats, Ints, Ints]"),
      "Measure tables whose last axis is a target: the entropy of their rows, that of the target\n"
      "given the row (both in bits), and how many rows and cells occur.");
  m.def("cell_entropies", bind_cell_entropies, nb::arg("cells"), nb::arg("counts"),
        nb::arg("arity"),
        nb::sig("def cell_entropies(cells: Ints, counts: Counts, arity: int) "
                "-> tuple[Floats, Floats, Ints, Ints]"),
        "Measure one table of which only cells that occur are listed, in ascending order.");
}

}  // namespace tacit::bindings
