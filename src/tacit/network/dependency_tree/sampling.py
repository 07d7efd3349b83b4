"""Records drawn from a dependency tree: the root first, and then each column given its parent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.machine import check_fits
from tacit.network.dependency_tree.links import draw_codes
from tacit.network.inference.records import make_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.network.dependency_tree.layout import Layout
    from tacit.network.dependency_tree.parameters import TreeDensity

__all__ = ["draw_records"]

_CELLS = 4_000_000  # codes that are held at a time


def draw_records(model: TreeDensity, layout: Layout, n: int, rng: np.random.Generator) -> Any:
    """Draw n records: a Table, or a frame where there are numbers."""
    if not layout.numeric.any():
        assert layout.schema is not None
        step = max(1, _CELLS // model.n_columns)
        blocks = (_draw(model, min(step, n - first), rng)[0] for first in range(0, n, step))
        return make_table(layout.schema, blocks)
    check_fits(16 * n * model.n_columns, "the records", "draw fewer")
    codes, numbers = _draw(model, n, rng)
    names = [name for name, flag in zip(layout.names, layout.numeric, strict=True) if flag]
    frame = pl.DataFrame([pl.Series(name, numbers[:, k]) for k, name in enumerate(names)])
    if layout.schema is None:
        return frame
    return make_table(layout.schema, [codes]).to_frame("polars").hstack(frame).select(layout.names)


def _draw(
    model: TreeDensity, n: int, rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return codes of the discrete columns, and numbers, each in the order of the columns."""
    values: dict[int, Any] = {}
    for column in model.tree.order.tolist():
        link, marginal = model.links[column], model.marginals[column]
        if link is not None:
            values[column] = link.draw(values[int(model.tree.parents[column])], rng)
        elif marginal is None:
            values[column] = rng.standard_normal(n)
        else:
            values[column] = draw_codes(np.broadcast_to(marginal, (n, len(marginal))), rng)
    discrete, numeric = np.flatnonzero(~model.numeric), np.flatnonzero(model.numeric)
    codes = np.empty((n, len(discrete)), np.int32)
    numbers = np.empty((n, len(numeric)))
    for k, column in enumerate(discrete.tolist()):
        codes[:, k] = values[column]
    for k, column in enumerate(numeric.tolist()):
        numbers[:, k] = model.centre[column] + model.scale[column] * values[column]
    return codes, numbers
