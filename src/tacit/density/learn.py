"""EM for clusters of trees: where it starts, when it ends, and how many clusters there are."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy import sparse

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
    "distances",
    "indicators",
    "learn_clusters",
    "separate_trees",
]

# A tree is found given a few clusters of records, each large enough to say something.
_TRIAL_CLUSTERS, _TRIAL_RECORDS, _TRIAL_PASSES = 10, 100, 15
STRENGTHS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)  # that "auto" chooses from
_WORSE = 2  # times that doubling clusters may not help
_WALKS = 3  # of strengths, in turns with doubling clusters
_ROUNDS, _ROUND_PASSES = 20, 2  # of trees for each cluster, and of EM between them
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


# Starts


def soft_start(layout: TreeLayout, table: Table, n_clusters: int, rng: np.random.Generator,
               n_jobs: int = 1) -> ExpectedCounts:  # fmt: skip
    """Return expected counts of records that belong to seeds, the more the nearer these are.

    Seeds are records drawn at random. Distances are numbers of columns that differ; a record is e
    times less part of a seed for each standard deviation of the distances between seeds.
    """
    chance = None if table.weights is None else table.weights / table.weights.sum()
    most = table.n_records if chance is None else int(np.count_nonzero(chance))
    seeds = rng.choice(table.n_records, min(n_clusters, most), replace=False, p=chance)
    held = values, columns = indicators(table)
    near = distances(held, (values[seeds], columns[seeds]))
    between = near[seeds][~np.eye(len(seeds), dtype=bool)]
    spread = max(float(between.std()), 1.0) if len(between) else 1.0
    parts = np.exp(-(near - near.min(axis=1, keepdims=True)) / spread)
    parts /= parts.sum(axis=1, keepdims=True)
    if table.weights is not None:
        parts *= table.weights[:, None]
    records = layout.records(table, n_jobs)
    shape = (table.n_records, layout.n_ids)
    ones = np.ones(len(records.values))
    matrix = sparse.csr_array((ones, records.values.astype(np.int64), records.indptr), shape)
    stored = np.ascontiguousarray(matrix.T @ parts)
    return ExpectedCounts(parts.sum(axis=0), stored, 0.0, float(parts.sum()))


def indicators(table: Table) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return which values, and which columns, records store."""
    ones, schema = np.ones(len(table.values)), table.schema
    values = table.values.astype(np.int64)
    columns = schema.value_columns[values]
    n = table.n_records
    return (
        sparse.csr_array((ones, values, table.indptr), (n, schema.n_values)),
        sparse.csr_array((ones, columns, table.indptr), (n, len(schema))),
    )


def distances(
    records: tuple[sparse.csr_array, sparse.csr_array],
    seeds: tuple[sparse.csr_array, sparse.csr_array],
) -> NDArray[np.float64]:
    """Return in how many columns records differ from seeds; both are what `indicators` returns.

    These are the columns that either of them stores, less those that both store, less those in
    which both store the same.
    """
    lengths, of_seeds = (np.diff(some[0].indptr).astype(np.float64) for some in (records, seeds))
    same = records[0] @ seeds[0].T.toarray() + records[1] @ seeds[1].T.toarray()
    found: NDArray[np.float64] = lengths[:, None] + of_seeds - same
    return found


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

    Of records held out, the best pass counts; the last passes did nothing for them.
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
        if done or waited >= options.n_iter_no_change:
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
        self._alone = find_tree(sample, find_blocks(sample, most_labels, options.n_jobs), options)
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
            if worse > _WORSE:
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
    order = sorted(tried, key=lambda key: (-tried[key].score, key[0]))
    first = order[0]
    for key in [key for key in order if key[0] == 1]:
        if first[0] > 1 and not _is_better(tried[first], tried[key]):
            first = key
    order.sort(key=lambda key: key != first)
    return [(n, strength, tried[n, strength]) for n, strength in order]


def _is_better(one: Fit, other: Fit) -> bool:
    """Say whether records held out differ by more than two standard errors of their mean."""
    if one.records is None or other.records is None:
        return True
    gains = one.records - other.records
    return bool(gains.mean() > 2 * gains.std() / np.sqrt(len(gains)))
