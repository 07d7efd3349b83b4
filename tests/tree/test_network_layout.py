"""Boxes have room, what is linked is near, and it all comes out the same every time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.tree.network.layout import lay_out


def overlaps(places, sizes):
    n = len(places)
    return [
        (i, j)
        for i in range(n)
        for j in range(i)
        if (np.abs(places[i] - places[j]) < (sizes[i] + sizes[j]) / 2 - 1e-6).all()
    ]


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 25))
    node = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(node, node).filter(lambda p: p[0] != p[1]), max_size=40))
    widths = draw(st.lists(st.floats(10, 220), min_size=n, max_size=n))
    arcs = np.array(pairs, np.int64).reshape(-1, 2)
    return n, arcs, np.column_stack([widths, np.full(n, 20.0)])


@settings(max_examples=60)
@given(graphs())
def test_boxes_do_not_overlap(graph):
    n, arcs, sizes = graph
    places = lay_out(n, arcs, sizes)
    assert places.shape == (n, 2)
    assert np.isfinite(places).all()
    assert (places - sizes / 2 >= -1e-6).all()
    assert overlaps(places, sizes) == []
    assert lay_out(n, arcs, sizes).tobytes() == places.tobytes()


def test_what_is_linked_is_nearer():
    """Two rings that one arc connects: neighbours are nearer than strangers."""
    ring = [(k, (k + 1) % 8) for k in range(8)]
    arcs = np.array(ring + [(a + 8, b + 8) for a, b in ring] + [(0, 8)])
    sizes = np.full((16, 2), 15.0)
    places = lay_out(16, arcs, sizes)
    distance = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    linked = distance[arcs[:, 0], arcs[:, 1]]
    assert linked.mean() < 0.5 * distance[np.triu_indices(16, 1)].mean()
    centres = places[:8].mean(axis=0), places[8:].mean(axis=0)
    assert np.hypot(*(centres[0] - centres[1])) > linked.mean()


def test_short_arcs_are_short():
    arcs = np.array([[0, 1], [1, 2]])
    places = lay_out(3, arcs, np.full((3, 2), 5.0), lengths=np.array([1.0, 3.0]))
    short, long = (np.hypot(*(places[a] - places[b])) for a, b in arcs)
    assert long > 2 * short


def test_hubs_have_room():
    arcs = np.array([[0, k] for k in range(1, 60)])
    sizes = np.full((60, 2), (120.0, 20.0))
    assert overlaps(lay_out(60, arcs, sizes), sizes) == []


def test_parts_lie_side_by_side():
    arcs = np.array([[k, k + 1] for k in range(0, 40, 2)])
    sizes = np.full((40, 2), (80.0, 20.0))
    places = lay_out(40, arcs, sizes)
    assert overlaps(places, sizes) == []
    width, height = np.ptp(places, axis=0)
    assert 0.4 < width / height < 4


@pytest.mark.parametrize("n", [1, 2, 5])
def test_without_arcs(n):
    sizes = np.full((n, 2), 10.0)
    places = lay_out(n, np.zeros((0, 2), np.int64), sizes)
    assert overlaps(places, sizes) == []
