"""Contingency tables as pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from tacit.counts.formatting import show_label, show_number
from tacit.errors import InputError
from tacit.plot import MOST_LABELS, bars, heat_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tacit.counts.contingency.table import ContingencyTable
    from tacit.schema import Column

__all__ = ["Normalize", "plot"]

Normalize: TypeAlias = Literal["rows", "columns", "all"] | None


def plot(
    table: ContingencyTable, ax: Axes | None, normalize: Normalize, annotate: bool, cmap: str
) -> Axes:
    """Draw a table of one column or two."""
    if normalize not in (None, "rows", "columns", "all"):
        raise InputError(f"normalize must be None, 'rows', 'columns' or 'all', got {normalize!r}")
    columns = table.columns
    if len(columns) > 2:
        raise InputError(
            f"a table of {len(columns)} columns cannot be drawn; "
            f"choose two of them, as in marginal({[*table.names[:2]]!r}).plot()"
        )
    for column in columns:
        if column.arity > MOST_LABELS:
            raise InputError(
                f"column {column.name!r} has {column.arity:,} labels, and no more than "
                f"{MOST_LABELS} can be drawn; keep some of them with slice()"
            )
    if len(columns) == 1 and normalize in ("rows", "columns"):
        raise InputError(f"normalize={normalize!r} needs two columns; use 'all'")
    given = {None: None, "all": None, "rows": 0, "columns": 1}[normalize]
    shown = table if normalize is None else table.probabilities(given)
    of = {"rows": f" of {table.names[0]}", "columns": f" of {table.names[-1]}"}
    measure = "records" if normalize is None else "fraction" + of.get(normalize, "")
    values = shown.to_array()
    texts = [_text(x, normalize) for x in values.reshape(-1).tolist()] if annotate else None
    if len(columns) == 1:
        return bars(
            values,
            _labels(columns[0]),
            columns[0].name,
            measure,
            percent=normalize is not None,
            texts=texts,
            ax=ax,
        )
    return heat_map(
        values,
        _labels(columns[0]),
        _labels(columns[1]),
        columns[0].name,
        columns[1].name,
        measure,
        percent=normalize is not None,
        texts=None if texts is None else np.array(texts, object).reshape(values.shape),
        cmap=cmap,
        ax=ax,
    )


def _labels(column: Column) -> list[str]:
    return [show_label(label) for label in column.labels]


def _text(value: Any, normalize: Normalize) -> str:
    if normalize is None:
        return show_number(value)
    return f"{value:.0%}" if value >= 0.095 or value == 0 else f"{value:.1%}"
