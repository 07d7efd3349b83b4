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

template <class T>
T setting(const nb::dict& settings, const char* name) {
  if (!settings.contains(name)) throw std::invalid_argument("settings has no " + std::string(name));
  T value;
  if (!nb::try_cast<T>(settings[name], value))
    throw nb::type_error(("settings: " + std::string(name) + " is of the wrong type").c_str());
  return value;
}

inline TreeCriterion as_criterion(const std::string& name) {
  return named<TreeCriterion>({{"bayes_factor", TreeCriterion::kBayesFactor},
                               {"bic", TreeCriterion::kBic},
                               {"entropy", TreeCriterion::kEntropy},
                               {"gini", TreeCriterion::kGini},
                               {"squared_error", TreeCriterion::kSquaredError},
                               {"normal", TreeCriterion::kNormal}},
                              name, "criterion");
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
  const auto prices = setting<std::vector<double>>(settings, "split_prices");
  if (!prices.empty()) rules.split_price = *std::min_element(prices.begin(), prices.end());
  for (const double price : prices) rules.extra_price.push_back(price - rules.split_price);
  if (std::all_of(rules.extra_price.begin(), rules.extra_price.end(),
                  [](double price) { return price == 0.0; }))
    rules.extra_price.clear();
  rules.leaf_prices = setting<bool>(settings, "leaf_prices");
  require(!rules.leaf_prices || (prices.empty() && !setting<bool>(settings, "merge") &&
                                 (rules.criterion == TreeCriterion::kBayesFactor ||
                                  rules.criterion == TreeCriterion::kBic)),
          "leaf_prices needs a tree of classes with a criterion that pays, and no split_prices");
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

// Rules for the columns of a table.
inline TreeRules as_rules(const nb::dict& settings, std::int64_t n_columns) {
  TreeRules rules = as_rules(settings);
  require(
      rules.extra_price.empty() || static_cast<std::int64_t>(rules.extra_price.size()) == n_columns,
      "split_prices must be as many as columns");
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

// A table by record and by value as Python hands it over: keeps the arrays.
class TreeTableArrays {
 public:
  TreeTableArrays(Ints indptr, AnyIn values, Ints start, Indices rows, Ints offsets, Ints defaults,
                  std::optional<Flags> ordered, std::optional<Ints> weights)
      : indptr_(std::move(indptr)),
        values_(std::move(values)),
        start_(std::move(start)),
        rows_(std::move(rows)),
        offsets_(std::move(offsets)),
        defaults_(std::move(defaults)),
        ordered_(defaults_.size(), 0),
        weights_(std::move(weights)) {
    with_values(values_.dtype(), [](auto) {});
    if (ordered) ordered_.assign(ordered->data(), ordered->data() + ordered->size());
    require_columns(offsets_, defaults_, ordered_);
    require(indptr_.size() > 0, "indptr must not be empty");
    const auto n_ids = static_cast<std::size_t>(n_values());
    require(start_.size() == n_ids + 1, "start must be one more than value ids");
    require(rows_.size() == values_.size() &&
                static_cast<std::size_t>(indptr_.data()[n_records()]) == values_.size() &&
                static_cast<std::size_t>(start_.data()[n_ids]) == rows_.size(),
            "indptr, values, start and rows must be of the same table");
    require(n_records() < (std::size_t{1} << 31) && n_ids < (std::size_t{1} << 31),
            "the table is too large");
    require(!weights_ || weights_->size() == n_records(), "weights must be as many as records");
    if (weights_)
      require(std::all_of(weights_->data(), weights_->data() + n_records(),
                          [](std::int64_t w) { return w >= 0; }),
              "weights must not be negative");
  }

  std::size_t n_records() const { return indptr_.size() - 1; }
  std::int64_t n_columns() const { return static_cast<std::int64_t>(defaults_.size()); }
  std::int64_t n_values() const { return offsets_.data()[n_columns()]; }
  const Ints& offsets() const { return offsets_; }

  // Calls body(TreeTable) without the interpreter's lock.
  template <class Kernel>
  void run_with(const Kernel& kernel) const {
    with_values(values_.dtype(), [&](auto v) {
      using V = decltype(v);
      const TreeTable<V> table{
          {indptr_.data(), static_cast<const V*>(values_.data()),
           static_cast<std::int64_t>(n_records()), n_values(), nullptr, 0, nullptr},
          start_.data(),
          rows_.data(),
          offsets_.data(),
          defaults_.data(),
          ordered_.data(),
          n_columns(),
          weights_ ? weights_->data() : nullptr};
      run([&] { kernel(table); });
    });
  }

 private:
  Ints indptr_;
  AnyIn values_;
  Ints start_;
  Indices rows_;
  Ints offsets_, defaults_;
  std::vector<std::uint8_t> ordered_;
  std::optional<Ints> weights_;
};

template <class T>
Array<T> copy_out(const std::vector<T>& from) {
  Buffer<T> to(from.size());
  std::copy(from.begin(), from.end(), to.begin());
  return to_numpy(std::move(to), {from.size()});
}

}  // namespace tacit::bindings
