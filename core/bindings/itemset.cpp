#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bindings/common.hpp"
#include "itemset/mine.hpp"

namespace tacit::bindings {
namespace {

nb::object bind_mine(const RecordArrays& records, std::int64_t min_count, const std::string& kind,
                     const std::tuple<std::int64_t, std::int64_t>& sizes, std::int64_t top,
                     const std::optional<Ints>& weights, const std::optional<Flags>& excluded,
                     std::int64_t max_bytes, bool count_only, int n_jobs) {
  MineOptions options;
  options.kind = named<ItemsetKind>({{"all", ItemsetKind::all},
                                     {"closed", ItemsetKind::closed},
                                     {"maximal", ItemsetKind::maximal}},
                                    kind, "kind");
  options.min_count = min_count;
  options.min_size = std::max<std::int64_t>(std::get<0>(sizes), 1);
  options.max_size = std::get<1>(sizes);
  options.top = top;
  options.max_bytes = max_bytes;
  options.count_only = count_only;
  require(min_count >= 1, "min_count must be 1 or greater");
  require(top == 0 || (!count_only && options.kind != ItemsetKind::maximal),
          "top goes with neither maximal sets nor count_only");
  require(records.n_stored() < 0x80000000, "too many stored values for one search");
  require(!excluded || static_cast<std::int64_t>(excluded->size()) == records.n_values(),
          "excluded must be as many as values");
  Itemsets sets;
  run([&] {
    sets = records.visit([&](const auto& given) {
      require(!weights || static_cast<std::int64_t>(weights->size()) == given.n_records,
              "weights must be as many as records");
      return mine_itemsets(given, weights ? weights->data() : nullptr,
                           excluded ? excluded->data() : nullptr, options, n_jobs, signal_pending);
    });
  });
  if (sets.status == MineStatus::interrupted) PyErr_Clear();  // what is complete is returned
  const char* const status = sets.status == MineStatus::complete   ? "complete"
                             : sets.status == MineStatus::too_many ? "too many"
                                                                   : "interrupted";
  if (count_only) return nb::make_tuple(sets.n_sets, sets.n_items, status);
  const auto n_sets = static_cast<std::size_t>(sets.n_sets);
  return nb::make_tuple(to_numpy(std::move(sets.indptr), {n_sets + 1}),
                        to_numpy(std::move(sets.items), {static_cast<std::size_t>(sets.n_items)}),
                        to_numpy(std::move(sets.counts), {n_sets}), sets.min_count, status);
}

}  // namespace

void register_itemsets(nb::module_& m) {
  m.def("mine_itemsets", &bind_mine, nb::arg("records"), nb::arg("min_count"), nb::arg("kind"),
        nb::arg("sizes"), nb::arg("top"), nb::arg("weights").none(), nb::arg("excluded").none(),
        nb::arg("max_bytes"), nb::arg("count_only"), nb::arg("n_jobs"),
        nb::sig("def mine_itemsets(records: Records, min_count: int, kind: str, "
                "sizes: tuple[int, int], top: int, weights: Ints | None, "
                "excluded: Flags | None, max_bytes: int, count_only: bool, n_jobs: int) -> Any"),
        "The frequent itemsets: offsets, value ids, counts, the least count, and how it ended "
        "(\"complete\", \"too many\", \"interrupted\"); count_only: how many sets and items.");
}

}  // namespace tacit::bindings
