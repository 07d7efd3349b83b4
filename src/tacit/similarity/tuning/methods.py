"""All combinations of a classifier's parameters, with nothing computed twice.

Each method gets training and validation objects that are projected and measured already, and yields
combinations with the classes that they predict. Distances are computed once and become similarities
for each scale; neighbours are sorted once for all numbers of neighbours; cuts are found along all
balances at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from tacit.errors import InputError
from tacit.similarity.cuts.classifier import NormalizedCutClassifier
from tacit.similarity.cuts.labelling import UNKNOWN, cut_labels, neighbour_shares, surroundings
from tacit.similarity.graph import near_graph
from tacit.similarity.grid.blocks import Blocks
from tacit.similarity.neighbors.k_neighbors import SparseKNeighborsClassifier
from tacit.similarity.neighbors.search import Found
from tacit.similarity.svm.dual import KernelMatrix, signs_of
from tacit.similarity.svm.svc import SparseSVC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from tacit.similarity.base import Objects, SimilarityClassifier

    Grid = Mapping[str, Sequence[Any]]
    Codes = NDArray[np.int32]
    Tried = Iterator[tuple[dict[str, Any], Codes]]

__all__ = ["Method", "method_of"]

_BALANCES = (0.0, 1e-3, 1e-2, 1e-1, 1.0, 5.0, 10.0, 20.0, 30.0)
_SCALES = tuple(float(k) for k in range(1, 16))
_RBF_SCALES = (*(2.0**k for k in range(-5, 6)), *(10.0**k for k in range(-10, 11) if k != 0))


@dataclass(frozen=True)
class Method:
    """How a kind of classifier is tuned.

    Attributes
    ----------
    defaults : mapping of str to sequence
        The ranges of Hochbaum and Baumann.
    names : tuple of str
        All parameters that can be tuned by `run`.
    normalise_projection : bool
        Whether the projection is of scaled columns in any case, and so the same for both ways to
        measure distances.
    run : function of a fitted model, its training objects, validation objects and a grid
        Yields combinations and the codes of classes that they predict.
    """

    defaults: Grid
    names: tuple[str, ...]
    run: Callable[[Any, Objects, Objects, Grid], Tried]
    normalise_projection: bool = True


def method_of(classifier: SimilarityClassifier) -> Method:
    """Return how a classifier is tuned."""
    if isinstance(classifier, SparseKNeighborsClassifier):
        most = {"n_neighbors": tuple(range(1, 26))}
        names = ("n_neighbors", "weights")
        return Method(most, names, _neighbours, normalise_projection=False)
    if isinstance(classifier, SparseSVC):
        return Method({"scale": _RBF_SCALES}, ("scale", "C"), _support_vectors)
    if isinstance(classifier, NormalizedCutClassifier):
        ranges: dict[str, Any] = {"scale": _SCALES, "balance": _BALANCES}
        if classifier.node_weights == "degree":
            return Method(ranges, ("scale", "balance"), _cuts)
        ranges["n_neighbors"] = (1, 2, 3)
        return Method(ranges, ("scale", "balance", "n_neighbors"), _cuts)
    raise InputError(
        f"classifier must be one of tacit's classifiers by similarity, got {classifier!r}"
    )


def _neighbours(
    model: SparseKNeighborsClassifier, train: Objects, new: Objects, grid: Grid
) -> Tried:
    model._keep(train)
    most = min(max(grid["n_neighbors"]), len(train))
    found = model._find(new, most)
    for k in grid["n_neighbors"]:
        part = Found(found.distances[:, :k], found.objects[:, :k], found.turns, found.lonely)
        for weights in grid["weights"]:
            codes = model.set_params(n_neighbors=k, weights=weights)._winners(part)
            yield {"n_neighbors": k, "weights": weights}, new.spread(codes)


def _similar(distances: Any, scale: float) -> Any:
    """Return similarities from distances, or from their squares."""
    data = np.exp(distances.data * -scale)
    return sparse.csr_array((data, distances.indices, distances.indptr), distances.shape)


def _support_vectors(model: SparseSVC, train: Objects, new: Objects, grid: Grid) -> Tried:
    over = model.computation_.grid_
    order = Blocks.of(over, train.coords).order
    coords, numbers = train.coords[order], train.numbers[order]
    how: dict[str, Any] = {"kind": "squared_distance", "n_jobs": model.n_jobs}
    squares = near_graph(over, coords, numbers, **how)
    links = near_graph(over, new.coords, new.numbers, others=(coords, numbers), **how)
    nearest = np.asarray(cKDTree(coords).query(new.coords)[1])
    signs = signs_of(train.codes[order], len(model.classes_))
    for scale in grid["scale"]:
        model.set_params(scale=scale)
        kernel = model._guarded(KernelMatrix(_similar(squares, scale), np.ones(len(order))))
        similar = _similar(links, scale)
        for C in grid["C"]:
            model.set_params(C=C)
            dual = model._solve(kernel, signs, model._limits(train, None)[order])
            counts = np.asarray(dual.coefficients.any(axis=0))
            decisions = similar @ dual.coefficients.T + dual.intercepts
            alone = np.flatnonzero(~_reaches(links, counts))
            decisions[alone] = dual.decisions.T[nearest[alone]]
            codes = decisions.argmax(axis=1) if len(signs) > 1 else decisions[:, 0] > 0
            yield {"scale": scale, "C": C}, new.spread(codes.astype(np.int32))


def _reaches(links: Any, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which rows store an entry in one of the columns."""
    ends = np.append(0, np.cumsum(wanted[links.indices]))
    return np.asarray(ends[links.indptr[1:]] > ends[links.indptr[:-1]])


def _cuts(model: NormalizedCutClassifier, train: Objects, new: Objects, grid: Grid) -> Tried:
    kinds = {"exponential": "distance", "rbf": "squared_distance"}
    if model.kind not in kinds:
        raise InputError(f"classifier: kind must be one of {tuple(kinds)}, got {model.kind!r}")
    over = model.computation_.grid_
    how: dict[str, Any] = {"kind": kinds[model.kind], "n_jobs": model.n_jobs}
    inner = near_graph(over, new.coords, new.numbers, **how)
    links = near_graph(over, new.coords, new.numbers, others=(train.coords, train.numbers), **how)
    classes = train.codes, len(model.classes_)
    balances = np.array(grid["balance"], np.float64)
    nearest = np.asarray(cKDTree(train.coords).query(new.coords)[1])
    shares: list[tuple[Any, Any]] = [(None, None)]
    if model.node_weights == "neighbours":
        closest = _similar(links, 0.0)
        closest.data = -links.data
        shares = [
            (k, neighbour_shares(closest, *classes, train.weights, int(k), n_jobs=model.n_jobs))
            for k in grid["n_neighbors"]
        ]
    for scale in grid["scale"]:
        near = surroundings(
            _similar(inner, scale), _similar(links, scale), *classes, new.weights, train.weights
        )
        for k, share in shares:
            weights = None if share is None else share * new.weights[:, None]
            found = cut_labels(near, balances, node_weights=weights, n_jobs=model.n_jobs)
            found = np.where(found == UNKNOWN, train.codes[nearest], found)
            named = {} if k is None else {"n_neighbors": k}
            for balance, codes in zip(grid["balance"], found, strict=True):
                yield {"scale": scale, "balance": balance, **named}, new.spread(codes)
