"""What distances are measured between: numbers, made of whatever X is.

Arrays are numbers already. In frames and Tables, columns that do not hold numbers become columns of
0 and 1, one for each of their labels.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from tacit.errors import InputError
from tacit.machine import check_fits
from tacit.schema import Schema
from tacit.table.features import (
    array_names,
    is_frame,
    is_sparse,
    note_names,
    number_array,
    take_columns,
)
from tacit.table.gateway import as_table
from tacit.table.matrices import sparse_numbers
from tacit.table.schema_json import pack_schema, unpack_schema, write_json
from tacit.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from tacit.counts import OneWay
    from tacit.schema import Label, Labels

__all__ = ["Encoder"]

_KINDS = ("array", "frame", "table")
_UNSEEN = ("zero", "error")
_SPARSE_BELOW = 1 / 8  # products of dense rows are that much faster than those of sparse ones
_AS_NUMBERS = frozenset({(False, True), (0, 1)})  # labels that are numbers as they stand

# A column of the result: all its numbers, or the rows that hold 1.
_Column = tuple["NDArray[Any] | None", "NDArray[Any] | None"]


@dataclass(frozen=True)
class Encoder:
    """How X becomes numbers, the same way ever after.

    Made by :meth:`fit`.

    Examples
    --------
    >>> encoder, numbers = Encoder.fit(
    ...     {"age": [31, 58, 44], "town": ["Ulm", "Bern", "Ulm"], "pays": [True, False, True]}
    ... )
    >>> encoder.names
    ('age', 'town=Bern', 'town=Ulm', 'pays')
    >>> numbers.tolist()
    [[31.0, 0.0, 1.0, 1.0], [58.0, 1.0, 0.0, 0.0], [44.0, 0.0, 1.0, 1.0]]
    >>> encoder.transform({"age": [20], "town": ["Rome"], "pays": [False]}).tolist()
    [[20.0, 0.0, 0.0, 0.0]]
    """

    kind: Literal["array", "frame", "table"]  # what X was
    inputs: tuple[str, ...]  # the columns of X; x0, x1, … for arrays
    labels: Schema | None  # those columns that are not numbers, with their labels
    # Whether the numbers are a CSR array. Those of frames and Tables are, if fewer than one number
    # in eight was other than 0. Arrays stay what they are in fit
    sparse: bool

    @classmethod
    def fit(cls, X: Any, estimator: Any = None) -> tuple[Encoder, Any]:
        """Return an encoder and X as numbers: float32 if X is an array of that type, else float64.

        X is an array, sparse array, frame, mapping of columns or Table. Numbers must be finite.
        Booleans are 0 and 1. Missing values of other columns are a further label. The estimator
        notes `n_features_in_` and, where columns have names, `feature_names_in_`.
        """
        estimator = BaseEstimator() if estimator is None else estimator
        if isinstance(X, Table):
            note_names(estimator, X.schema.names)
            encoder = cls("table", tuple(X.schema.names), X.schema, True)
            return encoder._fit_form(list(encoder._of_table(X, "zero")), X.n_records)
        if not _has_columns(X):
            numbers = _array(estimator, X, reset=True)
            names = tuple(array_names(numbers.shape[1]))
            return cls("array", names, None, is_sparse(numbers)), numbers
        frame = _frame(estimator, X, reset=True)
        others = [s.name for s in frame.iter_columns() if not _is_number(s)]
        table = Table(frame.select(others)) if others else None
        encoder = cls("frame", tuple(frame.columns), table.schema if table else None, True)
        return encoder._fit_form(list(encoder._of_frame(frame, table, "zero")), frame.height)

    @classmethod
    def of_schema(cls, schema: Schema, names: Sequence[str]) -> Encoder:
        """Return the encoder of some columns of Tables under a schema, in sparse form."""
        columns = [schema.position(name) for name in names]
        labels = Schema(names, [schema.labels[k] for k in columns], schema.defaults[columns])
        return cls("table", tuple(names), labels, True)

    def ones(self, singles: OneWay) -> NDArray[np.int64]:
        """Return how often each column of numbers is 1, from counts of the values of Tables."""
        ones = []
        for name, labels in self._labels_of.items():
            counts = singles.array(name)
            ones.append(counts[1:] if labels.items in _AS_NUMBERS else counts)
        return np.concatenate(ones).astype(np.int64)

    def in_form(self, nonzero: int, n: int) -> Encoder:
        """Return this encoder with the form that suits n rows with so many numbers but 0."""
        return replace(self, sparse=nonzero < _SPARSE_BELOW * n * len(self.names))

    def transform(
        self, X: Any, estimator: Any = None, *, unseen: Literal["zero", "error"] = "zero"
    ) -> Any:
        """Return other data as numbers, in the form that those of fit have: dense or CSR.

        The columns of frames are the same in the same order as in fit. Those of Tables are taken by
        name. Labels that were not there in fit become nothing but zeros, or an error.
        """
        if unseen not in _UNSEEN:
            raise InputError(f"unseen must be 'zero' or 'error', got {unseen!r}")
        if estimator is None:
            estimator = BaseEstimator()
            note_names(estimator, self.inputs)
            if self.kind == "array" or not _has_columns(X):
                del estimator.feature_names_in_
        if isinstance(X, Table) or self.kind == "table":
            if self.kind != "table":
                raise InputError(f"X is a Table, but in fit it was an {self.kind} with numbers")
            records = as_table(X)
            if self.sparse and unseen == "zero":
                return self._stored(records)
            return self._assemble(list(self._of_table(records, unseen)), records.n_records)
        if not _has_columns(X):
            numbers = _array(estimator, X, reset=False)
            if self.labels is not None:
                raise InputError(
                    f"X is an array, but column {self.labels.names[0]!r} is not of numbers"
                )
            return self._in_form(numbers)
        frame = _frame(estimator, X, reset=False)
        names = [] if self.labels is None else self.labels.names
        frame.columns = list(self.inputs)  # which may be those of an array
        table = Table(frame.select(names)) if names else None
        return self._assemble(list(self._of_frame(frame, table, unseen)), frame.height)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns of the numbers; those of labels are called ``column=label``."""
        names, known = [], self._labels_of
        for name in self.inputs:
            single = name not in known or known[name].items in _AS_NUMBERS
            names += [name] if single else [f"{name}={_text(x)}" for x in known[name]]
        return tuple(names)

    @cached_property
    def _labels_of(self) -> dict[str, Labels]:
        schema = self.labels
        return {} if schema is None else dict(zip(schema.names, schema.labels, strict=True))

    def to_json(self) -> bytes:
        """Write the encoder, for files of models."""
        return write_json(
            {
                "kind": self.kind,
                "inputs": self.inputs,
                "labels": None if self.labels is None else pack_schema(self.labels),
                "sparse": self.sparse,
            }
        )

    @classmethod
    def from_json(cls, data: bytes) -> Encoder:
        """Read what :meth:`to_json` wrote, and believe none of it unchecked.

        >>> encoder, _ = Encoder.fit({"town": ["Ulm", "Bern"]})
        >>> Encoder.from_json(encoder.to_json()) == encoder
        True
        """
        try:
            content = json.loads(data)
            kind, inputs, packed = content["kind"], tuple(content["inputs"]), content["labels"]
            is_csr = content["sparse"]
            valid = all(isinstance(name, str) for name in inputs) and isinstance(is_csr, bool)
            valid = valid and len(set(inputs)) == len(inputs) > 0
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(f"its columns cannot be read ({error})") from None
        schema = None if packed is None else unpack_schema(packed)
        labelled = () if schema is None else tuple(schema.names)
        if not valid or kind not in _KINDS:
            raise InputError("its columns are of a kind that cannot be")
        wrong = (kind == "array" and (labelled or inputs != tuple(array_names(len(inputs))))) or (
            kind == "table" and labelled != inputs
        )
        if wrong or not set(labelled) <= set(inputs):
            raise InputError("its columns and their labels do not go together")
        return cls(kind, inputs, schema, is_csr)

    def _fit_form(self, columns: list[_Column], n: int) -> tuple[Encoder, Any]:
        """Return this encoder with the form that suits the numbers, and the numbers."""
        nonzero = sum(
            int(np.count_nonzero(numbers)) if numbers is not None else len(_rows(rows))
            for numbers, rows in columns
        )
        encoder = self.in_form(nonzero, n)
        return encoder, encoder._assemble(columns, n)

    def _in_form(self, numbers: Any) -> Any:
        """Return an array as a dense one or as CSR, whichever was fitted."""
        if is_sparse(numbers) == self.sparse:
            return numbers
        if self.sparse:
            return sparse.csr_array(numbers)
        n_bytes = numbers.shape[0] * numbers.shape[1] * numbers.dtype.itemsize
        check_fits(
            n_bytes, "X, which was dense in fit,", "fit a sparse array or take fewer objects"
        )
        return numbers.toarray()

    def _assemble(self, columns: list[_Column], n: int) -> Any:
        if not self.sparse:
            dense = np.zeros((n, len(columns)))
            for index, (numbers, rows) in enumerate(columns):
                if numbers is not None:
                    dense[:, index] = numbers
                else:
                    dense[_rows(rows), index] = 1.0
            return dense
        at, data = [], []
        for numbers, rows in columns:
            nonzero = np.flatnonzero(numbers) if numbers is not None else _rows(rows)
            at.append(nonzero)
            data.append(np.ones(len(nonzero)) if numbers is None else numbers[nonzero])
        ends = np.cumsum([0, *map(len, at)])
        by_column = sparse.csc_array(
            (np.concatenate(data), np.concatenate(at), ends), (n, len(columns))
        )
        return by_column.tocsr()

    def _of_frame(self, frame: pl.DataFrame, table: Table | None, unseen: str) -> Iterator[_Column]:
        """Yield the encoded columns of a frame whose labels are in a Table."""
        known = self._labels_of
        for name in self.inputs:
            if table is not None and name in known:
                yield from _of_labels(table, name, known[name], unseen)
            else:
                yield _numbers(frame.get_column(name)), None

    def _stored(self, table: Table) -> Any:
        """Return a Table's numbers as it stores them; only defaults are sought by column."""
        schema, index = table.schema, 0
        columns = np.full(schema.n_values, -1, np.int32)
        defaults: dict[int, NDArray[Any]] = {}
        for name, labels in self._labels_of.items():
            column = schema.position(name, "X")
            of_table = schema.labels[column]
            for label in labels.items[1:] if labels.items in _AS_NUMBERS else labels.items:
                code = of_table.find(label)
                value = None if code < 0 else schema.value_id(column, code)
                if value is not None:
                    columns[value] = index
                elif code >= 0:
                    defaults[index] = _records_with(table, name, code)
                index += 1
        at, ends = columns[table.values], table.indptr
        if (columns < 0).any():
            known = at >= 0
            at, ends = at[known], np.append(0, np.cumsum(known))[ends]
        rows = sparse.csr_array((np.ones(len(at)), at, ends), (table.n_records, index))
        rows.sort_indices()
        if defaults:
            sizes = [len(defaults.get(k, ())) for k in range(index)]
            starts = np.append(0, np.cumsum(sizes))
            records = np.concatenate([defaults[k] for k in sorted(defaults)])
            rest = sparse.csc_array((np.ones(len(records)), records, starts), rows.shape)
            rows = sparse.csr_array(rows + rest.tocsr())
        return rows

    def _of_table(self, table: Table, unseen: str) -> Iterator[_Column]:
        for name, labels in self._labels_of.items():
            yield from _of_labels(table, name, labels, unseen)


def _has_columns(X: Any) -> bool:
    return (isinstance(X, Mapping) and not is_sparse(X)) or is_frame(X)


def _is_number(series: pl.Series) -> bool:
    return series.dtype.is_numeric() or series.dtype == pl.Boolean


def _text(label: Label) -> str:
    return "missing" if label is None else str(label)


def _rows(rows: NDArray[Any] | None) -> NDArray[Any]:
    return np.zeros(0, np.int64) if rows is None else rows


def _array(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return an array of finite numbers, or a sound CSR array."""
    checked: Any = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=True,
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
    )
    try:
        if not is_sparse(checked):
            number_array(checked)
            return np.ascontiguousarray(checked)
        indptr, indices, numbers = sparse_numbers(checked)
    except InputError as error:
        text = re.sub(r" at (\d+), (\d+)$", r" at row \1, column \2", str(error))
        raise InputError(f"X{text.removeprefix('data').removeprefix('X')}") from None
    return sparse.csr_array(
        (numbers.astype(checked.dtype, copy=False), indices, indptr), checked.shape
    )


def _frame(estimator: Any, X: Any, *, reset: bool) -> pl.DataFrame:
    _, frame = take_columns(estimator, X, reset=reset)
    if frame.height == 0 or frame.width == 0:
        what = "records" if frame.width else "columns"
        raise InputError(f"X has no {what}")
    return frame.clone()  # type: ignore[no-any-return]


def _numbers(series: pl.Series) -> NDArray[np.float64]:
    """Return a numeric column as float64; a missing value is an error that says where."""
    if not _is_number(series):
        raise InputError(f"X: column {series.name!r} holds {series.dtype}, but in fit numbers")
    if series.null_count():
        row = int(series.is_null().arg_max() or 0)
        raise InputError(f"X: column {series.name!r} has a missing value at row {row}")
    numbers = series.cast(pl.Float64).to_numpy().astype(np.float64, copy=False)
    wrong = ~np.isfinite(numbers)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"X contains NaN or inf: {numbers[row]} at row {row}, column {series.name!r}"
        )
    return numbers


def _of_labels(table: Table, name: str, known: Labels, unseen: str) -> Iterator[_Column]:
    """Yield for each label that is to be shown the rows of a Table that hold it."""
    labels = table.schema.labels[table.schema.position(name, "X")]
    if unseen == "error":
        _refuse_unseen(table, name, labels, known)
    for label in known.items[1:] if known.items in _AS_NUMBERS else known.items:
        code = labels.find(label)
        yield None, None if code < 0 else _records_with(table, name, code)


def _refuse_unseen(table: Table, name: str, labels: Labels, known: Labels) -> None:
    for code, label in enumerate(labels.items):
        if known.find(label) < 0 and len(_records_with(table, name, code)):
            raise InputError(f"X: column {name!r} holds {label!r}, which it did not in fit")


def _records_with(table: Table, name: str, code: int) -> NDArray[Any]:
    """Return the records that hold a label; those of the default hold nothing else."""
    schema, (start, rows) = table.schema, table.postings
    column = schema.position(name)
    value = schema.value_id(column, code)
    if value is not None:
        return rows[start[value] : start[value + 1]]
    values = schema.values_of(column)
    others = np.zeros(table.n_records, bool)
    others[rows[start[values.start] : start[values.stop]]] = True
    return np.flatnonzero(~others)
