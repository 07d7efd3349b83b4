"""Arrays, dense or sparse, as tables and frames."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.errors import InputError
from tacit.machine import check_fits
from tacit.table.containers import array_columns, is_sparse
from tacit.table.gateway import refuse_numbers
from tacit.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["array_frame", "check_finite", "naming_x", "numbers_or_frame", "sparse_table"]


def sparse_table(X: Any, names: Sequence[str]) -> Table:
    """Return a sparse array of numbers as a Table; it is not made dense."""
    try:
        return Table(X, columns=names)
    except InputError as error:
        raise InputError(f"X{str(error).removeprefix('data')}") from None


def array_frame(X: Any, names: Sequence[str], *, missing: bool = False) -> pl.DataFrame:
    """Return an array as a frame; NaN is refused, unless it may stand for what is missing."""
    if is_sparse(X):
        check_fits(8 * X.shape[0] * X.shape[1], "the dense form of X", "cut it yourself")
        X = X.toarray()
    X = check_finite(X, missing=missing)
    if X.dtype.kind not in "biuf":
        return array_columns(X, names, "X")
    return pl.DataFrame([pl.Series(name, X[:, k]) for k, name in enumerate(names)])


@contextmanager
def naming_x() -> Iterator[None]:
    """Say of what is wrong with a column that it is one of X."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{'X: ' * str(error).startswith('column ')}{error}") from None


def check_finite(X: NDArray[Any], *, missing: bool = False) -> NDArray[Any]:
    """Return an array of finite numbers as float64, any other as it is; NaN may be `missing`."""
    if X.dtype.kind != "f":
        return X
    X = X.astype(np.float64, copy=False)
    refuse_numbers(X, missing=missing)
    return X


def numbers_or_frame(given: Any, names: Sequence[str]) -> Any:
    """Return an array of numbers as it is; one of other objects as a frame."""
    if is_sparse(given) or given.dtype.kind in "biuf":
        return given
    return array_columns(given, names, "X")
