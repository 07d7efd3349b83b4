"""Arrows from box to box: where they begin, bend and end, and what their heads look like.

The head says what the predictor does to its target: a triangle raises, a bar lowers (the line is
dashed, too), a diamond does one here and the other there. So nobody has to tell colours apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Arrow", "draw_arrow", "draw_arrows"]

Point = tuple[float, float]
_STEPS = 64  # of a curve, to find where it crosses the borders of boxes
_GAP = 1.5  # between a tip and the box that it points to
_BENT, _STRAIGHT = 0.18, 0.05  # how far arrows bend that have another one the other way, or not


class Arrow(NamedTuple):
    """An arrow: a curve that bends once, and the corners of its head."""

    start: Point
    bend: Point
    end: Point
    head: tuple[Point, ...]
    width: float


def draw_arrows(
    centres: NDArray[np.float64],
    sizes: NDArray[np.float64],
    ends: NDArray[np.int64],
    strengths: NDArray[np.float64],  # from 0 to 1
    signs: NDArray[np.int64],
) -> list[Arrow]:
    """Return an arrow for each arc; two that go both ways bend away from each other."""
    both = {(int(a), int(b)) for a, b in ends}
    arrows = []
    for (a, b), strength, sign in zip(
        ends.tolist(), strengths.tolist(), signs.tolist(), strict=True
    ):
        bend = _BENT if (b, a) in both else _STRAIGHT
        dx, dy = centres[b] - centres[a]
        middle = (centres[a] + centres[b]) / 2 + bend * np.array([-dy, dx])
        curve = _between(np.array([centres[a], middle, centres[b]]), sizes[a] / 2, sizes[b] / 2)
        arrows.append(draw_arrow(curve, 0.8 + 4.0 * strength, 7.0 + 7.0 * strength, sign))
    return arrows


def draw_arrow(curve: NDArray[np.float64], width: float, length: float, sign: int) -> Arrow:
    """Return an arrow along a curve of three points, its head as long as there is room for."""
    start, bend, end = curve
    way = end - bend if np.hypot(*(end - bend)) > 1e-6 else end - start
    ahead = way / max(float(np.hypot(*way)), 1e-9)
    tip = end - _GAP * ahead
    side = np.array([-ahead[1], ahead[0]])
    length = min(length, 0.6 * float(np.hypot(*(tip - start))))
    half = (0.6 if sign < 0 else 0.45) * length + 0.3 * width
    back = tip - length * ahead
    head: tuple[NDArray[np.float64], ...]
    if sign > 0:
        head, end = (tip, back + half * side, back - half * side), back
    elif sign < 0:
        thick = 1.2 + 0.5 * width
        near = tip - thick * ahead
        corners = tip + half * side, tip - half * side, near - half * side, near + half * side
        head, end = corners, near
    else:
        middle = (tip + back) / 2
        head, end = (tip, middle + half * side, back, middle - half * side), back
    return Arrow(
        _point(start), _point(bend), _point(end), tuple(_point(corner) for corner in head), width
    )


def _between(
    curve: NDArray[np.float64], first: NDArray[np.float64], last: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the part of a curve, from centre to centre, that is in neither box.

    `first` and `last` are half the sizes of the boxes.
    """
    t = np.linspace(0.0, 1.0, _STEPS + 1)
    points = _at(curve, t)
    inside = (np.abs(points - curve[0]) <= first).all(axis=1)
    leaving = int(np.flatnonzero(inside)[-1])
    within = (np.abs(points - curve[2]) <= last).all(axis=1)
    within[: leaving + 1] = False
    entering = int(np.flatnonzero(within)[0]) if within.any() else _STEPS
    begin = _cross(curve, curve[0], first, t[leaving], t[min(leaving + 1, _STEPS)])
    end = _cross(curve, curve[2], last, t[entering], t[max(entering - 1, 0)])
    a, b, c = curve
    bend = (1 - begin) * (1 - end) * a + (begin + end - 2 * begin * end) * b + begin * end * c
    return np.array([_at(curve, np.array([begin]))[0], bend, _at(curve, np.array([end]))[0]])


def _cross(
    curve: NDArray[np.float64],
    centre: NDArray[np.float64],
    half: NDArray[np.float64],
    inside: float,
    outside: float,
) -> float:
    """Return where a curve crosses the border of a box, by halving."""
    for _ in range(24):
        middle = (inside + outside) / 2
        if (np.abs(_at(curve, np.array([middle]))[0] - centre) <= half).all():
            inside = middle
        else:
            outside = middle
    return float(outside)


def _at(curve: NDArray[np.float64], t: NDArray[np.float64]) -> NDArray[np.float64]:
    weights = np.stack([(1 - t) ** 2, 2 * t * (1 - t), t**2], axis=1)
    return np.asarray(weights @ curve)


def _point(array: NDArray[np.float64]) -> Point:
    return float(array[0]), float(array[1])
