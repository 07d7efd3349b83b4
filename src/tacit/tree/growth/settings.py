"""What the parameters of trees may be, and how the growth kernel takes them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tacit.errors import InputError
from tacit.machine import check_int
from tacit.parameters import check_choice, check_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "averages",
    "even_scale",
    "even_settings",
    "exact_total",
    "fixed_leaf",
    "fixed_weights",
    "float_total",
    "grow_settings",
    "in_units",
    "learnt_kappa",
    "log_structure",
    "price_splits",
    "split_prices",
    "weight_unit",
]

SPLITS = ("binary", "complete", "both")
PRIORS = ("k2", "bdeu")
PAYING = ("bayes_factor", "bic")  # for the search among splits
FEWEST = 10.0  # splits that one was chosen from, at least
NUMBERS = 2  # what `ordered` holds for columns of numbers
MISSING = 4  # what it has more for columns with missing values
MOST = 2**62  # leaves and questions: more than any table has records
MOST_WEIGHT = 2.0**52  # sums of whole numbers are exact in a float up to twice this


def _prior_weight(value: Any, bayes: bool, usual: float) -> float:
    """Return a prior's weight; if it is beyond all data or next to nothing, sums lose it."""
    if value is None:
        return usual
    weight = check_number(value, "prior_weight", 0.0, above=bayes)
    if weight > 1e12 or 0 < weight < 1e-100:
        raise InputError(f"prior_weight must be 0 or from 1e-100 to 1e12, got {value!r}")
    return weight


def grow_settings(model: Any) -> dict[str, Any]:
    """Check the parameters of an estimator; return the kernel's settings but for weights."""
    criterion = check_choice(model.criterion, "criterion", model._criteria)
    splits = check_choice(model.splits, "splits", SPLITS)
    kappa = check_kappa(model.kappa)
    check_choice(model.unseen, "unseen", ("error", "default"))
    depth, leaves = model.max_depth, model.max_leaf_nodes
    bayes, pays = criterion == "bayes_factor", kappa is None and criterion in PAYING
    prior = check_choice(getattr(model, "prior", "k2"), "prior", PRIORS)
    k2, by_leaf = prior == "k2", pays and hasattr(model, "prior") and not model._merge
    return {
        "criterion": criterion,
        "unit": 1.0,
        "prior": prior,
        "prior_weight": _prior_weight(model.prior_weight, bayes, 0.5 if pays and k2 else 1.0),
        "log_kappa": 0.0 if kappa is None else math.log(kappa),
        "leaf_prices": by_leaf,
        "split_prices": None if pays and not by_leaf else (),
        "min_leaf": check_int(model.min_samples_leaf, "min_samples_leaf", 1),
        "max_depth": -1 if depth is None else min(check_int(depth, "max_depth", 1), MOST),
        "max_leaves": -1 if leaves is None else min(check_int(leaves, "max_leaf_nodes", 1), MOST),
        "min_gain": check_number(model.min_gain, "min_gain", 0.0),
        "binary": splits != "complete",
        "complete": splits != "binary",
        "merge": model._merge,
        "normal": (0.0, 1.0, 1.0, 1.0),
    }


def check_kappa(value: Any) -> float | None:
    """Return the prior probability of a parameter, or None for "auto"."""
    if isinstance(value, str) and value == "auto":
        return None
    try:
        return check_number(value, "kappa", 0, 1, above=True)
    except InputError as error:
        raise InputError(f'{error}; or "auto"') from None


def learnt_kappa(value: Any) -> float | Literal["auto"]:
    """Return the parameter as files hold it."""
    kappa = check_kappa(value)
    return "auto" if kappa is None else kappa


def split_prices(
    arities: NDArray[np.int64],
    ordered: NDArray[np.uint8],
    settings: dict[str, Any],
    n_targets: int,  # columns that are not asked about: one or none
) -> NDArray[np.float64]:
    """Return what a split of each column costs where no leaf has prices of its own, in nats.

    That is -log P(split): all columns are equally probable, and so are all splits of a column. A
    column of k labels has a split for each of them, or k - 1 thresholds; with complete splits one
    more. Where there are few, a split is still less probable than none: one in ten.

    >>> prices = split_prices(np.array([2] * 20 + [3]), np.zeros(21, np.uint8),
    ...                       {"binary": True, "complete": False}, 1)
    >>> np.exp(prices).round(6)[[0, 20]].tolist()
    [20.0, 60.0]
    """
    several = arities > 2
    numbers = (ordered & ~np.uint8(MISSING)) == NUMBERS
    # Missing values go with either side; the threshold above all numbers is there once.
    thresholds = np.where(ordered & MISSING, 2 * arities - 3, arities - 1)
    splits = np.where(several & (ordered > 0), thresholds, arities)
    if not settings["binary"]:
        splits = np.where(numbers, splits, 0)
    if settings["complete"]:
        splits = splits + (several & ~numbers)
    splits = np.where(several, splits, 1)
    n_columns = max(int(np.count_nonzero(arities > 1)) - n_targets, 1)
    prices: NDArray[np.float64] = np.log(np.maximum(n_columns * splits, FEWEST))
    return prices


def price_splits(
    settings: dict[str, Any],
    arities: NDArray[np.int64],
    ordered: NDArray[np.uint8],
    n_targets: int = 1,
) -> None:
    """Note in the settings what splits of a table's columns cost, if they are to cost anything."""
    if settings["split_prices"] is None:
        settings["split_prices"] = split_prices(arities, ordered, settings, n_targets).tolist()


def log_structure(columns: NDArray[np.int32], prices: Sequence[float]) -> float:
    """Return the logarithm of the prior probability of splits, given the column of each node."""
    return -math.fsum(prices[column] for column in columns[columns >= 0].tolist() if len(prices))


def averages(settings: dict[str, Any]) -> bool:
    """Return whether leaf probabilities are averages over the ways to them that end earlier.

    A leaf of a graph may have several ways to it, and numbers have no probabilities.
    """
    return bool(settings["leaf_prices"])


def fixed_weights(weights: Any, *, fine: bool = False) -> tuple[Any, float]:
    """Return weights as whole numbers of a unit, and how many units make one.

    The unit is a power of two. Whole weights stay as they are, unless it is to be `fine`, and
    others are rounded to about one part in 2⁵² of their sum, so that sums do not depend on the
    order of the records. No weight is negative, and some are positive.

    >>> fixed_weights(np.array([2.0, 1.0]))
    (array([2, 1]), 1.0)
    """
    integral = bool((weights == np.floor(weights)).all())
    total = float(weights.sum())
    if not integral or total > MOST_WEIGHT:  # else it is exact, and quicker
        total = float_total(exact_total(weights))
    unit = weight_unit(total, integral=integral, fine=fine)
    return in_units(weights, unit), unit


def weight_unit(total: float, *, integral: bool, fine: bool = False) -> float:
    """Return how many units make one, for weights with this sum; integral if all are integers."""
    if not 1e-100 < total < 1e100:
        raise InputError(f"weights: they add up to {total:g}; scale them to what records count")
    if integral and not fine and total <= MOST_WEIGHT:
        return 1.0
    return float(2.0 ** (52 - math.frexp(total)[1]))


def in_units(weights: Any, unit: float) -> NDArray[np.int64]:
    """Return weights as whole numbers of a unit."""
    return np.asarray(np.rint(weights * unit).astype(np.int64))


def exact_total(weights: Any) -> int:
    """Return the sum of weights in units of 2⁻¹¹²⁷, exactly: the same in any order of the records.

    >>> exact_total(np.array([0.1] * 10)) == 10 * exact_total(np.array([0.1]))
    True
    """
    total = 0
    for begin in range(0, len(weights), 2**25):  # so that no sum below reaches 2⁵³
        mantissas, powers = np.frexp(weights[begin : begin + 2**25])
        integers = np.ldexp(mantissas, 53).astype(np.int64)
        least = int(powers.min())
        high = np.bincount(powers - least, integers >> 27)
        low = np.bincount(powers - least, integers & (2**27 - 1))
        for power, (one, other) in enumerate(zip(high.tolist(), low.tolist(), strict=True)):
            total += (int(one) * 2**27 + int(other)) << (power + least + 1074)
    return total


def float_total(total: int) -> float:
    """Return an exact sum as the nearest float."""
    try:
        return total / 2**1127
    except OverflowError:
        return math.inf


def even_settings(settings: dict[str, Any], weights: Any) -> tuple[dict[str, Any], float]:
    """Return settings for which records of little weight weigh one on average, and a factor.

    Entropy and Gini do not depend on the scale of weights, but what counts as a tie does. The
    factor is by which gains have to be multiplied afterwards.
    """
    if weights is None:
        return settings, 1.0
    return even_scale(settings, int(weights.sum()), int(np.count_nonzero(weights)))


def even_scale(
    settings: dict[str, Any], total: int, n_counting: int
) -> tuple[dict[str, Any], float]:
    """Do so for weights with this sum, in units, of which so many are not zero."""
    if settings["criterion"] not in ("entropy", "gini"):
        return settings, 1.0
    mean = float(total) / max(n_counting, 1)
    factor = mean / settings["unit"]
    if factor >= 1:
        return settings, 1.0
    return {**settings, "unit": mean, "min_gain": settings["min_gain"] / factor}, factor


def fixed_leaf(min_samples_leaf: int, unit: float) -> int:
    """Return the least weight of a leaf in units; for 1, the default, any weight will do."""
    return 0 if min_samples_leaf == 1 else math.ceil(min(min_samples_leaf * unit, 2.0**62))
