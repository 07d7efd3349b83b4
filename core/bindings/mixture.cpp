#include "bindings/common.hpp"
#include "em/step.hpp"
#include "em/strength.hpp"

namespace tacit::bindings {
namespace {

using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

MixtureModel as_model(const RecordArrays& records, const In<std::int64_t>& offsets,
                      const In<double>& mixing_weights, const Rows& stored, const Rows& defaults) {
  const auto K = mixing_weights.size();
  if (K == 0 || offsets.size() != defaults.shape(0) + 1 || stored.shape(1) != K ||
      defaults.shape(1) != K || static_cast<std::int64_t>(stored.shape(0)) != records.n_values())
    throw std::invalid_argument("mixing_weights, stored and defaults are at odds");
  return {static_cast<std::int64_t>(K),
          static_cast<std::int64_t>(defaults.shape(0)),
          static_cast<std::int64_t>(stored.shape(0)),
          offsets.data(),
          mixing_weights.data(),
          stored.data(),
          defaults.data()};
}

nb::tuple bind_step(const RecordArrays& given, const In<std::int64_t>& offsets,
                    const In<double>& mixing_weights, const Rows& stored, const Rows& defaults,
                    bool single, int n_jobs) {
  const MixtureModel model = as_model(given, offsets, mixing_weights, stored, defaults);
  const auto K = mixing_weights.size(), n = stored.shape(0);
  Buffer<double> totals(K), sums(n * K);
  double log_likelihood = 0;
  given.visit([&](const auto& records) {
    run([&] {
      log_likelihood =
          em_step(records, model, single, totals.data(), sums.data(), n_jobs, signal_pending);
    });
  });
  return nb::make_tuple(to_numpy(std::move(totals), {K}), to_numpy(std::move(sums), {n, K}),
                        log_likelihood);
}

nb::tuple bind_posterior(const RecordArrays& given, const In<std::int64_t>& offsets,
                         const In<double>& mixing_weights, const Rows& stored, const Rows& defaults,
                         bool responsibilities, int n_jobs) {
  const MixtureModel model = as_model(given, offsets, mixing_weights, stored, defaults);
  const std::size_t K = responsibilities ? mixing_weights.size() : 0;
  const std::size_t n = given.size();
  Buffer<double> logs(n), rows(n * K);
  given.visit([&](const auto& records) {
    run([&] {
      em_posterior(records, model, responsibilities ? rows.data() : nullptr, logs.data(), n_jobs,
                   signal_pending);
    });
  });
  return nb::make_tuple(to_numpy(std::move(rows), {n, K}), to_numpy(std::move(logs), {n}));
}

nb::tuple bind_maximise(const In<std::int64_t>& offsets, const In<double>& totals,
                        const Rows& counts, double alpha_clusters, const In<double>& alpha_stored,
                        const In<double>& alpha_defaults) {
  const auto K = totals.size(), n = alpha_defaults.size(), n_values = alpha_stored.size();
  if (offsets.size() != n + 1 || counts.shape(0) != n_values || counts.shape(1) != K)
    throw std::invalid_argument("totals, counts and pseudo-counts are at odds");
  Buffer<double> mixing_weights(K), stored(n_values * K), defaults(n * K);
  const MixturePrior prior{alpha_clusters, alpha_stored.data(), alpha_defaults.data()};
  double log_prior = 0;
  run([&] {
    log_prior = em_maximise(static_cast<std::int64_t>(K), static_cast<std::int64_t>(n),
                            offsets.data(), totals.data(), counts.data(), prior,
                            mixing_weights.data(), stored.data(), defaults.data());
  });
  return nb::make_tuple(to_numpy(std::move(mixing_weights), {K}),
                        to_numpy(std::move(stored), {n_values, K}),
                        to_numpy(std::move(defaults), {n, K}), log_prior);
}

nb::tuple bind_strength(const In<std::int64_t>& offsets, const In<double>& totals,
                        const Rows& counts, const In<double>& mean_stored,
                        const In<double>& mean_defaults, double strength) {
  const auto K = totals.size(), n = mean_defaults.size(), n_values = mean_stored.size();
  if (offsets.size() != n + 1 || counts.shape(0) != n_values || counts.shape(1) != K)
    throw std::invalid_argument("totals, counts and means are at odds");
  Slope slope{};
  run([&] {
    slope = strength_slope(static_cast<std::int64_t>(K), static_cast<std::int64_t>(n),
                           offsets.data(), totals.data(), counts.data(), mean_stored.data(),
                           mean_defaults.data(), strength);
  });
  return nb::make_tuple(slope.first, slope.second);
}

}  // namespace

void register_mixture(nb::module_& m) {
  m.def("em_step", bind_step, nb::arg("records"), nb::arg("offsets"), nb::arg("mixing_weights"),
        nb::arg("stored"), nb::arg("defaults"), nb::arg("single"), nb::arg("n_jobs"),
        nb::sig(
            "def em_step(records: Records, offsets: Ints, mixing_weights: Floats, stored: Floats, "
            "defaults: Floats, single: bool, n_jobs: int) -> tuple[Floats, Floats, float]"),
        "Expected counts of clusters and of stored values in them, and the log-likelihood.");
  m.def("em_posterior", bind_posterior, nb::arg("records"), nb::arg("offsets"),
        nb::arg("mixing_weights"), nb::arg("stored"), nb::arg("defaults"),
        nb::arg("responsibilities"), nb::arg("n_jobs"),
        nb::sig("def em_posterior(records: Records, offsets: Ints, mixing_weights: Floats, "
                "stored: Floats, defaults: Floats, responsibilities: bool, n_jobs: int) "
                "-> tuple[Floats, Floats]"),
        "P(cluster | record), if asked for, and log P(record).");
  m.def("em_maximise", bind_maximise, nb::arg("offsets"), nb::arg("totals"), nb::arg("counts"),
        nb::arg("alpha_clusters"), nb::arg("alpha_stored"), nb::arg("alpha_defaults"),
        nb::sig("def em_maximise(offsets: Ints, totals: Floats, "
                "counts: Floats, alpha_clusters: float, "
                "alpha_stored: Floats, alpha_defaults: Floats) "
                "-> tuple[Floats, Floats, Floats, float]"),
        "Probabilities from expected counts, and the logarithm of the prior.");
  m.def("em_strength", bind_strength, nb::arg("offsets"), nb::arg("totals"), nb::arg("counts"),
        nb::arg("mean_stored"), nb::arg("mean_defaults"), nb::arg("strength"),
        nb::sig("def em_strength(offsets: Ints, totals: Floats, counts: Floats, "
                "mean_stored: Floats, mean_defaults: Floats, strength: float) "
                "-> tuple[float, float]"),
        "Derivatives of the evidence of expected counts by the prior's strength.");
}

}  // namespace tacit::bindings
