"""Columns of numbers as the search for rules takes them: ranked, and without defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import _core
from tacit.errors import InputError
from tacit.machine import check_int
from tacit.schema import Labels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from tacit.rules.columns.features import RuleFeatures
    from tacit.table.input_spec import Domain
    from tacit.table.number_columns import NumberColumns

__all__ = ["CodedColumns", "code_columns"]

_AT_MOST, _ABOVE = 0, 1


@dataclass(frozen=True)
class CodedColumns:
    """The columns of X as runs of records that have the same code.

    A code is the rank of a number among those of its column, or that of a bin; -1 is missing.
    """

    n_records: int
    kinds: NDArray[np.uint8]  # 0 for ordinal columns, 1 for nominal ones
    defaults: NDArray[np.int32]  # the code of each column that is not stored
    column_runs: NDArray[np.int64]  # the first run of each column, and one past the last
    run_codes: NDArray[np.int32]  # ascending within a column
    run_start: NDArray[np.int64]  # the first record of each run, and one past the last
    records: NDArray[np.int32]  # ascending within a run
    code_start: NDArray[np.int64]  # the first code of each column, and one past the last
    # The least and the greatest number of each code; they differ for bins.
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What ``_core.RuleColumns`` takes: the fields have its order."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def thresholds(
        self, columns: ArrayLike, ops: ArrayLike, low: ArrayLike, high: ArrayLike
    ) -> NDArray[np.float64]:
        """Return the numbers that conditions, as the search returns them, compare with.

        Of conditions with an order ("at most" and "above"), half-way between the number of the code
        `low` and that of `high`: never below the one, always below the other. Of others, the number
        of `low`.
        """
        first = self.code_start[np.asarray(columns, np.int64)]
        below = self.upper[first + np.asarray(low, np.int64)]
        above = self.lower[first + np.asarray(high, np.int64)]
        ordered = np.isin(np.asarray(ops), (_AT_MOST, _ABOVE))
        return np.where(ordered, _half_way(below, above), below)

    def separate(self, column: int, threshold: float, shown: float) -> bool:
        """Return whether what is shown divides the column's numbers as a threshold does.

        Of a nominal column, whether it is the same number.
        """
        if self.kinds[column]:
            return shown == threshold
        begin, end = int(self.code_start[column]), int(self.code_start[column + 1])
        code = begin + int(self.lower[begin:end].searchsorted(threshold, "right"))
        return (code == begin or bool(self.upper[code - 1] <= shown)) and (
            code == end or bool(self.lower[code] > shown)
        )


def _half_way(below: NDArray[np.float64], above: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        middle = (below + above) / 2
    middle = np.where(np.isfinite(middle), middle, below / 2 + above / 2)
    # Between neighbouring floats there is none; rounding may lead up to the upper one.
    return np.where((middle >= below) & (middle < above), middle, below) + 0.0


def code_columns(
    features: RuleFeatures, new: NumberColumns, defaults: Any, bins: Any, n_jobs: int
) -> CodedColumns:
    """Rank the numbers of the X of fit and lay out what is not the default.

    `defaults` are the values that are not stored, as the estimators take them ("auto" takes those
    of a Table): NaN or None is missing, and a value that no record has is allowed. `bins` is a kind
    ("width" or "frequency") and the most bins. Rules do not depend on `defaults` or `n_jobs`.
    """
    wanted, choose = _wanted(features, new, defaults)
    by_frequency, n_bins = _binning(bins)
    numeric = (features.kinds == 0) & features.spec.numeric
    binned = (numeric & (bins is not None)).astype(np.uint8)
    plan = wanted, choose.astype(np.uint8), binned, by_frequency, n_bins
    arguments: tuple[Any, ...] = (*new.arguments, *plan, n_jobs)
    return CodedColumns(new.n_records, features.kinds, *_core.code_columns(*arguments))


def _binning(bins: Any) -> tuple[bool, int]:
    if bins is None:
        return True, 2
    try:
        spacing, number = bins
    except (TypeError, ValueError):
        raise InputError(f"bins must be a pair of a kind and a number, got {bins!r}") from None
    if spacing not in ("width", "frequency"):
        raise InputError(f"bins must be by 'width' or 'frequency', got {spacing!r}")
    return spacing == "frequency", check_int(number, "n_bins", 2)


def _wanted(features: RuleFeatures, new: NumberColumns, defaults: Any) -> tuple[Any, Any]:
    """Return the default number of each column, and in which columns to choose it."""
    n = len(features.names)
    choose = np.full(n, features.spec.origin != "table")
    wanted = new.unlisted.copy()
    if isinstance(defaults, str):
        if defaults == "zero":
            zero = np.array([not _is_text(domain) for domain in features.spec.domains], np.bool_)
            wanted[zero], choose[zero] = 0.0, False
        elif defaults == "none":  # nothing but what is missing, which is always tacit
            wanted[:], choose[:] = np.nan, False
        elif defaults != "auto":
            raise InputError(
                f"defaults must be 'auto', 'zero', 'none' or values of columns, got {defaults!r}"
            )
        return wanted, choose
    for column, value in _named(features, defaults):
        wanted[column], choose[column] = _number(features, column, value), False
    return wanted, choose


def _is_text(domain: Domain) -> bool:
    return isinstance(domain, Labels) and domain.dtype != "Boolean"


def _named(features: RuleFeatures, defaults: Any) -> Any:
    if isinstance(defaults, Mapping):
        items = defaults.items()
        return [(features.spec.position(column, "defaults"), value) for column, value in items]
    try:
        values = list(defaults)
    except TypeError:
        raise InputError(
            f"defaults must be 'auto', 'zero', 'none' or values of columns, got {defaults!r}"
        ) from None
    if len(values) != len(features.names):
        raise InputError(
            f"defaults must have {len(features.names)} values, one for each column; got "
            f"{len(values)}"
        )
    return enumerate(values)


def _number(features: RuleFeatures, column: int, value: Any) -> float:
    """Return the number that stands for a value of a column."""
    name = features.names[column]
    number = float(value) if isinstance(value, (Real, np.bool_)) else None
    if value is None or (number is not None and np.isnan(number)):
        return float("nan")
    labels = features.labels(column)
    if labels is not None and _is_text(labels):
        if value not in labels.items:
            raise InputError(f"defaults: column {name!r} has no label {value!r}")
        return float(labels.items.index(value))
    if number is None or np.isinf(number):
        raise InputError(f"defaults: column {name!r} holds numbers, got {value!r}")
    return number
