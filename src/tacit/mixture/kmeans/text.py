"""A fitted k-means model as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.mixture.kmeans.estimator import KMeans

__all__ = ["coordinate_names", "describe"]


def describe(model: KMeans, top: int) -> str:
    """Return the sizes of clusters and what sets each apart."""
    sizes: NDArray[np.float64] = model.sizes_
    overall = sizes @ model.cluster_centers_ / sizes.sum()
    names = coordinate_names(model)
    lines = [
        f"{len(sizes)} clusters of {sizes.sum():,.10g} records × {model.n_features_in_:,} columns, "
        f"inertia {model.inertia_:,.6g} after {model.n_iter_} iterations"
    ]
    for k in np.argsort(-sizes, kind="stable"):
        fraction = sizes[k] / sizes.sum()
        lines += ["", f"cluster {k}: {sizes[k]:,.10g} records ({fraction:.1%})"]
        centre = model.cluster_centers_[k]
        shown = _characteristic(model, centre - overall, top)
        width = max((len(names[c]) for c in shown), default=0)
        lines += [
            f"  {names[c].ljust(width)}  {centre[c]:.3g} (overall {overall[c]:.3g})" for c in shown
        ]
    return "\n".join(lines)


def _characteristic(model: KMeans, gap: NDArray[np.float64], top: int) -> list[int]:
    """Return the coordinates to name: of a Table, the label that most gains in each column."""
    if model.schema_ is None:
        distance, coordinates = np.abs(gap), np.arange(len(gap))
    else:
        cells = model.schema_.cells
        distance = np.sqrt(np.add.reduceat(np.square(gap), cells[:-1]))
        spans = zip(cells[:-1].tolist(), cells[1:].tolist(), strict=True)
        coordinates = np.array([a + int(np.argmax(gap[a:b])) for a, b in spans])
    largest = np.argsort(-distance, kind="stable")[:top]
    return [int(coordinates[c]) for c in largest if distance[c] > 1e-12]


def coordinate_names(model: KMeans) -> list[str]:
    """Return what the coordinates of centres are called."""
    schema = model.schema_
    if schema is not None:
        return [
            f"{name}={label}"
            for name, labels in zip(schema.names, schema.labels, strict=True)
            for label in labels
        ]
    names = getattr(model, "feature_names_in_", None)
    return (
        [f"x{c}" for c in range(model.n_features_in_)] if names is None else list(map(str, names))
    )
