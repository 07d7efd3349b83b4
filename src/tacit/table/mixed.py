"""Records of numbers and labels, each apart: what models of both kinds of columns take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.errors import InputError
from tacit.table.arrays import array_frame
from tacit.table.containers import is_sparse
from tacit.table.cuts import find_cuts
from tacit.table.discretise import FEW
from tacit.table.gateway import refuse_numbers
from tacit.table.input_spec import InputSpec, Numbers
from tacit.table.inputs import Inputs
from tacit.table.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray


__all__ = ["fit_mixed", "read_mixed"]


def fit_mixed(
    inputs: Inputs, discretise: Any, *, missing: bool, n_jobs: int | None
) -> tuple[NDArray[Any] | None, Table | None]:
    """Return numbers and discrete records of the X of fit, and note its spec."""
    data, kinds = inputs.data, inputs.kinds or {}
    if isinstance(data, Table) or is_sparse(data):
        return _fit_table(inputs, discretise)
    if not isinstance(data, pl.DataFrame):
        if data.dtype.kind == "f" and discretise is None and not kinds:
            inputs.spec = _all_numbers(inputs)
            return np.asarray(data), None
        data = array_frame(data, inputs.names, missing=True)
    if discretise is None:
        whole = [s.name for s in data.iter_columns() if s.dtype.is_integer()]
        discretise = {name: "auto" for name in whole if name not in kinds}
    cuts = find_cuts(data, discretise, kinds=kinds)
    flags = np.array(
        [_is_number(s, kinds.get(s.name), discretise, cuts) for s in data.iter_columns()]
    )
    numbers = _matrix(data, flags) if flags.any() else None
    if flags.all():
        inputs.spec = _all_numbers(inputs)
        return numbers, None
    rest = data.select([name for name, flag in zip(data.columns, flags, strict=True) if not flag])
    if inputs.origin == "array" and not missing:
        _refuse_nan(rest)
    held = set(rest.columns)
    wanted = {name: kind for name, kind in kinds.items() if name in held}
    table = Table(rest, discretise=cuts or None, kinds=wanted, n_jobs=n_jobs)
    inputs.spec = _spec(inputs, flags, table)
    return numbers, table if inputs.weights is None else table.with_weights(inputs.weights)


def _fit_table(inputs: Inputs, discretise: Any) -> tuple[NDArray[Any] | None, Table | None]:
    table = inputs.ranked()
    schema = table.schema
    numeric = np.array([x.is_numeric and x.kind == "numeric" for x in schema.labels])
    real = [x.dtype.startswith("Float") or x.chosen_kind == "numeric" for x in schema.labels]
    flags = numeric & np.array(real)
    if discretise is None:
        flags &= not is_sparse(inputs.data)
        many = np.array([len(labels) > FEW for labels in schema.labels])
        many |= np.array(real)  # numbers that are not whole are cut, however few
        rest = np.flatnonzero(numeric & many & ~flags).tolist()
        table = table.cut({schema.names[k]: "auto" for k in rest}) if rest else table
    else:
        table = table.cut(discretise)
        flags &= isinstance(discretise, Mapping)
        flags &= np.array([labels.is_numeric for labels in table.schema.labels])
    numbers = _label_matrix(table, np.flatnonzero(flags)) if flags.any() else None
    if flags.all():
        inputs.spec = _all_numbers(inputs)
        return numbers, None
    others = table if numbers is None else table.select(np.flatnonzero(~flags).tolist())
    inputs.spec = _spec(inputs, flags, others)
    return numbers, others if inputs.weights is None else others.with_weights(inputs.weights)


def read_mixed(
    inputs: Inputs, unseen: Any, n_jobs: int | None
) -> tuple[NDArray[Any] | None, Table | None]:
    """Return numbers and discrete records of other data."""
    spec = inputs.remembered
    assert spec is not None
    if not spec.numeric.any():
        return None, inputs.table(unseen=unseen, n_jobs=n_jobs)
    data = inputs.data
    held = [name for name, flag in zip(spec.names, spec.numeric, strict=True) if flag]
    if is_sparse(data):
        raise InputError(f"X is sparse, but column {held[0]!r} was numbers in fit")
    rest = None if spec.numeric.all() else InputSpec.of_schema(spec.schema, "table")
    if isinstance(data, Table):
        positions = [data.schema.position(name, "X") for name in held]
        for name, position in zip(held, positions, strict=True):
            if not data.schema.labels[position].is_numeric:
                raise InputError(f"X is discrete, but column {name!r} was numbers in fit")
        numbers = _label_matrix(data, np.array(positions))
    elif rest is None and not isinstance(data, pl.DataFrame) and data.dtype.kind == "f":
        numbers = np.asarray(data)
    else:
        if not isinstance(data, pl.DataFrame):
            data = array_frame(data, spec.names, missing=True)
        for name in held:
            dtype = data.schema[name]
            if not (dtype.is_numeric() or dtype in (pl.Null, pl.Boolean)):
                raise InputError(f"X: column {name!r} holds {dtype}, but was numbers in fit")
        numbers = _matrix(data, spec.numeric)
    refuse_numbers(numbers, held, missing=True)
    if rest is None:
        return numbers, None
    others = data if isinstance(data, Table) else data.select(rest.names)
    origin = "table" if isinstance(data, Table) else "frame"
    return numbers, Inputs(origin, others, rest.names, rest).table(unseen=unseen, n_jobs=n_jobs)  # type: ignore[arg-type]


def _is_number(series: pl.Series, kind: Any, discretise: Any, cuts: Any) -> bool:
    """Return whether a column stays numbers: real ones do, others if they are said to."""
    if series.name in cuts or not series.dtype.is_numeric() or kind not in (None, "numeric"):
        return False
    if discretise is not None and not isinstance(discretise, Mapping):
        return False
    return kind == "numeric" or series.dtype.is_float()


def _all_numbers(inputs: Inputs) -> InputSpec:
    return InputSpec.of_domains(inputs.origin, inputs.names, [Numbers()] * len(inputs.names))


def _spec(inputs: Inputs, flags: NDArray[np.bool_], table: Table) -> InputSpec:
    found = iter(zip(table.schema.labels, table.schema.defaults.tolist(), strict=True))
    pairs: list[Any] = [(Numbers(), 0) if flag else next(found) for flag in flags.tolist()]
    domains, defaults = zip(*pairs, strict=True)
    return InputSpec(inputs.origin, tuple(inputs.names), domains, defaults)


def _matrix(frame: pl.DataFrame, flags: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the columns of numbers, NaN where one is missing, column after column in memory."""
    numbers = np.empty((frame.height, int(flags.sum())), np.float64, order="F")
    chosen = (s for s, flag in zip(frame.iter_columns(), flags, strict=True) if flag)
    for k, series in enumerate(chosen):
        numbers[:, k] = series.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return numbers


def _label_matrix(table: Table, columns: NDArray[np.int64]) -> NDArray[np.float64]:
    numbers = np.empty((table.n_records, len(columns)), np.float64, order="F")
    for k, column in enumerate(columns.tolist()):
        numbers[:, k] = table.schema.labels[column].numbers[table.codes(column)]
    return numbers


def _refuse_nan(frame: pl.DataFrame) -> None:
    """Refuse NaN in discrete columns of arrays: what is missing has no label there."""
    for series in frame.iter_columns():
        if series.dtype.is_float() and series.is_nan().any():
            record = int(series.is_nan().arg_max() or 0)
            raise InputError(f"X contains NaN: column {series.name!r} at record {record}")
