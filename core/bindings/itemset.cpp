#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bindings/common.hpp"
#include "itemset/association.hpp"
#include "itemset/mine.hpp"
#include "itemset/supersets.hpp"

namespace tacit::bindings {
namespace {

nb::object bind_mine(const RecordArrays& records, std::int64_t min_count, const std::string& kind,
                     const std::tuple<std::int64_t, std::int64_t>& sizes, std::int64_t top,
                     const std::optional<Ints>& weights, const std::optional<Flags>& excluded,
                     const std::optional<Flags>& groups,
                     const std::optional<In<std::uint32_t>>& labels,
                     const std::optional<Ints>& alone, std::int64_t n_beside,
                     const std::tuple<std::int64_t, std::int64_t>& max_bytes, bool count_only,
                     int n_jobs) {
  MineOptions options;
  options.kind = named<ItemsetKind>({{"all", ItemsetKind::all},
                                     {"closed", ItemsetKind::closed},
                                     {"maximal", ItemsetKind::maximal}},
                                    kind, "kind");
  options.min_count = min_count;
  options.min_size = std::max<std::int64_t>(std::get<0>(sizes), 1);
  options.max_size = std::get<1>(sizes);
  options.top = top;
  options.max_bytes = std::get<0>(max_bytes);
  options.search_bytes = std::get<1>(max_bytes);
  options.n_beside = n_beside;
  options.count_only = count_only;
  require(min_count >= 1, "min_count must be 1 or greater");
  const std::int64_t n_values = records.n_values();
  if (groups && groups->size() > 0) {
    require(!count_only, "groups do not go with count_only");
    require(n_values > 0 && static_cast<std::int64_t>(groups->size()) % n_values == 0,
            "groups must be as many as values, for each group");
    options.groups = groups->data();
    options.n_values = n_values;
    options.n_groups = static_cast<std::int64_t>(groups->size()) / n_values;
  }
  require(!labels || static_cast<std::int64_t>(labels->size()) == n_values,
          "labels must be as many as values");
  require(!alone || static_cast<std::int64_t>(alone->size()) == n_values,
          "alone must be as many as values");
  options.alone = alone ? alone->data() : nullptr;
  options.labels = labels ? labels->data() : nullptr;
  require(top == 0 || (!count_only && options.kind != ItemsetKind::maximal),
          "top goes with neither maximal sets nor count_only");
  require(records.n_stored() < 0x80000000, "too many stored values for one search");
  require(!excluded || static_cast<std::int64_t>(excluded->size()) == n_values,
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
  const char* const status = sets.status == MineStatus::complete    ? "complete"
                             : sets.status == MineStatus::too_many  ? "too many"
                             : sets.status == MineStatus::too_large ? "too large"
                                                                    : "interrupted";
  if (count_only) return nb::make_tuple(sets.n_sets, sets.n_items, status);
  const auto n_sets = static_cast<std::size_t>(sets.n_sets);
  return nb::make_tuple(to_numpy(std::move(sets.indptr), {n_sets + 1}),
                        to_numpy(std::move(sets.items), {static_cast<std::size_t>(sets.n_items)}),
                        to_numpy(std::move(sets.counts), {n_sets}), sets.min_count, status);
}

using Ids = In<std::uint32_t>;

SetLists sets_of(const Ints& indptr, const Ids& items) {
  return {indptr.data(), items.data(), static_cast<std::int64_t>(indptr.size()) - 1};
}

Array<std::int64_t> bind_superset_counts(const Ints& indptr, const Ids& items, const Ints& counts,
                                         std::int64_t n_items, const Ints& asked_indptr,
                                         const Ids& asked_items, int n_jobs) {
  Buffer<std::int64_t> out;
  run([&] {
    out = superset_counts(sets_of(indptr, items), counts.data(), n_items,
                          sets_of(asked_indptr, asked_items), n_jobs, signal_pending);
  });
  return to_numpy(std::move(out), {asked_indptr.size() - 1});
}

nb::tuple bind_association_rules(const Ints& indptr, const Ids& items, const In<double>& counts,
                                 std::int64_t n_items, double total, double min_confidence,
                                 bool redundant, double min_improvement,
                                 const std::optional<Flags>& consequents, std::int64_t max_bytes) {
  require(counts.size() + 1 == indptr.size(), "counts must be as many as sets");
  require(!consequents || static_cast<std::int64_t>(consequents->size()) == n_items,
          "consequents must be as many as items");
  AssociationList rules;
  run([&] {
    const AssociationOptions options{total,
                                     min_confidence,
                                     redundant,
                                     min_improvement,
                                     consequents ? consequents->data() : nullptr,
                                     max_bytes};
    rules =
        association_rules(sets_of(indptr, items), counts.data(), n_items, options, signal_pending);
  });
  return nb::make_tuple(copied(rules.indptr), copied(rules.antecedents), copied(rules.consequents),
                        copied(rules.both), copied(rules.antecedent_counts), rules.complete);
}

}  // namespace

void register_itemsets(nb::module_& m) {
  m.def("mine_itemsets", &bind_mine, nb::arg("records"), nb::arg("min_count"), nb::arg("kind"),
        nb::arg("sizes"), nb::arg("top"), nb::arg("weights").none(), nb::arg("excluded").none(),
        nb::arg("groups").none(), nb::arg("labels").none(), nb::arg("alone").none(),
        nb::arg("n_beside"), nb::arg("max_bytes"), nb::arg("count_only"), nb::arg("n_jobs"),
        nb::sig("def mine_itemsets(records: Records, min_count: int, kind: str, "
                "sizes: tuple[int, int], top: int, weights: Ints | None, "
                "excluded: Flags | None, groups: Flags | None, labels: NDArray[np.uint32] | None, "
                "alone: Ints | None, n_beside: int, max_bytes: tuple[int, int], count_only: bool, "
                "n_jobs: int) -> Any"),
        "The frequent itemsets, the most frequent first: offsets, value ids or their labels, "
        "counts, the least count, and how it ended "
        "(\"complete\", \"too many\", \"interrupted\", or \"too large\": the item whose records "
        "take more than can be searched at a time, and what they take as its count); count_only: "
        "how many sets and items.");
  m.def("superset_counts", &bind_superset_counts, nb::arg("indptr"), nb::arg("items"),
        nb::arg("counts"), nb::arg("n_items"), nb::arg("asked_indptr"), nb::arg("asked_items"),
        nb::arg("n_jobs"),
        nb::sig("def superset_counts(indptr: Ints, items: NDArray[np.uint32], counts: Ints, "
                "n_items: int, asked_indptr: Ints, asked_items: NDArray[np.uint32], "
                "n_jobs: int) -> Ints"),
        "For each asked set the greatest count of a listed one that holds its items, or 0.");
  m.def("association_rules", &bind_association_rules, nb::arg("indptr"), nb::arg("items"),
        nb::arg("counts"), nb::arg("n_items"), nb::arg("total"), nb::arg("min_confidence"),
        nb::arg("redundant"), nb::arg("min_improvement"), nb::arg("consequents").none(),
        nb::arg("max_bytes"),
        nb::sig("def association_rules(indptr: Ints, items: NDArray[np.uint32], "
                "counts: NDArray[np.float64], n_items: int, total: float, min_confidence: float, "
                "redundant: bool, min_improvement: float, consequents: Flags | None, "
                "max_bytes: int) -> tuple[NDArray[np.int64], NDArray[np.uint32], "
                "NDArray[np.uint32], NDArray[np.float64], NDArray[np.float64], bool]"),
        "Rules to one item: offsets of antecedents, their items, consequents, counts of both sides "
        "and of antecedents, and whether these are all or would take more than max_bytes.");
}

}  // namespace tacit::bindings
