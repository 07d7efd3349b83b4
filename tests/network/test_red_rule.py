"""The paper's figure 1: trees by striking edges out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree

from oracles.structure import kruskal
from tacit import InputError
from tacit.network import red_rule_tree


def random_weights(seed, n):
    weights = np.random.default_rng(seed).random((n, n))
    return np.triu(weights, 1) + np.triu(weights, 1).T


@given(st.integers(0, 10_000), st.integers(1, 12))
def test_exact_weights_give_scipys_tree(seed, n):
    weights = random_weights(seed, n)
    expected = np.sort(np.argwhere(minimum_spanning_tree(-weights).toarray()), axis=1)
    result = red_rule_tree(n, weights)
    assert result.shape == (n - 1, 2)
    assert sorted(map(tuple, expected.tolist())) == list(map(tuple, result.tolist()))


@given(st.integers(0, 10_000), st.integers(2, 8))
def test_ties_go_to_the_smaller_pair(seed, n):
    weights = np.round(3 * random_weights(seed, n))
    assert red_rule_tree(n, weights).tolist() == kruskal(weights).tolist()


@given(st.integers(0, 10_000), st.integers(2, 9), st.floats(0, 0.6))
def test_an_oracle_may_refuse_to_answer_now_and_then(seed, n, silence):
    weights = random_weights(seed, n)
    rng = np.random.default_rng(seed)
    refused = {}

    def compare(e, f):
        assert e[0] < e[1]
        assert f[0] < f[1]
        # A question that was refused once is answered the next time.
        if rng.random() < silence and not refused.get((e, f)):
            refused[e, f] = True
            return 0
        refused[e, f] = False
        return 1 if weights[e] > weights[f] else -1

    assert red_rule_tree(n, compare).tolist() == kruskal(weights).tolist()


def test_an_oracle_that_never_knows_is_given_up():
    with pytest.raises(InputError, match="could not tell 3 edges"):
        red_rule_tree(4, lambda e, f: 0)


def test_it_says_what_is_wrong_with_its_arguments():
    with pytest.raises(InputError, match="n must be a whole number"):
        red_rule_tree(0, np.zeros((0, 0)))
    with pytest.raises(InputError, match=r"shape \(3, 3\)"):
        red_rule_tree(3, np.zeros((2, 2)))
    with pytest.raises(InputError, match="symmetric"):
        red_rule_tree(2, [[0, 1], [2, 0]])
    with pytest.raises(InputError, match="1, -1 or 0"):
        red_rule_tree(3, lambda e, f: 2)
