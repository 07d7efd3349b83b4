"""Groups of objects that are all but identical."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from oracles import grouping as grouping_oracle
from support.strategies import assert_identical
from tacit import InputError
from tacit.similarity.grid.grid import Grid
from tacit.similarity.grouping.groups import group

DELTAS = (0.0, 1e-12, 0.125, 0.3, 0.5, 1.0)


def cases():
    """Coordinates on a lattice, so that many are the same and some are on borders."""
    return st.tuples(st.integers(1, 40), st.integers(1, 3), st.integers(0, 999))


def draw(n, p, seed):
    rng = np.random.default_rng(seed)
    coords = rng.integers(-16, 17, (n, p)) / 16
    X = rng.integers(-3, 4, (n, 5)) / 4 * (rng.random((n, 5)) < 0.6)
    return coords, X, rng.integers(-1, 2, n)


@st.composite
def groupings(data):
    """What `group` takes: a grid, coordinates, objects, types and a width."""
    coords, X, types = draw(*data(cases()))
    group_width = data(st.sampled_from(DELTAS))
    return Grid.over(coords, data(st.integers(1, 5))), coords, X, types, group_width


def sets(labels):
    return {frozenset(np.flatnonzero(labels == g).tolist()) for g in range(labels.max() + 1)}


@settings(max_examples=80)
@given(grouping=groupings())
def test_groups_are_those_of_the_book(grouping):
    grid, coords, X, types, group_width = grouping
    grouped = group(*grouping)
    expected = grouping_oracle.groups(
        grid, coords, types, 0.0 if group_width == 1e-12 else group_width
    )
    assert sets(grouped.labels) == expected
    assert grouped.weights.sum() == len(coords)
    for g in range(len(grouped)):
        members = grouped.labels == g
        assert grouped.weights[g] == members.sum()
        assert (types[members] == grouped.types[g]).all()
        np.testing.assert_allclose(grouped.X[g], X[members].mean(axis=0), atol=1e-14)
        np.testing.assert_allclose(grouped.coords[g], coords[members].mean(axis=0), atol=1e-14)


@settings(max_examples=40)
@given(grouping=groupings())
def test_sparse_and_dense_and_any_number_of_threads(grouping):
    grid, coords, X, types, group_width = grouping
    dense = group(*grouping)
    rows = group(grid, coords, sparse.csr_array(X), types, group_width)
    assert_identical(rows.labels, dense.labels)
    assert rows.X.has_sorted_indices
    np.testing.assert_allclose(rows.X.toarray(), dense.X, atol=1e-14)
    threads = group(*grouping, n_jobs=3)
    assert_identical(threads.X, dense.X)
    assert_identical(threads.coords, dense.coords)


def test_whole_blocks_have_one_representative_of_each_type():
    rng = np.random.default_rng(0)
    coords = rng.random((5000, 2))
    types = rng.integers(-1, 2, 5000)
    grid = Grid.over(coords, 4)
    grouped = group(grid, coords, coords, types, 1.0)
    assert len(grouped) == 3 * 4 * 4
    assert (np.diff(grid.keys(grouped.coords)) >= 0).all()
    assert grouped.types.tolist() == [-1, 0, 1] * 16
    assert (grid.keys(grouped.coords)[grouped.labels] == grid.keys(coords)).all()


def test_finer_parts_are_within_coarser_ones():
    rng = np.random.default_rng(1)
    coords, types = rng.random((3000, 3)), rng.integers(0, 2, 3000)
    grid = Grid.over(coords, 6)
    sizes = []
    coarse = group(grid, coords, coords, types, 1.0).labels
    for group_width in (1.0, 0.5, 0.25, 0.125, 0.0):
        fine = group(grid, coords, coords, types, group_width)
        sizes.append(len(fine))
        width = np.ptp(coords, axis=0) / 6 * group_width
        for g in range(len(fine)):
            members = np.flatnonzero(fine.labels == g)
            assert (np.ptp(coords[members], axis=0) <= width + 1e-12).all()
            assert len(set(coarse[members].tolist())) == 1
        coarse = fine.labels
    assert sizes == sorted(sizes)
    assert sizes[-1] == 3000


def test_duplicates_stay_what_they_are():
    X = np.repeat(np.array([[0.1, 0.2, 0.7], [5.3, 1.1, 0.3]]), [100_000, 3], axis=0)
    grid = Grid.over(X[:, :2], 10)
    for group_width in (0.0, 0.5, 1.0):
        grouped = group(grid, X[:, :2], X, np.zeros(len(X), int), group_width)
        assert grouped.X.tolist() == [[0.1, 0.2, 0.7], [5.3, 1.1, 0.3]]
        assert grouped.weights.tolist() == [100_000, 3]
    grouped = group(grid, X[:, :2], sparse.csr_array(X), np.zeros(len(X), int), 1.0)
    np.testing.assert_allclose(grouped.X.toarray(), [[0.1, 0.2, 0.7], [5.3, 1.1, 0.3]], rtol=1e-11)


def test_positive_and_negative_zero_are_the_same_place():
    coords = np.array([[0.0], [-0.0], [1.0]])
    grouped = group(Grid.over(coords, 3), coords, coords, np.zeros(3, int), 0.0)
    assert grouped.labels.tolist() == [0, 0, 1]


def test_grids_so_fine_that_numbers_run_out():
    rng = np.random.default_rng(2)
    coords = np.repeat(rng.random((50, 3)), 2, axis=0)
    grid = Grid.over(coords, 1_000_000)
    for group_width in (1e-9, 1e-3):
        grouped = group(grid, coords, coords, np.zeros(100, int), group_width)
        assert (grouped.weights == 2).all()
        assert_identical(grouped.labels[::2], grouped.labels[1::2])


def test_all_objects_in_one_place_and_beyond_the_grid():
    coords = np.zeros((10, 2))
    grouped = group(Grid.over(coords, 5), coords, coords, np.arange(10) % 2, 0.5)
    assert grouped.weights.tolist() == [5, 5]
    grid = Grid.over(np.array([[0.0], [1.0]]), 2)
    beyond = np.array([[-7.0], [-0.5], [0.1], [9.0]])
    grouped = group(grid, beyond, beyond, np.zeros(4, int), 0.5)
    assert grouped.labels.tolist() == [0, 1, 2, 3]


def test_single_precision_stays():
    X = np.ones((4, 2), np.float32)
    coords = np.zeros((4, 1))
    assert group(Grid.over(coords, 2), coords, X, np.zeros(4, int), 1.0).X.dtype == np.float32


@pytest.mark.parametrize("group_width", [-0.1, 1.1, np.nan, "1", True, None])
def test_group_width_is_from_0_to_1(group_width):
    coords = np.zeros((2, 1))
    with pytest.raises(InputError, match="group_width must be a finite number of at least 0"):
        group(Grid.over(coords, 2), coords, coords, np.zeros(2, int), group_width)


@settings(max_examples=60)
@given(case=cases(), group_width=st.sampled_from(DELTAS), k=st.integers(1, 5))
def test_objects_outside_the_grid_are_grouped_by_their_distance(case, group_width, k):
    coords, X, types = draw(*case)
    grid = Grid.over(coords[: len(coords) // 2 + 1] / 4, k)
    far = np.concatenate((coords, 3 * coords, 1e9 * coords, 1e150 * coords))
    grouped = group(grid, far, np.tile(X, (4, 1)), np.tile(types, 4), group_width)
    widest = max(group_width, 1e-9) * grid.widths
    for g in range(len(grouped)):
        members = far[grouped.labels == g]
        rounding = 1e-12 * np.abs(members).max(axis=0) * (np.ptp(members, axis=0) > 0)
        assert (np.ptp(members, axis=0) <= widest * (1 + 1e-9) + rounding).all()


def test_the_same_place_outside_the_grid_is_one_group():
    grid = Grid.over(np.array([[0.0, 0.0], [1.0, 0.0]]), 4)
    coords = np.array([[5.0, 0.0], [5.01, 0.0], [1e200, 7.0], [1e200, 7.0], [-5.0, 0.0]])
    grouped = group(grid, coords, coords, np.zeros(5, int), 1.0)
    assert sets(grouped.labels) == {frozenset({0, 1}), frozenset({2, 3}), frozenset({4})}
