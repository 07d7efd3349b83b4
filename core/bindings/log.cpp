#include "table/log.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/common.hpp"

namespace tacit::bindings {
namespace {

using Chunks = std::vector<AnyIn>;

std::vector<Integers> as_integers(const Chunks& chunks) {
  std::vector<Integers> integers;
  for (const AnyIn& chunk : chunks) {
    const bool wide = chunk.dtype() == nb::dtype<std::int64_t>();
    if (!wide && chunk.dtype() != nb::dtype<std::int32_t>())
      throw nb::type_error("chunks must be int32 or int64");
    integers.push_back({chunk.data(), static_cast<std::int64_t>(chunk.size()), wide});
  }
  return integers;
}

std::pair<std::int64_t, std::int64_t> bind_integer_bounds(const Chunks& chunks, int n_jobs) {
  const std::vector<Integers> integers = as_integers(chunks);
  std::size_t length = 0;
  for (const AnyIn& chunk : chunks) length += chunk.size();
  require(length > 0, "there must be a number");
  Bounds bounds{};
  run([&] { bounds = integer_bounds(integers, n_jobs, signal_pending); });
  return {bounds.low, bounds.high};
}

nb::tuple bind_code_integers(const Chunks& chunks, std::int64_t low, std::int64_t high,
                             int n_jobs) {
  const std::vector<Integers> integers = as_integers(chunks);
  std::size_t length = 0;
  for (const AnyIn& chunk : chunks) length += chunk.size();
  Buffer<std::int32_t> codes(length);
  std::vector<std::int64_t> distinct;
  run([&] {
    distinct = code_integers(integers, {low, high}, codes.data(), n_jobs, signal_pending);
  });
  return nb::make_tuple(to_numpy(std::move(codes), {length}), copied(distinct));
}

nb::tuple bind_sort_log(const Indices& records, const Indices& items,
                        const std::optional<Indices>& values, std::int64_t n_records,
                        std::int64_t n_items, const std::string& repeats, int n_jobs) {
  require(items.size() == records.size() && (!values || values->size() == records.size()),
          "records, items and values must be as many");
  const Log log{records.data(),
                items.data(),
                values ? values->data() : nullptr,
                static_cast<std::int64_t>(records.size()),
                n_records,
                n_items};
  const auto kept =
      named<Repeats>({{"all", Repeats::all}, {"first", Repeats::first}, {"last", Repeats::last}},
                     repeats, "repeats");
  const auto sort = [&]<class V>(V) {
    SortedLog<V> sorted;
    run([&] { sorted = sort_log<V>(log, kept, n_jobs, signal_pending); });
    const std::size_t size = sorted.items.size();
    nb::object of_rows = nb::none();
    if (values) of_rows = nb::cast(to_numpy(std::move(sorted.values), {size}));
    return nb::make_tuple(
        to_numpy(std::move(sorted.indptr), {static_cast<std::size_t>(n_records) + 1}),
        to_numpy(std::move(sorted.items), {size}), of_rows, sorted.n_repeated);
  };
  return n_items <= 0xffff ? sort(std::uint16_t{}) : sort(std::uint32_t{});
}

}  // namespace

void register_log(nb::module_& m) {
  m.def("integer_bounds", bind_integer_bounds, nb::arg("chunks"), nb::arg("n_jobs"),
        nb::sig("def integer_bounds(chunks: Sequence[Ints | Indices], n_jobs: int) "
                "-> tuple[int, int]"),
        "Return the least and the greatest of whole numbers.");
  m.def("code_integers", bind_code_integers, nb::arg("chunks"), nb::arg("low"), nb::arg("high"),
        nb::arg("n_jobs"),
        nb::sig("def code_integers(chunks: Sequence[Ints | Indices], low: int, high: int, "
                "n_jobs: int) -> tuple[Indices, Ints]"),
        "Return the rank of each number, from low to high, among the distinct ones, and those.");
  m.def(
      "sort_log", bind_sort_log, nb::arg("records"), nb::arg("items"), nb::arg("values").none(),
      nb::arg("n_records"), nb::arg("n_items"), nb::arg("repeats"), nb::arg("n_jobs"),
      nb::sig("def sort_log(records: Indices, items: Indices, values: Indices | None, "
              "n_records: int, n_items: int, repeats: str, n_jobs: int) "
              "-> tuple[Ints, Values, Indices | None, int]"),
      "Sort rows by record and item. Of rows that repeat a pair, all stay, the first or the last;\n"
      "without values, one. Returns where each record begins, its items, the values of rows, and\n"
      "how many rows repeat an earlier one.");
}

}  // namespace tacit::bindings
