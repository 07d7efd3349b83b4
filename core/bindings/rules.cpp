#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bindings/common.hpp"
#include "rule/find_rules.hpp"

namespace tacit::bindings {
namespace {

template <class T>
T choice(const std::string& name, std::initializer_list<std::pair<const char*, T>> choices,
         const char* argument) {
  for (const auto& [known, value] : choices)
    if (name == known) return value;
  throw std::invalid_argument(std::string("unknown ") + argument + ": " + name);
}

template <class Count>
nb::object answer(const RuleQuery& query, RuleMethod method, int n_jobs) {
  RuleAnswer<Count> result;
  run([&] { result = find_rules<Count>(query, method, n_jobs, signal_pending); });
  nb::list rules;
  for (const FoundRule<Count>& rule : result.rules) {
    nb::list conditions;
    for (const RuleCondition& c : rule.conditions)
      conditions.append(nb::make_tuple(c.column, c.code));
    rules.append(nb::make_tuple(nb::tuple(conditions), rule.support, rule.hits, rule.score));
  }
  return nb::cast(nb::make_tuple(rules, result.total, result.hits));
}

nb::object bind_find_rules(const In<std::int64_t>& start, const In<std::int32_t>& rows,
                           const In<std::int64_t>& offsets, const In<std::int64_t>& defaults,
                           std::int64_t n_records, const std::optional<In<double>>& weights,
                           std::int64_t target, std::int64_t code,
                           std::tuple<std::int64_t, std::int64_t> n_conditions, double min_support,
                           std::int64_t n_rules, const std::string& measure, double z,
                           bool defaults_allowed, bool redundant, const std::string& method,
                           int n_jobs) {
  if (weights && static_cast<std::int64_t>(weights->size()) != n_records)
    throw std::invalid_argument("weights must be as many as records");
  const RuleQuery query{start.data(),
                        rows.data(),
                        offsets.data(),
                        defaults.data(),
                        static_cast<std::int64_t>(defaults.size()),
                        n_records,
                        weights ? weights->data() : nullptr,
                        target,
                        code,
                        std::get<0>(n_conditions),
                        std::get<1>(n_conditions),
                        min_support,
                        n_rules,
                        choice<Measure>(measure,
                                        {{"confidence", Measure::confidence},
                                         {"lift", Measure::lift},
                                         {"leverage", Measure::leverage},
                                         {"wilson", Measure::wilson}},
                                        "measure"),
                        z,
                        defaults_allowed,
                        redundant};
  const auto way = choice<RuleMethod>(
      method,
      {{"auto", RuleMethod::automatic}, {"codes", RuleMethod::codes}, {"rows", RuleMethod::rows}},
      "method");
  return weights ? answer<double>(query, way, n_jobs) : answer<std::int64_t>(query, way, n_jobs);
}

}  // namespace

void register_rules(nb::module_& m) {
  m.def(
      "find_rules", bind_find_rules, nb::arg("start"), nb::arg("rows"), nb::arg("offsets"),
      nb::arg("defaults"), nb::arg("n_records"), nb::arg("weights").none(), nb::arg("target"),
      nb::arg("code"), nb::arg("n_conditions"), nb::arg("min_support"), nb::arg("n_rules"),
      nb::arg("measure"), nb::arg("z"), nb::arg("defaults_allowed"), nb::arg("redundant"),
      nb::arg("method"), nb::arg("n_jobs"),
      nb::sig("def find_rules(start: Ints, rows: Indices, offsets: Ints, defaults: Ints, "
              "n_records: int, weights: Floats | None, target: int, code: int, "
              "n_conditions: tuple[int, int], min_support: float, n_rules: int, measure: str, "
              "z: float, defaults_allowed: bool, redundant: bool, method: str, n_jobs: int) "
              "-> tuple[list[tuple[tuple[tuple[int, int], ...], Any, Any, float]], Any, Any]"),
      "Find the conditions under which the target has a code: (conditions as (column, code)\n"
      "pairs, support, hits, score) of each rule, best first; then total and hits of all records.");
}

}  // namespace tacit::bindings
