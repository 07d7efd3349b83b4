"""The columns that rules are about: what a model remembers of X, and how conditions read.

Ordinal columns are compared with thresholds: numbers, timestamps, enumerations, ordered categories
and bins. Nominal ones are compared with one value: strings, other categories, booleans, and what
`kinds` call so. Missing values (null, NaN) satisfy no condition. Nor does a label that was not
there in fit, but for "is not": of ordinal columns not even that.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.errors import InputError
from tacit.schema import Labels
from tacit.schema.types import is_temporal, parse_type
from tacit.table.input_spec import InputSpec
from tacit.table.number_columns import is_nominal
from tacit.table.schema_json import write_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.rules.columns.coding import CodedColumns

__all__ = ["RuleFeatures"]

_SIGNS = ("≤", ">", "=", "≠")
_ALL_DIGITS = 17  # no two floats look alike


@dataclass(frozen=True)
class RuleFeatures:
    """What a model of rules remembers of its X.

    >>> from sklearn.base import BaseEstimator
    >>> from tacit.table.inputs import Inputs
    >>> X = {"age": [31, 58, 44, 58], "town": ["Ulm", "Bern", "Ulm", None]}
    >>> inputs = Inputs.fit(BaseEstimator(), X)
    >>> columns = inputs.numbers()
    >>> features = RuleFeatures(inputs.spec)
    >>> features.names, features.kinds.tolist()
    (('age', 'town'), [0, 1])
    >>> features.text(0, 0, 37.5), features.text(1, 3, 0.0)
    ('age ≤ 37.5', 'town ≠ Bern')
    """

    spec: InputSpec
    # By column, how many digits thresholds are shown with if the usual ones are too few.
    digits: dict[int, dict[float, int]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns."""
        return self.spec.names

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        """0 for ordinal columns, 1 for nominal ones."""
        known = {id(domain): is_nominal(domain) for domain in self.spec.domains}
        flags = (known[id(domain)] for domain in self.spec.domains)
        return np.fromiter(flags, np.uint8, len(self.names))

    def labels(self, column: int) -> Labels | None:
        """Return the labels of a column, if it has any."""
        domain = self.spec.domains[column]
        return domain if isinstance(domain, Labels) else None

    def text(self, column: int, op: int, threshold: float) -> str:
        """Return a condition as people read it; `op` is an index of the operators ≤, >, = and ≠."""
        labels = self.labels(column)
        if labels is not None and labels.edges is not None and op < 2:
            edge = labels.edges[int(np.floor(threshold))]
            return f"{self.names[column]} {'<' if op == 0 else '≥'} {edge:.6g}"
        return f"{self.names[column]} {_SIGNS[op]} {self.value_text(column, threshold)}"

    def value_text(self, column: int, number: float) -> str:
        """Return the value of a column that a number stands for, as people read it."""
        domain = self.spec.domains[column]
        if isinstance(domain, Labels):
            return str(domain[int(np.floor(number))])
        if is_temporal(domain.dtype):
            timestamp = pl.Series([int(np.floor(number))]).cast(parse_type(domain.dtype))
            return str(timestamp[0])
        digits = self.digits.get(column, {}).get(number) or _usual_digits(number)
        return f"{number:.{digits}g}"

    def is_plain(self, column: int) -> bool:
        """Return whether the numbers of a column stand for nothing else."""
        domain = self.spec.domains[column]
        return not isinstance(domain, Labels) and not is_temporal(domain.dtype)

    def with_digits(
        self, coded: CodedColumns, columns: NDArray[np.int32], thresholds: NDArray[np.float64]
    ) -> RuleFeatures:
        """Return the same, with enough digits to show thresholds of the X of fit by.

        As many that what is shown divides the numbers of the column as the threshold does.
        """
        digits: dict[int, dict[float, int]] = {}
        for column, number in set(zip(columns.tolist(), thresholds.tolist(), strict=True)):
            if not self.is_plain(column):
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
        plain = {column: self.is_plain(column) for column in np.unique(columns).tolist()}
        stand_for = np.array([not plain[column] for column in columns.tolist()], np.bool_)
        pairs = zip(columns[stand_for].tolist(), thresholds[stand_for].tolist(), strict=True)
        for column, number in set(pairs):
            try:
                labels = self.labels(column)
                fine = labels is None or 0 <= number < len(labels)
                self.value_text(column, number)
            except (IndexError, ValueError, TypeError, OverflowError, pl.exceptions.PolarsError):
                fine = False
            if not fine:
                name = self.names[column]
                raise InputError(f"'thresholds' has {number:g} for column {name!r}, which has none")

    def to_json(self) -> bytes:
        """Write what prediction needs, for files of models."""
        digits = {str(k): sorted(x.items()) for k, x in sorted(self.digits.items())}
        return write_json({**json.loads(self.spec.to_json()), "digits": digits})

    @classmethod
    def from_json(cls, data: bytes) -> RuleFeatures:
        """Read what :meth:`to_json` wrote, and believe none of it unchecked."""
        spec = InputSpec.from_json(data)
        try:
            content = json.loads(data).get("digits", {})
            digits = {int(k): dict(pairs) for k, pairs in content.items()}
            _check_digits(spec.names, digits)
        except (ValueError, TypeError, AttributeError) as error:
            raise InputError(f"its columns cannot be read ({error})") from None
        return cls(spec, digits)


def _usual_digits(number: float) -> int:
    return 6 if abs(number) < 1e6 else 12


def _check_digits(names: Any, digits: dict[int, dict[Any, Any]]) -> None:
    if not all(k in range(len(names)) for k in digits):
        raise ValueError("a column with digits is not among those that have names")
    pairs = [pair for thresholds in digits.values() for pair in thresholds.items()]
    if not all(type(x) is float and type(n) is int and 0 < n <= _ALL_DIGITS for x, n in pairs):
        raise ValueError("thresholds have digits that cannot be")
