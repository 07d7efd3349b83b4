// What the binding files share: arrays in, arrays out, and the way back from a long kernel.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/records.hpp"

namespace nb = nanobind;

namespace tacit::bindings {

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyIn = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyOut = nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array = nb::ndarray<nb::numpy, T>;
using Ints = In<std::int64_t>;
using Indices = In<std::int32_t>;
using Flags = In<std::uint8_t>;

inline void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

// The value that goes by a name; `what` is the argument that a message names.
template <class Value>
Value named(std::initializer_list<std::pair<const char*, Value>> known, const std::string& name,
            const char* what) {
  for (const auto& [text, value] : known)
    if (name == text) return value;
  throw std::invalid_argument(std::string(what) + " is not known: " + name);
}

// True if Python has a signal to deliver; the error is then set for the calling thread.
bool signal_pending();

// Runs a kernel without the interpreter's lock; an interruption comes back as KeyboardInterrupt.
template <class Kernel>
void run(const Kernel& kernel) {
  try {
    const nb::gil_scoped_release release;
    kernel();
  } catch (const Interrupted&) {
    throw nb::python_error();
  }
}

// Hands a kernel's buffer to NumPy without copying it.
template <class T>
Array<T> to_numpy(Buffer<T>&& buffer, std::initializer_list<std::size_t> shape) {
  T* const data = buffer.release();
  const nb::capsule owner(data, [](void* p) noexcept { free_buffer(p); });
  return Array<T>(data, shape, owner);
}

// Copies part(entry) of each entry into an array, of type T where one is named.
template <class T = void, class From, class Part = std::identity>
auto copied(const std::vector<From>& entries, const Part& part = {}) {
  using To = std::conditional_t<std::is_void_v<T>, From, T>;
  Buffer<To> buffer(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) buffer[i] = static_cast<To>(part(entries[i]));
  return to_numpy(std::move(buffer), {entries.size()});
}

inline bool is_uint16(const nb::dlpack::dtype& type) { return type == nb::dtype<std::uint16_t>(); }

// Calls body(V{}) for the type of a value-id array.
template <class Body>
auto with_values(const nb::dlpack::dtype& type, const Body& body) {
  if (is_uint16(type)) return body(std::uint16_t{});
  if (type == nb::dtype<std::uint32_t>()) return body(std::uint32_t{});
  throw nb::type_error("values must be uint16 or uint32");
}

// Calls body(X{}) for the type of an array of real numbers.
template <class Body>
auto with_floats(const nb::dlpack::dtype& type, const char* what, const Body& body) {
  if (type == nb::dtype<float>()) return body(float{});
  if (type == nb::dtype<double>()) return body(double{});
  throw nb::type_error((std::string(what) + " must be float32 or float64").c_str());
}

// Records as Python hands them over: keeps the arrays, and shows them to kernels by their type.
class RecordArrays {
 public:
  RecordArrays(In<std::int64_t> indptr, AnyIn values, std::int64_t n_values,
               std::optional<In<std::int64_t>> chosen, std::optional<In<double>> weights)
      : indptr_(std::move(indptr)),
        values_(std::move(values)),
        n_values_(n_values),
        chosen_(std::move(chosen)),
        weights_(std::move(weights)) {
    with_values(values_.dtype(), [](auto) {});
    if (weights_ && weights_->size() != n_records())
      throw std::invalid_argument("weights must be as many as records");
  }

  std::size_t size() const { return chosen_ ? chosen_->size() : n_records(); }
  std::size_t n_stored() const { return values_.size(); }
  std::int64_t n_values() const { return n_values_; }

  // Calls body(Records).
  template <class Body>
  auto visit(const Body& body) const {
    return with_values(values_.dtype(), [&](auto v) {
      return body(Records<decltype(v)>{
          indptr_.data(), static_cast<const decltype(v)*>(values_.data()),
          static_cast<std::int64_t>(n_records()), n_values_, chosen_ ? chosen_->data() : nullptr,
          chosen_ ? static_cast<std::int64_t>(chosen_->size()) : 0,
          weights_ ? weights_->data() : nullptr});
    });
  }
  // Calls body(Records, Count{}): counts are int64, or double sums of weights.
  template <class Body>
  auto count(const Body& body) const {
    return visit([&](const auto& records) {
      return weights_ ? body(records, double{}) : body(records, std::int64_t{});
    });
  }

 private:
  std::size_t n_records() const { return indptr_.size() - 1; }

  In<std::int64_t> indptr_;
  AnyIn values_;
  std::int64_t n_values_;
  std::optional<In<std::int64_t>> chosen_;
  std::optional<In<double>> weights_;
};

void register_records(nb::module_& m);
void register_counts(nb::module_& m);
void register_arrange(nb::module_& m);
void register_encode(nb::module_& m);
void register_baskets(nb::module_& m);
void register_log(nb::module_& m);
void register_check(nb::module_& m);
void register_engines(nb::module_& m);
void register_rules(nb::module_& m);
void register_rule_coding(nb::module_& m);
void register_rule_scores(nb::module_& m);
void register_information(nb::module_& m);
void register_mixture(nb::module_& m);
void register_tree_mixture(nb::module_& m);
void register_kmeans(nb::module_& m);
void register_recommend(nb::module_& m);
void register_tree_walk(nb::module_& m);
void register_tree(nb::module_& m);
void register_leaves(nb::module_& m);
void register_net(nb::module_& m);
void register_chow_liu(nb::module_& m);
void register_dependency_tree(nb::module_& m);
void register_junction(nb::module_& m);
void register_smo(nb::module_& m);
void register_max_flow(nb::module_& m);
void register_near_neighbours(nb::module_& m);
void register_near_graph(nb::module_& m);
void register_set_neighbours(nb::module_& m);
void register_reach_tree(nb::module_& m);
void register_graph_merges(nb::module_& m);
void register_block_grid(nb::module_& m);
void register_numbers(nb::module_& m);
void register_block_pairs(nb::module_& m);
void register_cover_rules(nb::module_& m);
void register_boost(nb::module_& m);
void register_itemsets(nb::module_& m);
void register_significant(nb::module_& m);

}  // namespace tacit::bindings
