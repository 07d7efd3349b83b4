"""Queries: ``{column: condition, …}``, a conjunction, where a condition says which labels match."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tacit.errors import InputError
from tacit.schema.labels import is_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.schema.schema import Column, Schema

__all__ = ["Between", "CodeRanges", "Exclude", "between", "check_query", "complement", "exclude"]

CodeRanges: TypeAlias = tuple[tuple[int, int], ...]  # first and last code; apart and ascending

_SHOWN = 6  # edges in a message


@dataclass(frozen=True)
class Between:
    """A condition on a column: from one value to another; made by :func:`between`."""

    low: Any = None
    high: Any = None

    def __repr__(self) -> str:
        return f"between({self.low!r}, {self.high!r})"


@dataclass(frozen=True)
class Exclude:
    """A condition on a column: all but some labels; made by :func:`exclude`."""

    condition: Any

    def __repr__(self) -> str:
        return f"exclude({self.condition!r})"


def between(low: Any = None, high: Any = None) -> Between:
    """Return the condition that a value lies between two others, both included.

    It is for numeric columns, dates and times, and ordered labels. Missing values never match. Of a
    column whose numbers are cut, bins match; then `low` has to be an edge at which a bin begins and
    `high` one at which a bin ends, and the records at `high` belong to the bin behind it. The names
    of bins will do as well, for the first bin and the last.

    Parameters
    ----------
    low, high : number, date, time or label, optional
        ``None`` leaves that side open.

    Examples
    --------
    >>> import tacit
    >>> people = tacit.Table({"age": [19, 24, 35, 44, 61], "pays": [0, 0, 0, 1, 1]})
    >>> people.count({"age": tacit.between(24, 50)})
    3
    >>> people.contingency(["pays"], given={"age": tacit.between(30)}).to_array().tolist()
    [1, 2]
    """
    for end in (low, high):
        try:
            ordered = end is None or bool(end == end)
        except (TypeError, ValueError):
            raise InputError(f"between: {end!r} is not one value to begin or end with") from None
        if not ordered:
            raise InputError("between: NaN is not a number to begin or end with")
    return Between(low, high)


def exclude(labels: Any) -> Exclude:
    """Return the condition that a value is none of some labels.

    All others match, missing values too.

    Parameters
    ----------
    labels : label, collection of labels, or another condition
        Whatever a query may ask of a column; it is turned around.

    Examples
    --------
    >>> import tacit
    >>> visits = tacit.Table({"region": ["north", "west", None, "south"]})
    >>> visits.count({"region": tacit.exclude("north")})
    3
    >>> visits.where({"region": tacit.exclude(["west", None])}).tolist()
    [0, 3]
    """
    return Exclude(labels)


def check_query(
    schema: Schema, query: Any, argument: str = "given"
) -> list[tuple[int, CodeRanges]]:
    """Turn ``{column: condition, …}`` into column positions and the codes that match.

    A condition is a label, a collection of labels (any of them), :func:`between` or
    :func:`exclude`. A collection may hold conditions, too.
    """
    if not isinstance(query, Mapping):
        raise InputError(f"{argument} must map columns to labels, got {type(query).__name__}")
    codes: dict[int, CodeRanges] = {}
    for name, condition in query.items():
        position = schema.position(name, argument)
        if position in codes:
            raise InputError(f"{argument}: column {schema.names[position]!r} has two values")
        codes[position] = _codes(schema.column(position), condition, argument)
    return list(codes.items())


def _codes(column: Column, condition: Any, argument: str) -> CodeRanges:
    if isinstance(condition, np.ndarray) and condition.ndim == 1:
        condition = condition.tolist()
    if isinstance(condition, (list, tuple, set, frozenset, range)):
        return _union(part for item in condition for part in _codes(column, item, argument))
    if isinstance(condition, Exclude):
        return complement(_codes(column, condition.condition, argument), column.arity)
    if isinstance(condition, Between):
        return _codes_between(column, condition, f"{argument}: column {column.name!r}")
    code = column.code(condition)
    return ((code, code),)


def _union(ranges: Iterable[tuple[int, int]]) -> CodeRanges:
    joined: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(last, joined[-1][1])
        else:
            joined.append((first, last))
    return tuple(joined)


def complement(ranges: CodeRanges, arity: int) -> CodeRanges:
    """Return all other codes of a column of `arity` labels.

    >>> complement(((1, 2), (4, 4)), 6), complement((), 3), complement(((0, 2),), 3)
    (((0, 0), (3, 3), (5, 5)), ((0, 2),), ())
    """
    ends = [-1, *(end for first, last in ranges for end in (first, last)), arity]
    gaps = zip(ends[::2], ends[1::2], strict=True)
    return tuple((a + 1, b - 1) for a, b in gaps if a + 1 <= b - 1)


# From values to codes


def _codes_between(column: Column, condition: Between, where: str) -> CodeRanges:
    """Return the codes of the labels between two values."""
    low, high = (_python(end) for end in (condition.low, condition.high))
    if (low == math.inf or high == -math.inf) and (
        column.labels.is_numeric or column.edges is not None
    ):
        return ()  # no number is beyond
    low, high = (None if end in (math.inf, -math.inf) else end for end in (low, high))
    labels = column.labels
    known = column.arity if labels.missing is None else labels.missing
    if labels.edges is not None:
        first, last = _bins(column, low, high, where)
    elif labels.array is not None or labels.is_numeric:
        for end in (low, high):
            if not (end is None or is_number(end)):
                raise InputError(f"{where} has numbers; {condition} does not say which")
        return _matching(column, low, high, known, where)
    elif column.kind != "ordered":
        raise InputError(
            f"{where} is {column.kind}, and {condition} asks for an order; name the labels in a "
            "list, or say with kinds= that they are ordered"
        )
    elif labels.dtype.startswith(("Date", "Duration", "Time")):
        return _matching(column, low, high, known, where)
    else:
        first = 0 if low is None else column.code(low)
        last = known - 1 if high is None else column.code(high)
    if first > last and low is not None and high is not None:
        raise InputError(f"{where}: {condition} ends before it begins")
    return ((first, min(last, known - 1)),) if first <= last else ()


def _python(end: Any) -> Any:
    """Return an end as Python has it."""
    return end.item() if isinstance(end, np.generic) else end


def _matching(column: Column, low: Any, high: Any, known: int, where: str) -> CodeRanges:
    """Return the codes of labels that compare as they should, whatever their order."""
    array = column.labels.array
    try:
        if low is not None and high is not None and low > high:
            raise InputError(f"{where}: between({low!r}, {high!r}) ends before it begins")
        if array is not None:
            first = 0 if low is None else _search(array, low, "left")
            last = len(array) if high is None else _search(array, high, "right")
            return ((first, last - 1),) if first < last else ()
        items: Any = column.labels[:known]
        codes = (
            code
            for code, item in enumerate(items)
            if (low is None or low <= item) and (high is None or item <= high)
        )
        return _union((code, code) for code in codes)
    except TypeError:
        example = column.labels[0]
        raise InputError(
            f"{where} has labels such as {example!r}, which do not compare with the ends of "
            f"between({low!r}, {high!r})"
        ) from None


def _search(numbers: Any, end: Any, side: Any) -> int:
    """Return where an end falls among ascending numbers; whole numbers are compared as such."""
    if numbers.dtype.kind == "f":
        return int(np.searchsorted(numbers, end, side))
    whole = math.ceil(end) if side == "left" else math.floor(end)
    info = np.iinfo(numbers.dtype)
    if whole < info.min or whole > info.max:
        return 0 if whole < info.min else len(numbers)
    return int(np.searchsorted(numbers, numbers.dtype.type(whole), side))


def _bins(column: Column, low: Any, high: Any, where: str) -> tuple[int, int]:
    """Return the bins from one edge to another, or from one bin to another."""
    first, last = 0, len(column.labels.edges or ())
    if low is not None:
        first = _edge(column, low, where) + 1 if is_number(low) else column.code(low)
    if high is not None:
        last = _edge(column, high, where) if is_number(high) else column.code(high)
    if is_number(low) and low == high:
        raise InputError(f"{where} is cut into bins, and between({low!r}, {high!r}) holds none")
    return first, last


def _edge(column: Column, number: float, where: str) -> int:
    """Return which edge a number is."""
    edges = column.labels.edges or ()
    k = int(np.searchsorted(np.asarray(edges), number))
    if k < len(edges) and edges[k] == number:
        return k
    near = [f"{edge:g}" for edge in edges[max(k - 1, 0) : k + 1]]
    shown = ", ".join(f"{edge:g}" for edge in edges[:_SHOWN])
    more = f", … ({len(edges)} in all)" if len(edges) > _SHOWN else ""
    raise InputError(
        f"{where} is cut at {shown}{more}, and {number:g} is none of these; the nearest "
        f"{'is' if len(near) == 1 else 'are'} {' and '.join(near)}"
    )
