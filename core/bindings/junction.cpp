#include "junction/junction.hpp"

#include <algorithm>

#include "bindings/common.hpp"

namespace tacit::bindings {
namespace {

using Codes = In<std::int32_t>;
using Square = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A net whose arrays fit each other; that there is no cycle is for the caller to know.
JunctionNet as_net(const In<std::int64_t>& arities, const In<std::int64_t>& parent_starts,
                   const In<std::int64_t>& parents, const In<double>& tables) {
  const std::size_t n = arities.size();
  if (n == 0 || n > INT32_MAX) throw std::invalid_argument("a net has columns");
  if (parent_starts.size() != n + 1 || parent_starts.data()[0] != 0 ||
      parent_starts.data()[n] != static_cast<std::int64_t>(parents.size()))
    throw std::invalid_argument(
        "parent_starts must be one more than arities, and end with parents");
  JunctionNet net;
  net.starts = net.values = {0};
  const double most = static_cast<double>(tables.size());
  for (std::size_t c = 0; c < n; ++c) {
    if (arities.data()[c] < 1 || arities.data()[c] > INT32_MAX)
      throw std::invalid_argument("arities must be positive");
    net.sizes.push_back(static_cast<std::size_t>(arities.data()[c]));
    net.values.push_back(net.values.back() + net.sizes.back());
  }
  for (std::size_t c = 0; c < n; ++c) {
    const std::int64_t begin = parent_starts.data()[c], end = parent_starts.data()[c + 1];
    if (begin > end || end > static_cast<std::int64_t>(parents.size()))
      throw std::invalid_argument("parent_starts must ascend");
    std::vector<std::uint32_t> columns;
    double cells = static_cast<double>(net.sizes[c]);
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t p = parents.data()[k];
      if (p < 0 || p >= static_cast<std::int64_t>(n) || p == static_cast<std::int64_t>(c))
        throw std::invalid_argument("parents must be other columns");
      columns.push_back(static_cast<std::uint32_t>(p));
      cells *= static_cast<double>(net.sizes[columns.back()]);
    }
    if (static_cast<double>(net.starts.back()) + cells > most)
      throw std::invalid_argument("tables must have a cell for each state of each family");
    net.starts.push_back(net.starts.back() + static_cast<std::size_t>(cells));
    net.parents.push_back(std::move(columns));
  }
  if (net.starts.back() != tables.size())
    throw std::invalid_argument("tables must have a cell for each state of each family");
  net.tables.assign(tables.data(), tables.data() + tables.size());
  return net;
}

void check_codes(const JunctionNet& net, const std::int32_t* codes, std::size_t n_records) {
  const std::size_t n = net.n_columns();
  for (std::size_t r = 0; r < n_records; ++r, codes += n)
    for (std::size_t c = 0; c < n; ++c)
      if (codes[c] < -1 || codes[c] >= static_cast<std::int64_t>(net.sizes[c]))
        throw std::invalid_argument("codes must be codes of their columns, or -1");
}

const std::int32_t* checked(const JunctionNet& net, const Codes& codes) {
  if (codes.size() != net.n_columns()) throw std::invalid_argument("codes must be one a column");
  check_codes(net, codes.data(), 1);
  return codes.data();
}

std::vector<std::uint32_t> checked_targets(const JunctionNet& net,
                                           const In<std::int64_t>& targets) {
  std::vector<std::uint32_t> listed;
  for (std::size_t k = 0; k < targets.size(); ++k) {
    const std::int64_t c = targets.data()[k];
    if (c < 0 || c >= static_cast<std::int64_t>(net.n_columns()) ||
        std::find(listed.begin(), listed.end(), static_cast<std::uint32_t>(c)) != listed.end())
      throw std::invalid_argument("targets must be different columns");
    listed.push_back(static_cast<std::uint32_t>(c));
  }
  return listed;
}

// Runs a kernel; a net that is too wide comes back as OverflowError(width, largest, cells, bytes).
template <class Kernel>
void answer(const Kernel& kernel) {
  try {
    run(kernel);
  } catch (const JunctionTooWide& error) {
    const JunctionNeeds& needs = error.needs;
    const nb::tuple sizes = nb::make_tuple(needs.width, needs.largest, needs.cells, needs.bytes);
    PyErr_SetObject(PyExc_OverflowError, sizes.ptr());
    throw nb::python_error();
  }
}

struct Listen final : StopToken {
  void check() override { poller.check(); }
  Poller poller{signal_pending};
};

// One question: finds its plan, runs it, and returns what `ask(run)` returns.
template <class Ask>
double ask_tree(JunctionTree& tree, JunctionTask task, const std::int32_t* codes,
                const std::vector<std::uint32_t>& targets, const Ask& ask) {
  double log_evidence = 0;
  answer([&] {
    const auto plan = tree.plan(task, codes, targets, signal_pending);
    Listen listen;
    JunctionRun once(tree.net(), *plan, listen);
    log_evidence = ask(once);
  });
  return log_evidence;
}

nb::tuple bind_marginals(JunctionTree& tree, const Codes& given) {
  const std::int32_t* const codes = checked(tree.net(), given);
  Buffer<double> out(tree.net().values.back());
  const double log_evidence =
      ask_tree(tree, JunctionTask::kPosterior, codes, {},
               [&](JunctionRun& r) { return r.marginals(codes, out.data()); });
  const std::size_t n = out.size();
  return nb::make_tuple(to_numpy(std::move(out), {n}), log_evidence);
}

nb::tuple bind_families(JunctionTree& tree, const Codes& given) {
  const std::int32_t* const codes = checked(tree.net(), given);
  Buffer<double> out(tree.net().tables.size());
  std::fill_n(out.data(), out.size(), 0.0);
  const double log_evidence =
      ask_tree(tree, JunctionTask::kPosterior, codes, {},
               [&](JunctionRun& r) { return r.families(codes, 1, out.data()); });
  const std::size_t n = out.size();
  return nb::make_tuple(to_numpy(std::move(out), {n}), log_evidence);
}

nb::tuple bind_joint(JunctionTree& tree, const In<std::int64_t>& wanted, const Codes& given) {
  const std::int32_t* const codes = checked(tree.net(), given);
  const std::vector<std::uint32_t> targets = checked_targets(tree.net(), wanted);
  Buffer<double> out;
  const double log_evidence =
      ask_tree(tree, JunctionTask::kJoint, codes, targets, [&](JunctionRun& r) {
        std::size_t cells = 1;  // the plan is there, so this many fit
        for (const std::uint32_t c : targets)
          if (codes[c] < 0) cells *= tree.net().sizes[c];
        out = Buffer<double>(cells);
        return r.joint(codes, out.data());
      });
  const std::size_t n = out.size();
  return nb::make_tuple(to_numpy(std::move(out), {n}), log_evidence);
}

nb::tuple bind_most_probable(JunctionTree& tree, const Codes& given) {
  const std::int32_t* const codes = checked(tree.net(), given);
  Buffer<std::int32_t> out(tree.net().n_columns());
  std::fill_n(out.data(), out.size(), -1);
  const double log_probability =
      ask_tree(tree, JunctionTask::kMost, codes, {},
               [&](JunctionRun& r) { return r.most_probable(codes, out.data()); });
  const std::size_t n = out.size();
  return nb::make_tuple(to_numpy(std::move(out), {n}), log_probability);
}

nb::tuple bind_sample(JunctionTree& tree, const Codes& given, std::uint64_t seed,
                      std::size_t n_records, int n_jobs) {
  const std::int32_t* const codes = checked(tree.net(), given);
  const std::size_t n = tree.net().n_columns();
  Buffer<std::int32_t> out(n_records * n);
  std::fill_n(out.data(), out.size(), -1);
  const double log_evidence = ask_tree(tree, JunctionTask::kSample, codes, {}, [&](JunctionRun& r) {
    return r.sample(codes, seed, n_records, out.data(), n_jobs, signal_pending);
  });
  return nb::make_tuple(to_numpy(std::move(out), {n_records, n}), log_evidence);
}

nb::tuple bind_evidence_many(JunctionTree& tree, const Square& records,
                             const std::optional<In<double>>& weights, bool families, int n_jobs) {
  const std::size_t n = records.shape(0), n_cells = tree.net().tables.size();
  if (records.shape(1) != tree.net().n_columns())
    throw std::invalid_argument("codes must have a column for each of the net's");
  if (weights && weights->size() != n)
    throw std::invalid_argument("weights must be as many as records");
  check_codes(tree.net(), records.data(), n);
  Buffer<double> log_evidence(n), sums(families ? n_cells : 0);
  std::fill_n(sums.data(), sums.size(), 0.0);
  answer([&] {
    tree.evidence_many(records.data(), n, weights ? weights->data() : nullptr, log_evidence.data(),
                       families ? sums.data() : nullptr, n_jobs, signal_pending);
  });
  const std::size_t n_sums = sums.size();
  return nb::make_tuple(to_numpy(std::move(log_evidence), {n}),
                        to_numpy(std::move(sums), {n_sums}));
}

nb::tuple tree_needs(const JunctionTree& tree) {
  const JunctionNeeds& needs = tree.needs();
  return nb::make_tuple(needs.width, needs.largest, needs.cells);
}

Array<std::int64_t> tree_order(const JunctionTree& tree) {
  Buffer<std::int64_t> out(tree.order().size());
  std::copy(tree.order().begin(), tree.order().end(), out.data());
  const std::size_t n = out.size();
  return to_numpy(std::move(out), {n});
}

}  // namespace

void register_junction(nb::module_& m) {
  nb::class_<JunctionTree>(m, "JunctionTree",
                           "Exact inference in a Bayes net. Questions it is too wide for raise\n"
                           "OverflowError(columns and cells of a clique, cells of all, bytes).")
      .def(
          "__init__",
          [](JunctionTree* self, const In<std::int64_t>& arities,
             const In<std::int64_t>& parent_starts, const In<std::int64_t>& parents,
             const In<double>& tables, double max_cells, double max_bytes) {
            JunctionNet net = as_net(arities, parent_starts, parents, tables);
            run([&] {
              new (self) JunctionTree(std::move(net), {max_cells, max_bytes}, signal_pending);
            });
          },
          nb::arg("arities"), nb::arg("parent_starts"), nb::arg("parents"), nb::arg("tables"),
          nb::arg("max_cells"), nb::arg("max_bytes"),
          nb::sig("def __init__(self, arities: Ints, parent_starts: Ints, parents: Ints, "
                  "tables: Floats, max_cells: float, max_bytes: float) -> None"))
      .def("needs", tree_needs, nb::sig("def needs(self) -> tuple[int, float, float]"),
           "Columns and cells of the largest cliques, and cells of all, when nothing is observed.")
      .def("order", tree_order, nb::sig("def order(self) -> Ints"),
           "Columns as they are eliminated when nothing is observed.")
      .def("marginals", bind_marginals, nb::arg("codes"),
           nb::sig("def marginals(self, codes: Indices) -> tuple[Floats, float]"),
           "Every column's distribution, one after another, and the evidence's log-probability.")
      .def("families", bind_families, nb::arg("codes"),
           nb::sig("def families(self, codes: Indices) -> tuple[Floats, float]"),
           "The joint distribution of every family, laid out as the net's tables.")
      .def("joint", bind_joint, nb::arg("targets"), nb::arg("codes"),
           nb::sig("def joint(self, targets: Ints, codes: Indices) -> tuple[Floats, float]"),
           "The joint distribution of those targets that are not observed.")
      .def("most_probable", bind_most_probable, nb::arg("codes"),
           nb::sig("def most_probable(self, codes: Indices) -> tuple[Indices, float]"),
           "The most probable values of all columns, and their log-probability.")
      .def("sample", bind_sample, nb::arg("codes"), nb::arg("seed"), nb::arg("n_records"),
           nb::arg("n_jobs"),
           nb::sig("def sample(self, codes: Indices, seed: int, n_records: int, n_jobs: int) "
                   "-> tuple[Indices, float]"),
           "Records given the evidence.")
      .def("evidence_many", bind_evidence_many, nb::arg("codes"), nb::arg("weights").none(),
           nb::arg("families"), nb::arg("n_jobs"),
           nb::sig("def evidence_many(self, codes: Indices, weights: Floats | None, "
                   "families: bool, n_jobs: int) -> tuple[Floats, Floats]"),
           "Log-probabilities of records, and the weighted sum of their families.");
}

}  // namespace tacit::bindings
