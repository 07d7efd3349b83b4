"""Exact trees of mutual information against the full matrix and SciPy's spanning tree."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from oracles import network as oracle
from support.strategies import data
from tacit import Table
from tacit.network.structure import chow_liu


def tree_of(table, missing):
    """Return edges and weights; the counts that come with them are those of contingency tables."""
    result = chow_liu.learn(table, missing)
    labels = table.schema.labels
    gone = [known.missing if missing == "ignore" else None for known in labels]
    for column, counts in enumerate(result.nodes):
        expected = table.one_way().array(column).astype(float)
        expected[[] if gone[column] is None else gone[column]] = 0
        assert counts.tolist() == pytest.approx(expected.tolist())
    for (a, b), counts in zip(result.edges.tolist(), result.pairs, strict=True):
        expected = np.array(table.contingency([a, b]).to_array(), float)
        expected[[] if gone[a] is None else gone[a], :] = 0
        expected[:, [] if gone[b] is None else gone[b]] = 0
        assert counts == pytest.approx(expected, abs=1e-9)
    return result.edges, result.weights


def check(table, matrix):
    """The edges are a tree in the promised order, its weights are right and its sum the best."""
    edges, weights = tree_of(table, "state")
    n = len(matrix)
    assert edges.shape == (max(n - 1, 0), 2)
    assert weights.shape == (max(n - 1, 0),)
    pairs = [tuple(edge) for edge in edges.tolist()]
    assert all(a < b for a, b in pairs)
    assert pairs == sorted(pairs)
    assert oracle.is_spanning_tree(n, pairs)
    assert weights == pytest.approx([matrix[p] for p in pairs], rel=1e-7, abs=1e-10)
    assert weights.sum() == pytest.approx(oracle.chow_liu_weight(matrix), rel=1e-7, abs=1e-9)
    return pairs, weights


@given(hnp.arrays(np.float64, (5, 5), elements=st.integers(0, 5).map(lambda n: n / 4)))
@settings(max_examples=50)
def test_scipy_finds_the_best_of_all_spanning_trees(square):
    matrix = np.maximum(square, square.T)
    assert oracle.chow_liu_weight(matrix) == pytest.approx(oracle.best_tree_weight(matrix))


@given(data(with_chosen=False))
def test_the_tree_is_the_best_and_its_weights_are_informations(records):
    if records.weights is not None and sum(records.weights) == 0:
        return
    check(
        records.table(), oracle.information_matrix(records.rows, records.arities, records.weights)
    )


@given(data(with_chosen=False, weights=None, max_columns=5), st.data())
def test_the_choice_of_defaults_does_not_matter(records, draw):
    others = [draw.draw(st.integers(0, arity - 1)) for arity in records.arities]
    one, first = tree_of(records.table(), "state")
    two, second = tree_of(records.with_(defaults=others).table(), "state")
    assert first.sum() == pytest.approx(second.sum(), abs=1e-10)
    assert len(one) == len(two)


@given(data(with_chosen=False, weights=None, max_columns=5, max_rows=16))
def test_likelihood_is_entropies_less_the_weights(records):
    """Total correlation: mean log-likelihood = − Σ H(column) + Σ I(edge)."""
    edges, weights = tree_of(records.table(), "state")
    entropies = sum(
        oracle.entropy(oracle.family_counts(records.rows, records.arities, c, ())[0])
        for c in range(len(records.arities))
    )
    pairs = [tuple(edge) for edge in edges.tolist()]
    mean = oracle.tree_log_likelihood(records.rows, records.arities, pairs) / len(records.rows)
    assert mean == pytest.approx(weights.sum() - entropies, abs=1e-9)


def test_no_other_tree_is_more_likely():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (200, 5))
    codes[:100, 2] = codes[:100, 0]
    codes[:120, 4] = codes[:120, 1]
    rows = codes.tolist()
    edges, _ = tree_of(Table(codes), "state")
    best = oracle.tree_log_likelihood(rows, [2] * 5, [tuple(e) for e in edges.tolist()])
    chain = oracle.tree_log_likelihood(rows, [2] * 5, [(0, 1), (1, 2), (2, 3), (3, 4)])
    star = oracle.tree_log_likelihood(rows, [2] * 5, [(0, c) for c in range(1, 5)])
    assert best >= max(chain, star)


@pytest.mark.parametrize("density", [0.002, 0.02, 0.2, 0.7])
@pytest.mark.parametrize("shape", [(400, 60), (3000, 150)])
def test_sparse_binary_columns_with_few_pairs_that_meet(density, shape):
    """Pairs that never meet still have information; the largest ones must not be forgotten."""
    rng = np.random.default_rng(int(1000 * density))
    shares = np.clip(rng.pareto(1.5, shape[1]) * density, 1e-4, 0.95)
    dense = (rng.random(shape) < shares).astype(np.int8)
    dense[: shape[0] // 3, 1] = dense[: shape[0] // 3, 0]
    table = Table(sparse.csr_array(dense))
    ones = dense.astype(np.float64)
    m = shape[0]
    eleven = ones.T @ ones
    singles = ones.sum(axis=0)
    ten = singles[:, None] - eleven
    cells = np.stack([eleven, ten, ten.T, m - eleven - ten - ten.T])
    p, q = singles / m, 1 - singles / m
    outer = np.stack([np.outer(p, p), np.outer(p, q), np.outer(q, p), np.outer(q, q)])
    share = cells / m
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(share > 0, share * np.log(share / outer), 0.0)
    matrix = np.maximum(terms.sum(axis=0), 0.0)
    np.fill_diagonal(matrix, 0.0)
    check(table, matrix)


def test_columns_that_exclude_each_other_are_joined():
    """No record has both: the pair never meets, and yet one tells all about the other."""
    coin = np.random.default_rng(0).integers(0, 2, 500)
    other = np.random.default_rng(1).integers(0, 2, (500, 3))
    dense = np.column_stack([coin, other, 1 - coin]).astype(np.int8)
    table = Table(sparse.csr_array(dense))
    edges, weights = tree_of(table, "state")
    pairs = [tuple(edge) for edge in edges.tolist()]
    assert (0, 4) in pairs
    assert weights[pairs.index((0, 4))] == pytest.approx(oracle.entropy(np.bincount(coin)))


def test_identical_columns_share_their_whole_entropy():
    codes = np.random.default_rng(0).integers(0, 4, (300, 1))
    edges, weights = tree_of(Table(np.hstack([codes] * 3)), "state")
    assert len(edges) == 2
    assert weights == pytest.approx([oracle.entropy(np.bincount(codes[:, 0]))] * 2)


def test_constant_columns_are_joined_with_weight_zero():
    codes = np.random.default_rng(0).integers(0, 2, (50, 4))
    codes[:, [1, 3]] = 1
    edges, weights = tree_of(Table(codes), "state")
    assert oracle.is_spanning_tree(4, [tuple(e) for e in edges.tolist()])
    assert sorted(weights.tolist())[:2] == pytest.approx([0, 0], abs=1e-12)


def test_ties_go_to_the_smaller_pair():
    codes = np.tile(np.random.default_rng(0).integers(0, 2, (64, 1)), (1, 5))
    edges, _ = tree_of(Table(codes), "state")
    assert edges.tolist() == [[0, 1], [0, 2], [0, 3], [0, 4]]


def test_one_column_has_no_edges():
    edges, weights = tree_of(Table(np.array([[0], [1]])), "state")
    assert edges.shape == (0, 2)
    assert weights.shape == (0,)


@given(records=data(max_columns=4, with_chosen=False, weights=None), draw=st.data())
def test_missing_values_can_be_ignored(records, draw):
    n, m = len(records.arities), len(records.rows)
    gone = draw.draw(st.lists(st.tuples(st.integers(0, m - 1), st.integers(0, n - 1))))
    rows = [
        [None if (r, c) in gone else v for c, v in enumerate(row)]
        for r, row in enumerate(records.rows)
    ]
    frame = pl.DataFrame(
        {
            name: pl.Series(
                [None if row[c] is None else f"v{row[c]}" for row in rows],
                dtype=pl.Enum([f"v{k}" for k in range(records.arities[c])]),
            )
            for c, name in enumerate(records.names)
        }
    )
    matrix = oracle.information_matrix(rows, records.arities)
    edges, weights = tree_of(Table(frame), "ignore")
    pairs = [tuple(edge) for edge in edges.tolist()]
    assert oracle.is_spanning_tree(n, pairs)
    assert weights == pytest.approx([matrix[p] for p in pairs], rel=1e-7, abs=1e-10)
    assert weights.sum() == pytest.approx(oracle.chow_liu_weight(matrix), rel=1e-7, abs=1e-9)
