"""Labels for objects by minimum cuts: what is known of labelled objects spreads over a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from tacit import _core
from tacit.machine import count_jobs
from tacit.similarity.csr import csr_arrays
from tacit.similarity.cuts.minimum_cut import NodeTerms, degree_rate, first_indices

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

__all__ = [
    "UNKNOWN",
    "LabelledGraph",
    "cut_labels",
    "cut_margins",
    "labelled_graph",
    "neighbor_fractions",
]

UNKNOWN = -1  # the code of objects that the graph says nothing about


@dataclass(frozen=True)
class LabelledGraph:
    """Unlabelled objects, and how similar they are to labelled ones."""

    graph: sparse.csr_array  # (n, n): similarities among them, symmetric, without diagonal
    # (n, n_classes): the sum of their similarities to labelled objects of each class
    affinity: NDArray[np.float64]

    @property
    def degrees(self) -> NDArray[np.float64]:
        """All similarities of each object, to labelled and unlabelled ones."""
        return np.asarray(self.graph.sum(axis=1) + self.affinity.sum(axis=1))

    def connected(self) -> NDArray[np.bool_]:
        """Return which objects are connected with a labelled one, over however many others."""
        edges = self.graph
        if (edges.data == 0).any():  # similarities too small for a number are none
            edges = edges.copy()
            edges.eliminate_zeros()
        n_components, component = connected_components(edges, directed=False)
        linked = np.zeros(n_components, np.bool_)
        linked[component[self.affinity.any(axis=1)]] = True
        return linked[component]


def labelled_graph(
    graph: sparse.csr_array,
    links: sparse.csr_array,
    codes: NDArray[np.int32],
    n_classes: int,
    weights: NDArray[np.float64],
    labelled_weights: NDArray[np.float64],
) -> LabelledGraph:
    """Return unlabelled objects, and how similar they are to each class.

    `graph` holds similarities among unlabelled objects, `links` theirs to labelled ones of these
    classes (`codes`). Weights are how many objects each represents: similarities count that often.
    """
    classes = np.zeros((len(codes), n_classes))
    classes[np.arange(len(codes)), codes] = labelled_weights
    affinity = np.asarray(links @ classes) * weights[:, None]
    if (weights != 1).any():
        graph = graph.copy()
        graph.data *= np.repeat(weights, np.diff(graph.indptr)) * weights[graph.indices]
    return LabelledGraph(graph, affinity)


def neighbor_fractions(
    links: sparse.csr_array,
    codes: NDArray[np.int32],
    n_classes: int,
    labelled_weights: NDArray[np.float64],
    n_neighbors: int,
    *,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Return the fraction of each class among the labelled objects most similar to each object.

    Of as many as there are where fewer than `n_neighbors` are near; all 0 where none is. An object
    that represents several counts as that many neighbours.

    >>> from scipy import sparse
    >>> links = sparse.csr_array([[0.5, 0.9, 0.7, 0.1], [0.0, 0.2, 0.0, 0.0]])
    >>> codes, ones = np.array([1, 0, 1, 0]), np.ones(4)
    >>> neighbor_fractions(links, codes, 2, ones, 3).round(2)
    array([[0.33, 0.67],
           [1.  , 0.  ]])
    """
    nearest = _core.strongest_links(*csr_arrays(links), n_neighbors, count_jobs(n_jobs))
    fractions = np.zeros((links.shape[0], n_classes))
    left = np.full(links.shape[0], float(n_neighbors))
    rows = np.arange(links.shape[0])
    for column in nearest.T:
        there = column >= 0
        taken = np.where(there, np.minimum(labelled_weights[column], left), 0.0)
        left -= taken
        fractions[rows[there], codes[column[there]]] += taken[there]
    total = fractions.sum(axis=1, keepdims=True)
    fractions /= np.where(total > 0, total, 1.0)
    return fractions


def cut_labels(
    problem: LabelledGraph,
    balances: NDArray[np.float64],
    *,
    node_weights: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
) -> NDArray[np.int32]:
    """Return the class of each object for each of several balances.

    Two classes are one cut: members are of class 1. More are one cut for each, against all others;
    an object that several claim, or none, goes to the class with the largest fraction of its
    similarity to labelled objects. It is -1 for objects that are connected with no labelled one,
    and for those that are to be decided by similarity to labelled objects and have none.

    `node_weights`, of shape (n, n_classes), are those of objects for the cut of each class; by
    default their degrees, for all classes.
    """
    n, n_classes = problem.affinity.shape
    if n_classes == 1:
        codes = np.zeros((len(balances), n), np.int32)
    else:
        order = np.argsort(balances, kind="stable")
        chosen = [1] if n_classes == 2 else range(n_classes)
        firsts = [
            _first_claims(problem, code, balances[order], node_weights, n_jobs) for code in chosen
        ]
        codes = np.empty((len(balances), n), np.int32)
        for rank, index in enumerate(order):
            claims = np.stack([first <= rank for first in firsts], axis=1)
            codes[index] = claims[:, 0] if n_classes == 2 else _settle(claims, problem.affinity)
    codes[:, ~problem.connected()] = UNKNOWN
    return codes


def cut_margins(
    problem: LabelledGraph,
    balance: float,
    *,
    node_weights: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Return how far the balance is beyond the one at which each object is claimed by a class.

    One column for two classes, that of the second; else one for each. From -2 to 2: positive where
    the class claims the object at this balance. With degrees for weights, balances are taken as
    the λ of degrees that stands for them (:func:`degree_rate`), and negative ones are meaningful:
    at -1 no object is claimed but by the class that all its similarity is to, at 1 each is.
    Other balances λ count as λ / (1 + |λ|).
    """
    n_classes = problem.affinity.shape[1]
    margins = []
    for code in [1] if n_classes == 2 else range(n_classes):
        terms = _claim_terms(problem, code, node_weights)
        most = 1.0
        if node_weights is not None:  # beyond all ratios of sums of similarities and weights
            positive = terms.rate[terms.rate > 0]
            total = 2 * float(np.abs(terms.base).sum() + problem.graph.sum())
            least = float(positive.min()) if len(positive) else 1.0
            most = float(min(1 + total / least, np.finfo(np.float64).max / 4))
        enters = _core.cut_breakpoints(
            *csr_arrays(problem.graph), terms.base, terms.rate, -most, most, count_jobs(n_jobs)
        )
        now = degree_rate(balance) if node_weights is None else _squash(balance)
        enters = np.clip(enters if node_weights is None else _squash(enters), -1.0, 1.0)
        margins.append(now - enters)
    return np.column_stack(margins)


def _squash(balance: Any) -> Any:
    values = np.clip(balance, -1e300, 1e300)
    return values / (1 + np.abs(values))


def _claim_terms(
    problem: LabelledGraph, code: int, node_weights: NDArray[np.float64] | None
) -> NodeTerms:
    """Return what objects add to the objective of a class."""
    others = np.delete(problem.affinity, code, axis=1)
    base = others.sum(axis=1) - problem.affinity[:, code]
    rate = problem.degrees if node_weights is None else node_weights[:, code]
    return NodeTerms(base, np.ascontiguousarray(rate))


def _first_claims(
    problem: LabelledGraph,
    code: int,
    balances: NDArray[np.float64],
    node_weights: NDArray[np.float64] | None,
    n_jobs: int | None,
) -> NDArray[np.int32]:
    """Return for each object the index of the first balance at which a class claims it."""
    terms = _claim_terms(problem, code, node_weights)
    lambdas = degree_rate(balances) if node_weights is None else balances
    return first_indices(problem.graph, terms, lambdas, n_jobs=n_jobs)


def _settle(claims: NDArray[np.bool_], affinity: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return one class for each object: the one that claims it, or the most similar."""
    n_claims = claims.sum(axis=1)
    candidates = np.where(claims | (n_claims == 0)[:, None], affinity, -1.0)
    codes: NDArray[np.int32] = candidates.argmax(axis=1).astype(np.int32)
    unsettled = (n_claims != 1) & ~(candidates.max(axis=1) > 0)
    codes[unsettled] = UNKNOWN
    return codes
