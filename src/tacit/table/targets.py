"""How estimators take their y: classes, labels or numbers, from beside X or out of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import narwhals as nw
import numpy as np
import polars as pl
from scipy import sparse
from sklearn.utils.validation import column_or_1d

from tacit.errors import InputError
from tacit.schema import Labels, Schema
from tacit.table.containers import read_series
from tacit.table.frames import encode_columns
from tacit.table.schema_json import pack_schema, unpack_schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.table.table import Table

__all__ = ["Classes", "TargetType", "Targets"]
__all__ += ["class_labels", "column_classes", "column_numbers", "has_classes"]
__all__ += ["pack_classes", "read_classes", "read_labels", "read_numbers", "read_outputs"]
__all__ += [
    "read_target",
    "refuse_missing",
    "refuse_real_classes",
    "require_target",
    "unpack_classes",
]

TargetType: TypeAlias = Literal["binary", "multiclass", "multilabel", "number", "numbers"]
_CLASS_KINDS = "biufM"  # of arrays; others are strings or objects
_MOST = 1e140  # so that sums of squares are finite


def read_target(y: Any, n_records: int) -> pl.Series:
    """Return a target as a series: as long as there are records, and with nothing missing."""
    series = _series(y)
    if len(series) != n_records:
        raise InputError(
            f"y must have {n_records:,} entries, one for each record; got {len(series):,}"
        )
    is_missing = series.is_null() | (series.is_nan() if series.dtype.is_float() else False)
    if is_missing.any():
        raise InputError(
            f"y contains NaN or None: record {int(is_missing.arg_max() or 0)} is missing"
        )
    return series


def require_target(model: Any, y: Any) -> None:
    """Refuse to learn without a target, in the words of scikit-learn."""
    if y is None:
        raise InputError(
            f"This {type(model).__name__} estimator requires y to be passed, "
            "but the target y is None"
        )


def read_class_target(y: Any, n_records: int) -> pl.Series:
    """Return a target of classes as a series; real numbers are refused as scikit-learn does."""
    series = read_target(y, n_records)
    if series.dtype.is_float():
        numbers = series.to_numpy()
        broken = ~(np.isfinite(numbers) & (np.floor(numbers) == numbers))
        if broken.any():
            record = int(broken.argmax())
            raise InputError(
                f"Unknown label type: y holds real numbers (record {record}: {series[record]}); "
                "cut it into classes first"
            )
    return series


class Classes(NamedTuple):
    """Classes of a target in order, and the position of each record's among them."""

    labels: NDArray[Any]
    codes: NDArray[np.int32]


def read_classes(y: Any, n_records: int, kept: NDArray[np.bool_] | None = None) -> Classes:
    """Return the classes of a target that is given apart from X, in scikit-learn's order.

    Of some records only, if not all are `kept`.
    """
    series = read_class_target(y, n_records)
    if series.dtype.is_nested() or series.dtype in (pl.Object, pl.Binary):
        raise InputError(f"y holds {series.dtype}; classes are numbers, strings, booleans or dates")
    series = series if kept is None else series.filter(kept)
    if series.dtype in (pl.String, pl.Categorical, pl.Enum):
        [coded] = encode_columns(pl.DataFrame({"y": series.cast(pl.String)}), "state", {}, 1)
        return Classes(class_labels(coded.labels.items), coded.ranks[coded.codes].astype(np.int32))
    plain = series.dtype != pl.Int128  # which NumPy does not have
    values = series.to_numpy() if plain else class_labels(series.to_list())
    return _number_classes(values)


def _number_classes(values: NDArray[Any]) -> Classes:
    """Number distinct values in their order: whole ones that lie close together without a sort."""
    whole = values.view(np.uint8) if values.dtype.kind == "b" else values
    if len(values) and values.dtype.kind in "biu":
        low, high = int(whole.min()), int(whole.max())
        if high - low < max(1024, len(values)) and low > -(2**62) and high < 2**62:
            positions = whole.astype(np.int64) - low
            held = np.zeros(high - low + 1, np.bool_)
            held[positions] = True
            labels = (np.flatnonzero(held) + low).astype(values.dtype)
            ranks = np.cumsum(held, dtype=np.int32) - np.int32(1)
            return Classes(labels, ranks[positions])
    labels, codes = np.unique(values, return_inverse=True)
    return Classes(labels, codes.astype(np.int32))


def refuse_real_classes(table: Table, position: int) -> None:
    """Refuse a column of real numbers where classes are asked for."""
    labels = table.schema.labels[position]
    if labels.is_numeric and labels.kind == "numeric":
        known = labels.numbers[: labels.missing]
        if not (known == np.floor(known)).all():
            name = table.schema.names[position]
            raise InputError(
                f"Unknown label type: y holds real numbers (column {name!r}); cut it into classes "
                "first"
            )


def has_classes(table: Table, position: int) -> bool:
    """Return whether all labels of a column are classes: none stands for what is missing."""
    return table.schema.labels[position].missing is None


def column_classes(table: Table, position: int) -> Classes:
    """Return the classes that a column of a Table holds, in the order of its labels."""
    schema, (start, rows) = table.schema, table.postings
    labels = schema.labels[position]
    first, last = int(schema.offsets[position]), int(schema.offsets[position + 1])
    default = int(schema.defaults[position])
    codes = np.empty(table.n_records, np.int32)
    codes.fill(default)
    code = 0
    begin = int(start[first])
    for end in start[first + 1 : last + 1].tolist():
        code += code == default
        codes[rows[begin:end]] = code
        code, begin = code + 1, end
    _check_known(codes, labels, schema.names[position])
    return Classes(class_labels(labels.items[: labels.missing]), codes)


def _check_known(codes: NDArray[Any], labels: Labels, name: str) -> None:
    if labels.missing is not None and (missing := codes == labels.missing).any():
        refuse_missing(int(missing.argmax()), name)


def refuse_missing(record: int, name: str) -> None:
    """Refuse a target that a record does not have."""
    raise InputError(
        f"y: column {name!r} has a missing value at record {record}; "
        "records without a target teach nothing"
    )


def read_numbers(
    y: Any, n_records: int, kept: NDArray[np.bool_] | None = None
) -> NDArray[np.float64]:
    """Return a numeric target that is given apart from X."""
    series = read_target(y, n_records)
    if not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
        raise InputError(f"y must hold numbers, got {series.dtype}; a classifier takes labels")
    numbers = series.cast(pl.Float64).to_numpy()
    numbers = numbers if kept is None else numbers[kept]
    if not np.isfinite(numbers).all():
        record = int((~np.isfinite(numbers)).argmax())
        raise InputError(f"y contains NaN or infinity: {numbers[record]} at record {record}")
    return numbers


def column_numbers(table: Table, position: int) -> NDArray[np.float64]:
    """Return the numbers that are the labels of a column of a Table."""
    name, labels = table.schema.names[position], table.schema.labels[position]
    codes = table.codes(position)
    _check_known(codes, labels, name)
    items: Any = labels.items[: labels.missing]
    if not all(isinstance(x, int | float) for x in items):
        kind = "bins" if labels.edges is not None else "labels that are no numbers"
        raise InputError(f"y: column {name!r} holds {kind}; a classifier takes labels")
    return np.array([*map(float, items), np.nan])[codes]


# Several outputs


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


def read_labels(y: Any, n_records: int) -> Targets:
    """Return a target of classes (one dimension) or of labels that are 0 or 1 (two dimensions).

    >>> read_labels(["no", "yes", "no"], 3).values
    array([[0, 1, 0]], dtype=uint8)
    >>> read_labels([[0, 1], [1, 1]], 2).type
    'multilabel'
    """
    if sparse.issparse(y):
        return _sparse_labels(y, n_records)
    wide = _two_dimensional(y)
    if wide is not None:
        values, names = wide
        return _dense_labels(values, names, n_records)
    return _classes(*read_classes(y, n_records))


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


def read_outputs(y: Any, n_records: int) -> Targets:
    """Return a target of numbers: one for each record, or one for each record and output.

    >>> read_outputs([1.5, 2.0], 2).values
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


# Classes in files


def class_labels(items: Sequence[Any]) -> NDArray[Any]:
    """Return labels as an array of their type; of objects where they are of several."""
    kinds = {type(item) for item in items}
    if len(kinds) == 1 and kinds <= {bool, int, float, str}:
        try:
            return np.array(items)
        except OverflowError:
            pass
    labels = np.empty(len(items), object)
    labels[:] = items
    return labels


def pack_classes(classes: NDArray[Any]) -> dict[str, Any]:
    """Return classes as JSON can hold them, under the names that files have for them."""
    kept = classes.dtype.kind in _CLASS_KINDS
    return {
        "classes": pack_schema(Schema(["y"], [Labels(classes.tolist(), "String")], [0])),
        "class_type": classes.dtype.str if kept else None,
    }


def unpack_classes(facts: dict[str, Any]) -> NDArray[Any]:
    """Return the classes that :func:`pack_classes` packed.

    >>> days = np.array(["2026-05-01", "2026-05-02"], "datetime64[D]")
    >>> unpack_classes(pack_classes(days)).dtype
    dtype('<M8[D]')
    """
    (labels,) = unpack_schema(facts["classes"], typed=False).labels
    items, dtype = labels.items, facts["class_type"]
    if dtype is None:
        return class_labels(items)
    kind = np.dtype(str(dtype))
    if kind.kind not in _CLASS_KINDS:
        raise InputError(f"its classes are of the type {dtype!r}")
    return np.array(items, kind)


def _mixes_strings(y: Any) -> bool:
    known = (value for value in y if value is not None and value == value)
    return len({isinstance(value, str) for value in known}) > 1


def _series(y: Any) -> pl.Series:
    try:
        if nw.dependencies.is_into_series(y):
            return read_series(y, "y")
        if isinstance(y, list | tuple) and _mixes_strings(y):
            raise InputError("y holds strings and others, which NumPy would all make strings")
        flat = column_or_1d(y, warn=True)
    except InputError:
        raise
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise InputError(f"y cannot be read: {error}") from None
    values = flat.tolist() if flat.dtype.kind in "OSU" else flat
    try:
        return pl.Series(values, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        kinds = ", ".join(dict.fromkeys(type(value).__name__ for value in flat.tolist()))
        why = f"it holds values of these types: {kinds}"
        if kinds == "int":
            why = "it holds whole numbers that are too large; make them strings"
        raise InputError(f"y cannot be read: {why}") from None
