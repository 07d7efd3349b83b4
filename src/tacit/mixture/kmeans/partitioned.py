"""k-means of partitioned tables: an iteration is one pass, shared by all starts.

Labels are not kept, as there is one for each record: a pass finds them, adds up what they say and
forgets them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tacit.mixture.em.starts import sample_size
from tacit.mixture.kmeans.lloyd import (
    Clustering,
    FarRecord,
    Members,
    Request,
    find_far,
    lloyd_steps,
)
from tacit.mixture.kmeans.points import TablePoints, label_fractions, label_inertia, label_spread
from tacit.mixture.lockstep import run_in_lockstep
from tacit.mixture.partitions import SAME_SCHEMA, SchemaAdapter, hash_records, take_by_rank
from tacit.statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from numpy.typing import NDArray

    from tacit.mixture.partitions import Summary
    from tacit.scale import Partition, PartitionedTable
    from tacit.schema import Schema
    from tacit.table import Table

    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["AssignAll", "NearestSum", "cluster_partitions", "mean_variance", "take_sample"]

_SEED = np.uint64(0)
_WRAP = (1 << 64) - 1


@dataclass(frozen=True)
class AssignAll(Statistic["list[Members]"]):
    """The members of centres, for several runs in one pass."""

    requests: list[Request]
    adapter: SchemaAdapter = SAME_SCHEMA

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory, at most."""
        return sum(request.centres.nbytes for request in self.requests)

    def partial(self, partition: Partition) -> list[Members]:
        """Assign the records of a partition."""
        table = self.adapter.read(partition.records)
        points = TablePoints(table, table.weights)
        numbers = hash_records(partition, _SEED)
        return [_members(points, numbers, request, partition.n_jobs) for request in self.requests]

    def merge(self, one: list[Members], other: list[Members]) -> list[Members]:
        """Add up."""
        pairs = zip(one, other, self.requests, strict=True)
        return [_add(a, b, request.n_far) for a, b, request in pairs]


def _members(
    points: TablePoints, numbers: NDArray[np.uint64], request: Request, n_jobs: int
) -> Members:
    """Find the members of centres, or records far off, among some records.

    The mark is the sum of labels times pseudorandom numbers: other labels almost certainly have
    another sum.
    """
    centres, k = request.centres, len(request.centres)
    labels = np.empty(points.n_records, np.int32)
    points.assign(centres, labels, n_jobs)
    if request.n_far:
        far = find_far(points, centres, labels, request.n_far, n_jobs)
        return Members(np.zeros((0, 0)), np.zeros(0), 0, far, np.zeros(0, np.int64))
    sums, totals = np.zeros((k, points.n_values)), np.zeros(k)
    points.add_up(labels, None, sums, totals, n_jobs)
    mark = int(numbers @ labels.astype(np.uint64))
    return Members(sums, totals, mark, [], np.bincount(labels, minlength=k).astype(np.int64))


def _add(one: Members, other: Members, n_far: int) -> Members:
    assert one.sizes is not None
    assert other.sizes is not None
    out = one.sums if one.sums.flags.writeable else None
    return Members(
        np.add(one.sums, other.sums, out=out),
        one.totals + other.totals,
        (one.mark + other.mark) & _WRAP,
        _farthest([*one.far, *other.far], n_far),
        one.sizes + other.sizes,
    )


def _farthest(far: list[FarRecord], n: int) -> list[FarRecord]:
    """Return the farthest; of records as far, the earlier ones."""
    return sorted(far, key=lambda record: -record.distance)[:n]


@dataclass(frozen=True)
class NearestSum(Statistic["float"]):
    """The sum of squared distances to the nearest centres, times weights."""

    centres: Floats
    adapter: SchemaAdapter = SAME_SCHEMA

    n_bytes = 8

    def partial(self, partition: Partition) -> float:
        """Add up those of a partition."""
        table = self.adapter.read(partition.records)
        return TablePoints(table, table.weights).nearest_sum(self.centres, partition.n_jobs)

    def merge(self, one: float, other: float) -> float:
        """Add up."""
        return one + other


def mean_variance(schema: Schema, summary: Summary) -> float:
    """Return the mean variance of a coordinate."""
    sums = np.asarray(summary.stored, np.float64)[None, :]
    return label_spread(schema, sums, np.array([summary.total], np.float64))


def take_sample(
    records: PartitionedTable,
    summary: Summary,
    n_clusters: int,
    random: np.random.RandomState,
    n_jobs: int | None,
) -> Table:
    """Return the records that seeds are drawn from: all, or a sample if there are many."""
    m = records.n_records
    if sample_size(m, n_clusters) == m:
        return records.take(np.arange(m), n_jobs=n_jobs)
    generator = np.random.default_rng(random.randint(0, 2**32, 4, np.uint32))
    size = sample_size(summary.n_positive, n_clusters)
    ranks = generator.choice(summary.n_positive, size, replace=False, shuffle=False)
    return take_by_rank(records, summary, np.sort(ranks), n_jobs)


def cluster_partitions(
    records: PartitionedTable,
    starts: list[Floats],
    max_iter: int,
    tol: float,
    n_jobs: int | None,
    verbose: int,
    report: Callable[[int, int, float], None],
) -> list[Clustering]:
    """Iterate as :func:`lloyd_steps` from several starts, all of them in the same passes.

    `report` is called with the start, the iteration, and by how much centres moved in it.
    """
    schema = records.schema

    def steps(index: int, start: Floats) -> Generator[Request, Members, Clustering]:
        def means(sums: Floats, totals: Floats) -> Floats:
            return label_fractions(schema, sums, totals)

        def report_step(number: int, shift: float) -> None:
            report(index, number, shift)

        ended = yield from lloyd_steps(means, start, max_iter, tol, report_step)
        members = ended.members
        if not ended.settled:  # centres have moved since
            members = yield Request(ended.centres)
        assert members.sizes is not None
        n_occupied = int(np.count_nonzero(members.sizes))
        inertia = label_inertia(schema, ended.centres, members.sums, members.totals)
        return Clustering(None, ended.centres, members.totals, n_occupied, inertia, ended.n_iter)

    def answer(requests: list[Request]) -> list[Members]:
        return records.reduce(
            AssignAll(requests), what="k-means: partitions", n_jobs=n_jobs, verbose=verbose or None
        )

    return run_in_lockstep([steps(k, start) for k, start in enumerate(starts)], answer)
