"""Weights of classes, times those of the records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["NO_CLASS_WEIGHTS", "class_weights", "weigh_classes"]

NO_CLASS_WEIGHTS = "class_weight: all weights are zero, or some beyond all numbers"


def class_weights(
    given: Any, labels: NDArray[Any], totals: Callable[[], NDArray[Any]]
) -> NDArray[np.float64]:
    """Return the weight of each class; `totals` says what their records weigh, if that matters."""
    if isinstance(given, str) and given == "balanced":
        each = totals()
        n_classes = np.count_nonzero(each)
        with np.errstate(over="ignore"):  # of classes that do not occur
            return np.asarray(
                each.sum() / (n_classes * np.maximum(each, np.finfo(np.float64).tiny)), np.float64
            )
    if not isinstance(given, dict):
        raise InputError(f"class_weight must be 'balanced', a dict or None, got {given!r}")
    try:
        each = compute_class_weight(given, classes=labels, y=labels)
    except (ValueError, TypeError) as error:
        raise InputError(f"class_weight: {error}") from None
    if not (np.isfinite(each).all() and (each >= 0).all()):
        raise InputError("class_weight: weights must be finite and not negative")
    return np.asarray(each, np.float64)


def weigh_classes(
    given: Any,
    labels: NDArray[Any],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64] | None,
    totals: Callable[[], NDArray[Any]],
) -> NDArray[np.float64]:
    """Return each record's weight times that of its class.

    >>> codes = np.array([0, 1, 1, 1])
    >>> weigh_classes("balanced", np.array(["no", "yes"]), codes, None, lambda: np.array([1, 3]))
    array([2.        , 0.66666667, 0.66666667, 0.66666667])
    """
    each = class_weights(given, labels, totals)
    with np.errstate(over="ignore"):  # what is infinite is refused below
        weighed = each[codes] if weights is None else each[codes] * weights
    if not weighed.any() or not np.isfinite(weighed).all():
        raise InputError(NO_CLASS_WEIGHTS)
    return np.asarray(weighed, np.float64)
