#include "table/arrange.hpp"

#include <nanobind/stl/vector.h>

#include "bindings/common.hpp"

namespace tacit::bindings {
namespace {

using Codes = std::vector<In<std::uint32_t>>;
using Ids = std::vector<In<std::int32_t>>;

std::vector<CodeColumn> as_columns(const Codes& codes, const Ids& ids) {
  std::vector<CodeColumn> columns;
  for (std::size_t c = 0; c < codes.size(); ++c)
    columns.push_back({codes[c].data(), ids[c].data()});
  return columns;
}

Array<std::int64_t> bind_stored_lengths(const Codes& codes, const Ids& ids, std::int64_t n_records,
                                        int n_jobs) {
  const auto columns = as_columns(codes, ids);
  Buffer<std::int64_t> lengths(static_cast<std::size_t>(n_records));
  run([&] { stored_lengths(columns, n_records, lengths.data(), n_jobs, signal_pending); });
  return to_numpy(std::move(lengths), {static_cast<std::size_t>(n_records)});
}

void bind_stored_values(const Codes& codes, const Ids& ids, const In<std::int64_t>& indptr,
                        const AnyOut& out, int n_jobs) {
  const auto columns = as_columns(codes, ids);
  const auto n_records = static_cast<std::int64_t>(indptr.size()) - 1;
  with_values(out.dtype(), [&](auto v) {
    auto* data = static_cast<decltype(v)*>(out.data());
    run([&] { stored_values(columns, n_records, indptr.data(), data, n_jobs, signal_pending); });
  });
}

Recoding as_recoding(const In<std::int64_t>& ids, const In<std::int64_t>& first,
                     const In<std::int64_t>& last, const In<std::int64_t>& fill) {
  return {ids.data(), first.data(), last.data(), fill.data(),
          static_cast<std::int64_t>(fill.size())};
}

Array<std::int64_t> bind_recoded_lengths(const RecordArrays& given, const In<std::int64_t>& ids,
                                         const In<std::int64_t>& first,
                                         const In<std::int64_t>& last, const In<std::int64_t>& fill,
                                         int n_jobs) {
  Buffer<std::int64_t> lengths(given.size());
  given.visit([&](const auto& records) {
    run([&] {
      recoded_lengths(records, as_recoding(ids, first, last, fill), lengths.data(), n_jobs,
                      signal_pending);
    });
  });
  return to_numpy(std::move(lengths), {given.size()});
}

void bind_recoded_values(const RecordArrays& given, const In<std::int64_t>& ids,
                         const In<std::int64_t>& first, const In<std::int64_t>& last,
                         const In<std::int64_t>& fill, const In<std::int64_t>& new_indptr,
                         const AnyOut& out, int n_jobs) {
  given.visit([&](const auto& records) {
    with_values(out.dtype(), [&](auto w) {
      auto* data = static_cast<decltype(w)*>(out.data());
      run([&] {
        recoded_values(records, as_recoding(ids, first, last, fill), new_indptr.data(), data,
                       n_jobs, signal_pending);
      });
    });
  });
}

Array<std::int32_t> bind_postings(const RecordArrays& given, const In<std::int64_t>& start) {
  Buffer<std::int32_t> rows(given.n_stored());
  given.visit([&](const auto& records) {
    run([&] { postings(records, start.data(), rows.data(), signal_pending); });
  });
  return to_numpy(std::move(rows), {given.n_stored()});
}

}  // namespace

void register_arrange(nb::module_& m) {
  m.def(
      "stored_lengths", bind_stored_lengths, nb::arg("codes"), nb::arg("ids"), nb::arg("n_records"),
      nb::arg("n_jobs"),
      nb::sig("def stored_lengths(codes: Sequence[Codes], ids: Sequence[Indices], n_records: int, "
              "n_jobs: int) -> Ints"),
      "Count the codes of each record whose id is not -1.");
  m.def("stored_values", bind_stored_values, nb::arg("codes"), nb::arg("ids"), nb::arg("indptr"),
        nb::arg("out"), nb::arg("n_jobs"),
        nb::sig("def stored_values(codes: Sequence[Codes], ids: Sequence[Indices], indptr: Ints, "
                "out: Values, n_jobs: int) -> None"),
        "Write the ids of each record, in column order, into out.");
  m.def("recoded_lengths", bind_recoded_lengths, nb::arg("records"), nb::arg("ids"),
        nb::arg("first"), nb::arg("last"), nb::arg("fill"), nb::arg("n_jobs"),
        nb::sig("def recoded_lengths(records: Records, ids: Ints, "
                "first: Ints, last: Ints, fill: Ints, n_jobs: int) -> Ints"),
        "Count the stored values of each chosen record under new ids.");
  m.def("recoded_values", bind_recoded_values, nb::arg("records"), nb::arg("ids"), nb::arg("first"),
        nb::arg("last"), nb::arg("fill"), nb::arg("new_indptr"), nb::arg("out"), nb::arg("n_jobs"),
        nb::sig("def recoded_values(records: Records, ids: Ints, "
                "first: Ints, last: Ints, fill: Ints, new_indptr: Ints, out: Values, n_jobs: int) "
                "-> None"),
        "Write the stored values of each chosen record under new ids into out.");
  m.def("postings", bind_postings, nb::arg("records"), nb::arg("start"),
        nb::sig("def postings(records: Records, start: Ints) -> Indices"),
        "List the records of each value, one value after another.");
}

}  // namespace tacit::bindings
