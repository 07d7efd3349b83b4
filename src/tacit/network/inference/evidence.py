"""Questions to a net, checked, and answers with their labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.network.inference.distribution import Distribution
from tacit.network.inference.records import find_code
from tacit.parameters import is_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from tacit.schema import Column, Schema

__all__ = [
    "check_columns",
    "check_evidence",
    "check_interventions",
    "check_likelihood",
    "make_distribution",
]


def check_columns(schema: Schema, columns: Any, argument: str) -> list[int]:
    """Return the positions of columns; one column need not be in a list."""
    if isinstance(columns, str | int | np.integer):
        columns = [columns]
    try:
        positions = [schema.position(column, argument) for column in columns]
    except TypeError:
        raise InputError(f"{argument} must be names or positions, got {columns!r}") from None
    if len(set(positions)) < len(positions):
        twice = next(c for k, c in enumerate(positions) if c in positions[:k])
        raise InputError(f"{argument}: column {schema.names[twice]!r} is named twice")
    return positions


def check_evidence(schema: Schema, given: Any, argument: str = "given") -> dict[int, int]:
    """Return the codes of what is given, by position.

    A column that is given as missing is not known, unless missing values have a label.
    """
    evidence: dict[int, int] = {}
    for position, label in _by_position(schema, given, argument, "labels"):
        code = _code(schema.column(position), label, argument)
        if code >= 0:
            evidence[position] = code
    return evidence


def check_interventions(schema: Schema, do: Any) -> dict[int, int]:
    """Return the codes that columns are set to, by position."""
    codes = check_evidence(schema, do, "do")
    for position, label in _by_position(schema, do, "do", "labels"):
        if position not in codes:
            name = schema.names[position]
            raise InputError(
                f"do: column {name!r} cannot be set to a label that it has not: {label!r}"
            )
    return codes


def check_likelihood(schema: Schema, likelihood: Any) -> dict[int, NDArray[np.float64]]:
    """Return how probable what was seen is, for each label of a column, by position."""
    found: dict[int, NDArray[np.float64]] = {}
    for position, weights in _by_position(schema, likelihood, "likelihood", "mappings"):
        column = schema.column(position)
        where = f"likelihood: column {column.name!r}"
        if not isinstance(weights, Mapping):
            raise InputError(f"{where} needs {{label: number, …}}, got {type(weights).__name__}")
        numbers = np.full(column.arity, np.nan)
        for label, number in weights.items():
            code = _code(column, label, "likelihood")
            if code < 0 or not np.isnan(numbers[code]):
                raise InputError(f"{where} has no label {label!r}, or has it twice")
            if not is_number(number) or not 0 <= number < np.inf:
                raise InputError(f"{where} needs numbers from 0 on, got {number!r} for {label!r}")
            numbers[code] = number
        if np.isnan(numbers).any():
            absent = column.labels[int(np.isnan(numbers).argmax())]
            raise InputError(
                f"{where} needs a number for every label; there is none for {absent!r}"
            )
        if not numbers.any():
            raise InputError(f"{where} has no label that is possible")
        found[position] = numbers
    return found


def _by_position(schema: Schema, given: Any, argument: str, what: str) -> Iterator[tuple[int, Any]]:
    """Yield what is said of columns, each by its position."""
    if given is None:
        return
    if not isinstance(given, Mapping):
        raise InputError(f"{argument} must map columns to {what}, got {type(given).__name__}")
    seen = set()
    for key, value in given.items():
        position = schema.position(key, argument)
        if position in seen:
            raise InputError(f"{argument}: column {schema.names[position]!r} has two values")
        seen.add(position)
        yield position, value


def _code(column: Column, label: Any, argument: str) -> int:
    """Return the code of a label, or -1 for a missing value that has none."""
    if isinstance(label, np.generic):
        label = label.item()
    by_text = all(isinstance(x, str) for x in column.labels)
    code = find_code(column.labels, label, by_text=by_text)
    if code == -2:
        try:
            code = column.code(label)
        except InputError as error:
            raise InputError(f"{argument}: {error}") from None
    return code


def make_distribution(
    schema: Schema,
    positions: Sequence[int],
    probabilities: NDArray[np.float64],
    log_evidence: float,
    evidence: Mapping[int, int],
    do: Mapping[int, int] | None = None,
    likelihood: Mapping[int, NDArray[np.float64]] | None = None,
) -> Distribution:
    """Return probabilities with the labels that belong to them."""
    given, done = (
        {schema.names[c]: schema.labels[c][code] for c, code in codes.items()}
        for codes in (evidence, do or {})
    )
    seen = {
        schema.names[c]: dict(zip(schema.labels[c], weights.tolist(), strict=True))
        for c, weights in (likelihood or {}).items()
    }
    columns = tuple(schema.column(c) for c in positions)
    shape = tuple(column.arity for column in columns)
    numbers = np.asarray(probabilities, np.float64).reshape(shape)
    return Distribution(columns, numbers, float(log_evidence), given, done, seen)
