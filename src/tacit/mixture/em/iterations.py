"""Expectation maximisation: from a start to a model that explains the records at least as well.

:func:`em_steps` asks for the expected counts of parameters; who counts, and where the records are,
is not its concern.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from tacit import _core
from tacit.mixture.em.expected import ExpectedCounts
from tacit.mixture.em.starts import make_start
from tacit.mixture.lockstep import MIN_GAIN, run_in_lockstep

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.counts import StoredRecords
    from tacit.mixture.em.prior import Prior
    from tacit.schema import Schema

__all__ = [
    "EMOptions",
    "Parameters",
    "Problem",
    "Run",
    "TableProblem",
    "em_steps",
    "follow_best",
    "in_double",
    "run_em",
]

# Momentum waits until a pass gains less than this fraction of the objective: before that, steps are
# large, and longer ones would often end at another, worse maximum.
_SMALL_STEP = 3e-4
_MAX_MOMENTUM = 0.95
_ROUGH_TOL = 1e-4  # to which each start is followed before the best goes on
_MIN_KEPT = 0.05  # fraction of an expected count that momentum leaves, at least


class Parameters(NamedTuple):
    """Probabilities of a mixture."""

    weights: NDArray[np.float64]  # (n_clusters,): P(cluster), the mixing weights
    # (n_values, n_clusters): P(value | cluster), by value id; 1 for values that say nothing
    stored: NDArray[np.float64]
    defaults: NDArray[np.float64]  # (n_columns, n_clusters): P(default of the column | cluster)
    log_prior: float  # the logarithm of the prior's density at these parameters, up to a constant


class Problem(ABC):
    """What EM fits a mixture to: records, wherever they are, and a prior."""

    prior: Prior
    single: bool

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """The columns."""

    @property
    @abstractmethod
    def average_weight(self) -> float:
        """The average weight of records that have one above 0."""

    @abstractmethod
    def expect(self, parameters: Parameters) -> ExpectedCounts:
        """Return the expected counts of all records (the E-step): one pass over stored values."""

    @abstractmethod
    def starts(
        self, n_clusters: int, n_init: int, init: str, rng: np.random.Generator
    ) -> Iterable[ExpectedCounts]:
        """Return the expected counts of several first guesses."""

    @abstractmethod
    def follow(self, starts: Iterable[ExpectedCounts], options: EMOptions) -> Iterator[Run]:
        """Run EM from several starts."""

    @abstractmethod
    def exact(self) -> Problem:
        """Return the same in double precision."""

    def maximise(self, expected: ExpectedCounts) -> Parameters:
        """Return the most probable parameters for expected counts (the M-step)."""
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
class TableProblem(Problem):
    """Records in memory and a prior."""

    records: StoredRecords
    prior: Prior
    n_jobs: int = 1
    single: bool = False  # take passes in single precision
    # chosen and weights: these records only, with these weights instead of the table's
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
        """The average weight of records that have one above 0."""
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
            self._given(self.chosen), self.schema.offsets, parameters.weights,
            parameters.stored, parameters.defaults, self.single, self.n_jobs,
        )  # fmt: skip
        return ExpectedCounts(totals, stored, log_likelihood, self.weight)

    def starts(
        self, n_clusters: int, n_init: int, init: str, rng: np.random.Generator
    ) -> Iterator[ExpectedCounts]:
        """Yield the expected counts of several first guesses, when they are wanted."""
        for _ in range(n_init):
            yield make_start(self, n_clusters, init, rng)

    def follow(self, starts: Iterable[ExpectedCounts], options: EMOptions) -> Iterator[Run]:
        """Run EM from several starts, one after another."""
        for start in starts:
            yield run_em(self, start, **options._asdict())

    def exact(self) -> TableProblem:
        """Return the same in double precision."""
        return replace(self, single=False)

    def posterior(
        self, parameters: Parameters, *, responsibilities: bool = True
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return P(cluster | record), if asked for, and log P(record)."""
        return _core.em_posterior(
            self._given(self.chosen), self.schema.offsets, parameters.weights,
            parameters.stored, parameters.defaults, responsibilities, self.n_jobs,
        )  # fmt: skip

    def count_clusters(self, clusters: NDArray[np.int64], n_clusters: int) -> ExpectedCounts:
        """Count records by the one cluster that each of all is in; those of -1 are left out."""
        stored = np.zeros((self.schema.n_values, n_clusters))
        totals = np.zeros(n_clusters)
        for k in range(n_clusters):
            rows = np.flatnonzero(clusters == k)
            weights = self.record_weights
            totals[k] = len(rows) if weights is None else weights[rows].sum()
            stored[:, k] = _core.one_way(self._given(rows), self.n_jobs)
        return ExpectedCounts(totals, stored, 0.0, float(totals.sum()))


@dataclass(frozen=True)
class Run:
    """The state of a run of EM."""

    parameters: Parameters  # the best so far
    expected: ExpectedCounts  # of the records, under these parameters
    # The objective (log-likelihood and log prior) after each pass: it never falls
    trace: list[float] = field(default_factory=list)
    converged: bool = False

    @property
    def objective(self) -> float:
        """What EM maximises: the log-likelihood and the logarithm of the prior."""
        return self.expected.log_likelihood + self.parameters.log_prior


class EMOptions(NamedTuple):
    """How EM is run."""

    max_iter: int  # passes, at most
    # A run is over when a plain step raises the objective by less than this fraction of it
    tol: float
    accelerate: bool = True  # use momentum


def run_em(
    problem: Problem,
    start: ExpectedCounts,
    *,
    max_iter: int,
    tol: float,
    accelerate: bool = True,
) -> Run:
    """Take EM steps until a pass raises the objective by less than `tol` of it."""
    steps = em_steps(problem.maximise, start, EMOptions(max_iter, tol, accelerate))
    return run_in_lockstep([steps], lambda requests: [problem.expect(p) for p in requests])[0]


Steps: TypeAlias = Generator[Parameters, ExpectedCounts, "Run"]


def em_steps(
    maximise: Callable[[ExpectedCounts], Parameters],
    start: ExpectedCounts,
    options: EMOptions,
) -> Steps:
    """Yield parameters, to be sent their expected counts, until a pass gains less than `tol`.

    With `accelerate`, the counts that a step starts from are moved on in the direction of the last
    steps, a little further each time (Nesterov's momentum). Where that leads to a lower objective,
    it is undone, and the momentum starts anew: the objective never falls. A run is over only when
    a plain step gains less than `tol`.
    """
    counts, best, previous = start, None, None
    trace: list[float] = []
    n_accelerated = 0  # since momentum started
    while len(trace) < options.max_iter:
        parameters = maximise(counts)
        run = Run(parameters, (yield parameters))
        if best is not None and run.objective < best.objective and n_accelerated:
            counts, previous, n_accelerated = best.expected, None, 0
            trace.append(best.objective)
            continue
        gain = np.inf if best is None else run.objective - best.objective
        plain = n_accelerated == 0
        if best is None or gain >= 0:
            best = run
        trace.append(best.objective)
        small = gain <= options.tol * abs(best.objective)
        if small and plain:
            return replace(best, trace=trace, converged=True)
        counts = run.expected
        slow = gain < _SMALL_STEP * abs(best.objective)
        if options.accelerate and previous is not None and slow and not small:
            n_accelerated += 1
            momentum = min(n_accelerated / (n_accelerated + 3), _MAX_MOMENTUM)
            counts = _extrapolate(counts, previous, momentum)
        else:
            n_accelerated = 0
        previous = run.expected
    assert best is not None
    return replace(best, trace=trace, converged=False)


def _extrapolate(now: ExpectedCounts, before: ExpectedCounts, momentum: float) -> ExpectedCounts:
    """Move on in the same direction; counts stay positive."""

    def extrapolate(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum(a + momentum * (a - b), _MIN_KEPT * a)

    totals = extrapolate(now.totals, before.totals)
    return replace(now, totals=totals, stored=extrapolate(now.stored, before.stored))


def follow_best(
    problem: Problem,
    starts: Iterable[ExpectedCounts],
    n_starts: int,
    options: EMOptions,
    *,
    verbose: bool = False,
) -> Run:
    """Follow all starts for a while, and the best of them to the end."""
    rough = options._replace(tol=max(_ROUGH_TOL, options.tol))
    best: Run | None = None
    for attempt, run in enumerate(problem.follow(starts, rough)):
        if verbose:
            _print_run(f"start {attempt + 1} of {n_starts}", run)
        if best is None or run.objective > best.objective + MIN_GAIN * abs(best.objective):
            best = run
    assert best is not None
    if options.tol >= _ROUGH_TOL or not best.converged:
        return best
    left = options.max_iter - len(best.trace)
    if left == 0:
        return replace(best, converged=False)
    rest = run_em(problem, best.expected, **options._replace(max_iter=left)._asdict())
    full = replace(rest, trace=[*best.trace, *rest.trace])
    if verbose:
        _print_run("the best of them", full)
    return full


def _print_run(name: str, run: Run) -> None:
    done = f"{len(run.trace)} passes, objective {run.objective:.8g}"
    print(f"{name}: {done}", file=sys.stderr)


def in_double(problem: Problem, run: Run) -> Run:
    """Return the run with expected counts of double precision."""
    if not problem.single:
        return run
    return replace(run, expected=problem.exact().expect(run.parameters))
