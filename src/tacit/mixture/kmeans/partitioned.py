"""k-means of partitioned tables: an iteration is one pass, shared by all starts.

Labels are not kept, as there is one for each record: a pass finds them, adds up what they say and
forgets them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tacit.mixture.em.partitioned import OWN, hash_records, take_counting
from tacit.mixture.em.side_by_side import run_together
from tacit.mixture.em.starts import sample_size
from tacit.mixture.kmeans.lloyd import Ask, Clustering, Far, Members, find_far, lloyd_steps
from tacit.mixture.kmeans.points import TablePoints, label_inertia, label_shares, label_spread
from tacit.statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from numpy.typing import NDArray

    from tacit.mixture.em.partitioned import Look, Under
    from tacit.scale import Partition, PartitionedTable
    from tacit.schema import Schema
    from tacit.table import Table

    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["AssignAll", "NearestSum", "cluster_parts", "spread_of", "take_sample"]

_SEED = np.uint64(0)
_WRAP = (1 << 64) - 1


@dataclass(frozen=True)
class AssignAll(Statistic["list[Members]"]):
    """The members of centres, for several runs in one pass."""

    asks: list[Ask]
    under: Under = OWN

    @property
    def n_bytes(self) -> int:
        """What a partial takes in memory, at most."""
        return sum(own.centres.nbytes for own in self.asks)

    def partial(self, part: Partition) -> list[Members]:
        """Find those in a part."""
        table = self.under.read(part)
        points = TablePoints(table, table.weights)
        numbers = hash_records(part, _SEED)
        return [_members(points, numbers, own, part.n_jobs) for own in self.asks]

    def merge(self, one: list[Members], other: list[Members]) -> list[Members]:
        """Add up."""
        pairs = zip(one, other, self.asks, strict=True)
        return [_add(a, b, own.n_far) for a, b, own in pairs]


def _members(points: TablePoints, numbers: NDArray[np.uint64], ask: Ask, n_jobs: int) -> Members:
    """Find the members of centres, or records far off, among some records.

    The mark adds up labels times numbers as good as random: other labels have, as good as
    certainly, another sum.
    """
    centres, k = ask.centres, len(ask.centres)
    labels = np.empty(points.n_records, np.int32)
    points.assign(centres, labels, n_jobs)
    if ask.n_far:
        far = find_far(points, centres, labels, ask.n_far, n_jobs)
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


def _farthest(far: list[Far], n: int) -> list[Far]:
    """Return the farthest; of records as far, the earlier ones."""
    return sorted(far, key=lambda own: -own.distance)[:n]


@dataclass(frozen=True)
class NearestSum(Statistic["float"]):
    """The sum of squared distances to the nearest centres, times weights."""

    centres: Floats
    under: Under = OWN

    n_bytes = 8

    def partial(self, part: Partition) -> float:
        """Add up those of a part."""
        table = self.under.read(part)
        return TablePoints(table, table.weights).nearest_sum(self.centres, part.n_jobs)

    def merge(self, one: float, other: float) -> float:
        """Add up."""
        return one + other


def spread_of(schema: Schema, look: Look) -> float:
    """Return the mean variance of a coordinate."""
    sums = np.asarray(look.stored, np.float64)[None, :]
    return label_spread(schema, sums, np.array([look.total], np.float64))


def take_sample(
    records: PartitionedTable,
    look: Look,
    n_clusters: int,
    random: np.random.RandomState,
    n_jobs: int | None,
) -> Table:
    """Return the records that seeds are drawn from: all, or a sample if there are many."""
    m = records.n_records
    if sample_size(m, n_clusters) == m:
        return records.take(np.arange(m), n_jobs=n_jobs)
    generator = np.random.default_rng(random.randint(0, 2**32, 4, np.uint32))
    size = sample_size(look.n_positive, n_clusters)
    ranks = generator.choice(look.n_positive, size, replace=False, shuffle=False)
    return take_counting(records, look, np.sort(ranks), n_jobs)


def cluster_parts(
    records: PartitionedTable,
    starts: list[Floats],
    max_iter: int,
    tol: float,
    n_jobs: int | None,
    verbose: int,
    report: Callable[[int, int, float], None],
) -> list[Clustering]:
    """Iterate from several starts, all of them in the same passes.

    Parameters
    ----------
    records : PartitionedTable
    starts : list of arrays
        Centres to begin with.
    max_iter, tol
        As of :func:`lloyd_steps`.
    n_jobs : int, optional
        Threads on this machine.
    verbose : int
        1 shows how far each pass has come.
    report : callable
        Told which start and which iteration, and by how much centres moved in it.
    """
    schema = records.schema

    def steps(place: int, start: Floats) -> Generator[Ask, Members, Clustering]:
        def means(sums: Floats, totals: Floats) -> Floats:
            return label_shares(schema, sums, totals)

        def say(number: int, shift: float) -> None:
            report(place, number, shift)

        ended = yield from lloyd_steps(means, start, max_iter, tol, say)
        members = ended.members
        if not ended.settled:  # centres have moved since
            members = yield Ask(ended.centres)
        assert members.sizes is not None
        found = int(np.count_nonzero(members.sizes))
        inertia = label_inertia(schema, ended.centres, members.sums, members.totals)
        return Clustering(None, ended.centres, members.totals, found, inertia, ended.n_iter)

    def answer(asks: list[Ask]) -> list[Members]:
        return records.reduce(
            AssignAll(asks), what="k-means: partitions", n_jobs=n_jobs, verbose=verbose or None
        )

    return run_together([steps(k, own) for k, own in enumerate(starts)], answer)
