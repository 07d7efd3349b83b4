"""Sets of labels with the highest expected F1 measure of a record (general F-measure maximiser)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.rules.boosted.label_sets import log_odds

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["best_f1_sets"]

_CELLS = 2**22  # of a block of records


def best_f1_sets(probabilities: NDArray[np.float64], sets: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return for each record the labels with the highest expected F1, if it has one of some sets.

    A set is as probable as its labels are together, each for itself, among all sets. With s labels
    in the record and k predicted, those in both count 2 / (s + k) each; so the best k labels are
    those with the largest sums of that over all sets. Nothing predicted is right where there is
    nothing.

    >>> sets = np.array([[1, 0, 0], [0, 1, 1], [0, 0, 1]], np.uint8)
    >>> best_f1_sets(np.array([[0.5, 0.4, 0.5]]), sets)
    array([[1, 0, 1]], dtype=uint8)
    """
    n_records, n_labels = probabilities.shape
    result = np.zeros((n_records, n_labels), np.uint8)
    sizes = sets.sum(axis=1)
    kinds = np.unique(sizes[sizes > 0])
    if not len(kinds):
        return result
    columns = sets.astype(np.float64)
    block = max(1, _CELLS // max(len(sets), n_labels * len(kinds)))
    for start in range(0, n_records, block):
        rows = slice(start, start + block)
        logs = log_odds(probabilities[rows]) @ columns.T
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        # Of each record, number of labels and label: the probability of sets with both.
        joint = np.stack([weights[:, sizes == s] @ columns[sizes == s] for s in kinds])
        _choose(joint, kinds, weights[:, sizes == 0].sum(axis=1), result[rows])
    return result


def _choose(
    joint: NDArray[np.float64],  # of shape (n_sizes, n_records, n_labels)
    sizes: NDArray[np.int64],
    best: NDArray[np.float64],  # of an empty set
    result: NDArray[np.uint8],
) -> None:
    """Set the best labels of some records to 1."""
    held = joint.sum(axis=2)  # labels in sets of a size, times its probability
    for k in range(1, joint.shape[2] + 1):
        gains = 2.0 / (sizes + k)
        if (gains @ held <= best).all():  # as if all labels of the record were among the k
            return
        worth = np.tensordot(gains, joint, axes=1)
        top = np.argsort(-worth, axis=1, kind="stable")[:, :k]
        value = np.take_along_axis(worth, top, axis=1).sum(axis=1)
        better = value > best
        best = np.where(better, value, best)
        chosen = np.zeros_like(result)
        np.put_along_axis(chosen, top, 1, axis=1)
        result[better] = chosen[better]
