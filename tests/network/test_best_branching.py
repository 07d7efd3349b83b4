"""Maximum branchings of weights against all parent vectors and an independent Edmonds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from oracles import network as oracle
from support.strategies import data
from tacit.network.search.search import arc_gains, best_branching


@st.composite
def matrices(draw, max_n=6):
    """Small integers, so that ties and cycles are common; some arcs are worth nothing."""
    n = draw(st.integers(1, max_n))
    return draw(hnp.arrays(np.float64, (n, n), elements=st.integers(-2, 6).map(float)))


@given(matrices(5))
@settings(max_examples=60)
def test_the_slow_edmonds_finds_the_best_of_all_branchings(weights):
    parents = oracle.edmonds(weights)
    assert oracle.is_branching(parents)
    assert oracle.branching_weight(weights, parents) == oracle.best_branching_weight(weights)


@given(matrices(6))
@settings(max_examples=40)
def test_the_best_branching_is_the_best_of_all(weights):
    parents = best_branching(weights).tolist()
    assert oracle.is_branching(parents)
    assert oracle.branching_weight(weights, parents) == oracle.best_branching_weight(weights)
    assert all(weights[p, child] > 0 for child, p in enumerate(parents) if p >= 0)


@pytest.mark.parametrize("n", [1, 2, 15, 60])
@pytest.mark.parametrize("low", [-1.0, 0.0, 0.9])
def test_branchings_of_many_nodes_equal_the_slow_edmonds(n, low):
    """Above 0.9 nearly the same everywhere: cycles within cycles."""
    weights = np.random.default_rng(n).uniform(low, 1, (n, n))
    parents = best_branching(weights).tolist()
    assert oracle.is_branching(parents)
    expected = oracle.branching_weight(weights, oracle.edmonds(weights))
    assert oracle.branching_weight(weights, parents) == pytest.approx(expected, rel=1e-12)


@given(records=data(max_rows=30, max_columns=5, with_chosen=False))
def test_the_gains_of_arcs_are_differences_of_scores(records):
    n = len(records.arities)
    families = oracle.Families(records.rows, records.arities, "bdeu", 2.0, records.weights)
    expected = oracle.branching_gains(families, n)
    np.fill_diagonal(expected, 0.0)
    assert arc_gains(records.table(), "bdeu", 2.0) == pytest.approx(expected, rel=1e-9, abs=1e-7)
