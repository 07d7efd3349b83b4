// What the binding files share: arrays in, arrays out, and the way back from a long kernel.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>

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

inline bool is_uint16(const nb::dlpack::dtype& type) { return type == nb::dtype<std::uint16_t>(); }

// Calls body(V{}) for the type of a value-id array.
template <class Body>
auto with_values(const nb::dlpack::dtype& type, const Body& body) {
  if (is_uint16(type)) return body(std::uint16_t{});
  if (type == nb::dtype<std::uint32_t>()) return body(std::uint32_t{});
  throw nb::type_error("values must be uint16 or uint32");
}

template <class V>
Records<V> as_records(const In<std::int64_t>& indptr, const AnyIn& values, std::int64_t n_values,
                      const std::optional<In<std::int64_t>>& chosen,
                      const std::optional<In<double>>& weights) {
  const auto n_records = static_cast<std::int64_t>(indptr.size()) - 1;
  if (weights && static_cast<std::int64_t>(weights->size()) != n_records)
    throw std::invalid_argument("weights must be as many as records");
  return {indptr.data(),
          static_cast<const V*>(values.data()),
          n_records,
          n_values,
          chosen ? chosen->data() : nullptr,
          chosen ? static_cast<std::int64_t>(chosen->size()) : 0,
          weights ? weights->data() : nullptr};
}

void register_counts(nb::module_& m);
void register_arrange(nb::module_& m);
void register_encode(nb::module_& m);
void register_check(nb::module_& m);
void register_engines(nb::module_& m);
void register_rules(nb::module_& m);
void register_rule_coding(nb::module_& m);
void register_rule_scores(nb::module_& m);
void register_information(nb::module_& m);
void register_mixture(nb::module_& m);
void register_kmeans(nb::module_& m);
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
void register_block_grid(nb::module_& m);
void register_numbers(nb::module_& m);
void register_block_pairs(nb::module_& m);
void register_cover_rules(nb::module_& m);
void register_boost(nb::module_& m);

}  // namespace tacit::bindings
