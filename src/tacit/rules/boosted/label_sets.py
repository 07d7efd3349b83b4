"""From probabilities of labels to a set of labels: one by one, or a whole set that occurred."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.store import State

__all__ = ["best_sets", "check_sets", "label_sets", "log_odds"]

_LEAST = 1e-15  # a probability of zero would forbid whole sets
_CELLS = 2**22  # of a block of records and sets


def label_sets(targets: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the different sets of labels (rows) that records (columns) have, most common first.

    >>> label_sets(np.array([[0, 1, 1], [1, 0, 0]], np.uint8))
    array([[1, 0],
           [0, 1]], dtype=uint8)
    """
    sets, counts = np.unique(targets, axis=1, return_counts=True)
    ordered: NDArray[np.uint8] = np.ascontiguousarray(sets[:, np.argsort(-counts, kind="stable")].T)
    return ordered


def best_sets(probabilities: NDArray[np.float64], sets: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the most probable of the sets for each record, if labels are independent given it.

    The logarithm of a set's probability is, but for what is the same for all sets, the sum of the
    log-odds of its labels. The most common set wins ties.

    >>> best_sets(np.array([[0.6, 0.6]]), np.array([[1, 0], [0, 1], [0, 0]], np.uint8))
    array([[1, 0]], dtype=uint8)
    """
    odds = log_odds(probabilities)
    block = max(1, _CELLS // len(sets))
    columns = sets.T.astype(np.float64)
    chosen = [
        np.argmax(odds[start : start + block] @ columns, axis=1)
        for start in range(0, len(odds), block)
    ]
    return sets[np.concatenate(chosen)] if chosen else sets[:0]


def log_odds(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithms of the odds of probabilities, none of them infinite."""
    clipped = np.clip(probabilities, _LEAST, 1 - _LEAST)
    return np.asarray(np.log(clipped) - np.log1p(-clipped))


def check_sets(arrays: State, n_labels: int) -> NDArray[np.uint8] | None:
    """Return the sets of labels of a file, if it has any, after checking them."""
    if "label_sets" not in arrays:
        return None
    sets = arrays["label_sets"]
    fine = sets.dtype == np.uint8 and sets.ndim == 2 and sets.shape[1] == n_labels and len(sets)
    if not fine or (sets > 1).any():
        raise InputError("'label_sets' are no sets of its labels")
    return sets
