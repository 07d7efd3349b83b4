#include "table/check.hpp"

#include "bindings/common.hpp"
#include "table/presence.hpp"

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

// Calls body(SparseRows) for offsets and indices of the same type.
template <class Body>
void with_rows(const AnyIn& indptr, const AnyIn& indices, std::int64_t n, const Body& body) {
  if (indptr.size() == 0) throw std::invalid_argument("indptr must not be empty");
  const auto call = [&](auto index) {
    using Index = decltype(index);
    body(SparseRows<Index, Index>{
        static_cast<const Index*>(indptr.data()), static_cast<std::int64_t>(indptr.size()) - 1,
        static_cast<const Index*>(indices.data()), static_cast<std::int64_t>(indices.size()), n});
  };
  const auto both = [&](nb::dlpack::dtype type) {
    return indptr.dtype() == type && indices.dtype() == type;
  };
  if (both(nb::dtype<std::int32_t>())) return call(std::int32_t{});
  if (both(nb::dtype<std::int64_t>())) return call(std::int64_t{});
  throw nb::type_error("indptr and indices must both be int32, or both int64");
}

nb::object bind_count_presence(const AnyIn& indptr, const AnyIn& indices, std::int64_t n) {
  Buffer<std::int64_t> counts(static_cast<std::size_t>(n));
  bool fine = false;
  with_rows(indptr, indices, n, [&](const auto& rows) {
    run([&] { fine = count_presence(rows, counts.data(), signal_pending); });
  });
  return fine ? nb::cast(to_numpy(std::move(counts), {static_cast<std::size_t>(n)})) : nb::none();
}

Array<std::int64_t> bind_store_presence(const AnyIn& indptr, const AnyIn& indices,
                                        const In<std::int64_t>& usual, const AnyOut& out) {
  Buffer<std::int64_t> offsets(indptr.size());
  with_rows(indptr, indices, 0, [&](const auto& rows) {
    with_values(out.dtype(), [&](auto v) {
      auto* values = static_cast<decltype(v)*>(out.data());
      run([&] {
        store_presence(rows, usual.data(), static_cast<std::int64_t>(usual.size()), offsets.data(),
                       values, signal_pending);
      });
    });
  });
  return to_numpy(std::move(offsets), {indptr.size()});
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
  m.def("count_presence", bind_count_presence, nb::arg("indptr"), nb::arg("indices"), nb::arg("n"),
        nb::sig("def count_presence(indptr: Ints | Indices, indices: Ints | Indices, n: int) "
                "-> Ints | None"),
        "Count the rows that hold each column; None unless all rows are in order.");
  m.def("store_presence", bind_store_presence, nb::arg("indptr"), nb::arg("indices"),
        nb::arg("usual"), nb::arg("out"),
        nb::sig("def store_presence(indptr: Ints | Indices, indices: Ints | Indices, usual: Ints, "
                "out: Values) -> Ints"),
        "Write the columns of each row, or that a usual one is not there, into out.");
}

}  // namespace tacit::bindings
