"""Which mixture of trees: what is tried, and what the records held out say of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import polars as pl

from tacit.density.average import learn_average
from tacit.density.learn import (
    STRENGTHS,
    Fit,
    Options,
    TreesOfSample,
    choose_clusters,
    choose_near,
    learn_clusters,
    run_em,
    separate_trees,
)
from tacit.density.split import sizes_of, split_clusters

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from tacit.density.blocks import Blocks
    from tacit.density.observed import Observed
    from tacit.density.source import Sample, Source

__all__ = ["Choices", "Recipe", "Search"]

_PART = 0.8  # of the records that the trees of further members are found from
_POWERS = (1.0, 0.85, 0.7, 0.6)  # that "auto" chooses from
_POWER = 0.7  # that is tried first with splits
_SPLITS = 2  # that are tried first, and by which their number changes
_STRONGER = 10  # times the smoothing without splits
_CLIMB = 8  # mixtures that are tried from each of two starts, at most


class Recipe(NamedTuple):
    """How one mixture is learnt."""

    n_clusters: int
    smoothing: float
    joint_labels: int
    splits: int = 0
    power: float = 1.0  # of P(cluster, record) in the E-step


class Choices(NamedTuple):
    """What recipes there are; "auto" where records held out are to say it."""

    n_clusters: list[int]
    smoothing: float | None
    joint_labels: tuple[int, ...]
    splits: int | Literal["auto"]
    power: float | Literal["auto"]
    trees: Literal["shared", "separate"]


@dataclass
class Search:
    """Learns mixtures, keeps what was learnt on the way, and climbs to the best."""

    source: Source
    sample: Sample
    held_out: Observed | None
    options: Options
    choices: Choices
    rng: np.random.Generator
    tried: dict[Recipe, Fit] = field(default_factory=dict)
    _steps: dict[tuple[object, ...], Fit] = field(default_factory=dict)  # before further splits
    _trees: dict[int, TreesOfSample] = field(default_factory=dict)

    # One mixture

    def learn(self, recipe: Recipe) -> Fit:
        """Return the mixture of a recipe, of the trees that all records suggest."""
        if recipe not in self.tried:
            trees = self._trees_of(recipe.joint_labels)
            self.tried[recipe] = self._learn(recipe, trees, self._steps)
        return self.tried[recipe]

    def _trees_of(self, joint_labels: int) -> TreesOfSample:
        """Return the trees of all records, with blocks of so many labels."""
        if joint_labels not in self._trees:
            self._trees[joint_labels] = TreesOfSample(
                self.sample, joint_labels, self.rng, self.options
            )
        return self._trees[joint_labels]

    def member(self, recipe: Recipe) -> Fit:
        """Return a further mixture of a recipe, of trees that a part of the records suggests."""
        self.source.forget()
        options = self.options._replace(smoothing=recipe.smoothing)
        part = self.source.sample(self.rng, _PART)
        trees = TreesOfSample(part, recipe.joint_labels, self.rng, options)
        fit = self._learn(recipe, trees, {})
        return self.finish(recipe, fit)

    def finish(self, recipe: Recipe, fit: Fit) -> Fit:
        """Give clusters trees of their own, if that is asked for."""
        if self.choices.trees == "shared" or fit.groups[0].n_clusters == 1:
            return fit
        options = self._options(recipe)
        return separate_trees(self.source, fit, self.sample, options, self.held_out)

    def _options(self, recipe: Recipe) -> Options:
        return self.options._replace(smoothing=recipe.smoothing, power=recipe.power)

    def _learn(
        self, recipe: Recipe, trees: TreesOfSample, steps: dict[tuple[object, ...], Fit]
    ) -> Fit:
        """Learn as many clusters as there are at first, and split them."""
        options, fit = self._options(recipe), None
        sizes = sizes_of(recipe.n_clusters, recipe.splits)
        tree = trees.of(recipe.n_clusters, recipe.smoothing)
        for k, size in enumerate(sizes):
            key = recipe.joint_labels, recipe.smoothing, recipe.power, sizes[: k + 1]
            if key in steps:
                fit = steps[key]
                continue
            if fit is None:
                fit = learn_clusters(
                    self.source, self.sample, tree, size, self.rng, options, self.held_out
                )
            else:
                table, jobs = self.sample.filled, options.n_jobs
                halves, start = split_clusters(fit, table, size, self.rng, jobs)
                fit = run_em(self.source, [halves], [start], options, self.held_out)
                options.report(
                    f"split into {size} clusters, smoothing {recipe.smoothing:g}, power "
                    f"{recipe.power:g}: {len(fit.trace)} passes, held out {fit.score:.6g}"
                )
            if recipe.splits:
                steps[key] = fit
        assert fit is not None
        return fit

    # The best

    def run(self) -> Recipe:
        """Return the best recipe. `tried` has all others."""
        best = self._plain()
        if self.held_out is None or best.n_clusters == 1:
            return best
        choices, starts = self.choices, [best]
        if choices.splits == "auto" and choices.trees == "shared" and best.n_clusters > 2**_SPLITS:
            # Halves are drawn to what is near them already: more strongly.
            halved = best._replace(splits=_SPLITS)
            if choices.smoothing is None:
                more = [s for s in STRENGTHS if s >= _STRONGER * best.smoothing]
                halved = halved._replace(smoothing=more[0] if more else best.smoothing)
            starts.append(halved._replace(power=_POWER) if choices.power == "auto" else halved)
        return max([self._climb(start) for start in starts], key=self._score)

    def _plain(self) -> Recipe:
        """Return the best of all numbers of clusters, strengths and sizes of blocks."""
        choices, found = self.choices, list[Recipe]()
        splits = 0 if choices.splits == "auto" else choices.splits
        power = 1.0 if choices.power == "auto" else choices.power
        seen: list[Blocks] = []
        for labels in choices.joint_labels:

            def learn(n: int, strength: float, labels: int = labels) -> Fit:
                return self.learn(Recipe(n, strength, labels, splits, power))

            blocks = self._trees_of(labels).blocks
            if any(blocks.are_same(other) for other in seen):
                continue
            seen.append(blocks)
            options = choices.n_clusters, choices.smoothing
            best = max(found, key=self._score) if found else None
            if best is None or best.n_clusters == 1:
                tried = choose_clusters(learn, *options)
            else:
                near = best.n_clusters, best.smoothing
                tried = choose_near(learn, *options, near, self.learn(best))
            n, strength, _ = tried[0]
            found.append(Recipe(n, strength, labels, splits, power))
            self.source.forget()
        return max(found, key=self._score)

    def _score(self, recipe: Recipe) -> float:
        return self.learn(recipe).score

    def _climb(self, best: Recipe) -> Recipe:
        """Change one thing at a time while records held out say that it is better."""
        most = len(self.tried) + _CLIMB
        while len(self.tried) < most:
            for other in self._near(best):
                if other not in self.tried and self._score(other) > self._score(best):
                    best = other
                    break
            else:
                break
        self.source.forget()
        return best

    def _near(self, recipe: Recipe) -> Iterator[Recipe]:
        """Yield recipes that differ in one thing."""
        choices = self.choices
        if choices.power == "auto":
            for power in _beside(_POWERS, recipe.power):
                yield recipe._replace(power=power)
        if choices.smoothing is None:
            for strength in _beside(STRENGTHS, recipe.smoothing):
                yield recipe._replace(smoothing=strength)
        if choices.splits == "auto" and recipe.splits:
            for splits in (recipe.splits + _SPLITS, recipe.splits - _SPLITS):
                if splits > 0 and 2**splits < recipe.n_clusters:
                    yield recipe._replace(splits=splits)
        if 2 * recipe.n_clusters in choices.n_clusters:
            more = recipe.splits + 1 if recipe.splits else 0
            if choices.splits == "auto" or more == recipe.splits:
                yield recipe._replace(n_clusters=2 * recipe.n_clusters, splits=more)

    # Several

    def average(self, best: Recipe, n_members: int) -> tuple[Recipe, list[Fit]]:
        """Return the members of an average, and the recipe that they are made by."""
        first = self.finish(best, self.learn(best))
        chooser = self.held_out if self.choices.smoothing is None else None
        return learn_average(
            self.member, first, best, n_members, chooser, self.options.n_jobs, self._others
        )

    def _others(self, recipe: Recipe) -> Iterator[Recipe]:
        """Yield what is tried for an average: less regular members, or the best of another kind."""
        at, numbers = STRENGTHS.index(recipe.smoothing), self.choices.n_clusters
        if self.choices.power == "auto" and recipe.power < 1:
            yield recipe._replace(power=1.0)
        for strength in (*STRENGTHS[max(at - 1, 0) : at], *STRENGTHS[at + 1 : at + 2]):
            yield recipe._replace(smoothing=strength)
        order = sorted(self.tried, key=self._score, reverse=True)
        kind = recipe.splits > 0
        yield from [r for r in order if r.n_clusters > 1 and (r.splits > 0) != kind][:1]
        for n in (recipe.n_clusters // 2, 2 * recipe.n_clusters):
            if n > 1 and n in numbers and not recipe.splits:
                yield recipe._replace(n_clusters=n)

    def frame(self, best: Recipe) -> pl.DataFrame:
        """Return what was tried, the best first."""
        order = sorted(self.tried, key=lambda r: (r != best, -self._score(r), r.n_clusters))
        score = "held_out" if self.held_out is not None else "log_marginal"
        return pl.DataFrame(
            {
                "n_clusters": [r.n_clusters for r in order],
                "smoothing": [r.smoothing for r in order],
                "joint_labels": [r.joint_labels for r in order],
                "splits": [r.splits for r in order],
                "inverse_temperature": [r.power for r in order],
                "passes": [len(self.tried[r].trace) for r in order],
                score: [self._score(r) for r in order],
            }
        )


def _beside(choices: tuple[float, ...], chosen: float) -> tuple[float, ...]:
    """Return the next choices, above and below.

    >>> _beside((1.0, 2.0, 3.0), 1.0)
    (2.0,)
    """
    at = choices.index(chosen)
    return choices[at + 1 : at + 2] + choices[max(at - 1, 0) : at]
