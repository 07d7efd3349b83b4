"""All combinations of a classifier's parameters, with nothing computed twice.

Each method gets training and validation objects that are projected and measured already, and yields
combinations with the classes that they predict. Distances are computed once and become similarities
for each scale; neighbours are sorted once for all numbers of neighbours; cuts for all balances
are computed at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from tacit.errors import InputError
from tacit.similarity.cuts.classifier import NormalizedCutClassifier
from tacit.similarity.cuts.labelling import UNKNOWN, cut_labels, labelled_graph, neighbor_fractions
from tacit.similarity.graph import near_graph
from tacit.similarity.grid.blocks import Blocks
from tacit.similarity.neighbors.k_neighbors import SparseKNeighborsClassifier
from tacit.similarity.svm.dual import KernelMatrix, signs_of
from tacit.similarity.svm.scale import scale_unit
from tacit.similarity.svm.svc import SparseSVC, decided_codes
from tacit.similarity.svm.taper import near_squares

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from tacit.similarity.base import Objects, SimilarityClassifier

    Grid = Mapping[str, Sequence[Any]]
    Codes = NDArray[np.int32]
    Trials = Iterator[tuple[dict[str, Any], Codes]]

__all__ = ["Method", "Multiple", "method_of"]

_BALANCES = (0.0, 1e-3, 1e-2, 1e-1, 1.0, 5.0, 10.0, 20.0, 30.0)
_SCALES = tuple(float(k) for k in range(1, 16))


class Multiple(float):
    """A scale in units of 1 / the variance of the columns, which depends on how they are scaled."""


_RESOLUTIONS = ("auto", 10, 20)
_MULTIPLES = tuple(Multiple(2.0**k) for k in range(-3, 5))
_LIMITS = (1.0, 10.0, 100.0)


@dataclass(frozen=True)
class Method:
    """How a kind of classifier is tuned."""

    defaults: Grid
    names: tuple[str, ...]  # all parameters that can be tuned by `run`
    # Of a fitted model, its training and validation objects and a grid: yields combinations and the
    # codes of classes that they predict
    run: Callable[[Any, Objects, Objects, Grid], Trials]


def method_of(classifier: SimilarityClassifier) -> Method:
    """Return how a classifier is tuned."""
    ranges: dict[str, Any]
    if isinstance(classifier, SparseKNeighborsClassifier):
        defaults = {"n_neighbors": tuple(range(1, 26))}
        return Method(defaults, ("n_neighbors", "weights"), _neighbors)
    if isinstance(classifier, SparseSVC):
        ranges = {"scale": _MULTIPLES, "C": _LIMITS}
        if classifier.resolution == "auto":
            ranges = {"resolution": _RESOLUTIONS, **ranges}
        return Method(ranges, ("scale", "C"), _support_vectors)
    if isinstance(classifier, NormalizedCutClassifier):
        ranges = {"scale": _SCALES, "balance": _BALANCES}
        if classifier.node_weights == "degree":
            return Method(ranges, ("scale", "balance"), _cuts)
        ranges["n_neighbors"] = (1, 2, 3)
        return Method(ranges, ("scale", "balance", "n_neighbors"), _cuts)
    raise InputError(
        f"classifier must be one of tacit's classifiers by similarity, got {classifier!r}"
    )


def _neighbors(
    model: SparseKNeighborsClassifier, train: Objects, new: Objects, grid: Grid
) -> Trials:
    model._learn(train)
    nearest = model._search(new, min(max(grid["n_neighbors"]), len(train)))
    for k in grid["n_neighbors"]:
        first = replace(nearest, distances=nearest.distances[:, :k], objects=nearest.objects[:, :k])
        for weights in grid["weights"]:
            codes = model.set_params(n_neighbors=k, weights=weights)._majority(first)
            yield {"n_neighbors": k, "weights": weights}, new.expand(codes)


def _similarities(distances: Any, scale: float) -> Any:
    """Return similarities from distances, or from their squares."""
    data = np.exp(distances.data * -scale)
    return sparse.csr_array((data, distances.indices, distances.indptr), distances.shape)


def _support_vectors(model: SparseSVC, train: Objects, new: Objects, grid: Grid) -> Trials:
    over = model.computation_.grid_
    order = Blocks.of(over, train.coords).order
    coords, numbers = train.coords[order], train.numbers[order]
    measure: dict[str, Any] = {"taper": model.taper, "n_jobs": model.n_jobs}
    squares = near_squares(over, coords, numbers, **measure)
    links = near_squares(over, new.coords, new.numbers, (coords, numbers), **measure)
    nearest = np.asarray(cKDTree(coords).query(new.coords)[1])
    signs = signs_of(train.codes[order], len(model.classes_))
    unit = scale_unit(numbers)
    known: tuple[float, Any, Any] | None = None  # a scale, and the matrices for it
    for scale in grid["scale"]:
        for C in grid["C"]:
            limits = model.set_params(C=C)._limits(train, None)[order]
            model.set_params(scale=scale * unit if isinstance(scale, Multiple) else scale)
            value = model._choose_scale(numbers, signs, limits)
            if known is None or known[0] != value:
                kernel = KernelMatrix(squares.kernel(value), np.ones(len(order)))
                known = value, model._make_convex(kernel), links.kernel(value)
            dual = model._solve(known[1], signs, limits)
            support = np.asarray(dual.coefficients.any(axis=0))
            decisions = known[2] @ dual.coefficients.T + dual.intercepts
            isolated = np.flatnonzero(~_stores_any(links.graph, support))
            decisions[isolated] = dual.decisions.T[nearest[isolated]]
            yield {"scale": model.scale, "C": C}, new.expand(decided_codes(decisions))


def _stores_any(links: Any, wanted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which rows store an entry in one of the columns."""
    ends = np.append(0, np.cumsum(wanted[links.indices]))
    return np.asarray(ends[links.indptr[1:]] > ends[links.indptr[:-1]])


def _cuts(model: NormalizedCutClassifier, train: Objects, new: Objects, grid: Grid) -> Trials:
    kinds = {"exponential": "distance", "rbf": "squared_distance"}
    if model.kind not in kinds:
        raise InputError(f"classifier: kind must be one of {tuple(kinds)}, got {model.kind!r}")
    over = model.computation_.grid_
    measure: dict[str, Any] = {"kind": kinds[model.kind], "n_jobs": model.n_jobs}
    graph = near_graph(over, new.coords, new.numbers, **measure)
    links = near_graph(
        over, new.coords, new.numbers, others=(train.coords, train.numbers), **measure
    )
    classes = train.codes, len(model.classes_)
    balances = np.array(grid["balance"], np.float64)
    nearest = np.asarray(cKDTree(train.coords).query(new.coords)[1])
    weightings: list[tuple[Any, Any]] = [(None, None)]
    if model.node_weights == "neighbours":
        closest = _similarities(links, 0.0)
        closest.data = -links.data
        weightings = [
            (k, neighbor_fractions(closest, *classes, train.weights, int(k), n_jobs=model.n_jobs))
            for k in grid["n_neighbors"]
        ]
    for scale in grid["scale"]:
        similarities = _similarities(graph, scale), _similarities(links, scale)
        problem = labelled_graph(*similarities, *classes, new.weights, train.weights)
        for k, fractions in weightings:
            weights = None if fractions is None else fractions * new.weights[:, None]
            labels = cut_labels(problem, balances, node_weights=weights, n_jobs=model.n_jobs)
            labels = np.where(labels == UNKNOWN, train.codes[nearest], labels)
            named = {} if k is None else {"n_neighbors": k}
            for balance, codes in zip(grid["balance"], labels, strict=True):
                yield {"scale": scale, "balance": balance, **named}, new.expand(codes)
