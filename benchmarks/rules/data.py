"""What rules are learnt from: drawn records with labels, five multi-label sets, Adult."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy import sparse

import tacit
from benchmarks.adult import NotAtHandError, _adult_frame
from benchmarks.report import SHARED
from tacit.datasets import make_labelled_records

if TYPE_CHECKING:
    from numpy.typing import NDArray

SETS = ("emotions", "scene", "yeast", "medical", "enron")


@dataclass(frozen=True)
class Task:
    """Records to learn from and others to try on.

    Attributes
    ----------
    X, T : frame, array or sparse array
        Columns of the records to learn from, and of the others.
    Y, U : uint8 arrays of shape (n_records, n_labels)
        Their labels.
    """

    X: Any
    Y: NDArray[np.uint8]
    T: Any
    U: NDArray[np.uint8]

    def wrong(self, labels: NDArray[Any]) -> float:
        """Return the fraction of labels that are not as predicted (the Hamming loss)."""
        return float(np.mean(labels.reshape(self.U.shape) != self.U))


def drawn(n_records: int, n_columns: int, density: float, n_labels: int = 20, **more: Any) -> Task:
    """Return drawn records, and a quarter (at most 25,000) more to try on."""
    n_more = min(n_records // 2, 25_000)
    X, Y = make_labelled_records(n_records + n_more, n_columns, density, n_labels, **more)
    rows = X.tocsr()
    return Task(sparse.csc_array(rows[:n_records]), Y[:n_records], rows[n_records:], Y[n_records:])


def multilabel(name: str) -> Task:
    """Return one of the five sets in its usual split; sparse files as CSC."""
    folder = SHARED / "multilabel" / name
    if not folder.exists():
        raise NotAtHandError(f"multilabel/{name} is not among the shared data")
    read = [
        tacit.read_multilabel(folder / f"{name}-{part}.arff.xz", folder / f"{name}.xml.xz")
        for part in ("train", "test")
    ]
    (X, Y), (T, U) = (data.to_arrays() for data in read)
    X, T = (x if sparse.issparse(x) else np.asfortranarray(x) for x in (X, T))
    return Task(X, Y, T, U)


@dataclass(frozen=True)
class Adult:
    """Adult as each learner likes it best, training and test records.

    Attributes
    ----------
    frames : tuple of polars.DataFrame
        As they are, for us.
    coded : tuple of arrays
        Numbers first, then codes of names: for mlrl-boomer, which is told which are nominal.
    nominal : list of int
    flags : tuple of arrays
        Numbers first, then a column for each name and value: for the others.
    y : tuple of uint8 arrays
    """

    frames: tuple[pl.DataFrame, pl.DataFrame]
    coded: tuple[NDArray[np.float64], NDArray[np.float64]]
    nominal: list[int]
    flags: tuple[NDArray[np.float64], NDArray[np.float64]]
    y: tuple[NDArray[np.uint8], NDArray[np.uint8]]


def adult() -> Adult:
    parts = [_adult_frame("adult.data"), _adult_frame("adult.test")]
    m = len(parts[0])
    both = pl.concat(parts)
    y = (both["class"] == ">50K").to_numpy().astype(np.uint8)
    columns = both.drop("class")
    numbers = columns.select(pl.selectors.numeric()).to_numpy().astype(np.float64)
    names = columns.select(pl.selectors.string()).fill_null("?")
    codes = np.column_stack(
        [np.unique(column.to_numpy(), return_inverse=True)[1] for column in names]
    )
    flags = [codes[:, [k]] == np.arange(codes[:, k].max() + 1) for k in range(codes.shape[1])]
    coded = np.hstack((numbers, codes))
    wide = np.hstack((numbers, *flags))
    return Adult(
        (columns[:m], columns[m:]),
        (coded[:m], coded[m:]),
        list(range(numbers.shape[1], coded.shape[1])),
        (wide[:m], wide[m:]),
        (y[:m], y[m:]),
    )
