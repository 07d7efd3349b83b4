"""What a fitted model remembers of its X: columns, and what their values are."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from tacit.errors import InputError
from tacit.schema import KINDS, Labels, NumberedNames, Schema
from tacit.schema.types import parse_type
from tacit.table.schema_json import pack_schema, unpack_schema, write_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.schema import Kind

__all__ = ["Domain", "InputSpec", "Numbers", "Origin", "array_names", "note_names"]

Origin: TypeAlias = Literal["table", "frame", "array"]
_ORIGINS = ("table", "frame", "array")


@dataclass(frozen=True)
class Numbers:
    """The values of a column whose numbers stay what they are."""

    dtype: str = "Float64"  # the Polars type in fit: of numbers, or of timestamps
    kind: Kind = "numeric"


Domain: TypeAlias = Labels | Numbers


@dataclass(frozen=True)
class InputSpec:
    """The columns that a model was fitted on, and how other data are read as those were.

    >>> spec = InputSpec.of_schema(Schema(["pays"], [Labels([False, True], "Boolean")], [0]))
    >>> InputSpec.from_json(spec.to_json()) == spec
    True
    """

    origin: Origin  # what X was
    names: tuple[str, ...]  # the columns of arrays, which have no names, are x0, x1, …
    domains: tuple[Domain, ...]
    defaults: tuple[int, ...]  # the default's code; 0 for numbers

    @classmethod
    def of_schema(cls, schema: Schema, origin: Origin = "table") -> InputSpec:
        """Return the spec of columns all of which have labels."""
        return cls(origin, schema.names, schema.labels, tuple(schema.defaults.tolist()))

    @classmethod
    def of_domains(
        cls, origin: Origin, names: Sequence[str], domains: Sequence[Domain]
    ) -> InputSpec:
        """Return the spec of columns whose defaults do not matter."""
        return cls(origin, tuple(names), tuple(domains), (0,) * len(names))

    @cached_property
    def numeric(self) -> NDArray[np.bool_]:
        """Which columns are numbers as they are."""
        return np.array([isinstance(domain, Numbers) for domain in self.domains], np.bool_)

    @cached_property
    def schema(self) -> Schema:
        """The columns that have labels."""
        kept = np.flatnonzero(~self.numeric).tolist()
        labels: list[Any] = [self.domains[k] for k in kept]
        return Schema([self.names[k] for k in kept], labels, [self.defaults[k] for k in kept])

    @cached_property
    def presence(self) -> bool:
        """Whether all columns are items that are there or not, as those of baskets and logs."""
        shared = {id(domain): domain for domain in self.domains}.values()
        return not any(self.defaults) and all(
            isinstance(domain, Labels)
            and domain.items == (False, True)
            and domain.chosen_kind == "boolean"  # which columns of frames do not say
            for domain in shared
        )

    def position(self, column: Any, argument: str = "column") -> int:
        """Return the index of a column given by name or index."""
        return self._all.position(column, argument)

    @cached_property
    def _all(self) -> Schema:
        one = Labels([0], "Int64")
        return Schema(self.names, [one] * len(self.names), np.zeros(len(self.names), np.int64))

    def without(self, column: int) -> InputSpec:
        """Return the spec without a column; the rest of an array is a frame, as indices shift."""

        def rest(items: tuple[Any, ...]) -> tuple[Any, ...]:
            return items[:column] + items[column + 1 :]

        origin: Origin = "table" if self.origin == "table" else "frame"
        return InputSpec(origin, rest(self.names), rest(self.domains), rest(self.defaults))

    def note(self, estimator: Any) -> None:
        """Note the columns on an estimator, where scikit-learn looks for them."""
        note_names(estimator, self.names)
        if self.origin == "array":
            del estimator.feature_names_in_

    def to_json(self) -> bytes:
        """Write the spec, for files of models."""
        numbers = {
            str(k): [domain.dtype, domain.kind]
            for k, domain in enumerate(self.domains)
            if isinstance(domain, Numbers)
        }
        return write_json(
            {
                "origin": self.origin,
                "names": len(self.names) if self.origin == "array" else self.names,
                "numbers": numbers,
                "schema": pack_schema(self.schema),
            }
        )

    @classmethod
    def from_json(cls, data: bytes) -> InputSpec:
        """Read what :meth:`to_json` wrote, and believe none of it unchecked."""
        try:
            content = json.loads(data)
            if "origin" not in content:
                from tacit.table.earlier_specs import read_earlier

                return read_earlier(content)
            origin, names = content["origin"], content["names"]
            if origin not in _ORIGINS:
                raise ValueError(f"they are those of a {origin!r}")
            if origin == "array":
                if type(names) is not int or not 0 < names < 2**31:
                    raise ValueError("their number cannot be")
                names = array_names(names)
            elif not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                raise ValueError("they have no names")
            numbers = {
                int(k): _read_numbers(*described) for k, described in content["numbers"].items()
            }
            packed = content["schema"]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(f"its columns cannot be read ({error})") from None
        return cls._assembled(origin, names, numbers, unpack_schema(packed))

    @classmethod
    def _assembled(
        cls, origin: Origin, names: Any, numbers: dict[int, Numbers], schema: Schema
    ) -> InputSpec:
        """Put together what a file says of columns of numbers and of those that have labels."""
        fine = len(names) == len(schema) + len(numbers) > 0 and all(
            isinstance(name, str) for name in names
        )
        fine = fine and len(set(names)) == len(names)
        rest = [name for k, name in enumerate(names) if k not in numbers] if fine else None
        if (
            rest is None
            or list(schema.names) != rest
            or not all(0 <= k < len(names) for k in numbers)
        ):
            raise InputError("its columns and their labels do not go together")
        labels, defaults = iter(schema.labels), iter(schema.defaults.tolist())
        domains = tuple(numbers[k] if k in numbers else next(labels) for k in range(len(names)))
        codes = tuple(0 if k in numbers else next(defaults) for k in range(len(names)))
        return cls(origin, tuple(names), domains, codes)


def _read_numbers(dtype: Any, kind: Any) -> Numbers:
    parse_type(str(dtype))
    if kind not in KINDS:
        raise ValueError(f"a column is of the kind {kind!r}")
    return Numbers(str(dtype), kind)


def array_names(n_columns: int) -> Sequence[str]:
    """Return what columns of arrays are called, as scikit-learn does it.

    >>> list(array_names(3))
    ['x0', 'x1', 'x2']
    """
    return NumberedNames(range(n_columns))


def note_names(estimator: Any, names: Sequence[str] | NDArray[Any]) -> None:
    """Note on an estimator which columns it was fitted on, where scikit-learn keeps it."""
    estimator.n_features_in_ = len(names)
    estimator.feature_names_in_ = np.array(names, dtype=object)
