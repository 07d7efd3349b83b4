"""The answer to a query: probabilities of labels, or of combinations of labels."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.errors import InputError
from tacit.plot.html import Result, table_html
from tacit.schema.types import label_series

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tacit.schema import Column

__all__ = ["Distribution"]

_LONGEST = 24  # rows of the text


@dataclass(frozen=True, repr=False, eq=False)
class Distribution(Result):
    """Probabilities of every combination of labels of some columns, given evidence.

    Attributes
    ----------
    columns : tuple of Column
        One for each axis of `probabilities`.
    probabilities : ndarray of float64
        In the order of the columns' labels.
    log_evidence : float
        The natural logarithm of the probability of what is given; 0 if nothing is.
    given : dict of str to label
        The evidence.
    do : dict of str to label
        What columns were set to.
    likelihood : dict of str to dict of label to float
        The evidence that is not certain.

    Examples
    --------
    >>> import tacit
    >>> net = tacit.BayesNet.from_tables(
    ...     {"rain": ["no", "yes"]}, {}, {"rain": [0.75, 0.25]}
    ... )
    >>> answer = net.query("rain")
    >>> answer
    rain  probability
    no         0.7500
    yes        0.2500
    >>> answer["yes"]
    0.25
    """

    columns: tuple[Column, ...]
    probabilities: NDArray[np.float64]
    log_evidence: float = 0.0
    given: dict[str, Any] = field(default_factory=dict)
    do: dict[str, Any] = field(default_factory=dict)
    likelihood: dict[str, dict[Any, float]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def labels(self) -> tuple[tuple[Any, ...], ...]:
        """Labels of each column."""
        return tuple(tuple(column.labels) for column in self.columns)

    @property
    def evidence(self) -> float:
        """The probability of what is given; it may be too small for a float and then is 0."""
        return math.exp(self.log_evidence)

    def most_probable(self) -> dict[str, Any]:
        """Return the most probable combination of labels; of equals, the first."""
        index = np.unravel_index(int(self.probabilities.argmax()), self.probabilities.shape)
        return {
            column.name: column.labels[int(code)]
            for column, code in zip(self.columns, index, strict=True)
        }

    def __getitem__(self, labels: Any) -> float:
        wanted = labels if isinstance(labels, tuple) else (labels,)
        if len(wanted) != len(self.columns):
            raise InputError(
                f"give a label for each of the columns {', '.join(map(repr, self.names))}, "
                f"got {labels!r}"
            )
        index = tuple(c.code(x) for c, x in zip(self.columns, wanted, strict=True))
        return float(self.probabilities[index])

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("a Distribution is asked by label; to_dict() and to_frame() list it")

    def to_dict(self) -> dict[Any, float]:
        """Return probabilities by label, or by tuple of labels where columns are several."""
        cells = np.ndindex(*self.probabilities.shape)
        keys = (
            tuple(c.labels[k] for c, k in zip(self.columns, cell, strict=True)) for cell in cells
        )
        numbers = self.probabilities.ravel().tolist()
        if len(self.columns) == 1:
            return {key[0]: p for key, p in zip(keys, numbers, strict=True)}
        return dict(zip(keys, numbers, strict=True))

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each combination of labels, with its probability in the last column."""
        name = "probability"
        while name in self.names:
            name += "_"
        codes = np.indices(self.probabilities.shape).reshape(len(self.columns), -1)
        frame = pl.DataFrame(
            [
                label_series(column.labels).alias(column.name).gather(positions)
                for column, positions in zip(self.columns, codes, strict=True)
            ]
        )
        return frame.with_columns(pl.Series(name, self.probabilities.ravel()))

    def _conditions(self) -> list[str]:
        """Return what the answer is given, as people write it."""
        known = [f"{name} = {_text(label)}" for name, label in self.given.items()]
        done = [f"do({name} = {_text(label)})" for name, label in self.do.items()]
        return [*done, *known, *(f"likelihood of {name}" for name in self.likelihood)]

    def _html(self) -> str:
        rows = [
            [*(_text(c.labels[k]) for c, k in zip(self.columns, cell, strict=True)),
             _number(float(self.probabilities[cell]))]
            for cell in islice(np.ndindex(*self.probabilities.shape), _LONGEST)
        ]  # fmt: skip
        given = ", ".join(self._conditions())
        title = f"P({', '.join(self.names)}{' | ' + given if given else ''})"
        left = self.probabilities.size - len(rows)
        note = f"… and {left:,} more: see to_frame()" if left > 0 else ""
        return table_html([*self.names, "probability"], rows, title=title, note=note)

    def __repr__(self) -> str:
        shape = self.probabilities.shape
        rows = [[*self.names, "probability"]]
        for cell in np.ndindex(*shape):
            if len(rows) > _LONGEST:
                break
            labels = [_text(c.labels[k]) for c, k in zip(self.columns, cell, strict=True)]
            rows.append([*labels, _number(float(self.probabilities[cell]))])
        widths = [max(map(len, texts)) for texts in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                [
                    *(t.ljust(w) for t, w in zip(row[:-1], widths, strict=False)),
                    row[-1].rjust(widths[-1]),
                ]
            )
            for row in rows
        ]
        left = self.probabilities.size + 1 - len(rows)
        if left > 0:
            lines.append(f"… and {left:,} more: see to_frame()")
        return "\n".join(lines)


def _text(label: Any) -> str:
    return "missing" if label is None else str(label)


def _number(probability: float) -> str:
    """Write a probability with four digits, tiny ones as powers of ten."""
    if probability == 0 or probability >= 5e-5:
        return f"{probability:.4f}"
    return f"{probability:.1e}"
