"""How many clusters: a mixture that grows by splitting clusters for as long as that is worth it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from tacit.mixture.em import Run, run_em
from tacit.mixture.expected import ExpectedCounts
from tacit.mixture.merges import find_shrunk
from tacit.mixture.scores import Scores, score_run
from tacit.mixture.splits import Split, find_members, split_cluster
from tacit.mixture.starts import make_start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.mixture.em import Problem

__all__ = ["choose_clusters"]

Progress: TypeAlias = Callable[[int, float], None]  # clusters, their criterion

_ROUGH = 1e-5  # how far models on the way are followed
_PATIENCE = 3  # moves that seem worth it and are not, or the other way round
_CERTAIN = 1e-9  # of the criterion: what is no gain but rounding


class _Model(NamedTuple):
    run: Run
    scores: Scores


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
    report: Progress | None = None,
) -> tuple[Run, list[Scores]]:
    """Find the number of clusters that a criterion likes best.

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
        How many fresh starts to compare with, and how to make them.
    report : callable, optional
        Told of each model on the way.

    Returns
    -------
    run : Run
    scores : list of Scores
        The best of each number of clusters that was tried, in order.
    """
    search = _Search(problem, most, criterion, rng, max_iter, tol, accelerate, report)
    model = search.finish(search.best_model())
    model = search.compare(model, n_init, init)
    return model.run, search.curve()


@dataclass
class _Search:
    problem: Problem
    most: int
    criterion: str
    rng: np.random.Generator
    max_iter: int
    tol: float
    accelerate: bool
    report: Progress | None

    def __post_init__(self) -> None:
        self.most = min(self.most, self.problem.records.n_records)
        self.best: dict[int, Scores] = {}  # by number of clusters

    def curve(self) -> list[Scores]:
        return [self.best[k] for k in sorted(self.best)]

    def best_model(self) -> _Model:
        """Split and merge clusters until neither helps."""
        model = self.follow(_one_cluster(self.problem))
        while True:
            members = find_members(self.problem, model.run.parameters)
            splits = [
                split_cluster(self.problem, k, own, self.criterion, self.rng)
                for k, own in enumerate(members)
            ]
            found = self.grow(model, [split for split in splits if split is not None])
            if found is None:
                found = self.shrink(model)
            else:
                found = self.shrink(found) or found
            if found is None:
                return model
            model = found

    def follow(self, start: ExpectedCounts, tol: float | None = None) -> _Model:
        """Run EM, and note what comes out."""
        run = run_em(
            self.problem, start, max_iter=self.max_iter,
            tol=max(_ROUGH, self.tol) if tol is None else tol, accelerate=self.accelerate,
        )  # fmt: skip
        model = _Model(run, score_run(self.problem, run))
        if self.report is not None:
            self.report(start.n_clusters, model.scores.value(self.criterion))
        known = self.best.get(start.n_clusters)
        if known is None or self.value(model.scores) > self.value(known):
            self.best[start.n_clusters] = model.scores
        return model

    def value(self, scores: Scores) -> float:
        return scores.value(self.criterion)

    def better(self, model: _Model, than: _Model) -> bool:
        least = _CERTAIN * abs(self.value(than.scores))
        return self.value(model.scores) > self.value(than.scores) + least

    def grow(self, model: _Model, splits: list[Split]) -> _Model | None:
        """Split as many clusters as is worth it, or say that none is."""
        splits = sorted(splits, key=lambda split: -split.gain)
        room = self.most - model.scores.clusters
        n = min(sum(split.gain > 0 for split in splits), -(-model.scores.clusters // 2), room)
        while n > 1:
            found = self.follow(_split(model.run.expected, splits[:n]))
            if self.better(found, model):
                return found
            n //= 2
        for split in splits[: _PATIENCE if room else 0]:
            found = self.follow(_split(model.run.expected, [split]))
            if self.better(found, model):
                return found
        return None

    def shrink(self, model: _Model) -> _Model | None:
        """Merge or leave out clusters for as long as it helps, or say that it does not."""
        found: _Model | None = None
        while True:
            better = self.shrink_once(found or model)
            if better is None:
                return found
            found = better

    def shrink_once(self, model: _Model) -> _Model | None:
        members = find_members(self.problem, model.run.parameters)
        for shrunk in find_shrunk(self.problem, model.run, members, self.criterion)[:_PATIENCE]:
            found = self.follow(shrunk.counts)
            if self.better(found, model):
                return found
        return None

    def finish(self, model: _Model) -> _Model:
        if self.tol >= _ROUGH:
            return model
        rest = self.follow(model.run.expected, self.tol)
        trace = [*model.run.trace, *rest.run.trace]
        return _Model(replace(rest.run, trace=trace), rest.scores)

    def compare(self, model: _Model, n_init: int, init: str) -> _Model:
        """Return the best of a model and of fresh starts with as many clusters."""
        starts = [
            self.follow(make_start(self.problem, model.scores.clusters, init, self.rng))
            for _ in range(n_init)
        ]
        if not starts:
            return model
        fresh = max(starts, key=lambda found: found.run.objective)
        fresh = self.finish(fresh)
        return fresh if self.better(fresh, model) else model


def _one_cluster(problem: Problem) -> ExpectedCounts:
    groups = np.zeros(problem.records.n_records, np.int64)
    return problem.count_groups(groups, 1)


def _split(expected: ExpectedCounts, splits: Sequence[Split]) -> ExpectedCounts:
    """Return the counts with the parts of some clusters in place of them."""
    kept = np.setdiff1d(np.arange(expected.n_clusters), [split.cluster for split in splits])
    parts = [expected.ordered(kept), *(split.children for split in splits)]
    totals = np.concatenate([part.totals for part in parts])
    stored = np.concatenate([part.stored for part in parts], axis=1)
    return replace(expected, totals=totals, stored=stored)
