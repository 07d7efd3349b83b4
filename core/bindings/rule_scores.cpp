#include "bindings/common.hpp"
#include "bindings/number_columns.hpp"
#include "rule/predict.hpp"

namespace tacit::bindings {
namespace {

using Records = std::optional<In<std::int32_t>>;

// Offsets of n rules into `length` items.
void check_offsets(const In<std::int64_t>& start, std::size_t length, const char* what) {
  const std::int64_t* const starts = start.data();
  const std::size_t n = start.size();
  bool fine = n > 0 && starts[0] == 0 && starts[n - 1] == static_cast<std::int64_t>(length);
  for (std::size_t k = 1; fine && k < n; ++k) fine = starts[k - 1] <= starts[k];
  if (!fine) throw std::invalid_argument(what);
}

RuleConditions as_rules(const In<std::int64_t>& start, const In<std::int32_t>& columns,
                        const In<std::uint8_t>& ops, const In<double>& thresholds,
                        std::int64_t n_columns) {
  check_offsets(start, columns.size(), "rule_conditions must be offsets into the conditions");
  if (ops.size() != columns.size() || thresholds.size() != columns.size())
    throw std::invalid_argument("columns, ops and thresholds must be equally many");
  if (columns.size() > 0x7fffffff) throw std::invalid_argument("there are too many conditions");
  for (std::size_t k = 0; k < columns.size(); ++k)
    if (columns.data()[k] < 0 || columns.data()[k] >= n_columns || ops.data()[k] > 3)
      throw std::invalid_argument("a condition has no such column or op");
  for (std::size_t k = 0; k < thresholds.size(); ++k)
    if (thresholds.data()[k] != thresholds.data()[k])
      throw std::invalid_argument("thresholds must not be NaN");
  return {static_cast<std::int64_t>(start.size()) - 1, start.data(), columns.data(), ops.data(),
          thresholds.data()};
}

nb::object bind_scores(std::int64_t n_records, const In<std::int64_t>& indptr,
                       const Records& records, const In<double>& values, const In<double>& unlisted,
                       const In<std::int64_t>& rule_conditions, const In<std::int32_t>& columns,
                       const In<std::uint8_t>& ops, const In<double>& thresholds,
                       const In<std::int64_t>& rule_heads, const In<std::int32_t>& outputs,
                       const In<double>& scores, const In<double>& default_scores, int n_jobs) {
  const NumberColumns numbers = as_columns(n_records, indptr, records, values, unlisted);
  const RuleConditions rules =
      as_rules(rule_conditions, columns, ops, thresholds, numbers.n_columns);
  const std::size_t n_outputs = default_scores.size();
  check_offsets(rule_heads, outputs.size(), "rule_heads must be offsets into the scores");
  if (rule_heads.size() != rule_conditions.size() || scores.size() != outputs.size())
    throw std::invalid_argument("heads must be as many as rules, and outputs as scores");
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (outputs.data()[k] < 0 || static_cast<std::size_t>(outputs.data()[k]) >= n_outputs)
      throw std::invalid_argument("a head has no such output");
  const RuleHeads heads{rule_heads.data(), outputs.data(), scores.data(), default_scores.data(),
                        static_cast<std::int64_t>(n_outputs)};
  Buffer<double> out(static_cast<std::size_t>(n_records) * n_outputs);
  run([&] { rule_scores(numbers, rules, heads, out.data(), n_jobs, signal_pending); });
  return nb::cast(to_numpy(std::move(out), {static_cast<std::size_t>(n_records), n_outputs}));
}

nb::tuple bind_cover(std::int64_t n_records, const In<std::int64_t>& indptr, const Records& records,
                     const In<double>& values, const In<double>& unlisted,
                     const In<std::int64_t>& rule_conditions, const In<std::int32_t>& columns,
                     const In<std::uint8_t>& ops, const In<double>& thresholds, int n_jobs) {
  const NumberColumns numbers = as_columns(n_records, indptr, records, values, unlisted);
  const RuleConditions rules =
      as_rules(rule_conditions, columns, ops, thresholds, numbers.n_columns);
  RuleCover out;
  run([&] { out = rule_cover(numbers, rules, n_jobs, signal_pending); });
  const std::size_t n_covered = out.rules.size();
  return nb::make_tuple(to_numpy(std::move(out.indptr), {static_cast<std::size_t>(n_records) + 1}),
                        to_numpy(std::move(out.rules), {n_covered}));
}

}  // namespace

void register_rule_scores(nb::module_& m) {
  m.def("rule_scores", bind_scores, nb::arg("n_records"), nb::arg("indptr"),
        nb::arg("records").none(), nb::arg("values"), nb::arg("unlisted"),
        nb::arg("rule_conditions"), nb::arg("columns"), nb::arg("ops"), nb::arg("thresholds"),
        nb::arg("rule_heads"), nb::arg("outputs"), nb::arg("scores"), nb::arg("default_scores"),
        nb::arg("n_jobs"),
        nb::sig("def rule_scores(n_records: int, indptr: Ints, records: Indices | None, "
                "values: Floats, unlisted: Floats, rule_conditions: Ints, columns: Indices, "
                "ops: Flags, thresholds: Floats, rule_heads: Ints, outputs: Indices, "
                "scores: Floats, default_scores: Floats, n_jobs: int) -> Floats"),
        "Add up the heads of the rules that cover each record.");
  m.def("rule_cover", bind_cover, nb::arg("n_records"), nb::arg("indptr"),
        nb::arg("records").none(), nb::arg("values"), nb::arg("unlisted"),
        nb::arg("rule_conditions"), nb::arg("columns"), nb::arg("ops"), nb::arg("thresholds"),
        nb::arg("n_jobs"),
        nb::sig("def rule_cover(n_records: int, indptr: Ints, records: Indices | None, "
                "values: Floats, unlisted: Floats, rule_conditions: Ints, columns: Indices, "
                "ops: Flags, thresholds: Floats, n_jobs: int) -> tuple[Ints, Indices]"),
        "List the rules that cover each record.");
}

}  // namespace tacit::bindings
