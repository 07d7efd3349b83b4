"""Scores of families against the slow ones, and what the definitions promise."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import network as oracle
from support.strategies import data
from tacit import Table
from tacit.network.search import search

prior_weights = st.sampled_from([0.5, 1.0, 3.0, 10.0])


@st.composite
def families(draw, n):
    """A child and up to three parents, in any order."""
    order = draw(st.permutations(range(n)))
    return order[0], tuple(order[1 : 1 + draw(st.integers(0, min(3, n - 1)))])


@pytest.mark.parametrize("score", oracle.SCORES)
@given(draw=st.data(), records=data(max_columns=5, with_chosen=False), weight=prior_weights)
def test_the_score_of_a_family_is_that_of_its_definition(score, draw, records, weight):
    child, parents = draw.draw(families(len(records.arities)))
    actual = search.family_score(records.table(), child, parents, score, weight)
    expected = oracle.family_score(
        records.rows, records.arities, child, parents, score, weight, records.weights
    )
    assert actual == pytest.approx(expected, rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("score", oracle.SCORES)
@given(records=data(max_columns=4, with_chosen=False), weight=prior_weights)
def test_the_order_of_parents_does_not_matter(score, records, weight):
    n = len(records.arities)
    table, parents = records.table(), list(range(1, n))
    forward = search.family_score(table, 0, parents, score, weight)
    backward = search.family_score(table, 0, parents[::-1], score, weight)
    assert forward == pytest.approx(backward, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("score", oracle.SCORES)
@given(records=data(max_columns=4, with_chosen=False, weights=None), draw=st.data())
def test_the_choice_of_defaults_does_not_matter(score, records, draw):
    n = len(records.arities)
    others = [draw.draw(st.integers(0, arity - 1)) for arity in records.arities]
    parents = list(range(1, n))
    one = search.family_score(records.table(), 0, parents, score, 1.0)
    two = search.family_score(records.with_(defaults=others).table(), 0, parents, score, 1.0)
    assert one == pytest.approx(two, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("score", ["bic", "aic", "bdeu"])
@given(records=data(max_columns=3, with_chosen=False, weights=None), weight=prior_weights)
def test_nets_of_one_equivalence_class_score_the_same(score, records, weight):
    """bds, k2 and penalized do not promise it."""
    if len(records.arities) < 2:
        return
    table = records.table()
    there = search.family_score(table, 0, (), score, weight)
    there += search.family_score(table, 1, (0,), score, weight)
    back = search.family_score(table, 1, (), score, weight)
    back += search.family_score(table, 0, (1,), score, weight)
    assert there == pytest.approx(back, rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("score", oracle.SCORES)
def test_a_weight_of_two_is_the_record_twice(score):
    codes = np.random.default_rng(0).integers(0, 3, (60, 3))
    names = ["a", "b", "c"]
    frame = pl.DataFrame({k: codes[:, i].astype(str) for i, k in enumerate(names)})
    weights = np.random.default_rng(1).integers(0, 3, 60)
    repeated = frame[np.repeat(np.arange(60), weights)]
    one = Table(frame, weights=weights.astype(float))
    two = Table(repeated)
    assert [c.labels for c in one.columns] == [c.labels for c in two.columns]
    for child, parents in ((0, ()), (1, (0,)), (2, (0, 1))):
        first = search.family_score(one, child, parents, score, 2.0)
        assert first == pytest.approx(search.family_score(two, child, parents, score, 2.0))


def test_the_penalized_likelihood_counts_every_entry_of_a_table():
    codes = np.random.default_rng(0).integers(0, 3, (50, 2))
    table = Table(pl.DataFrame({"a": codes[:, 0].astype(str), "b": codes[:, 1].astype(str)}))
    bic = search.family_score(table, 1, (0,), "bic", 1.0)
    penalized = search.family_score(table, 1, (0,), "penalized", 1.0)
    assert bic - penalized == pytest.approx(0.5 * math.log(50) * 3)


def test_the_worked_example_of_bdeu():
    """Four records, a coin and its copy: each factor of the marginal likelihood by hand."""
    table = Table(pl.DataFrame({"a": ["x", "x", "y", "y"], "b": ["x", "x", "y", "y"]}))
    # Alone: Γ(1)/Γ(5) · (Γ(2.5)/Γ(.5))². Given b, for each state: Γ(.5)/Γ(2.5) · Γ(2.25)/Γ(.25).
    lone = math.log(1 / 24 * (1.5 * 0.5) ** 2)
    given_b = 2 * math.log((1.25 * 0.25) / (1.5 * 0.5))
    assert search.family_score(table, 0, (), "bdeu", 1.0) == pytest.approx(lone)
    assert search.family_score(table, 0, (1,), "bdeu", 1.0) == pytest.approx(given_b)


@pytest.mark.parametrize("score", oracle.SCORES)
def test_a_parent_state_that_never_occurs(score):
    """Two parents of which two combinations are never seen: bdeu and bds part here."""
    rows = [(a, a, (a + k) % 2) for k in range(2) for a in (0, 1, 1)]
    frame = pl.DataFrame(
        {k: [f"v{row[i]}" for row in rows] for i, k in enumerate("abc")},
        schema={k: pl.Enum(["v0", "v1"]) for k in "abc"},
    )
    actual = search.family_score(Table(frame), 2, (0, 1), score, 1.0)
    expected = oracle.family_score(rows, [2, 2, 2], 2, (0, 1), score, 1.0)
    assert actual == pytest.approx(expected)
    if score == "bds":
        assert actual != pytest.approx(oracle.family_score(rows, [2] * 3, 2, (0, 1), "bdeu"))


def test_parents_of_more_states_than_a_table_could_hold():
    """A dense table of all parent states would not fit; only those that occur are counted."""
    codes = np.random.default_rng(3).integers(0, 6, (200, 31))
    groups: dict[tuple[int, ...], np.ndarray] = {}
    for row in codes.tolist():
        groups.setdefault(tuple(row[1:]), np.zeros(6))[row[0]] += 1
    q = 6.0**30
    expected = sum(
        math.lgamma(1 / q) - math.lgamma(c.sum() + 1 / q)
        + sum(math.lgamma(n + 1 / (6 * q)) - math.lgamma(1 / (6 * q)) for n in c if n)
        for c in groups.values()
    )  # fmt: skip
    actual = search.family_score(Table(codes), 0, range(1, 31), "bdeu")
    assert actual == pytest.approx(expected)


def test_a_net_scores_the_sum_of_its_families():
    codes = np.random.default_rng(4).integers(0, 3, (90, 4))
    net = ((), (0,), (0, 1), (2,))
    for score in oracle.SCORES:
        families = oracle.Families(codes.tolist(), [3] * 4, score, 2.0)
        actual = search.network_score(Table(codes), net, score, 2.0)
        assert actual == pytest.approx(families.net(net), rel=1e-9)


@pytest.mark.parametrize("score", oracle.SCORES)
@given(records=data(max_columns=4, with_chosen=False, weights=None), draw=st.data())
def test_available_cases_gain_over_the_column_alone(score, records, draw):
    n, m = len(records.arities), len(records.rows)
    gone = draw.draw(st.lists(st.tuples(st.integers(0, m - 1), st.integers(0, n - 1))))
    rows = [
        [None if (r, c) in gone else v for c, v in enumerate(row)]
        for r, row in enumerate(records.rows)
    ]
    labels = [[f"v{k}" for k in range(arity)] for arity in records.arities]
    frame = pl.DataFrame(
        {
            name: pl.Series(
                [None if row[c] is None else f"v{row[c]}" for row in rows], dtype=pl.Enum(labels[c])
            )
            for c, name in enumerate(records.names)
        }
    )
    parents = tuple(range(1, n))
    table = Table(frame)
    actual = search.family_score(table, 0, parents, score, 1.0, missing="ignore")
    expected = oracle.family_score(rows, records.arities, 0, parents, score, 1.0)
    assert actual == pytest.approx(expected, rel=1e-9, abs=1e-7)
