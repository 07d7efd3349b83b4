#include "bindings/common.hpp"

namespace tacit::bindings {

void register_records(nb::module_& m) {
  nb::class_<RecordArrays>(m, "Records",
                           "The stored values of records, some chosen, some weighted.")
      .def(nb::init<In<std::int64_t>, AnyIn, std::int64_t, std::optional<In<std::int64_t>>,
                    std::optional<In<double>>>(),
           nb::arg("indptr"), nb::arg("values"), nb::arg("n_values"),
           nb::arg("chosen").none() = nb::none(), nb::arg("weights").none() = nb::none(),
           nb::sig("def __init__(self, indptr: Ints, values: Values, n_values: int, "
                   "chosen: Ints | None = None, weights: Floats | None = None) -> None"));
}

}  // namespace tacit::bindings
