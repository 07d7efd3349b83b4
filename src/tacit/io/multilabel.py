"""Records with several labels each: an ARFF file, and an XML file with the labels' names."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike as OsPathLike
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl

from tacit.errors import FileError, InputError
from tacit.io.arff.read import DenseRows, read_rows
from tacit.io.arff.sparse import SparseRows
from tacit.io.entries import store_entries
from tacit.io.opening import naming, opened
from tacit.schema import Labels, Schema
from tacit.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray
    from scipy import sparse

    from tacit.io.arff.codes import Entries
    from tacit.io.arff.header import Attribute
    from tacit.io.opening import PathLike

__all__ = ["MultiLabelData", "arff_numbers", "read_multilabel"]


@dataclass(frozen=True)
class MultiLabelData:
    """Columns, and several labels for each record.

    Attributes
    ----------
    X : polars.DataFrame or Table
        A frame of a dense file, a Table of a sparse one. Both know the names of their columns.
    Y : polars.DataFrame
        A column of 0 and 1 for each label.
    """

    X: pl.DataFrame | Table
    Y: pl.DataFrame

    @property
    def columns(self) -> list[str]:
        """The names of the columns of `X`."""
        return list(self.X.columns if isinstance(self.X, pl.DataFrame) else self.X.schema.names)

    @property
    def labels(self) -> list[str]:
        """The names of the columns of `Y`."""
        return self.Y.columns

    def to_arrays(self) -> tuple[Any, NDArray[np.uint8]]:
        """Return X and Y as arrays of numbers without names, for others to learn from.

        Returns
        -------
        X : float64 array, or scipy.sparse.csc_array of a sparse file
            Missing values are NaN.
        Y : uint8 array of shape (n_records, n_labels)

        Raises
        ------
        InputError
            If a column of `X` is text.
        """
        if isinstance(self.X, Table):
            return _sparse_numbers(self.X), self.Y.to_numpy()
        for column in self.X:
            if column.dtype == pl.String:
                raise InputError(f"X: column {column.name!r} is text, which is no number")
        return self.X.to_numpy().astype(np.float64), self.Y.to_numpy()


def read_multilabel(path: PathLike, labels: PathLike | Iterable[str]) -> MultiLabelData:
    """Read a multi-label set as Mulan, MEKA and MLRL-Boomer keep them: ARFF, with labels in XML.

    Numbers stay numbers, and so do nominal attributes that declare nothing but numbers; others are
    text. What a sparse file leaves out is zero, or the first label of a nominal attribute. All
    names are kept, so that models speak of columns and labels as the files do.

    Parameters
    ----------
    path : path-like
        The ARFF file, dense or sparse. May be compressed, as for :func:`read_csv`.
    labels : path-like or iterable of str
        The XML file with the names of the labels, or the names themselves. Labels are 0 or 1.

    Returns
    -------
    MultiLabelData
        Columns `X`, a frame of a dense file and a Table of a sparse one, and labels `Y`, a frame of
        0 and 1.

    Raises
    ------
    FileError
        If a file cannot be read in full, or if the ARFF file lacks a label or has another value
        than 0 and 1 for it.
    """
    names = _label_names(labels)
    with naming(path):
        attributes, rows = read_rows(path)
        positions = {attribute.name: c for c, attribute in enumerate(attributes)}
        outputs = [_position(path, positions, name) for name in names]
        taken = set(outputs)
        inputs = [c for c in range(len(attributes)) if c not in taken]
        if not inputs:
            raise FileError(path, "holds nothing but labels")
        X: pl.DataFrame | Table
        if isinstance(rows, SparseRows):
            X, Y = _of_entries(path, attributes, rows, inputs, outputs)
        else:
            X, Y = _of_frame(path, attributes, rows, inputs, outputs)
    return MultiLabelData(X, Y.rename(dict(zip(Y.columns, names, strict=True))))


def _sparse_numbers(table: Table) -> sparse.csc_array:
    """Return a Table of numbers as a sparse array; what is not stored in it are zeros."""
    from scipy import sparse

    schema = table.schema
    data, records, indptr = [], [], [0]
    for c, labels in enumerate(schema.labels):
        if labels.dtype == "String":
            raise InputError(f"X: column {schema.names[c]!r} is text, which is no number")
        numbers = np.array([np.nan if x is None else x for x in labels], np.float64)
        if numbers[schema.defaults[c]] == 0:
            ids = schema.values_of(c)
            starts, holders = table.postings
            held = slice(int(starts[ids.start]), int(starts[ids.stop]))
            each = np.repeat(numbers[schema.codes_of(c)], np.diff(starts[ids.start : ids.stop + 1]))
            order = np.argsort(holders[held], kind="stable")
            values, given = each[order], holders[held][order]
        else:
            values = numbers[table.codes(c)]
            given = np.flatnonzero(values).astype(np.int32)
            values = values[given]
        data.append(values)
        records.append(given)
        indptr.append(indptr[-1] + len(values))
    parts = (np.concatenate(data), np.concatenate(records), np.array(indptr))
    return sparse.csc_array(parts, shape=table.shape)


def _position(path: PathLike, positions: dict[str, int], name: str) -> int:
    """Return which attribute is a label. ARFF escapes some characters, XML does not."""
    for written in (name, name.replace("\\", "")):
        if written in positions:
            return positions[written]
    raise FileError(path, f"has no attribute {name!r}, which is named as a label")


def _label_names(labels: PathLike | Iterable[str]) -> list[str]:
    if not isinstance(labels, (str, OsPathLike)):
        names = list(labels)
        source = "labels"
    else:
        source = str(labels)
        with naming(labels), opened(labels) as file:
            try:
                root = ET.parse(file).getroot()
            except ET.ParseError as error:
                raise FileError(labels, f"is not XML: {error}") from None
        # Labels may be nested, where they form a hierarchy; the namespace is left open.
        elements = [x for x in root.iter() if x.tag.rpartition("}")[2] == "label"]
        names = [element.get("name", "") for element in elements]
    if not names or not all(isinstance(name, str) and name for name in names):
        raise InputError(f"{source}: no names of labels")
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise InputError(f"{source}: the label {twice!r} is named twice")
    return names


def plain_columns(attributes: list[Attribute], rows: DenseRows) -> list[pl.Series]:
    """Return the columns of a dense file: numbers, also where labels are numbers, and text."""
    columns = rows.finish().get_columns()
    for c, attribute in enumerate(attributes):
        if attribute.kind == "nominal":
            columns[c] = columns[c].cast(pl.String)
            if attribute.numbers:
                whole = all(number.is_integer() for number in attribute.numbers)
                columns[c] = columns[c].cast(pl.Float64).cast(pl.Int64 if whole else pl.Float64)
    return columns


def arff_numbers(path: PathLike) -> pl.DataFrame | Table:
    """Read a dense ARFF file as a frame, a sparse one as a Table; numbers stay numbers in both."""
    with naming(path):
        attributes, rows = read_rows(path)
        if isinstance(rows, SparseRows):
            return _number_table(attributes, *rows.entries())
        return pl.DataFrame(plain_columns(attributes, rows))


def _of_frame(
    path: PathLike,
    attributes: list[Attribute],
    rows: DenseRows,
    inputs: list[int],
    outputs: list[int],
) -> tuple[pl.DataFrame, pl.DataFrame]:
    columns, labels = plain_columns(attributes, rows), {}
    for c in outputs:
        values = columns[c].cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
        labels[attributes[c].name] = _checked(path, attributes[c], values)
    return pl.DataFrame([columns[c] for c in inputs]), pl.DataFrame(labels)


def _of_entries(
    path: PathLike,
    attributes: list[Attribute],
    rows: SparseRows,
    inputs: list[int],
    outputs: list[int],
) -> tuple[Table, pl.DataFrame]:
    entries, columns = rows.entries()
    labels = {}
    for c in outputs:
        numbers, codes, omitted = _coded_numbers(attributes[c], entries, c)
        given = entries.rows[entries.of_column(c)]
        full = np.full(entries.n_records, numbers[omitted])
        full[given] = numbers[codes]
        labels[c] = _checked(path, attributes[c], full)
    table = _number_table(attributes, entries, columns)
    return table.select(inputs), pl.DataFrame({attributes[c].name: labels[c] for c in outputs})


def _number_table(
    attributes: list[Attribute], entries: Entries, columns: NDArray[np.int64]
) -> Table:
    """Return a sparse file as a Table of which the labels are numbers, or else text."""
    codes = np.empty(len(columns), np.int64)
    omitted = np.zeros(len(attributes), np.int64)
    labels: list[Labels] = []
    shared: dict[Any, Labels] = {}
    for c, attribute in enumerate(attributes):
        column = entries.of_column(c)
        if attribute.kind == "text" or (attribute.kind == "nominal" and not attribute.numbers):
            items: tuple[Any, ...] = attribute.labels or tuple(entries.texts.get(c, ()))
            dtype, given = "String", entries.data[column]
            missing = np.isnan(given)
            codes[column] = np.where(missing, len(items), given)
            items = (*items, None) if missing.any() else items
        else:
            numbers, codes[column], omitted[c] = _coded_numbers(attribute, entries, c)
            missing = np.isnan(numbers)
            whole = bool((numbers[~missing] == np.floor(numbers[~missing])).all())
            kind, dtype = (int, "Int64") if whole else (float, "Float64")
            items = tuple(None if x != x else kind(x) for x in numbers.tolist())
        labels.append(shared.setdefault((dtype, items), Labels(items, dtype)))
    schema = Schema([attribute.name for attribute in attributes], labels, omitted)
    return Table._of(store_entries(schema, entries.n_records, entries.rows, columns, codes, None))


def _coded_numbers(
    attribute: Attribute, entries: Entries, c: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], int]:
    """Return the numbers of a column, NaN last, their codes by entry, and that of what is left out.

    The labels of a nominal attribute that are not numbers are NaN.
    """
    values, left_out = entries.data[entries.of_column(c)], 0.0
    if attribute.kind == "nominal":
        declared = np.array(attribute.numbers or [np.nan] * len(attribute.labels))
        known = ~np.isnan(values)
        values = np.where(known, declared[np.where(known, values, 0).astype(np.int64)], np.nan)
        left_out = float(declared[0])
    numbers, codes = np.unique(np.append(values, left_out) + 0.0, return_inverse=True)  # no -0.0
    return numbers, codes[:-1], int(codes[-1])


def _checked(
    path: PathLike,
    attribute: Attribute,
    values: NDArray[np.float64],
) -> NDArray[np.uint8]:
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        k = int(np.argmax(wrong))
        what = f"label {attribute.name!r} is {values[k]:g} at record {k}"
        raise FileError(path, f"{what}, not 0 or 1")
    return values.astype(np.uint8)
