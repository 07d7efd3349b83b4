"""Grouping by the book: objects one after another, in a dictionary."""

from __future__ import annotations

import math
from collections import defaultdict


def groups(grid, coords, types, group_width):
    """Return the sets of objects that are represented together, as a set of frozensets."""
    members_of = defaultdict(set)
    for i, (coordinates, kind) in enumerate(zip(coords.tolist(), types.tolist(), strict=True)):
        division = [_division(grid, j, z, group_width) for j, z in enumerate(coordinates)]
        members_of[(tuple(division), kind)].add(i)
    return {frozenset(members) for members in members_of.values()}


def _division(grid, j, z, group_width):
    lower, upper, k = float(grid.lower[j]), float(grid.upper[j]), grid.resolution[j]
    if upper == lower:
        cell, within = 0, z - lower
    else:
        at = (z - lower) / (upper - lower) * k
        cell = min(max(math.floor(at), 0), k - 1)
        within = at - cell
    if group_width == 0:
        return cell, z
    last = math.ceil(1 / group_width - 1e-9) - 1
    return cell, min(max(math.floor(within / group_width), 0), last)
