"""Kernels of the grid: cells, order by block, near ranges, split blocks, similarities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from oracles import grid as oracle
from tacit import InputError, _core
from tacit.similarity.graph import near_graph, near_indices, similarities
from tacit.similarity.grid.blocks import Blocks, near_blocks, split_blocks
from tacit.similarity.grid.grid import Grid

KINDS = ("squared_distance", "distance", "exponential", "rbf", "cosine")
JOBS = (1, 2, 5)


@st.composite
def placed(draw, most=40):
    """Objects in a small space, and a grid over them."""
    p = draw(st.integers(1, 4))
    n = draw(st.integers(1, most))
    numbers = st.integers(-8, 8).map(float) | st.floats(-8, 8, allow_subnormal=False)
    coords = draw(hnp.arrays(np.float64, (n, p), elements=numbers))
    resolution = draw(st.lists(st.integers(1, 9), min_size=p, max_size=p))
    return coords, Grid.over(coords, resolution)


def dense_pattern(graph):
    """Stored values as a dense array, NaN where nothing is stored."""
    found = np.full(graph.shape, np.nan)
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    found[rows, graph.indices] = graph.data
    return found


@given(placed())
def test_cells_are_those_of_exact_arithmetic_up_to_rounding(case):
    coords, grid = case
    wanted = np.array(oracle.cells(coords, grid.lower, grid.upper, grid.resolution))
    got = grid.cells(coords)
    gap = grid.upper - grid.lower
    share = (coords - grid.lower) * grid.resolution / np.where(gap > 0, gap, 1)
    edge = np.abs(share - np.round(share)) < 1e-9
    assert np.array_equal(got[~edge], wanted[~edge])
    assert np.abs(got - wanted).max() <= 1


def test_whole_numbers_fall_where_they_should():
    coords = np.arange(16.0)[:, None]
    for k in (1, 2, 3, 5, 15):
        grid = Grid.over(coords, k)
        assert grid.cells(coords)[:, 0].tolist() == [min(i * k // 15, k - 1) for i in range(16)]


def test_objects_outside_go_to_the_cells_at_the_ends():
    grid = Grid(np.zeros(2), np.ones(2), (4, 5))
    beyond = np.array([[-9.0, 2.0], [1e300, -1e300], [np.inf, -np.inf]])
    assert grid.cells(beyond).tolist() == [[0, 4], [3, 0], [3, 0]]


@given(
    hnp.arrays(np.int64, st.integers(0, 200), elements=st.integers(0, 2**40) | st.integers(0, 5))
)
def test_sorting_by_block(keys):
    unique, starts, order = _core.sort_blocks(keys)
    wanted = np.argsort(keys, kind="stable")
    assert np.array_equal(order, wanted)
    assert np.array_equal(unique, np.unique(keys))
    assert np.array_equal(np.repeat(unique, np.diff(starts)), keys[wanted])


@given(placed())
def test_near_pairs_are_those_of_touching_cells(case):
    coords, grid = case
    blocks = Blocks.of(grid, coords)
    near = near_blocks(blocks, blocks, grid)
    offsets, second = near_indices(near, "upper", 1)
    first = np.repeat(np.arange(len(coords)), np.diff(offsets))
    found = list(zip(first.tolist(), second.tolist(), strict=True))
    assert len(found) == len(set(found))
    assert set(found) == oracle.near_pairs(grid.cells(coords).tolist())
    assert found == sorted(found)
    assert (near.n_entries - len(coords)) // 2 == len(found)


@given(placed(), st.integers(1, 6))
def test_split_blocks_keep_what_is_closer_than_the_smaller_block(case, crowded):
    coords, grid = case
    near = split_blocks(grid, coords, crowded)
    offsets, second = near_indices(near, "upper", 1)
    first = np.repeat(np.arange(len(coords)), np.diff(offsets))
    found = set(zip(first.tolist(), second.tolist(), strict=True))
    plain = oracle.near_pairs(grid.cells(coords).tolist())
    assert found <= plain
    level = np.empty(len(coords), int)
    level[near.rows.order] = np.repeat(near.rows.levels, near.rows.sizes)
    for i, j in plain - found:
        width = grid.widths / 2.0 ** max(level[i], level[j])
        assert np.any(np.abs(coords[i] - coords[j]) >= width * (1 - 1e-9))
    assert near.rows.sizes.sum() == len(coords)


def test_split_blocks_hold_no_more_than_asked_for():
    coords = np.random.default_rng(0).normal(size=(3000, 2))
    near = split_blocks(Grid.over(coords, 3), coords, 20)
    assert near.rows.sizes.max() <= 20
    assert near.rows.levels.max() > 1


def test_identical_objects_cannot_be_split():
    coords = np.ones((500, 2))
    coords[0] = 0
    near = split_blocks(Grid.over(coords, 2), coords, 10)
    assert near.rows.sizes.max() == 499


@settings(deadline=None)
@given(placed(), st.integers(1, 12), st.sampled_from(KINDS), st.data())
def test_dense_similarities(case, d, kind, data):
    coords, grid = case
    n = len(coords)
    X = data.draw(
        hnp.arrays(np.float64, (n, d), elements=st.floats(-50, 50, allow_subnormal=False))
    )
    scale = data.draw(st.sampled_from([0.0, 0.1, 1.0, 30.0]))
    pairs = oracle.near_pairs(grid.cells(coords).tolist())
    upper = near_graph(grid, coords, X, kind=kind, scale=scale, triangle="upper")
    wanted = oracle.matrix(pairs, kind, scale, X, X)
    np.testing.assert_allclose(dense_pattern(upper), wanted, rtol=1e-11, atol=1e-300)
    both = dense_pattern(near_graph(grid, coords, X, kind=kind, scale=scale))
    assert np.array_equal(both, both.T, equal_nan=True)
    lower = np.tril_indices(n)
    np.testing.assert_array_equal(
        both[np.triu_indices(n, 1)], dense_pattern(upper)[np.triu_indices(n, 1)]
    )
    assert np.isnan(dense_pattern(upper)[lower]).all()
    own = dense_pattern(near_graph(grid, coords, X, kind=kind, scale=scale, diagonal=True))
    np.testing.assert_allclose(np.diag(own), [oracle.measure(kind, scale, x, x) for x in X])


@settings(deadline=None)
@given(placed(), placed(), st.integers(1, 9), st.sampled_from(KINDS), st.booleans(), st.data())
def test_similarities_to_other_objects(case, other, d, kind, is_sparse, data):
    coords, grid = case
    p = coords.shape[1]
    moved = np.resize(other[0], (len(other[0]), p))
    numbers = st.sampled_from([0.0, 0.0, 1.0, -2.5, 3.25])
    X = data.draw(hnp.arrays(np.float64, (len(coords), d), elements=numbers))
    Y = data.draw(hnp.arrays(np.float64, (len(moved), d), elements=numbers))
    pairs = oracle.near_across(grid.cells(coords).tolist(), grid.cells(moved).tolist())
    wanted = oracle.matrix(pairs, kind, 0.5, X, Y)
    given_X, given_Y = (sparse.csr_array(X), sparse.csr_array(Y)) if is_sparse else (X, Y)
    graph = near_graph(grid, coords, given_X, others=(moved, given_Y), kind=kind, scale=0.5)
    np.testing.assert_allclose(dense_pattern(graph), wanted, rtol=1e-11, atol=1e-300)


@settings(deadline=None)
@given(placed(), st.sampled_from(KINDS), st.data())
def test_sparse_rows_give_what_dense_rows_give(case, kind, data):
    coords, grid = case
    numbers = st.just(0.0) | st.floats(-50, 50, allow_subnormal=False)
    X = data.draw(hnp.arrays(np.float64, (len(coords), 7), elements=numbers))
    for triangle in ("both", "upper"):
        dense = near_graph(grid, coords, X, kind=kind, triangle=triangle, diagonal=True)
        thin = near_graph(
            grid, coords, sparse.csr_array(X), kind=kind, triangle=triangle, diagonal=True
        )
        np.testing.assert_array_equal(dense.indptr, thin.indptr)
        np.testing.assert_array_equal(dense.indices, thin.indices)
        np.testing.assert_allclose(dense.data, thin.data, rtol=1e-8, atol=1e-9)


def test_sparse_objects_that_almost_agree_keep_their_distance():
    X = np.zeros((2, 40))
    X[:] = np.arange(1, 41) * 1e3
    X[1, 7] += 1e-6
    near_zero = near_graph(
        Grid.over(np.zeros((2, 1)), 1), np.zeros((2, 1)), sparse.csr_array(X), kind="distance"
    )
    step = X[1, 7] - X[0, 7]
    np.testing.assert_allclose(near_zero.data, step, rtol=1e-12)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("triangle", ["both", "upper"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_number_of_threads_does_not_matter(kind, triangle, is_sparse):
    rng = np.random.default_rng(1)
    coords = rng.normal(size=(1500, 3))
    X = rng.normal(size=(1500, 11)) * (rng.random((1500, 11)) < 0.4)
    given_X = sparse.csr_array(X) if is_sparse else X
    grid = Grid.over(coords, 7)
    graphs = [
        near_graph(grid, coords, given_X, kind=kind, triangle=triangle, n_jobs=j) for j in JOBS
    ]
    for graph in graphs[1:]:
        np.testing.assert_array_equal(graph.indptr, graphs[0].indptr)
        np.testing.assert_array_equal(graph.indices, graphs[0].indices)
        np.testing.assert_array_equal(graph.data, graphs[0].data)


@pytest.mark.parametrize("d", [1, 3, 16, 54, 300])
def test_single_precision(d):
    rng = np.random.default_rng(d)
    coords = rng.normal(size=(700, 2))
    X = rng.normal(size=(700, d))
    grid = Grid.over(coords, 3)
    for kind in KINDS:
        double = near_graph(grid, coords, X, kind=kind, scale=0.3)
        single = near_graph(grid, coords, X, kind=kind, scale=0.3, dtype=np.float32)
        assert single.dtype == np.float32
        np.testing.assert_array_equal(single.indices, double.indices)
        np.testing.assert_allclose(single.data, double.data, rtol=3e-5, atol=2e-6)
        flipped = single.T.tocsr()
        flipped.sort_indices()
        np.testing.assert_array_equal(flipped.data, single.data)


def test_exponentials_reach_down_to_the_smallest_normal_numbers():
    X = np.linspace(0, 800, 4001)[:, None]
    coords = np.zeros((4001, 1))
    graph = near_graph(
        Grid.over(coords, 1), coords[:1], X[:1], others=(coords, X), kind="exponential"
    )
    wanted = np.exp(-X[:, 0])
    normal = X[:, 0] <= 708
    np.testing.assert_allclose(graph.data[normal], wanted[normal], rtol=1e-15)
    assert np.all(graph.data[X[:, 0] > 708.4] == 0)


def test_a_function_is_given_rows_of_both():
    rng = np.random.default_rng(3)
    coords = rng.normal(size=(400, 2))
    X = rng.normal(size=(400, 4))
    grid = Grid.over(coords, 2)

    def city_block(a, b):
        return np.abs(a - b).sum(axis=1)

    graph = near_graph(grid, coords, X, kind=city_block)
    rows = np.repeat(np.arange(400), np.diff(graph.indptr))
    np.testing.assert_allclose(graph.data, np.abs(X[rows] - X[graph.indices]).sum(axis=1))


def test_many_pairs_are_given_to_a_function_in_parts():
    X = np.arange(400.0)[:, None]
    blocks = Blocks.of(Grid.over(X, 1), X)
    near = near_blocks(blocks, blocks, Grid.over(X, 1))
    sizes = []

    def difference(a, b):
        sizes.append(len(a))
        return (b - a)[:, 0]

    graph = similarities(near, X, kind=difference, instead=str)
    assert sum(sizes) == 400 * 399
    assert len(sizes) > 1
    assert graph[3, 10] == 7
    assert graph[10, 3] == -7


def test_single_precision_of_columns_far_from_zero():
    rng = np.random.default_rng(0)
    coords, X = rng.normal(size=(300, 2)), rng.normal(size=(300, 5))
    grid = Grid.over(coords, 3)
    wanted = near_graph(grid, coords, X, kind="rbf")
    far = near_graph(grid, coords, X + 1e6, kind="rbf", dtype=np.float32)
    np.testing.assert_allclose(far.data, wanted.data, atol=1e-5)


@pytest.mark.parametrize("result", [["near"] * 9, np.ones(9) * 1j])
def test_functions_that_return_no_numbers(result):
    X = np.arange(3.0)[:, None]
    with pytest.raises(InputError, match="kind must return real numbers"):
        near_graph(Grid.over(X, 1), X, X, kind=lambda a, b: np.asarray(result)[: len(a)])
