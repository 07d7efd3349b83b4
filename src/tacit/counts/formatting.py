"""Labels and counts as people and frames see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Container

    from tacit.schema import Column

__all__ = ["free_name", "label_column", "label_text", "show_label", "show_number"]


def free_name(name: str, taken: Container[str]) -> str:
    """Return the name, with as many underscores behind it as it takes to be a new one."""
    while name in taken:
        name += "_"
    return name


def label_text(label: Any) -> str | None:
    """Return a label as text for a frame; missing stays missing."""
    return None if label is None else str(label)


def label_column(column: Column) -> pl.Series:
    """Return the labels of a column in code order."""
    try:
        return pl.Series(list(column.labels))
    except (TypeError, OverflowError):  # timestamps, some of them as numbers
        return pl.Series([label_text(label) for label in column.labels], dtype=pl.String)


def show_label(label: Any) -> str:
    """Return a label as text for people."""
    return "(missing)" if label is None else str(label)


def show_number(count: float) -> str:
    """Write a count, or a sum of weights.

    >>> show_number(12345), show_number(0.5)
    ('12,345', '0.5')
    """
    return f"{count:,}" if isinstance(count, int) else f"{count:,.6g}"
