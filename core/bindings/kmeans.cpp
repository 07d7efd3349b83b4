#include "bindings/common.hpp"
#include "kmeans/assign.hpp"

namespace tacit::bindings {
namespace {

using Indptr = In<std::int64_t>;
using Labels = In<std::int32_t>;
using Square = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using SquareOut = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Calls body(points) for the types of the value ids and of the numbers.
template <class Body>
auto with_points(const Indptr& indptr, const AnyIn& values, const std::optional<AnyIn>& x,
                 const std::optional<In<double>>& norms, std::int64_t n_values, const Body& body) {
  const auto n_records = static_cast<std::int64_t>(indptr.size()) - 1;
  if (norms && static_cast<std::int64_t>(norms->size()) != n_records)
    throw std::invalid_argument("norms must be as many as records");
  if (x && (!norms || x->size() != values.size()))
    throw std::invalid_argument("x must be as many as values, and needs norms");
  const double* own_norms = norms ? norms->data() : nullptr;
  return with_values(values.dtype(), [&](auto v) {
    using V = decltype(v);
    const auto* ids = static_cast<const V*>(values.data());
    const auto make = [&](auto number) {
      using X = decltype(number);
      const auto* numbers = x ? static_cast<const X*>(x->data()) : nullptr;
      return body(Points<V, X>{indptr.data(), ids, numbers, own_norms, n_records, n_values});
    };
    if (!x) return make(AllOnes{});
    if (x->dtype() == nb::dtype<float>()) return make(float{});
    if (x->dtype() == nb::dtype<double>()) return make(double{});
    throw nb::type_error("x must be float32 or float64");
  });
}

Centres as_centres(const In<double>& base, const Square& corrections) {
  if (base.size() == 0 || corrections.shape(0) != base.size())
    throw std::invalid_argument("base and corrections must be of the same centres");
  return {static_cast<std::int64_t>(base.size()), base.data(), corrections.data()};
}

void check_length(std::size_t length, const Indptr& indptr, const char* what) {
  if (length + 1 != indptr.size()) throw std::invalid_argument(what);
}

nb::tuple bind_assign(const Indptr& indptr, const AnyIn& values, const std::optional<AnyIn>& x,
                      const std::optional<In<double>>& norms, const In<double>& base,
                      const Square& corrections, const std::optional<Labels>& previous,
                      const Out<std::int32_t>& labels, const std::optional<Out<float>>& upper,
                      const std::optional<Out<float>>& lower, const std::optional<Square>& moves,
                      bool prune, int n_jobs) {
  const Centres centres = as_centres(base, corrections);
  check_length(labels.size(), indptr, "labels must be as many as records");
  if (previous) check_length(previous->size(), indptr, "previous must be as many as records");
  CentreBounds bounds{};
  if (upper) {
    if (!lower || !moves || moves->shape(0) != 3 || moves->shape(1) != base.size())
      throw std::invalid_argument("upper goes with lower and with three moves for each centre");
    check_length(upper->size(), indptr, "upper must be as many as records");
    check_length(lower->size(), indptr, "lower must be as many as records");
    const double* first = moves->data();
    bounds = {upper->data(), lower->data(), first, first + base.size(), first + 2 * base.size()};
  }
  if (prune && !(upper && previous)) throw std::invalid_argument("prune needs previous and upper");
  AssignTally tally{};
  with_points(indptr, values, x, norms, static_cast<std::int64_t>(corrections.shape(1)),
              [&](const auto& points) {
                run([&] {
                  tally = kmeans_assign(points, centres, previous ? previous->data() : nullptr,
                                        prune, bounds, labels.data(), n_jobs, signal_pending);
                });
              });
  return nb::make_tuple(tally.changed, tally.scanned, tally.rechecked);
}

nb::object bind_distances(const Indptr& indptr, const AnyIn& values, const std::optional<AnyIn>& x,
                          const std::optional<In<double>>& norms, const In<double>& base,
                          const Square& corrections, const std::optional<In<double>>& closest,
                          const std::optional<In<double>>& weights, const SquareOut& out,
                          int n_jobs) {
  const Centres centres = as_centres(base, corrections);
  const std::size_t k = base.size();
  check_length(out.shape(0), indptr, "out must have a row for each record");
  if (out.shape(1) != k) throw std::invalid_argument("out must have a column for each centre");
  if (closest) check_length(closest->size(), indptr, "closest must be as many as records");
  if (weights) check_length(weights->size(), indptr, "weights must be as many as records");
  Buffer<double> potentials(k);
  with_points(indptr, values, x, norms, static_cast<std::int64_t>(corrections.shape(1)),
              [&](const auto& points) {
                run([&] {
                  kmeans_distances(points, centres, out.data(), closest ? closest->data() : nullptr,
                                   weights ? weights->data() : nullptr, potentials.data(), n_jobs,
                                   signal_pending);
                });
              });
  return nb::cast(to_numpy(std::move(potentials), {k}));
}

nb::object bind_own_distances(const Indptr& indptr, const AnyIn& values,
                              const std::optional<AnyIn>& x, const std::optional<In<double>>& norms,
                              const In<double>& base, const Square& corrections,
                              const Labels& labels, int n_jobs) {
  const Centres centres = as_centres(base, corrections);
  check_length(labels.size(), indptr, "labels must be as many as records");
  const std::size_t m = labels.size();
  Buffer<double> distances(m);
  with_points(indptr, values, x, norms, static_cast<std::int64_t>(corrections.shape(1)),
              [&](const auto& points) {
                run([&] {
                  kmeans_own_distances(points, centres, labels.data(), distances.data(), n_jobs,
                                       signal_pending);
                });
              });
  return nb::cast(to_numpy(std::move(distances), {m}));
}

void bind_sums(const Indptr& indptr, const AnyIn& values, const std::optional<AnyIn>& x,
               const std::optional<In<double>>& norms, const std::optional<In<double>>& weights,
               const Labels& labels, const std::optional<Labels>& previous, const SquareOut& sums,
               const Out<double>& totals, int n_jobs) {
  check_length(labels.size(), indptr, "labels must be as many as records");
  if (previous) check_length(previous->size(), indptr, "previous must be as many as records");
  if (weights) check_length(weights->size(), indptr, "weights must be as many as records");
  if (sums.shape(0) != totals.size())
    throw std::invalid_argument("sums and totals must be of the same clusters");
  with_points(indptr, values, x, norms, static_cast<std::int64_t>(sums.shape(1)),
              [&](const auto& points) {
                run([&] {
                  kmeans_sums(points, static_cast<std::int64_t>(totals.size()),
                              weights ? weights->data() : nullptr, labels.data(),
                              previous ? previous->data() : nullptr, sums.data(), totals.data(),
                              n_jobs, signal_pending);
                });
              });
}

}  // namespace

void register_kmeans(nb::module_& m) {
  m.def("kmeans_assign", bind_assign, nb::arg("indptr"), nb::arg("values"), nb::arg("x").none(),
        nb::arg("norms").none(), nb::arg("base"), nb::arg("corrections"),
        nb::arg("previous").none(), nb::arg("labels"), nb::arg("upper").none(),
        nb::arg("lower").none(), nb::arg("moves").none(), nb::arg("prune"), nb::arg("n_jobs"),
        nb::sig("def kmeans_assign(indptr: Ints, values: Values, x: Numbers | None, "
                "norms: Floats | None, base: Floats, corrections: Floats, "
                "previous: Indices | None, labels: Indices, upper: Singles | None, "
                "lower: Singles | None, moves: Floats | None, prune: bool, n_jobs: int) "
                "-> tuple[int, int, int]"),
        "Write the nearest centre of each record; how many changed, were scanned, were rechecked.");
  m.def("kmeans_distances", bind_distances, nb::arg("indptr"), nb::arg("values"),
        nb::arg("x").none(), nb::arg("norms").none(), nb::arg("base"), nb::arg("corrections"),
        nb::arg("closest").none(), nb::arg("weights").none(), nb::arg("out"), nb::arg("n_jobs"),
        nb::sig("def kmeans_distances(indptr: Ints, values: Values, x: Numbers | None, "
                "norms: Floats | None, base: Floats, corrections: Floats, "
                "closest: Floats | None, weights: Floats | None, out: Floats, n_jobs: int) "
                "-> Floats"),
        "Write the squared distances of all records to all centres; what each centre would leave "
        "of the sum of `closest`.");
  m.def("kmeans_own_distances", bind_own_distances, nb::arg("indptr"), nb::arg("values"),
        nb::arg("x").none(), nb::arg("norms").none(), nb::arg("base"), nb::arg("corrections"),
        nb::arg("labels"), nb::arg("n_jobs"),
        nb::sig("def kmeans_own_distances(indptr: Ints, values: Values, x: Numbers | None, "
                "norms: Floats | None, base: Floats, corrections: Floats, labels: Indices, "
                "n_jobs: int) -> Floats"),
        "Squared distance of each record to its own centre.");
  m.def("kmeans_sums", bind_sums, nb::arg("indptr"), nb::arg("values"), nb::arg("x").none(),
        nb::arg("norms").none(), nb::arg("weights").none(), nb::arg("labels"),
        nb::arg("previous").none(), nb::arg("sums"), nb::arg("totals"), nb::arg("n_jobs"),
        nb::sig("def kmeans_sums(indptr: Ints, values: Values, x: Numbers | None, "
                "norms: Floats | None, weights: Floats | None, labels: Indices, "
                "previous: Indices | None, sums: Floats, totals: Floats, n_jobs: int) -> None"),
        "Add up the members of each cluster, or bring sums up to date where labels changed.");
}

}  // namespace tacit::bindings
