"""Minimum cuts of similarity graphs: one cut, cuts along a parameter, and the best ratio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import _core
from tacit.errors import InputError
from tacit.machine import count_jobs
from tacit.parameters import check_number
from tacit.similarity.csr import csr_arrays
from tacit.similarity.cuts.result import Cut, CutPath, MinimumCut
from tacit.similarity.near_graph.near_graph import NearGraph

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

__all__ = [
    "NodeTerms",
    "first_indices",
    "degree_rate",
    "minimum_cut",
    "normalized_cut",
    "normalized_cut_path",
]


def minimum_cut(graph: Any, source: Any, sink: Any, *, n_jobs: int | None = None) -> MinimumCut:
    """Return the minimum cut between a source and a sink that are linked to nodes of a graph.

    Capacities are real numbers. Of several minimum cuts it is the one with the fewest nodes on the
    source's side.

    Parameters
    ----------
    graph : sparse array of shape (n_nodes, n_nodes), or NearGraph
        Capacities of edges, symmetric and not negative. The diagonal has no bearing.
    source, sink : array-like of shape (n_nodes,)
        Capacities between the source and each node, and between each node and the sink.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Examples
    --------
    >>> from scipy import sparse
    >>> import tacit
    >>> chain = sparse.diags_array([[3.0, 1.0, 3.0]] * 2, offsets=(1, -1))
    >>> cut = tacit.minimum_cut(chain, [9.0, 0, 0, 0], [0, 0, 0, 9.0])
    >>> cut.members.tolist(), cut.value
    ([True, True, False, False], 1.0)
    """
    edges = check_graph(graph)
    n = edges.shape[0]
    out, into = _capacities(source, "source", n), _capacities(sink, "sink", n)
    first = first_indices(edges, NodeTerms(into - out, np.zeros(n)), np.zeros(1), n_jobs=n_jobs)
    members = first == 0
    value = _between(edges, first, 1)[0] + out[~members].sum() + into[members].sum()
    return MinimumCut(members, float(value))


def normalized_cut(
    graph: Any,
    seeds: Any,
    balance: float = 0.1,
    *,
    node_weights: Any = "degree",
    ratio: bool = False,
    n_jobs: int | None = None,
) -> Cut:
    """Return the set of nodes around seeds that is best kept together.

    Minimises C(S, S̄) - balance · C(S, S): similarity to the rest, against similarity within. This
    is Hochbaum's variant of the normalised cut, which has an exact solution.

    Parameters
    ----------
    graph : sparse array of shape (n_nodes, n_nodes), or NearGraph
        Similarities, symmetric and not negative. The diagonal has no bearing.
    seeds : array-like of int, shape (n_nodes,)
        1 for nodes that must be members, 0 for nodes that must not, -1 for all others.
    balance : float, default 0.1
        What similarity within is worth. At 0 it is a plain minimum cut.
    node_weights : "degree" or array-like of shape (n_nodes,)
        What is summed over members instead of C(S, S): weights of nodes, not negative. "degree"
        stands for C(S, S) itself.
    ratio : bool, default False
        Find the set with the least C(S, S̄) / C(S, S) instead, whatever `balance` is. At least one
        node must be in and one out.
    n_jobs : int, optional
        Threads; the result does not depend on it.

    Examples
    --------
    >>> from scipy import sparse
    >>> import tacit
    >>> chain = sparse.diags_array([[3.0, 1.0, 3.0, 2.0]] * 2, offsets=(1, -1))
    >>> cut = tacit.normalized_cut(chain, [1, -1, -1, -1, 0], balance=0.1)
    >>> cut.members.tolist(), cut.between, cut.within
    ([True, True, False, False, False], 1.0, 3.0)
    >>> tacit.normalized_cut(chain, [1, -1, -1, -1, 0], ratio=True).members.tolist()
    [True, True, True, True, False]
    """
    problem = _SeededGraph.of(graph, seeds, node_weights)
    if ratio:
        return problem.best_ratio(n_jobs)
    chosen = check_number(balance, "balance", 0)
    members = problem.members(problem.rate_of(chosen), n_jobs)
    between, within = problem.measure(members)
    return Cut(members, between, within, chosen)


def normalized_cut_path(
    graph: Any,
    seeds: Any,
    *,
    node_weights: Any = "degree",
    low: float = 0.0,
    high: float | None = None,
    n_jobs: int | None = None,
) -> CutPath:
    """Return the cuts of :func:`normalized_cut` for all balances at once.

    Sets of members grow with the balance, so that it is enough to know when each node joins.

    Parameters
    ----------
    graph, seeds, node_weights, n_jobs
        As for :func:`normalized_cut`.
    low, high : float
        The range of balances; by default all. At most `low`, and beyond `high`, nothing is
        distinguished.

    Examples
    --------
    >>> from scipy import sparse
    >>> import tacit
    >>> chain = sparse.diags_array([[3.0, 1.0, 3.0, 2.0]] * 2, offsets=(1, -1))
    >>> path = tacit.normalized_cut_path(chain, [1, -1, -1, -1, 0])
    >>> path.breakpoints.round(3).tolist()
    [0.25]
    >>> path.members(0.1).tolist()
    [True, True, False, False, False]
    """
    problem = _SeededGraph.of(graph, seeds, node_weights)
    least = check_number(low, "low", 0)
    most = None if high is None else check_number(high, "high", 0)
    if most is not None and most < least:
        raise InputError(f"high must be at least low={low!r}, got {high!r}")
    return CutPath(problem.enters(least, most, n_jobs))


@dataclass(frozen=True)
class NodeTerms:
    """What nodes contribute to an objective: a member costs base - λ · rate."""

    base: NDArray[np.float64]
    rate: NDArray[np.float64]


def first_indices(
    edges: sparse.csr_array,
    terms: NodeTerms,
    lambdas: NDArray[np.float64],
    *,
    n_jobs: int | None = None,
) -> NDArray[np.int32]:
    """Return for each node the index of the first of ascending λs at which it is a member.

    Members minimise C(S, S̄) + Σ_S (base - λ · rate). The graph is trusted: symmetric, sorted, no
    diagonal, nothing negative.
    """
    return _core.cut_path(*csr_arrays(edges), terms.base, terms.rate, lambdas, count_jobs(n_jobs))


def degree_rate(balance: Any) -> Any:
    """Return the λ of degrees that stands for a balance of similarity within.

    C(S, S) is half of Σ_S degree - C(S, S̄), so that C(S, S̄) - λ C(S, S) is 1 + λ/2 times
    C(S, S̄) - λ / (2 + λ) Σ_S degree.

    >>> degree_rate(2.0)
    0.5
    """
    return balance / (2 + balance)


def check_graph(graph: Any) -> sparse.csr_array:
    """Return a graph of similarities as a CSR array of edges; refuse what is none."""
    if not isinstance(graph, NearGraph):
        graph = NearGraph(graph)
    graph.require("similarity", "a cut")
    edges: sparse.csr_array = graph.doubles
    return edges


class _SeededGraph:
    """A graph some of whose nodes are known to be in or out, contracted to the open ones."""

    def __init__(
        self,
        edges: sparse.csr_array,
        seeds: NDArray[np.int8],
        weights: NDArray[np.float64] | None,
    ) -> None:
        self.edges = edges
        self.seeds = seeds
        self.by_degree = weights is None
        degrees = np.asarray(edges.sum(axis=1), np.float64)
        self.weights = degrees if weights is None else weights
        self.open = np.flatnonzero(seeds < 0)
        base = edges @ ((seeds == 0).astype(np.float64) - (seeds == 1))
        self.terms = NodeTerms(base[self.open], self.weights[self.open])
        self.inner = edges[self.open][:, self.open]
        self.inner.sort_indices()

    @classmethod
    def of(cls, graph: Any, seeds: Any, node_weights: Any) -> _SeededGraph:
        edges = check_graph(graph)
        n = edges.shape[0]
        return cls(edges, _check_seeds(seeds, n), _check_node_weights(node_weights, n))

    def rate_of(self, balance: float) -> float:
        return float(degree_rate(balance)) if self.by_degree else balance

    def balance_of(self, rate: Any) -> Any:
        if not self.by_degree:
            return rate
        with np.errstate(divide="ignore"):
            return np.where(rate < 1, 2 * rate / np.maximum(1 - rate, 0), np.inf)

    def members(self, rate: float, n_jobs: int | None) -> NDArray[np.bool_]:
        """Return the smallest optimal set for a λ of node weights."""
        members: NDArray[np.bool_] = self.seeds == 1
        lambdas = np.array([rate])
        members[self.open] = first_indices(self.inner, self.terms, lambdas, n_jobs=n_jobs) == 0
        return members

    def enters(self, low: float, high: float | None, n_jobs: int | None) -> NDArray[np.float64]:
        """Return the balance beyond which each node is a member."""
        enters = np.where(self.seeds == 1, -np.inf, np.inf)
        ends = self.rate_of(low), self._highest() if high is None else self.rate_of(high)
        terms = self.terms.base, self.terms.rate
        rates = _core.cut_breakpoints(*csr_arrays(self.inner), *terms, *ends, count_jobs(n_jobs))
        finite = np.isfinite(rates)
        rates[finite] = self.balance_of(rates[finite])
        enters[self.open] = rates
        return enters

    def _highest(self) -> float:
        """Return a λ beyond all breakpoints: those are ratios of sums of capacities and weights."""
        positive = self.terms.rate[self.terms.rate > 0]
        if self.by_degree or len(positive) == 0:
            return 1.0
        total = np.abs(self.terms.base).sum() + self.inner.sum()
        return float(min(1 + 2 * total / positive.min(), np.finfo(np.float64).max / 4))

    def measure(self, members: NDArray[np.bool_]) -> tuple[float, float]:
        """Return the similarity to the rest, and that within or the sum of node weights."""
        between = float(_between(self.edges, np.where(members, 0, 1).astype(np.int32), 1)[0])
        total = float(self.weights[members].sum())
        return between, (total - between) / 2 if self.by_degree else total

    def best_ratio(self, n_jobs: int | None) -> Cut:
        """Return the set with the least ratio, by Newton's method on λ.

        Each cut at the ratio of the set before has a smaller ratio, or there is none: exact after
        finitely many steps.
        """
        for side, what in ((1, "a member"), (0, "no member")):
            if not (self.seeds == side).any():
                raise InputError(f"seeds: ratio=True needs at least one node that is {what}")
        members = self.seeds != 0
        if not self.weights[members].sum() > 0:
            raise InputError("node_weights: all nodes that may be members weigh nothing")
        best = self._ratio(members)
        while True:
            candidate = self.members(best, n_jobs)
            ratio = self._ratio(candidate)
            if ratio <= best:
                members = candidate
            if not ratio < best:
                break
            best = ratio
        between, within = self.measure(members)
        return Cut(members, between, within, float(self.balance_of(best)))

    def _ratio(self, members: NDArray[np.bool_]) -> float:
        """Return the similarity to the rest for each unit of node weight."""
        between, _ = self.measure(members)
        total = float(self.weights[members].sum())
        return between / total if total > 0 else np.inf


def _between(edges: sparse.csr_array, first: NDArray[np.int32], n_sets: int) -> NDArray[np.float64]:
    """Return the capacities of edges that leave each of several nested sets."""
    return _core.cut_capacities(*csr_arrays(edges), first, n_sets)


def _numbers(values: Any, argument: str, n: int) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{argument} must be an array of numbers") from None
    if numbers.shape != (n,):
        raise InputError(f"{argument} must have shape ({n},), got {numbers.shape}")
    return numbers


def _capacities(values: Any, argument: str, n: int) -> NDArray[np.float64]:
    numbers = _numbers(values, argument, n)
    wrong = ~(np.isfinite(numbers) & (numbers >= 0))
    if wrong.any():
        k = int(np.argmax(wrong))
        raise InputError(
            f"{argument} must be finite and not negative, but is {numbers[k]} at node {k}"
        )
    return numbers


def _check_node_weights(node_weights: Any, n: int) -> NDArray[np.float64] | None:
    if isinstance(node_weights, str):
        if node_weights != "degree":
            raise InputError(
                f"node_weights must be 'degree' or an array of numbers, got {node_weights!r}"
            )
        return None
    return _capacities(node_weights, "node_weights", n)


def _check_seeds(seeds: Any, n: int) -> NDArray[np.int8]:
    numbers = _numbers(seeds, "seeds", n)
    wrong = ~np.isin(numbers, (-1, 0, 1))
    if wrong.any():
        k = int(np.argmax(wrong))
        raise InputError(f"seeds must be 1, 0 or -1, but is {numbers[k]:g} at node {k}")
    return numbers.astype(np.int8)
