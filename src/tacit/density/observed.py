"""Records as trees take them: complete ones by stored values, others by codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from tacit.density.clusters import expect
from tacit.density.layout import TreeRecords
from tacit.density.messages import expect_codes, log_joint
from tacit.mixture.em.expected import ExpectedCounts
from tacit.network.inference.records import make_table, read_records, row_blocks
from tacit.table.gateway import value_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.density.clusters import TreeClusters
    from tacit.density.layout import TreeLayout
    from tacit.schema import Schema
    from tacit.table import Table

__all__ = ["Observed", "observe"]


@dataclass(frozen=True, eq=False)
class Observed:
    """Records under the schema of a model.

    What is not known of a record is summed over. That takes messages, and much longer than stored
    values do, so that only the records that need it are held as codes.
    """

    complete: Table | None  # None where something is not known of each
    weights: NDArray[np.float64] | None  # of all records
    rows: NDArray[np.int64] | None = None  # which records are complete; None for all
    codes: NDArray[np.int32] | None = None  # of the others, -1 where the label is not known

    @property
    def n_records(self) -> int:
        """Number of records."""
        return self.n_complete + (0 if self.codes is None else len(self.codes))

    @property
    def n_complete(self) -> int:
        """Number of complete records."""
        return 0 if self.complete is None else self.complete.n_records

    @property
    def others(self) -> NDArray[np.int64]:
        """Which records are not complete."""
        if self.rows is None:
            return np.zeros(0, np.int64)
        return np.delete(np.arange(self.n_records), self.rows)

    def tree_records(self, layout: TreeLayout, n_jobs: int) -> TreeRecords:
        """Return complete records with the ids of a tree."""
        if self.complete is None:
            return TreeRecords(np.zeros(1, np.int64), np.zeros(0, value_type(layout.n_ids)), None)
        return layout.records(self.complete, n_jobs)

    def log_scores(
        self, groups: list[TreeClusters], records: list[TreeRecords] | None, n_jobs: int
    ) -> NDArray[np.float64]:
        """Return the log-probability of each record under a mixture of several trees' clusters."""
        records = records or [self.tree_records(group.layout, n_jobs) for group in groups]
        scores = groups[0].posterior(records[0], n_jobs, responsibilities=False)[1]
        for group, given in zip(groups[1:], records[1:], strict=True):
            scores = np.logaddexp(scores, group.posterior(given, n_jobs, responsibilities=False)[1])
        if self.codes is None:
            return scores
        return self.joined(scores, np.logaddexp.reduce(log_joint(groups, self.codes), axis=0))

    def joined(
        self, complete: NDArray[np.float64], others: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return what is known of complete and of other records, in the order of all."""
        if self.rows is None:
            return complete
        found = np.empty((self.n_records, *complete.shape[1:]))
        found[self.rows], found[self.others] = complete, others
        return found

    def posterior(self, groups: list[TreeClusters], n_jobs: int) -> NDArray[np.float64]:
        """Return P(cluster | record) of all trees' clusters, records × clusters."""
        records = [self.tree_records(group.layout, n_jobs) for group in groups]
        within = [g.posterior(r, n_jobs) for g, r in zip(groups, records, strict=True)]
        total = np.logaddexp.reduce([log for _, log in within], axis=0)
        parts = np.hstack([part * np.exp(log - total)[:, None] for part, log in within])
        if self.codes is None:
            return parts
        joint = log_joint(groups, self.codes)
        others = np.exp(joint - np.logaddexp.reduce(joint, axis=0)).T
        return self.joined(parts, others)

    def expect(
        self, groups: list[TreeClusters], records: list[TreeRecords] | None, n_jobs: int
    ) -> list[ExpectedCounts]:
        """Return the expected counts of clusters of several trees, which are one mixture.

        The log-likelihood is that of the mixture, and is noted with the first.
        """
        records = records or [self.tree_records(group.layout, n_jobs) for group in groups]
        counts = _expect_complete(groups, records, n_jobs)
        if self.codes is None:
            return counts
        weights = np.ones(self.n_records) if self.weights is None else self.weights
        others = expect_codes(groups, self.codes, weights[self.others])
        return [a.add_to(b) for a, b in zip(counts, others, strict=True)]


def _expect_complete(
    groups: list[TreeClusters], records: list[TreeRecords], n_jobs: int
) -> list[ExpectedCounts]:
    if len(groups) == 1:
        return [expect(groups[0], records[0], n_jobs)]
    logs = np.stack(
        [
            group.posterior(given, n_jobs, responsibilities=False)[1]
            for group, given in zip(groups, records, strict=True)
        ]
    )
    total = np.logaddexp.reduce(logs, axis=0)
    weights = records[0].weights
    each = np.ones(len(total)) if weights is None else weights
    counts: list[ExpectedCounts] = []
    for group, given, log in zip(groups, records, logs, strict=True):
        weighted = given._replace(weights=each * np.exp(log - total))
        found = expect(group, weighted, n_jobs)
        log_likelihood = float(each @ total) if not counts else 0.0
        counts.append(ExpectedCounts(found.totals, found.stored, log_likelihood, found.weight))
    return counts


def observe(
    table: Table, schema: Schema, unseen: Literal["error", "default"] = "error"
) -> Observed:
    """Return records under the schema of a model; what is missing there is not known."""
    if table.schema == schema:
        return Observed(table, table.weights)
    held = dict(zip(table.schema.names, table.schema.labels, strict=True))
    lacking = any(
        held[name].missing is not None and labels.missing is None
        for name, labels in zip(schema.names, schema.labels, strict=True)
        if name in held
    )
    if not lacking:
        return Observed(table.conform(schema, unseen=unseen), table.weights)
    records = read_records(schema, table, unseen=unseen)
    others = records.incomplete()
    rows = np.delete(np.arange(table.n_records), others)
    if len(others) == 0:
        rows_codes = records.matrix(rows)
        complete = make_table(schema, row_blocks(rows_codes)).with_weights(table.weights)
        return Observed(complete, table.weights)
    if len(rows) == 0:
        return Observed(None, table.weights, rows, records.matrix(others))
    complete = make_table(schema, row_blocks(records.matrix(rows)))
    if table.weights is not None:
        complete = complete.with_weights(table.weights[rows])
    return Observed(complete, table.weights, rows, records.matrix(others))
