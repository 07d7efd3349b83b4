"""Trees of mutual information as others make them: NumPy and SciPy, and libraries of networks.

Each returns a set of edges (a, b), a < b.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    Edges: TypeAlias = set[tuple[int, int]]


def as_set(pairs: Iterable[Any]) -> Edges:
    return {(min(a, b), max(a, b)) for a, b in np.asarray(list(pairs)).tolist()}


def spanning(weights: Any) -> Edges:
    """Return SciPy's spanning tree of greatest weight."""
    # A zero is no edge for SciPy, so that all are lifted above it.
    tree = minimum_spanning_tree(np.triu(1.0 + weights.max() - weights, 1)).tocoo()
    return as_set(zip(tree.row, tree.col, strict=True))


def correlations(x: Any) -> Any:
    """Return the absolute correlations of all columns, none with itself."""
    square = np.abs(np.corrcoef(x, rowvar=False))
    np.fill_diagonal(square, 0.0)
    return square


def by_corrcoef(x: Any) -> Edges:
    """Return the tree that a user of NumPy and SciPy gets in two lines."""
    return spanning(correlations(x))


def nats(square: Any) -> Any:
    """Return the information of numeric columns from their correlations."""
    return -0.5 * np.log1p(-np.minimum(square**2, 1 - 1e-15))


def binary_information(x: Any) -> Any:
    """Return the information of all pairs of 0/1 columns: a float32 product and four cells."""
    m = len(x)
    ones = x.astype(np.float32)
    both = (ones.T @ ones).astype(np.float64)
    single = np.diag(both).copy()
    first = single[:, None] - both
    p, q = single / m, 1.0 - single / m
    cells = ((both, p, p), (first, p, q), (first.T, q, p), (m - both - first - first.T, q, q))
    information = np.zeros_like(both)
    with np.errstate(divide="ignore", invalid="ignore"):
        for counts, a, b in cells:
            share = counts / m
            information += np.where(share > 0, share * np.log(share / np.outer(a, b)), 0.0)
    np.fill_diagonal(information, 0.0)
    return information


def by_product(x: Any) -> Edges:
    """Return the Chow–Liu tree of 0/1 columns by NumPy's product and SciPy's spanning tree."""
    return spanning(binary_information(x))


def libraries() -> tuple[dict[str, tuple[Callable[[Any], Any], Callable[[Any], Edges]]], list[str]]:
    """Return, by name and version, how to prepare 0/1 data and how to make its Chow–Liu tree.

    The second list says what is not there, and why.
    """
    known = {"pgmpy": (_frame, _pgmpy), "pomegranate": (_tensor, _pomegranate)}
    found, absent = {}, []
    for name, pair in known.items():
        if importlib.util.find_spec(name) is None:
            absent.append(f"{name} is not installed.")
        else:
            found[f"{name} {importlib.metadata.version(name)}"] = pair
    if importlib.util.find_spec("pyagrum") is None:
        absent.append("pyAgrum is not installed.")
    else:
        absent.append(f"pyAgrum {importlib.metadata.version('pyagrum')} has no Chow–Liu trees.")
    return found, absent


def _frame(x: Any) -> Any:
    import pandas as pd

    return pd.DataFrame(x, columns=[str(c) for c in range(x.shape[1])])


def _pgmpy(frame: Any) -> Edges:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.estimators import TreeSearch

        tree = TreeSearch(frame, root_node="0", n_jobs=1).estimate(
            estimator_type="chow-liu", show_progress=False
        )
    return as_set((int(a), int(b)) for a, b in tree.edges())


def _tensor(x: Any) -> Any:
    import torch

    torch.set_num_threads(1)
    return torch.tensor(x.astype(np.int64))


def _pomegranate(tensor: Any) -> Edges:
    from pomegranate.bayesian_network import _categorical_chow_liu  # what its fit calls

    return as_set((c, above[0]) for c, above in enumerate(_categorical_chow_liu(tensor)) if above)
