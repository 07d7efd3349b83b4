"""What the parameters of boosted rules may be, and how the kernel takes them."""

from __future__ import annotations

import math
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.machine import check_int, count_jobs
from tacit.parameters import check_choice, check_flag, check_number, is_number
from tacit.rules.boosted.limits import check_limits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.table.targets import Targets

__all__ = [
    "KINKED_LOSSES",
    "LOSSES",
    "NUMBER_LOSSES",
    "PREDICTIONS",
    "check_numbers",
    "check_parameters",
    "choose_loss",
    "count_weights",
    "kernel_settings",
]

LOSSES = ("logistic", "squared", "squared_hinge", "example_logistic", "softmax")
NUMBER_LOSSES = ("squared", "absolute", "quantile", "poisson")
KINKED_LOSSES = ("absolute", "quantile")  # rules add what a median or quantile of records lacks
PREDICTIONS = ("hamming", "subset", "example_f1")
MOST_CONDITIONS = 255
_MOST_RULES = 2**31 - 1
_MOST_COUNT = 1e30  # of the Poisson loss: sums of floats stay finite
_MOST_UNITS = 16  # the kernel counts records up to so many times


def check_parameters(model: Any) -> None:
    """Refuse parameters that no data could make right."""
    check_int(model.n_rules, "n_rules", 0)
    if model.n_rules > _MOST_RULES:
        raise InputError(f"n_rules must be at most {_MOST_RULES:,}, got {model.n_rules!r}")
    check_choice(model.heads, "heads", ("auto", "single", "partial", "complete"))
    if model.head_size is not None:
        check_int(model.head_size, "head_size", 1)
        if model.heads != "partial":
            raise InputError(f"head_size is for heads='partial' only; heads is {model.heads!r}")
    check_number(model.learning_rate, "learning_rate", 0.0, 1.0, above=True)
    if model.max_conditions is not None:
        check_int(model.max_conditions, "max_conditions", 1)
        if model.max_conditions > MOST_CONDITIONS:
            raise InputError(f"max_conditions must be at most {MOST_CONDITIONS}, or None")
    check_number(model.min_support, "min_support", 0.0, above=True)
    check_number(model.l1, "l1", 0.0)
    check_number(model.l2, "l2", 0.0)
    check_choice(model.algorithm, "algorithm", ("exact", "histogram"))
    check_int(model.n_bins, "n_bins", 2)
    check_choice(model.binning, "binning", ("frequency", "width"))
    check_choice(model.sample, "sample", ("none", "bagging", "subsample"))
    if model.sample_fraction is not None:
        check_number(model.sample_fraction, "sample_fraction", 0.0, 1.0, above=True)
    _check_feature_fraction(model.feature_fraction)
    check_limits(model)
    for name in ("stratify", "prune", "early_stopping", "default_rule", "warm_start"):
        if hasattr(model, name):
            check_flag(getattr(model, name), name)
    if model.prune and model.sample == "none":
        raise InputError(
            "prune=True needs records that were not drawn: choose sample='bagging' or 'subsample'"
        )
    check_number(model.validation_fraction, "validation_fraction", 0.0, 1.0, above=True, below=True)
    check_int(model.n_iter_no_change, "n_iter_no_change", 0)
    if hasattr(model, "quantile"):
        _check_number_loss(model)
    else:
        check_choice(model.loss, "loss", ("auto", *LOSSES))
        if not (isinstance(model.class_weight, dict) or model.class_weight in (None, "balanced")):
            raise InputError(
                f"class_weight must be 'balanced', a dict or None, got {model.class_weight!r}"
            )
        check_choice(model.prediction, "prediction", PREDICTIONS)
        if model.calibration is not None:
            check_choice(model.calibration, "calibration", ("isotonic",))
    fixed = isinstance(model.random_state, Integral)
    if model.warm_start and model.early_stopping and not fixed:
        raise InputError(
            "random_state must be a whole number for warm_start with early_stopping: records that "
            "are held out stay the same"
        )
    if model.max_seconds is not None:
        check_number(model.max_seconds, "max_seconds", 0.0, above=True)
    count_jobs(model.n_jobs)


def _check_number_loss(model: Any) -> None:
    check_choice(model.loss, "loss", NUMBER_LOSSES)
    if model.loss in KINKED_LOSSES and model.heads in ("partial", "complete"):
        raise InputError(
            f"heads must be 'single' with loss={model.loss!r}, got {model.heads!r}: its rules are "
            "for one output each"
        )
    if model.loss == "quantile":
        if model.quantile is None:
            raise InputError("quantile must be given with loss='quantile', such as quantile=0.9")
        check_number(model.quantile, "quantile", 0.0, 1.0, above=True, below=True)
    elif model.quantile is not None:
        raise InputError(f"quantile is for loss='quantile' only; loss is {model.loss!r}")


def _check_feature_fraction(fraction: Any) -> None:
    if fraction is None or (isinstance(fraction, str) and fraction in ("sqrt", "log2")):
        return
    most = math.inf if isinstance(fraction, Integral) else 1.0
    if is_number(fraction) and 0 < fraction <= most:
        return
    raise InputError(
        "feature_fraction must be 'sqrt', 'log2', a fraction above 0 and at most 1, a whole number "
        f"of columns or None, got {fraction!r}"
    )


def choose_loss(loss: str, targets: Targets) -> str:
    """Return the loss that "auto" stands for; of two classes, softmax is the logistic loss."""
    if targets.type in ("number", "numbers"):
        return "squared" if loss == "auto" else loss
    if loss == "softmax" and targets.type == "multilabel":
        raise InputError("loss='softmax' is for one class a record; y has labels, 0 or 1 each")
    if targets.type == "multiclass" and loss == "auto":
        return "softmax"
    return "logistic" if loss in ("auto", "softmax") and targets.type != "multiclass" else loss


def check_numbers(loss: str, targets: Targets) -> None:
    """Refuse numbers that a loss is not for."""
    if loss != "poisson":
        return
    for name, numbers in zip(targets.labels.tolist(), targets.values, strict=True):
        which = "" if targets.type == "number" else f" of output {name!r}"
        if numbers.min() < 0 or numbers.max() > _MOST_COUNT:
            wrong = numbers[(numbers < 0) | (numbers > _MOST_COUNT)][0]
            raise InputError(
                f"y: loss='poisson' is for numbers from 0 to {_MOST_COUNT:g}, got {wrong:g}{which}"
            )
        if not numbers.any():
            raise InputError(
                f"y: all numbers{which} are 0; loss='poisson' needs one that is more at least"
            )


def kernel_settings(
    model: Any, targets: Targets, n_outputs: int, loss: str, n_columns: int, n_counted: float
) -> dict[str, Any]:
    """Return the kernel's settings but for records' units, weights and strata.

    Rules are grown for `n_outputs` outputs, of `n_counted` records, each as often as it counts.
    """
    return {
        "loss": loss,
        "heads": _heads(model.heads, loss) if n_outputs > 1 else "single",
        "head_size": _head_size(model, targets, n_outputs),
        "learning_rate": float(model.learning_rate),
        "l1": float(model.l1),
        "l2": float(model.l2),
        "max_conditions": int(model.max_conditions or MOST_CONDITIONS),
        "min_support": _support(model.min_support, n_counted),
        "default_rule": bool(model.default_rule),
        "sample": model.sample,
        "sample_fraction": _sample_fraction(model),
        "n_features": _n_features(model.feature_fraction, n_columns),
        "prune": bool(model.prune),
        "search": model.algorithm,
        "quantile": float(getattr(model, "quantile", None) or 0.5),
    }


def _heads(heads: str, loss: str) -> str:
    """Return the heads that "auto" stands for.

    Scores of classes that share the softmax loss are about each other: what speaks for one speaks
    against others, and a rule that says so at once does the work of several.
    """
    if heads != "auto":
        return heads
    return "complete" if loss == "softmax" else "single"


def _head_size(model: Any, targets: Targets, n_outputs: int) -> int:
    """Return the size of partial heads; by default labels a record has, but two at least."""
    if model.head_size is not None:
        return min(int(model.head_size), n_outputs)
    held = 0.0
    if targets.type == "multilabel":
        held = float(targets.values.sum()) / max(targets.n_records, 1)
    return min(max(2, math.ceil(held)), n_outputs)


def _support(least: float, n_counted: float) -> float:
    """Return the least support: a number of records, or below one a fraction of them."""
    return float(least) if least >= 1 else max(1.0, float(least) * n_counted)


def _sample_fraction(model: Any) -> float:
    if model.sample_fraction is not None:
        return float(model.sample_fraction)
    return 2 / 3 if model.sample == "subsample" else 1.0


def _n_features(fraction: Any, n_columns: int) -> int:
    """Return how many columns each condition is sought among; 0 for all of them."""
    if fraction is None:
        return 0
    if fraction == "sqrt":
        n = int(math.sqrt(n_columns))
    elif fraction == "log2":
        n = int(math.log2(n_columns)) + 1
    else:
        whole = isinstance(fraction, Integral)
        n = int(fraction) if whole else math.ceil(float(fraction) * n_columns)
    n = max(n, 1)
    return 0 if n >= n_columns else n


def count_weights(
    weights: NDArray[np.float64] | None, held: NDArray[np.bool_] | None, n_records: int
) -> tuple[NDArray[np.float32] | None, NDArray[np.float64] | None]:
    """Return weights as the kernel takes them: how often records count, and what they weigh.

    Small whole weights are multiplicities; others multiply gradients. Records that are held out
    count zero times.
    """
    units: NDArray[np.float32] | None = None
    if (
        weights is not None
        and (weights == np.floor(weights)).all()
        and weights.max() <= _MOST_UNITS
    ):
        units, weights = weights.astype(np.float32), None
    if held is not None:
        units = np.ones(n_records, np.float32) if units is None else units
        units[held] = 0.0
    return units, weights
