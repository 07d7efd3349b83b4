"""Columns to adjust for: against all sets of columns, and paths that are walked one by one."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.nets import joint_of, marginal, nets, sprinkler
from tacit import BayesNet, InputError


def descendants(parents, column):
    found = {column}
    for _ in parents:
        found |= {c for c, above in enumerate(parents) if found & set(above)}
    return found


def paths(parents, one, other, so_far=None):
    """Yield all ways from one column to another that pass no column twice."""
    so_far = so_far or [one]
    if so_far[-1] == other:
        yield so_far
        return
    last = so_far[-1]
    for c in range(len(parents)):
        if c not in so_far and (c in parents[last] or last in parents[c]):
            yield from paths(parents, one, other, [*so_far, c])


def blocked(parents, path, known):
    """Return whether a path is closed: by the definition of d-separation."""
    for before, c, after in zip(path, path[1:], path[2:], strict=False):
        collider = before in parents[c] and after in parents[c]
        if collider and not descendants(parents, c) & known:
            return True
        if not collider and c in known:
            return True
    return False


def meets_back_door(parents, treatment, outcome, known):
    if known & descendants(parents, treatment) or outcome in known:
        return False
    ways = (p for p in paths(parents, treatment, outcome) if p[1] in parents[treatment])
    return all(blocked(parents, path, known) for path in ways)


def smallest(parents, treatment, outcome, allowed):
    """Return all sets of the smallest size that will do."""
    others = sorted(set(allowed) - {treatment, outcome})
    for size in range(len(others) + 1):
        found = [set(z) for z in combinations(others, size)
                 if meets_back_door(parents, treatment, outcome, set(z))]  # fmt: skip
        if found:
            return found
    return []


@given(nets(max_columns=6), st.data())
def test_is_one_of_the_smallest(net, data):
    n = len(net.column_names_)
    if n < 2:
        return
    treatment, outcome = data.draw(st.permutations(range(n)))[:2]
    allowed = data.draw(st.none() | st.sets(st.integers(0, n - 1)))
    found = net.adjustment_set(
        treatment, outcome, columns=None if allowed is None else sorted(allowed)
    )
    expected = smallest(net.parents_, treatment, outcome, range(n) if allowed is None else allowed)
    if not expected:
        assert found is None
    else:
        assert {net.schema_.position(name) for name in found} in expected


@given(nets(max_columns=5, zeros=False), st.data())
def test_adjusting_gives_what_doing_does(net, data):
    n = len(net.column_names_)
    if n < 2:
        return
    x, y = data.draw(st.permutations(range(n)))[:2]
    found = net.adjustment_set(x, y)
    if found is None:  # the outcome is a cause of the treatment
        assert y in net.parents_[x]
        return
    z = [net.schema_.position(name) for name in found]
    joint = marginal(joint_of(net), [x, y, *z])
    arities = net.schema_.arities
    for code in range(int(arities[x])):
        adjusted = np.zeros(int(arities[y]))
        for cell in product(*(range(int(arities[c])) for c in z)):
            known = joint[(slice(None), slice(None), *cell)]
            adjusted += known[code] / known[code].sum() * known.sum()
        done = net.query(y, do={x: net.schema_.labels[x][code]})
        np.testing.assert_allclose(done.probabilities, adjusted, atol=1e-12)


def arcs(text):
    """Return a net of arcs such as ``a>b b>c``, with any tables."""
    pairs = [arc.split(">") for arc in text.split()]
    names = sorted({name for pair in pairs for name in pair})
    rng = np.random.default_rng(0)
    records = {name: rng.integers(0, 2, 50) for name in names}
    return BayesNet.from_arcs(records, pairs)


@pytest.mark.parametrize(
    ("graph", "columns", "expected"),
    [
        ("x>y", None, []),
        ("z>x z>y x>y", None, ["z"]),
        ("z>x z>y x>y", [], None),
        ("x>m m>y", None, []),
        ("a>x a>c b>c b>y x>y", None, []),  # the collider closes the way (M-bias)
        ("a>x a>c b>c b>y c>x c>y", None, ["b", "c"]),
        ("u>x u>v v>y x>y", None, ["v"]),  # nearest to the outcome
        ("u>x u>v v>y x>y", ["u"], ["u"]),
        ("y>x", None, None),
        ("y>m m>x", None, ["m"]),
    ],
)
def test_graphs_of_the_textbooks(graph, columns, expected):
    assert arcs(graph).adjustment_set("x", "y", columns=columns) == expected


def test_bad_input():
    net = sprinkler()
    assert net.adjustment_set("sprinkler", "grass") == ["rain"]
    with pytest.raises(InputError, match="outcome: it is the treatment"):
        net.adjustment_set("rain", "rain")
    with pytest.raises(InputError, match="treatment: there is no column 'snow'"):
        net.adjustment_set("snow", "rain")
    with pytest.raises(InputError, match="columns: there is no column 'snow'"):
        net.adjustment_set("rain", "grass", columns=["snow"])
