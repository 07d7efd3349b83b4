#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>

#include "common.hpp"
#include "net_search.hpp"

namespace tacit::bindings {
namespace {

using Ints = In<std::int64_t>;
using Indices = In<std::int32_t>;
using Flags = In<std::uint8_t>;

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

NetScoreKind as_kind(const std::string& name) {
  constexpr std::pair<const char*, NetScoreKind> known[] = {
      {"bic", NetScoreKind::kBic},   {"aic", NetScoreKind::kAic},
      {"penalised", NetScoreKind::kPenalised}, {"bdeu", NetScoreKind::kBdeu},
      {"bds", NetScoreKind::kBds},   {"k2", NetScoreKind::kK2}};
  for (const auto& [text, kind] : known)
    if (name == text) return kind;
  throw std::invalid_argument("score is not known: " + name);
}

NetTable as_net_table(std::int64_t n_records, const Ints& offsets, const Ints& defaults,
                      const Ints& start, const Indices& rows,
                      const std::optional<In<double>>& weights, const Ints& missing) {
  require(offsets.size() > 0, "offsets must not be empty");
  const std::size_t n = offsets.size() - 1;
  require(defaults.size() == n && missing.size() == n,
          "defaults and missing must be as many as columns");
  require(n_records >= 0 && n_records < (std::int64_t{1} << 31), "n_records is out of range");
  require(offsets.data()[0] == 0, "offsets must begin with 0");
  for (std::size_t c = 0; c < n; ++c) {
    const std::int64_t n_stored = offsets.data()[c + 1] - offsets.data()[c];
    require(n_stored >= 0 && n_stored < 65536, "columns must have at most 65,536 values");
    require(defaults.data()[c] >= 0 && defaults.data()[c] <= n_stored,
            "defaults must be codes of their columns");
    require(missing.data()[c] >= -1 && missing.data()[c] <= n_stored,
            "missing must be codes of their columns, or -1");
  }
  const auto n_values = static_cast<std::size_t>(offsets.data()[n]);
  require(start.size() == n_values + 1, "start must be one more than value ids");
  require(static_cast<std::size_t>(start.data()[n_values]) == rows.size(),
          "start and rows must be of the same table");
  require(!weights || weights->size() == static_cast<std::size_t>(n_records),
          "weights must be as many as records");
  return {n_records,      static_cast<std::int64_t>(n), offsets.data(), defaults.data(),
          start.data(),   rows.data(), weights ? weights->data() : nullptr, missing.data()};
}

// Families and their scores; keeps what the arrays it was given must outlive.
class PyNetFamilies {
 public:
  PyNetFamilies(std::int64_t n_records, Ints offsets, Ints defaults, Ints start, Indices rows,
                std::optional<In<double>> weights, Ints missing, const std::string& score,
                double prior_weight)
      : weights_(std::move(weights)) {
    require(prior_weight > 0, "prior_weight must be positive");
    const NetTable table =
        as_net_table(n_records, offsets, defaults, start, rows, weights_, missing);
    const NetScoreKind kind = as_kind(score);
    run([&] { families_ = std::make_unique<NetFamilies>(table, kind, prior_weight); });
  }

  double score(int child, Parents parents) {
    check_family(child, parents);
    double result = 0;
    run([&] { result = families_->score(child, parents); });
    return result;
  }

  Array<double> gains(int n_jobs) {
    const auto n = static_cast<std::size_t>(families_->data().n_columns());
    Buffer<double> result(n * n);
    run([&] {
      std::vector<std::pair<int, Parents>> wanted;
      for (std::size_t x = 0; x < n; ++x) wanted.emplace_back(static_cast<int>(x), Parents{});
      families_->prepare(wanted, n_jobs, signal_pending);
      for (std::size_t to = 0; to < n; ++to) {
        const NetFamily& family = families_->family(static_cast<int>(to), {});
        for (std::size_t from = 0; from < n; ++from)
          result[from * n + to] = from == to ? 0.0 : family.with[from] - family.own;
      }
    });
    return to_numpy(std::move(result), {n, n});
  }

  nb::tuple search(const std::vector<Parents>& start, int max_parents, const Flags& required,
                   const Flags& forbidden, std::int64_t restarts, std::int64_t tabu,
                   std::int64_t walks, bool swaps, std::uint64_t seed, double max_seconds,
                   int n_jobs, const std::optional<nb::callable>& tell) {
    const auto n = static_cast<std::size_t>(families_->data().n_columns());
    require(start.size() == n, "start must be as many as columns");
    for (std::size_t x = 0; x < n; ++x) check_family(static_cast<int>(x), start[x]);
    require(required.size() == n * n && forbidden.size() == n * n,
            "required and forbidden must be squares of columns");
    const NetRules rules{max_parents, required.data(), forbidden.data(), restarts, tabu, walks,
                         swaps,       seed,            max_seconds,      n_jobs};
    const std::function<void(const NetProgress&)> report = [&](const NetProgress& now) {
      if (!tell) return;
      const nb::gil_scoped_acquire acquire;
      try {
        (*tell)(now.restart, now.n_scored, now.score, now.seconds);
      } catch (const nb::python_error& error) {  // Ctrl-C may be noticed there, too
        if (error.matches(PyExc_KeyboardInterrupt)) throw Interrupted();
        throw;
      }
    };
    NetFound found;
    run([&] { found = find_net(*families_, start, rules, signal_pending, report); });
    if (found.interrupted) PyErr_Clear();  // the best net so far is the answer
    nb::list trace;
    for (const NetProgress& each : found.trace)
      trace.append(nb::make_tuple(each.restart, each.n_scored, each.score, each.seconds));
    return nb::make_tuple(found.parents, found.score, found.n_scored, found.n_moves,
                          found.interrupted, found.out_of_time, trace);
  }

 private:
  void check_family(int child, const Parents& parents) const {
    const int n = families_->data().n_columns();
    require(child >= 0 && child < n, "child must be a column");
    for (std::size_t k = 0; k < parents.size(); ++k) {
      require(parents[k] >= 0 && parents[k] < n && parents[k] != child,
              "parents must be other columns");
      require(k == 0 || parents[k - 1] < parents[k], "parents must ascend");
    }
  }

  std::optional<In<double>> weights_;
  std::unique_ptr<NetFamilies> families_;
};

}  // namespace

void register_net(nb::module_& m) {
  nb::class_<PyNetFamilies>(m, "NetFamilies",
                            "Scores of families of a Bayes net, each worked out once.")
      .def(nb::init<std::int64_t, Ints, Ints, Ints, Indices, std::optional<In<double>>, Ints,
                    const std::string&, double>(),
           nb::arg("n_records"), nb::arg("offsets"), nb::arg("defaults"), nb::arg("start"),
           nb::arg("rows"), nb::arg("weights").none(), nb::arg("missing"), nb::arg("score"),
           nb::arg("prior_weight"),
           nb::sig("def __init__(self, n_records: int, offsets: Ints, defaults: Ints, "
                   "start: Ints, rows: Indices, weights: Floats | None, missing: Ints, "
                   "score: str, prior_weight: float) -> None"))
      .def("score", &PyNetFamilies::score, nb::arg("child"), nb::arg("parents"),
           "Score of a column and its parents, which ascend.")
      .def("gains", &PyNetFamilies::gains, nb::arg("n_jobs"),
           nb::sig("def gains(self, n_jobs: int) -> Floats"),
           "What each arc gains over no parents at all: from × to.")
      .def("search", &PyNetFamilies::search, nb::arg("start"), nb::arg("max_parents"),
           nb::arg("required"), nb::arg("forbidden"), nb::arg("restarts"), nb::arg("tabu"),
           nb::arg("walks"), nb::arg("swaps"), nb::arg("seed"), nb::arg("max_seconds"),
           nb::arg("n_jobs"), nb::arg("tell").none(),
           nb::sig("def search(self, start: Sequence[Sequence[int]], max_parents: int, "
                   "required: Flags, forbidden: Flags, restarts: int, tabu: int, walks: int, "
                   "swaps: bool, seed: int, max_seconds: float, n_jobs: int, tell: Any) "
                   "-> tuple[list[list[int]], float, int, int, bool, bool, "
                   "list[tuple[int, int, float, float]]]"),
           "The best net found: parents, score, families scored, moves, interrupted, out of time, "
           "and when each better one was found.");
}

}  // namespace tacit::bindings
