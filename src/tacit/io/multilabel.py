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
from tacit.io.opening import naming, opened

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray
    from scipy import sparse

    from tacit.io.arff.codes import Entries
    from tacit.io.arff.header import Attribute
    from tacit.io.opening import PathLike

__all__ = ["MultiLabelData", "arff_frame", "read_multilabel"]


@dataclass(frozen=True)
class MultiLabelData:
    """Columns, and several labels for each record.

    Attributes
    ----------
    X : polars.DataFrame or scipy.sparse.csc_array
        A frame of a dense file, a sparse array of a sparse one.
    Y : uint8 array of shape (n_records, n_labels)
    columns : list of str
        Names of the columns of `X`.
    labels : list of str
        Names of the columns of `Y`.
    """

    X: Any
    Y: NDArray[np.uint8]
    columns: list[str]
    labels: list[str]


def read_multilabel(path: PathLike, labels: PathLike | Iterable[str]) -> MultiLabelData:
    """Read a multi-label set as Mulan, MEKA and MLRL-Boomer keep them: ARFF, with labels in XML.

    Numbers stay numbers, and so do nominal attributes that declare nothing but numbers. What a
    sparse file leaves out is zero, or the first label of a nominal attribute.

    Parameters
    ----------
    path : path-like
        The ARFF file, dense or sparse. May be compressed, as for :func:`read_csv`.
    labels : path-like or iterable of str
        The XML file with the names of the labels, or the names themselves. Labels are 0 or 1.

    Returns
    -------
    MultiLabelData
        Of a dense file, `X` is a frame, in which other nominal attributes are text. Of a sparse
        file, `X` is a sparse array, in which a nominal attribute of two labels is 0 and 1, the
        first declared being 0; more labels than two are an error there.

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
        X: Any
        if isinstance(rows, SparseRows):
            X, Y = _of_entries(path, attributes, rows, inputs, outputs)
        else:
            X, Y = _of_frame(path, attributes, rows, inputs, outputs)
    return MultiLabelData(X, Y, [attributes[c].name for c in inputs], names)


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
            if _numbers(attribute) is not None:
                columns[c] = columns[c].cast(pl.Float64)
    return columns


def arff_frame(path: PathLike) -> pl.DataFrame | None:
    """Read a dense ARFF file as a frame; return ``None`` for a sparse one."""
    with naming(path):
        attributes, rows = read_rows(path)
        if isinstance(rows, SparseRows):
            return None
        return pl.DataFrame(plain_columns(attributes, rows))


def _numbers(attribute: Attribute) -> NDArray[np.float64] | None:
    """Return what a nominal attribute's labels are as numbers; ``None`` if they are not."""
    try:
        return np.array([float(label) for label in attribute.labels])
    except ValueError:
        return None


def _of_frame(
    path: PathLike,
    attributes: list[Attribute],
    rows: DenseRows,
    inputs: list[int],
    outputs: list[int],
) -> tuple[pl.DataFrame, NDArray[np.uint8]]:
    columns = plain_columns(attributes, rows)
    Y = np.empty((len(columns[0]), len(outputs)), np.uint8)
    for j, c in enumerate(outputs):
        column = columns[c]
        values = column.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
        Y[:, j] = _checked(path, attributes[c], values, np.arange(len(values)))
    return pl.DataFrame([columns[c] for c in inputs]), Y


def _of_entries(
    path: PathLike,
    attributes: list[Attribute],
    rows: SparseRows,
    inputs: list[int],
    outputs: list[int],
) -> tuple[sparse.csc_array, NDArray[np.uint8]]:
    from scipy import sparse

    entries, _ = rows.entries()
    Y = np.zeros((entries.n_records, len(outputs)), np.uint8)
    for j, c in enumerate(outputs):
        values, omitted = _values(path, attributes[c], entries, c)
        Y[:, j] = _checked(path, attributes[c], np.array([omitted]), np.array([0]))
        given = entries.rows[entries.of_column(c)]
        Y[given, j] = _checked(path, attributes[c], values, given)
    data, records, indptr = [], [], [0]
    for c in inputs:
        values, omitted = _values(path, attributes[c], entries, c)
        given = entries.rows[entries.of_column(c)]
        if omitted != 0:  # what is left out is not zero: the column has to be written out
            full = np.full(entries.n_records, omitted)
            full[given] = values
            values, given = full, np.arange(entries.n_records)
        stored = values != 0
        data.append(values[stored])
        records.append(given[stored])
        indptr.append(indptr[-1] + len(data[-1]))
    parts = (np.concatenate(data), np.concatenate(records).astype(np.int32), np.array(indptr))
    return sparse.csc_array(parts, shape=(entries.n_records, len(inputs))), Y


def _values(
    path: PathLike, attribute: Attribute, entries: Entries, c: int
) -> tuple[NDArray[np.float64], float]:
    """Return the numbers of a column's entries, and what is left out."""
    data = entries.data[entries.of_column(c)]
    if attribute.kind == "text":
        raise FileError(path, f"attribute {attribute.name!r} is text, in a sparse file of numbers")
    if attribute.kind != "nominal":
        return data, 0.0
    numbers = _numbers(attribute)
    if numbers is None:
        if len(attribute.labels) > 2:
            raise FileError(
                path,
                f"attribute {attribute.name!r} has {len(attribute.labels)} labels that are not "
                "numbers, in a sparse file",
            )
        return data, 0.0  # the code of a label
    codes = np.where(np.isnan(data), 0, data).astype(np.int64)
    return np.where(np.isnan(data), np.nan, numbers[codes]), float(numbers[0])


def _checked(
    path: PathLike,
    attribute: Attribute,
    values: NDArray[np.float64],
    records: NDArray[np.int64],
) -> NDArray[np.uint8]:
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        k = int(np.argmax(wrong))
        raise FileError(
            path, f"label {attribute.name!r} is {values[k]:g} at record {records[k]}, not 0 or 1"
        )
    return values.astype(np.uint8)
