"""Rows of numbers, made of whatever X is: what distances are measured between.

Arrays are numbers already. In frames and Tables, columns that do not hold numbers become columns of
0 and 1, one for each of their labels; booleans, and labels 0 and 1, become one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.base import BaseEstimator

from tacit.errors import InputError
from tacit.machine import check_fits
from tacit.schema import Labels
from tacit.table.containers import is_sparse
from tacit.table.gateway import refuse_numbers
from tacit.table.input_spec import InputSpec, Numbers
from tacit.table.inputs import Inputs
from tacit.table.matrices import sparse_numbers
from tacit.table.schema_json import write_json
from tacit.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.counts import OneWay
    from tacit.schema import Schema
    from tacit.table.input_spec import Domain

__all__ = ["OneHot", "fit_one_hot", "number_rows", "read_one_hot"]

_SPARSE_BELOW = 1 / 8  # products of dense rows are that much faster than those of sparse ones
_NUMBERS = Numbers()  # one for all columns, so that what is found out of it is found out once
_AS_NUMBERS = frozenset({(False, True), (0, 1)})  # labels that are numbers as they stand


@dataclass(frozen=True)
class OneHot:
    """How X becomes rows of numbers, the same way ever after.

    Examples
    --------
    >>> X = {"age": [31, 58, 44], "town": ["Ulm", "Bern", "Ulm"], "pays": [True, False, True]}
    >>> encoding, numbers = OneHot.fit(X)
    >>> encoding.names
    ('age', 'town=Bern', 'town=Ulm', 'pays')
    >>> numbers.tolist()
    [[31.0, 0.0, 1.0, 1.0], [58.0, 1.0, 0.0, 0.0], [44.0, 0.0, 1.0, 1.0]]
    >>> encoding.transform({"age": [20], "town": ["Rome"], "pays": [False]}).tolist()
    [[20.0, 0.0, 0.0, 0.0]]
    """

    spec: InputSpec
    # Whether the numbers are a CSR array. Those of frames and Tables are, if fewer than one number
    # in eight was other than 0. Arrays stay what they are in fit.
    sparse: bool

    @classmethod
    def fit(cls, X: Any, estimator: Any = None) -> tuple[OneHot, Any]:
        """Return the encoding of X, and X as numbers: float32 if it is an array of that type."""
        fitted: tuple[OneHot, Any] = Inputs.fit(estimator or BaseEstimator(), X).one_hot()
        return fitted

    @classmethod
    def of_schema(cls, schema: Schema, names: Sequence[str]) -> OneHot:
        """Return the encoding of some columns of Tables, in sparse form."""
        domains = [_table_domain(schema.labels[schema.position(name)]) for name in names]
        return cls(InputSpec.of_domains("table", names, domains), True)

    def transform(
        self, X: Any, estimator: Any = None, *, unseen: Literal["zero", "error"] = "zero"
    ) -> Any:
        """Return other data as numbers, in the form that those of fit have: dense or CSR.

        The columns of frames are the same in the same order as in fit. Those of Tables are taken by
        name. Labels that were not there in fit become nothing but zeros, or an error.
        """
        if unseen not in ("zero", "error"):
            raise InputError(f"unseen must be 'zero' or 'error', got {unseen!r}")
        if estimator is None:
            estimator = BaseEstimator()
            self.spec.note(estimator)
        target_name = getattr(estimator, "_target_name", None)
        inputs = Inputs.read(estimator, X, self.spec, target_name=target_name)
        return inputs.one_hot(self, unseen=unseen)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """The first column of numbers of each column, and one past the last."""
        widths = {id(domain): _width(domain) for domain in self.spec.domains}
        return np.cumsum([0, *(widths[id(domain)] for domain in self.spec.domains)])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns of the numbers; those of labels are called ``column=label``."""
        names: list[str] = []
        for name, domain in zip(self.spec.names, self.spec.domains, strict=True):
            if isinstance(domain, Numbers) or domain.items in _AS_NUMBERS:
                names.append(name)
            else:
                names += [f"{name}={'missing' if x is None else x}" for x in domain]
        return tuple(names)

    def in_form(self, nonzero: int, n: int) -> OneHot:
        """Return this encoding with the form that suits n rows with so many numbers but 0."""
        return replace(self, sparse=nonzero < _SPARSE_BELOW * n * int(self.starts[-1]))

    def distribution(self, counts: OneWay) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Return what is counted of Tables: a column of numbers, a number, and how many have it.

        Zeros are left out.
        """
        outputs, numbers = self._cells(counts.schema)
        known = (outputs >= 0) & (numbers != 0)
        return outputs[known], numbers[known], counts.counts[known]

    def to_json(self) -> bytes:
        """Write the encoding, for files of models."""
        return write_json({**json.loads(self.spec.to_json()), "sparse": self.sparse})

    @classmethod
    def from_json(cls, data: bytes) -> OneHot:
        """Read what :meth:`to_json` wrote, and believe none of it unchecked.

        >>> encoding, _ = OneHot.fit({"town": ["Ulm", "Bern"]})
        >>> OneHot.from_json(encoding.to_json()) == encoding
        True
        """
        spec = InputSpec.from_json(data)
        is_csr = json.loads(data).get("sparse")
        if not isinstance(is_csr, bool):
            raise InputError("its columns are of a form that cannot be")
        return cls(spec, is_csr)

    # Tables

    def _cells(self, schema: Schema) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return for each cell of Tables which column of numbers it is about, or -1, and which."""
        outputs = np.full(int(schema.cells[-1]), -1, np.int64)
        numbers = np.zeros(len(outputs))
        known: dict[tuple[int, int], tuple[Any, Any]] = {}
        # Columns of arrays have no names of their own.
        in_order = self.spec.origin == "array" and len(schema) == len(self.spec.names)
        for k, (name, domain) in enumerate(zip(self.spec.names, self.spec.domains, strict=True)):
            column = k if in_order else schema.position(name, "X")
            labels = schema.labels[column]
            key = id(labels), id(domain)
            if key not in known:
                known[key] = _label_numbers(labels, domain, name)
            cells = slice(*schema.cells[column : column + 2])
            shifts, numbers[cells] = known[key]
            outputs[cells] = np.where(shifts < 0, -1, self.starts[k] + shifts)
        return outputs, numbers

    def of_table(self, table: Table, unseen: str = "zero") -> Any:
        """Return the rows of a Table."""
        n, width = table.n_records, int(self.starts[-1])
        outputs, numbers = self._cells(table.schema)
        if unseen == "error":
            self._refuse_unseen(table, outputs)
        if np.isnan(numbers).any():
            self._refuse_missing(table, numbers)
        schema = table.schema
        ids = table.values
        cells, columns = schema.value_cells[ids], schema.value_columns[ids]
        rows = np.repeat(np.arange(n), np.diff(table.indptr))
        at, value = outputs[cells], numbers[cells]
        base = schema.default_cells
        if not self.sparse:
            dense = np.zeros((n, width))
            told = outputs[base] >= 0
            dense[:, outputs[base][told]] = numbers[base][told]
            gone = outputs[base][columns]
            dense[rows[gone >= 0], gone[gone >= 0]] = 0.0
            dense[rows[at >= 0], at[at >= 0]] = value[at >= 0]
            return dense
        kept = (at >= 0) & (value != 0)
        parts = [(rows[kept], at[kept], value[kept])]
        for column in np.flatnonzero((outputs[base] >= 0) & (numbers[base] != 0)).tolist():
            default = np.ones(n, np.bool_)
            default[rows[columns == column]] = False
            where = np.flatnonzero(default)
            number = np.full(len(where), numbers[base[column]])
            parts.append((where, np.full(len(where), outputs[base[column]]), number))
        return _csr(parts, (n, width))

    def _refuse_missing(self, table: Table, numbers: NDArray[np.float64]) -> None:
        schema = table.schema
        for name in self.spec.names:
            column = schema.position(name)
            wrong = np.isnan(numbers[slice(*schema.cells[column : column + 2])])
            held = wrong[table.codes(column)] if wrong.any() else wrong
            if held.any():
                row = int(held.argmax())
                raise InputError(f"X: column {name!r} has a missing value at row {row}")

    def _refuse_unseen(self, table: Table, outputs: NDArray[np.int64]) -> None:
        schema, singles = table.schema, table.with_weights(None).one_way()
        for name, domain in zip(self.spec.names, self.spec.domains, strict=True):
            column = schema.position(name)
            cells = slice(*schema.cells[column : column + 2])
            wrong = (outputs[cells] < 0) & (singles.counts[cells] > 0)
            if isinstance(domain, Labels) and wrong.any():
                label = schema.labels[column][int(wrong.argmax())]
                raise InputError(f"X: column {name!r} holds {label!r}, which it did not in fit")


def _width(domain: Domain) -> int:
    return 1 if isinstance(domain, Numbers) or domain.items in _AS_NUMBERS else len(domain)


def _table_domain(labels: Labels) -> Domain:
    """Return what a column of a Table becomes: numbers that mean numbers stay what they are."""
    return _NUMBERS if labels.is_numeric and labels.kind == "numeric" else labels


def _label_numbers(labels: Labels, domain: Domain, name: str) -> tuple[Any, Any]:
    """Return for each label which of the columns of numbers it is about, or -1, and the number."""
    if isinstance(domain, Numbers):
        if labels.dtype == "Null":
            return np.zeros(len(labels), np.int64), np.full(len(labels), np.nan)
        if not (labels.is_numeric or labels.dtype == "Boolean"):
            raise InputError(f"X: column {name!r} holds {labels.dtype}, but in fit numbers")
        return np.zeros(len(labels), np.int64), labels.numbers
    codes = domain.find_all(labels)
    if domain.items in _AS_NUMBERS:
        return np.where(codes < 0, -1, 0), codes.astype(np.float64)
    return codes, np.ones(len(codes))


# What Inputs ask for


def fit_one_hot(inputs: Inputs) -> tuple[OneHot, Any]:
    """Return the encoding of records, and their numbers."""
    data, names = inputs.data, inputs.names
    if isinstance(data, Table):
        table = inputs.features()
        encoding = OneHot.of_schema(table.schema, table.schema.names)
        nonzero = int(encoding.distribution(table.with_weights(None).one_way())[2].sum())
        encoding = encoding.in_form(nonzero, table.n_records)
        return encoding, encoding.of_table(table)
    if not isinstance(data, pl.DataFrame):
        numbers = _array(data)
        return OneHot(
            InputSpec.of_domains("array", names, [Numbers()] * len(names)), is_sparse(numbers)
        ), numbers
    kinds = inputs.kinds or {}
    plain = [
        s.name for s in data.iter_columns()
        if (s.dtype.is_numeric() or s.dtype == pl.Boolean)
        and kinds.get(s.name, "numeric") in ("numeric", "boolean")
    ]  # fmt: skip
    numeric = set(plain)
    others = [name for name in names if name not in numeric]
    table = Table(data.select(others)) if others else None  # type: ignore[assignment]
    found = {} if table is None else dict(zip(others, table.schema.labels, strict=True))
    domains = [found.get(name, Numbers()) for name in names]
    encoding = OneHot(InputSpec.of_domains("frame", names, domains), True)
    columns = {name: _series_numbers(data.get_column(name)) for name in plain}
    nonzero = sum(int(np.count_nonzero(numbers)) for numbers in columns.values())
    encoding = encoding.in_form(nonzero + data.height * len(others), data.height)
    return encoding, _assemble(encoding, columns, table, data.height, "zero")


def read_one_hot(inputs: Inputs, encoding: OneHot, unseen: str = "zero") -> Any:
    """Return the numbers of other records."""
    data, spec = inputs.data, encoding.spec
    if isinstance(data, Table):
        return encoding.of_table(data, unseen)
    labelled = spec.schema.names if not spec.numeric.all() else ()
    if not isinstance(data, pl.DataFrame):
        if labelled and spec.origin != "table":
            raise InputError(f"X is an array, but column {labelled[0]!r} is not of numbers")
        if labelled:
            return encoding.of_table(Inputs("array", data, spec.names).ranked(), unseen)
        return _in_form(_array(data), encoding)
    table = Table(data.select(labelled)) if labelled else None
    columns = {
        name: _series_numbers(data.get_column(name))
        for name, numeric in zip(spec.names, spec.numeric, strict=True)
        if numeric
    }
    return _assemble(encoding, columns, table, data.height, unseen)


def number_rows(inputs: Inputs) -> Any:
    """Return records of nothing but numbers as rows, dense or CSR as they come."""
    data = inputs.data
    if isinstance(data, Table):
        for name in inputs.names:
            labels = data.schema[name].labels
            if not (labels.is_numeric or labels.dtype == "Boolean"):
                raise InputError(f"X: column {name!r} holds labels, but in fit numbers")
        return OneHot(inputs.remembered, True).of_table(data)
    if not isinstance(data, pl.DataFrame):
        return _array(data)
    return np.column_stack([_series_numbers(series) for series in data.iter_columns()])


def _assemble(
    encoding: OneHot, columns: dict[str, Any], table: Table | None, n: int, unseen: str
) -> Any:
    """Put columns of numbers and the labels of others together."""
    starts, spec = encoding.starts, encoding.spec
    first = dict(zip(spec.names, starts[:-1].tolist(), strict=True))
    labels, outputs = None, np.zeros(0, np.int64)
    if table is not None:
        kept = np.flatnonzero(~spec.numeric).tolist()
        part = InputSpec.of_domains(
            "table", [spec.names[k] for k in kept], [spec.domains[k] for k in kept]
        )
        labels = OneHot(part, encoding.sparse).of_table(table, unseen)
        outputs = np.concatenate([np.arange(starts[k], starts[k + 1]) for k in kept])
    if not encoding.sparse:
        dense = np.zeros((n, int(starts[-1])))
        for name, numbers in columns.items():
            dense[:, first[name]] = numbers
        if labels is not None:
            dense[:, outputs] = labels
        return dense
    parts = []
    for name, numbers in columns.items():
        rows = np.flatnonzero(numbers)
        parts.append((rows, np.full(len(rows), first[name]), numbers[rows]))
    if labels is not None:
        cells = labels.tocoo()
        parts.append((cells.row, outputs[cells.col], cells.data))
    return _csr(parts, (n, int(starts[-1])))


def _csr(parts: list[Any], shape: tuple[int, int]) -> Any:
    rows, columns, numbers = (np.concatenate(part) for part in zip(*parts, strict=True))
    matrix = sparse.coo_array((numbers, (rows, columns)), shape).tocsr()
    matrix.sort_indices()
    return matrix


def _in_form(numbers: Any, encoding: OneHot) -> Any:
    """Return an array as a dense one or as CSR, whichever was fitted."""
    if is_sparse(numbers) == encoding.sparse:
        return numbers
    if encoding.sparse:
        return sparse.csr_array(numbers)
    n_bytes = numbers.shape[0] * numbers.shape[1] * numbers.dtype.itemsize
    check_fits(n_bytes, "X, which was dense in fit,", "fit a sparse array or take fewer objects")
    return numbers.toarray()


def _array(given: Any) -> Any:
    """Return an array of finite numbers, or a sound CSR array."""
    kept = given.dtype if given.dtype in (np.float32, np.float64) else np.float64
    if not is_sparse(given):
        numbers = np.require(given, kept, ["C", "ALIGNED"])
        refuse_numbers(numbers)
        return numbers
    try:
        indptr, indices, stored = sparse_numbers(given)
    except InputError as error:
        raise InputError(f"X{str(error).removeprefix('data')}") from None
    return sparse.csr_array((stored.astype(kept, copy=False), indices, indptr), given.shape)


def _series_numbers(series: pl.Series) -> NDArray[np.float64]:
    """Return a numeric column as float64; a missing value is an error that says where."""
    if series.dtype != pl.Null and not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
        raise InputError(f"X: column {series.name!r} holds {series.dtype}, but in fit numbers")
    if series.null_count():
        row = int(series.is_null().arg_max() or 0)
        raise InputError(f"X: column {series.name!r} has a missing value at row {row}")
    numbers = series.cast(pl.Float64).to_numpy().astype(np.float64, copy=False)
    refuse_numbers(numbers, [series.name])
    return numbers
