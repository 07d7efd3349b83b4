"""Expectation maximisation: from a start to a model that explains the records at least as well.

:func:`em_steps` asks for the expected counts of parameters; who counts, and where the records are,
is not its concern.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, Self, TypeAlias, cast

import numpy as np

from tacit import _core
from tacit.mixture.em.expected import ExpectedCounts
from tacit.mixture.em.scores import score_run
from tacit.mixture.em.starts import draw_starts
from tacit.mixture.em.strength import find_strength
from tacit.mixture.lockstep import MIN_GAIN, run_in_lockstep

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.counts import StoredRecords
    from tacit.mixture.em.prior import Prior
    from tacit.schema import Schema
    from tacit.table import Table

__all__ = [
    "EMOptions",
    "Parameters",
    "Problem",
    "Run",
    "TableProblem",
    "adaptive_steps",
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
# The strength of a prior is found anew when a pass gains less than these fractions, one after the
# other, until it changes by less than a tenth (of a logarithm).
_TOLS = (3e-3, 1e-3, *[_ROUGH_TOL] * 6)
_SAME_STRENGTH = 0.1
_MAX_CHANGE = 8.0  # of the strength, at once
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

    @abstractmethod
    def with_prior(self, prior: Prior) -> Self:
        """Return the same records with another prior."""

    def weighty(self) -> Self:
        """Return the problem without records whose weight is 0: as if they were not there."""
        return self

    def after(self, run: Run) -> Self:
        """Return the same records with the prior that a run ended with."""
        return self if run.prior is None else self.with_prior(run.prior)

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

    def steps(self, start: ExpectedCounts, options: EMOptions) -> Steps:
        """Return EM from a start, as steps; it finds the prior's strength if that is free."""
        if self.prior.adaptive:
            return adaptive_steps(self, start, options)
        return em_steps(self.maximise, start, options)

    def value(self, run: Run) -> float:
        """Return what runs are compared by: the objective, or the evidence of a free prior."""
        if run.prior is None:
            return run.objective
        evidence = score_run(self.after(run), run).cheeseman_stutz
        assert evidence is not None
        return evidence


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
        yield from draw_starts(self, n_clusters, n_init, init, rng)

    def follow(self, starts: Iterable[ExpectedCounts], options: EMOptions) -> Iterator[Run]:
        """Run EM from several starts, one after another."""
        for start in starts:
            yield run_em(self, start, **options._asdict())

    def exact(self) -> TableProblem:
        """Return the same in double precision."""
        return replace(self, single=False)

    def weighty(self) -> TableProblem:
        """Return the problem without records whose weight is 0: as if they were not there."""
        weights = self.records.weights
        if weights is None or weights.all():
            return self
        table = cast("Table", self.records)
        return replace(self, records=table.take(np.flatnonzero(weights)))

    def with_prior(self, prior: Prior) -> TableProblem:
        """Return the same records with another prior."""
        return replace(self, prior=prior)

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
    prior: Prior | None = None  # that was found, if its strength was free; the trace is under it

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
    steps = problem.steps(start, EMOptions(max_iter, tol, accelerate))
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


def adaptive_steps(problem: Problem, start: ExpectedCounts, options: EMOptions) -> Steps:
    """Yield parameters as :func:`em_steps` does, and find the strength of the prior on the way.

    Each time that EM has come some way, the strength becomes the one under which the expected
    counts are most probable, until it stays the same; then EM goes on to the end. The objective is
    another one with every strength, and the trace that of the last.
    """
    counts, left, tols = start, options.max_iter, [*_TOLS]
    while tols:
        rough = options._replace(tol=max(tols.pop(0), options.tol), max_iter=left)
        run = yield from em_steps(problem.maximise, counts, rough)
        run = replace(run, prior=problem.prior)
        counts, left = run.expected, left - len(run.trace)
        if left <= 0:
            return replace(run, converged=False)
        before = problem.prior.strength(problem.schema)
        strength = find_strength(problem.schema, problem.prior, counts)
        if counts.n_clusters > 1:  # in one step clusters could become the same, and stay so
            strength = float(np.clip(strength, before / _MAX_CHANGE, before * _MAX_CHANGE))
        if abs(np.log(strength / before)) < _SAME_STRENGTH:
            if rough.tol <= max(_TOLS[-1], options.tol):
                break
            tols = [_TOLS[-1]]
            continue
        problem = problem.with_prior(problem.prior.with_strength(problem.schema, strength))
    if options.tol >= _ROUGH_TOL and run.prior is problem.prior:
        return run
    final = yield from em_steps(problem.maximise, counts, options._replace(max_iter=left))
    if run.prior is problem.prior:
        final = replace(final, trace=[*run.trace, *final.trace])
    return replace(final, prior=problem.prior)


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
    best_value = -np.inf
    for attempt, run in enumerate(problem.follow(starts, rough)):
        if verbose:
            _print_run(f"start {attempt + 1} of {n_starts}", run)
        value = problem.value(run)
        if best is None or value > best_value + MIN_GAIN * abs(best_value):
            best, best_value = run, value
    assert best is not None
    if options.tol >= _ROUGH_TOL or not best.converged:
        return best
    left = options.max_iter - len(best.trace)
    if left == 0:
        return replace(best, converged=False)
    found = problem.after(best)
    found = found.with_prior(found.prior.fixed())
    rest = run_em(found, best.expected, **options._replace(max_iter=left)._asdict())
    full = replace(rest, trace=[*best.trace, *rest.trace], prior=best.prior)
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
