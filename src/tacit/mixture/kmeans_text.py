"""A fitted k-means model in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["coordinate_names", "describe"]


def coordinate_names(model: Any) -> list[str]:
    """Return what the coordinates of centres are called."""
    if model.schema_ is not None:
        return [f"{column.name}={label}" for column in model.schema_ for label in column.labels]
    names = getattr(model, "feature_names_in_", None)
    return [f"x{k}" for k in range(model.n_features_in_)] if names is None else names.tolist()


def describe(model: Any, top: int) -> str:
    """Return the sizes of clusters and what sets each apart."""
    centres: NDArray[np.float64] = model.cluster_centers_
    sizes: NDArray[np.float64] = model.sizes_
    overall = sizes @ centres / sizes.sum()
    names = coordinate_names(model)
    lines = [
        f"{len(sizes)} clusters of {sizes.sum():,.10g} records × {model.n_features_in_:,} columns, "
        f"inertia {model.inertia_:,.6g} after {model.n_iter_} iterations"
    ]
    for k in np.argsort(-sizes, kind="stable"):
        share = sizes[k] / sizes.sum()
        lines += ["", f"cluster {k}: {sizes[k]:,.10g} records ({share:.1%})"]
        apart = np.abs(centres[k] - overall)
        told = [c for c in np.argsort(-apart, kind="stable")[:top] if apart[c] > 0]
        width = max((len(names[c]) for c in told), default=0)
        lines += [
            f"  {names[c].ljust(width)}  {centres[k, c]:.3g} (overall {overall[c]:.3g})"
            for c in told
        ]
    return "\n".join(lines)
