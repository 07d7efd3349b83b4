"""The columns that rules are about: what a model remembers of X, and X as kernels take it.

In short::

    features, coded = RuleFeatures.fit(X, estimator, defaults="auto", bins=None, nominal=None)
    _core.RuleColumns(*coded.arguments)                        # what the search scans
    coded.thresholds(columns, ops, low, high)                  # float64: codes become numbers
    new = features.transform(X, estimator)
    _core.rule_scores(*new.arguments, rule_conditions, columns, ops, thresholds,
                      rule_heads, outputs, scores, default_scores, n_jobs)      # (m, L)
    _core.rule_cover(*new.arguments, rule_conditions, columns, ops, thresholds, n_jobs)
    features.text(column, op, threshold)                       # "age > 30.5"
    features.to_json(), RuleFeatures.from_json(data), features.note(estimator)

Every column becomes numbers, whatever X is (see :mod:`tacit.rules.columns.input`). Ordinal columns
are compared with thresholds: numbers, timestamps, enumerations, ordered categories and bins.
Nominal ones are compared with one value: strings, other categories, booleans, and what `nominal`
names. Missing values (null, NaN) satisfy no condition. Nor does a label that was not there in fit,
but for "is not": of ordinal columns not even that.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.errors import InputError
from tacit.rules.columns.coding import CodedColumns, code_columns
from tacit.rules.columns.input import ColumnKinds, NumberColumns, fit_columns, read_columns
from tacit.schema.types import is_temporal, parse_type
from tacit.table.features import array_names, note_names
from tacit.table.schema_json import write_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["CodedColumns", "NumberColumns", "RuleFeatures"]

_KINDS = ("array", "frame", "table")
_SIGNS = ("≤", ">", "=", "≠")
_ALL_DIGITS = 17  # no two floats look alike


@dataclass(frozen=True)
class RuleFeatures(ColumnKinds):
    """What a model of rules remembers of its X.

    Made by :meth:`fit`; attributes are those of `ColumnKinds` and one more.

    >>> from sklearn.base import BaseEstimator
    >>> X = {"age": [31, 58, 44, 58], "town": ["Ulm", "Bern", "Ulm", None]}
    >>> features, coded = RuleFeatures.fit(X, BaseEstimator())
    >>> features.names, features.kinds.tolist()
    (('age', 'town'), [0, 1])
    >>> coded.defaults.tolist()  # 58 and Ulm
    [2, 1]
    >>> coded.thresholds([0, 1], [0, 2], [0, 0], [1, 0]).tolist()
    [37.5, 0.0]
    >>> features.text(0, 0, 37.5), features.text(1, 3, 0.0)
    ('age ≤ 37.5', 'town ≠ Bern')
    """

    # By column, how many digits thresholds are shown with if the usual ones are too few.
    digits: dict[int, dict[float, int]] = field(default_factory=dict)

    @classmethod
    def fit(
        cls,
        X: Any,
        estimator: Any,
        *,
        defaults: Any = "auto",
        bins: tuple[str, int] | None = None,
        nominal: Sequence[str | int] | None = None,
        n_jobs: int = 1,
    ) -> tuple[RuleFeatures, CodedColumns]:
        """Return what to remember of X, and X as the search takes it.

        Notes `n_features_in_` and, where columns have names, `feature_names_in_`. NaN and null are
        missing; infinity is refused. Sparse arrays stay sparse: zeros that are written out are
        zeros, indices may be unsorted, duplicates are refused. `defaults` are the values that are
        not stored, as the estimators take them ("auto" takes those of a Table): NaN or None is
        missing, and a value that no record has is allowed. `bins` is a kind ("width" or
        "frequency") and the most bins. Results do not depend on `defaults` or `n_jobs`.
        """
        known, new = fit_columns(X, estimator, nominal)
        features = cls(known.kind, known.names, known.nominal, known.labels, known.types)
        return features, code_columns(features, new, defaults, bins, n_jobs)

    def transform(self, X: Any, estimator: Any) -> NumberColumns:
        """Return other data as the kernels of prediction take it.

        The columns of frames are those of fit in the same order, those of Tables go by name.
        """
        return read_columns(self, X, estimator)

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        """0 for ordinal columns, 1 for nominal ones."""
        flags = np.zeros(len(self.names), np.uint8)
        flags[list(self.nominal)] = 1
        return flags

    def text(self, column: int, op: int, threshold: float) -> str:
        """Return a condition as people read it; `op` is an index of the operators ≤, >, = and ≠."""
        return f"{self.names[column]} {_SIGNS[op]} {self.value_text(column, threshold)}"

    def value_text(self, column: int, number: float) -> str:
        """Return the value of a column that a number stands for, as people read it."""
        if column in self.labels:
            return self.labels[column][int(np.floor(number))]
        kind = self.types.get(column)
        if kind == "Boolean":
            return "True" if number >= 0.5 else "False"
        if kind is not None:
            timestamp = pl.Series([int(np.floor(number))]).cast(parse_type(kind))
            return str(timestamp[0])
        digits = self.digits.get(column, {}).get(number) or _usual_digits(number)
        return f"{number:.{digits}g}"

    def with_digits(
        self, coded: CodedColumns, columns: NDArray[np.int32], thresholds: NDArray[np.float64]
    ) -> RuleFeatures:
        """Return the same, with enough digits to show thresholds of the X of fit by.

        As many that what is shown divides the numbers of the column as the threshold does.
        """
        digits: dict[int, dict[float, int]] = {}
        for column, number in set(zip(columns.tolist(), thresholds.tolist(), strict=True)):
            if column in self.labels or column in self.types:
                continue
            usual = needed = _usual_digits(number)
            while needed < _ALL_DIGITS:
                if coded.separate(column, number, float(f"{number:.{needed}g}")):
                    break
                needed += 1
            if needed > usual:
                digits.setdefault(column, {})[number] = needed
        return replace(self, digits=digits)

    def check_numbers(self, columns: NDArray[np.int32], thresholds: NDArray[np.float64]) -> None:
        """Refuse thresholds of a file that stand for no label or timestamp of their column."""
        stand_for = np.isin(columns, [*self.labels, *self.types])
        pairs = zip(columns[stand_for].tolist(), thresholds[stand_for].tolist(), strict=True)
        for column, number in set(pairs):
            try:
                fine = column not in self.labels or 0 <= number < len(self.labels[column])
                self.value_text(column, number)
            except (IndexError, ValueError, TypeError, OverflowError, pl.exceptions.PolarsError):
                fine = False
            if not fine:
                name = self.names[column]
                raise InputError(f"'thresholds' has {number:g} for column {name!r}, which has none")

    def note(self, estimator: Any) -> None:
        """Note the columns on an estimator that was read from a file."""
        note_names(estimator, self.names)
        if self.kind == "array":
            del estimator.feature_names_in_

    def to_json(self) -> bytes:
        """Write what prediction needs, for files of models."""
        return write_json(
            {
                "kind": self.kind,
                "names": len(self.names) if self.kind == "array" else self.names,
                "nominal": sorted(self.nominal),
                "labels": {str(k): labels for k, labels in self.labels.items()},
                "types": {str(k): dtype for k, dtype in self.types.items()},
                "digits": {str(k): sorted(x.items()) for k, x in sorted(self.digits.items())},
            }
        )

    @classmethod
    def from_json(cls, data: bytes) -> RuleFeatures:
        """Read what :meth:`to_json` wrote, and believe none of it unchecked.

        >>> from sklearn.base import BaseEstimator
        >>> features, _ = RuleFeatures.fit({"town": ["Ulm", "Bern"]}, BaseEstimator())
        >>> RuleFeatures.from_json(features.to_json()) == features
        True
        """
        try:
            content = json.loads(data)
            kind, names = content["kind"], content["names"]
            if kind not in _KINDS:
                raise ValueError(f"they are of the kind {kind!r}")
            if kind == "array":
                names = array_names(_count(names))
            nominal = frozenset(content["nominal"])
            labels = {int(k): tuple(items) for k, items in content["labels"].items()}
            types = {int(k): str(dtype) for k, dtype in content["types"].items()}
            digits = {int(k): dict(pairs) for k, pairs in content.get("digits", {}).items()}
            _check(names, nominal, labels, types)
            _check_digits(names, digits)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(f"its columns cannot be read ({error})") from None
        return cls(kind, tuple(names), nominal, labels, types, digits)


def _usual_digits(number: float) -> int:
    return 6 if abs(number) < 1e6 else 12


def _count(number: Any) -> int:
    if type(number) is not int or not 0 < number < 2**31:
        raise ValueError("their number cannot be")
    return number


def _check(names: Any, nominal: Any, labels: Any, types: Any) -> None:
    """Check what was read from a file."""
    if not all(isinstance(name, str) for name in names) or not 0 < len(set(names)) == len(names):
        raise ValueError("names must be distinct strings")
    indices = range(len(names))
    if not all(type(k) is int and k in indices for k in (*nominal, *labels, *types)):
        raise ValueError("a column is not among those that have names")
    for items in labels.values():
        if not items or len(set(items)) < len(items) or not all(isinstance(x, str) for x in items):
            raise ValueError("labels must be distinct strings")
    if not all(
        dtype == "Boolean" or (is_temporal(dtype) and parse_type(dtype)) for dtype in types.values()
    ):
        raise ValueError("a column has a type that is not known")


def _check_digits(names: Any, digits: dict[int, dict[Any, Any]]) -> None:
    if not all(k in range(len(names)) for k in digits):
        raise ValueError("a column with digits is not among those that have names")
    pairs = [pair for thresholds in digits.values() for pair in thresholds.items()]
    if not all(type(x) is float and type(n) is int and 0 < n <= _ALL_DIGITS for x, n in pairs):
        raise ValueError("thresholds have digits that cannot be")
