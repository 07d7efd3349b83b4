"""Slow, obvious dependency trees, and data to learn them from."""

import itertools
import math

import numpy as np

from tacit import Table
from tacit.network.structure.columns import Columns


def kruskal(weights):
    """Return the heaviest spanning tree; ties go to the smaller (a, b)."""
    n = len(weights)
    parts = list(range(n))
    pairs = sorted(itertools.combinations(range(n), 2), key=lambda p: (-weights[p], p))
    edges = []
    for a, b in pairs:
        if parts[a] != parts[b]:
            edges.append((a, b))
            parts = [parts[a] if part == parts[b] else part for part in parts]
    return np.array(sorted(edges), np.int64).reshape(-1, 2)


def tree_path(edges, a, b):
    """Return the places of the edges between two nodes of a tree."""

    def walk(u, came_from):
        if u == b:
            return []
        for k, (x, y) in enumerate(edges):
            if u in (x, y):
                v = y if u == x else x
                if v != came_from and (rest := walk(v, u)) is not None:
                    return [k, *rest]
        return None

    return walk(a, -1)


def expand(data, weights):
    """Repeat records by whole-numbered weights."""
    return [x for x, w in zip(data, weights, strict=True) for _ in range(int(w))]


def pair_weight(x, y, x_numeric, y_numeric):
    """Return the mutual information of two columns in nats, from its definition.

    Codes of discrete columns are whole numbers. Missing values are NaN: such records are left out.
    """
    both = [(a, b) for a, b in zip(x, y, strict=True) if not (math.isnan(a) or math.isnan(b))]
    if not both:
        return 0.0
    x, y = np.array(both, float).T
    if x_numeric and y_numeric:
        if np.ptp(x) == 0 or np.ptp(y) == 0:
            return 0.0
        rho = np.mean((x - x.mean()) * (y - y.mean())) / (x.std() * y.std())
        return math.inf if 1 - abs(rho) < 1e-12 else -0.5 * math.log(1 - rho**2)
    if x_numeric != y_numeric:
        codes, numbers = (y, x) if x_numeric else (x, y)
        if np.ptp(numbers) == 0:
            return 0.0
        total = numbers.var()
        inside = 0.0
        for code in set(codes):
            part = numbers[codes == code]
            inside += len(part) / len(numbers) * math.log(max(part.var(), 1e-9 * total))
        return max(0.5 * (math.log(total) - inside), 0.0)
    information = 0.0
    for a, b in set(both):
        joint = np.mean((x == a) & (y == b))
        information += joint * math.log(joint / (np.mean(x == a) * np.mean(y == b)))
    return max(information, 0.0)


def all_weights(columns, numeric):
    """Return the weights of all pairs of lists of values."""
    n = len(columns)
    weights = np.zeros((n, n))
    for a, b in itertools.combinations(range(n), 2):
        weights[a, b] = weights[b, a] = pair_weight(columns[a], columns[b], numeric[a], numeric[b])
    return weights


def tree_weight(weights, edges):
    """Return the sum of the weights of edges."""
    return sum(weights[a, b] for a, b in edges)


def gaussian_tree(seed, n_records, n_columns, fan_out=2, noise=0.0):
    """Return numbers in which each column is its parent plus noise."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_records, n_columns))
    for c in range(1, n_columns):
        x[:, c] += x[:, (c - 1) // fan_out]
    lost = rng.random(n_records) < noise
    x[lost] = rng.normal(size=(int(lost.sum()), n_columns)) * x.std(axis=0)
    return x


def discrete_tree(seed, n_records, n_columns, arity=2, coupling=0.3, fan_out=2):
    """Return a Table in which each column is its parent's value, or any value."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, arity, (n_records, n_columns))
    for c in range(1, n_columns):
        kept = rng.random(n_records) < 2 * coupling
        x[kept, c] = x[kept, (c - 1) // fan_out]
    return Table(x)


def mixed_columns(seed, n_records, strength=1.0):
    """Return six columns, numeric and discrete by turns, each of which depends on another one."""
    rng = np.random.default_rng(seed)

    def noise():
        return rng.normal(size=n_records)

    x0 = noise()
    d0 = (strength * x0 + noise() > 0).astype(int) + (strength * x0 + noise() > 0.5)
    x1 = strength * d0 + noise()
    d1 = np.where(rng.random(n_records) < 0.6 * strength, d0, rng.integers(0, 3, n_records))
    x2 = strength * x1 + noise() * (1 + d1)
    d2 = np.where(rng.random(n_records) < 0.003, 9, x2 > 1)
    table = Table({"d0": d0, "d1": d1, "d2": d2})
    order = ["d0", "x0", "d1", "x2", "x1", "d2"]
    return Columns.mixed(np.stack([x0, x1, x2], axis=1), ["x0", "x1", "x2"], table, order)
