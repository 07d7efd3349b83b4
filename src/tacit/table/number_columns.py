"""Columns as numbers: those that are listed, and what all other records have.

Numbers stay what they are, timestamps are the numbers that Polars holds for them. A label is its
index among those of fit; `UNSEEN` where it is not among them, or NaN, for missing, if labels are
ordered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy import sparse

from tacit.errors import InputError
from tacit.schema import Labels
from tacit.schema.types import is_temporal, label_series, parse_type
from tacit.table.containers import is_sparse
from tacit.table.gateway import check_size, refuse_numbers
from tacit.table.input_spec import Numbers
from tacit.table.matrices import sorted_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.table.input_spec import Domain, InputSpec
    from tacit.table.table import Table

__all__ = ["NumberColumns", "check_booleans", "frame_columns", "frame_domain", "matrix_columns"]
__all__ += ["series_numbers", "table_columns", "table_domain"]

UNSEEN = -2.0  # equal to no label's number
_TEXT = (pl.String, pl.Categorical, pl.Enum)
_BOOLEAN = Labels([False, True], "Boolean")


@dataclass(frozen=True)
class NumberColumns:
    """Columns of numbers: those that are listed, and what all others are."""

    n_records: int
    indptr: NDArray[np.int64]  # the first listed value of each column, and one past the last
    # Those that a column lists, ascending; None if all columns list all records.
    records: NDArray[np.int32] | None
    values: NDArray[np.float64]  # the numbers of these records; NaN is missing
    unlisted: NDArray[np.float64]  # what the records have that a column does not list

    @property
    def arguments(
        self,
    ) -> tuple[
        int,
        NDArray[np.int64],
        NDArray[np.int32] | None,
        NDArray[np.float64],
        NDArray[np.float64],
    ]:
        """What kernels take, in their order."""
        return self.n_records, self.indptr, self.records, self.values, self.unlisted


def _all_listed(values: NDArray[np.float64]) -> NumberColumns:
    n, m = values.shape
    starts = np.arange(n + 1, dtype=np.int64) * m
    return NumberColumns(m, starts, None, values.reshape(-1), np.zeros(n))


def check_booleans(columns: NumberColumns, spec: InputSpec, kinds: Any) -> NumberColumns:
    """Return the columns of fit, if those that the caller calls boolean have two values at most."""
    for name in [name for name, kind in (kinds or {}).items() if kind == "boolean"]:
        column = spec.position(name)
        values = columns.values[slice(*columns.indptr[column : column + 2])]
        if len(values) < columns.n_records:
            values = np.append(values, columns.unlisted[column])
        n = len(np.unique(values[~np.isnan(values)]))
        if n > 2:
            raise InputError(f"kinds: column {name!r} has {n:,} labels, not two")
    return columns


# Arrays


def matrix_columns(given: Any) -> NumberColumns:
    """Return the columns of an array of numbers, dense or sparse."""
    check_size(*given.shape)
    if is_sparse(given):
        return _sparse_columns(given)
    values = np.require(given.T, np.float64, ["C", "ALIGNED"])
    refuse_numbers(values.T, missing=True)
    return _all_listed(values)


def _sparse_columns(given: Any) -> NumberColumns:
    try:
        columns = sorted_columns(given)
    except InputError as error:
        raise InputError(f"X{str(error).removeprefix('data')}") from None
    if columns.data.dtype.kind not in "biuf":
        raise InputError(f"X must hold numbers, got {columns.data.dtype}")
    indptr = columns.indptr.astype(np.int64, copy=False)
    values = columns.data.astype(np.float64, copy=False)
    infinite = np.isinf(values)
    if infinite.any():
        k = int(infinite.argmax())
        column = int(np.searchsorted(indptr, k, side="right")) - 1
        raise InputError(
            f"X contains infinity: {values[k]} at row {columns.indices[k]}, column {column}"
        )
    records = columns.indices.astype(np.int32, copy=False)
    return NumberColumns(given.shape[0], indptr, records, values, np.zeros(given.shape[1]))


# Frames


def frame_domain(series: pl.Series, kind: Any) -> Domain:
    """Return what the values of a column are: numbers, or labels in their order."""
    dtype = series.dtype
    if dtype in _TEXT:
        if isinstance(dtype, pl.Enum):
            items, name = dtype.categories.to_list(), "Enum"
        else:
            known = series.cast(pl.String).drop_nulls().unique().sort()
            items, name = known.to_list(), "String"
        # A column with nothing in it has a label that no value is equal to.
        return Labels(items or [""], name, kind=kind)
    if dtype == pl.Boolean:
        return _BOOLEAN if kind is None else _BOOLEAN.with_kind(kind)
    if dtype.is_temporal():
        return Numbers(str(dtype), kind or "ordered")
    if dtype.is_numeric() or dtype == pl.Null:
        return Numbers("Float64", kind or "numeric")
    raise InputError(
        f"X: column {series.name!r} holds {dtype}, which is neither numbers nor labels"
    )


def frame_columns(frame: pl.DataFrame, spec: InputSpec) -> NumberColumns:
    """Return the columns of a frame, which are those of a spec in their order."""
    check_size(frame.height, frame.width)
    values = np.empty((frame.width, frame.height))
    for column, series in enumerate(frame.iter_columns()):
        values[column] = series_numbers(series, spec.domains[column], spec.names[column])
    return _all_listed(values)


def series_numbers(series: pl.Series, domain: Domain, name: str) -> NDArray[np.float64]:
    """Return a column of a frame as numbers; NaN is missing."""
    held = series.dtype
    if held == pl.Null:
        return np.full(len(series), np.nan)
    if isinstance(domain, Labels) and domain.items != _BOOLEAN.items:
        if held not in _TEXT and not (domain.edges is not None and held.is_numeric()):
            raise InputError(f"X: column {name!r} holds {held}, but in fit labels")
        return _label_numbers(series, domain)
    if isinstance(domain, Numbers) and is_temporal(domain.dtype):
        return _timestamps(series, name, domain.dtype)
    if not (held.is_numeric() or held == pl.Boolean):
        raise InputError(f"X: column {name!r} holds {held}, but in fit numbers")
    numbers = series.cast(pl.Float64).to_numpy()
    refuse_numbers(numbers, [name], missing=True)
    return numbers


def is_nominal(domain: Domain) -> bool:
    """Return whether the values of a column have no order."""
    return domain.kind not in ("numeric", "ordered")


def _label_numbers(series: pl.Series, labels: Labels) -> NDArray[np.float64]:
    if labels.edges is not None and series.dtype.is_numeric():
        numbers = series.cast(pl.Float64).to_numpy()
        bins = np.searchsorted(np.asarray(labels.edges), numbers, "right").astype(np.float64)
        return np.where(np.isnan(numbers), np.nan, bins)
    texts = series.cast(pl.String)
    known = [str(label) for label in labels.items[: labels.missing]]
    codes = texts.cast(pl.Enum(known), strict=False).to_physical()
    numbers = codes.cast(pl.Float64).to_numpy(writable=True)
    if is_nominal(labels):
        numbers[(codes.is_null() & texts.is_not_null()).to_numpy()] = UNSEEN
    return numbers


def _timestamps(series: pl.Series, name: str, dtype: str) -> NDArray[np.float64]:
    wanted = parse_type(dtype)
    if type(series.dtype) is not type(wanted) and series.dtype != wanted:
        raise InputError(f"X: column {name!r} holds {series.dtype}, but in fit {dtype}")
    return series.cast(wanted).to_physical().cast(pl.Float64).to_numpy()


# Tables


def table_domain(labels: Labels) -> Domain:
    """Return what the values of a column of a Table are: numbers, or labels in their order."""
    if labels.is_numeric or labels.dtype == "Null":
        return Numbers("Float64", "numeric" if labels.dtype == "Null" else labels.kind)
    if is_temporal(labels.dtype):
        return Numbers(labels.dtype, labels.kind)
    if labels.dtype == "Boolean":
        return _BOOLEAN if labels.chosen_kind is None else _BOOLEAN.with_kind(labels.chosen_kind)
    items = [str(label) for label in labels.items[: labels.missing]]
    return Labels(items or [""], labels.dtype, edges=labels.edges, kind=labels.chosen_kind)


def table_columns(table: Table, indices: Sequence[int], spec: InputSpec) -> NumberColumns:
    """Return columns of a Table, in the order of a spec; defaults are not listed."""
    schema, n = table.schema, len(indices)
    numbers = np.empty(int(schema.cells[-1]))  # what each label of each column stands for
    shared: dict[Any, NDArray[np.float64]] = {}
    for column, index in enumerate(indices):
        labels, domain = schema.labels[index], spec.domains[column]
        key = id(labels), id(domain)
        if key not in shared:
            shared[key] = _cell_numbers(labels, domain, spec.names[column])
        numbers[schema.cells[index] : schema.cells[index + 1]] = shared[key]
    rank = np.full(len(schema), -1, np.int32)
    rank[list(indices)] = np.arange(n, dtype=np.int32)
    stored = numbers[schema.value_cells[table.values]]
    columns = rank[schema.value_columns[table.values]]
    indptr = table.indptr
    if (rank < 0).any():  # columns that the model does not know
        kept = columns >= 0
        indptr = np.concatenate(([0], np.cumsum(kept)))[indptr]
        stored, columns = stored[kept], columns[kept]
    by_column = sparse.csr_array((stored, columns, indptr), (table.n_records, n)).tocsc()
    return NumberColumns(
        table.n_records,
        by_column.indptr.astype(np.int64),
        by_column.indices.astype(np.int32, copy=False),
        by_column.data,
        numbers[schema.default_cells[list(indices)]],
    )


def _cell_numbers(labels: Labels, domain: Domain, name: str) -> NDArray[np.float64]:
    """Return what each label of a column stands for."""
    if labels.dtype == "Null":
        return np.full(len(labels), np.nan)
    if isinstance(domain, Labels) and domain.items != _BOOLEAN.items:
        if labels.is_numeric and domain.edges is None:
            raise InputError(f"X: column {name!r} holds {labels.dtype}, but in fit labels")
        if labels.is_numeric:
            codes = domain.find_all(labels).astype(np.float64)
        else:
            texts = [None if x is None else str(x) for x in labels]
            codes = np.array([-1.0 if x is None else domain.find(x) for x in texts], np.float64)
        codes[codes < 0] = UNSEEN if is_nominal(domain) else np.nan
        if labels.missing is not None:
            codes[labels.missing] = np.nan
        return codes
    temporal = is_temporal(labels.dtype)
    if isinstance(domain, Numbers) and is_temporal(domain.dtype):
        if not temporal:
            raise InputError(f"X: column {name!r} holds {labels.dtype}, but in fit {domain.dtype}")
        return _timestamps(label_series(labels), name, domain.dtype)
    if temporal or not (labels.is_numeric or labels.dtype == "Boolean"):
        raise InputError(f"X: column {name!r} holds {labels.dtype}, but in fit numbers")
    return labels.numbers
