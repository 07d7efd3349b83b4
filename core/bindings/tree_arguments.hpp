// What kernels on trees are given, checked and put in order.
#pragma once

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/common.hpp"
#include "tree/tree.hpp"

namespace tacit::bindings {

using Ints = In<std::int64_t>;
using Indices = In<std::int32_t>;
using Flags = In<std::uint8_t>;

inline void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

template <class T>
T setting(const nb::dict& settings, const char* name) {
  if (!settings.contains(name)) throw std::invalid_argument("settings has no " + std::string(name));
  T value;
  if (!nb::try_cast<T>(settings[name], value))
    throw nb::type_error(("settings: " + std::string(name) + " is of the wrong type").c_str());
  return value;
}

inline TreeCriterion as_criterion(const std::string& name) {
  constexpr std::pair<const char*, TreeCriterion> known[] = {
      {"bayes_factor", TreeCriterion::kBayesFactor},
      {"bic", TreeCriterion::kBic},
      {"entropy", TreeCriterion::kEntropy},
      {"gini", TreeCriterion::kGini},
      {"squared_error", TreeCriterion::kSquaredError},
      {"normal", TreeCriterion::kNormal}};
  for (const auto& [text, criterion] : known)
    if (name == text) return criterion;
  throw std::invalid_argument("criterion is not known: " + name);
}

inline TreeRules as_rules(const nb::dict& settings) {
  TreeRules rules{};
  rules.criterion = as_criterion(setting<std::string>(settings, "criterion"));
  rules.unit = setting<double>(settings, "unit");
  const auto prior = setting<std::string>(settings, "prior");
  require(prior == "k2" || prior == "bdeu", "prior must be k2 or bdeu");
  rules.bdeu = prior == "bdeu";
  rules.prior_weight = setting<double>(settings, "prior_weight");
  rules.log_kappa = setting<double>(settings, "log_kappa");
  rules.min_leaf = setting<std::int64_t>(settings, "min_leaf");
  rules.max_depth = setting<std::int64_t>(settings, "max_depth");
  rules.max_leaves = setting<std::int64_t>(settings, "max_leaves");
  rules.min_gain = setting<double>(settings, "min_gain");
  rules.binary = setting<bool>(settings, "binary");
  rules.complete = setting<bool>(settings, "complete");
  rules.merge = setting<bool>(settings, "merge");
  rules.timed = settings.contains("timed") && nb::cast<bool>(settings["timed"]);
  if (rules.criterion == TreeCriterion::kNormal) {
    const auto [mean, strength, shape, rate] =
        setting<std::tuple<double, double, double, double>>(settings, "normal");
    rules.normal = {mean, strength, shape, rate};
    require(strength > 0 && shape > 0 && rate > 0, "normal must have positive parts");
  }
  require(rules.unit > 0, "unit must be positive");
  require(rules.criterion != TreeCriterion::kBayesFactor || rules.prior_weight > 0,
          "prior_weight must be positive");
  require(!rules.merge || rules.criterion == TreeCriterion::kBayesFactor ||
              rules.criterion == TreeCriterion::kBic,
          "merge needs a criterion with a price for leaves");
  return rules;
}

// Offsets are read before anything else that they tell the size of.
template <class F>  // flags: an array or a vector
void require_columns(const Ints& offsets, const Ints& defaults, const F& ordered) {
  require(offsets.size() > 0, "offsets must not be empty");
  const std::size_t n_columns = offsets.size() - 1;
  require(defaults.size() == n_columns && ordered.size() == n_columns,
          "defaults and ordered must be as many as columns");
  require(offsets.data()[0] == 0, "offsets must begin with 0");
  for (std::size_t c = 0; c < n_columns; ++c) {
    const std::int64_t n_stored = offsets.data()[c + 1] - offsets.data()[c];
    require(n_stored >= 0, "offsets must not fall");
    require(defaults.data()[c] >= 0 && defaults.data()[c] <= n_stored,
            "defaults must be codes of their columns");
  }
}

template <class V, class F>
TreeTable<V> as_tree_table(const Ints& indptr, const AnyIn& values, const Ints& start,
                           const Indices& rows, const Ints& offsets, const Ints& defaults,
                           const F& ordered, const std::optional<Ints>& weights) {
  require(indptr.size() > 0, "indptr must not be empty");
  const std::size_t n_columns = offsets.size() - 1, n_records = indptr.size() - 1;
  const auto n_values = static_cast<std::size_t>(offsets.data()[n_columns]);
  require(start.size() == n_values + 1, "start must be one more than value ids");
  require(rows.size() == values.size() &&
              static_cast<std::size_t>(indptr.data()[n_records]) == values.size() &&
              static_cast<std::size_t>(start.data()[n_values]) == rows.size(),
          "indptr, values, start and rows must be of the same table");
  require(n_records < (std::size_t{1} << 31) && n_values < (std::size_t{1} << 31),
          "the table is too large");
  require(!weights || weights->size() == n_records, "weights must be as many as records");
  if (weights)
    require(std::all_of(weights->data(), weights->data() + n_records,
                        [](std::int64_t w) { return w >= 0; }),
            "weights must not be negative");
  return {as_records<V>(indptr, values, static_cast<std::int64_t>(n_values), std::nullopt,
                        std::nullopt),
          start.data(),
          rows.data(),
          offsets.data(),
          defaults.data(),
          ordered.data(),
          static_cast<std::int64_t>(n_columns),
          weights ? weights->data() : nullptr};
}

template <class T>
Array<T> copy_out(const std::vector<T>& from) {
  Buffer<T> to(from.size());
  std::copy(from.begin(), from.end(), to.begin());
  return to_numpy(std::move(to), {from.size()});
}

}  // namespace tacit::bindings
