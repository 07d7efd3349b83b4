#include "near/set_neighbours.hpp"

#include <nanobind/stl/string.h>

#include "bindings/common.hpp"
#include "near/cosine_neighbours.hpp"
#include "near/reach_tree.hpp"

namespace tacit::bindings {
namespace {

SparsePattern as_pattern(const Ints& indptr, const Indices& columns, std::int64_t n_columns) {
  require(indptr.size() > 0, "indptr must not be empty");
  const auto n = static_cast<std::int64_t>(indptr.size()) - 1;
  require(indptr.data()[n] == static_cast<std::int64_t>(columns.size()),
          "indptr and columns do not belong together");
  require(n < std::int64_t{1} << 31, "there are too many rows");
  return {indptr.data(), columns.data(), n, n_columns};
}

SetMeasure measure_of(const std::string& name) {
  return named<SetMeasure>({{"jaccard", SetMeasure::kJaccard},
                            {"cosine", SetMeasure::kCosine},
                            {"overlap", SetMeasure::kOverlap},
                            {"hamming", SetMeasure::kHamming}},
                           name, "measure");
}

void make(SetIndex* self, const Ints& indptr, const Indices& columns, std::int64_t n_columns) {
  const SparsePattern rows = as_pattern(indptr, columns, n_columns);
  std::optional<SetIndex> index;
  run([&] { index.emplace(rows, signal_pending); });
  new (self) SetIndex(std::move(*index));
}

// An index of vectors, and the arrays that it reads.
struct Vectors {
  CosineIndex index;
  Ints indptr;
  Indices columns;
  In<double> numbers, lengths;
};

SparseVectors as_vectors(const Ints& indptr, const Indices& columns, const In<double>& numbers,
                         const In<double>& lengths, std::int64_t n_columns) {
  const SparsePattern pattern = as_pattern(indptr, columns, n_columns);
  require(numbers.size() == columns.size() && lengths.size() + 1 == indptr.size(),
          "numbers and lengths must fit the rows");
  return {pattern, numbers.data(), lengths.data()};
}

void make_vectors(Vectors* self, const Ints& indptr, const Indices& columns,
                  const In<double>& numbers, const In<double>& lengths, std::int64_t n_columns) {
  const SparseVectors rows = as_vectors(indptr, columns, numbers, lengths, n_columns);
  std::optional<CosineIndex> index;
  run([&] { index.emplace(rows, signal_pending); });
  new (self) Vectors{std::move(*index), indptr, columns, numbers, lengths};
}

void require_itself(bool itself, std::int64_t n_queries, std::int64_t n_rows) {
  require(!itself || n_queries == n_rows, "queries must be the rows themselves");
}

// Returns distances and rows of search(distances, rows).
template <class Search>
nb::tuple nearest(std::int64_t n_queries, std::int64_t n_rows, bool itself, std::int64_t k,
                  const Search& search) {
  require_itself(itself, n_queries, n_rows);
  require(k >= 1 && k <= n_rows - (itself ? 1 : 0), "k must be at most the number of rows");
  const auto n = static_cast<std::size_t>(n_queries), width = static_cast<std::size_t>(k);
  Buffer<double> distances(n * width);
  Buffer<std::int32_t> rows(n * width);
  run([&] { search(distances.data(), rows.data()); });
  return nb::make_tuple(to_numpy(std::move(distances), {n, width}),
                        to_numpy(std::move(rows), {n, width}));
}

// Returns offsets, rows and distances of search(found).
template <class Search, class Distance>
nb::tuple within(std::int64_t n_queries, std::int64_t n_rows, bool itself, const Search& search,
                 const Distance& distance) {
  require_itself(itself, n_queries, n_rows);
  std::vector<std::vector<Match>> found;
  Buffer<std::int64_t> offsets(static_cast<std::size_t>(n_queries) + 1);
  Buffer<std::int32_t> rows;
  Buffer<double> distances;
  run([&] {
    search(found);
    offsets[0] = 0;
    for (std::size_t q = 0; q < found.size(); ++q)
      offsets[q + 1] = offsets[q] + static_cast<std::int64_t>(found[q].size());
    const auto n = static_cast<std::size_t>(offsets[found.size()]);
    rows = Buffer<std::int32_t>(n), distances = Buffer<double>(n);
    std::size_t at = 0;
    for (std::vector<Match>& matches : found) {
      for (const Match& match : matches) {
        rows[at] = match.row;
        distances[at++] = distance(match.nearness);
      }
      std::vector<Match>().swap(matches);
    }
  });
  const std::size_t m = offsets.size(), n = rows.size();
  return nb::make_tuple(to_numpy(std::move(offsets), {m}), to_numpy(std::move(rows), {n}),
                        to_numpy(std::move(distances), {n}));
}

nb::tuple nearest_sets(const SetIndex& self, const Ints& indptr, const Indices& columns,
                       bool itself, const std::string& measure, std::int64_t k, int n_jobs) {
  const SparsePattern queries = as_pattern(indptr, columns, self.n_columns());
  const SetMeasure chosen = measure_of(measure);
  return nearest(
      queries.n_rows, self.n_rows(), itself, k, [&](double* distances, std::int32_t* rows) {
        self.nearest(queries, itself, chosen, k, distances, rows, n_jobs, signal_pending);
      });
}

nb::tuple sets_within(const SetIndex& self, const Ints& indptr, const Indices& columns, bool itself,
                      bool once, const std::string& measure, double least, int n_jobs) {
  const SparsePattern queries = as_pattern(indptr, columns, self.n_columns());
  const SetMeasure chosen = measure_of(measure);
  return within(
      queries.n_rows, self.n_rows(), itself || once,
      [&](std::vector<std::vector<Match>>& found) {
        self.within(queries, itself, once, chosen, least, found, n_jobs, signal_pending);
      },
      [&](double nearness) { return set_distance(chosen, nearness, self.n_columns()); });
}

nb::tuple nearest_vectors(const Vectors& self, const Ints& indptr, const Indices& columns,
                          const In<double>& numbers, const In<double>& lengths, bool itself,
                          std::int64_t k, int n_jobs) {
  const SparseVectors queries =
      as_vectors(indptr, columns, numbers, lengths, self.index.n_columns());
  return nearest(queries.pattern.n_rows, self.index.n_rows(), itself, k,
                 [&](double* distances, std::int32_t* rows) {
                   self.index.nearest(queries, itself, k, distances, rows, n_jobs, signal_pending);
                 });
}

nb::tuple vectors_within(const Vectors& self, const Ints& indptr, const Indices& columns,
                         const In<double>& numbers, const In<double>& lengths, bool itself,
                         bool once, double least, int n_jobs) {
  const SparseVectors queries =
      as_vectors(indptr, columns, numbers, lengths, self.index.n_columns());
  return within(
      queries.pattern.n_rows, self.index.n_rows(), itself || once,
      [&](std::vector<std::vector<Match>>& found) {
        self.index.within(queries, itself, once, least, found, n_jobs, signal_pending);
      },
      [](double nearness) { return 1 - nearness > 0 ? 1 - nearness : 0.0; });
}

nb::tuple reach_tree_of_vectors(
    const Vectors& self,
    const nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& nearest,
    const Ints& counts, std::int64_t n_core, int n_jobs) {
  const std::int64_t n = self.index.n_rows();
  require(n >= 1 && static_cast<std::int64_t>(nearest.shape(0)) == n &&
              static_cast<std::int64_t>(counts.size()) == n,
          "nearest and counts must have a row for each vector, at least one");
  require(n_core >= 1 && nearest.shape(1) >= 1, "n_core must be at least 1");
  for (std::size_t e = 0; e < nearest.size(); ++e)
    require(nearest.data()[e] >= 0 && nearest.data()[e] < n,
            "nearest names a row that is not there");
  const ReachLists lists{nearest.data(), static_cast<std::int64_t>(nearest.shape(1)), n_core,
                         counts.data()};
  ReachTree tree;
  run([&] { tree = cosine_reach_tree(self.index, lists, n_jobs, signal_pending); });
  return nb::make_tuple(copied<std::int32_t>(tree.edges, [](const ReachEdge& e) { return e.a; }),
                        copied<std::int32_t>(tree.edges, [](const ReachEdge& e) { return e.b; }),
                        copied<double>(tree.edges, [](const ReachEdge& e) { return e.reach; }),
                        copied(tree.cores));
}

}  // namespace

void register_set_neighbours(nb::module_& m) {
  nb::class_<SetIndex>(m, "SetNeighbours", "Sets among which the nearest are found.")
      .def("__init__", make, nb::arg("indptr"), nb::arg("columns"), nb::arg("n_columns"),
           nb::sig("def __init__(self, indptr: Ints, columns: Indices, n_columns: int) -> None"))
      .def("nearest", nearest_sets, nb::arg("indptr"), nb::arg("columns"), nb::arg("itself"),
           nb::arg("measure"), nb::arg("k"), nb::arg("n_jobs"),
           nb::sig("def nearest(self, indptr: Ints, columns: Indices, itself: bool, measure: str, "
                   "k: int, n_jobs: int) -> tuple[Floats, Indices]"),
           "Distances and numbers of the k nearest rows of each query, equal ones by number.")
      .def("within", sets_within, nb::arg("indptr"), nb::arg("columns"), nb::arg("itself"),
           nb::arg("once"), nb::arg("measure"), nb::arg("least"), nb::arg("n_jobs"),
           nb::sig("def within(self, indptr: Ints, columns: Indices, itself: bool, once: bool, "
                   "measure: str, least: float, n_jobs: int) -> tuple[Ints, Indices, Floats]"),
           "All rows that are at least so near: offsets by query, rows, distances.");
  nb::class_<Vectors>(m, "CosineNeighbours", "Sparse vectors among which the nearest are found.")
      .def("__init__", make_vectors, nb::arg("indptr"), nb::arg("columns"), nb::arg("numbers"),
           nb::arg("lengths"), nb::arg("n_columns"),
           nb::sig("def __init__(self, indptr: Ints, columns: Indices, numbers: Floats, "
                   "lengths: Floats, n_columns: int) -> None"))
      .def("nearest", nearest_vectors, nb::arg("indptr"), nb::arg("columns"), nb::arg("numbers"),
           nb::arg("lengths"), nb::arg("itself"), nb::arg("k"), nb::arg("n_jobs"),
           nb::sig("def nearest(self, indptr: Ints, columns: Indices, numbers: Floats, "
                   "lengths: Floats, itself: bool, k: int, n_jobs: int) "
                   "-> tuple[Floats, Indices]"),
           "Distances and numbers of the k nearest rows of each query, equal ones by number.")
      .def("within", vectors_within, nb::arg("indptr"), nb::arg("columns"), nb::arg("numbers"),
           nb::arg("lengths"), nb::arg("itself"), nb::arg("once"), nb::arg("least"),
           nb::arg("n_jobs"),
           nb::sig("def within(self, indptr: Ints, columns: Indices, numbers: Floats, "
                   "lengths: Floats, itself: bool, once: bool, least: float, n_jobs: int) "
                   "-> tuple[Ints, Indices, Floats]"),
           "All rows with a cosine of at least that: offsets by query, rows, distances.")
      .def("reach_tree", reach_tree_of_vectors, nb::arg("nearest").noconvert(), nb::arg("counts"),
           nb::arg("n_core"), nb::arg("n_jobs"),
           nb::sig("def reach_tree(self, nearest: Indices, counts: Ints, n_core: int, n_jobs: int) "
                   "-> tuple[Indices, Indices, Floats, Floats]"),
           "The minimum spanning tree of mutual reachability by 1 less the cosine: as reach_tree.");
}

}  // namespace tacit::bindings
