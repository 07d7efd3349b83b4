"""Records drawn from a dependency tree: the root first, and then each column given its parent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.machine import check_fits
from tacit.network.dependency_tree.links import draw_codes
from tacit.table import Table
from tacit.table.gateway import value_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.network.dependency_tree.layout import Layout
    from tacit.network.dependency_tree.parameters import TreeDensity
    from tacit.schema import Schema

__all__ = ["draw_records"]

_CELLS = 4_000_000  # codes that are held at a time


def draw_records(model: TreeDensity, layout: Layout, n: int, rng: np.random.Generator) -> Any:
    """Draw n records: a Table, or a frame where there are numbers."""
    if not layout.numeric.any():
        assert layout.schema is not None
        step = max(1, _CELLS // model.n_columns)
        parts = [
            _draw(model, min(step, n - first), rng)[0].astype(np.int32)
            for first in range(0, n, step)
        ]
        return _as_table(layout.schema, parts)
    check_fits(16 * n * model.n_columns, "the records", "draw fewer")
    codes, numbers = _draw(model, n, rng)
    names = [name for name, flag in zip(layout.names, layout.numeric, strict=True) if flag]
    drawn = pl.DataFrame([pl.Series(name, numbers[:, k]) for k, name in enumerate(names)])
    if layout.schema is None:
        return drawn
    return _as_table(layout.schema, [codes]).to_frame("polars").hstack(drawn).select(layout.names)


def _draw(
    model: TreeDensity, n: int, rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return codes of the discrete columns, and numbers, each in the order of the columns."""
    values: dict[int, Any] = {}
    for column in model.tree.order.tolist():
        link, chances = model.links[column], model.chances[column]
        if link is not None:
            values[column] = link.draw(values[int(model.tree.parents[column])], rng)
        elif chances is None:
            values[column] = rng.standard_normal(n)
        else:
            values[column] = draw_codes(np.broadcast_to(chances, (n, len(chances))), rng)
    discrete, numeric = np.flatnonzero(~model.numeric), np.flatnonzero(model.numeric)
    codes = np.empty((n, len(discrete)), np.int64)
    numbers = np.empty((n, len(numeric)))
    for k, column in enumerate(discrete.tolist()):
        codes[:, k] = values[column]
    for k, column in enumerate(numeric.tolist()):
        numbers[:, k] = model.centre[column] + model.scale[column] * values[column]
    return codes, numbers


def _as_table(schema: Schema, parts: list[NDArray[Any]]) -> Table:
    """Store codes that are not the default."""
    lengths, values = [], []
    for codes in parts:
        held = codes != schema.defaults
        columns, drawn = np.nonzero(held)[1], codes[held]
        lengths.append(held.sum(axis=1))
        values.append(schema.offsets[columns] + drawn - (drawn > schema.defaults[columns]))
    indptr = np.concatenate(([0], np.cumsum(np.concatenate(lengths))))
    stored = np.concatenate(values).astype(value_type(schema.n_values))
    return Table.from_stored(schema, indptr, stored)
