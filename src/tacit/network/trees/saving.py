"""Dependency trees in files: the edges, and what was counted of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import store
from tacit.errors import FileError, InputError
from tacit.network.structure.learn import Structure
from tacit.network.structure.statistics import ClassMoments, Moments, PairMoments
from tacit.network.trees.layout import layout_from_json, layout_to_json
from tacit.network.trees.parameters import make_density
from tacit.network.trees.rooted import root_tree
from tacit.parameters import plain_parameters

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from tacit.network.trees.dependency_tree import DependencyTree
    from tacit.network.trees.layout import Layout

__all__ = ["write_dependency_tree"]

_KIND = "dependency_tree"
_EDGES = {"edges": np.int64, "weights": np.float64, "lower": np.float64, "upper": np.float64}


def write_dependency_tree(path: str | os.PathLike[str], tree: DependencyTree) -> None:
    """Write all of a tree."""
    structure = tree.structure_
    facts = {
        "parameters": {**plain_parameters(tree), "smoothing": tree._smoothing},
        "edge_usage": float(structure.edge_usage),
        "n_read": int(structure.n_read),
        "rounds": [{k: int(x) for k, x in own.items()} for own in structure.rounds],
        "states": [len(own) for own in structure.nodes if isinstance(own, np.ndarray)],
    }
    store.write_arrays(
        path,
        _KIND,
        {
            "columns": np.frombuffer(layout_to_json(tree._layout), np.uint8),
            "settings": np.frombuffer(json.dumps(facts).encode(), np.uint8),
            **{name: getattr(structure, name) for name in _EDGES},
            "nodes": _flatten(structure.nodes),
            "pairs": _flatten(structure.pairs),
        },
    )


def _flatten(statistics: Any) -> NDArray[np.float64]:
    """Write statistics one after another; columns say how long each one is."""
    parts = [np.zeros(0)]
    for own in statistics:
        if isinstance(own, Moments):
            parts.append(np.array([own.n, own.mean, own.variance]))
        elif isinstance(own, PairMoments):
            parts.append(np.array([own.n, own.mean_a, own.mean_b, own.var_a, own.var_b, own.cov]))
        elif isinstance(own, ClassMoments):
            parts.append(np.concatenate([own.counts, own.means, own.variances]))
        else:
            parts.append(np.asarray(own, np.float64).ravel())
    return np.concatenate(parts)


@store.loads(_KIND)
def _load(path: str | os.PathLike[str], arrays: dict[str, NDArray[Any]]) -> DependencyTree:
    """Make a tree of a file's arrays, after checking that they go together."""
    try:
        return _make(arrays)
    except KeyError as error:
        raise FileError(path, f"is damaged: it has no {error.args[0]!r}") from None
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise FileError(path, f"is damaged: {error}") from None


def _make(arrays: dict[str, NDArray[Any]]) -> DependencyTree:
    from tacit.network.trees.dependency_tree import DependencyTree, check_smoothing

    layout = layout_from_json(arrays["columns"].tobytes())
    facts = json.loads(arrays["settings"].tobytes())
    tree = DependencyTree(**facts["parameters"])
    tree._settings("exact").check()
    smoothing = check_smoothing(tree.smoothing)
    n, flags = len(layout.names), layout.numeric
    for name, dtype in _EDGES.items():
        shape = (n - 1, 2) if name == "edges" else (n - 1,)
        if arrays[name].dtype != dtype or arrays[name].shape != shape:
            raise InputError(f"{name!r} has the shape and the type of something else")
    edges = arrays["edges"]
    _check_edges(n, edges)
    for name in ("weights", "lower", "upper"):
        if np.isnan(arrays[name]).any():
            raise InputError(f"{name!r} has a number that cannot be")
    sizes = _sizes(layout, facts["states"])
    structure = Structure(
        edges, arrays["weights"], arrays["lower"], arrays["upper"],
        _share(facts["edge_usage"]), int(facts["n_read"]),
        [{str(k): int(x) for k, x in own.items()} for own in facts["rounds"]],
        _read(arrays["nodes"], [_node(flags[c], sizes[c]) for c in range(n)]),
        _read(arrays["pairs"], [_pair(flags, sizes, a, b) for a, b in edges.tolist()]),
    )  # fmt: skip
    model = make_density(layout.names, flags, layout.arities, structure, smoothing)
    tree._keep(layout, structure, model, smoothing)
    return tree


def _check_edges(n: int, edges: NDArray[np.int64]) -> None:
    if len(edges) and (edges.min() < 0 or edges.max() >= n or (edges[:, 0] >= edges[:, 1]).any()):
        raise InputError("'edges' joins columns that are not there")
    if len(root_tree(n, edges, 0).order) < n:
        raise InputError("'edges' does not join all columns")


def _share(number: Any) -> float:
    if not isinstance(number, (int, float)) or not 0 <= number < np.inf:
        raise InputError(f"its share of pairs read is {number!r}, which cannot be")
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
    found = []
    for (kind, shape), own in zip(shapes, np.split(numbers, ends[:-1]), strict=False):
        block = own.reshape(shape)
        if kind is Moments:
            positive = block[[0, 2]]
        elif kind is PairMoments:
            positive = block[[0, 3, 4]]
        elif kind is ClassMoments:
            positive = block[[0, 2]]
        else:
            positive = block
        if (positive < 0).any():
            raise InputError("its statistics have a count or a variance below zero")
        if kind is np.ndarray:
            found.append(block)
        else:
            found.append(kind(*(x if block.ndim > 1 else float(x) for x in block)))
    return found
