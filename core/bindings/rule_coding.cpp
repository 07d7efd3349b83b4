#include "bindings/common.hpp"
#include "bindings/number_columns.hpp"
#include "rule/coding.hpp"

namespace tacit::bindings {
namespace {

nb::tuple bind_code_columns(std::int64_t n_records, const In<std::int64_t>& indptr,
                            const std::optional<In<std::int32_t>>& records,
                            const In<double>& values, const In<double>& unlisted,
                            const In<double>& wanted, const In<std::uint8_t>& choose,
                            const In<std::uint8_t>& binned, bool by_frequency, std::int64_t n_bins,
                            int n_jobs) {
  const NumberColumns columns = as_columns(n_records, indptr, records, values, unlisted);
  const std::size_t n = unlisted.size();
  if (wanted.size() != n || choose.size() != n || binned.size() != n)
    throw std::invalid_argument("wanted, choose and binned must be as many as columns");
  if (n_bins < 2) throw std::invalid_argument("n_bins must be at least 2");
  const CodingPlan plan{wanted.data(), choose.data(), binned.data(),
                        by_frequency ? Binning::frequency : Binning::width, n_bins};
  RuleCoding out;
  run([&] { out = code_columns(columns, plan, n_jobs, signal_pending); });
  const std::size_t n_runs = out.run_codes.size(), n_codes = out.lower.size();
  const std::size_t n_stored = out.records.size();
  return nb::make_tuple(
      to_numpy(std::move(out.default_code), {n}), to_numpy(std::move(out.column_runs), {n + 1}),
      to_numpy(std::move(out.run_codes), {n_runs}),
      to_numpy(std::move(out.run_start), {n_runs + 1}),
      to_numpy(std::move(out.records), {n_stored}), to_numpy(std::move(out.code_start), {n + 1}),
      to_numpy(std::move(out.lower), {n_codes}), to_numpy(std::move(out.upper), {n_codes}));
}

}  // namespace

void register_rule_coding(nb::module_& m) {
  m.def("code_columns", bind_code_columns, nb::arg("n_records"), nb::arg("indptr"),
        nb::arg("records").none(), nb::arg("values"), nb::arg("unlisted"), nb::arg("wanted"),
        nb::arg("choose"), nb::arg("binned"), nb::arg("by_frequency"), nb::arg("n_bins"),
        nb::arg("n_jobs"),
        nb::sig("def code_columns(n_records: int, indptr: Ints, records: Indices | None, "
                "values: Floats, unlisted: Floats, wanted: Floats, choose: Flags, binned: Flags, "
                "by_frequency: bool, n_bins: int, n_jobs: int) -> tuple[Indices, Ints, Indices, "
                "Ints, Indices, Ints, Floats, Floats]"),
        "Rank the numbers of each column, and list the records of all but the default one.");
}

}  // namespace tacit::bindings
