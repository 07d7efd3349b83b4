"""The types of columns: as Polars has them, as names that labels carry, and as Python objects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.errors import InputError
from tacit.schema.labels import Labels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tacit.schema.labels import Kind

__all__ = [
    "is_temporal",
    "label_items",
    "label_series",
    "merge_labels",
    "parse_type",
    "sort_labels",
]

_PLAIN = {
    str(t): t
    for t in (
        pl.Boolean, pl.Categorical, pl.Date, pl.Float32, pl.Float64, pl.Int8, pl.Int16, pl.Int32,
        pl.Int64, pl.Null, pl.String, pl.Time, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64,
    )
}  # fmt: skip
_DATETIME = re.compile(r"Datetime\(time_unit='(ms|us|ns)', time_zone=(?:None|'([\w/+\-]+)')\)")
_DURATION = re.compile(r"Duration\(time_unit='(ms|us|ns)'\)")


def parse_type(name: str) -> Any:
    """Return the Polars type with this name; an enumeration's labels are not part of it."""
    if name == "Enum":
        return pl.Enum
    if name in _PLAIN:
        return _PLAIN[name]
    if name.startswith("Categorical"):
        return pl.Categorical
    if match := _DATETIME.fullmatch(name):
        return pl.Datetime(match[1], match[2])  # type: ignore[arg-type]
    if match := _DURATION.fullmatch(name):
        return pl.Duration(match[1])  # type: ignore[arg-type]
    raise InputError(f"a column has the type {name!r}, which is not known")


def is_temporal(name: str) -> bool:
    """Return whether a type is one of dates, timestamps, times or durations."""
    return name.startswith(("Date", "Duration", "Time"))


def label_items(values: pl.Series) -> list[Any]:
    """Return values as labels.

    Instants are labels in UTC, where no hour comes twice. Python has no nanoseconds: a timestamp
    that needs them has the number that Polars holds for its label.
    """
    dtype = values.dtype
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
        values = values.dt.convert_time_zone("UTC")
    try:
        items = values.to_list()
    except (pl.exceptions.PanicException, OverflowError, ValueError):
        raise InputError(
            f"column {values.name!r} holds timestamps that Python has no dates for"
        ) from None
    if dtype.is_float():
        items = [x if x is None else x + 0.0 for x in items]  # -0.0 is 0.0
    if dtype == pl.Time or getattr(dtype, "time_unit", "us") == "ns":
        for k, number in enumerate(values.to_physical().to_list()):
            if number is not None and number % 1000:
                items[k] = number
    return items


def label_series(labels: Labels) -> pl.Series:
    """Return labels as a series of the type they came in."""
    if labels.array is not None:
        known = pl.Series(labels.array).cast(parse_type(labels.dtype))
        return known if labels.missing is None else known.extend_constant(None, 1)
    items = list(labels)
    if labels.dtype == "Enum":
        return pl.Series(items, dtype=pl.Enum([x for x in items if isinstance(x, str)]))
    dtype = parse_type(labels.dtype)
    if not dtype.is_temporal():
        return pl.Series(items, dtype=dtype)
    fine = [type(x) is int for x in items]
    zone = getattr(dtype, "time_zone", None)
    plain = pl.Datetime(dtype.time_unit, "UTC") if zone else dtype
    series = pl.Series([None if f else x for f, x in zip(fine, items, strict=True)], dtype=plain)
    if any(fine):
        numbers = series.to_physical().to_list()
        numbers = [x if f else n for f, x, n in zip(fine, items, numbers, strict=True)]
        series = pl.Series(numbers, dtype=pl.Int64).cast(plain)
    return series.dt.convert_time_zone(zone) if zone else series


def sort_labels(items: Iterable[Any], dtype: str) -> list[Any]:
    """Sort labels that are not missing."""
    try:
        return sorted(items)
    except TypeError:  # timestamps, some of them as numbers
        mixed = list(items)
        numbers = label_series(Labels(mixed, dtype)).to_physical().to_list()
        return [mixed[k] for k in sorted(range(len(mixed)), key=numbers.__getitem__)]


def merge_labels(several: list[Labels], name: str, argument: str = "tables") -> Labels:
    """Return the union of labels, missing last; the same object if all are the same.

    They are sorted, but for sets that differ in nothing but missing values: those keep the order
    they were declared in, as bins and enumerations have one. A kind that was said of some holds for
    all; identifiers are those that are so everywhere.
    """
    head = several[0]
    if all(labels is head or labels == head for labels in several[1:]):
        return head
    kinds = sorted({labels.dtype for labels in several if labels.dtype != "Null"})
    if len(kinds) > 1:
        raise InputError(
            f"{argument}: column {name!r} is {kinds[0]} in one and {kinds[1]} in another"
        )
    missing = any(labels.missing is not None for labels in several)
    known = [labels for labels in several if len(labels) > 1 or labels.missing is None]
    arrays = [labels.array for labels in known]
    head = known[0] if known else head
    kind = _merge_kinds(known or several, name, argument)
    if known and all(array is not None for array in arrays):
        numbers: Any = np.unique(np.concatenate([labels.array for labels in known]))
        return Labels.of_numbers(numbers, kinds[0], missing=missing, kind=kind)
    present = {labels.items[: labels.missing] for labels in known}
    merged = [*present.pop()] if len(present) == 1 else sort_labels(set().union(*present), kinds[0])
    return Labels(
        [*merged, *([None] if missing else [])],
        kinds[0] if kinds else "Null",
        edges=head.edges if all(labels.edges == head.edges for labels in known) else None,
        kind=kind,
    )


def _merge_kinds(several: list[Labels], name: str, argument: str) -> Kind | None:
    """Return the kind that was said of a column, whichever comes first; two must not differ."""
    said = {labels.chosen_kind for labels in several}
    if len(said) == 1:
        return several[0].chosen_kind
    kinds = sorted(kind for kind in said if kind not in (None, "identifier"))
    if len(kinds) > 1:
        raise InputError(
            f"{argument}: column {name!r} is {kinds[0]} in one and {kinds[1]} in another"
        )
    return kinds[0] if kinds else None
