"""Colours of lifts: classes of about the same ratio, and one for lifts below 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.plot.scene import Box, Words, text_width
from tacit.plot.theme import FAINT, LIFTS, LOWERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LiftScale"]

_ONE = 1 - 1e-9  # rounding does not make a lift of 1 a smaller one
_SIZE = 11.0  # of type


@dataclass(frozen=True)
class LiftScale:
    """Classes of lifts, ascending."""

    edges: tuple[float, ...]  # one more than classes
    colours: tuple[str, ...]

    @classmethod
    def of(cls, lifts: NDArray[np.float64]) -> LiftScale:
        """Return six classes at most, each about as many times its lower end as the others.

        >>> LiftScale.of(np.array([1.0, 2.0, 64.0])).edges
        (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
        """
        raised = lifts[lifts >= _ONE]
        edges: list[float] = [1.0]
        colours: tuple[str, ...] = ()
        if len(raised):
            low, high = max(float(raised.min()), 1.0), float(raised.max())
            if high > low * (1 + 1e-6):
                edges, colours = _round(np.geomspace(low, high, len(LIFTS) + 1)), LIFTS
            else:
                edges, colours = [low, low * (1 + 1e-6)], LIFTS[3:4]
        if len(lifts) > len(raised):
            edges, colours = [float(lifts.min()), *edges], (LOWERS, *colours)
        return cls(tuple(edges), colours)

    def classes(self, lifts: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the class of each lift."""
        found = np.searchsorted(np.array(self.edges[1:-1]) * _ONE, lifts, "right")
        return np.asarray(found, np.int64)

    def texts(self) -> list[str]:
        """Return what each class says: from where to where, or that it is below 1."""
        texts = []
        for k, colour in enumerate(self.colours):
            low, high = (f"{x:.4g}" for x in self.edges[k : k + 2])
            texts.append("below 1" if colour == LOWERS else low if low == high else f"{low}–{high}")
        return texts

    def strengths(self, lifts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how far each lift is from 1, by its logarithm: from 0 to 1."""
        far = np.abs(np.log(np.maximum(lifts, 1e-300)))
        return np.asarray(far / max(float(far.max(initial=0.0)), 1e-300))

    def legend(self, x: float, y: float, width: float) -> tuple[list[Box | Words], float]:
        """Return the classes as coloured squares with texts in lines, and where the last one is."""
        items: list[Box | Words] = [Words(x, y, "lift", _SIZE, FAINT)]
        left = x + text_width("lift", _SIZE) + 10
        start = left
        for colour, text in zip(self.colours, self.texts(), strict=True):
            right = left + 16 + text_width(text, _SIZE) + 14
            if right > width and left > start:
                left, y = start, y + 18
                right = left + 16 + text_width(text, _SIZE) + 14
            items.append(Box(left, y - 9, 11, 11, colour, radius=2))
            items.append(Words(left + 16, y, text, _SIZE, FAINT))
            left = right
        return items, y


def _round(edges: NDArray[np.float64]) -> list[float]:
    """Return the edges with as few digits as keep them apart."""
    for digits in range(2, 8):
        rounded = [float(f"{x:.{digits}g}") for x in edges]
        if (np.diff(rounded) > 0).all():
            break
    return rounded
