#include "bindings/common.hpp"
#include "cut/cut_path.hpp"
#include "tree/strongest.hpp"

namespace tacit::bindings {
namespace {

using Pointers = In<std::int64_t>;
using Heads = In<std::int32_t>;

FlowView as_graph(const Pointers& indptr, const Heads& indices, const In<double>& weights) {
  const auto n = static_cast<std::int64_t>(indptr.size()) - 1;
  if (n < 0 || indices.size() != weights.size() ||
      indptr.data()[n] != static_cast<std::int64_t>(indices.size()))
    throw std::invalid_argument("indptr, indices and weights must be of one CSR array");
  return {indptr.data(), indices.data(), weights.data(), n};
}

CutNodes as_nodes(const FlowView& graph, const In<double>& base, const In<double>& rate) {
  const auto n = static_cast<std::size_t>(graph.n_nodes);
  if (base.size() != n || rate.size() != n)
    throw std::invalid_argument("base and rate must be as many as nodes");
  return {base.data(), rate.data()};
}

template <class T>
nb::object as_array(const std::vector<T>& values) {
  Buffer<T> copy(values.size());
  std::copy(values.begin(), values.end(), copy.data());
  return nb::cast(to_numpy(std::move(copy), {values.size()}));
}

nb::object bind_path(const Pointers& indptr, const Heads& indices, const In<double>& weights,
                     const In<double>& base, const In<double>& rate, const In<double>& lambdas,
                     int n_jobs) {
  const FlowView graph = as_graph(indptr, indices, weights);
  const CutNodes nodes = as_nodes(graph, base, rate);
  std::vector<std::int32_t> first;
  run([&] {
    first = cut_path(graph, nodes, lambdas.data(), static_cast<std::int64_t>(lambdas.size()),
                     n_jobs, signal_pending);
  });
  return as_array(first);
}

nb::object bind_breakpoints(const Pointers& indptr, const Heads& indices, const In<double>& weights,
                            const In<double>& base, const In<double>& rate, double low, double high,
                            int n_jobs) {
  const FlowView graph = as_graph(indptr, indices, weights);
  const CutNodes nodes = as_nodes(graph, base, rate);
  std::vector<double> enters;
  run([&] { enters = cut_breakpoints(graph, nodes, low, high, n_jobs, signal_pending); });
  return as_array(enters);
}

nb::object bind_capacities(const Pointers& indptr, const Heads& indices, const In<double>& weights,
                           const In<std::int32_t>& first, std::int64_t n_sets) {
  const FlowView graph = as_graph(indptr, indices, weights);
  if (static_cast<std::int64_t>(first.size()) != graph.n_nodes)
    throw std::invalid_argument("first must be as many as nodes");
  for (std::size_t u = 0; u < first.size(); ++u)
    if (first.data()[u] < 0 || first.data()[u] > n_sets)
      throw std::invalid_argument("first must be between 0 and n_sets");
  std::vector<double> capacities;
  run([&] { capacities = cut_capacities(graph, first.data(), n_sets); });
  return as_array(capacities);
}

nb::object bind_strongest(const Pointers& indptr, const Heads& indices, const In<double>& weights,
                          std::int64_t k, int n_jobs) {
  const FlowView graph = as_graph(indptr, indices, weights);
  if (k < 1) throw std::invalid_argument("k must be at least 1");
  const auto n = static_cast<std::size_t>(graph.n_nodes), width = static_cast<std::size_t>(k);
  Buffer<std::int32_t> columns(n * width);
  run([&] {
    strongest_links(graph.start, graph.head, graph.weight, graph.n_nodes, k, columns.data(), n_jobs,
                    signal_pending);
  });
  return nb::cast(to_numpy(std::move(columns), {n, width}));
}

}  // namespace

void register_max_flow(nb::module_& m) {
  m.def("cut_path", bind_path, nb::arg("indptr"), nb::arg("indices"), nb::arg("weights"),
        nb::arg("base"), nb::arg("rate"), nb::arg("lambdas"), nb::arg("n_jobs"),
        nb::sig("def cut_path(indptr: Ints, indices: Indices, weights: Floats, base: Floats, "
                "rate: Floats, lambdas: Floats, n_jobs: int) -> Indices"),
        "Of each node the position of the first λ at which it is on the source's side.");
  m.def("cut_breakpoints", bind_breakpoints, nb::arg("indptr"), nb::arg("indices"),
        nb::arg("weights"), nb::arg("base"), nb::arg("rate"), nb::arg("low"), nb::arg("high"),
        nb::arg("n_jobs"),
        nb::sig("def cut_breakpoints(indptr: Ints, indices: Indices, weights: Floats, "
                "base: Floats, rate: Floats, low: float, high: float, n_jobs: int) -> Floats"),
        "Of each node the λ beyond which it is on the source's side.");
  m.def("cut_capacities", bind_capacities, nb::arg("indptr"), nb::arg("indices"),
        nb::arg("weights"), nb::arg("first"), nb::arg("n_sets"),
        nb::sig("def cut_capacities(indptr: Ints, indices: Indices, weights: Floats, "
                "first: Indices, n_sets: int) -> Floats"),
        "What the edges between each of several nested sets and the rest weigh.");
  m.def("strongest_links", bind_strongest, nb::arg("indptr"), nb::arg("indices"),
        nb::arg("weights"), nb::arg("k"), nb::arg("n_jobs"),
        nb::sig("def strongest_links(indptr: Ints, indices: Indices, weights: Floats, k: int, "
                "n_jobs: int) -> Indices"),
        "The columns of the k largest values of each row of a CSR array; -1 beyond short rows.");
}

}  // namespace tacit::bindings
