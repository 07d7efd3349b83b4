#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "bindings/common.hpp"
#include "bindings/rule_arrays.hpp"
#include "rule/boost_rules.hpp"

namespace tacit::bindings {
namespace {

using Targets = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A booster and all that it reads.
struct OwnedBooster {
  nb::object columns_object;
  Targets targets;
  std::optional<In<float>> units;
  std::optional<In<double>> held_weights;
  std::optional<In<std::int32_t>> strata;
  std::vector<double> weights;  // scaled
  double scale;
  std::unique_ptr<RuleBooster> booster;
};

BoostLimits limits_of(const RuleColumns& columns, const std::optional<In<std::int32_t>>& monotone,
                      const std::optional<In<std::int64_t>>& group_start,
                      const std::optional<In<std::int32_t>>& group_columns,
                      std::int64_t most_columns) {
  BoostLimits limits;
  limits.most_columns = most_columns;
  const auto n_columns = static_cast<std::size_t>(columns.n_columns);
  if (monotone) {
    if (monotone->size() != n_columns)
      throw std::invalid_argument("monotone must be as many as columns");
    for (std::size_t c = 0; c < n_columns; ++c) {
      const std::int32_t sign = monotone->data()[c];
      if (sign < -1 || sign > 1 || (sign != 0 && columns.nominal[c]))
        throw std::invalid_argument("monotone must be -1, 0 or 1, and 0 of nominal columns");
      limits.monotone.push_back(static_cast<std::int8_t>(sign));
    }
  }
  if (!group_start) return limits;
  if (!group_columns || group_start->size() == 0)
    throw std::invalid_argument("group_start and group_columns go together");
  for (std::size_t g = 0; g + 1 < group_start->size(); ++g) {
    const std::int64_t begin = group_start->data()[g], end = group_start->data()[g + 1];
    if (begin < 0 || end < begin || end > static_cast<std::int64_t>(group_columns->size()))
      throw std::invalid_argument("group_start must ascend");
    std::vector<std::int32_t> group(group_columns->data() + begin, group_columns->data() + end);
    for (std::size_t k = 0; k < group.size(); ++k)
      if (group[k] < 0 || static_cast<std::size_t>(group[k]) >= n_columns ||
          (k > 0 && group[k] <= group[k - 1]))
        throw std::invalid_argument("columns of a group must be in range and ascend");
    limits.groups.push_back(std::move(group));
  }
  return limits;
}

void make_booster(OwnedBooster* self, nb::object columns_object, const Targets& targets,
                  const std::string& loss, const std::string& heads, std::int64_t head_size,
                  double learning_rate, double l1, double l2, int max_conditions,
                  double min_support, bool default_rule, std::optional<In<float>> units,
                  std::optional<In<double>> weights, const std::string& sample,
                  double sample_fraction, std::optional<In<std::int32_t>> strata,
                  std::int64_t n_features, bool prune, const std::string& search,
                  std::uint64_t seed, std::optional<In<double>> held_weights, double quantile,
                  std::optional<In<std::int32_t>> monotone,
                  std::optional<In<std::int64_t>> group_start,
                  std::optional<In<std::int32_t>> group_columns, std::int64_t most_columns) {
  const auto& arrays = nb::cast<const RuleArrays&>(columns_object);
  const RuleColumns& columns = arrays.columns;
  const auto m = static_cast<std::size_t>(columns.n_records);
  if (targets.shape(1) != m || targets.shape(0) == 0)
    throw std::invalid_argument("targets must have a column for each record and a row at least");
  const bool flags = targets.dtype() == nb::dtype<std::uint8_t>();
  if (!flags && targets.dtype() != nb::dtype<double>())
    throw nb::type_error("targets must be uint8 or float64");
  if ((units && units->size() != m) || (weights && weights->size() != m) ||
      (held_weights && held_weights->size() != m) || (strata && strata->size() != m))
    throw std::invalid_argument("units, weights and strata must be as many as records");
  if (max_conditions < 1 || max_conditions > CoverMask::kMostConditions || head_size < 1)
    throw std::invalid_argument("max_conditions must be 1 to 255, head_size at least 1");
  if (!(l1 >= 0) || !(l2 >= 0) || !(sample_fraction > 0) || n_features < 0)
    throw std::invalid_argument("l1, l2 and fractions must not be negative");
  BoostSettings settings;
  settings.loss = named<LossKind>({{"logistic", LossKind::logistic},
                                   {"squared", LossKind::squared},
                                   {"squared_hinge", LossKind::squared_hinge},
                                   {"example_logistic", LossKind::example_logistic},
                                   {"softmax", LossKind::softmax},
                                   {"absolute", LossKind::absolute},
                                   {"quantile", LossKind::quantile},
                                   {"poisson", LossKind::poisson}},
                                  loss, "loss");
  settings.heads = named<HeadKind>({{"single", HeadKind::single},
                                    {"partial", HeadKind::partial},
                                    {"complete", HeadKind::complete}},
                                   heads, "heads");
  settings.sample = named<SampleKind>({{"none", SampleKind::none},
                                       {"bagging", SampleKind::bagging},
                                       {"subsample", SampleKind::subsample}},
                                      sample, "sample");
  named<int>({{"exact", 0}, {"histogram", 1}}, search, "search");
  if (!(quantile > 0 && quantile < 1))
    throw std::invalid_argument("quantile must be between 0 and 1");
  if ((settings.loss == LossKind::absolute || settings.loss == LossKind::quantile) &&
      settings.heads != HeadKind::single)
    throw std::invalid_argument("a loss with a kink is for single heads");
  settings.quantile = quantile;
  settings.limits = limits_of(columns, monotone, group_start, group_columns, most_columns);
  if (!settings.limits.monotone.empty() && settings.heads != HeadKind::single)
    throw std::invalid_argument("monotone columns are for single heads");
  settings.head_size = std::min(head_size, static_cast<std::int64_t>(targets.shape(0)));
  settings.learning_rate = learning_rate;
  // Statistics are kept in single precision: the heaviest record is made to weigh about 1. Scores
  // of rules grow in proportion if penalties do, and heads are the same.
  std::vector<double> scaled;
  double scale = 1;
  if (weights) {
    const double heaviest = *std::max_element(weights->data(), weights->data() + m);
    if (!(heaviest > 0) || !std::isfinite(heaviest))
      throw std::invalid_argument("weights must be positive and finite");
    scale = std::ldexp(1.0, std::max(-1000, std::min(1000, -std::ilogb(heaviest))));
    for (std::size_t r = 0; r < m; ++r) scaled.push_back(weights->data()[r] * scale);
  }
  settings.score = {l1 * scale, l2 * scale, min_support};
  settings.weight_unit = scale;
  settings.max_conditions = max_conditions;
  settings.default_rule = default_rule;
  settings.sample_fraction = sample_fraction;
  settings.n_features = n_features;
  settings.prune = prune;
  settings.seed = seed;
  new (self) OwnedBooster{std::move(columns_object), targets, units,  held_weights, strata,
                          std::move(scaled),         scale,   nullptr};
  const BoostTargets given{flags ? static_cast<const std::uint8_t*>(targets.data()) : nullptr,
                           flags ? nullptr : static_cast<const double*>(targets.data())};
  const nb::gil_scoped_release release;
  self->booster = std::make_unique<RuleBooster>(
      columns, given, static_cast<std::int64_t>(targets.shape(0)), settings,
      units ? units->data() : nullptr, weights ? self->weights.data() : nullptr,
      held_weights ? held_weights->data() : nullptr, strata ? strata->data() : nullptr);
}

std::int64_t grow(OwnedBooster& self, std::int64_t n_rules, std::int64_t patience, int n_jobs,
                  double max_seconds) {
  std::int64_t added = 0;
  run([&] { added = self.booster->grow(n_rules, patience, max_seconds, n_jobs, signal_pending); });
  return added;
}

void resume(OwnedBooster& self, const In<std::int64_t>& start, const In<std::int32_t>& covered,
            const In<std::int64_t>& head_start, const In<std::int32_t>& outputs,
            const In<double>& scores) {
  if (self.booster->rules().size() > 0)
    throw std::invalid_argument("rules have been grown already");
  const auto check = [](const auto& ends, std::size_t n, const char* what) {
    bool fine = ends.size() > 0 && ends.data()[0] == 0 &&
                ends.data()[ends.size() - 1] == static_cast<std::int64_t>(n);
    for (std::size_t i = 1; fine && i < ends.size(); ++i)
      fine = ends.data()[i] >= ends.data()[i - 1];
    if (!fine) throw std::invalid_argument(std::string(what) + " must ascend to the end");
  };
  const auto check_range = [](const In<std::int32_t>& values, std::int64_t n, const char* what) {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values.data()[i] < 0 || values.data()[i] >= n)
        throw std::invalid_argument(std::string(what) + " must be in range");
  };
  check(start, covered.size(), "start");
  check(head_start, outputs.size(), "head_start");
  if (start.size() != head_start.size() || outputs.size() != scores.size())
    throw std::invalid_argument("the arrays of rules do not fit each other");
  check_range(covered, self.booster->n_records(), "covered records");
  check_range(outputs, self.booster->n_outputs(), "outputs");
  const nb::gil_scoped_release release;
  self.booster->resume(static_cast<std::int64_t>(start.size()) - 1, start.data(), covered.data(),
                       head_start.data(), outputs.data(), scores.data());
}

nb::dict rules_of(const OwnedBooster& self) {
  const BoostedRules& rules = self.booster->rules();
  nb::dict arrays;
  arrays["rule_conditions"] = copied<std::int64_t>(rules.rule_conditions);
  arrays["columns"] =
      copied<std::int32_t>(rules.conditions, [](const auto& c) { return c.column; });
  arrays["ops"] = copied<std::uint8_t>(rules.conditions, [](const auto& c) { return c.op; });
  arrays["low"] = copied<std::int32_t>(rules.conditions, [](const auto& c) { return c.low; });
  arrays["high"] = copied<std::int32_t>(rules.conditions, [](const auto& c) { return c.high; });
  arrays["rule_heads"] = copied<std::int64_t>(rules.rule_heads);
  arrays["outputs"] = copied<std::int32_t>(rules.outputs);
  arrays["scores"] = copied<double>(rules.scores);
  arrays["support"] = copied<double>(rules.support);
  std::vector<double> gain = rules.gain;
  for (double& value : gain) value /= self.scale;
  arrays["gain"] = copied<double>(gain);
  arrays["default_scores"] = copied<double>(self.booster->loss().default_scores());
  arrays["losses"] = copied<double>(rules.losses);
  arrays["start_loss"] = copied<double>(std::vector<double>{rules.start_loss});
  return arrays;
}

Array<double> scores_of(const OwnedBooster& self) {
  const auto m = static_cast<std::size_t>(self.booster->n_records());
  const auto n = static_cast<std::size_t>(self.booster->n_outputs());
  Buffer<double> scores(m * n);
  for (std::size_t o = 0; o < n; ++o) {
    const double* const column = self.booster->loss().scores(static_cast<std::int64_t>(o));
    for (std::size_t r = 0; r < m; ++r) scores[r * n + o] = column[r];
  }
  return to_numpy(std::move(scores), {m, n});
}

// A mask as Python uses it: whole lists at once.
Array<std::uint8_t> mask_values(const CoverMask& mask) {
  return copied<std::uint8_t>(mask.values());
}

void check_listed(const CoverMask& mask, const In<std::int32_t>& listed) {
  for (std::size_t i = 0; i < listed.size(); ++i)
    if (listed.data()[i] < 0 || static_cast<std::size_t>(listed.data()[i]) >= mask.values().size())
      throw std::invalid_argument("listed records must be in range");
}

}  // namespace

void register_boost(nb::module_& m) {
  nb::class_<RuleArrays>(m, "RuleColumns", "Columns of codes as rule learners read them.")
      .def(nb::init<std::int64_t, const In<std::uint8_t>&, const In<std::int32_t>&,
                    const In<std::int64_t>&, const In<std::int32_t>&, const In<std::int64_t>&,
                    const In<std::int32_t>&, const std::optional<In<std::int64_t>>&,
                    const std::optional<In<double>>&, const std::optional<In<double>>&>(),
           nb::arg("n_records"), nb::arg("kinds"), nb::arg("default_codes"), nb::arg("column_runs"),
           nb::arg("run_codes"), nb::arg("run_start"), nb::arg("records"),
           nb::arg("code_start") = nb::none(), nb::arg("lower") = nb::none(),
           nb::arg("upper") = nb::none(),
           nb::sig("def __init__(self, n_records: int, kinds: Flags, default_codes: Indices, "
                   "column_runs: Ints, run_codes: Indices, run_start: Ints, records: Indices, "
                   "code_start: Ints | None = None, lower: Floats | None = None, "
                   "upper: Floats | None = None) -> None"));
  nb::class_<CoverMask>(m, "CoverMask", "Which records a rule covers.")
      .def(nb::init<std::int64_t>(), nb::arg("n_records"),
           nb::sig("def __init__(self, n_records: int) -> None"))
      .def_prop_ro("values", mask_values, nb::rv_policy::move, nb::sig("def values(self) -> Flags"))
      .def_prop_ro("indicator", &CoverMask::indicator, nb::sig("def indicator(self) -> int"))
      .def(
          "covers",
          [](const CoverMask& mask, std::int64_t record) {
            if (record < 0 || static_cast<std::size_t>(record) >= mask.values().size())
              throw nb::index_error("record is out of range");
            return mask.covers(record);
          },
          nb::arg("record"), nb::sig("def covers(self, record: int) -> bool"))
      .def(
          "narrow_to",
          [](CoverMask& mask, const In<std::int32_t>& listed) {
            check_listed(mask, listed);
            mask.next();
            mask.mark(listed.data(), static_cast<std::int64_t>(listed.size()));
            mask.kept();
          },
          nb::arg("listed"), nb::sig("def narrow_to(self, listed: Indices) -> None"),
          "Add a condition that lists the records it covers.")
      .def(
          "drop",
          [](CoverMask& mask, const In<std::int32_t>& listed) {
            check_listed(mask, listed);
            mask.next();
            mask.mark(listed.data(), static_cast<std::int64_t>(listed.size()));
          },
          nb::arg("listed"), nb::sig("def drop(self, listed: Indices) -> None"),
          "Add a condition that lists the records it does not cover.");
  nb::class_<OwnedBooster>(m, "RuleBooster", "Gradient boosting with rules.")
      .def("__init__", make_booster, nb::arg("columns"), nb::arg("targets"), nb::arg("loss"),
           nb::arg("heads"), nb::arg("head_size"), nb::arg("learning_rate"), nb::arg("l1"),
           nb::arg("l2"), nb::arg("max_conditions"), nb::arg("min_support"),
           nb::arg("default_rule"), nb::arg("units").none(), nb::arg("weights").none(),
           nb::arg("sample"), nb::arg("sample_fraction"), nb::arg("strata").none(),
           nb::arg("n_features"), nb::arg("prune"), nb::arg("search"), nb::arg("seed"),
           nb::arg("held_weights") = nb::none(), nb::arg("quantile") = 0.5,
           nb::arg("monotone") = nb::none(), nb::arg("group_start") = nb::none(),
           nb::arg("group_columns") = nb::none(), nb::arg("most_columns") = 0,
           nb::sig("def __init__(self, columns: RuleColumns, targets: NDArray[Any], loss: str, "
                   "heads: str, head_size: int, learning_rate: float, l1: float, l2: float, "
                   "max_conditions: int, min_support: float, default_rule: bool, "
                   "units: Singles | None, weights: Floats | None, sample: str, "
                   "sample_fraction: float, strata: Indices | None, n_features: int, prune: bool, "
                   "search: str, seed: int, held_weights: Floats | None = None, "
                   "quantile: float = 0.5, monotone: Indices | None = None, "
                   "group_start: Ints | None = None, group_columns: Indices | None = None, "
                   "most_columns: int = 0) -> None"))
      .def("grow", grow, nb::arg("n_rules"), nb::arg("patience"), nb::arg("n_jobs"),
           nb::arg("max_seconds") = 0.0,
           nb::sig("def grow(self, n_rules: int, patience: int, n_jobs: int, "
                   "max_seconds: float = 0.0) -> int"),
           "Add rules; returns how many were added.")
      .def("resume", resume, nb::arg("start"), nb::arg("covered"), nb::arg("head_start"),
           nb::arg("outputs"), nb::arg("scores"),
           nb::sig("def resume(self, start: Ints, covered: Indices, head_start: Ints, "
                   "outputs: Indices, scores: Floats) -> None"),
           "Take rules as they are, with all records that each covers, to grow more.")
      .def("rules", rules_of, nb::sig("def rules(self) -> dict[str, Any]"),
           "Return the rules that were grown as arrays.")
      .def("scores", scores_of, nb::sig("def scores(self) -> Floats"),
           "Return the scores of all records.");
}

}  // namespace tacit::bindings
