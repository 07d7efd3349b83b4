"""Labels of a few objects, spread over a graph of similarities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import cg

from tacit.errors import InputError
from tacit.plot.html import Result

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PropagatedLabels", "propagate"]

_MAX_STEPS = 10_000  # of conjugate gradients; far beyond what graphs of similarities take


@dataclass(frozen=True, eq=False)
class PropagatedLabels(Result):
    """Classes that were spread over a graph.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
    probabilities : ndarray of shape (n_objects, n_classes)
        The fraction of each class; rows of 0 where no labelled object can be reached.
    labels : ndarray of shape (n_objects,)
        The class with the largest fraction, the first of several; -1 where none can be reached.
    """

    classes: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    labels: NDArray[np.int64]

    def __str__(self) -> str:
        found = int((self.labels >= 0).sum())
        return f"{len(self.classes):,} classes, spread to {found:,} of {len(self.labels):,} objects"


def propagate(
    graph: sparse.csr_array, degrees: NDArray[np.float64], y: Any, tolerance: float
) -> PropagatedLabels:
    """Return the harmonic functions of classes: averages of neighbours, known where y is.

    The equations are (I - D^-½ W D^-½) g = b among the objects without labels, which is positive
    definite in components that hold a labelled object.
    """
    n = graph.shape[0]
    known = np.asarray(y)
    if known.shape != (n,) or known.dtype.kind not in "iu":
        raise InputError(f"y must be {n} whole numbers, -1 for labels to be found")
    if known.min(initial=0) < -1 or not (known >= 0).any():
        raise InputError("y must hold classes from 0 on, at least one, or -1")
    classes, codes = np.unique(known[known >= 0], return_inverse=True)
    fractions = np.zeros((n, len(classes)))
    labelled = np.flatnonzero(known >= 0)
    fractions[labelled, codes] = 1.0
    _, component = csgraph.connected_components(graph, directed=False)
    reached = np.isin(component, component[labelled])
    open_ = np.flatnonzero(reached & (known < 0))
    if len(open_):
        root = 1 / np.sqrt(degrees[open_])
        rows = graph[open_]
        inner = sparse.diags_array(root) @ rows[:, open_] @ sparse.diags_array(root)
        system = (sparse.eye_array(len(open_)) - inner).tocsr()
        given = rows[:, labelled]
        for k in range(len(classes)):
            right = root * (given @ fractions[labelled, k])
            if not right.any():
                continue
            solution, steps = cg(system, right, rtol=tolerance, maxiter=_MAX_STEPS)
            if steps:
                raise InputError(
                    f"propagate_labels did not reach a tolerance of {tolerance:g} in {steps:,} "
                    "steps; try a larger one"
                )
            fractions[open_, k] = solution * root
        np.clip(fractions, 0.0, 1.0, out=fractions)
        sums = fractions[open_].sum(axis=1, keepdims=True)
        fractions[open_] = np.divide(
            fractions[open_], sums, out=np.zeros_like(fractions[open_]), where=sums > 0
        )
    labels = np.where(reached, classes[fractions.argmax(axis=1)], -1)
    return PropagatedLabels(classes.astype(np.int64), fractions, labels.astype(np.int64))
