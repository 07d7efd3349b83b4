"""Lloyd's iterations: assign records to centres, move centres, until nothing changes."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from tacit.mixture.kmeans.points import Bounds
from tacit.mixture.lockstep import run_in_lockstep

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from numpy.typing import NDArray

    from tacit.mixture.kmeans.points import Points

    Floats: TypeAlias = NDArray[np.float64]
    Labels: TypeAlias = NDArray[np.int32]

__all__ = [
    "ALGORITHMS",
    "Clustering",
    "FarRecord",
    "Iteration",
    "Lloyd",
    "Members",
    "Request",
    "find_far",
    "lloyd_steps",
]

ALGORITHMS = ("auto", "lloyd", "bounds")

_log = logging.getLogger(__name__)
_FEW = 0.25  # up to this fraction of changed labels, sums are updated instead of made anew
_MAX_UPDATES = 20  # after so many, sums of real numbers are made anew: rounding errors add up
_MIN_PRUNED = 0.2  # fraction of records that bounds have to prune, or they are dropped
_WAIT = 4  # iterations until they are tried again


class Clustering(NamedTuple):
    """The result of a run."""

    labels: Labels | None  # None where they are not kept
    centres: Floats  # (n_clusters, width)
    totals: Floats  # (n_clusters,): the weights of clusters
    n_occupied: int  # how many clusters have records
    inertia: float
    n_iter: int
    # How many records were compared with all centres, in each iteration that says so
    scanned: tuple[int, ...] = ()


class Iteration(NamedTuple):
    """What is reported of one iteration."""

    number: int
    changed: int
    scanned: int
    shift: float


# The algorithm asks for members of centres; who finds them, and where records are, is not its
# concern


class Request(NamedTuple):
    """Centres whose members are wanted."""

    centres: Floats  # (n_clusters, width)
    # Not the members, but so many records: those farthest off the same centres as before
    n_far: int = 0


class FarRecord(NamedTuple):
    """A record far off its centre."""

    distance: float  # squared
    label: int  # the centre's number
    ids: NDArray[Any]  # of its stored values
    amounts: NDArray[np.float64] | float  # what it adds to the sums of these
    weight: float


class Members(NamedTuple):
    """Who is nearest to each of some centres."""

    sums: Floats  # (n_clusters, n_values): of their stored values
    totals: Floats  # (n_clusters,): their weights
    # That of the iteration before, if no record has changed its cluster since, else another number
    mark: int
    # The farthest first, and of those as far the earlier one. None is where its centre is
    far: list[FarRecord]
    # (n_clusters,): how many they are, where labels are not kept, from which this follows
    sizes: NDArray[np.int64] | None = None


class Ended(NamedTuple):
    """The last state of the iterations."""

    centres: Floats  # (n_clusters, width)
    n_iter: int
    # Whether no record would change its cluster: the members are those of these centres
    settled: bool
    members: Members  # of the last pass


def lloyd_steps(
    means: Callable[[Floats, Floats], Floats],
    centres: Floats,
    max_iter: int,
    tol: float,
    report: Callable[[int, float], None],
) -> Generator[Request, Members, Ended]:
    """Yield centres, to be sent their members, until no label changes or centres hardly move.

    `means` returns centres from the sums of stored values and the weights of clusters. It is over
    when the squared moves of all centres add up to no more than `tol`; `report` is called with the
    number of each iteration, and by how much centres moved in it.
    """
    mark: int | None = None
    for number in range(1, max_iter + 1):
        members = yield Request(centres)
        if members.mark == mark:
            report(number, 0.0)
            return Ended(centres, number, True, members)
        mark = members.mark
        sums, totals = members.sums, members.totals
        n_empty = int(np.count_nonzero(totals <= 0))
        if n_empty:
            far = (yield Request(centres, n_empty)).far
            sums, totals = relocate(sums, totals, far)
        moved = means(sums, totals)
        shift = float(np.square(moved - centres).sum())
        centres = moved
        report(number, shift)
        if shift <= tol:
            break
    return Ended(centres, number, False, members)


def relocate(sums: Floats, totals: Floats, far: list[FarRecord]) -> tuple[Floats, Floats]:
    """Move one of the farthest records to each empty cluster, as scikit-learn does."""
    before, sums, totals = totals, sums.copy(), totals.copy()
    empty = np.flatnonzero(totals <= 0)
    _log.info(
        "%d of %d clusters have no members; %d get the record farthest from its centre",
        len(empty), len(totals), len(far),
    )  # fmt: skip
    for k, record in zip(empty.tolist(), far, strict=False):
        sums[record.label, record.ids] -= record.amounts
        totals[record.label] -= record.weight
        sums[k], totals[k] = 0.0, record.weight
        sums[k, record.ids] = record.amounts
    # Where records are too few, what is left over joins the largest cluster. Of a cluster that has
    # given away all its records, rounding errors may be left.
    emptied = totals <= 1e-12 * before
    sums[emptied], totals[emptied] = sums[np.argmax(totals)], totals.max()
    return sums, totals


def find_far(
    points: Points, centres: Floats, labels: Labels, n: int, n_jobs: int
) -> list[FarRecord]:
    """Return the records farthest off their centres, at most so many; those of weight 0 are not."""
    distances = points.member_distances(centres, labels, n_jobs)
    if points.weights is not None:
        distances[points.weights == 0] = 0.0
    far = []
    for r in np.argsort(-distances, kind="stable")[:n].tolist():
        if distances[r] == 0:
            break
        values = slice(points.indptr[r], points.indptr[r + 1])
        weight = 1.0 if points.weights is None else float(points.weights[r])
        amounts = weight if points.x is None else weight * points.x[values].astype(np.float64)
        ids = points.values[values].astype(np.int64)
        far.append(FarRecord(float(distances[r]), int(labels[r]), ids, amounts, weight))
    return far


@dataclass(frozen=True)
class Lloyd:
    """Run Lloyd's algorithm on records in memory, as :func:`lloyd_steps` has it."""

    points: Points
    max_iter: int
    tol: float
    algorithm: str  # one of ALGORITHMS
    n_jobs: int
    report: Callable[[Iteration], None] | None = None  # called with each iteration

    def run(self, centres: Floats) -> Clustering:
        """Iterate until no label changes, centres hardly move, or `max_iter` is reached."""
        state = _Labels(self.points, len(centres), self.algorithm, self.n_jobs)

        def report(number: int, shift: float) -> None:
            if self.report is not None:
                self.report(Iteration(number, state.changed, state.scanned[-1], shift))

        steps = lloyd_steps(self.points.means, centres, self.max_iter, self.tol, report)
        (ended,) = run_in_lockstep([steps], lambda requests: [state.answer(r) for r in requests])
        if not ended.settled:  # centres have moved since
            self.points.assign(ended.centres, state.labels, self.n_jobs)
        return self._finish(ended, state)

    def _finish(self, ended: Ended, state: _Labels) -> Clustering:
        points, labels, k = self.points, state.labels, len(ended.centres)
        distances = points.member_distances(ended.centres, labels, self.n_jobs)
        return Clustering(
            labels,
            ended.centres,
            np.bincount(labels, points.weights, k).astype(np.float64),
            int(np.count_nonzero(np.bincount(labels, minlength=k))),
            float(points.weigh(distances).sum()),
            ended.n_iter,
            tuple(state.scanned),
        )


class _Labels:
    """The label of each record, and what speeds up finding that of the next iteration."""

    def __init__(self, points: Points, n_clusters: int, algorithm: str, n_jobs: int) -> None:
        self.labels = np.empty(points.n_records, np.int32)
        self.changed = 0
        self.scanned: list[int] = []
        self._points = points
        self._n_jobs = n_jobs
        self._previous = np.empty(points.n_records, np.int32)
        self._centres: Floats | None = None
        self._mark = 0
        self._sums = _Sums(points, n_clusters, n_jobs)
        self._pruning = _Pruning(algorithm)

    def answer(self, request: Request) -> Members:
        """Find the members of centres, or records far off."""
        sums = self._sums
        if request.n_far:
            far = find_far(self._points, request.centres, self.labels, request.n_far, self._n_jobs)
            return Members(sums.sums, sums.totals, self._mark, far)
        self.labels, self._previous = self._previous, self.labels
        old = None if self._centres is None else self._previous
        if self._centres is not None:
            self._pruning.move(self._points, self._centres, request.centres)
        self.changed = self._assign(request.centres, old)
        self._centres = request.centres
        if old is None or self.changed:
            self._mark += 1
            sums.update(self.labels, old, self.changed)
        return Members(sums.sums, sums.totals, self._mark, [])

    def _assign(self, centres: Floats, previous: Labels | None) -> int:
        bounds = self._pruning.begin(self._points.n_records, len(centres))
        prune = self._pruning.ready and previous is not None
        changed, n = self._points.assign(
            centres, self.labels, self._n_jobs, previous, bounds, prune
        )
        self._pruning.end(n, self._points.n_records)
        self.scanned.append(n)
        return changed


class _Sums:
    """The sums of clusters' members, made anew or brought up to date, whichever is less work."""

    def __init__(self, points: Points, n_clusters: int, n_jobs: int) -> None:
        self.points = points
        self.n_jobs = n_jobs
        self.sums = np.zeros((n_clusters, points.n_values))
        self.totals = np.zeros(n_clusters)
        self._n_updates = 0

    def update(self, labels: Labels, previous: Labels | None, changed: int) -> None:
        many = changed > _FEW * self.points.n_records
        stale = not self.points.exact and self._n_updates >= _MAX_UPDATES
        if previous is None or many or stale:
            self._renew(labels)
            return
        self.points.add_up(labels, previous, self.sums, self.totals, self.n_jobs)
        self._n_updates += 1
        # Of a cluster that nearly all members have left, rounding errors may remain.
        if not self.points.exact and self.totals.min() < 1e-6 * self.totals.max():
            self._renew(labels)

    def _renew(self, labels: Labels) -> None:
        self.points.add_up(labels, None, self.sums, self.totals, self.n_jobs)
        self._n_updates = 0


class _Pruning:
    """Whether bounds are kept. They never change a label, only what it takes to find it."""

    def __init__(self, algorithm: str) -> None:
        self.algorithm = algorithm
        self.ready = False  # bounds of the last pass are there
        self._bounds: Bounds | None = None
        self._wait = 0 if algorithm == "bounds" else _WAIT

    def begin(self, n_records: int, n_clusters: int) -> Bounds | None:
        """Return the bounds to be kept in this pass, if any."""
        if self.algorithm == "lloyd" or n_clusters == 1 or self._wait > 0:
            return None
        if self._bounds is None:
            self._bounds = Bounds(n_records, n_clusters)
        return self._bounds

    def end(self, scanned: int, n_records: int) -> None:
        """Decide whether bounds are kept in the next pass."""
        tried, self.ready = self.ready, self._wait == 0 and self._bounds is not None
        self._wait = max(0, self._wait - 1)
        if self.algorithm == "auto" and tried and scanned > (1 - _MIN_PRUNED) * n_records:
            self.ready, self._wait = False, _WAIT

    def move(self, points: Points, old: Floats, new: Floats) -> None:
        """Update the bounds after centres have moved."""
        if self._bounds is None or not self.ready:
            return
        drift = np.sqrt(np.square(new - old).sum(axis=1)) * (1 + 1e-9)
        self._bounds.move(drift, _half_gaps(points, new))


def _half_gaps(points: Points, centres: Floats) -> Floats:
    """Return half of each centre's distance to the nearest other one, or 0 where it costs much."""
    if len(centres) * points.width > points.n_stored:
        return np.zeros(len(centres))
    squares = np.square(centres).sum(axis=1)
    products = np.einsum("ik,jk->ij", centres, centres)  # no threads are started for so little
    gaps = squares[:, None] + squares - 2 * products
    gaps -= 1e-9 * (squares[:, None] + squares)
    np.fill_diagonal(gaps, np.inf)
    nearest: Floats = np.sqrt(np.maximum(gaps.min(axis=1), 0.0))
    return 0.5 * nearest
