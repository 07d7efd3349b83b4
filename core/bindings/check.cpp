#include "table/check.hpp"

#include "bindings/common.hpp"

namespace tacit::bindings {
namespace {

nb::tuple as_tuple(const Finding& finding) {
  return nb::make_tuple(static_cast<int>(finding.fault), finding.row, finding.index);
}

// Calls body(pointer of the array's own type) for any of the listed element types.
template <class... Types, class Body>
Finding with_type(const AnyIn& array, const char* name, const Body& body) {
  Finding finding;
  const bool known = ((array.dtype() == nb::dtype<Types>() &&
                       (finding = body(static_cast<const Types*>(array.data())), true)) ||
                      ...);
  if (!known) throw nb::type_error(name);
  return finding;
}

nb::tuple bind_check_sparse(const AnyIn& indptr, const AnyIn& indices, std::int64_t n) {
  if (indptr.size() == 0) throw std::invalid_argument("indptr must not be empty");
  Finding finding;
  run([&] {
    finding = with_type<std::int32_t, std::int64_t>(
        indptr, "indptr must be int32 or int64", [&](const auto* offsets) {
          return with_type<std::int32_t, std::int64_t, std::uint16_t, std::uint32_t>(
              indices, "indices must be int32, int64, uint16 or uint32", [&](const auto* ids) {
                return check_sparse(offsets, static_cast<std::int64_t>(indptr.size()) - 1, ids,
                                    static_cast<std::int64_t>(indices.size()), n);
              });
        });
  });
  return as_tuple(finding);
}

nb::tuple bind_check_columns(const In<std::int64_t>& indptr, const AnyIn& values,
                             const In<std::int64_t>& offsets) {
  const auto n_rows = static_cast<std::int64_t>(indptr.size()) - 1;
  const auto n_columns = static_cast<std::int64_t>(offsets.size()) - 1;
  Finding finding;
  with_values(values.dtype(), [&](auto v) {
    const auto* data = static_cast<const decltype(v)*>(values.data());
    run([&] { finding = check_columns(indptr.data(), n_rows, data, offsets.data(), n_columns); });
  });
  return as_tuple(finding);
}

}  // namespace

void register_check(nb::module_& m) {
  m.def(
      "check_sparse", bind_check_sparse, nb::arg("indptr"), nb::arg("indices"), nb::arg("n"),
      nb::sig("def check_sparse(indptr: Ints | Indices, indices: Ints | Indices | Values, n: int) "
              "-> tuple[int, int, int]"),
      "Look for the first fault of a compressed sparse structure: (fault, row, index).");
  m.def("check_columns", bind_check_columns, nb::arg("indptr"), nb::arg("values"),
        nb::arg("offsets"),
        nb::sig("def check_columns(indptr: Ints, values: Values, offsets: Ints) "
                "-> tuple[int, int, int]"),
        "Look for two stored values of one column in a record: (fault, record, column).");
}

}  // namespace tacit::bindings
