"""Dependency trees in files: the edges, and what was counted of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import store
from tacit.errors import InputError
from tacit.network.dependency_tree.layout import layout_from_json, layout_to_json
from tacit.network.dependency_tree.rooted import root_tree
from tacit.network.structure.learn import Structure
from tacit.network.structure.statistics import ClassMoments, Moments, PairMoments
from tacit.parameters import plain_parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.network.dependency_tree.dependency_tree import DependencyTree
    from tacit.network.dependency_tree.layout import Layout

__all__ = ["read_structure", "tree_to_state"]

_EDGES = {"edges": np.int64, "weights": np.float64, "lower": np.float64, "upper": np.float64}

# Which fields are counts and variances, by position; arrays hold nothing but counts
_NOT_NEGATIVE: dict[Any, Any] = {Moments: [0, 2], PairMoments: [0, 3, 4], ClassMoments: [0, 2]}


def tree_to_state(tree: DependencyTree) -> dict[str, NDArray[Any]]:
    """Return all of a tree as arrays."""
    structure = tree.structure_
    facts = {
        "parameters": {**plain_parameters(tree), "smoothing": tree._smoothing},
        "edge_usage": float(structure.edge_usage),
        "n_read": int(structure.n_read),
        "rounds": [{k: int(x) for k, x in done.items()} for done in structure.rounds],
        "states": [len(node) for node in structure.nodes if isinstance(node, np.ndarray)],
    }
    return {
        "columns": np.frombuffer(layout_to_json(tree._layout), np.uint8),
        "settings": store.json_array(facts),
        **{name: getattr(structure, name) for name in _EDGES},
        "nodes": _flatten(structure.nodes),
        "pairs": _flatten(structure.pairs),
    }


def _flatten(statistics: Any) -> NDArray[np.float64]:
    """Write statistics one after another; columns say how long each one is."""
    arrays = [np.zeros(0)]
    for statistic in statistics:
        told = statistic if isinstance(statistic, np.ndarray) else list(vars(statistic).values())
        arrays.append(np.asarray(told, np.float64).ravel())
    return np.concatenate(arrays)


def read_structure(state: store.State, facts: dict[str, Any]) -> tuple[Layout, Structure]:
    """Return columns and what was learnt, after checking that they go together."""
    layout = layout_from_json(state["columns"].tobytes())
    n, flags = len(layout.names), layout.numeric
    for name, dtype in _EDGES.items():
        shape = (n - 1, 2) if name == "edges" else (n - 1,)
        if state[name].dtype != dtype or state[name].shape != shape:
            raise InputError(f"{name!r} has the shape and the type of something else")
    edges = state["edges"]
    _check_edges(n, edges)
    for name in ("weights", "lower", "upper"):
        if np.isnan(state[name]).any():
            raise InputError(f"{name!r} has a number that cannot be")
    sizes = _sizes(layout, facts["states"])
    structure = Structure(
        edges, state["weights"], state["lower"], state["upper"],
        _fraction(facts["edge_usage"]), int(facts["n_read"]),
        [{str(k): int(x) for k, x in done.items()} for done in facts["rounds"]],
        _read(state["nodes"], [_node(flags[c], sizes[c]) for c in range(n)]),
        _read(state["pairs"], [_pair(flags, sizes, a, b) for a, b in edges.tolist()]),
    )  # fmt: skip
    return layout, structure


def _check_edges(n: int, edges: NDArray[np.int64]) -> None:
    if len(edges) and (edges.min() < 0 or edges.max() >= n or (edges[:, 0] >= edges[:, 1]).any()):
        raise InputError("'edges' joins columns that are not there")
    if len(root_tree(n, edges, 0).order) < n:
        raise InputError("'edges' does not join all columns")


def _fraction(number: Any) -> float:
    if not isinstance(number, (int, float)) or not 0 <= number < np.inf:
        raise InputError(f"its fraction of pairs read is {number!r}, which cannot be")
    return float(number)


def _sizes(layout: Layout, states: Any) -> NDArray[np.int64]:
    """Return how many codes were counted of each column: its labels, and maybe missing values."""
    sizes = np.zeros(len(layout.names), np.int64)
    sizes[~layout.numeric] = np.array(states, np.int64)
    extra = sizes - layout.arities
    if (extra < 0).any() or (extra > 1).any():
        raise InputError("it has counted other labels than its columns have")
    return sizes


def _node(numeric: bool, size: int) -> tuple[Any, tuple[int, ...]]:
    return (Moments, (3,)) if numeric else (np.ndarray, (size,))


def _pair(
    numeric: NDArray[np.bool_], sizes: NDArray[np.int64], a: int, b: int
) -> tuple[Any, tuple[int, ...]]:
    if numeric[a] and numeric[b]:
        return PairMoments, (6,)
    if numeric[a] or numeric[b]:
        return ClassMoments, (3, int(max(sizes[a], sizes[b])))
    return np.ndarray, (int(sizes[a]), int(sizes[b]))


def _read(numbers: NDArray[Any], shapes: list[tuple[Any, tuple[int, ...]]]) -> list[Any]:
    """Read statistics of known kinds and shapes, and believe no negative count or variance."""
    if numbers.dtype != np.float64 or numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise InputError("its statistics are not numbers")
    ends = np.cumsum([int(np.prod(shape)) for _, shape in shapes])
    if len(numbers) != (int(ends[-1]) if len(ends) else 0):
        raise InputError("its statistics are not those of its columns")
    statistics = []
    for (kind, shape), flat in zip(shapes, np.split(numbers, ends[:-1]), strict=False):
        block = flat.reshape(shape)
        if (block[_NOT_NEGATIVE.get(kind, slice(None))] < 0).any():
            raise InputError("its statistics have a count or a variance below zero")
        if kind is np.ndarray:
            statistics.append(block)
        else:
            statistics.append(kind(*(x if block.ndim > 1 else float(x) for x in block)))
    return statistics
