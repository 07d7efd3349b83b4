"""Where the boxes of a graph go: springs, then room for boxes, then one component beside another.

Everything is deterministic. Lengths are in points, as sizes of type are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial import cKDTree

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["lay_out"]

_SPRING = 84.0  # the length of an arc at rest
_WIDER = 1.6  # boxes are wider than high, and so are pages
_GAP = (20.0, 20.0)  # between boxes, beside and above each other
_MARGIN = 26.0  # between components, which no arc connects
_STEPS = 150  # of springs; a third of it in large graphs


def lay_out(
    n_nodes: int,
    arcs: NDArray[np.int64],  # of shape (n_arcs, 2): nodes that are to be near each other
    sizes: NDArray[np.float64],  # of shape (n_nodes, 2): width and height of each box
    *,
    # Of shape (n_arcs,): how long each arc is to be, relative to others.
    lengths: NDArray[np.float64] | None = None,
    aspect: float = 1.5,  # of all of it, width by height, as far as it can be had
) -> NDArray[np.float64]:
    """Return the centres of boxes that do not overlap: from 0 on, the second coordinate upwards."""
    graph = _shortest(n_nodes, arcs, np.ones(len(arcs)) if lengths is None else lengths)
    n_components, component = csgraph.connected_components(graph, directed=False)
    centres = np.zeros((n_nodes, 2))
    members = [np.flatnonzero(component == k) for k in range(n_components)]
    boxes = []
    for nodes in members:
        local = _springs(graph, nodes) if len(nodes) > 1 else np.zeros((1, 2))
        local = _separate(_level(local) * (_WIDER, 1.0), sizes[nodes])
        low = (local - sizes[nodes] / 2).min(axis=0)
        centres[nodes] = local - low
        boxes.append((local + sizes[nodes] / 2).max(axis=0) - low)
    corners = _pack(np.array(boxes), aspect)
    for nodes, corner in zip(members, corners, strict=True):
        centres[nodes] += corner
    return centres


def _shortest(
    n_nodes: int, arcs: NDArray[np.int64], lengths: NDArray[np.float64]
) -> sparse.csr_array:
    """Return the lengths of arcs in both directions; of two between the same nodes, the smaller."""
    ends = np.sort(arcs, axis=1)
    order = np.lexsort((lengths, ends[:, 1], ends[:, 0]))
    ends, lengths = ends[order], lengths[order]
    first = np.ones(len(ends), np.bool_)
    first[1:] = (ends[1:] != ends[:-1]).any(axis=1)
    low, high = ends[first].T
    both = (np.concatenate([low, high]), np.concatenate([high, low]))
    return sparse.csr_array((np.tile(lengths[first], 2), both), (n_nodes, n_nodes))


def _springs(graph: sparse.csr_array, nodes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Place a connected component such that distances are as near as can be to those in the graph.

    Stress with weights 1/d², lowered by moving each node to where its springs pull it on average.
    """
    near = graph[nodes][:, nodes]
    degree = np.diff(near.indptr)
    # Around hubs there must be room for all that hangs on them.
    near.data = near.data * (1.0 + 0.1 * np.maximum(np.repeat(degree, degree) - 4, 0) ** 0.8)
    near = near.maximum(near.T)
    hops = csgraph.shortest_path(near, directed=False)
    wanted = _SPRING * hops
    np.fill_diagonal(wanted, 1.0)
    weight = 1.0 / wanted**2
    np.fill_diagonal(weight, 0.0)
    total = weight.sum(axis=1)
    centres = _spread(hops)
    for _ in range(_STEPS if len(nodes) <= 300 else _STEPS // 3):
        apart = centres[:, None] - centres[None]
        distance = np.maximum(np.hypot(apart[..., 0], apart[..., 1]), 1e-3)
        pull = weight * wanted / distance
        aim = weight @ centres + pull.sum(axis=1)[:, None] * centres - pull @ centres
        centres = 0.5 * centres + 0.5 * aim / total[:, None]
    return centres


def _spread(hops: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a start: the two widest directions of the distances, slightly shaken."""
    n = len(hops)
    squared = hops**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    start = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))
    # The sign of an eigenvector is anyone's choice: the largest entry is to be positive.
    start *= np.sign(start[np.abs(start).argmax(axis=0), [0, 1]] + 1e-300)
    shaken = np.random.default_rng(n).normal(scale=0.3, size=(n, 2))
    return np.asarray(_SPRING * (np.round(start, 6) + shaken))


def _level(centres: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn a component such that it is widest from left to right."""
    centred = np.asarray(centres - centres.mean(axis=0))
    if len(centres) < 2:
        return centred
    _, vectors = np.linalg.eigh(centred.T @ centred)
    turned = centred @ vectors[:, ::-1]
    return np.asarray(turned * np.sign(turned[np.abs(turned).argmax(axis=0), [0, 1]] + 1e-300))


def _separate(centres: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Push boxes that overlap apart, each pair along the way that is shorter."""
    centres = centres.copy()
    reach = sizes.max(axis=0) + _GAP
    for step in range(600):
        # Only boxes whose centres are near can overlap.
        near = cKDTree(centres / reach).query_pairs(1.0, p=np.inf, output_type="ndarray")
        near = near[np.lexsort(near.T)]
        a, b = near.T
        apart = centres[a] - centres[b]
        overlap = (sizes[a] + sizes[b]) / 2 + _GAP - np.abs(apart)
        hit = overlap.min(axis=1) > 1e-9
        if not hit.any():
            break
        if step % 100 == 99:  # stuck in a heap: everything moves outwards a little
            centres *= 1.15
            continue
        a, b, apart, overlap = a[hit], b[hit], apart[hit], overlap[hit]
        push = np.where(apart > 0, 0.52, -0.52) * overlap
        sideways = overlap[:, 0] < overlap[:, 1]
        push[sideways, 1] = 0.0
        push[~sideways, 0] = 0.0
        moves = np.zeros_like(centres)
        np.add.at(moves, a, push)
        np.add.at(moves, b, -push)
        centres += np.clip(moves, -_SPRING, _SPRING)
    return centres


def _pack(boxes: NDArray[np.float64], aspect: float) -> NDArray[np.float64]:
    """Return the lower left corners of components in rows, the highest first."""
    padded = boxes + _MARGIN
    width = max(float(np.sqrt(padded.prod(axis=1).sum() * aspect)), float(padded[:, 0].max()))
    corners = np.zeros_like(boxes)
    x = y = row = 0.0
    for k in np.lexsort((np.arange(len(boxes)), -boxes[:, 1])).tolist():
        if x > 0 and x + padded[k, 0] > width * 1.05:
            x, y, row = 0.0, y + row, 0.0
        corners[k] = x, y
        x += padded[k, 0]
        row = max(row, padded[k, 1])
    # The first row is the top one.
    height = y + row
    corners[:, 1] = height - corners[:, 1] - padded[:, 1]
    return corners
