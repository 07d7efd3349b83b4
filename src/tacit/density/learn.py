"""EM for clusters of trees: where it starts, when it ends, and how many clusters there are."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy import sparse

from tacit import _core
from tacit.density.blocks import Blocks, join_columns
from tacit.density.clusters import Tree, count_ids, evidence, maximise, prior_of
from tacit.density.layout import TreeLayout, orient
from tacit.density.observed import Observed
from tacit.density.source import Sample, Source
from tacit.density.structure import learn_forest, paying_edges
from tacit.mixture.em.expected import ExpectedCounts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tacit.density.clusters import TreeClusters
    from tacit.density.layout import TreeRecords
    from tacit.table import Table

__all__ = [
    "STRENGTHS",
    "Fit",
    "Options",
    "TreesOfSample",
    "choose_clusters",
    "choose_near",
    "learn_clusters",
    "separate_trees",
]

# A tree is found given a few clusters of records, each large enough to say something.
_TRIAL_CLUSTERS, _TRIAL_RECORDS, _TRIAL_PASSES = 10, 100, 15
STRENGTHS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)  # that "auto" chooses from
_WORSE = 2  # times that doubling clusters may not help
_MANY = 64  # clusters whose doubling ends when it is worse beyond doubt
_SURE = 3.0  # standard errors that are not chance
_WALKS = 3  # of strengths, in turns with doubling clusters
_ROUNDS, _ROUND_PASSES = 20, 2  # of trees for each cluster, and of EM between them
_LEAST_WEIGHT = 1e-200  # of a seed, at the start
_LEAST_PART = 1e-3  # of a record that says something of a cluster's tree


class Options(NamedTuple):
    """How trees and their clusters are learnt."""

    max_iter: int
    tol: float
    n_iter_no_change: int
    smoothing: float | None  # None: to be chosen
    prune: bool
    missing: Literal["state", "ignore"]
    n_jobs: int
    report: Callable[[str], None] = lambda line: None
    power: float = 1.0  # of P(cluster, record) in the E-step


@dataclass(frozen=True)
class Fit:
    """Clusters that EM has come to, of one tree or of several."""

    trees: list[Tree]
    groups: list[TreeClusters]
    expected: list[ExpectedCounts]  # of the records
    trace: list[float] = field(default_factory=list)  # log-likelihood and log prior of each pass
    converged: bool = False
    held_out: float | None = None  # mean log-likelihood of records that were held out
    records: NDArray[np.float64] | None = None  # and that of each, times its weight over the mean

    @cached_property
    def score(self) -> float:
        """What fits are compared by: records held out, or else the evidence in nats a record."""
        if self.held_out is not None:
            return self.held_out
        weight = sum(counts.totals.sum() for counts in self.expected)
        return evidence(self.trees, self.groups, self.expected) / float(weight)

    def beats(self, other: Fit, errors: float = 2.0) -> bool:
        """Say whether records held out differ by more than so many standard errors of their mean.

        Without such records, always.
        """
        if self.records is None or other.records is None:
            return True
        gains = self.records - other.records
        return bool(gains.mean() > errors * gains.std() / np.sqrt(len(gains)))


# Starts


def soft_start(layout: TreeLayout, table: Table, n_clusters: int, rng: np.random.Generator,
               n_jobs: int = 1) -> ExpectedCounts:  # fmt: skip
    """Return expected counts of records that belong to seeds, the more the nearer these are.

    Seeds are records drawn at random. Distances are numbers of columns that differ; a record is e
    times less part of a seed for each standard deviation of the distances between seeds. That is
    a product over its stored values, so that one E-step does it.
    """
    chance = None if table.weights is None else table.weights / table.weights.sum()
    most = table.n_records if chance is None else int(np.count_nonzero(chance))
    seeds = rng.choice(table.n_records, min(n_clusters, most), replace=False, p=chance)
    records, schema = layout.records(table, n_jobs), layout.schema
    values = [held[held < schema.n_values] for held in map(records.held, seeds.tolist())]
    lengths = np.array([len(held) for held in values])
    held = np.concatenate([np.zeros(0, np.int64), *values]).astype(np.int64)
    of_seed = np.repeat(np.arange(len(seeds)), lengths)
    # Both lengths, less what is here for each stored value, is how many columns differ: 2 where
    # the seed stores the same, 1 where it stores another value of the column.
    columns = np.zeros((len(schema), len(seeds)))
    columns[schema.value_columns[held], of_seed] = 1
    matches = columns[schema.value_columns]
    matches[held, of_seed] += 1
    ones = np.ones(len(held))
    by_seed = sparse.csr_array((ones, (of_seed, held)), (len(seeds), schema.n_values))
    between = lengths[:, None] + lengths - by_seed @ matches
    apart = between[~np.eye(len(seeds), dtype=bool)]
    spread = max(float(apart.std()), 1.0) if len(apart) else 1.0
    stored = np.ones((layout.n_ids, len(seeds)))
    stored[: schema.n_values] = np.exp((matches - 2) / spread)
    weights = np.maximum(np.exp((lengths.min() - lengths) / spread), _LEAST_WEIGHT)
    defaults = np.ones((len(layout.offsets) - 1, len(seeds)))
    given = _core.Records(records.indptr, records.values, layout.n_ids, None, records.weights)
    arrays = (layout.offsets, weights, stored, defaults)
    totals, counts, _ = _core.em_step(given, *arrays, False, n_jobs)
    return ExpectedCounts(totals, counts, 0.0, records.weight)


# EM


def run_em(
    source: Source,
    trees: list[Tree],
    start: list[ExpectedCounts],
    options: Options,
    held_out: Observed | None = None,
) -> Fit:
    """Take EM steps until the objective, or the likelihood of what is held out, stops rising.

    The objective is log-likelihood and log prior. Of clusters that are tempered by a power q, the
    likelihood of a record counts as (Σ over clusters of P(cluster, record)^q)^(1/q).

    Of records held out, the best pass counts; the last passes did nothing for them. One that makes
    them less probable by more than they differ by chance is the last.
    """
    expected, trace = start, list[float]()
    best: Fit | None = None
    waited = 0
    jobs = options.n_jobs
    given = None
    if held_out is not None:
        given = [held_out.tree_records(tree.layout, jobs) for tree in trees]
    while len(trace) < options.max_iter:
        groups = maximise(trees, expected)
        expected = source.expect([group.tempered(options.power) for group in groups])
        first = expected[0]
        expected[0] = replace(first, log_likelihood=first.log_likelihood / options.power)
        log_prior = sum(group.log_prior for group in groups)
        trace.append(expected[0].log_likelihood + log_prior)
        gain = np.inf if len(trace) < 2 else trace[-1] - trace[-2]
        done = gain <= options.tol * abs(trace[-1])
        scores = None if held_out is None else _scores(held_out, groups, given, options.n_jobs)
        score = None if scores is None else float(scores.mean())
        fit = Fit(trees, groups, expected, trace, done, score, scores)
        if best is None or score is None or score > (best.held_out or -np.inf) + 1e-6:
            best, waited = fit, 0
        else:
            waited += 1
        waits = waited < options.n_iter_no_change and not (waited and best.beats(fit, _SURE))
        if done or not waits:
            return replace(best, converged=True)
    assert best is not None
    return best


def _scores(
    held_out: Observed, groups: list[TreeClusters], records: list[TreeRecords] | None, n_jobs: int
) -> NDArray[np.float64]:
    """Return the log-likelihood of records, times their weight over the mean of weights."""
    scores, weights = held_out.log_scores(groups, records, n_jobs), held_out.weights
    return scores if weights is None else scores * (weights / weights.mean())


# Trees


def find_blocks(sample: Sample, most_labels: int, n_jobs: int) -> Blocks:
    """Return columns that say most of each other as blocks of so many labels at most.

    These are ends of edges of the tree of all records that pay for their parameters and the choice.
    """
    table = sample.filled
    if most_labels < 4 or len(table.schema) < 2:
        return Blocks.single(table.schema)
    edges, gains = paying_edges(table, n_jobs)
    return join_columns(table, edges, gains, most_labels)


def _joined(sample: Sample, blocks: Blocks) -> Table:
    """Return the sample as structures are found from it: as it came, or in blocks."""
    return sample.given if blocks.are_single else blocks.table(sample.filled)[0]


def make_tree(
    blocks: Blocks, table: Table, edges: NDArray[np.int64], strength: float, n_jobs: int
) -> Tree:
    """Return a tree of these edges, with the prior that a sample of records gives."""
    layout = TreeLayout(blocks, orient(len(blocks.schema), edges))
    counts = count_ids(layout, layout.records(table, n_jobs), n_jobs)
    return Tree(layout, prior_of(layout, counts, strength))


def find_tree(sample: Sample, blocks: Blocks, options: Options) -> Tree:
    """Return the tree of one cluster, which is all records."""
    strength = 1.0 if options.smoothing is None else options.smoothing
    n_jobs = options.n_jobs
    table = _joined(sample, blocks)
    edges = learn_forest(table, prune=options.prune, missing=options.missing, n_jobs=n_jobs)
    return make_tree(blocks, sample.filled, edges, strength, n_jobs)


def find_shared_tree(
    sample: Sample, tree: Tree, rng: np.random.Generator, options: Options
) -> Tree:
    """Return one tree for several clusters: that of most information given the cluster.

    Which clusters there will be is not known yet. A few, of the tree of one cluster, will do.
    """
    table, n_jobs = sample.filled, options.n_jobs
    n_clusters = min(_TRIAL_CLUSTERS, table.n_records // _TRIAL_RECORDS)
    if n_clusters < 2:
        return tree
    start = soft_start(tree.layout, table, n_clusters, rng, n_jobs)
    trial = options._replace(max_iter=_TRIAL_PASSES)
    groups = run_em(Source(table, table.schema, n_jobs), [tree], [start], trial).groups
    records = tree.layout.records(table, n_jobs)
    clusters = groups[0].posterior(records, n_jobs)[0].argmax(axis=1)
    blocks = tree.layout.blocks
    edges = learn_forest(
        _joined(sample, blocks), clusters, prune=options.prune, missing=options.missing,
        n_jobs=n_jobs,
    )  # fmt: skip
    return make_tree(blocks, table, edges, tree.prior.strength, n_jobs)


class TreesOfSample:
    """The trees of one cluster and of several, each found when it is asked for."""

    def __init__(
        self, sample: Sample, most_labels: int, rng: np.random.Generator, options: Options
    ) -> None:
        self._sample, self._rng, self._options = sample, rng, options
        self.blocks = find_blocks(sample, most_labels, options.n_jobs)
        self._alone = find_tree(sample, self.blocks, options)
        self._shared: Tree | None = None

    def of(self, n_clusters: int, strength: float) -> Tree:
        """Return the tree for so many clusters, with a prior of this strength."""
        if n_clusters > 1 and self._shared is None:
            self._shared = find_shared_tree(self._sample, self._alone, self._rng, self._options)
        tree = self._alone if n_clusters == 1 or self._shared is None else self._shared
        return tree._replace(prior=tree.prior._replace(strength=strength))


def separate_trees(
    source: Source, fit: Fit, sample: Sample, options: Options, held_out: Observed | None
) -> Fit:
    """Give each cluster a tree of its own: from expected pair counts, in turns with EM.

    A round is a few passes, and ends the search if it raises the score no more.
    """
    best: Fit | None = None
    brief = options._replace(max_iter=_ROUND_PASSES, tol=0.0)
    for _ in range(_ROUNDS):
        trees, start = _trees_of_clusters(fit, sample, options)
        source.forget()
        fit = run_em(source, trees, start, brief, held_out)
        if best is not None and fit.score <= best.score + options.tol * abs(best.score):
            break
        best = fit
    assert best is not None
    source.forget()
    fit = run_em(source, best.trees, best.expected, options, held_out)
    source.forget()
    return fit


def _trees_of_clusters(
    fit: Fit, sample: Sample, options: Options
) -> tuple[list[Tree], list[ExpectedCounts]]:
    """Return the tree of the records of each cluster, by their memberships, and their counts."""
    trees, start = [], []
    table, n_jobs, blocks = sample.filled, options.n_jobs, fit.trees[0].layout.blocks
    given = _joined(sample, blocks)
    for weights in _memberships(fit, table, n_jobs).T:
        rows = np.flatnonzero(weights > _LEAST_PART)
        rows = rows if len(rows) > 1 else np.argsort(-weights, kind="stable")[:2]
        weigh = np.maximum(weights[rows], _LEAST_PART)
        members = given.with_weights(None).take(rows).with_weights(weigh)
        edges = learn_forest(members, prune=options.prune, missing=options.missing, n_jobs=n_jobs)
        tree = make_tree(blocks, table, edges, fit.trees[0].prior.strength, n_jobs)
        trees.append(tree)
        filled = table.with_weights(None).take(rows).with_weights(weigh)
        start.append(count_ids(tree.layout, tree.layout.records(filled, n_jobs), n_jobs))
    return trees, start


def _memberships(fit: Fit, table: Table, n_jobs: int) -> NDArray[np.float64]:
    """Return weight times P(cluster | record), for the clusters of all trees."""
    parts = Observed(table, table.weights).posterior(fit.groups, n_jobs)
    return parts if table.weights is None else parts * table.weights[:, None]


# How many clusters, how much smoothing


def learn_clusters(
    source: Source,
    sample: Sample,
    tree: Tree,
    n_clusters: int,
    rng: np.random.Generator,
    options: Options,
    held_out: Observed | None,
) -> Fit:
    """Return so many clusters of a tree."""
    start = soft_start(tree.layout, sample.filled, n_clusters, rng, options.n_jobs)
    fit = run_em(source, [tree], [start], options, held_out)
    options.report(
        f"{n_clusters} clusters, smoothing {tree.prior.strength:g}: {len(fit.trace)} passes, "
        + (f"evidence {fit.score:.6g}" if held_out is None else f"held out {fit.score:.6g}")
    )
    return fit


def choose_clusters(
    learn: Callable[[int, float], Fit],
    n_clusters: list[int],
    smoothing: float | None,
) -> list[tuple[int, float, Fit]]:
    """Return what was tried, the best first: numbers of clusters, and how much smoothing.

    Clusters are doubled while that helps; strengths are walked through uphill from the middle. One
    cluster is best unless another number is better by more than records held out differ by chance.
    """
    tried: dict[tuple[int, float], Fit] = {}

    def score(n: int, strength: float) -> float:
        if (n, strength) not in tried:
            tried[n, strength] = learn(n, strength)
        return tried[n, strength].score

    def best() -> tuple[int, float]:
        return max(tried, key=lambda key: (tried[key].score, -key[0]))

    def double(first: int, strength: float) -> None:
        worse = 0
        for n in [n for n in n_clusters if n >= first]:
            before = max((fit.score for fit in tried.values()), default=-np.inf)
            worse = 0 if score(n, strength) > before else worse + 1
            fit = tried[n, strength]
            hopeless = n >= _MANY and fit.records is not None and tried[best()].beats(fit, _SURE)
            if worse > _WORSE or hopeless:
                break

    def walk(n: int, strength: float) -> None:
        for step in (1, -1):
            at = STRENGTHS.index(strength) + step
            while 0 <= at < len(STRENGTHS) and score(n, STRENGTHS[at]) >= score(*best()):
                at += step

    if smoothing is not None:
        double(1, smoothing)
    else:
        double(1, 1.0)
        for _ in range(_WALKS):  # what is best for few clusters is mostly not for many
            before = best()
            walk(*before)
            if best()[1] == before[1]:
                break
            double(*best())
    return _ordered(tried)


def choose_near(
    learn: Callable[[int, float], Fit],
    n_clusters: list[int],
    smoothing: float | None,
    start: tuple[int, float],
    rival: Fit,
) -> list[tuple[int, float, Fit]]:
    """Return what was tried, the best first: one cluster, and uphill from where others are best.

    What is worse than the rival beyond doubt, after a step uphill too, is not followed further.
    """
    tried = {key: learn(*key) for key in ((1, start[1]), start) if key[0] in n_clusters}
    at, steps = start, 0
    while steps < 1 or not rival.beats(tried[at], _SURE):
        n, strength = at
        others = [(n // 2, strength)] if n > 2 else []
        if smoothing is None:
            place = STRENGTHS.index(strength)
            beside = STRENGTHS[max(place - 1, 0) : place] + STRENGTHS[place + 1 : place + 2]
            others += [(n, other) for other in beside]
        others.append((2 * n, strength))
        for key in others:
            if key[0] not in n_clusters or key in tried:
                continue
            if key[0] > n and rival.beats(tried[at], _SURE):
                continue  # it would be the dearest
            tried[key] = learn(*key)
            if tried[key].score > tried[at].score:
                at, steps = key, steps + 1
                break
        else:
            break
    return _ordered(tried)


def _ordered(tried: dict[tuple[int, float], Fit]) -> list[tuple[int, float, Fit]]:
    """Return what was tried, the best first; one cluster before what is hardly better."""
    order = sorted(tried, key=lambda key: (-tried[key].score, key[0]))
    first = order[0]
    for key in [key for key in order if key[0] == 1]:
        if first[0] > 1 and not tried[first].beats(tried[key]):
            first = key
    order.sort(key=lambda key: key != first)
    return [(n, strength, tried[n, strength]) for n, strength in order]
