"""How many clusters: a mixture grows by splits and merges while a criterion improves."""

from __future__ import annotations

import logging
import math
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tacit.mixture.em.iterations import EMOptions, Run, in_double, run_em
from tacit.mixture.em.merges import find_merges
from tacit.mixture.em.scores import Scores, score_run
from tacit.mixture.em.splits import Split, find_members, split_cluster
from tacit.mixture.em.starts import draw_starts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.mixture.em.expected import ExpectedCounts
    from tacit.mixture.em.iterations import TableProblem

__all__ = ["choose_clusters", "limit_clusters", "show_progress"]

Report: TypeAlias = Callable[[Scores, Scores], None]  # of the mixture just tried, of the best

_LOG = logging.getLogger("tacit")
_MIN_LIMIT = 60
_ROUGH_TOL = 1e-5  # to which EM is run for mixtures on the way
_MAX_TRIALS = 10  # splits, or merges, that are tried before the search gives up
_SIMILAR = 0.02  # fraction of a cluster that may change before its split is computed anew
_NO_GAIN = 1e-6  # fraction of the criterion that is no gain: EM on the way leaves as much open
_MAX_KNOWN = 100  # merges in vain that are remembered


def choose_clusters(
    problem: TableProblem,
    *,
    max_clusters: int | None = None,
    criterion: str,
    rng: np.random.Generator,
    options: EMOptions,
    n_init: int = 0,
    init: str = "both",
    report: Report | None = None,
) -> tuple[Run, list[Scores]]:
    """Find the number of clusters with the best criterion, and the mixture.

    From one cluster on, each cluster is split by a small EM on its members. Splits that promise a
    gain are made at the same time, many at first, and EM goes on from there; then clusters are
    merged or removed where that is better still. What makes the criterion worse is undone. When
    nothing helps any more, the mixture is compared with `n_init` fresh starts of as many clusters.

    ICL often is worse with a few clusters more and better with many. So the search goes by BIC
    first, and by ICL from the best mixture on that way.

    Where the strength of the prior is free, each mixture finds its own, and splits and merges are
    found under that of the mixture they start from.

    Returned with the run are the best scores of each number of clusters that was tried, in order;
    `report` gets those of each mixture that was tried, and the best.
    """
    most = limit_clusters(problem.records.n_records) if max_clusters is None else max_clusters
    max_clusters = min(most, problem.records.n_records)
    curve = _Curve(criterion)
    search = _Search(problem, max_clusters, criterion, rng, options, curve, report)
    one_cluster = np.zeros(problem.records.n_records, np.int64)
    mixture = search.follow(problem.count_clusters(one_cluster, 1))
    if criterion == "icl":
        by_bic = replace(search, criterion="bic")
        by_bic.improve(replace(mixture, value=mixture.scores.value("bic")))
        assert curve.best is not None
        mixture = replace(curve.best, value=curve.best.scores.value("icl"))
    mixture = search.finish(search.improve(mixture))
    mixture = search.compare(mixture, n_init, init)
    if mixture.scores.clusters == most:
        _LOG.warning(
            "there are max_clusters=%d clusters: more might be better; ask for more to see", most
        )
    return mixture.run, [curve.scores[k] for k in sorted(curve.scores)]


def limit_clusters(n_records: int) -> int:
    """Return how many clusters are tried unless it is said: more where there are many records.

    On average a cluster then has a quarter as many records as there are clusters, or more.
    """
    return max(_MIN_LIMIT, 2 * math.isqrt(n_records))


@dataclass(frozen=True)
class _Mixture:
    run: Run
    scores: Scores
    value: float  # of the criterion: the higher, the better

    @property
    def expected(self) -> ExpectedCounts:
        return self.run.expected

    def better(self, other: _Mixture) -> bool:
        return self.value > other.value + _NO_GAIN * abs(other.value)


@dataclass
class _Curve:
    """The best scores by number of clusters."""

    criterion: str
    scores: dict[int, Scores] = field(default_factory=dict)  # the best of so many clusters
    best: _Mixture | None = None

    def add(self, mixture: _Mixture) -> None:
        value, clusters = mixture.scores.value(self.criterion), mixture.scores.clusters
        best = self.scores.get(clusters)
        if best is None or value > best.value(self.criterion):
            self.scores[clusters] = mixture.scores
        if self.best is None or value > self.best.scores.value(self.criterion):
            self.best = mixture


@dataclass(frozen=True)
class _Search:
    problem: TableProblem
    max_clusters: int
    criterion: str
    rng: np.random.Generator
    options: EMOptions
    curve: _Curve
    report: Report | None = None
    in_vain: deque[ExpectedCounts] = field(default_factory=lambda: deque(maxlen=_MAX_KNOWN))

    def improve(self, mixture: _Mixture) -> _Mixture:
        """Split and merge clusters until neither helps."""
        known: list[Split] = []
        while True:
            splits = self.find_splits(mixture, known)
            grown = self.grow(mixture, splits)
            if grown is None and known:
                splits = self.find_splits(mixture, [])  # from other starts
                grown = self.grow(mixture, splits)
            better = self.shrink(grown or mixture) or grown
            if better is None:
                return mixture
            mixture, known = better, splits

    def after(self, mixture: _Mixture) -> TableProblem:
        """Return the records with the prior that a mixture found.

        One cluster is what the prior is centred on, and its strength says nothing of others.
        """
        return self.problem if mixture.scores.clusters == 1 else self.problem.after(mixture.run)

    def follow(
        self,
        start: ExpectedCounts,
        tol: float = _ROUGH_TOL,
        *,
        origin: _Mixture | None = None,
    ) -> _Mixture:
        """Run EM from a start, made of another mixture, and add the mixture to the curve."""
        options = self.options._replace(tol=max(tol, self.options.tol))
        problem = self.problem if origin is None else self.after(origin)
        run = in_double(problem, run_em(problem, start, **options._asdict()))
        scores = score_run(problem.after(run).exact(), run)
        mixture = _Mixture(run, scores, scores.value(self.criterion))
        self.curve.add(mixture)
        if self.report is not None and self.curve.best is not None:
            self.report(scores, self.curve.best.scores)
        return mixture

    def find_splits(self, mixture: _Mixture, known: list[Split]) -> list[Split]:
        """Split each cluster in two, unless the split of a similar one is known."""
        if mixture.scores.clusters >= self.max_clusters:
            return []
        splits = []
        problem = self.after(mixture)
        problem = problem.with_prior(problem.prior.fixed())
        for k, members in enumerate(find_members(problem, mixture.run.parameters)):
            parent = mixture.expected.ordered(np.array([k]))
            split = next((split for split in known if _similar(split.parent, parent)), None)
            if split is None:
                split = split_cluster(problem, k, parent, members, self.criterion, self.rng)
            if split is not None:
                splits.append(replace(split, cluster=k))
        return splits

    def grow(self, mixture: _Mixture, splits: list[Split]) -> _Mixture | None:
        """Split as many clusters as improve the criterion; return None where none does.

        Gains of splits are estimates; of a split that was tried in vain it becomes the actual one.
        """
        splits.sort(key=lambda split: -split.gain)
        promising = sum(split.gain > 0 for split in splits)
        clusters = mixture.scores.clusters
        n = min(promising, (clusters + 1) // 2, self.max_clusters - clusters)
        while n > 1:
            grown = self.follow(_split(mixture.expected, splits[:n]), origin=mixture)
            if grown.better(mixture):
                return grown
            n //= 2
        for i, split in enumerate(splits[:_MAX_TRIALS]):
            grown = self.follow(_split(mixture.expected, [split]), origin=mixture)
            if grown.better(mixture):
                return grown
            splits[i] = replace(split, gain=grown.value - mixture.value)
        return None

    def shrink(self, mixture: _Mixture) -> _Mixture | None:
        """Merge or remove clusters for as long as it helps; return None where it does not."""
        better: _Mixture | None = None
        while True:
            smaller = self.shrink_once(better or mixture)
            if smaller is None:
                return better
            better = smaller

    def shrink_once(self, mixture: _Mixture) -> _Mixture | None:
        problem = self.after(mixture)
        members = find_members(problem, mixture.run.parameters)
        merges = find_merges(problem, mixture.run, members, self.criterion, _MAX_TRIALS)
        for merge in merges:
            merged = mixture.expected.ordered(np.array(merge.merged))
            if any(_similar(known, merged) for known in self.in_vain):
                continue
            smaller = self.follow(merge.counts, origin=mixture)
            if smaller.better(mixture):
                return smaller
            self.in_vain.append(merged)
        return None

    def finish(self, mixture: _Mixture) -> _Mixture:
        """Go on until EM has converged."""
        if self.options.tol >= _ROUGH_TOL:
            return mixture
        rest = self.follow(mixture.expected, self.options.tol, origin=mixture)
        if rest.run.prior is not None:  # another objective, perhaps
            return rest
        return replace(rest, run=replace(rest.run, trace=[*mixture.run.trace, *rest.run.trace]))

    def compare(self, mixture: _Mixture, n_init: int, init: str) -> _Mixture:
        """Return the better of a mixture and of fresh starts with as many clusters."""
        if mixture.scores.clusters == 1:
            return mixture
        fresh: _Mixture | None = None
        for start in draw_starts(self.problem, mixture.scores.clusters, n_init, init, self.rng):
            candidate = self.follow(start)
            if fresh is None or candidate.value > fresh.value:
                fresh = candidate
        if fresh is None or not fresh.better(mixture):
            return mixture
        return self.finish(fresh)


def _similar(one: ExpectedCounts, other: ExpectedCounts) -> bool:
    """Return whether one or two clusters are nearly the same as others."""
    return one.n_clusters == other.n_clusters and all(
        float(np.abs(a - b).sum()) <= _SIMILAR * float(a.sum())
        for a, b in ((one.totals, other.totals), (one.stored, other.stored))
    )


def _split(expected: ExpectedCounts, splits: Sequence[Split]) -> ExpectedCounts:
    """Return the counts with the halves of some clusters in place of them."""
    kept = np.setdiff1d(np.arange(expected.n_clusters), [split.cluster for split in splits])
    blocks = [expected.ordered(kept), *(split.children for split in splits)]
    totals = np.concatenate([block.totals for block in blocks])
    stored = np.concatenate([block.stored for block in blocks], axis=1)
    return replace(expected, totals=totals, stored=stored)


@contextmanager
def show_progress(criterion: str, shown: bool) -> Iterator[Report | None]:
    """Show on stderr what is being tried, and the best so far, if asked to."""
    if not shown:
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("clusters", total=None)

        def report(tried: Scores, best: Scores) -> None:
            score = f"{best.clusters} with {criterion} {getattr(best, criterion):,.1f}"
            bar.update(task, description=f"{tried.clusters} clusters; best: {score}")

        yield report
