"""Positions of nodes: nothing on top of anything else, parents in the middle of their children."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.tree.drawing.layout import arrange


@st.composite
def trees(draw):
    """Children of each node of a tree of up to 20 splits, with up to four children each."""
    children = [[]]
    for _ in range(draw(st.integers(0, 20))):
        leaves = [k for k, below in enumerate(children) if not below]
        leaf = draw(st.sampled_from(leaves))
        n = draw(st.integers(2, 4))
        children[leaf] = list(range(len(children), len(children) + n))
        children += [[] for _ in range(n)]
    return children


@st.composite
def graphs(draw):
    """A tree in which some leaves are one; the rest are numbered anew, parents first."""
    children = draw(trees())
    leaves = [k for k, below in enumerate(children) if not below]
    same = {k: draw(st.sampled_from(leaves)) for k in leaves}
    merged = [[same.get(x, x) for x in below] for below in children]
    order, waiting = [], {0} | {x for below in merged for x in below}
    while waiting:
        above = {k: {u for u in waiting if k in merged[u]} for k in waiting}
        node = min(k for k in waiting if not above[k])
        order.append(node)
        waiting.remove(node)
    number = {node: k for k, node in enumerate(order)}
    return [[number[x] for x in merged[node]] for node in order]


def pieces(children, layout):
    """Yield what stands in each level and gap: the layer, the middle and half the height."""
    for level, row in zip(layout.level.tolist(), layout.row.tolist(), strict=True):
        yield 2 * level, row, 0.5
    for (node, _), rows in layout.lanes.items():
        for k, row in enumerate(rows):
            layer = 2 * int(layout.level[node]) + 1 + k
            yield layer, row, 0.275 if layer % 2 else 0.2


@settings(deadline=None)
@given(trees())
def test_leaves_of_trees_are_evenly_spaced_and_parents_centred(children):
    layout = arrange(children)
    leaves = [k for k, below in enumerate(children) if not below]
    assert sorted(layout.row[leaves].tolist()) == list(range(len(leaves)))
    for node, below in enumerate(children):
        if below:
            rows = layout.row[below]
            assert layout.row[node] == (rows[0] + rows[-1]) / 2
            assert (np.diff(rows) >= 1).all()
            assert (layout.level[below] == layout.level[node] + 1).all()
            assert [layout.lanes[node, k] for k in range(len(below))] == rows[:, None].tolist()


@settings(deadline=None, max_examples=60)
@given(graphs())
def test_nothing_overlaps_in_graphs(children):
    layout = arrange(children)
    for node, below in enumerate(children):
        for k, child in enumerate(below):
            gaps = layout.level[child] - layout.level[node]
            assert gaps >= 1
            assert len(layout.lanes[node, k]) == 2 * gaps - 1
    layers = {}
    tree = len({x for below in children for x in below}) == sum(map(len, children))
    for layer, row, half in pieces(children, layout):
        layers.setdefault(layer, []).append((row, half))
    for layer, items in layers.items():
        items.sort()
        for (a, h), (b, g) in itertools.pairwise(items):
            assert b - a >= (1 if tree and layer % 2 else h + g) - 1e-6


@settings(deadline=None, max_examples=20)
@given(graphs())
def test_the_same_graph_looks_the_same(children):
    a, b = arrange(children), arrange(children)
    assert (a.row == b.row).all()
    assert a.lanes == b.lanes


def test_one_leaf():
    layout = arrange([[]])
    assert (layout.row.tolist(), layout.level.tolist(), layout.lanes) == ([0.0], [0], {})


def test_edges_need_not_cross():
    """Two leaves of one parent each, and a third that both share: it is drawn between them."""
    layout = arrange([[1, 2], [3, 4], [4, 5], [], [], []])
    first, shared, last = layout.row[3:].tolist()
    assert first < shared < last
