#include "rule/cover_rules.hpp"

#include <nanobind/stl/string.h>

#include <string>

#include "bindings/common.hpp"
#include "bindings/rule_arrays.hpp"

namespace tacit::bindings {
namespace {

using Counts = nb::ndarray<const float, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
static_assert(sizeof(StatPair) == 2 * sizeof(float));

RuleHeuristic heuristic_named(const std::string& name) {
  using enum RuleHeuristic;
  return named<RuleHeuristic>({{"precision", precision},
                               {"laplace", laplace},
                               {"m_estimate", m_estimate},
                               {"f_measure", f_measure},
                               {"kulczynski", kulczynski},
                               {"foil_gain", foil_gain}},
                              name, "heuristic");
}

// A grower and the columns that it reads.
struct OwnedGrower {
  nb::object columns;
  RuleGrower grower;

  explicit OwnedGrower(nb::object given)
      : columns(std::move(given)), grower(nb::cast<const RuleArrays&>(columns).columns) {}
};

nb::tuple bind_grow(OwnedGrower& self, const Counts& counts, const std::string& heuristic,
                    double parameter, int max_conditions, double min_support, int n_jobs) {
  const auto m = static_cast<std::size_t>(self.grower.columns().n_records);
  if (counts.shape(0) != m) throw std::invalid_argument("counts must be as many as records");
  if (max_conditions < 1 || max_conditions > CoverMask::kMostConditions)
    throw std::invalid_argument("max_conditions must be 1 to 255");
  for (std::size_t i = 0; i < 2 * m; ++i)
    if (!(counts.data()[i] >= 0)) throw std::invalid_argument("counts must not be negative");
  const GrowOptions options{heuristic_named(heuristic), parameter, max_conditions, min_support};
  Buffer<std::uint8_t> depth(m);
  std::vector<RuleCondition> conditions;
  run([&] {
    const auto* const pairs = reinterpret_cast<const StatPair*>(counts.data());
    conditions = self.grower.grow(pairs, options, depth.data(), n_jobs, signal_pending);
  });
  return nb::make_tuple(copied<std::int32_t>(conditions, [](const auto& c) { return c.column; }),
                        copied<std::uint8_t>(conditions, [](const auto& c) { return c.op; }),
                        copied<std::int32_t>(conditions, [](const auto& c) { return c.low; }),
                        copied<std::int32_t>(conditions, [](const auto& c) { return c.high; }),
                        to_numpy(std::move(depth), {m}));
}

}  // namespace

void register_cover_rules(nb::module_& m) {
  nb::class_<OwnedGrower>(m, "RuleGrower", "Rules for one class after another.")
      .def(nb::init<nb::object>(), nb::arg("columns"),
           nb::sig("def __init__(self, columns: RuleColumns) -> None"))
      .def("grow", bind_grow, nb::arg("counts"), nb::arg("heuristic"), nb::arg("parameter"),
           nb::arg("max_conditions"), nb::arg("min_support"), nb::arg("n_jobs"),
           nb::sig("def grow(self, counts: Singles, heuristic: str, parameter: float, "
                   "max_conditions: int, min_support: float, n_jobs: int) "
                   "-> tuple[Indices, Flags, Indices, Indices, Flags]"),
           "Grow one rule: columns, operators, low and high codes of its conditions, and how many "
           "leading ones each record satisfies.");
}

}  // namespace tacit::bindings
