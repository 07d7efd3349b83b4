"""A fitted k-means model in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["describe"]


def describe(model: Any, top: int) -> str:
    """Return the sizes of clusters and what sets each apart."""
    sizes: NDArray[np.float64] = model.sizes_
    overall = sizes @ model.cluster_centers_ / sizes.sum()
    lines = [
        f"{len(sizes)} clusters of {sizes.sum():,.10g} records × {model.n_features_in_:,} columns, "
        f"inertia {model.inertia_:,.6g} after {model.n_iter_} iterations"
    ]
    for k in np.argsort(-sizes, kind="stable"):
        share = sizes[k] / sizes.sum()
        lines += ["", f"cluster {k}: {sizes[k]:,.10g} records ({share:.1%})"]
        centre = model.cluster_centers_[k]
        told = _apart(model, centre - overall, top)
        names = [_name(model, place) for place in told]
        width = max(map(len, names), default=0)
        lines += [
            f"  {name.ljust(width)}  {centre[c]:.3g} (overall {overall[c]:.3g})"
            for name, c in zip(names, told, strict=True)
        ]
    return "\n".join(lines)


def _apart(model: Any, gap: NDArray[np.float64], top: int) -> list[int]:
    """Return the coordinates to name: of a Table, the label that most gains in each column."""
    if model.schema_ is None:
        weight, places = np.abs(gap), np.arange(len(gap))
    else:
        cells = model.schema_.cells
        weight = np.sqrt(np.add.reduceat(np.square(gap), cells[:-1]))
        spans = zip(cells[:-1].tolist(), cells[1:].tolist(), strict=True)
        places = np.array([a + int(np.argmax(gap[a:b])) for a, b in spans])
    first = np.argsort(-weight, kind="stable")[:top]
    return [int(places[c]) for c in first if weight[c] > 1e-12]


def _name(model: Any, place: int) -> str:
    if model.schema_ is not None:
        column = int(np.searchsorted(model.schema_.cells, place, side="right")) - 1
        label = model.schema_.labels[column][place - int(model.schema_.cells[column])]
        return f"{model.schema_.names[column]}={label}"
    names = getattr(model, "feature_names_in_", None)
    return f"x{place}" if names is None else str(names[place])
