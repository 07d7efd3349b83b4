"""What a tree is to predict: classes, or numbers as moments of fixed point."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.utils.class_weight import compute_class_weight

from tacit.errors import InputError
from tacit.table.discretise import bin_edges
from tacit.table.frames import encode_columns
from tacit.table.targets import class_labels, read_class_target, read_target

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tacit.schema import Labels
    from tacit.table import Table

__all__ = [
    "NO_CLASS_WEIGHTS",
    "Classes",
    "Moments",
    "class_weights",
    "column_classes",
    "column_numbers",
    "has_classes",
    "read_classes",
    "read_numbers",
    "refuse_missing",
]


class Classes(NamedTuple):
    """Classes of a target in order, and the position of each record's among them."""

    labels: NDArray[Any]
    codes: NDArray[np.int32]


def read_classes(y: Any, n_records: int) -> Classes:
    """Return the classes of a target that is given apart from X, in scikit-learn's order."""
    series = read_class_target(y, n_records)
    [coded] = encode_columns(pl.DataFrame({"y": series}), "state", {}, None, 1)
    kept = np.flatnonzero(coded.counts > 0)  # an enumeration may have labels that do not occur
    position = np.full(len(coded.labels) + 1, -1, np.int32)
    position[kept] = np.arange(len(kept))
    labels = class_labels([coded.labels[k] for k in kept.tolist()])
    if series.dtype.is_numeric() and labels.dtype != object:
        labels = labels.astype(np.asarray(series[:0]).dtype)
    return Classes(labels, position[coded.ranks][coded.codes])


def has_classes(table: Table, position: int) -> bool:
    """Return whether all labels of a column are classes: none stands for what is missing."""
    return table.schema.labels[position].missing is None


def column_classes(table: Table, position: int) -> Classes:
    """Return the classes that a column of a Table holds, in the order of its labels."""
    schema, (start, rows) = table.schema, table.postings
    labels = schema.labels[position]
    first, last = int(schema.offsets[position]), int(schema.offsets[position + 1])
    default = int(schema.defaults[position])
    codes = np.empty(table.n_records, np.int32)
    codes.fill(default)
    code = 0
    begin = int(start[first])
    for end in start[first + 1 : last + 1].tolist():
        code += code == default
        codes[rows[begin:end]] = code
        code, begin = code + 1, end
    _check_known(codes, labels, schema.names[position])
    return Classes(class_labels(labels.items[: labels.missing]), codes)


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


def _check_known(codes: NDArray[Any], labels: Labels, name: str) -> None:
    if labels.missing is not None and (missing := codes == labels.missing).any():
        refuse_missing(int(missing.argmax()), name)


def refuse_missing(record: int, name: str) -> None:
    """Refuse a target that a record does not have."""
    raise InputError(
        f"y: column {name!r} has a missing value at record {record}; "
        "records without a target teach nothing"
    )


def read_numbers(y: Any, n_records: int) -> NDArray[np.float64]:
    """Return a numeric target that is given apart from X."""
    series = read_target(y, n_records)
    if not (series.dtype.is_numeric() or series.dtype == pl.Boolean):
        raise InputError(f"y must hold numbers, got {series.dtype}; a classifier takes labels")
    numbers = series.cast(pl.Float64).to_numpy()
    if not np.isfinite(numbers).all():
        record = int((~np.isfinite(numbers)).argmax())
        raise InputError(f"y contains NaN or infinity: {numbers[record]} at record {record}")
    return numbers


def column_numbers(table: Table, position: int) -> NDArray[np.float64]:
    """Return the numbers that are the labels of a column of a Table."""
    name, labels = table.schema.names[position], table.schema.labels[position]
    codes = table.codes(position)
    _check_known(codes, labels, name)
    items: Any = labels.items[: labels.missing]
    if not all(isinstance(x, int | float) for x in items):
        kind = "bins" if bin_edges(labels) else "labels that are no numbers"
        raise InputError(f"y: column {name!r} holds {kind}; a classifier takes labels")
    return np.array([*map(float, items), np.nan])[codes]


@dataclass(frozen=True)
class Moments:
    """Sums that say how a target varies, in fixed point: the same in any order of the records.

    d is a record's deviation from `base`, the most common number, and w its weight. The kernel adds
    up w, w·d·scale and w·d²·scale², all in units of 1/unit. Unit and scale are powers of two, as
    large as leaves the sums below 2⁵³ and 2⁶².
    """

    base: float
    scale: float
    first: NDArray[np.int64]
    second: NDArray[np.int64]

    @staticmethod
    def of(numbers: NDArray[np.float64], weights: NDArray[np.int64]) -> Moments:
        """Return the moments of numbers; the weights are in units."""
        distinct, counts = np.unique(numbers, return_counts=True)
        base = float(distinct[np.argmax(counts)])
        with np.errstate(over="ignore"):
            widest = max(float(distinct[-1]) - base, base - float(distinct[0]))
        if widest and not 1e-150 < widest < 1e150:  # squares would be infinite, or zero
            kind = "far apart; scale them down" if widest > 1 else "close together; scale them up"
            raise InputError(f"y: its numbers are too {kind}")
        small = 2.0 ** -math.frexp(widest)[1]  # the widest deviation is at most 1
        deviations = (numbers - base) * small
        second = float((weights * deviations**2).sum())
        first = float((weights * np.abs(deviations)).sum())
        # The kernel's scale: sums of squares below 2⁶¹, and so are those of deviations.
        more = min((60 - math.frexp(second)[1]) // 2, 60 - math.frexp(first)[1]) if second else 0
        deviations *= 2.0**more
        return Moments(
            base,
            small * 2.0**more,
            np.rint(weights * deviations).astype(np.int64),
            np.rint(weights * deviations**2).astype(np.int64),
        )

    def prior(self, weight: float, units: NDArray[np.int64]) -> tuple[float, float, float, float]:
        """Return a normal-inverse-gamma prior worth `weight` records, in the kernel's scale.

        It expects the mean and the variance of all numbers (mean0, kappa0, alpha0, beta0).
        """
        total = float(units.sum())
        mean = float(self.first.sum()) / total
        variance = max(float(self.second.sum()) / total - mean**2, 0.0)
        return mean, weight, weight / 2, weight / 2 * (variance or 1.0)

    def plain_prior(
        self, prior: tuple[float, float, float, float]
    ) -> tuple[float, float, float, float]:
        """Return a prior in the scale of the numbers; its mean is a deviation, too."""
        mean, kappa, alpha, beta = prior
        return mean / self.scale, kappa, alpha, beta / self.scale / self.scale
