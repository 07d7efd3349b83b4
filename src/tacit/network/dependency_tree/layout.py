"""What a fitted dependency tree remembers of its columns, in memory and in files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.parameters import is_number
from tacit.schema import Labels, Schema
from tacit.table.input_spec import InputSpec
from tacit.table.schema_json import write_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.schema import Column

__all__ = ["Layout", "layout_from_json", "layout_to_json"]


@dataclass(frozen=True)
class Layout:
    """What a fitted tree remembers of its X."""

    # How columns are read: numbers, or labels with one for missing values in every column
    spec: InputSpec
    schema: Schema | None  # the discrete columns, with the labels that have probabilities

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""
        return self.spec.names

    @property
    def numeric(self) -> NDArray[np.bool_]:
        """Which of them are numbers."""
        return self.spec.numeric

    @property
    def arities(self) -> NDArray[np.int64]:
        """Number of labels of each column; 0 for numbers."""
        arities = np.zeros(len(self.names), np.int64)
        if self.schema is not None:
            arities[~self.numeric] = self.schema.arities
        return arities

    @cached_property
    def presence(self) -> InputSpec | None:
        """The columns without labels for missing values, if they are those of baskets or a log."""
        if self.schema is None or self.numeric.any():
            return None
        plain = InputSpec.of_schema(self.schema, self.spec.origin)
        return plain if plain.presence else None

    def position(self, column: Any, argument: str = "column") -> int:
        """Return the position of a column given by name or position."""
        return self.spec.position(column, argument)

    def discrete(self, position: int) -> Column:
        """Return a discrete column."""
        assert self.schema is not None
        return self.schema.column(int(np.count_nonzero(~self.numeric[:position])))

    def known(self, given: Any) -> dict[int, Any]:
        """Return codes and numbers of ``{column: value}``."""
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise InputError(f"given must map columns to values, got {type(given).__name__}")
        known: dict[int, Any] = {}
        for column, value in given.items():
            position = self.position(column, "given")
            name = self.names[position]
            if position in known:
                raise InputError(f"given: column {name!r} has two values")
            if not self.numeric[position]:
                known[position] = self.discrete(position).code(value)
            elif is_number(value) and np.isfinite(float(value)):
                known[position] = float(value)
            else:
                raise InputError(f"given: column {name!r} must be a finite number, got {value!r}")
        return known

    def value(self, position: int, known: Any) -> Any:
        """Return the label of a code, or a number as it is."""
        return known if self.numeric[position] else self.discrete(position).labels[known]

    def note(self, estimator: Any) -> None:
        """Note the columns on an estimator, where scikit-learn looks for them."""
        self.spec.note(estimator)


def layout_to_json(layout: Layout) -> bytes:
    """Write a layout, for files of models."""
    schema = layout.schema
    missing = None if schema is None else [labels.missing is not None for labels in schema.labels]
    return write_json({**json.loads(layout.spec.to_json()), "missing": missing})


def layout_from_json(data: bytes) -> Layout:
    """Read what :func:`layout_to_json` wrote, and believe none of it unchecked."""
    spec = InputSpec.from_json(data)
    if spec.numeric.all():
        return Layout(spec, None)
    reading, states = spec.schema, json.loads(data).get("missing")
    if not isinstance(states, list) or len(states) != len(reading):
        raise InputError("its labels are not those of its discrete columns")
    if any(known.missing is None for known in reading.labels):
        raise InputError("it has a column without a label for missing values")
    shared: dict[tuple[int, bool], Labels] = {}
    labels = []
    for known, state in zip(reading.labels, states, strict=True):
        key = (id(known), bool(state))
        if key not in shared:
            shared[key] = known if state else known.without_missing()
        labels.append(shared[key])
    return Layout(spec, Schema(reading.names, labels, reading.defaults))
