"""What a fitted dependency tree remembers of its columns, in memory and in files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from tacit.errors import InputError
from tacit.parameters import is_number
from tacit.schema import Labels, Schema
from tacit.table.features import (
    Features,
    array_names,
    features_from_json,
    features_to_json,
    note_names,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.schema import Column

__all__ = ["Layout", "layout_from_json", "layout_to_json"]

Kind: TypeAlias = Literal["table", "frame", "array"]


@dataclass(frozen=True)
class Layout:
    """What a fitted tree remembers of its X."""

    kind: Kind
    names: tuple[str, ...]  # of all columns
    numeric: NDArray[np.bool_]  # which of them are numbers
    schema: Schema | None  # the discrete columns, with the labels that have probabilities
    # How they are read: the same labels, and in every column one for missing values
    features: Features | None

    @property
    def arities(self) -> NDArray[np.int64]:
        """Number of labels of each column; 0 for numbers."""
        arities = np.zeros(len(self.names), np.int64)
        if self.schema is not None:
            arities[~self.numeric] = self.schema.arities
        return arities

    def position(self, column: Any, argument: str = "column") -> int:
        """Return the position of a column given by name or position."""
        one = Labels([0], "Int64")
        n = len(self.names)
        return Schema(self.names, [one] * n, np.zeros(n, np.int64)).position(column, argument)

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
        note_names(estimator, self.names)
        if self.kind == "array":
            del estimator.feature_names_in_


def layout_to_json(layout: Layout) -> bytes:
    """Write a layout, for files of models."""
    content = {
        "kind": layout.kind,
        "names": layout.names,
        "numeric": layout.numeric.tolist(),
        "features": None if layout.features is None else features_to_json(layout.features).decode(),
        "missing": None
        if layout.schema is None
        else [labels.missing is not None for labels in layout.schema.labels],
    }
    return json.dumps(content).encode()


def layout_from_json(data: bytes) -> Layout:
    """Read what :func:`layout_to_json` wrote, and believe none of it unchecked."""
    try:
        content = json.loads(data)
        kind, names, flags = content["kind"], tuple(content["names"]), content["numeric"]
        packed, states = content["features"], content["missing"]
        fine = all(isinstance(x, str) for x in names) and all(x in (True, False) for x in flags)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"its columns cannot be read ({error})") from None
    if not fine or not names or len(set(names)) < len(names) or len(flags) != len(names):
        raise InputError("its columns are not those of a tree")
    if kind not in ("table", "frame", "array"):
        raise InputError(f"its columns are of the kind {kind!r}, which is not known")
    if kind == "array" and list(names) != array_names(len(names)):
        raise InputError("its columns are those of an array, but have names")
    numeric = np.array(flags, np.bool_)
    if numeric.all():
        return Layout(kind, names, numeric, None, None)
    features = features_from_json(packed.encode() if isinstance(packed, str) else b"")
    reading = features.schema
    held = tuple(name for name, flag in zip(names, numeric, strict=True) if not flag)
    if reading.names != held or not isinstance(states, list) or len(states) != len(held):
        raise InputError("its labels are not those of its discrete columns")
    if any(known.missing is None for known in reading.labels):
        raise InputError("it has a column without a label for missing values")
    shared: dict[tuple[int, bool], Labels] = {}
    labels = []
    for known, state in zip(reading.labels, states, strict=True):
        key = (id(known), bool(state))
        if key not in shared:
            shared[key] = known if state else Labels(known.items[:-1], known.dtype)
        labels.append(shared[key])
    return Layout(kind, names, numeric, Schema(held, labels, reading.defaults), features)
