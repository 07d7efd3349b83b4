"""Sparse products, column moments and centres of gravity against dense NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from support.scripts import run
from support.strategies import for_all_jobs
from tacit import _core

examples = settings(max_examples=60)
# Eighths: sums of products of a few of them are exact.
eighths = st.one_of(st.just(0.0), st.integers(-64, 64).map(lambda n: n / 8))


@st.composite
def matrices(draw, kinds=(np.float64, np.float32)):
    shape = draw(st.tuples(st.integers(1, 12), st.integers(1, 9)))
    dense = draw(hnp.arrays(np.float64, shape, elements=eighths))
    return dense.astype(draw(st.sampled_from(kinds)))


def parts(dense):
    rows = sparse.csr_array(dense)
    return (
        rows.indptr.astype(np.int64),
        rows.indices.astype(np.int32),
        rows.data,
        rows.shape[1],
    )


@examples
@given(dense=matrices(), width=st.integers(1, 18), seed=st.integers(0, 99))
def test_products_are_those_of_the_dense_matrix(dense, width, seed):
    rng = np.random.default_rng(seed)
    right = rng.integers(-9, 9, (dense.shape[1], width)) / 4
    left = rng.integers(-9, 9, (dense.shape[0], width)) / 4
    given = parts(dense)
    product = for_all_jobs(lambda jobs: _core.sparse_product(*given, right, False, jobs))
    np.testing.assert_array_equal(product, dense.astype(np.float64) @ right)
    product = for_all_jobs(lambda jobs: _core.sparse_product(*given, left, True, jobs))
    np.testing.assert_array_equal(product, dense.astype(np.float64).T @ left)


@pytest.mark.parametrize("width", [3, 12, 13])
def test_products_of_many_blocks_do_not_depend_on_threads(width):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(3000, 50)) * (rng.random((3000, 50)) < 0.5)
    right, left = rng.normal(size=(50, width)), rng.normal(size=(3000, width))
    given = parts(dense)
    product = for_all_jobs(lambda jobs: _core.sparse_product(*given, right, False, jobs))
    np.testing.assert_allclose(product, dense @ right, atol=1e-12)
    product = for_all_jobs(lambda jobs: _core.sparse_product(*given, left, True, jobs))
    np.testing.assert_allclose(product, dense.T @ left, atol=1e-11)


@examples
@given(dense=matrices())
def test_moments_count_the_zeros(dense):
    mean, variance, lower, upper = _core.sparse_column_moments(*parts(dense))
    whole = dense.astype(np.float64)
    np.testing.assert_allclose(mean, whole.mean(axis=0), atol=1e-14)
    np.testing.assert_allclose(variance, whole.var(axis=0), atol=1e-12)
    np.testing.assert_array_equal(lower, whole.min(axis=0))
    np.testing.assert_array_equal(upper, whole.max(axis=0))


@examples
@given(dense=matrices(), seed=st.integers(0, 99))
def test_means_of_groups(dense, seed):
    rng = np.random.default_rng(seed)
    n = len(dense)
    order = rng.permutation(n).astype(np.int32)
    cuts = np.flatnonzero(rng.random(n - 1) < 0.4) + 1
    starts = np.concatenate(([0], cuts, [n])).astype(np.int64)
    means = for_all_jobs(lambda jobs: _core.group_means(dense, order, starts, jobs))
    assert means.dtype == dense.dtype
    for mean, members in zip(means, np.split(order, cuts), strict=True):
        expected = dense[members].astype(np.float64).mean(axis=0)
        np.testing.assert_allclose(mean, expected, atol=1e-13 if means.itemsize == 8 else 1e-5)


def test_means_of_many_groups_do_not_depend_on_threads():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(60_000, 7))
    labels = np.sort(rng.integers(0, 900, len(rows)))
    labels[20_000:50_000] = labels[20_000]  # one group that is larger than a block
    labels = np.unique(labels, return_inverse=True)[1]
    order = rng.permutation(len(rows)).astype(np.int32)
    starts = np.searchsorted(labels, np.arange(labels[-1] + 2)).astype(np.int64)
    means = for_all_jobs(lambda jobs: _core.group_means(rows, order, starts, jobs))
    expected = np.add.reduceat(rows[order], starts[:-1]) / np.diff(starts)[:, None]
    np.testing.assert_allclose(means, expected, atol=1e-12)


def test_the_mean_of_equal_rows_is_that_row():
    rows = np.full((1000, 3), 0.1)
    order, starts = np.arange(1000, dtype=np.int32), np.array([0, 1000])
    assert _core.group_means(rows, order, starts, 1).tolist() == [[0.1, 0.1, 0.1]]


def test_shapes_that_do_not_go_together():
    given = parts(np.eye(3))
    with pytest.raises(ValueError, match="shapes"):
        _core.sparse_product(*given, np.ones((2, 4)), False, 1)
    with pytest.raises(ValueError, match="as many"):
        _core.sparse_product(given[0], given[1], given[2][:1], 3, np.ones((3, 1)), False, 1)
    with pytest.raises(ValueError, match="all rows"):
        _core.group_means(np.ones((3, 1)), np.zeros(2, np.int32), np.array([0, 2]), 1)
    with pytest.raises(TypeError):
        _core.group_means(np.ones((1, 1), int), np.zeros(1, np.int32), np.array([0, 1]), 1)


INTERRUPT = """
    import os, signal, threading
    import numpy as np
    from tacit import _core

    n, length, d, width = 60, 100_000, 1000, 4000
    indptr = np.arange(n + 1, dtype=np.int64) * length
    indices = np.tile(np.arange(d, dtype=np.int32), n * length // d)
    numbers, wide = np.ones(len(indices)), np.ones((d, width))
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        {call}
    except KeyboardInterrupt:
        print("interrupted")
    else:
        print("finished")
"""


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("transposed", [False, True])
def test_ctrl_c_ends_a_long_product_early(transposed, jobs):
    right = "wide[:n]" if transposed else "wide"
    call = f"_core.sparse_product(indptr, indices, numbers, d, {right}, {transposed}, {jobs})"
    assert run(INTERRUPT.format(call=call)) == ["interrupted"]
