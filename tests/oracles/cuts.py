"""Minimum cuts by trying every set of nodes, and by another library's maximum flow."""

from __future__ import annotations

import itertools

import numpy as np
import pytest


def all_sets(n):
    """Every set of n nodes as a row of booleans, smaller sets first."""
    rows = np.array(list(itertools.product([False, True], repeat=n)), bool).reshape(2**n, n)
    return rows[np.argsort(rows.sum(axis=1), kind="stable")]


def between(weights, members):
    """C(S, S̄) in a dense matrix."""
    return float(weights[np.ix_(members, ~members)].sum())


def within(weights, members):
    """C(S, S), each pair once."""
    return float(np.triu(weights[np.ix_(members, members)], 1).sum())


def smallest_set(objective, sets):
    """The set with the least objective; of several, the one that all others contain."""
    values = np.array([objective(members) for members in sets])
    best = sets[values <= values.min() + 1e-12]
    smallest = best.all(axis=0)
    assert (best == smallest).all(axis=1).any(), "optimal sets are not closed under intersection"
    return smallest, float(values.min())


def smallest_cut(weights, base, rate=None, lambda_=0.0):
    """The smallest S with the least C(S, S̄) + Σ_S (base - λ rate), and that value."""
    cost = base - lambda_ * (np.zeros_like(base) if rate is None else rate)
    return smallest_set(lambda s: between(weights, s) + float(cost[s].sum()), all_sets(len(base)))


def feasible_sets(seeds):
    """Every set with all seeds of 1 and none of 0."""
    seeds = np.asarray(seeds)
    sets = all_sets(len(seeds))
    return sets[sets[:, seeds == 1].all(axis=1) & ~sets[:, seeds == 0].any(axis=1)]


def smallest_normalized_cut(weights, seeds, balance, node_weights=None):
    """The smallest set that minimises C(S, S̄) - λ C(S, S), or - λ Σ_S node weights."""

    def objective(members):
        worth = within(weights, members)
        if node_weights is not None:
            worth = float(node_weights[members].sum())
        return between(weights, members) - balance * worth

    return smallest_set(objective, feasible_sets(seeds))


def least_ratio(weights, seeds, node_weights=None):
    """The least C(S, S̄) / C(S, S), or / Σ_S node weights."""
    ratios = []
    for members in feasible_sets(seeds):
        worth = within(weights, members)
        if node_weights is not None:
            worth = float(node_weights[members].sum())
        ratios.append(between(weights, members) / worth if worth > 0 else np.inf)
    return min(ratios)


def networkx_cut(weights, source, sink):
    """Value and smallest source set of the minimum cut, by networkx."""
    nx = pytest.importorskip("networkx")
    net = nx.DiGraph()
    for i, j in zip(*np.nonzero(weights), strict=True):
        net.add_edge(int(i), int(j), capacity=float(weights[i, j]))
    for i in range(len(source)):
        net.add_edge("source", i, capacity=float(source[i]))
        net.add_edge(i, "sink", capacity=float(sink[i]))
    residual = nx.algorithms.flow.edmonds_karp(net, "source", "sink")
    open_arcs = [(u, v) for u, v, arc in residual.edges(data=True) if arc["capacity"] > arc["flow"]]
    reached = nx.descendants(nx.DiGraph([*open_arcs, ("source", "source")]), "source")
    members = np.array([i in reached for i in range(len(source))])
    return members, residual.graph["flow_value"]
