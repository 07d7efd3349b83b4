"""Expectation maximisation: from a start to a model that explains the records at least as well.

:func:`em_steps` says which parameters it wants to know the expected counts of, and is told them;
who counts, and where the records are, is not its concern.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from tacit import _core
from tacit.mixture.em.expected import ExpectedCounts
from tacit.mixture.em.side_by_side import run_together
from tacit.mixture.em.starts import make_start

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.counts import StoredRecords
    from tacit.mixture.em.prior import Prior
    from tacit.schema import Schema

__all__ = [
    "Evidence",
    "How",
    "Parameters",
    "Problem",
    "Report",
    "Run",
    "em_steps",
    "run_em",
]

Report: TypeAlias = Callable[[int, float], None]  # passes so far, objective

# Momentum waits until a pass gains less than this share of the objective: before that, steps are
# large, and longer ones would often end at another, worse maximum.
_CALM = 3e-4
_MOST_MOMENTUM = 0.95
_KEPT = 0.05  # of an expected count, at least, whatever the momentum


class Parameters(NamedTuple):
    """Probabilities of a mixture.

    Attributes
    ----------
    shares : (n_clusters,)
        P(cluster).
    stored : (n_values, n_clusters)
        P(value | cluster), by value id; 1 for values that say nothing.
    defaults : (n_columns, n_clusters)
        P(default of the column | cluster).
    log_prior : float
        The logarithm of the prior's density at this place, up to a constant.
    """

    shares: NDArray[np.float64]
    stored: NDArray[np.float64]
    defaults: NDArray[np.float64]
    log_prior: float


class Evidence(ABC):
    """Records, wherever they are, and a prior: what there is to explain."""

    prior: Prior
    single: bool

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """The columns."""

    @property
    @abstractmethod
    def average_weight(self) -> float:
        """What a record that counts at all counts on average."""

    @abstractmethod
    def expect(self, parameters: Parameters) -> ExpectedCounts:
        """Return the expected counts of all records (the E-step): one pass over stored values."""

    @abstractmethod
    def starts(
        self, n_clusters: int, n_init: int, init: str, rng: np.random.Generator
    ) -> Iterable[ExpectedCounts]:
        """Return the expected counts of several first guesses."""

    @abstractmethod
    def follow(self, starts: Iterable[ExpectedCounts], how: How) -> Iterator[Run]:
        """Run EM from several starts."""

    @abstractmethod
    def exact(self) -> Evidence:
        """Return the same in double precision."""

    def maximise(self, expected: ExpectedCounts) -> Parameters:
        """Return the parameters that explain expected counts best (the M-step)."""
        return Parameters(
            *_core.em_maximise(
                self.schema.offsets,
                expected.totals,
                expected.stored,
                self.prior.clusters,
                self.prior.stored,
                self.prior.defaults,
            )
        )


@dataclass(frozen=True)
class Problem(Evidence):
    """Records in memory and a prior.

    Attributes
    ----------
    records : StoredRecords
    prior : Prior
    n_jobs : int
    single : bool
        Take passes in single precision.
    chosen, weights
        These records only, with these weights instead of their own.
    """

    records: StoredRecords
    prior: Prior
    n_jobs: int = 1
    single: bool = False
    chosen: NDArray[np.int64] | None = None
    weights: NDArray[np.float64] | None = None

    @property
    def schema(self) -> Schema:
        """The columns."""
        return self.records.schema

    @property
    def record_weights(self) -> NDArray[np.float64] | None:
        """The weights of all records that there are, if any."""
        return self.records.weights if self.weights is None else self.weights

    @property
    def weight(self) -> float:
        """The number of records, or the sum of their weights."""
        chosen = slice(None) if self.chosen is None else self.chosen
        if self.record_weights is not None:
            return float(self.record_weights[chosen].sum())
        return float(self.records.n_records if self.chosen is None else len(self.chosen))

    @property
    def average_weight(self) -> float:
        """What a record that counts at all counts on average."""
        chosen = slice(None) if self.chosen is None else self.chosen
        if self.record_weights is None:
            return 1.0
        return self.weight / max(int(np.count_nonzero(self.record_weights[chosen])), 1)

    def _given(self, chosen: NDArray[np.int64] | None) -> _core.Records:
        given = self.records
        return _core.Records(
            given.indptr, given.values, self.schema.n_values, chosen, self.record_weights
        )

    def expect(self, parameters: Parameters) -> ExpectedCounts:
        """Return the expected counts of all records (the E-step): one pass over stored values."""
        totals, stored, log_likelihood = _core.em_step(
            self._given(self.chosen), self.schema.offsets, parameters.shares,
            parameters.stored, parameters.defaults, self.single, self.n_jobs,
        )  # fmt: skip
        return ExpectedCounts(totals, stored, log_likelihood, self.weight)

    def starts(
        self, n_clusters: int, n_init: int, init: str, rng: np.random.Generator
    ) -> Iterator[ExpectedCounts]:
        """Yield the expected counts of several first guesses, when they are wanted."""
        for _ in range(n_init):
            yield make_start(self, n_clusters, init, rng)

    def follow(self, starts: Iterable[ExpectedCounts], how: How) -> Iterator[Run]:
        """Run EM from several starts, one after another."""
        for start in starts:
            yield run_em(self, start, **how._asdict())

    def exact(self) -> Problem:
        """Return the same in double precision."""
        return replace(self, single=False)

    def posterior(
        self, parameters: Parameters, *, responsibilities: bool = True
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return P(cluster | record), if asked for, and log P(record)."""
        return _core.em_posterior(
            self._given(self.chosen), self.schema.offsets, parameters.shares,
            parameters.stored, parameters.defaults, responsibilities, self.n_jobs,
        )  # fmt: skip

    def count_groups(self, groups: NDArray[np.int64], n_clusters: int) -> ExpectedCounts:
        """Count records that belong to one cluster each; those of -1 are left out.

        Parameters
        ----------
        groups : array of shape (n_records,)
            The cluster of each of all records.
        n_clusters : int
        """
        stored = np.zeros((self.schema.n_values, n_clusters))
        totals = np.zeros(n_clusters)
        for k in range(n_clusters):
            own = np.flatnonzero(groups == k)
            totals[k] = len(own) if self.record_weights is None else self.record_weights[own].sum()
            stored[:, k] = _core.one_way(self._given(own), self.n_jobs)
        return ExpectedCounts(totals, stored, 0.0, float(totals.sum()))


@dataclass(frozen=True)
class Run:
    """Where EM has come to.

    Attributes
    ----------
    parameters : Parameters
        The best found.
    expected : ExpectedCounts
        Of the records, under these parameters.
    trace : list of float
        The objective (log-likelihood and log prior) after each pass: it never falls.
    converged : bool
    """

    parameters: Parameters
    expected: ExpectedCounts
    trace: list[float] = field(default_factory=list)
    converged: bool = False

    @property
    def objective(self) -> float:
        """What EM raises: the log-likelihood and the logarithm of the prior."""
        return self.expected.log_likelihood + self.parameters.log_prior


class How(NamedTuple):
    """How far EM is run, and how.

    Attributes
    ----------
    max_iter : int
        Passes, at most.
    tol : float
        A run is over when a plain step raises the objective by less than this share of it.
    accelerate : bool
        Use momentum.
    """

    max_iter: int
    tol: float
    accelerate: bool = True


def run_em(
    problem: Evidence,
    start: ExpectedCounts,
    *,
    max_iter: int,
    tol: float,
    accelerate: bool = True,
    report: Report | None = None,
) -> Run:
    """Take EM steps until a pass raises the objective by less than `tol` of it."""
    steps = em_steps(problem.maximise, start, How(max_iter, tol, accelerate), report)
    return run_together([steps], lambda asked: [problem.expect(own) for own in asked])[0]


Steps: TypeAlias = Generator[Parameters, ExpectedCounts, "Run"]


def em_steps(
    maximise: Callable[[ExpectedCounts], Parameters],
    start: ExpectedCounts,
    how: How,
    report: Report | None = None,
) -> Steps:
    """Yield parameters, to be sent their expected counts, until a pass gains less than `how.tol`.

    With `accelerate`, the counts that a step starts from are moved on in the direction of the last
    steps, a little further each time (Nesterov's momentum). Where that leads to a lower objective,
    it is undone, and the momentum starts anew: the objective never falls. A run is over only when
    a plain step gains less than `tol`.
    """
    counts, best, previous = start, None, None
    trace: list[float] = []
    pushes = 0  # since momentum started
    while len(trace) < how.max_iter:
        parameters = maximise(counts)
        found = Run(parameters, (yield parameters))
        if best is not None and found.objective < best.objective and pushes:
            counts, previous, pushes = best.expected, None, 0
            trace.append(best.objective)
            continue
        gain = np.inf if best is None else found.objective - best.objective
        plain = pushes == 0
        if best is None or gain >= 0:
            best = found
        trace.append(best.objective)
        if report is not None:
            report(len(trace), best.objective)
        small = gain <= how.tol * abs(best.objective)
        if small and plain:
            return replace(best, trace=trace, converged=True)
        counts = found.expected
        calm = gain < _CALM * abs(best.objective)
        if how.accelerate and previous is not None and calm and not small:
            pushes += 1
            counts = _push(counts, previous, min(pushes / (pushes + 3), _MOST_MOMENTUM))
        else:
            pushes = 0
        previous = found.expected
    assert best is not None
    return replace(best, trace=trace, converged=False)


def _push(now: ExpectedCounts, before: ExpectedCounts, momentum: float) -> ExpectedCounts:
    """Go on in the same direction; counts stay positive."""

    def go(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum(a + momentum * (a - b), _KEPT * a)

    totals = go(now.totals, before.totals)
    return replace(now, totals=totals, stored=go(now.stored, before.stored))
