"""How many clusters: a mixture that grows by splits for as long as a criterion likes it better."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tacit.mixture.em.iterations import Run, run_em
from tacit.mixture.em.merges import find_shrunk
from tacit.mixture.em.scores import Scores, score_run
from tacit.mixture.em.splits import Split, find_members, split_cluster
from tacit.mixture.em.starts import make_start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.mixture.em.expected import ExpectedCounts
    from tacit.mixture.em.iterations import Problem

__all__ = ["choose_clusters", "show_progress"]

Told: TypeAlias = Callable[[Scores, Scores], None]  # of the mixture just tried, of the best so far

_ROUGH = 1e-5  # mixtures on the way are followed until a pass gains less than this share
_PATIENCE = 10  # moves that may fail before there is said to be none
_ALIKE = 0.02  # of a cluster may change before another way to split it is looked for
_NOTHING = 1e-9  # of the criterion: no gain, but rounding


def choose_clusters(
    problem: Problem,
    *,
    most: int,
    criterion: str,
    rng: np.random.Generator,
    max_iter: int,
    tol: float,
    accelerate: bool,
    n_init: int = 0,
    init: str = "seeds",
    report: Told | None = None,
) -> tuple[Run, list[Scores]]:
    """Find the number of clusters that a criterion likes best, and the mixture.

    From one cluster on, each cluster is split by a small EM of its own. Splits that promise a gain
    are made together, many at first, and EM goes on from there; then clusters are merged or left
    out where that is better still. What makes the criterion worse is undone. When nothing helps
    any more, the mixture is compared with fresh starts of as many clusters.

    ICL often is worse with a few clusters more and better with many. So BIC leads the way first,
    and ICL goes on from the best it has seen there.

    Parameters
    ----------
    problem : Problem
    most : int
        The largest number of clusters to try.
    criterion : {"cheeseman_stutz", "bic", "icl"}
    rng : numpy.random.Generator
    max_iter, tol, accelerate
        How EM is run, as for `run_em`.
    n_init, init
        How many fresh starts there are, and how they are made.
    report : callable, optional
        Told of each mixture that was tried.

    Returns
    -------
    run : Run
    scores : list of Scores
        The best of each number of clusters that was tried, in order.
    """
    most = min(most, problem.records.n_records)
    curve = _Curve(criterion)
    search = _Search(problem, most, criterion, rng, max_iter, tol, accelerate, curve, report)
    everything = np.zeros(problem.records.n_records, np.int64)
    found = search.follow(problem.count_groups(everything, 1))
    if criterion == "icl":
        replace(search, criterion="bic").improve(replace(found, value=found.scores.value("bic")))
        assert curve.best is not None
        found = replace(curve.best, value=curve.best.scores.value("icl"))
    found = search.finish(search.improve(found))
    found = search.compare(found, n_init, init)
    return found.run, [curve.scores[k] for k in sorted(curve.scores)]


@dataclass(frozen=True)
class _Mixture:
    run: Run
    scores: Scores
    value: float  # of the criterion: the higher, the better

    @property
    def expected(self) -> ExpectedCounts:
        return self.run.expected

    def better(self, other: _Mixture) -> bool:
        return self.value > other.value + _NOTHING * abs(other.value)


@dataclass
class _Curve:
    """What was tried, judged by a criterion."""

    criterion: str
    scores: dict[int, Scores] = field(default_factory=dict)  # the best of so many clusters
    best: _Mixture | None = None

    def note(self, mixture: _Mixture) -> None:
        value, clusters = mixture.scores.value(self.criterion), mixture.scores.clusters
        known = self.scores.get(clusters)
        if known is None or value > known.value(self.criterion):
            self.scores[clusters] = mixture.scores
        if self.best is None or value > self.best.scores.value(self.criterion):
            self.best = mixture


@dataclass(frozen=True)
class _Search:
    problem: Problem
    most: int
    criterion: str
    rng: np.random.Generator
    max_iter: int
    tol: float
    accelerate: bool
    curve: _Curve
    report: Told | None = None

    def improve(self, mixture: _Mixture) -> _Mixture:
        """Split and merge clusters until neither helps."""
        known: list[Split] = []
        while True:
            splits = self.find_splits(mixture, known)
            found = self.grow(mixture, splits)
            if found is None and known:
                splits = self.find_splits(mixture, [])  # from other starts
                found = self.grow(mixture, splits)
            better = self.shrink(found or mixture) or found
            if better is None:
                return mixture
            mixture, known = better, splits

    def follow(self, start: ExpectedCounts, tol: float = _ROUGH) -> _Mixture:
        """Run EM from somewhere, and note what comes out."""
        tol = max(tol, self.tol)
        run = run_em(
            self.problem, start, max_iter=self.max_iter, tol=tol, accelerate=self.accelerate
        )
        exact = replace(self.problem, single=False)
        if self.problem.single:
            run = replace(run, expected=exact.expect(run.parameters))
        scores = score_run(exact, run)
        mixture = _Mixture(run, scores, scores.value(self.criterion))
        self.curve.note(mixture)
        if self.report is not None and self.curve.best is not None:
            self.report(scores, self.curve.best.scores)
        return mixture

    def find_splits(self, mixture: _Mixture, known: list[Split]) -> list[Split]:
        """Cut each cluster in two, unless it is known how one like it is cut."""
        if mixture.scores.clusters >= self.most:
            return []
        splits = []
        for k, own in enumerate(find_members(self.problem, mixture.run.parameters)):
            parent = mixture.expected.ordered(np.array([k]))
            split = next((split for split in known if _alike(split.parent, parent)), None)
            if split is None:
                split = split_cluster(self.problem, k, parent, own, self.criterion, self.rng)
            if split is not None:
                splits.append(replace(split, cluster=k))
        return splits

    def grow(self, mixture: _Mixture, splits: list[Split]) -> _Mixture | None:
        """Split as many clusters as is worth it; return None where none is.

        A gain is what is to be expected; where a split was tried in vain, what came of it is noted.
        """
        splits.sort(key=lambda split: -split.gain)
        promising = sum(split.gain > 0 for split in splits)
        clusters = mixture.scores.clusters
        n = min(promising, (clusters + 1) // 2, self.most - clusters)
        while n > 1:
            found = self.follow(_split(mixture.expected, splits[:n]))
            if found.better(mixture):
                return found
            n //= 2
        for i, split in enumerate(splits[:_PATIENCE]):
            found = self.follow(_split(mixture.expected, [split]))
            if found.better(mixture):
                return found
            splits[i] = replace(split, gain=found.value - mixture.value)
        return None

    def shrink(self, mixture: _Mixture) -> _Mixture | None:
        """Merge or leave out clusters for as long as it helps; return None where it does not."""
        better: _Mixture | None = None
        while True:
            found = self.shrink_once(better or mixture)
            if found is None:
                return better
            better = found

    def shrink_once(self, mixture: _Mixture) -> _Mixture | None:
        members = find_members(self.problem, mixture.run.parameters)
        for shrunk in find_shrunk(self.problem, mixture.run, members, self.criterion)[:_PATIENCE]:
            found = self.follow(shrunk.counts)
            if found.better(mixture):
                return found
        return None

    def finish(self, mixture: _Mixture) -> _Mixture:
        """Go on until EM has converged."""
        if self.tol >= _ROUGH:
            return mixture
        rest = self.follow(mixture.expected, self.tol)
        return replace(rest, run=replace(rest.run, trace=[*mixture.run.trace, *rest.run.trace]))

    def compare(self, mixture: _Mixture, n_init: int, init: str) -> _Mixture:
        """Return the better of a mixture and of fresh starts with as many clusters."""
        if mixture.scores.clusters == 1:
            return mixture
        fresh: _Mixture | None = None
        for _ in range(n_init):
            start = make_start(self.problem, mixture.scores.clusters, init, self.rng)
            found = self.follow(start)
            if fresh is None or found.value > fresh.value:
                fresh = found
        if fresh is None or not fresh.better(mixture):
            return mixture
        return self.finish(fresh)


def _alike(one: ExpectedCounts, other: ExpectedCounts) -> bool:
    """Return whether two clusters are nearly the same."""
    return all(
        float(np.abs(a - b).sum()) <= _ALIKE * float(a.sum())
        for a, b in ((one.totals, other.totals), (one.stored, other.stored))
    )


def _split(expected: ExpectedCounts, splits: Sequence[Split]) -> ExpectedCounts:
    """Return the counts with the parts of some clusters in place of them."""
    kept = np.setdiff1d(np.arange(expected.n_clusters), [split.cluster for split in splits])
    parts = [expected.ordered(kept), *(split.children for split in splits)]
    totals = np.concatenate([part.totals for part in parts])
    stored = np.concatenate([part.stored for part in parts], axis=1)
    return replace(expected, totals=totals, stored=stored)


@contextmanager
def show_progress(criterion: str, shown: bool) -> Iterator[Told | None]:
    """Show on stderr what is being tried, and the best so far, if asked to."""
    if not shown:
        yield None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("clusters", total=None)

        def report(tried: Scores, best: Scores) -> None:
            score = f"{best.clusters} with {criterion} {getattr(best, criterion):,.1f}"
            bar.update(task, description=f"{tried.clusters} clusters; best: {score}")

        yield report
