"""Records for the quality of rules: halves that defaults were chosen on, and halves that were not.

Half of the records of each set (drawn once, always the same) is what defaults were chosen on, by
cross-validation. Test records are drawn from the other half only. Of sets that are generated,
choices saw other draws than those here.
"""

from __future__ import annotations

import io
import lzma
import zipfile
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from sklearn import datasets

from benchmarks import report
from benchmarks.adult import NotAtHandError, _adult_frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

MOST = 2500  # records to learn from, and as many to test, so that the slowest learner ends in time


class Records(NamedTuple):
    """Columns as they are, the same as numbers and flags, and what to predict."""

    X: Any
    wide: NDArray[np.float64]
    y: NDArray[Any]


@dataclass(frozen=True)
class Split:
    """Records to learn from, and others to test on.

    Attributes
    ----------
    X, T : frame or array
    wide, wide_test : ndarray
        The same with a column of 0 and 1 for each name, for those who take numbers only.
    y, truth : ndarray
    """

    X: Any
    wide: NDArray[np.float64]
    y: NDArray[Any]
    T: Any
    wide_test: NDArray[np.float64]
    truth: NDArray[Any]


def split(records: Records, seed: int, most: int | None = MOST) -> Split:
    """Return a quarter of all records to test on, none of which was chosen by, and the rest."""
    n = len(records.y)
    unseen = np.random.default_rng(12345).permutation(n)[n // 2 :]
    random = np.random.default_rng(seed)
    test = random.permutation(unseen)[: n // 4]
    known = random.permutation(np.setdiff1d(np.arange(n), test))
    i, j = np.sort(known[:most]), np.sort(test[:most])

    def some(X: Any, rows: NDArray[np.int64]) -> Any:
        return X[rows] if isinstance(X, np.ndarray) else X[rows.tolist()]

    return Split(
        some(records.X, i), records.wide[i], records.y[i],
        some(records.X, j), records.wide[j], records.y[j],
    )  # fmt: skip


def wide(frame: pl.DataFrame) -> NDArray[np.float64]:
    """Return numbers, and a column of 0 and 1 for each name in a column of names."""
    parts = []
    for column in frame:
        if column.dtype.is_numeric():
            parts.append(column.cast(pl.Float64).to_numpy()[:, None])
        else:
            codes = np.unique(column.fill_null("?").to_numpy(), return_inverse=True)[1]
            parts.append((codes[:, None] == np.arange(codes.max() + 1)).astype(np.float64))
    return np.hstack(parts)


def _of_frame(frame: pl.DataFrame, target: str) -> Records:
    X = frame.drop(target)
    return Records(X, wide(X), frame[target].to_numpy())


def _of_arrays(X: NDArray[Any], y: NDArray[Any]) -> Records:
    X = np.asarray(X, np.float64)
    return Records(X, X, y)


def _path(*parts: str) -> Any:
    path = report.SHARED.joinpath(*parts)
    if not path.exists():
        raise NotAtHandError(f"{'/'.join(parts)} is not among the shared data")
    return path


def _csv(*parts: str, **settings: Any) -> pl.DataFrame:
    return pl.read_csv(lzma.decompress(_path(*parts).read_bytes()), **settings)


@cache
def _adult() -> pl.DataFrame:
    _path("adult", "adult.data.xz")
    return _adult_frame("adult.data")


@cache
def _covtype(seed: int, first: int) -> pl.DataFrame:
    """Return 16,000 records; choices saw some of those before the first."""
    frame = _csv("covtype", "covtype.csv.xz")
    drawn = np.random.default_rng(seed).permutation(len(frame))[first : first + 16_000]
    return frame[drawn.tolist()]


def _letter() -> Records:
    frame = _csv("letter", "letter-recognition.data.xz")
    return _of_arrays(frame[:, 1:].to_numpy(), frame[:, 0].to_numpy().astype(str))


def _mushroom() -> Records:
    frame = _csv("mushroom_uci", "mushrooms.csv.xz", null_values="?")
    return _of_frame(frame, frame.columns[0])


def _bank() -> Records:
    outer = zipfile.ZipFile(_path("bank_marketing", "bank+marketing.zip"))
    inner = zipfile.ZipFile(io.BytesIO(outer.read("bank.zip")))
    return _of_frame(pl.read_csv(inner.read("bank-full.csv"), separator=";"), "y")


def _covtype_classes() -> Records:
    frame = _covtype(1, 20_000)
    return _of_arrays(frame[:, :-1].to_numpy(), frame[:, -1].to_numpy())


def _elevation() -> Records:
    frame = _covtype(2, 40_000)
    X = frame.drop("Elevation").to_numpy()
    return _of_arrays(X, frame["Elevation"].to_numpy().astype(np.float64))


def _adult_number(name: str) -> Records:
    records = _of_frame(_adult(), name)
    return records._replace(y=records.y.astype(np.float64))


def _known(load: Callable[..., Any]) -> Callable[[int], Records]:
    return lambda seed: _of_arrays(*load(return_X_y=True))


def _ten_classes(seed: int) -> Records:
    made = datasets.make_classification(4000, 20, n_informative=10, n_classes=10, random_state=seed)
    return _of_arrays(*made)


# Each by its name; the seed matters for those that are generated.
NUMBERS: dict[str, Callable[[int], Records]] = {
    "diabetes": _known(datasets.load_diabetes),
    "Friedman 1": lambda s: _of_arrays(*datasets.make_friedman1(1000, noise=1.0, random_state=s)),
    "Friedman 2": lambda s: _of_arrays(*datasets.make_friedman2(1000, noise=100.0, random_state=s)),
    "Friedman 3": lambda s: _of_arrays(*datasets.make_friedman3(1000, noise=0.1, random_state=s)),
    "Covertype, elevation": lambda seed: _elevation(),
    "Adult, age": lambda seed: _adult_number("age"),
    "Adult, hours": lambda seed: _adult_number("hours-per-week"),
}
CLASSES: dict[str, Callable[[int], Records]] = {
    "digits": _known(datasets.load_digits),
    "ten classes": _ten_classes,
    "Letter": lambda seed: _letter(),
    "Covertype": lambda seed: _covtype_classes(),
    "Adult": lambda seed: _of_frame(_adult(), "class"),
    "Bank": lambda seed: _bank(),
}
LISTS: dict[str, Callable[[int], Records]] = {
    "mushroom": lambda seed: _mushroom(),
    "breast cancer": _known(datasets.load_breast_cancer),
    **CLASSES,
}
