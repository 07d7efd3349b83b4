"""Questions to a net, checked, and answers with their labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.network.inference.distribution import Distribution
from tacit.network.inference.records import find_code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.schema import Schema

__all__ = ["check_columns", "check_evidence", "make_distribution"]


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


def check_evidence(schema: Schema, given: Any) -> dict[int, int]:
    """Return the codes of what is given, by position.

    A column that is given as missing is not known, unless missing values have a label.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"given must map columns to labels, got {type(given).__name__}")
    evidence: dict[int, int] = {}
    for key, label in given.items():
        position = schema.position(key, "given")
        if position in evidence:
            raise InputError(f"given: column {schema.names[position]!r} has two values")
        column = schema.column(position)
        if isinstance(label, np.generic):
            label = label.item()
        by_text = all(isinstance(x, str) for x in column.labels)
        code = find_code(column.labels, label, by_text=by_text)
        if code == -2:
            try:
                code = column.code(label)
            except InputError as error:
                raise InputError(f"given: {error}") from None
        if code >= 0:
            evidence[position] = code
    return evidence


def make_distribution(
    schema: Schema,
    positions: Sequence[int],
    probabilities: NDArray[np.float64],
    log_evidence: float,
    evidence: Mapping[int, int],
) -> Distribution:
    """Return probabilities with the labels that belong to them."""
    given = {schema.names[c]: schema.labels[c][code] for c, code in evidence.items()}
    columns = tuple(schema.column(c) for c in positions)
    shape = tuple(column.arity for column in columns)
    numbers = np.asarray(probabilities, np.float64).reshape(shape)
    return Distribution(columns, numbers, float(log_evidence), given)
