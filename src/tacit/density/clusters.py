"""Clusters that share a dependency tree: their tables, from counts and for records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammaln

from tacit import _core
from tacit.density.layout import LEAST_PROBABILITY, TreeLayout
from tacit.mixture.em.expected import ExpectedCounts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.density.layout import TreeRecords

__all__ = [
    "Prior",
    "Tree",
    "TreeClusters",
    "cell_counts",
    "column_counts",
    "count_ids",
    "evidence",
    "expect",
    "maximise",
    "prior_of",
]

_CLUSTER = 1.0  # pseudo-records of each cluster


class Prior(NamedTuple):
    """Pseudo-records: so many in each row of each cluster's tables, spread as in all records."""

    strength: float
    mean: NDArray[np.float64]  # of each cell
    of_clusters: NDArray[np.float64] | None = None  # and of each cluster, of those that were split

    @property
    def means(self) -> NDArray[np.float64]:
        """Where tables are drawn to, cells × clusters, or × 1 where that is the same for all."""
        return self.mean[:, None] if self.of_clusters is None else self.of_clusters


class Tree(NamedTuple):
    """A tree, and the prior of its clusters' tables."""

    layout: TreeLayout
    prior: Prior


@dataclass(frozen=True, eq=False)
class TreeClusters:
    """Clusters of records, each a dependency tree of the same edges."""

    layout: TreeLayout
    weights: NDArray[np.float64]  # (n_clusters,): P(cluster)
    cells: NDArray[np.float64]  # (n_cells, n_clusters): P(label | label of the parent, cluster)
    log_prior: float = 0.0  # up to a constant
    power: float = 1.0  # of P(cluster, record): below 1, records belong to clusters less surely

    @property
    def n_clusters(self) -> int:
        """How many clusters there are."""
        return len(self.weights)

    @cached_property
    def log_cells(self) -> NDArray[np.float64]:
        """The logarithms of all cells."""
        logs: NDArray[np.float64] = np.log(self.cells)
        return logs

    @cached_property
    def factors(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What ids and columns multiply by, as a mixture of independent columns has it.

        The first are those of ids, times the probability of the default where they are values.
        """
        layout, schema = self.layout, self.layout.schema
        stored = np.exp(layout.design[1:] @ self.log_cells)
        defaults = np.ones((len(layout.offsets) - 1, self.n_clusters))
        defaults[: len(schema)] = self.cells[layout.default_cells]
        stored[: schema.n_values] *= defaults[schema.value_columns]
        if self.power == 1:
            return stored, defaults
        return stored**self.power, defaults**self.power

    def tempered(self, power: float) -> TreeClusters:
        """Return clusters whose P(cluster, record) counts to this power, in what they expect.

        It is the inverse temperature of deterministic annealing (Ueda and Nakano).
        """
        return self if power == 1 else replace(self, power=power)

    def ordered(self, order: NDArray[np.int64], scale: float = 1.0) -> TreeClusters:
        """Return some of the clusters, in an order, with weights times `scale`."""
        cells = np.ascontiguousarray(self.cells[:, order])
        return TreeClusters(self.layout, scale * self.weights[order], cells, self.log_prior)

    def posterior(
        self, records: TreeRecords, n_jobs: int, *, responsibilities: bool = True
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return P(cluster | record), if asked for, and log P(record)."""
        given = _core.Records(records.indptr, records.values, self.layout.n_ids)
        parts, logs = _core.em_posterior(
            given, self.layout.offsets, self.weights**self.power, *self.factors,
            responsibilities, n_jobs,
        )  # fmt: skip
        return parts, logs if records.within is None else logs + self.power * records.within


def expect(clusters: TreeClusters, records: TreeRecords, n_jobs: int = 1) -> ExpectedCounts:
    """Return the expected counts of all ids (the E-step): one pass over stored values."""
    given = _core.Records(
        records.indptr, records.values, clusters.layout.n_ids, None, records.weights
    )
    totals, stored, log_likelihood = _core.em_step(
        given, clusters.layout.offsets, clusters.weights**clusters.power, *clusters.factors,
        False, n_jobs,
    )  # fmt: skip
    if records.within is not None:
        each = records.within if records.weights is None else records.within * records.weights
        log_likelihood += clusters.power * float(each.sum())
    return ExpectedCounts(totals, stored, log_likelihood, records.weight)


def cell_counts(layout: TreeLayout, expected: ExpectedCounts) -> NDArray[np.float64]:
    """Return the expected counts of all cells: those of defaults follow by subtraction."""
    ids = np.vstack([expected.totals[None], expected.stored])
    counts: NDArray[np.float64] = np.maximum(layout.counting @ ids, 0.0)
    return counts


def column_counts(layout: TreeLayout, expected: ExpectedCounts) -> NDArray[np.float64]:
    """Return the expected counts of the stored values of columns, whatever blocks they are in."""
    blocks, schema = layout.blocks, layout.schema
    values = replace(expected, stored=expected.stored[: schema.n_values])
    if blocks.are_single:
        return values.stored
    cells = values.cells(schema)
    parts = []
    for column in range(len(blocks.outer)):
        block = int(blocks.block_of[column])
        folded = blocks.fold(column, cells[schema.cells[block] : schema.cells[block + 1]])
        parts.append(folded[blocks.outer.codes_of(column)])
    return np.vstack(parts)


def maximise(trees: list[Tree], expected: list[ExpectedCounts]) -> list[TreeClusters]:
    """Return the most probable tables for expected counts of each tree's clusters (the M-step)."""
    total = sum(float(counts.totals.sum() + _CLUSTER * counts.n_clusters) for counts in expected)
    groups = []
    for (layout, prior), found in zip(trees, expected, strict=True):
        counts = cell_counts(layout, found) + prior.strength * prior.means
        sums = layout.row_sums(counts)
        # A row of which nothing is known is that of the prior.
        cells = np.where(sums > 0, counts / np.where(sums > 0, sums, 1.0), prior.means)
        cells = np.maximum(cells, LEAST_PROBABILITY)
        cells /= layout.row_sums(cells)
        weights = (found.totals + _CLUSTER) / total
        log_prior = prior.strength * float((prior.means * np.log(cells)).sum())
        log_prior += _CLUSTER * float(np.log(weights).sum())
        groups.append(TreeClusters(layout, weights, cells, log_prior))
    return groups


def evidence(
    trees: list[Tree], groups: list[TreeClusters], expected: list[ExpectedCounts]
) -> float:
    """Return the approximate log marginal likelihood of records, in nats (Cheeseman and Stutz).

    It is the log-likelihood, and by how much the marginal likelihood of the completed records
    (each divided among clusters) differs from their likelihood. Clusters have no order: each of
    K! is the same mixture.
    """
    score = expected[0].log_likelihood
    totals = np.concatenate([counts.totals for counts in expected])
    n_clusters = len(totals)
    score += _marginal(totals, np.full(n_clusters, _CLUSTER)) + gammaln(n_clusters + 1)
    for (layout, prior), group, found in zip(trees, groups, expected, strict=True):
        counts = cell_counts(layout, found)
        score -= float((counts * group.log_cells).sum() + found.totals @ np.log(group.weights))
        alpha = max(prior.strength, 1e-3) * prior.mean[:, None]
        row = np.add.reduceat(counts, layout.row_starts, axis=0)
        alphas = np.add.reduceat(alpha, layout.row_starts, axis=0)
        score += float((gammaln(alphas) - gammaln(alphas + row)).sum())
        score += float((gammaln(alpha + counts) - gammaln(alpha)).sum())
    return float(score)


def _marginal(counts: NDArray[np.float64], alpha: NDArray[np.float64]) -> float:
    """Return the log marginal likelihood of counts under a Dirichlet distribution."""
    both = gammaln(alpha + counts).sum() - gammaln(alpha).sum()
    return float(both + gammaln(alpha.sum()) - gammaln((alpha + counts).sum()))


def prior_of(layout: TreeLayout, expected: ExpectedCounts, strength: float) -> Prior:
    """Return the prior whose means are the fractions of all records, which is one cluster.

    A label that no record has is not impossible: one record is spread evenly over the labels of a
    column, and one over each row of a table as the column's labels are.
    """
    schema = layout.schema
    values = replace(expected, stored=expected.stored[: schema.n_values])
    singles = values.cells(schema)[:, 0]
    fractions = singles + np.repeat(1 / schema.arities, schema.arities)
    fractions /= np.repeat(np.add.reduceat(fractions, schema.cells[:-1]), schema.arities)
    counts = cell_counts(layout, expected)[:, 0]
    counts += fractions[schema.cells[layout.cell_column] + layout.cell_codes[1]]
    mean = counts / layout.row_sums(counts)
    return Prior(strength, np.maximum(mean, LEAST_PROBABILITY))


def count_ids(layout: TreeLayout, records: TreeRecords, n_jobs: int = 1) -> ExpectedCounts:
    """Return the counts of all ids: what one cluster of all records expects."""
    given = _core.Records(records.indptr, records.values, layout.n_ids, None, records.weights)
    stored = np.asarray(_core.one_way(given, n_jobs), np.float64)[:, None]
    weight = records.weight
    return ExpectedCounts(np.array([weight]), stored, 0.0, weight)
