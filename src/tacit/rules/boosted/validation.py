"""Which records to hold out: some once, or each in turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["folds", "hold_out"]


def hold_out(
    fraction: float,
    n_records: int,
    strata: NDArray[np.int32] | None,
    generator: np.random.Generator,
) -> NDArray[np.bool_]:
    """Return which records to hold out: a fraction of them, alike in all strata.

    >>> strata = np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int32)
    >>> held = hold_out(0.25, 8, strata, np.random.default_rng(0))
    >>> int(held[:4].sum()), int(held[4:].sum())
    (1, 1)
    """
    n_held = max(1, round(fraction * n_records))
    if n_records - n_held < 1:
        raise InputError(
            f"validation_fraction: none of {n_records} records would be left to learn of"
        )
    # One record of each of so many equal ranges of the order.
    positions = ((np.arange(n_held) + 0.5) * n_records / n_held).astype(np.int64)
    held = np.zeros(n_records, np.bool_)
    held[_order(n_records, strata, generator)[positions]] = True
    return held


def folds(
    n_folds: int,
    n_records: int,
    strata: NDArray[np.int32] | None,
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """Return the fold that each record is in, all about equally large and alike in all strata.

    >>> np.bincount(folds(5, 12, None, np.random.default_rng(0))).tolist()
    [3, 3, 2, 2, 2]
    """
    fold = np.empty(n_records, np.int64)
    fold[_order(n_records, strata, generator)] = np.arange(n_records) % n_folds
    return fold


def _order(
    n_records: int, strata: NDArray[np.int32] | None, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Return the records in random order, one stratum after the other."""
    order = generator.permutation(n_records)
    return order if strata is None else order[np.argsort(strata[order], kind="stable")]
