"""Files in svmlight (LIBSVM) format, through scikit-learn."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.errors import FileError, InputError
from tacit.io.entries import store_entries
from tacit.io.opening import naming, opened
from tacit.machine import check_fits
from tacit.schema import Labels, Schema
from tacit.table.matrices import encode_matrix
from tacit.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.io.opening import PathLike
    from tacit.table.build import Parts

__all__ = ["read_svmlight"]


def read_svmlight(
    path: PathLike,
    *,
    zero_based: bool | Literal["auto"] = "auto",
    multilabel: bool = False,
    target: str = "target",
    n_features: int | None = None,
    discretise: Literal["presence"] | None = None,
    defaults: Any = None,
) -> Table:
    """Read an svmlight file into a Table: a column for each feature, and the label last.

    Feature values must be whole numbers from 0 on. Columns are called "0", "1", … by their
    position, also in a file that counts from one.

    Parameters
    ----------
    path : path-like
        May be compressed, as for :func:`read_csv`.
    zero_based : bool or "auto"
        Whether the file counts features from zero; "auto" takes it to if it has a feature 0.
    multilabel : bool, default False
        Whether a record has any number of labels, with commas between. Each label is a column then,
        called "target=1" and so on, of 0 and 1.
    target : str
        What to call the column of the labels, which must be whole numbers.
    n_features : int, optional
        Number of features, where the file may not show the last ones.
    discretise : "presence", optional
        Take any value but zero for 1.
    defaults : mapping, label or None
        As for :class:`tacit.Table`.

    Returns
    -------
    Table
    """
    if discretise not in (None, "presence"):
        raise InputError(f"discretise must be 'presence' or None here, got {discretise!r}")
    with naming(path):
        with opened(path) as file:
            X, y = _load(path, file, zero_based, multilabel, n_features)
        if X.shape[1] == 0:
            raise FileError(path, "holds no features")
        n = X.shape[1]
        check_fits(200 * n, f"a Table of {n:,} columns", "a file that counts so far is damaged")
        if discretise == "presence" and np.isfinite(X.data).all():
            X.data = (X.data != 0).astype(np.int8)
        names = [str(c) for c in range(X.shape[1])]
        if multilabel:
            from scipy import sparse

            Y, labels = _indicators(y)
            names += [f"{target}={label}" for label in labels]
            return Table._of(encode_matrix(sparse.hstack([X, Y], "csr"), names, defaults))
        parts = encode_matrix(X, names, 0)
        return Table._of(_append(parts, target, _integers(y), defaults))


def _load(
    path: PathLike, file: IO[bytes], zero_based: Any, multilabel: bool, n_features: int | None
) -> tuple[Any, Any]:
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(
            file, zero_based=zero_based, multilabel=multilabel, n_features=n_features
        )
    except (ValueError, OverflowError, IndexError) as error:
        if isinstance(error, UnicodeDecodeError):
            raise
        with opened(path) as again:
            where = _find_bad_line(again, multilabel)
        raise FileError(path, where or f"is not an svmlight file: {error}") from error
    if X.shape[0] == 0:
        raise FileError(path, "holds no records")
    return X, y


def _find_bad_line(file: IO[bytes], multilabel: bool) -> str | None:
    """Say which line is wrong; only asked when one is."""
    for number, line in enumerate(file, 1):
        tokens = line.split(b"#")[0].split()
        if not tokens:
            continue
        labels = tokens.pop(0) if not multilabel or b":" not in tokens[0] else b""
        last = -1
        try:
            _ = [float(label) for label in labels.split(b",") if label]
            for token in tokens:
                index, _, value = token.partition(b":")
                if index == b"qid":
                    continue
                if not last < (last := int(index)):
                    return f"line {number}: feature {last} comes twice, late or below zero"
                float(value)
        except ValueError as error:
            return f"line {number}: {error}"
    return None


def _integers(y: NDArray[np.float64]) -> NDArray[np.int64]:
    wrong = ~np.isfinite(y) | (y != np.floor(y)) | (np.abs(y) >= 2.0**63)
    if wrong.any():
        record = int(np.argmax(wrong))
        raise InputError(f"record {record} has the label {y[record]}, which is not a whole number")
    return y.astype(np.int64)


def _indicators(y: Sequence[tuple[float, ...]]) -> tuple[Any, list[int]]:
    """Return a 0/1 matrix with a column for each label, and the labels."""
    from scipy import sparse

    lengths = [len(labels) for labels in y]
    flat = _integers(np.array([label for labels in y for label in labels], np.float64))
    labels, columns = np.unique(flat, return_inverse=True)
    rows = np.repeat(np.arange(len(y)), lengths)
    Y = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(y), len(labels)))
    Y.data[:] = 1  # a label twice is there once
    return Y, labels.tolist()


def _append(parts: Parts, name: str, y: NDArray[np.int64], defaults: Any) -> Parts:
    """Add a column behind those of parts that have 0 as the default of all columns."""
    old, m = parts.schema, len(y)
    if name in old.names:
        raise InputError(f"target: {name!r} is the name of a feature")
    labels, codes = np.unique(y, return_inverse=True)
    schema = Schema(
        [*old.names, name], [*old.labels, Labels(labels.tolist(), "Int64")], [*old.defaults, 0]
    )
    rows = np.repeat(np.arange(m), np.diff(parts.indptr))
    return store_entries(
        schema,
        m,
        np.concatenate((rows, np.arange(m))),
        np.concatenate((old.value_columns[parts.values], np.full(m, len(old)))),
        np.concatenate((old.value_codes[parts.values], codes)),
        defaults,
    )
