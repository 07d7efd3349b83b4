"""Sparse numbers with several labels: each label is what a few noisy rules on the columns say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from tacit.datasets.draws import fill_distinct, generator
from tacit.machine import check_int
from tacit.parameters import check_number
from tacit.table.gateway import MOST_RECORDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["make_labelled_records"]

_DENSE = 0.25  # columns with a larger fraction of stored values look at every record
_LOW, _HIGH = 0.4, 0.8  # quantiles of a rule's two thresholds, at most and at least


def make_labelled_records(
    n_records: int = 10_000,
    n_columns: int = 1000,
    density: float = 0.01,
    n_labels: int = 20,
    *,
    n_rules: int = 8,
    noise: float = 0.02,
    random_state: int | np.random.Generator = 0,
) -> tuple[sparse.csc_array, NDArray[np.uint8]]:
    """Draw records of non-negative numbers, most of them zero, with several labels each.

    Each label has several rules, and a record has the label where one of them holds. A rule asks
    one column for a number above a threshold, and every other rule for one below a second threshold
    as well. A fraction of all labels is then turned over, which no learner can foresee.

    Parameters
    ----------
    n_records, n_columns : int
    density : float, default 0.01
        Fraction of numbers that are not zero, in (0, 1]. They are exponentially distributed, so
        that hardly any two are the same.
    n_labels : int, default 20
    n_rules : int, default 8
        Rules for each label.
    noise : float, default 0.02
        Probability that a label is turned over.
    random_state : int or numpy.random.Generator, default 0

    Returns
    -------
    X : csc_array of float64 of shape (n_records, n_columns)
    Y : uint8 array of shape (n_records, n_labels)

    Examples
    --------
    >>> from tacit.datasets import make_labelled_records
    >>> X, Y = make_labelled_records(1000, 200, 0.05, 6)
    >>> X.shape, Y.shape, round(X.nnz / 200_000, 2)
    ((1000, 200), (1000, 6), 0.05)
    """
    m = check_int(n_records, "n_records", 1, MOST_RECORDS)
    n = check_int(n_columns, "n_columns", 1)
    fraction = check_number(density, "density", 0, 1, above=True)
    n_outputs = check_int(n_labels, "n_labels", 1)
    k = check_int(n_rules, "n_rules", 1)
    flipped = check_number(noise, "noise", 0, 1)
    rng = generator(random_state)

    X = _numbers(rng, m, n, fraction)
    Y = np.zeros((m, n_outputs), np.uint8)
    for j in range(n_outputs):
        columns = rng.integers(0, n, k)
        low = rng.uniform(0, _LOW, k)
        high = np.where(np.arange(k) % 2 == 0, 1.0, rng.uniform(_HIGH, 1, k))
        for column, above, up_to in zip(columns, low, high, strict=True):
            stored = slice(X.indptr[column], X.indptr[column + 1])
            quantile = -np.expm1(-X.data[stored])
            holds = (quantile > above) & (quantile <= up_to)
            Y[X.indices[stored][holds], j] = 1
    Y ^= rng.random(Y.shape) < flipped
    return X, Y


def _numbers(rng: np.random.Generator, m: int, n: int, fraction: float) -> sparse.csc_array:
    if fraction > _DENSE:
        stored = [np.flatnonzero(rng.random(m) < fraction) for _ in range(n)]
        held = np.array([len(records) for records in stored], np.int64)
        indptr = np.concatenate(([0], np.cumsum(held)))
        records = np.concatenate(stored).astype(np.int32)
    else:
        held = rng.binomial(m, fraction, n).astype(np.int64)
        indptr = np.concatenate(([0], np.cumsum(held)))
        records = np.empty(int(indptr[-1]), np.int32)
        fill_distinct(rng, np.arange(1, m + 1), held, indptr[:-1], records)
    values = rng.standard_exponential(len(records))
    values[values == 0] = 1.0  # a zero would not be stored
    return sparse.csc_array((values, records, indptr), shape=(m, n))
