#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include "bindings/common.hpp"
#include "engine/adtree.hpp"
#include "engine/bitmaps.hpp"
#include "engine/linked.hpp"
#include "engine/planner.hpp"
#include "engine/scan.hpp"

namespace tacit::bindings {
namespace {

using Positions = std::vector<std::int64_t>;
using Store = std::shared_ptr<ColumnStore>;

// Conditions as they come: ranges of codes, those of a column one after another and ascending.
struct Given {
  const Positions &columns, &first, &last;
};

Question as_question(Positions columns, const Given& given) {
  Question question{std::move(columns), {}};
  for (std::size_t k = 0; k < given.columns.size(); ++k) {
    if (k == 0 || given.columns[k] != given.columns[k - 1])
      question.given.push_back({given.columns[k], {}});
    question.given.back().codes.add(given.first[k], given.last[k]);
  }
  return question;
}

// An empty NumPy array and where its data are. For results of a few microseconds this is the
// quickest way, and the array is NumPy's own.
template <class T>
std::pair<nb::object, T*> empty_array(const nb::object& shape) {
  static PyObject* const empty =
      nb::object(nb::module_::import_("numpy").attr("empty")).release().ptr();
  static PyObject* const type = nb::module_::import_("numpy")
                                    .attr("dtype")(std::is_same_v<T, double> ? "f8" : "i8")
                                    .release()
                                    .ptr();
  nb::object array = nb::handle(empty)(shape, nb::handle(type));
  Py_buffer view;
  if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_WRITABLE)) throw nb::python_error();
  T* const data = static_cast<T*>(view.buf);
  PyBuffer_Release(&view);
  return {std::move(array), data};
}

nb::object shape_of(const ColumnStore& store, const Positions& columns) {
  nb::object shape = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(columns.size())));
  for (std::size_t k = 0; k < columns.size(); ++k)
    PyTuple_SET_ITEM(shape.ptr(), static_cast<Py_ssize_t>(k),
                     PyLong_FromLongLong(store.arity(columns[k])));
  return shape;
}

// Calls fill(Result) for a result of the kind the store's records ask for.
template <class Fill>
nb::object filled(const ColumnStore& store, const nb::object& shape, const Fill& fill) {
  if (!store.counts_whole()) {
    auto [array, sums] = empty_array<double>(shape);
    fill(Result{nullptr, sums});
    return array;
  }
  auto [array, counts] = empty_array<std::int64_t>(shape);
  fill(Result{counts, nullptr});
  return array;
}

nb::object cells_to_numpy(const ColumnStore& store, SparseCells&& result) {
  const std::size_t n = result.cells.size();
  nb::object counts = store.counts_whole() ? nb::cast(to_numpy(std::move(result.counts), {n}))
                                           : nb::cast(to_numpy(std::move(result.sums), {n}));
  return nb::make_tuple(to_numpy(std::move(result.cells), {n}), counts);
}

nb::object dense(Engine& engine, Positions columns, const Positions& given, const Positions& first,
                 const Positions& last) {
  const Question question = as_question(std::move(columns), {given, first, last});
  return filled(engine.store(), shape_of(engine.store(), question.columns),
                [&](Result out) { run([&] { engine.dense(question, out, signal_pending); }); });
}

nb::object sparse(Engine& engine, Positions columns, const Positions& given, const Positions& first,
                  const Positions& last) {
  const Question question = as_question(std::move(columns), {given, first, last});
  SparseCells result;
  run([&] { result = engine.sparse(question, signal_pending); });
  return cells_to_numpy(engine.store(), std::move(result));
}

// Tables of many sets of columns one after another: set k is columns[starts[k] … starts[k + 1]),
// its table counts[offsets[k] … offsets[k + 1]).
nb::object dense_many(Engine& engine, const In<std::int64_t>& columns,
                      const In<std::int64_t>& starts, const In<std::int64_t>& offsets,
                      const Positions& given, const Positions& first, const Positions& last) {
  const std::size_t n_sets = starts.size() - 1;
  const nb::int_ total(offsets.data()[n_sets]);
  return filled(engine.store(), total, [&](Result out) {
    run([&] {
      engine.dense_many(columns.data(), starts.data(), offsets.data(), n_sets,
                        as_question({}, {given, first, last}).given, out, signal_pending);
    });
  });
}

// The engine that would answer, and nanoseconds: scan, bitmaps, the tree's answer, its growth.
nb::object planned(const Planner& planner, Positions columns, const Positions& given,
                   const Positions& first, const Positions& last) {
  const Question question = as_question(std::move(columns), {given, first, last});
  Planner::Costs costs{};
  run([&] { costs = planner.plan(question); });
  static const char* const names[] = {"scan", "bitmaps", "tree"};
  return nb::make_tuple(names[costs.kind], costs.scan, costs.bitmaps, costs.answer, costs.growth);
}

nb::object scan_some(Scan& scan, const Positions& columns, const In<std::int32_t>& chosen,
                     bool as_cells) {
  const Some some{chosen.data(), static_cast<std::int64_t>(chosen.size())};
  if (!as_cells)
    return filled(scan.store(), shape_of(scan.store(), columns),
                  [&](Result out) { run([&] { scan.dense_some(columns, some, out); }); });
  SparseCells result;
  run([&] { result = scan.sparse_some(columns, some); });
  return cells_to_numpy(scan.store(), std::move(result));
}

nb::object tree_bounded(Tree& tree, Positions columns, const Positions& given,
                        const Positions& first, const Positions& last) {
  const Question question = as_question(std::move(columns), {given, first, last});
  const nb::object shape = shape_of(tree.store(), question.columns);
  auto estimate = empty_array<std::int64_t>(shape), lower = empty_array<std::int64_t>(shape),
       upper = empty_array<std::int64_t>(shape);
  run([&] {
    tree.bounded(question, {estimate.second, nullptr}, {lower.second, nullptr},
                 {upper.second, nullptr}, signal_pending);
  });
  return nb::make_tuple(estimate.first, lower.first, upper.first);
}

template <class T>
nb::object copied(const void* data, std::size_t rows, std::size_t columns) {
  Buffer<T> copy(rows * columns);
  if (rows) std::memcpy(copy.data(), data, rows * columns * sizeof(T));
  return nb::cast(to_numpy(std::move(copy), {rows, columns}));
}

nb::object tree_arrays(const Tree& tree) {
  // The lock is never waited for with the interpreter's lock held: who has it may ask for that one.
  nb::object nodes, varies, slots, lists, sums = nb::none();
  const nb::gil_scoped_release release;
  tree.read([&](const TreeArrays& t) {
    const nb::gil_scoped_acquire acquire;
    nodes = copied<std::uint32_t>(t.nodes, t.n_nodes, sizeof(Node) / 4);
    varies = copied<std::uint32_t>(t.varies, t.n_varies, sizeof(Vary) / 4);
    slots = copied<std::uint32_t>(t.slots, t.n_slots, 1);
    lists = copied<std::int32_t>(t.lists, t.n_lists, 1);
    if (t.sums) sums = copied<std::uint64_t>(t.sums, t.n_nodes, 2);
  });
  const nb::gil_scoped_acquire acquire;
  return nb::make_tuple(nodes, varies, slots, lists, sums);
}

using Words = nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Lists = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<const std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void tree_restore(Tree& tree, const Positions& order, const Words& nodes, const Words& varies,
                  const Words& slots, const Lists& lists, const std::optional<Sums>& sums,
                  const nb::object& fetch, std::size_t block,
                  const std::vector<std::size_t>& unread) {
  const bool weighted = tree.store().weighted();
  if (nodes.shape(1) != sizeof(Node) / 4 || varies.shape(1) != sizeof(Vary) / 4 ||
      slots.shape(1) != 1 || lists.shape(1) != 1 || sums.has_value() != weighted ||
      (sums && (sums->shape(0) != nodes.shape(0) || sums->shape(1) != 2)))
    throw std::invalid_argument("its arrays have the wrong shapes");
  const TreeArrays arrays{reinterpret_cast<const Node*>(nodes.data()),
                          nodes.shape(0),
                          reinterpret_cast<const Vary*>(varies.data()),
                          varies.shape(0),
                          slots.data(),
                          slots.shape(0),
                          lists.data(),
                          lists.shape(0),
                          sums ? sums->data() : nullptr};
  if (fetch.is_none()) {
    const char* problem = nullptr;
    run([&] { problem = check_tree(tree.store(), order, arrays); });
    if (problem) throw std::invalid_argument(problem);
    tree.restore(arrays);
    return;
  }
  // The tree keeps it alive, and may let go of it without the interpreter's lock.
  const nb::handle reader = fetch;
  const auto read = [reader](int part, std::size_t number) {
    const nb::gil_scoped_acquire acquire;
    reader(part, number);
  };
  std::array<std::size_t, 5> bytes{};
  std::copy_n(unread.begin(), std::min(unread.size(), bytes.size()), bytes.begin());
  run([&] {
    tree.restore(arrays, std::make_unique<Unread>(read, block, bytes, arrays));
    const char* problem = check_root(tree.store(), order, arrays);
    if (problem) throw std::invalid_argument(problem);
  });
}

nb::object tree_sizes(const Tree& tree) {
  Tree::Sizes sizes{};
  {
    const nb::gil_scoped_release release;
    sizes = tree.sizes();
  }
  return nb::make_tuple(sizes.nodes, sizes.varies, sizes.lists, sizes.bytes, sizes.evictions);
}

using Codes = std::vector<AnyIn>;

int code_width(const AnyIn& codes) {
  const nb::dlpack::dtype type = codes.dtype();
  require(type == nb::dtype<std::uint8_t>() || type == nb::dtype<std::uint16_t>() ||
              type == nb::dtype<std::uint32_t>(),
          "codes must be unsigned integers of up to 32 bits");
  return type.bits / 8;
}

nb::object linked(const Codes& codes, const In<std::int64_t>& arities,
                  const std::optional<In<std::uint32_t>>& times, std::int64_t n_records,
                  const std::vector<Positions>& conditions,
                  const std::vector<std::vector<std::size_t>>& selections,
                  const std::vector<std::size_t>& selection_of,
                  const std::vector<Positions>& column_sets, std::int64_t n_cells, int n_jobs) {
  CodedRecords records{n_records, {}, times ? times->data() : nullptr};
  for (std::size_t c = 0; c < codes.size(); ++c)
    records.columns.push_back({codes[c].data(), code_width(codes[c]), arities.data()[c]});
  LinkedTables asked{{}, selections, {}};
  for (const Positions& condition : conditions) {
    asked.conditions.push_back({condition[0], {}});
    for (std::size_t k = 1; k + 1 < condition.size(); k += 2)
      asked.conditions.back().codes.add(condition[k], condition[k + 1]);
  }
  for (std::size_t t = 0; t < column_sets.size(); ++t)
    asked.tables.push_back({selection_of[t], column_sets[t]});
  auto [array, counts] = empty_array<std::int64_t>(nb::int_(n_cells));
  run([&, out = counts] { linked_tables(records, asked, out, n_jobs, signal_pending); });
  return array;
}

std::int64_t engine_bytes(const Engine& engine) {
  const nb::gil_scoped_release release;
  return engine.bytes();
}

}  // namespace

void register_engines(nb::module_& m) {
  nb::exception<OverLimit>(m, "OverLimit", PyExc_MemoryError);
  nb::exception<Unsound>(m, "Unsound", PyExc_ValueError);
  // Arrays that are looked at as long as an object lives are never converted: the copy would not.
  nb::class_<ColumnStore>(m, "ColumnStore", "Columns as engines want them: codes or record lists.")
      .def(
          "__init__",
          [](ColumnStore* self, std::int64_t n_records, const In<std::int64_t>& offsets,
             const In<std::int64_t>& defaults, const In<std::int64_t>& start,
             const In<std::int32_t>& rows, const std::optional<In<double>>& weights, bool whole) {
            new (self) ColumnStore(n_records, static_cast<std::int64_t>(defaults.size()),
                                   offsets.data(), defaults.data(), start.data(), rows.data(),
                                   weights ? weights->data() : nullptr, whole);
          },
          nb::arg("n_records"), nb::arg("offsets").noconvert(), nb::arg("defaults").noconvert(),
          nb::arg("start").noconvert(), nb::arg("rows").noconvert(), nb::arg("weights").none(),
          nb::arg("whole") = false, nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
          nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>(),
          nb::sig("def __init__(self, n_records: int, offsets: Ints, defaults: Ints, start: Ints, "
                  "rows: Indices, weights: Floats | None, whole: bool = False) -> None"))
      .def_prop_ro("nbytes", &ColumnStore::bytes);
  nb::class_<Engine>(m, "Engine", "Anything that makes contingency tables.")
      .def("dense", dense, nb::arg("columns"), nb::arg("given"), nb::arg("first"), nb::arg("last"),
           nb::sig("def dense(self, columns: Sequence[int], given: Sequence[int], "
                   "first: Sequence[int], last: Sequence[int]) -> Counts"),
           "The table of some columns, with an axis for each.")
      .def("sparse", sparse, nb::arg("columns"), nb::arg("given"), nb::arg("first"),
           nb::arg("last"),
           nb::sig("def sparse(self, columns: Sequence[int], given: Sequence[int], "
                   "first: Sequence[int], last: Sequence[int]) -> tuple[Ints, Counts]"),
           "The cells that are not zero: their numbers, ascending, and their counts.")
      .def("dense_many", dense_many, nb::arg("columns"), nb::arg("starts"), nb::arg("offsets"),
           nb::arg("given"), nb::arg("first"), nb::arg("last"),
           nb::sig("def dense_many(self, columns: Ints, starts: Ints, offsets: Ints, "
                   "given: Sequence[int], first: Sequence[int], last: Sequence[int]) -> Counts"),
           "The tables of many sets of columns, one after another.")
      .def_prop_ro("nbytes", engine_bytes);
  nb::class_<Scan, Engine>(m, "Scan", "Counts records.")
      .def(nb::init<Store, int>(), nb::arg("store"), nb::arg("n_jobs"),
           nb::sig("def __init__(self, store: ColumnStore, n_jobs: int) -> None"))
      .def(
          "some", scan_some, nb::arg("columns"), nb::arg("chosen"), nb::arg("as_cells"),
          nb::sig("def some(self, columns: Sequence[int], chosen: Indices, as_cells: bool) -> Any"),
          "The table of some ascending records: every cell, or numbers and counts of non-zero "
          "ones.");
  nb::class_<Bitmaps, Engine>(m, "Bitmaps", "Counts bits.")
      .def(nb::init<Store>(), nb::arg("store"),
           nb::sig("def __init__(self, store: ColumnStore) -> None"));
  nb::class_<Tree, Engine>(m, "Tree", "Counts nothing twice.")
      .def(
          "__init__",
          [](Tree* self, const Store& store, Positions order, std::int64_t leaf_size,
             std::int64_t max_depth, std::int64_t limit, std::int64_t min_count) {
            new (self) Tree(store, std::move(order), {leaf_size, max_depth, limit, min_count});
          },
          nb::arg("store"), nb::arg("order"), nb::arg("leaf_size"), nb::arg("max_depth"),
          nb::arg("limit"), nb::arg("min_count"),
          nb::sig("def __init__(self, store: ColumnStore, order: Sequence[int], leaf_size: int, "
                  "max_depth: int, limit: int, min_count: int) -> None"))
      .def("bounded", tree_bounded, nb::arg("columns"), nb::arg("given"), nb::arg("first"),
           nb::arg("last"),
           nb::sig("def bounded(self, columns: Sequence[int], given: Sequence[int], "
                   "first: Sequence[int], last: Sequence[int]) -> tuple[Ints, Ints, Ints]"),
           "Estimates, lower and upper bounds of every cell.")
      .def(
          "build", [](Tree& tree) { run([&] { tree.build(signal_pending); }); },
          "Build everything.")
      .def(
          "clear", [](Tree& tree) { run([&] { tree.clear(); }); }, "Forget all but the root.")
      .def("sizes", tree_sizes, nb::sig("def sizes(self) -> tuple[int, int, int, int, int]"),
           "Nodes, Varies, listed records, bytes, evictions.")
      .def("arrays", tree_arrays,
           nb::sig("def arrays(self) -> tuple[Values, Values, Values, Values, Values | None]"),
           "Copies of nodes, Varies, slots, lists and sums.")
      .def(
          "restore", tree_restore, nb::arg("order"), nb::arg("nodes").noconvert(),
          nb::arg("varies").noconvert(), nb::arg("slots").noconvert(), nb::arg("lists").noconvert(),
          nb::arg("sums").none().noconvert(), nb::arg("fetch").none(), nb::arg("block"),
          nb::arg("unread"), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(),
          nb::keep_alive<1, 6>(), nb::keep_alive<1, 7>(), nb::keep_alive<1, 8>(),
          nb::sig("def restore(self, order: Sequence[int], nodes: Values, varies: Values, "
                  "slots: Values, lists: Values, sums: Values | None, "
                  "fetch: Any, block: int, "
                  "unread: Sequence[int]) -> None"),
          "Look at arrays that arrays() made; ValueError if they are not a tree. With fetch(array, "
          "block), blocks of the arrays with unread bytes are read, and checked, when they are "
          "used.");
  m.def("linked_tables", linked, nb::arg("codes"), nb::arg("arities"), nb::arg("times").none(),
        nb::arg("n_records"), nb::arg("conditions"), nb::arg("selections"), nb::arg("selection_of"),
        nb::arg("column_sets"), nb::arg("n_cells"), nb::arg("n_jobs"),
        nb::sig("def linked_tables(codes: Sequence[Values], arities: Ints, times: Values | None, "
                "n_records: int, conditions: Sequence[Sequence[int]], "
                "selections: Sequence[Sequence[int]], selection_of: Sequence[int], "
                "column_sets: Sequence[Sequence[int]], n_cells: int, n_jobs: int) -> Ints"),
        "Tables of several selections in one pass. A condition is a column, and the first and last "
        "code of each range; a selection, the numbers of its conditions.");
  nb::class_<Planner, Engine>(m, "Planner", "Chooses an engine for each question.")
      .def(nb::init<Store, std::shared_ptr<Scan>, std::shared_ptr<Bitmaps>, std::shared_ptr<Tree>,
                    std::int64_t>(),
           nb::arg("store"), nb::arg("scan"), nb::arg("bitmaps"), nb::arg("tree"),
           nb::arg("bitmap_limit"),
           nb::sig("def __init__(self, store: ColumnStore, scan: Scan, bitmaps: Bitmaps, "
                   "tree: Tree, bitmap_limit: int) -> None"))
      .def("plan", planned, nb::arg("columns"), nb::arg("given"), nb::arg("first"), nb::arg("last"),
           nb::sig("def plan(self, columns: Sequence[int], given: Sequence[int], "
                   "first: Sequence[int], last: Sequence[int]) -> "
                   "tuple[str, float, float, float, float]"),
           "The engine that would answer now, and expected costs in nanoseconds.");
}

}  // namespace tacit::bindings
