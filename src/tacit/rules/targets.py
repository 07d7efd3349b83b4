"""What boosted rules are to predict: two classes, more classes, labels, or numbers.

The kernel takes one row for each output: two classes are one output, which is the second of them;
more classes are one output each; and so are the labels of a multi-label target.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import narwhals as nw
import numpy as np
import polars as pl
from scipy import sparse

from tacit.errors import InputError
from tacit.table.targets import class_labels, read_class_target, read_target

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "TargetType",
    "Targets",
    "read_classes",
    "read_numbers",
]

TargetType: TypeAlias = Literal["binary", "multiclass", "multilabel", "number", "numbers"]
_MOST = 1e140  # so that sums of squares are finite


@dataclass(frozen=True)
class Targets:
    """A target as rows of outputs."""

    type: TargetType
    labels: NDArray[Any]  # the classes, the names of labels, or the names of numbers
    # Of shape (n_outputs, n_records): uint8 for classes and labels, float64 for numbers.
    values: NDArray[Any]
    codes: NDArray[np.int32] | None = None  # codes of the classes, where each record has one

    @property
    def n_records(self) -> int:
        """The number of records."""
        return int(self.values.shape[1])

    def take(self, kept: NDArray[np.bool_]) -> Targets:
        """Return the targets of some records; classes that none of them has are dropped."""
        if self.codes is not None:
            return _classes(self.labels, self.codes[kept])
        return replace(self, values=np.ascontiguousarray(self.values[:, kept]))

    def constant(self) -> NDArray[np.bool_]:
        """Return which outputs are the same for all records."""
        same: NDArray[np.bool_] = (self.values == self.values[:, :1]).all(axis=1)
        return same

    def strata(self) -> NDArray[np.int32] | None:
        """Return groups of records to draw from alike: classes, or equal sets of labels."""
        if self.codes is not None:
            return self.codes
        if self.type != "multilabel":
            return None
        packed = np.ascontiguousarray(np.packbits(self.values, axis=0).T)
        rows = packed.view([("", packed.dtype)] * packed.shape[1]).ravel()
        groups = np.unique(rows, return_inverse=True)[1]
        return groups.astype(np.int32).ravel()


# Classes and labels


def read_classes(y: Any, n_records: int) -> Targets:
    """Return a target of classes (one dimension) or of labels that are 0 or 1 (two dimensions).

    >>> read_classes(["no", "yes", "no"], 3).values
    array([[0, 1, 0]], dtype=uint8)
    >>> read_classes([[0, 1], [1, 1]], 2).type
    'multilabel'
    """
    if sparse.issparse(y):
        return _sparse_labels(y, n_records)
    wide = _two_dimensional(y)
    if wide is not None:
        values, names = wide
        return _dense_labels(values, names, n_records)
    series = read_class_target(y, n_records)
    classes, codes = np.unique(_plain(series), return_inverse=True)
    if classes.dtype.kind == "O" and all(isinstance(label, str) for label in classes.tolist()):
        classes = classes.astype(str)
    return _classes(classes, codes.astype(np.int32))


def _plain(series: pl.Series) -> NDArray[Any]:
    """Return a series of values that can be sorted as an array."""
    if series.dtype.is_nested() or series.dtype in (pl.Object, pl.Binary):
        raise InputError(f"y holds {series.dtype}; classes are numbers, strings, booleans or dates")
    if series.dtype == pl.Int128:  # which NumPy does not have
        return class_labels(series.to_list())
    return series.to_numpy()


def _classes(labels: NDArray[Any], codes: NDArray[np.int32]) -> Targets:
    held = np.bincount(codes, minlength=len(labels)) > 0
    if held.sum() < 2:
        raise InputError("y has one class only; there is nothing to tell apart")
    if not held.all():
        code = np.cumsum(held, dtype=np.int32) - np.int32(1)
        labels, codes = labels[held], code[codes]
    if len(labels) == 2:
        return Targets("binary", labels, (codes == 1).astype(np.uint8)[None], codes)
    values = np.zeros((len(labels), len(codes)), np.uint8)
    values[codes, np.arange(len(codes))] = 1
    return Targets("multiclass", labels, values, codes)


def _two_dimensional(y: Any) -> tuple[NDArray[Any], NDArray[Any] | None] | None:
    """Return a target of several columns and their names, if that is what it is."""
    if nw.dependencies.is_into_dataframe(y):
        frame = nw.from_native(y, eager_only=True)
        if frame.shape[1] == 1:
            return None
        return frame.to_numpy(), class_labels(list(frame.columns))
    if nw.dependencies.is_into_series(y):
        return None
    try:
        array = np.asarray(y)
    except ValueError:  # rows of several lengths
        raise InputError(
            "y: its rows are not equally long; labels are a table of 0 and 1, one column each"
        ) from None
    if array.ndim > 2:
        raise InputError(f"y must have one or two dimensions, got {array.ndim}")
    return (array, None) if array.ndim == 2 and array.shape[1] != 1 else None


def _check_shape(shape: tuple[int, ...], n_records: int) -> None:
    if shape[0] != n_records:
        raise InputError(
            f"y must have {n_records:,} rows, one for each record; got {shape[0]:,} rows"
        )
    if shape[1] == 0:
        raise InputError("y has no labels: it has no columns")


def _dense_labels(values: NDArray[Any], names: Any, n_records: int) -> Targets:
    _check_shape(values.shape, n_records)
    if values.dtype.kind not in "biuf":
        values = _as_floats(values, names)
    fine = (values == 0) | (values == 1)
    if not fine.all():
        record, label = np.unravel_index(int(np.argmin(fine)), values.shape)
        _refuse_label(values[record, label], int(record), _label_name(names, int(label)))
    names = np.arange(values.shape[1]) if names is None else names
    return Targets("multilabel", names, np.ascontiguousarray(values.T, np.uint8))


def _as_floats(values: NDArray[Any], names: Any) -> NDArray[np.float64]:
    numbers = np.empty(values.shape)
    for label, column in enumerate(values.T):
        try:
            numbers[:, label] = column.astype(np.float64)
        except (TypeError, ValueError):
            held = f"{_label_name(names, label)} holds {column.tolist()[0]!r}"
            raise InputError(
                f"y: label {held} and the like; several labels are 0 or 1 each, and "
                "classes a target of one dimension"
            ) from None
    return numbers


def _label_name(names: Any, label: int) -> str:
    return str(label) if names is None else repr(names.tolist()[label])


def _refuse_label(value: Any, record: int, label: str) -> None:
    where = f"record {record}, label {label}"
    if value != value:
        raise InputError(f"y contains NaN: {where}")
    raise InputError(
        f"y: {where} holds {value}; labels are 0 or 1, and one class for each record "
        "is a target of one dimension"
    )


def _sparse_labels(y: Any, n_records: int) -> Targets:
    if y.ndim != 2:
        raise InputError(f"y: a sparse target must have two dimensions, got {y.ndim}")
    _check_shape(y.shape, n_records)
    cells = sparse.coo_array(y)
    cells.sum_duplicates()
    if cells.dtype.kind not in "biuf":
        raise InputError(f"y holds {cells.dtype}; labels are 0 or 1")
    records, labels = cells.coords
    fine = (cells.data == 0) | (cells.data == 1)
    if not fine.all():
        k = int(np.argmin(fine))
        _refuse_label(cells.data[k], int(records[k]), str(labels[k]))
    values = np.zeros((y.shape[1], n_records), np.uint8)
    values[labels, records] = cells.data != 0
    return Targets("multilabel", np.arange(y.shape[1]), values)


# Numbers


def read_numbers(y: Any, n_records: int) -> Targets:
    """Return a target of numbers: one for each record, or one for each record and output.

    >>> read_numbers([1.5, 2.0], 2).values
    array([[1.5, 2. ]])
    """
    if sparse.issparse(y):
        raise InputError("y is sparse; numbers to predict must be dense")
    frame = nw.dependencies.is_into_dataframe(y)
    if not frame and np.asarray(y).ndim != 2:
        series = read_target(y, n_records)
        values, target_type = _as_numbers(series.to_numpy())[:, None], "number"
        names = np.array([_series_name(y) or "y"])
    else:
        native = nw.from_native(y, eager_only=True) if frame else None
        array = np.asarray(y) if native is None else native.to_numpy()
        _check_shape(array.shape, n_records)
        given = None if native is None else [str(name) for name in native.columns]
        values, target_type = _as_numbers(array), "numbers"
        names = np.array(given or [f"y{k}" for k in range(values.shape[1])])
    wrong = ~(np.abs(values) < _MOST)  # NaN, too
    if wrong.any():
        record, output = np.unravel_index(int(np.argmax(wrong)), values.shape)
        value = values[record, output]
        fault = "is too large; scale it down" if np.isfinite(value) else "contains NaN or inf"
        raise InputError(f"y {fault}: {value} at record {record}, output {output}")
    return Targets(target_type, names, np.ascontiguousarray(values.T))  # type: ignore[arg-type]


def _series_name(y: Any) -> str | None:
    if not nw.dependencies.is_into_series(y):
        return None
    name = nw.from_native(y, series_only=True).name
    return name if isinstance(name, str) else None


def _as_numbers(values: NDArray[Any]) -> NDArray[np.float64]:
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.dtype.kind == "O":
        try:
            return values.astype(np.float64)
        except (TypeError, ValueError):
            pass
    raise InputError(f"y must hold numbers, got {values.dtype}; a classifier takes labels")
