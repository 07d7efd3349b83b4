"""Probabilities from scores: by the loss itself, or by isotonic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.isotonic import IsotonicRegression

from tacit.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.store import State

__all__ = ["Isotonic", "plain_probabilities"]

_LEAST = 1e-3  # probability by losses that have no tails


def plain_probabilities(decisions: NDArray[np.float64], loss: str) -> NDArray[np.float64]:
    """Return what a loss takes scores for, output by output.

    The logistic losses estimate log-odds and softmax estimates logarithms of probabilities. The
    squared losses estimate the label itself (less one half) and say little of how sure it is, so
    that scores are cut to [0.001, 0.999].

    >>> plain_probabilities(np.array([[0.0, 0.25, 3.0]]), "squared")
    array([[0.5  , 0.75 , 0.999]])
    """
    if loss == "softmax":
        return np.asarray(softmax(decisions, axis=1))
    if loss in ("squared", "squared_hinge"):
        return np.clip(decisions + 0.5, _LEAST, 1.0 - _LEAST)
    return np.asarray(expit(decisions))


@dataclass(frozen=True)
class Isotonic:
    """For each output, a curve from scores to probabilities that never falls."""

    starts: NDArray[np.int64]  # of shape (n_outputs + 1,): where each output's points begin
    # The points; between them the curve is straight, and beyond them it is level.
    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64]

    @staticmethod
    def fit(
        decisions: NDArray[np.float64],  # of shape (n_records, n_outputs)
        targets: NDArray[np.uint8],  # of shape (n_outputs, n_records)
        weights: NDArray[np.float64] | None,  # of shape (n_records,)
    ) -> Isotonic:
        """Fit the curves; probabilities are those of all records but half of one at most."""
        points = []
        # Nobody is surer than all records but half of one.
        n_records = float(len(decisions) if weights is None else weights.sum())
        least = 0.5 / (n_records + 1.0)
        for scores, labels in zip(decisions.T, targets, strict=True):
            curve = IsotonicRegression(y_min=least, y_max=1.0 - least).fit(scores, labels, weights)
            points.append((curve.X_thresholds_, curve.y_thresholds_))
        lengths = [len(scores) for scores, _ in points]
        return Isotonic(
            np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
            np.concatenate([scores for scores, _ in points]),
            np.concatenate([probabilities for _, probabilities in points]),
        )

    def apply(self, decisions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of scores, output by output."""
        result = np.empty_like(decisions)
        for output in range(decisions.shape[1]):
            curve = slice(*self.starts[output : output + 2].tolist())
            result[:, output] = np.interp(
                decisions[:, output], self.scores[curve], self.probabilities[curve]
            )
        return result

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return the arrays under the names that files have for them."""
        return {
            "curve_starts": self.starts,
            "curve_scores": self.scores,
            "curve_shares": self.probabilities,
        }

    @staticmethod
    def checked(arrays: State, n_outputs: int) -> Isotonic | None:
        """Return the curves of a file, if it has any, after checking them."""
        if "curve_starts" not in arrays:
            return None
        starts, scores, probabilities = (
            arrays[f"curve_{name}"] for name in ("starts", "scores", "shares")
        )
        fine = starts.dtype == np.int64 and starts.shape == (n_outputs + 1,)
        if not fine or starts[0] != 0 or (np.diff(starts) < 1).any():
            raise InputError("'curve_starts' does not ascend from 0, one step for each output")
        for array in (scores, probabilities):
            if array.dtype != np.float64 or array.shape != (int(starts[-1]),):
                raise InputError("'curve_scores' or 'curve_shares' has a wrong type or length")
        if not np.isfinite(scores).all() or not ((probabilities >= 0) & (probabilities <= 1)).all():
            raise InputError("'curve_scores' or 'curve_shares' has numbers that cannot be")
        inside = np.delete(np.arange(len(scores)), starts[:-1])  # all but each output's first
        if (scores[inside] < scores[inside - 1]).any():
            raise InputError("'curve_scores' do not ascend")
        return Isotonic(starts, scores, probabilities)
