#include "itemset/significant.hpp"

#include <nanobind/stl/string.h>

#include "bindings/common.hpp"
#include "itemset/significant_counts.hpp"

namespace tacit::bindings {
namespace {

SignificantQuery query_of(const Ints& start, const Indices& rows, const Flags& labels) {
  require(
      start.size() >= 1 && start.data()[start.size() - 1] == static_cast<std::int64_t>(rows.size()),
      "start and rows must fit each other");
  SignificantQuery query{};
  query.start = start.data();
  query.rows = rows.data();
  query.n_items = static_cast<std::int64_t>(start.size()) - 1;
  query.n_records = static_cast<std::int64_t>(labels.size());
  query.labels = labels.data();
  return query;
}

MarginTestKind test_of(const std::string& name) {
  return named<MarginTestKind>({{"fisher", MarginTestKind::fisher}, {"chi2", MarginTestKind::chi2}},
                               name, "test");
}

Alternative alternative_of(const std::string& name) {
  return named<Alternative>({{"two-sided", Alternative::two_sided},
                             {"greater", Alternative::greater},
                             {"less", Alternative::less}},
                            name, "alternative");
}

nb::object bind_significant_rules(const Ints& start, const Indices& rows, const Flags& labels,
                                  const std::string& test, const std::string& alternative,
                                  const std::string& correction, double alpha,
                                  std::int64_t n_permutations, std::uint64_t seed,
                                  std::int64_t min_support, std::int64_t max_size, int n_jobs) {
  SignificantQuery query = query_of(start, rows, labels);
  query.test = test_of(test);
  query.alternative = alternative_of(alternative);
  query.correction = named<Correction>({{"permutation", Correction::permutation},
                                        {"tarone", Correction::tarone},
                                        {"false_discovery", Correction::false_discovery}},
                                       correction, "correction");
  query.alpha = alpha;
  query.n_permutations = query.correction == Correction::permutation ? n_permutations : 0;
  query.seed = seed;
  query.min_support = min_support;
  query.max_size = max_size;
  SignificantRules found;
  run([&] { found = significant_rules(query, n_jobs, signal_pending); });
  nb::dict answer;
  answer["path_start"] = copied(found.path_start);
  answer["path"] = copied(found.path);
  answer["closed_start"] = copied(found.closed_start);
  answer["closed"] = copied(found.closed);
  answer["support"] = copied(found.support);
  answer["positives"] = copied(found.positives);
  answer["log_p"] = copied(found.log_p);
  answer["limit"] = found.limit;
  answer["n_tests"] = found.n_tests;
  answer["n_testable"] = found.n_testable;
  answer["least_support"] = found.least_support;
  answer["minima"] = copied(found.minima);
  return answer;
}

nb::object bind_reduce_rules(const Ints& start, const Indices& rows, const Flags& labels,
                             const Ints& path_start, const Indices& path, const Ints& closed_start,
                             const Indices& closed, const Ints& support, const Ints& positives,
                             const std::string& test, double limit, bool redundant, int n_jobs) {
  require(path_start.size() == support.size() + 1 && closed_start.size() == support.size() + 1 &&
              positives.size() == support.size(),
          "rules must fit each other");
  SignificantQuery query = query_of(start, rows, labels);
  query.test = test_of(test);
  SignificantRules rules;
  const auto copy = [](const auto& from, auto& to) {
    to.assign(from.data(), from.data() + from.size());
  };
  copy(path_start, rules.path_start);
  copy(path, rules.path);
  copy(closed_start, rules.closed_start);
  copy(closed, rules.closed);
  copy(support, rules.support);
  copy(positives, rules.positives);
  std::vector<std::int64_t> kept;
  run([&] { kept = reduce_rules(query, redundant, limit, rules, n_jobs, signal_pending); });
  return nb::make_tuple(copied(kept), copied(rules.path_start), copied(rules.path));
}

Array<double> bind_margin_log_p(std::int64_t n_records, std::int64_t n_positives,
                                const Ints& support, const Ints& positives, const std::string& test,
                                const std::string& alternative) {
  require(support.size() == positives.size(), "support and positives must be as many");
  const MarginTest margins(n_records, n_positives, test_of(test), alternative_of(alternative));
  Buffer<double> log_p(support.size());
  for (std::size_t k = 0; k < support.size(); ++k) {
    const std::int64_t s = support.data()[k], x = positives.data()[k];
    require(s >= 0 && s <= n_records && x >= margins.lowest(s) && x <= margins.highest(s),
            "positives must be possible");
    log_p[k] = margins.log_p(s, x);
  }
  return to_numpy(std::move(log_p), {support.size()});
}

Array<std::uint8_t> bind_permuted_labels(std::int64_t n_records, std::int64_t n_positives,
                                         std::int64_t n_permutations, std::uint64_t seed,
                                         int n_jobs) {
  const auto n = static_cast<std::size_t>(n_records), m = static_cast<std::size_t>(n_permutations);
  Buffer<std::uint8_t> flags(n * m);
  run([&] {
    const PermutedLabels labels(n_records, n_positives, n_permutations, seed, nullptr, n_jobs,
                                signal_pending);
    for (std::int64_t b = 0; b < n_permutations; ++b) {
      const std::int64_t lane = b % PermutedLabels::kLanes;
      const std::uint64_t* const words = labels.chunk(b / PermutedLabels::kLanes) + lane / 64;
      for (std::int64_t r = 0; r < n_records; ++r)
        flags[static_cast<std::size_t>(b * n_records + r)] =
            words[r * PermutedLabels::kWords] >> (lane % 64) & 1;
    }
  });
  return to_numpy(std::move(flags), {m, n});
}

}  // namespace

void register_significant(nb::module_& m) {
  m.def("significant_rules", bind_significant_rules, nb::arg("start"), nb::arg("rows"),
        nb::arg("labels"), nb::arg("test"), nb::arg("alternative"), nb::arg("correction"),
        nb::arg("alpha"), nb::arg("n_permutations"), nb::arg("seed"), nb::arg("min_support"),
        nb::arg("max_size"), nb::arg("n_jobs"),
        nb::sig("def significant_rules(start: Ints, rows: Indices, labels: Flags, test: str, "
                "alternative: str, correction: str, alpha: float, n_permutations: int, seed: int, "
                "min_support: int, max_size: int, n_jobs: int) -> dict[str, Any]"),
        "Find the conjunctions of items that labels depend on: path and closed items, support,\n"
        "positives and log_p of each, by p-value; limit, n_tests, n_testable, least_support, and\n"
        "minima of the permutations.");
  m.def(
      "reduce_rules", bind_reduce_rules, nb::arg("start"), nb::arg("rows"), nb::arg("labels"),
      nb::arg("path_start"), nb::arg("path"), nb::arg("closed_start"), nb::arg("closed"),
      nb::arg("support"), nb::arg("positives"), nb::arg("test"), nb::arg("limit"),
      nb::arg("redundant"), nb::arg("n_jobs"),
      nb::sig("def reduce_rules(start: Ints, rows: Indices, labels: Flags, path_start: Ints, "
              "path: Indices, closed_start: Ints, closed: Indices, support: Ints, "
              "positives: Ints, test: str, limit: float, redundant: bool, n_jobs: int) "
              "-> tuple[Ints, Ints, Indices]"),
      "Drop rules that add nothing to an earlier one, and items that exclude no record: the rules\n"
      "kept, and their items.");
  m.def("margin_log_p", bind_margin_log_p, nb::arg("n_records"), nb::arg("n_positives"),
        nb::arg("support"), nb::arg("positives"), nb::arg("test"), nb::arg("alternative"),
        nb::sig("def margin_log_p(n_records: int, n_positives: int, support: Ints, "
                "positives: Ints, test: str, alternative: str) -> Floats"),
        "Return natural logarithms of p-values of 2 x 2 tables with the same margin.");
  m.def("permuted_labels", bind_permuted_labels, nb::arg("n_records"), nb::arg("n_positives"),
        nb::arg("n_permutations"), nb::arg("seed"), nb::arg("n_jobs"),
        nb::sig("def permuted_labels(n_records: int, n_positives: int, n_permutations: int, "
                "seed: int, n_jobs: int) -> Flags"),
        "Return the labels of each permutation, a row each, as significant_rules draws them.");
}

}  // namespace tacit::bindings
