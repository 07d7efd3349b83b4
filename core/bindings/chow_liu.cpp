#include "dependency/chow_liu.hpp"

#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/common.hpp"
#include "count/pair_counts.hpp"
#include "dependency/branching.hpp"

namespace tacit::bindings {
namespace {

using Square = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

PairColumns as_columns(const Ints& offsets, std::size_t n_values, double total) {
  require(offsets.size() > 0 && offsets.data()[0] == 0, "offsets must begin with 0");
  const std::size_t n = offsets.size() - 1;
  for (std::size_t c = 0; c < n; ++c)
    require(offsets.data()[c] <= offsets.data()[c + 1], "offsets must not fall");
  require(static_cast<std::size_t>(offsets.data()[n]) == n_values,
          "offsets must be those of the pairs' values");
  require(total > 0, "total must be positive");
  return {static_cast<std::int64_t>(n), offsets.data(), total};
}

// Calls body(const Count*) for counts of either kind.
template <class Body>
void with_counts(const nb::dlpack::dtype& type, const void* data, const Body& body) {
  if (type == nb::dtype<std::int64_t>()) return body(static_cast<const std::int64_t*>(data));
  if (type == nb::dtype<double>()) return body(static_cast<const double*>(data));
  throw nb::type_error("counts must be int64 or float64");
}

nb::tuple to_edges(std::vector<TreeEdge> tree) {
  std::sort(tree.begin(), tree.end(), [](const TreeEdge& x, const TreeEdge& y) {
    return x.a != y.a ? x.a < y.a : x.b < y.b;
  });
  Buffer<std::int64_t> ends(2 * tree.size());
  Buffer<double> weights(tree.size());
  for (std::size_t k = 0; k < tree.size(); ++k) {
    ends[2 * k] = tree[k].a, ends[2 * k + 1] = tree[k].b;
    weights[k] = tree[k].weight;
  }
  return nb::make_tuple(to_numpy(std::move(ends), {tree.size(), 2}),
                        to_numpy(std::move(weights), {tree.size()}));
}

nb::object bind_pair_counts_bytes(const Bytes& x, int n_jobs) {
  const std::size_t n = x.shape(1);
  Buffer<std::int64_t> square(n * n);
  bool binary = true;
  run([&] {
    binary = pair_counts_bytes(x.data(), static_cast<std::int64_t>(x.shape(0)),
                               static_cast<std::int64_t>(n), square.data(), n_jobs, signal_pending);
  });
  if (!binary) return nb::none();
  return nb::cast(to_numpy(std::move(square), {n, n}));
}

Array<double> bind_pair_information(const Square& square, const Ints& offsets, double total,
                                    const std::optional<Flags>& unknown,
                                    const std::optional<Flags>& default_unknown, int n_jobs) {
  require(square.shape(0) == square.shape(1), "square must be square");
  const PairColumns columns = as_columns(offsets, square.shape(0), total);
  const auto n = static_cast<std::size_t>(columns.n_columns);
  require(unknown.has_value() == default_unknown.has_value(),
          "unknown and default_unknown go together");
  require(!unknown || (unknown->size() == square.shape(0) && default_unknown->size() == n),
          "unknown must be as many as values, default_unknown as many as columns");
  Buffer<double> weights(n * n);
  with_counts(square.dtype(), square.data(), [&](const auto* counts) {
    run([&] {
      pair_information(counts, columns, unknown ? unknown->data() : nullptr,
                       default_unknown ? default_unknown->data() : nullptr, weights.data(), n_jobs,
                       signal_pending);
    });
  });
  return to_numpy(std::move(weights), {n, n});
}

nb::tuple bind_sparse_spanning_tree(const Ints& indptr, const In<std::int32_t>& indices,
                                    const AnyIn& counts, const Ints& offsets, double total,
                                    int n_jobs) {
  require(indptr.size() > 0, "indptr must not be empty");
  const std::size_t n_values = indptr.size() - 1;
  require(static_cast<std::size_t>(indptr.data()[n_values]) == indices.size() &&
              indices.size() == counts.size(),
          "indptr, indices and counts must be of the same matrix");
  const PairColumns columns = as_columns(offsets, n_values, total);
  std::vector<TreeEdge> tree;
  with_counts(counts.dtype(), counts.data(), [&](const auto* data) {
    run([&] {
      tree = sparse_spanning_tree(indptr.data(), indices.data(), data, columns, n_jobs,
                                  signal_pending);
    });
  });
  return to_edges(std::move(tree));
}

Array<std::int32_t> bind_max_branching(const Weights& weights) {
  require(weights.shape(0) == weights.shape(1), "weights must be square");
  std::vector<std::int32_t> parents;
  run([&] {
    parents = max_branching(weights.data(), static_cast<std::int64_t>(weights.shape(0)));
  });
  Buffer<std::int32_t> result(parents.size());
  std::copy(parents.begin(), parents.end(), result.begin());
  return to_numpy(std::move(result), {parents.size()});
}

}  // namespace

void register_chow_liu(nb::module_& m) {
  m.def("pair_counts_bytes", bind_pair_counts_bytes, nb::arg("x"), nb::arg("n_jobs"),
        nb::sig("def pair_counts_bytes(x: Any, n_jobs: int) -> Any"),
        "Count all pairs of columns of a matrix of bytes 0 and 1; None if others are in it.");
  m.def("pair_information", bind_pair_information, nb::arg("square"), nb::arg("offsets"),
        nb::arg("total"), nb::arg("unknown").none(), nb::arg("default_unknown").none(),
        nb::arg("n_jobs"),
        nb::sig("def pair_information(square: Counts, offsets: Ints, total: float, "
                "unknown: Flags | None, default_unknown: Flags | None, n_jobs: int) -> Floats"),
        "Mutual information of all pairs of columns in nats, from counts of pairs of values.");
  m.def("sparse_spanning_tree", bind_sparse_spanning_tree, nb::arg("indptr"), nb::arg("indices"),
        nb::arg("counts"), nb::arg("offsets"), nb::arg("total"), nb::arg("n_jobs"),
        nb::sig("def sparse_spanning_tree(indptr: Ints, indices: Indices, counts: Counts, "
                "offsets: Ints, total: float, n_jobs: int) -> tuple[Ints, Floats]"),
        "The spanning tree of most mutual information from a CSR matrix of pair counts.");
  m.def("max_branching", bind_max_branching, nb::arg("weights"),
        nb::sig("def max_branching(weights: Floats) -> Indices"),
        "The parent of each column, or -1, in the branching of greatest weight (from x to).");
}

}  // namespace tacit::bindings
