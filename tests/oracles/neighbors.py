"""Nearest objects by plain NumPy: all distances, sorted."""

import numpy as np


def distances(objects, query):
    """Return the distance of a query to each object."""
    return np.sqrt(np.square(objects - query).sum(axis=1))


def nearest(objects, queries, k):
    """Return distances and numbers of the k nearest objects of each query."""
    results = [_first(distances(objects, query), k) for query in queries]
    return np.array([d for d, _ in results]), np.array([i for _, i in results])


def near(objects, queries, k, cells, query_cells, positions, resolution, widths, reach):
    """Return the same among near objects, then turns, and which queries had no near object.

    A query looks at one cell in each direction; at twice as many while they hold fewer than k
    objects; then at as many as it takes to see all that is closer than reach times the k-th
    distance.
    """
    results = [
        _widen(objects, query, k, cells, cell, position, resolution, widths, reach)
        for query, cell, position in zip(queries, query_cells, positions, strict=True)
    ]
    return tuple(np.array(column) for column in zip(*results, strict=True))


def _widen(objects, query, k, cells, cell, position, resolution, widths, reach):
    every = distances(objects, query)
    radius = np.ones(len(cell), np.int64)
    isolated = not (np.abs(cells - cell) <= 1).all(axis=1).any()
    for n_widened in range(64):
        is_near = (np.abs(cells - cell) <= radius).all(axis=1)
        d, i = _first(np.where(is_near, every, np.inf), k)
        distance = reach * d[-1] if is_near.sum() >= k else np.inf
        needed = [
            _cells_to_see(*dimension, distance)
            for dimension in zip(cell, position, resolution, widths, strict=True)
        ]
        if (needed <= radius).all():
            return d, i, n_widened, isolated
        if distance == np.inf:
            needed = np.minimum(needed, 2 * radius)
        radius = np.maximum(needed, radius)
    raise AssertionError("grids end")


def _cells_to_see(cell, position, resolution, width, distance):
    """Try one number of cells after another, in one dimension."""
    for radius in range(resolution):
        below = cell - radius <= 0 or width * (position - (cell - radius)) >= distance
        above = (
            cell + radius >= resolution - 1 or width * (cell + radius + 1 - position) >= distance
        )
        if below and above:
            return radius
    raise AssertionError("grids end")


def _first(every, k):
    order = np.argsort(every, kind="stable")[:k]
    return every[order], order
