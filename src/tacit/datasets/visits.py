"""A small data set to read and to play with: visitors of an invented news-and-shop web site."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tacit.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["load_visits"]

_N_VISITORS = 20_000
_SEED = 1998

# Where visitors come from and what they use, with the fraction of each.
_REGION = {"south": 0.38, "north": 0.27, "west": 0.20, "east": 0.15}
_DEVICE = {"phone": 0.55, "desktop": 0.36, "tablet": 0.09}
_UNKNOWN_DEVICE = 0.01
# Where those who come for one page only come to.
_LANDING = {"news": 0.30, "home": 0.25, "weather": 0.20, "sports": 0.15, "recipes": 0.10}

# An area is visited out of the blue with the first probability, and because of each thing on the
# right that holds of the visitor with the probability behind it, independently of one another.
_AREAS: dict[str, tuple[float, dict[str, float]]] = {
    "home": (0.36, {"desktop": 0.10}),
    "news": (0.12, {"home": 0.25, "subscriber": 0.30}),
    "politics": (0.02, {"news": 0.18, "subscriber": 0.12}),
    "world": (0.02, {"news": 0.15}),
    "business": (0.02, {"news": 0.08, "desktop": 0.05, "subscriber": 0.08}),
    "stocks": (0.01, {"business": 0.45}),
    "sports": (0.10, {"home": 0.06, "west": 0.08}),
    "scores": (0.01, {"sports": 0.55}),
    "football": (0.01, {"sports": 0.30, "scores": 0.20}),
    "weather": (0.07, {"home": 0.10, "north": 0.12, "phone": 0.06}),
    "traffic": (0.02, {"weather": 0.12, "phone": 0.04, "south": 0.03}),
    "recipes": (0.05, {"tablet": 0.15}),
    "grocery offers": (0.03, {"recipes": 0.40}),
    "garden": (0.02, {"weather": 0.04, "recipes": 0.08}),
    "travel": (0.03, {"world": 0.08}),
    "hotels": (0.01, {"travel": 0.35}),
    "games": (0.04, {"phone": 0.05, "tablet": 0.10}),
    "crossword": (0.01, {"games": 0.30, "subscriber": 0.20}),
    "electronics": (0.03, {"desktop": 0.03, "games": 0.06}),
    "fashion": (0.04, {"phone": 0.02}),
    "cart": (0.01, {"grocery offers": 0.30, "electronics": 0.30, "fashion": 0.28, "hotels": 0.10}),
    "checkout": (0.0, {"cart": 0.60}),
    "account": (0.01, {"checkout": 0.50, "subscriber": 0.15}),
    "help": (0.01, {"account": 0.08, "cart": 0.05}),
}


def load_visits() -> Table:
    """Return the visits of 20,000 people to an invented news-and-shop web site.

    Columns are the visitor's region, device and whether he or she is a subscriber, and for each of
    24 areas of the site whether it was visited. What depends on what is as one would think: sports
    leads to scores, recipes to grocery offers, a cart to the checkout, subscribers read the news,
    and the north looks at the weather. For about one visitor in a hundred the device is missing.

    The data are drawn when asked for, always the same.

    Returns
    -------
    Table

    Examples
    --------
    >>> from tacit.datasets import load_visits
    >>> visits = load_visits()
    >>> visits.shape
    (20000, 27)
    >>> visits.schema["region"].labels, visits.schema["region"].default_label
    (Labels('east', 'north', 'south', 'west'), 'south')
    >>> visits.count({"sports": True}), visits.count({"sports": True, "scores": True})
    (3406, 1490)
    """
    rng = np.random.default_rng(_SEED)
    region = _draw(rng, _REGION)
    device = _draw(rng, _DEVICE)
    holds = {name: region == name for name in _REGION}
    holds |= {name: device == name for name in _DEVICE}
    holds["subscriber"] = rng.random(_N_VISITORS) < np.where(holds["desktop"], 0.16, 0.08)
    for area, (alone, reasons) in _AREAS.items():
        visited = rng.random(_N_VISITORS) < alone
        for reason, probability in reasons.items():
            visited |= holds[reason] & (rng.random(_N_VISITORS) < probability)
        holds[area] = visited
    nowhere = ~np.any([holds[area] for area in _AREAS], axis=0)
    landing = _draw(rng, _LANDING)
    for area in _LANDING:
        holds[area] |= nowhere & (landing == area)
    device[rng.random(_N_VISITORS) < _UNKNOWN_DEVICE] = None
    return Table(
        pl.DataFrame(
            {
                "region": region.tolist(),
                "device": device.tolist(),
                "subscriber": holds["subscriber"],
                **{area: holds[area] for area in _AREAS},
            }
        )
    )


def _draw(rng: np.random.Generator, fractions: Mapping[str, float]) -> NDArray[np.object_]:
    bounds = np.cumsum(list(fractions.values()))[:-1]
    codes = np.searchsorted(bounds, rng.random(_N_VISITORS), side="right")
    return np.array(list(fractions), dtype=object)[codes]
