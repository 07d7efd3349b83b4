"""Exact dependency trees against weights computed from their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.structure import (
    all_weights,
    expand,
    gaussian_tree,
    kruskal,
    mixed_columns,
    tree_weight,
)
from support import strategies as strategies
from tacit import Table
from tacit.network.structure.columns import Columns
from tacit.network.structure.learn import ClassMoments, Moments, PairMoments, Settings, learn

EXACT = Settings(algorithm="exact")
examples = settings(max_examples=60)


def dense(columns):
    """Return the values of each column as a list; codes for discrete ones."""
    result = []
    for numeric, place in zip(columns.numeric, columns.index, strict=True):
        if numeric:
            result.append(np.asarray(columns.numbers)[:, place].tolist())
        else:
            result.append(columns.table.codes(int(place)).tolist())
    return result


def check(columns, weights, result):
    """The tree is a maximum spanning tree, with the weights of its edges."""
    n = columns.n_columns
    assert result.edges.shape == (n - 1, 2)
    assert result.edges.dtype == np.int64
    assert (result.edges[:, 0] < result.edges[:, 1]).all()
    assert result.edges.tolist() == sorted(result.edges.tolist())
    best = tree_weight(weights, kruskal(weights))
    assert tree_weight(weights, result.edges) == pytest.approx(best, abs=1e-9)
    np.testing.assert_allclose(
        result.weights, weights[result.edges[:, 0], result.edges[:, 1]], atol=1e-9
    )
    assert np.array_equal(result.lower, result.weights)
    assert np.array_equal(result.upper, result.weights)
    assert result.edge_usage == 1.0
    assert result.n_read == columns.n_records
    assert len(result.nodes) == n
    assert len(result.pairs) == n - 1


@examples
@given(st.integers(0, 99_999), st.integers(1, 7), st.integers(2, 40), st.sampled_from("CFis"))
def test_numbers(seed, n_columns, n_records, kind):
    x = gaussian_tree(seed, n_records, n_columns)
    if kind == "F":
        x = np.asfortranarray(x)
    elif kind == "i":
        x = np.round(2 * x).astype(np.int32)
    elif kind == "s":
        x = x.astype(np.float32)
    columns = Columns.from_array(x)
    weights = all_weights(dense(columns), [True] * n_columns)
    if kind == "s":
        weights = np.where(weights > 12, np.inf, weights)
    if np.isfinite(weights).all():
        check(columns, weights, learn(columns, EXACT))


@examples
@given(strategies.data(weights=None, with_chosen=False))
def test_codes(table):
    columns = Columns.from_table(table.table())
    weights = all_weights(dense(columns), [False] * columns.n_columns)
    result = learn(columns, EXACT)
    check(columns, weights, result)
    for (a, b), counts in zip(result.edges.tolist(), result.pairs, strict=True):
        assert np.array_equal(counts, table.joint([a, b]))
    for c, counts in enumerate(result.nodes):
        assert np.array_equal(counts, table.joint([c]))


@pytest.mark.parametrize("seed", range(6))
def test_mixed_columns(seed):
    columns = mixed_columns(seed, 120, strength=0.7)
    weights = all_weights(dense(columns), columns.numeric)
    check(columns, weights, learn(columns, EXACT))


def test_weights_of_records_repeat_them():
    rng = np.random.default_rng(3)
    x = gaussian_tree(3, 60, 4)
    weights = rng.integers(0, 4, 60).astype(float)
    table = Table(rng.integers(0, 3, (60, 2)), columns=["p", "q"])
    names = ["a", "b", "c", "d"]
    heavy = learn(Columns.mixed(x, names, table.with_weights(weights)), EXACT)
    rows = expand(range(60), weights)
    again = Table(table.to_numpy()[rows], columns=["p", "q"])
    plain = learn(Columns.mixed(x[rows], names, again), EXACT)
    assert heavy.edges.tolist() == plain.edges.tolist()
    np.testing.assert_allclose(heavy.weights, plain.weights, atol=1e-12)
    assert heavy.nodes[0].variance == pytest.approx(plain.nodes[0].variance)
    weighted = learn(Columns.from_array(x, weights=weights), EXACT)
    np.testing.assert_allclose(
        weighted.weights, learn(Columns.from_array(x[rows]), EXACT).weights, atol=1e-12
    )


def test_statistics_of_edges():
    columns = mixed_columns(1, 500)
    result = learn(columns, EXACT)
    values = dense(columns)
    for c, node in enumerate(result.nodes):
        if columns.numeric[c]:
            assert isinstance(node, Moments)
            assert node.n == 500
            assert node.mean == pytest.approx(np.mean(values[c]))
            assert node.variance == pytest.approx(np.var(values[c]))
        else:
            assert node.tolist() == np.bincount(values[c], minlength=len(node)).tolist()
    kinds = set()
    for (a, b), pair in zip(result.edges.tolist(), result.pairs, strict=True):
        kinds.add(type(pair))
        if isinstance(pair, PairMoments):
            x, y = np.array(values[a]), np.array(values[b])
            assert (pair.mean_a, pair.mean_b) == pytest.approx((x.mean(), y.mean()))
            assert (pair.var_a, pair.var_b) == pytest.approx((x.var(), y.var()))
            assert pair.cov == pytest.approx(np.cov(x, y, bias=True)[0, 1])
        elif isinstance(pair, ClassMoments):
            codes, x = (b, a) if columns.numeric[a] else (a, b)
            for code in range(len(pair.counts)):
                part = np.array(values[x])[np.array(values[codes]) == code]
                assert pair.counts[code] == len(part)
                assert pair.means[code] == pytest.approx(part.mean())
                assert pair.variances[code] == pytest.approx(part.var())
    assert kinds == {PairMoments, ClassMoments, np.ndarray}


@pytest.mark.parametrize("seed", range(4))
def test_missing_values_are_left_out_pair_by_pair(seed):
    rng = np.random.default_rng(seed)
    x = gaussian_tree(seed, 80, 4)
    x[rng.random(x.shape) < 0.2] = np.nan
    codes = rng.integers(0, 3, (80, 3)).astype(object)
    codes[:, 1] = np.where(rng.random(80) < 0.7, codes[:, 0], codes[:, 1])
    gone = rng.random(codes.shape) < 0.2
    codes[gone] = None
    names = ["d", "e", "f"]
    table = Table({name: codes[:, k].tolist() for k, name in enumerate(names)})
    columns = Columns.mixed(x, ["v", "w", "x", "y"], table)
    values = [
        *x.T.tolist(),
        *[[np.nan if v is None else v for v in codes[:, k]] for k in range(3)],
    ]
    weights = all_weights(values, columns.numeric)
    result = learn(columns, Settings(algorithm="exact", missing="ignore"))
    check(columns, weights, result)
    for node, column in zip(result.nodes[4:], values[4:], strict=True):
        assert node.sum() == np.isfinite(column).sum()
    for node, column in zip(result.nodes[:4], values[:4], strict=True):
        assert (node.n, node.mean) == pytest.approx((np.isfinite(column).sum(), np.nanmean(column)))


def test_constant_and_identical_columns():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 300))
    x = np.stack([a, np.full(300, 0.1), 5 - 2 * a, b + 1e6, a], axis=1)
    result = learn(Columns.from_array(x), EXACT)
    assert result.edges.tolist()[:2] == [[0, 1], [0, 2]]  # all edges of column 1 weigh nothing
    assert [0, 4] in result.edges.tolist()
    weights = dict(zip(map(tuple, result.edges.tolist()), result.weights.tolist(), strict=True))
    assert weights[0, 1] == 0
    assert weights[0, 2] == weights[0, 4] == np.inf
    only = learn(Columns.from_array(np.ones((5, 3))), EXACT)
    assert only.edges.tolist() == [[0, 1], [0, 2]]
    assert only.weights.tolist() == [0, 0]


def test_one_column_has_no_edges():
    result = learn(Columns.from_array(np.arange(4.0)[:, None]), EXACT)
    assert result.edges.shape == (0, 2)
    assert result.nodes == [Moments(4.0, 1.5, 1.25)]
    mist = learn(
        Columns.from_array(np.arange(9.0)[:, None]), Settings(algorithm="mist", initial_sample=2)
    )
    assert mist.edges.shape == (0, 2)


def test_far_from_zero_is_as_good_as_near_it():
    x = gaussian_tree(5, 2000, 5)
    near, far = (learn(Columns.from_array(x + shift), EXACT) for shift in (0.0, 1e8))
    assert near.edges.tolist() == far.edges.tolist()
    np.testing.assert_allclose(near.weights, far.weights, rtol=1e-6)
