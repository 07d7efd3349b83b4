"""Where labels of points go: near them, apart from each other, and where little else is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["Label", "place_labels"]

Bounds = tuple[float, float, float, float]
_CELL = 4.0  # pixels of the grid in which points are counted
_AWAY = (9.0, 18.0, 32.0, 52.0, 80.0, 115.0, 160.0)  # how far from its point a label may be
_DIRECTIONS = 16
_PAD = 3.0  # around a label


class Label(NamedTuple):
    """A label that found a place: of which point, and its box from left to right and top down."""

    point: int
    left: float
    top: float
    right: float
    bottom: float

    def nearest(self, x: float, y: float) -> tuple[float, float]:
        """Return the place on the box that is nearest to a point, where a line to it begins."""
        return min(max(x, self.left), self.right), min(max(y, self.top), self.bottom)


def place_labels(
    points: NDArray[np.float64],
    wanted: Sequence[tuple[int, float, float]],
    bounds: Bounds,
    most: int,
) -> list[Label]:
    """Return labels that overlap neither each other nor labelled points, the most wanted first.

    `points` are pixels, and `bounds` where labels may be, from left to right and top down;
    `wanted` are points with the width and the height of their labels. Points near one with a label get none, nor do those without room.
    """
    covered = _covered(points, bounds)
    placed: list[Label] = []
    marked: list[NDArray[np.float64]] = []
    for point, width, height in wanted:
        if len(placed) == most:
            break
        at = points[point]
        if any(np.hypot(*(at - other)) < 16 for other in marked):
            continue
        best, least = None, np.inf
        for away in _AWAY:
            for box in _around(point, at, width, height, away):
                if not _free(box, at, placed, marked, bounds):
                    continue
                cost = covered(box) + 0.25 * away
                if cost < least:
                    best, least = box, cost
        if best is not None:
            placed.append(best)
            marked.append(at)
    return placed


def _around(
    point: int, at: NDArray[np.float64], width: float, height: float, away: float
) -> list[Label]:
    """Return boxes around a point, to the right of it first."""
    boxes = []
    for k in range(_DIRECTIONS):
        turn = 2 * np.pi / _DIRECTIONS * ((k + 1) // 2) * (-1) ** k
        dx, dy = np.cos(turn), np.sin(turn)
        # The corner or side of the box that faces the point is `away` from it.
        x = at[0] + away * dx + width / 2 * (np.sign(round(dx, 6)) * min(1.0, 1.5 * abs(dx)))
        y = at[1] + away * dy + height / 2 * (np.sign(round(dy, 6)) * min(1.0, 1.5 * abs(dy)))
        left, top = float(x) - width / 2, float(y) - height / 2
        boxes.append(Label(point, left, top, left + width, top + height))
    return boxes


def _free(
    box: Label,
    at: NDArray[np.float64],
    placed: list[Label],
    marked: list[NDArray[np.float64]],
    bounds: Bounds,
) -> bool:
    left, top, right, bottom = bounds
    if box.left < left or box.top < top or box.right > right or box.bottom > bottom:
        return False
    if any(
        box.left < other.right + _PAD and other.left < box.right + _PAD
        and box.top < other.bottom + _PAD and other.top < box.bottom + _PAD
        for other in placed
    ):  # fmt: skip
        return False
    if any(_inside(box, x, y, 6) for x, y in [*marked, at]):
        return False
    # Neither does its line cross another label, nor do theirs cross it.
    near = np.array(box.nearest(*at))
    way = [near + t * (at - near) for t in np.linspace(0, 1, 9)]
    return not any(_inside(other, x, y, 1) for other in placed for x, y in way)


def _inside(box: Label, x: float, y: float, pad: float) -> bool:
    return box.left - pad < x < box.right + pad and box.top - pad < y < box.bottom + pad


def _covered(points: NDArray[np.float64], bounds: Bounds) -> Callable[[Label], float]:
    """Return a function that counts, up to a few in a cell, the points under a box."""
    shape = [int(x // _CELL) + 2 for x in bounds[2:]]
    counts = np.zeros(shape)
    cells = np.clip((points // _CELL).astype(np.int64), 0, np.array(shape) - 2)
    np.add.at(counts, (cells[:, 0], cells[:, 1]), 1.0)
    sums = np.zeros((shape[0] + 1, shape[1] + 1))
    sums[1:, 1:] = np.minimum(counts, 3).cumsum(axis=0).cumsum(axis=1)

    def covered(box: Label) -> float:
        left, top = (max(int(x // _CELL), 0) for x in (box.left, box.top))
        right, bottom = int(box.right // _CELL) + 1, int(box.bottom // _CELL) + 1
        return float(sums[right, bottom] - sums[left, bottom] - sums[right, top] + sums[left, top])

    return covered
