#include "bindings/common.hpp"
#include "em/tree_values.hpp"

namespace tacit::bindings {
namespace {

TreeColumns as_tree(const RecordArrays& records, const In<std::int64_t>& offsets,
                    const In<std::int64_t>& parents, const In<std::int64_t>& extras,
                    const In<std::int64_t>& first_extra, const In<std::int64_t>& first_pair) {
  const std::size_t n = parents.size();
  if (offsets.size() != n + 1 || extras.size() != n || first_extra.size() != n ||
      first_pair.size() != n || offsets.data()[n] != records.n_values())
    throw std::invalid_argument("records and the columns of the tree are at odds");
  return {static_cast<std::int64_t>(n), offsets.data(),   parents.data(), extras.data(),
          first_extra.data(),           first_pair.data()};
}

Array<std::int64_t> bind_lengths(const RecordArrays& given, const In<std::int64_t>& offsets,
                                 const In<std::int64_t>& parents, const In<std::int64_t>& extras,
                                 const In<std::int64_t>& first_extra,
                                 const In<std::int64_t>& first_pair, int n_jobs) {
  const TreeColumns tree = as_tree(given, offsets, parents, extras, first_extra, first_pair);
  Buffer<std::int64_t> lengths(given.size());
  given.visit([&](const auto& records) {
    run([&] { tree_lengths(records, tree, lengths.data(), n_jobs, signal_pending); });
  });
  return to_numpy(std::move(lengths), {given.size()});
}

void bind_values(const RecordArrays& given, const In<std::int64_t>& offsets,
                 const In<std::int64_t>& parents, const In<std::int64_t>& extras,
                 const In<std::int64_t>& first_extra, const In<std::int64_t>& first_pair,
                 const In<std::int64_t>& indptr, const AnyOut& out, int n_jobs) {
  const TreeColumns tree = as_tree(given, offsets, parents, extras, first_extra, first_pair);
  given.visit([&](const auto& records) {
    with_values(out.dtype(), [&](auto w) {
      auto* data = static_cast<decltype(w)*>(out.data());
      run([&] { tree_values(records, tree, indptr.data(), data, n_jobs, signal_pending); });
    });
  });
}

}  // namespace

void register_tree_mixture(nb::module_& m) {
  m.def("tree_lengths", bind_lengths, nb::arg("records"), nb::arg("offsets"), nb::arg("parents"),
        nb::arg("extras"), nb::arg("first_extra"), nb::arg("first_pair"), nb::arg("n_jobs"),
        nb::sig("def tree_lengths(records: Records, offsets: Ints, parents: Ints, extras: Ints, "
                "first_extra: Ints, first_pair: Ints, n_jobs: int) -> Ints"),
        "Count the ids of each chosen record: values, and pairs of values joined by an edge.");
  m.def("tree_values", bind_values, nb::arg("records"), nb::arg("offsets"), nb::arg("parents"),
        nb::arg("extras"), nb::arg("first_extra"), nb::arg("first_pair"), nb::arg("indptr"),
        nb::arg("out"), nb::arg("n_jobs"),
        nb::sig("def tree_values(records: Records, offsets: Ints, parents: Ints, extras: Ints, "
                "first_extra: Ints, first_pair: Ints, indptr: Ints, out: Values, n_jobs: int) "
                "-> None"),
        "Write the ids of each chosen record into out.");
}

}  // namespace tacit::bindings
