#include <memory>

#include "bindings/common.hpp"
#include "near/neighbours.hpp"

namespace tacit::bindings {
namespace {

template <class T>
using Square = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using AnySquare = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Rows of numbers: dense, or the parts of a CSR array.
struct Rows {
  std::optional<AnySquare> dense;
  std::optional<In<std::int64_t>> indptr;
  std::optional<In<std::int32_t>> indices;
  std::optional<AnyIn> numbers;
  std::int64_t width;

  bool is_float() const {
    return with_floats(dense ? dense->dtype() : numbers->dtype(), "numbers",
                       [](auto x) { return std::is_same_v<decltype(x), float>; });
  }
  std::int64_t n_rows() const {
    return static_cast<std::int64_t>(dense ? dense->shape(0) : indptr->size() - 1);
  }
};

template <class X>
auto view(const Rows& rows, const DenseNumbers<X>*) {
  return DenseNumbers<X>{static_cast<const X*>(rows.dense->data()), rows.n_rows(), rows.width};
}
template <class X>
auto view(const Rows& rows, const SparseNumbers<X>*) {
  return SparseNumbers<X>{rows.indptr->data(), rows.indices->data(),
                          static_cast<const X*>(rows.numbers->data()), rows.n_rows(), rows.width};
}

Rows as_rows(const nb::object& numbers, std::int64_t width) {
  Rows rows{};
  rows.width = width;
  if (nb::isinstance<nb::tuple>(numbers)) {
    const nb::tuple parts = nb::cast<nb::tuple>(numbers);
    rows.indptr = nb::cast<In<std::int64_t>>(parts[0], false);
    rows.indices = nb::cast<In<std::int32_t>>(parts[1], false);
    rows.numbers = nb::cast<AnyIn>(parts[2], false);
    if (rows.indptr->size() < 1 || rows.numbers->size() != rows.indices->size() ||
        rows.indptr->data()[rows.n_rows()] != static_cast<std::int64_t>(rows.indices->size()))
      throw std::invalid_argument("indptr, indices and numbers do not belong together");
  } else {
    rows.dense = nb::cast<AnySquare>(numbers, false);
    if (static_cast<std::int64_t>(rows.dense->shape(1)) != width)
      throw std::invalid_argument("numbers must have as many columns as width says");
  }
  return rows;
}

// An index of one of the four kinds of numbers.
class Neighbours {
 public:
  virtual ~Neighbours() = default;
  virtual std::int64_t search(const Rows& queries, const double* coords, const NearGrid& grid,
                              const NearNarrow& narrow, std::int64_t k, const NearAnswer& answer,
                              int n_jobs) const = 0;
  virtual DenseStore<double> narrow(const DenseNumbers<double>& rows, int n_jobs) const = 0;
  bool is_float = false, is_dense = false;
  std::int64_t n_objects = 0, width = 0, n_coords = 0, n_dimensions = 0;
};

template <class Store>
class NeighboursOf : public Neighbours {
 public:
  using Own = typename Store::Rows;
  NeighboursOf(const Rows& rows, const double* coords, std::int64_t n_coords_, std::int64_t n_split,
               const NearCells& cells, int n_jobs)
      : index_(view(rows, static_cast<const Own*>(nullptr)), coords, n_coords_, n_split, cells,
               n_jobs, signal_pending) {}
  std::int64_t search(const Rows& queries, const double* coords, const NearGrid& grid,
                      const NearNarrow& narrow, std::int64_t k, const NearAnswer& answer,
                      int n_jobs) const override {
    return index_.search(view(queries, static_cast<const Own*>(nullptr)), coords, grid, narrow, k,
                         answer, n_jobs, signal_pending);
  }
  DenseStore<double> narrow(const DenseNumbers<double>& rows, int n_jobs) const override {
    return {rows, index_.order(), index_.scale(), n_jobs, signal_pending};
  }

 private:
  NearIndex<Store> index_;
};

// What Python holds: the index, and the numbers that it reads.
struct Index {
  std::unique_ptr<Neighbours> neighbours;
  Rows rows;
};

// Fewer numbers of the objects of an index.
struct Narrow {
  DenseStore<double> objects;
  const Index* index;
  double farthest;
};

DenseNumbers<double> dense_view(const Square<double>& rows) {
  return {rows.data(), static_cast<std::int64_t>(rows.shape(0)),
          static_cast<std::int64_t>(rows.shape(1))};
}

Narrow make_narrow(const Index& index, const Square<double>& numbers, double farthest, int n_jobs) {
  const DenseNumbers<double> rows = dense_view(numbers);
  if (rows.n_rows != index.neighbours->n_objects || rows.width < 1)
    throw std::invalid_argument("narrow numbers must have a row for each object");
  std::optional<DenseStore<double>> objects;
  run([&] { objects = index.neighbours->narrow(rows, n_jobs); });
  return {std::move(*objects), &index, farthest};
}

template <class Store>
std::unique_ptr<Neighbours> make_one(const Rows& rows, const double* coords, std::int64_t n_coords,
                                     std::int64_t n_split, const NearCells& cells, int n_jobs) {
  return std::make_unique<NeighboursOf<Store>>(rows, coords, n_coords, n_split, cells, n_jobs);
}

void make(Index* self, const nb::object& numbers, std::int64_t width, const Square<double>& coords,
          std::int64_t n_split, const std::optional<Square<std::int32_t>>& cells, int n_jobs) {
  Rows rows = as_rows(numbers, width);
  const std::int64_t n = rows.n_rows();
  if (n < 1 || static_cast<std::int64_t>(coords.shape(0)) != n)
    throw std::invalid_argument("coords must have a row for each object, at least one");
  if (n_split < 1 || n_split > static_cast<std::int64_t>(coords.shape(1)))
    throw std::invalid_argument("n_split must be from 1 to the number of coordinates");
  if (cells && static_cast<std::int64_t>(cells->shape(0)) != n)
    throw std::invalid_argument("cells must have a row for each object");
  if (n >= std::int64_t{1} << 31) throw std::invalid_argument("there are too many objects");
  const NearCells near_cells{cells ? cells->data() : nullptr,
                             cells ? static_cast<std::int64_t>(cells->shape(1)) : 0};
  const auto q = static_cast<std::int64_t>(coords.shape(1));
  const bool single = rows.is_float(), dense = rows.dense.has_value();
  std::unique_ptr<Neighbours> neighbours;
  run([&] {
    if (dense && single)
      neighbours = make_one<DenseStore<float>>(rows, coords.data(), q, n_split, near_cells, n_jobs);
    else if (dense)
      neighbours =
          make_one<DenseStore<double>>(rows, coords.data(), q, n_split, near_cells, n_jobs);
    else if (single)
      neighbours =
          make_one<SparseStore<float>>(rows, coords.data(), q, n_split, near_cells, n_jobs);
    else
      neighbours =
          make_one<SparseStore<double>>(rows, coords.data(), q, n_split, near_cells, n_jobs);
  });
  neighbours->is_float = single, neighbours->is_dense = dense;
  neighbours->n_objects = n, neighbours->width = width, neighbours->n_coords = q;
  neighbours->n_dimensions = near_cells.n_dimensions;
  new (self) Index{std::move(neighbours), std::move(rows)};
}

nb::tuple search(const Index& self, const nb::object& numbers, const Square<double>& coords,
                 std::int64_t k, const std::optional<Square<std::int32_t>>& cells,
                 const std::optional<Square<double>>& positions,
                 const std::optional<In<std::int32_t>>& resolution,
                 const std::optional<In<double>>& widths, double reach, const Narrow* narrow,
                 const std::optional<Square<double>>& narrow_numbers, double error, int n_jobs) {
  const Neighbours& index = *self.neighbours;
  const Rows rows = as_rows(numbers, index.width);
  const std::int64_t n = rows.n_rows();
  if (rows.dense.has_value() != index.is_dense || rows.is_float() != index.is_float)
    throw nb::type_error("queries must be of the kind of the objects");
  if (static_cast<std::int64_t>(coords.shape(0)) != n ||
      static_cast<std::int64_t>(coords.shape(1)) != index.n_coords)
    throw std::invalid_argument("coords must fit queries and objects");
  if (k < 1 || k > index.n_objects)
    throw std::invalid_argument("k must be from 1 to the number of objects");
  NearGrid grid{{nullptr, 0}, nullptr, nullptr, nullptr, 0};
  if (cells) {
    const auto p = static_cast<std::size_t>(index.n_dimensions);
    if (p == 0 || !positions || !resolution || !widths || cells->shape(1) != p ||
        positions->shape(1) != p || resolution->size() != p || widths->size() != p ||
        static_cast<std::int64_t>(cells->shape(0)) != n ||
        static_cast<std::int64_t>(positions->shape(0)) != n)
      throw std::invalid_argument("cells, positions, resolution and widths must fit the grid");
    grid = {{cells->data(), index.n_dimensions},
            positions->data(),
            resolution->data(),
            widths->data(),
            reach};
  }
  NearNarrow less{nullptr, {nullptr, 0, 0}, 0, 0};
  if (narrow) {
    if (narrow->index != &self || !narrow_numbers ||
        static_cast<std::int64_t>(narrow_numbers->shape(0)) != n ||
        static_cast<std::int64_t>(narrow_numbers->shape(1)) != narrow->objects.width())
      throw std::invalid_argument("narrow numbers must fit queries and objects");
    less = {&narrow->objects, dense_view(*narrow_numbers), narrow->farthest, error};
  }
  const auto m = static_cast<std::size_t>(n), columns = static_cast<std::size_t>(k);
  Buffer<double> distances(m * columns);
  Buffer<std::int32_t> objects(m * columns), turns(m);
  Buffer<std::uint8_t> lonely(m);
  std::int64_t n_compared = 0;
  run([&] {
    n_compared =
        index.search(rows, coords.data(), grid, less, k,
                     {distances.data(), objects.data(), turns.data(), lonely.data()}, n_jobs);
  });
  return nb::make_tuple(to_numpy(std::move(distances), {m, columns}),
                        to_numpy(std::move(objects), {m, columns}), to_numpy(std::move(turns), {m}),
                        to_numpy(std::move(lonely), {m}), n_compared);
}

}  // namespace

void register_near_neighbours(nb::module_& m) {
  nb::class_<Narrow>(m, "NarrowNumbers", "Fewer numbers of objects, which rule out most of them.");
  nb::class_<Index>(m, "NearNeighbours", "Objects in an order in which neighbours are found.")
      .def("__init__", make, nb::arg("numbers"), nb::arg("width"), nb::arg("coords").noconvert(),
           nb::arg("n_split"), nb::arg("cells").noconvert().none(), nb::arg("n_jobs"),
           nb::sig("def __init__(self, numbers: Numbers | tuple[Ints, Indices, Numbers], "
                   "width: int, coords: Floats, n_split: int, cells: Indices | None, n_jobs: int) "
                   "-> None"))
      .def("search", search, nb::arg("numbers"), nb::arg("coords").noconvert(), nb::arg("k"),
           nb::arg("cells").noconvert().none(), nb::arg("positions").noconvert().none(),
           nb::arg("resolution").noconvert().none(), nb::arg("widths").noconvert().none(),
           nb::arg("reach"), nb::arg("narrow").none(), nb::arg("narrow_numbers").noconvert().none(),
           nb::arg("error"), nb::arg("n_jobs"),
           nb::sig("def search(self, numbers: Numbers | tuple[Ints, Indices, Numbers], "
                   "coords: Floats, k: int, cells: Indices | None, "
                   "positions: Floats | None, resolution: Indices | None, widths: Floats | None, "
                   "reach: float, narrow: NarrowNumbers | None, narrow_numbers: Floats | None, "
                   "error: float, n_jobs: int) -> tuple[Floats, Indices, Indices, Flags, int]"),
           "The k nearest objects of each query: distances, objects, how often it looked "
           "farther, whether nothing was near at first; and how many pairs were compared.")
      .def("narrow", make_narrow, nb::arg("numbers").noconvert(), nb::arg("farthest"),
           nb::arg("n_jobs"), nb::keep_alive<0, 1>(),
           nb::sig("def narrow(self, numbers: Floats, farthest: float, n_jobs: int) "
                   "-> NarrowNumbers"),
           "Rows that are no farther apart than objects; the largest norm of one.");
}

}  // namespace tacit::bindings
