"""Lloyd's iterations: assign records to centres, move centres, until nothing changes."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from tacit.mixture.points import Bounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tacit.mixture.points import Points

    Floats: TypeAlias = NDArray[np.float64]
    Labels: TypeAlias = NDArray[np.int32]

__all__ = ["ALGORITHMS", "Clustering", "Iteration", "Lloyd"]

ALGORITHMS = ("auto", "lloyd", "bounds")

_log = logging.getLogger(__name__)
_FEW = 0.25  # up to this share of changed labels, sums are brought up to date instead of made anew
_MOST_UPDATES = 20  # after so many, sums of real numbers are made anew: rounding errors add up
_WORTH_IT = 0.2  # bounds pay if they let pass so many records
_WAIT = 4  # iterations until they are tried again


class Clustering(NamedTuple):
    """What iterations end with."""

    labels: Labels
    centres: Floats
    totals: Floats
    inertia: float
    n_iter: int
    scanned: tuple[int, ...]


class Iteration(NamedTuple):
    """What there is to say of one iteration."""

    number: int
    changed: int
    scanned: int
    shift: float


class Lloyd:
    """Run Lloyd's algorithm from given centres.

    Parameters
    ----------
    points : Points
    max_iter : int
    tol : float
        Stop when the squared moves of all centres add up to no more than this.
    algorithm : {"auto", "lloyd", "bounds"}
    n_jobs : int
    report : callable, optional
        Called with each iteration.
    """

    def __init__(
        self,
        points: Points,
        max_iter: int,
        tol: float,
        algorithm: str,
        n_jobs: int,
        report: Callable[[Iteration], None] | None = None,
    ) -> None:
        self.points = points
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.report = report
        self._pruning = _Pruning(algorithm)

    def run(self, centres: Floats) -> Clustering:
        """Iterate until no label changes, centres hardly move, or `max_iter` is reached."""
        points, m = self.points, self.points.n_records
        labels, previous = np.empty(m, np.int32), np.empty(m, np.int32)
        sums = _Sums(points, len(centres), self.n_jobs)
        scanned: list[int] = []
        settled = False
        for number in range(1, self.max_iter + 1):
            labels, previous = previous, labels
            old = previous if number > 1 else None
            changed = self._assign(centres, labels, old, scanned)
            settled = old is not None and changed == 0
            if settled:
                self._say(number, changed, scanned[-1], 0.0)
                break
            sums.update(labels, old, changed)
            moved = self._move(centres, labels, sums)
            shift = float(np.square(moved - centres).sum())
            self._pruning.note(points, centres, moved)
            centres = moved
            self._say(number, changed, scanned[-1], shift)
            if shift <= self.tol:
                break
        if not settled:  # centres have moved since
            points.assign(centres, labels, self.n_jobs)
        return self._finish(labels, centres, number, scanned)

    def _assign(
        self, centres: Floats, labels: Labels, previous: Labels | None, scanned: list[int]
    ) -> int:
        bounds = self._pruning.begin(self.points.n_records, len(centres))
        prune = self._pruning.ready and previous is not None
        changed, n = self.points.assign(centres, labels, self.n_jobs, previous, bounds, prune)
        self._pruning.end(n, self.points.n_records)
        scanned.append(n)
        return changed

    def _move(self, centres: Floats, labels: Labels, sums: _Sums) -> Floats:
        """Return the means of clusters; those without members get the records farthest off."""
        totals = sums.totals
        if not (totals > 0).all():
            return self._relocate(centres, labels, sums)
        return self.points.means(sums.sums, totals)

    def _relocate(self, centres: Floats, labels: Labels, sums: _Sums) -> Floats:
        """Give each empty cluster a record of its own, as scikit-learn does."""
        points, own, totals = self.points, sums.sums.copy(), sums.totals.copy()
        distances = points.own_distances(centres, labels, self.n_jobs)
        if points.weights is not None:
            distances[points.weights == 0] = 0.0
        empty = np.flatnonzero(totals <= 0)
        farthest = np.argsort(-distances, kind="stable")[: len(empty)]
        farthest = farthest[distances[farthest] > 0]
        _log.info(
            "%d of %d clusters have no members; %d get the record farthest from its centre",
            len(empty), len(totals), len(farthest),
        )  # fmt: skip
        for k, r in zip(empty.tolist(), farthest.tolist(), strict=False):
            begin, end = points.indptr[r], points.indptr[r + 1]
            ids, weight = points.values[begin:end], 1.0
            if points.weights is not None:
                weight = float(points.weights[r])
            part = weight if points.x is None else weight * points.x[begin:end].astype(np.float64)
            own[labels[r], ids] -= part
            totals[labels[r]] -= weight
            own[k], totals[k] = 0.0, weight
            own[k, ids] = part
        # Where records are too few, what is left over joins the largest cluster. Of a cluster that
        # has given away all its records, rounding errors may be left.
        lost = totals <= 1e-12 * sums.totals
        own[lost], totals[lost] = own[np.argmax(totals)], totals.max()
        return points.means(own, totals)

    def _finish(
        self, labels: Labels, centres: Floats, n_iter: int, scanned: list[int]
    ) -> Clustering:
        points = self.points
        inertia = points.weigh(points.own_distances(centres, labels, self.n_jobs)).sum()
        totals = np.bincount(labels, points.weights, len(centres)).astype(np.float64)
        return Clustering(labels, centres, totals, float(inertia), n_iter, tuple(scanned))

    def _say(self, number: int, changed: int, scanned: int, shift: float) -> None:
        if self.report is not None:
            self.report(Iteration(number, changed, scanned, shift))


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
        stale = not self.points.exact and self._n_updates >= _MOST_UPDATES
        if previous is None or many or stale:
            self._renew(labels)
            return
        self.points.add_up(labels, previous, self.sums, self.totals, self.n_jobs)
        self._n_updates += 1
        # Of a cluster that has lost nearly all its members, rounding errors may be what is left.
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
        """Look at what a pass has saved."""
        tried, self.ready = self.ready, self._wait == 0 and self._bounds is not None
        self._wait = max(0, self._wait - 1)
        if self.algorithm == "auto" and tried and scanned > (1 - _WORTH_IT) * n_records:
            self.ready, self._wait = False, _WAIT

    def note(self, points: Points, old: Floats, new: Floats) -> None:
        """Take in where centres have moved."""
        if self._bounds is None or not self.ready:
            return
        drift = np.sqrt(np.square(new - old).sum(axis=1)) * (1 + 1e-9)
        self._bounds.note(drift, _half_gaps(points, new))


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
