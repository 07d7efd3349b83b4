#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <string>

#include "bindings/common.hpp"
#include "net/exact.hpp"
#include "net/search.hpp"

namespace tacit::bindings {
namespace {

NetScoreKind as_kind(const std::string& name) {
  return named<NetScoreKind>({{"bic", NetScoreKind::kBic},
                              {"aic", NetScoreKind::kAic},
                              {"penalised", NetScoreKind::kPenalised},
                              {"bdeu", NetScoreKind::kBdeu},
                              {"bds", NetScoreKind::kBds},
                              {"k2", NetScoreKind::kK2}},
                             name, "score");
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
  return {n_records,
          static_cast<std::int64_t>(n),
          offsets.data(),
          defaults.data(),
          start.data(),
          rows.data(),
          weights ? weights->data() : nullptr,
          missing.data()};
}

void check_columns(const Ints& offsets, const Ints& missing) {
  require(offsets.size() > 0, "offsets must not be empty");
  require(missing.size() == offsets.size() - 1, "missing must be as many as columns");
  require(offsets.data()[0] == 0, "offsets must begin with 0");
  for (std::size_t c = 0; c < missing.size(); ++c) {
    const std::int64_t n_stored = offsets.data()[c + 1] - offsets.data()[c];
    require(n_stored >= 0 && n_stored < 65536, "columns must have at most 65,536 values");
    require(missing.data()[c] >= -1 && missing.data()[c] <= n_stored,
            "missing must be codes of their columns, or -1");
  }
}

void check_family(int child, const Parents& parents, int n) {
  require(child >= 0 && child < n, "child must be a column");
  for (std::size_t k = 0; k < parents.size(); ++k) {
    require(parents[k] >= 0 && parents[k] < n && parents[k] != child,
            "parents must be other columns");
    require(k == 0 || parents[k - 1] < parents[k], "parents must ascend");
  }
}

using Codes = In<std::uint16_t>;
// Of all requests, one after another: how many states (-1 for too many), their codes, and rows.
struct CountArrays {
  Ints n_states;
  Codes states;
  In<double> rows;
};

// What is to be counted, for records that come in parts.
class PyNetRequests {
 public:
  PyNetRequests(const Ints& offsets, const Ints& missing, const Ints& children, const Ints& starts,
                const Ints& parents, const Ints& begins, const Ints& ends)
      : columns_((check_columns(offsets, missing), static_cast<std::int64_t>(missing.size())),
                 offsets.data(), missing.data()) {
    const std::size_t m = children.size();
    require(starts.size() == m + 1 && begins.size() == m && ends.size() == m,
            "children, starts, begins and ends must be of the same requests");
    require(starts.data()[0] == 0 && static_cast<std::size_t>(starts.data()[m]) == parents.size(),
            "starts must go from 0 to the number of parents");
    const int n = columns_.n_columns();
    for (std::size_t k = 0; k < m; ++k) {
      require(starts.data()[k] <= starts.data()[k + 1], "starts must not descend");
      NetRequest request{
          narrow(children.data()[k]), {}, narrow(begins.data()[k]), narrow(ends.data()[k])};
      for (std::int64_t p = starts.data()[k]; p < starts.data()[k + 1]; ++p)
        request.parents.push_back(narrow(parents.data()[p]));
      check_family(request.child, request.parents, n);
      require(request.begin >= 0 && request.begin <= request.end && request.end <= n,
              "begins and ends must be columns, in order");
      requests_.push_back(std::move(request));
    }
  }

  nb::tuple count(std::int64_t n_records, const Ints& offsets, const Ints& defaults,
                  const Ints& start, const Indices& rows, const std::optional<In<double>>& weights,
                  const Ints& missing, int n_jobs) const {
    const NetTable table =
        as_net_table(n_records, offsets, defaults, start, rows, weights, missing);
    require(table.n_columns == columns_.n_columns(), "the table must have the requests' columns");
    for (int c = 0; c < columns_.n_columns(); ++c)
      require(table.offsets[c + 1] - table.offsets[c] + 1 == columns_.arity(c) &&
                  table.missing[c] == columns_.missing(c),
              "the table must have the requests' columns");
    std::vector<NetCounts> results(requests_.size());
    run([&] {
      const NetData data(table);
      for_blocks(static_cast<std::int64_t>(requests_.size()), n_jobs, signal_pending,
                 [&](std::int64_t b, StopToken&) {
                   const auto at = static_cast<std::size_t>(b);
                   results[at] = count_request(data, requests_[at]);
                 });
    });
    return as_arrays(results);
  }

  nb::tuple merge(const Ints& n_one, const Codes& states_one, const In<double>& rows_one,
                  const Ints& n_other, const Codes& states_other,
                  const In<double>& rows_other) const {
    const auto one = as_views({n_one, states_one, rows_one});
    const auto other = as_views({n_other, states_other, rows_other});
    std::vector<NetCounts> results(requests_.size());
    run([&] {
      for (std::size_t k = 0; k < requests_.size(); ++k)
        results[k] = merge_counts(one[k], other[k], requests_[k].parents.size(),
                                  width_of(columns_, requests_[k]));
    });
    return as_arrays(results);
  }

  std::vector<NetCountsView> as_views(const CountArrays& arrays) const {
    require(arrays.n_states.size() == requests_.size(), "counts must be of the requests");
    std::vector<NetCountsView> views;
    std::size_t state = 0, row = 0;
    for (std::size_t k = 0; k < requests_.size(); ++k) {
      const std::int64_t n = arrays.n_states.data()[k];
      require(n >= -1, "numbers of states must be at least -1");
      views.push_back({n, arrays.states.data() + state, arrays.rows.data() + row});
      if (n < 0) continue;
      const auto width = static_cast<std::size_t>(width_of(columns_, requests_[k]));
      require(static_cast<std::size_t>(n) <= arrays.rows.size() / width, "rows are too few");
      state += static_cast<std::size_t>(n) * requests_[k].parents.size();
      row += static_cast<std::size_t>(n) * width;
    }
    require(state == arrays.states.size() && row == arrays.rows.size(),
            "states and rows must be those of the requests");
    return views;
  }

 private:
  static int narrow(std::int64_t x) {
    require(x >= 0 && x < (std::int64_t{1} << 31), "columns must be numbers of columns");
    return static_cast<int>(x);
  }

  static nb::tuple as_arrays(const std::vector<NetCounts>& results) {
    std::size_t n_states = 0, n_rows = 0;
    for (const NetCounts& counts : results) {
      n_states += counts.states.size();
      n_rows += counts.rows.size();
    }
    Buffer<std::int64_t> sizes(results.size());
    Buffer<std::uint16_t> states(n_states);
    Buffer<double> rows(n_rows);
    n_states = n_rows = 0;
    for (std::size_t k = 0; k < results.size(); ++k) {
      const NetCounts& counts = results[k];
      sizes[k] = counts.too_large ? -1 : counts.n_states;
      std::copy(counts.states.begin(), counts.states.end(), states.data() + n_states);
      std::copy(counts.rows.begin(), counts.rows.end(), rows.data() + n_rows);
      n_states += counts.states.size();
      n_rows += counts.rows.size();
    }
    const std::size_t m = results.size();
    return nb::make_tuple(to_numpy(std::move(sizes), {m}), to_numpy(std::move(states), {n_states}),
                          to_numpy(std::move(rows), {n_rows}));
  }

  NetColumns columns_;
  std::vector<NetRequest> requests_;
};

Array<std::int64_t> as_array(const std::vector<std::int64_t>& numbers) {
  Buffer<std::int64_t> copy(numbers.size());
  std::copy(numbers.begin(), numbers.end(), copy.data());
  return to_numpy(std::move(copy), {numbers.size()});
}

// Asks Python for the counts of all records. Ctrl-C in there ends the search as it would here.
NetFetched fetch_counts(const nb::callable& fetch, const Ints& offsets, const Ints& missing,
                        const NetColumns& columns, const std::vector<NetRequest>& requests,
                        std::int64_t bytes) {
  const nb::gil_scoped_acquire acquire;
  std::vector<std::int64_t> children, starts{0}, parents, begins, ends;
  for (const NetRequest& request : requests) {
    children.push_back(request.child);
    parents.insert(parents.end(), request.parents.begin(), request.parents.end());
    starts.push_back(static_cast<std::int64_t>(parents.size()));
    begins.push_back(request.begin);
    ends.push_back(request.end);
  }
  const auto as_in = [](const Array<std::int64_t>& array) {
    return nb::cast<Ints>(nb::cast(array));
  };
  const auto a = as_array(children), b = as_array(starts), c = as_array(parents),
             d = as_array(begins), e = as_array(ends);
  try {
    const nb::tuple answer = nb::cast<nb::tuple>(fetch(a, b, c, d, e, bytes));
    require(answer.size() == 4, "fetch must return a total, states, codes and rows");
    const CountArrays arrays{nb::cast<Ints>(answer[1]), nb::cast<Codes>(answer[2]),
                             nb::cast<In<double>>(answer[3])};
    const PyNetRequests all(offsets, missing, as_in(a), as_in(b), as_in(c), as_in(d), as_in(e));
    NetFetched result{nb::cast<double>(answer[0]), {}};
    const auto views = all.as_views(arrays);
    for (std::size_t k = 0; k < requests.size(); ++k) {
      const NetCountsView& view = views[k];
      NetCounts counts;
      counts.too_large = view.n_states < 0;
      if (!counts.too_large) {
        const auto n = static_cast<std::size_t>(view.n_states);
        counts.n_states = view.n_states;
        counts.states.assign(view.states, view.states + n * requests[k].parents.size());
        counts.rows.assign(
            view.rows, view.rows + n * static_cast<std::size_t>(width_of(columns, requests[k])));
        for (std::size_t at = 0; at < counts.states.size(); ++at)
          require(counts.states[at] <
                      columns.arity(requests[k].parents[at % requests[k].parents.size()]),
                  "codes of states must be those of parents");
      }
      result.counts.push_back(std::move(counts));
    }
    return result;
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_KeyboardInterrupt)) throw;
    error.restore();
    throw Interrupted();
  }
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
    run([&] { families_ = std::make_unique<HeldFamilies>(table, kind, prior_weight); });
  }

  PyNetFamilies(nb::callable fetch, std::int64_t n_records, Ints offsets, Ints missing,
                const std::string& score, double prior_weight, std::int64_t most_bytes, int n_jobs)
      : fetch_(std::move(fetch)) {
    require(prior_weight > 0, "prior_weight must be positive");
    require(n_records >= 0, "n_records must not be negative");
    check_columns(offsets, missing);
    const NetColumns columns(static_cast<std::int64_t>(missing.size()), offsets.data(),
                             missing.data());
    const NetScoreKind kind = as_kind(score);
    const NetFetch ask = [this, offsets, missing, columns](const std::vector<NetRequest>& wanted,
                                                           std::int64_t bytes) {
      return fetch_counts(fetch_, offsets, missing, columns, wanted, bytes);
    };
    run([&] {
      families_ = std::make_unique<FetchedFamilies>(columns, kind, prior_weight, n_records,
                                                    most_bytes, n_jobs, signal_pending, ask);
    });
  }

  double score(int child, Parents parents) {
    check_family(child, parents, families_->columns().n_columns());
    double result = 0;
    run([&] { result = families_->score(child, parents); });
    return result;
  }

  Array<double> scores(const std::vector<Parents>& parents) {
    const auto n = static_cast<std::size_t>(families_->columns().n_columns());
    require(parents.size() == n, "parents must be as many as columns");
    std::vector<std::pair<int, Parents>> wanted;
    for (std::size_t x = 0; x < n; ++x) {
      check_family(static_cast<int>(x), parents[x], static_cast<int>(n));
      wanted.emplace_back(static_cast<int>(x), parents[x]);
    }
    Buffer<double> result(n);
    run([&] {
      const std::vector<double> scores = families_->scores(wanted);
      std::copy(scores.begin(), scores.end(), result.data());
    });
    return to_numpy(std::move(result), {n});
  }

  Array<double> gains(int n_jobs) {
    const auto n = static_cast<std::size_t>(families_->columns().n_columns());
    Buffer<double> result(n * n);
    run([&] {
      std::vector<std::pair<int, Parents>> wanted;
      for (std::size_t x = 0; x < n; ++x) wanted.emplace_back(static_cast<int>(x), Parents{});
      families_->prepare(wanted, n_jobs, signal_pending);
      for (std::size_t to = 0; to < n; ++to) {
        const NetFamily& family = families_->family(static_cast<int>(to), {});
        for (std::size_t from = 0; from < n; ++from)
          result[from * n + to] = from == to ? 0.0 : family.with[from] - family.score;
      }
    });
    return to_numpy(std::move(result), {n, n});
  }

  nb::tuple search(const std::vector<Parents>& start, int max_parents, const Flags& required,
                   const Flags& forbidden, std::int64_t restarts, std::int64_t patience,
                   std::int64_t tabu, std::int64_t walks, bool swaps, bool orders,
                   std::uint64_t seed, double max_seconds, int n_jobs,
                   const std::optional<nb::callable>& tell) {
    const auto n = static_cast<std::size_t>(families_->columns().n_columns());
    require(start.size() == n, "start must be as many as columns");
    for (std::size_t x = 0; x < n; ++x)
      check_family(static_cast<int>(x), start[x], static_cast<int>(n));
    require(required.size() == n * n && forbidden.size() == n * n,
            "required and forbidden must be squares of columns");
    const NetRules rules{
        max_parents, required.data(), forbidden.data(), restarts, patience,    tabu,
        walks,       swaps,           orders,           seed,     max_seconds, n_jobs};
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
    NetResult best;
    run([&] { best = find_net(*families_, start, rules, signal_pending, report); });
    if (best.interrupted) PyErr_Clear();  // the best net so far is the answer
    nb::list trace;
    for (const NetProgress& each : best.trace)
      trace.append(nb::make_tuple(each.restart, each.n_scored, each.score, each.seconds));
    return nb::make_tuple(best.parents, best.score, best.n_scored, best.n_moves, best.interrupted,
                          best.out_of_time, trace);
  }

  nb::tuple best_net(const std::vector<Parents>& known, int max_parents, const Flags& required,
                     const Flags& forbidden, std::int64_t most_sets, std::int64_t most_nodes,
                     double max_seconds, int n_jobs) {
    auto* const families = dynamic_cast<HeldFamilies*>(families_.get());
    require(families, "records must be in memory");
    const auto n = static_cast<std::size_t>(families_->columns().n_columns());
    require(n <= kMostExact, "columns must be at most 64");
    require(known.size() == n, "known must be as many as columns");
    require(required.size() == n * n && forbidden.size() == n * n,
            "required and forbidden must be squares of columns");
    std::vector<std::pair<int, Parents>> wanted;
    for (std::size_t x = 0; x < n; ++x) {
      check_family(static_cast<int>(x), known[x], static_cast<int>(n));
      wanted.emplace_back(static_cast<int>(x), known[x]);
    }
    using Clock = std::chrono::steady_clock;
    const auto begun = Clock::now();
    bool late = false, interrupted = false;
    const std::function<bool()> go_on = [&] {
      late = max_seconds > 0 &&
             std::chrono::duration<double>(Clock::now() - begun).count() > max_seconds;
      return !late;
    };
    ParentSets sets;
    ExactNet best{known, std::numeric_limits<double>::infinity(), false, 0};
    run([&] {
      try {
        const ParentSetRules rules{max_parents, required.data(), forbidden.data(), n_jobs,
                                   most_sets};
        sets = find_parent_sets(*families, rules, signal_pending, go_on);
        best = find_best_net(sets, known, families->scores(wanted), families->noise(),
                             {most_nodes, n_jobs}, signal_pending, go_on);
      } catch (const Interrupted&) {
        interrupted = true;
      }
    });
    if (interrupted) PyErr_Clear();  // the net that was known is the answer
    std::int64_t n_sets = 0;
    for (const auto& each : sets.of) n_sets += static_cast<std::int64_t>(each.size());
    return nb::make_tuple(best.parents, best.bound, best.proven, interrupted, late, sets.n_scored,
                          n_sets, best.n_nodes);
  }

 private:
  nb::callable fetch_;
  std::optional<In<double>> weights_;
  std::unique_ptr<NetFamilies> families_;
};

}  // namespace

void register_net(nb::module_& m) {
  nb::class_<PyNetRequests>(m, "NetRequests",
                            "Families of a Bayes net to be counted, for records in parts.")
      .def(nb::init<const Ints&, const Ints&, const Ints&, const Ints&, const Ints&, const Ints&,
                    const Ints&>(),
           nb::arg("offsets"), nb::arg("missing"), nb::arg("children"), nb::arg("starts"),
           nb::arg("parents"), nb::arg("begins"), nb::arg("ends"),
           nb::sig("def __init__(self, offsets: Ints, missing: Ints, children: Ints, "
                   "starts: Ints, parents: Ints, begins: Ints, ends: Ints) -> None"))
      .def("count", &PyNetRequests::count, nb::arg("n_records"), nb::arg("offsets"),
           nb::arg("defaults"), nb::arg("start"), nb::arg("rows"), nb::arg("weights").none(),
           nb::arg("missing"), nb::arg("n_jobs"),
           nb::sig("def count(self, n_records: int, offsets: Ints, defaults: Ints, start: Ints, "
                   "rows: Indices, weights: Floats | None, missing: Ints, n_jobs: int) "
                   "-> tuple[Ints, NDArray[np.uint16], Floats]"),
           "Counts of some records: numbers of parent states, their codes, and a row for each.")
      .def("merge", &PyNetRequests::merge, nb::arg("n_one"), nb::arg("states_one"),
           nb::arg("rows_one"), nb::arg("n_other"), nb::arg("states_other"), nb::arg("rows_other"),
           nb::sig("def merge(self, n_one: Ints, states_one: NDArray[np.uint16], "
                   "rows_one: Floats, n_other: Ints, states_other: NDArray[np.uint16], "
                   "rows_other: Floats) -> tuple[Ints, NDArray[np.uint16], Floats]"),
           "Counts of both.");
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
      .def_static(
          "fetched",
          [](nb::callable fetch, std::int64_t n_records, Ints offsets, Ints missing,
             const std::string& score, double prior_weight, std::int64_t most_bytes, int n_jobs) {
            return new PyNetFamilies(std::move(fetch), n_records, std::move(offsets),
                                     std::move(missing), score, prior_weight, most_bytes, n_jobs);
          },
          nb::arg("fetch"), nb::arg("n_records"), nb::arg("offsets"), nb::arg("missing"),
          nb::arg("score"), nb::arg("prior_weight"), nb::arg("most_bytes"), nb::arg("n_jobs"),
          nb::sig("def fetched(fetch: Any, n_records: int, offsets: Ints, missing: Ints, "
                  "score: str, prior_weight: float, most_bytes: int, n_jobs: int) "
                  "-> NetFamilies"),
          "Families whose counts fetch(children, starts, parents, begins, ends, n_bytes) returns, "
          "with the sum of all weights first.")
      .def("score", &PyNetFamilies::score, nb::arg("child"), nb::arg("parents"),
           "Score of a column and its parents, which ascend.")
      .def("scores", &PyNetFamilies::scores, nb::arg("parents"),
           nb::sig("def scores(self, parents: Sequence[Sequence[int]]) -> Floats"),
           "Scores of all columns, each with its parents, which ascend.")
      .def("gains", &PyNetFamilies::gains, nb::arg("n_jobs"),
           nb::sig("def gains(self, n_jobs: int) -> Floats"),
           "What each arc gains over no parents at all: from × to.")
      .def("search", &PyNetFamilies::search, nb::arg("start"), nb::arg("max_parents"),
           nb::arg("required"), nb::arg("forbidden"), nb::arg("restarts"), nb::arg("patience"),
           nb::arg("tabu"), nb::arg("walks"), nb::arg("swaps"), nb::arg("orders"), nb::arg("seed"),
           nb::arg("max_seconds"), nb::arg("n_jobs"), nb::arg("tell").none(),
           nb::sig("def search(self, start: Sequence[Sequence[int]], max_parents: int, "
                   "required: Flags, forbidden: Flags, restarts: int, patience: int, tabu: int, "
                   "walks: int, swaps: bool, orders: bool, seed: int, max_seconds: float, n_jobs: "
                   "int, tell: Any) "
                   "-> tuple[list[list[int]], float, int, int, bool, bool, "
                   "list[tuple[int, int, float, float]]]"),
           "The best net found: parents, score, families scored, moves, interrupted, out of time, "
           "and when each better one was found.")
      .def(
          "best_net", &PyNetFamilies::best_net, nb::arg("known"), nb::arg("max_parents"),
          nb::arg("required"), nb::arg("forbidden"), nb::arg("most_sets"), nb::arg("most_nodes"),
          nb::arg("max_seconds"), nb::arg("n_jobs"),
          nb::sig("def best_net(self, known: Sequence[Sequence[int]], max_parents: int, "
                  "required: Flags, forbidden: Flags, most_sets: int, most_nodes: int, "
                  "max_seconds: float, n_jobs: int) "
                  "-> tuple[list[list[int]], float, bool, bool, bool, int, int, int]"),
          "The best net of all, from one that is known: parents, an upper bound on the score of "
          "any net, whether the net reaches it, interrupted, out of time, families scored, sets of "
          "parents that were left, nodes.");
}

}  // namespace tacit::bindings
