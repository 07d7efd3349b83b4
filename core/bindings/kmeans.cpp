#include "bindings/common.hpp"
#include "kmeans/assign.hpp"

namespace tacit::bindings {
namespace {

using Labels = In<std::int32_t>;
using Square = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using SquareOut = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Points as Python hands them over: value ids, numbers (1 where there are none) and squared norms.
class PointArrays {
 public:
  PointArrays(In<std::int64_t> indptr, AnyIn values, std::optional<AnyIn> x,
              std::optional<In<double>> norms)
      : indptr_(std::move(indptr)),
        values_(std::move(values)),
        x_(std::move(x)),
        norms_(std::move(norms)) {
    if (norms_) check_length(norms_->size(), "norms must be as many as records");
    if (x_ && (!norms_ || x_->size() != values_.size()))
      throw std::invalid_argument("x must be as many as values, and needs norms");
  }

  void check_length(std::size_t length, const char* what) const {
    if (length + 1 != indptr_.size()) throw std::invalid_argument(what);
  }

  // Runs kernel(Points) for the types of the value ids and of the numbers.
  template <class Kernel>
  void run_with(std::size_t n_values, const Kernel& kernel) const {
    with_values(values_.dtype(), [&](auto v) {
      using V = decltype(v);
      const auto call = [&](auto number) {
        using X = decltype(number);
        const Points<V, X> points{indptr_.data(),
                                  static_cast<const V*>(values_.data()),
                                  x_ ? static_cast<const X*>(x_->data()) : nullptr,
                                  norms_ ? norms_->data() : nullptr,
                                  static_cast<std::int64_t>(indptr_.size()) - 1,
                                  static_cast<std::int64_t>(n_values)};
        run([&] { kernel(points); });
      };
      if (!x_) return call(AllOnes{});
      return with_floats(x_->dtype(), "x", call);
    });
  }

 private:
  In<std::int64_t> indptr_;
  AnyIn values_;
  std::optional<AnyIn> x_;
  std::optional<In<double>> norms_;
};

Centres as_centres(const In<double>& base, const Square& corrections) {
  if (base.size() == 0 || corrections.shape(0) != base.size())
    throw std::invalid_argument("base and corrections must be of the same centres");
  return {static_cast<std::int64_t>(base.size()), base.data(), corrections.data()};
}

nb::tuple bind_assign(const PointArrays& given, const In<double>& base, const Square& corrections,
                      const std::optional<Labels>& previous, const Out<std::int32_t>& labels,
                      const std::optional<Out<float>>& upper,
                      const std::optional<Out<float>>& lower, const std::optional<Square>& moves,
                      bool prune, int n_jobs) {
  const Centres centres = as_centres(base, corrections);
  given.check_length(labels.size(), "labels must be as many as records");
  if (previous) given.check_length(previous->size(), "previous must be as many as records");
  CentreBounds bounds{};
  if (upper) {
    if (!lower || !moves || moves->shape(0) != 3 || moves->shape(1) != base.size())
      throw std::invalid_argument("upper goes with lower and with three moves for each centre");
    given.check_length(upper->size(), "upper must be as many as records");
    given.check_length(lower->size(), "lower must be as many as records");
    const double* first = moves->data();
    bounds = {upper->data(), lower->data(), first, first + base.size(), first + 2 * base.size()};
  }
  if (prune && !(upper && previous)) throw std::invalid_argument("prune needs previous and upper");
  AssignTally tally{};
  given.run_with(corrections.shape(1), [&](const auto& points) {
    tally = kmeans_assign(points, centres, previous ? previous->data() : nullptr, prune, bounds,
                          labels.data(), n_jobs, signal_pending);
  });
  return nb::make_tuple(tally.changed, tally.scanned, tally.rechecked);
}

nb::object bind_distances(const PointArrays& given, const In<double>& base,
                          const Square& corrections, const std::optional<In<double>>& closest,
                          const std::optional<In<double>>& weights, const SquareOut& out,
                          int n_jobs) {
  const Centres centres = as_centres(base, corrections);
  const std::size_t k = base.size();
  given.check_length(out.shape(0), "out must have a row for each record");
  if (out.shape(1) != k) throw std::invalid_argument("out must have a column for each centre");
  if (closest) given.check_length(closest->size(), "closest must be as many as records");
  if (weights) given.check_length(weights->size(), "weights must be as many as records");
  Buffer<double> potentials(k);
  given.run_with(corrections.shape(1), [&](const auto& points) {
    kmeans_distances(points, centres, out.data(), closest ? closest->data() : nullptr,
                     weights ? weights->data() : nullptr, potentials.data(), n_jobs,
                     signal_pending);
  });
  return nb::cast(to_numpy(std::move(potentials), {k}));
}

nb::object bind_own_distances(const PointArrays& given, const In<double>& base,
                              const Square& corrections, const Labels& labels, int n_jobs) {
  const Centres centres = as_centres(base, corrections);
  given.check_length(labels.size(), "labels must be as many as records");
  const std::size_t m = labels.size();
  Buffer<double> distances(m);
  given.run_with(corrections.shape(1), [&](const auto& points) {
    kmeans_own_distances(points, centres, labels.data(), distances.data(), n_jobs, signal_pending);
  });
  return nb::cast(to_numpy(std::move(distances), {m}));
}

void bind_sums(const PointArrays& given, const std::optional<In<double>>& weights,
               const Labels& labels, const std::optional<Labels>& previous, const SquareOut& sums,
               const Out<double>& totals, int n_jobs) {
  given.check_length(labels.size(), "labels must be as many as records");
  if (previous) given.check_length(previous->size(), "previous must be as many as records");
  if (weights) given.check_length(weights->size(), "weights must be as many as records");
  if (sums.shape(0) != totals.size())
    throw std::invalid_argument("sums and totals must be of the same clusters");
  given.run_with(sums.shape(1), [&](const auto& points) {
    kmeans_sums(points, static_cast<std::int64_t>(totals.size()),
                weights ? weights->data() : nullptr, labels.data(),
                previous ? previous->data() : nullptr, sums.data(), totals.data(), n_jobs,
                signal_pending);
  });
}

}  // namespace

void register_kmeans(nb::module_& m) {
  nb::class_<PointArrays>(m, "Points", "Sparse points: value ids, and numbers unless all are 1.")
      .def(nb::init<In<std::int64_t>, AnyIn, std::optional<AnyIn>, std::optional<In<double>>>(),
           nb::arg("indptr"), nb::arg("values"), nb::arg("x").none(), nb::arg("norms").none(),
           nb::sig("def __init__(self, indptr: Ints, values: Values, x: Numbers | None, "
                   "norms: Floats | None) -> None"));
  m.def("kmeans_assign", bind_assign, nb::arg("points"), nb::arg("base"), nb::arg("corrections"),
        nb::arg("previous").none(), nb::arg("labels"), nb::arg("upper").none(),
        nb::arg("lower").none(), nb::arg("moves").none(), nb::arg("prune"), nb::arg("n_jobs"),
        nb::sig("def kmeans_assign(points: Points, "
                "base: Floats, corrections: Floats, "
                "previous: Indices | None, labels: Indices, upper: Singles | None, "
                "lower: Singles | None, moves: Floats | None, prune: bool, n_jobs: int) "
                "-> tuple[int, int, int]"),
        "Write the nearest centre of each record; how many changed, were scanned, were rechecked.");
  m.def("kmeans_distances", bind_distances, nb::arg("points"), nb::arg("base"),
        nb::arg("corrections"), nb::arg("closest").none(), nb::arg("weights").none(),
        nb::arg("out"), nb::arg("n_jobs"),
        nb::sig("def kmeans_distances(points: Points, "
                "base: Floats, corrections: Floats, "
                "closest: Floats | None, weights: Floats | None, out: Floats, n_jobs: int) "
                "-> Floats"),
        "Write the squared distances of all records to all centres; what each centre would leave "
        "of the sum of `closest`.");
  m.def("kmeans_own_distances", bind_own_distances, nb::arg("points"), nb::arg("base"),
        nb::arg("corrections"), nb::arg("labels"), nb::arg("n_jobs"),
        nb::sig("def kmeans_own_distances(points: Points, "
                "base: Floats, corrections: Floats, labels: Indices, "
                "n_jobs: int) -> Floats"),
        "Squared distance of each record to its own centre.");
  m.def("kmeans_sums", bind_sums, nb::arg("points"), nb::arg("weights").none(), nb::arg("labels"),
        nb::arg("previous").none(), nb::arg("sums"), nb::arg("totals"), nb::arg("n_jobs"),
        nb::sig("def kmeans_sums(points: Points, "
                "weights: Floats | None, labels: Indices, "
                "previous: Indices | None, sums: Floats, totals: Floats, n_jobs: int) -> None"),
        "Add up the members of each cluster, or bring sums up to date where labels changed.");
}

}  // namespace tacit::bindings
