"""Arcs: order, cycles, separation and equivalence, each against its definition."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.nets import nets, sprinkler
from tacit import BayesNet, InputError
from tacit.network.bayes_net.equivalence import essential_graph, hamming_distance
from tacit.network.bayes_net.graph import (
    are_separated,
    children_of,
    find_cycle,
    find_order,
    markov_blanket,
    moral_edges,
)


@st.composite
def graphs(draw, most=6):
    """Graphs without cycles, as parents of each column."""
    n = draw(st.integers(1, most))
    rank = draw(st.permutations(range(n)))
    pairs = [(p, c) for p in range(n) for c in range(n) if rank[p] < rank[c]]
    held = [draw(st.booleans()) for _ in pairs]
    arcs = [arc for arc, is_there in zip(pairs, held, strict=True) if is_there]
    return [tuple(p for p, c in arcs if c == column) for column in range(n)]


@given(graphs())
def test_order(parents):
    order = find_order(parents)
    assert sorted(order) == list(range(len(parents)))
    assert all(order.index(p) < order.index(c) for c, above in enumerate(parents) for p in above)
    assert find_cycle(parents) is None


@given(st.lists(st.lists(st.integers(0, 4), unique=True, max_size=3), min_size=5, max_size=5))
def test_cycle(parents):
    cycle = find_cycle(parents)
    if cycle is None:
        assert len(find_order(parents)) == 5
    else:
        assert len(set(cycle)) == len(cycle)
        ends = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
        assert all(a in parents[b] for a, b in ends)


def test_children():
    assert children_of([(1, 2), (), (1,)]) == [[], [0, 2], [0]]


def open_paths(parents, a, b, known):
    """Whether a path is open: the definition of d-separation, path by path."""
    n = len(parents)
    below = {c: {c} for c in range(n)}
    for c in reversed(find_order(parents)):
        for p in parents[c]:
            below[p] |= below[c]
    near = [set(parents[c]) | {x for x in range(n) if c in parents[x]} for c in range(n)]

    def walk(path):
        if path[-1] == b:
            yield path
            return
        for other in near[path[-1]] - set(path):
            yield from walk([*path, other])

    def is_open(path):
        for left, middle, right in zip(path, path[1:], path[2:], strict=False):
            collides = left in parents[middle] and right in parents[middle]
            if collides and not below[middle] & known:
                return False
            if not collides and middle in known:
                return False
        return True

    return any(map(is_open, walk([a])))


@given(graphs(5), st.data())
def test_separation_by_its_definition(parents, data):
    n = len(parents)
    if n < 2:
        return
    a, b = data.draw(st.permutations(range(n)))[:2]
    rest = [c for c in range(n) if c not in (a, b)]
    known = data.draw(st.sets(st.sampled_from(rest))) if rest else set()
    assert are_separated(parents, [a], [b], known) == (not open_paths(parents, a, b, known))


@given(graphs())
def test_a_blanket_separates_from_all_others(parents):
    for column in range(len(parents)):
        blanket = markov_blanket(parents, column)
        others = set(range(len(parents))) - {column, *blanket}
        if others:
            assert are_separated(parents, [column], others, blanket)
        for member in blanket:  # and none of it is there in vain
            assert not are_separated(parents, [column], [member], set(blanket) - {member})


@given(graphs())
def test_moral_edges(parents):
    families = [{c, *above} for c, above in enumerate(parents)]
    expected = [
        pair
        for pair in combinations(range(len(parents)), 2)
        if any(set(pair) <= family for family in families)
    ]
    assert moral_edges(parents) == expected


def look(parents):
    """Return what equivalent nets share: edges and colliders."""
    edges = {frozenset((p, c)) for c, above in enumerate(parents) for p in above}
    colliders = {
        (min(a, b), c, max(a, b))
        for c, above in enumerate(parents)
        for a, b in combinations(above, 2)
        if frozenset((a, b)) not in edges
    }
    return edges, colliders


def equals(parents):
    """Go through all nets with the same edges and colliders."""
    edges = [tuple(sorted(edge)) for edge in look(parents)[0]]
    for turns in product([False, True], repeat=len(edges)):
        arcs = [(b, a) if turn else (a, b) for (a, b), turn in zip(edges, turns, strict=True)]
        other = [tuple(p for p, c in arcs if c == column) for column in range(len(parents))]
        if find_cycle(other) is None and look(other) == look(parents):
            yield set(arcs)


@given(graphs(5))
def test_essential_graph_keeps_what_all_equals_share(parents):
    shared = set.intersection(*equals(parents))
    arcs, edges = essential_graph(parents)
    assert set(arcs) == shared
    assert {frozenset(e) for e in edges} == look(parents)[0] - {frozenset(a) for a in shared}


@given(graphs(5), graphs(5))
def test_distance(one, other):
    size = min(len(one), len(other))
    one, other = ([tuple(p for p in above if p < size) for above in g[:size]] for g in (one, other))
    assert hamming_distance(one, one) == 0
    assert (hamming_distance(one, other) == 0) == (look(one) == look(other))
    plain = hamming_distance(one, other, equivalence=False)
    same = sum(
        (a in one[b], b in one[a]) != (a in other[b], b in other[a])
        for a, b in combinations(range(size), 2)
    )
    assert plain == same


class TestNamed:
    def test_blanket_and_edges(self):
        net = sprinkler()
        assert net.markov_blanket("rain") == ["sprinkler", "grass"]
        assert net.moral_edges_ == [
            ("rain", "sprinkler"), ("rain", "grass"), ("sprinkler", "grass"),
        ]  # fmt: skip
        assert net.essential_graph() == ([], net.moral_edges_)

    def test_separation(self):
        net = BayesNet.from_tables(
            {name: [0, 1] for name in "abc"},
            {"c": ["a", "b"]},
            {"a": [0.5, 0.5], "b": [0.5, 0.5], "c": np.full((2, 2, 2), 0.5)},
        )
        assert net.d_separated("a", "b")
        assert not net.d_separated("a", "b", "c")
        assert not net.d_separated("a", ["b"], given=["c"])

    def test_separation_holds_in_the_numbers(self):
        @given(nets(zeros=False))
        def check(net):
            for a, b in permutations(net.column_names_, 2):
                if net.d_separated(a, b):
                    joint = net.query([a, b]).probabilities
                    product_ = np.outer(joint.sum(axis=1), joint.sum(axis=0))
                    np.testing.assert_allclose(joint, product_, atol=1e-12)

        check()

    def test_wrong_columns(self):
        net = sprinkler()
        with pytest.raises(InputError, match="b: column 'rain' is on both sides"):
            net.d_separated("rain", "rain")
        with pytest.raises(InputError, match="given: column 'rain' is on both sides"):
            net.d_separated("rain", "grass", ["rain"])
        with pytest.raises(InputError, match="a: there is no column 'rian'; did you mean 'rain'"):
            net.d_separated("rian", "grass")
        with pytest.raises(InputError, match="column: there is no column 'x'"):
            net.markov_blanket("x")

    def test_distance_finds_columns_by_name(self):
        net = sprinkler()
        columns = {name: net.schema_[name].labels for name in ("grass", "rain", "sprinkler")}
        tables = {"rain": [0.5, 0.5], "sprinkler": [0.5, 0.5], "grass": np.full((2, 2), 0.5)}
        other = BayesNet.from_tables(columns, {"grass": ["sprinkler"]}, tables)
        assert net.structural_hamming_distance(other) == 2
        assert net.structural_hamming_distance(other, equivalence=False) == 2
        assert net.structural_hamming_distance(net) == 0

    def test_distance_of_other_columns(self):
        other = BayesNet.from_tables({"x": [1, 2]}, {}, {"x": [0.5, 0.5]})
        with pytest.raises(InputError, match="only one of the nets has a column 'grass'"):
            sprinkler().structural_hamming_distance(other)
        with pytest.raises(InputError, match="other must be a BayesNet, got str"):
            sprinkler().structural_hamming_distance("net")
