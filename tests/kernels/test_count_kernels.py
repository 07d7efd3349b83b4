"""The counting kernels against oracles on small random tables, for every number of threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from oracles import counts as oracles
from support.strategies import JOBS, VALUE_TYPES, any_weights, data, for_all_jobs
from tacit import _core

value_types = pytest.mark.parametrize("dtype", VALUE_TYPES)
examples = settings(max_examples=60)


def assert_same_counts(actual, expected):
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual, expected)


def to_square(triple, n):
    """Return a CSR triple as a dense square, having checked that it is canonical."""
    indptr, indices, counts = triple
    assert indptr.dtype == np.int64
    assert indices.dtype == np.int32
    assert len(indptr) == n + 1
    assert indptr[0] == 0
    assert indptr[-1] == len(indices) == len(counts)
    for row in range(n):
        assert (np.diff(indices[indptr[row] : indptr[row + 1]]) > 0).all()
    return sparse.csr_array((counts, indices, indptr), shape=(n, n)).toarray()


def dense_kernels(indptr, values, n, chosen, weights):
    """Return every way to a dense square of pair counts as a function of n_jobs."""
    ways = {
        "outer": lambda jobs: _core.pair_counts_outer(
            _core.Records(indptr, values, n, chosen, weights), jobs
        )
    }
    if weights is None:
        ways["bitmap"] = lambda jobs: _core.pair_counts_bitmap(
            _core.Records(indptr, values, n, chosen), jobs
        )
    return ways


@value_types
@given(d=data())
@examples
def test_one_way_equals_the_oracle(dtype, d):
    indptr, values = d.csr(dtype)
    counts = for_all_jobs(
        lambda jobs: _core.one_way(
            _core.Records(indptr, values, d.n_values, d.chosen, d.weights), jobs
        )
    )
    assert_same_counts(counts, oracles.id_counts(d.lists, d.n_values, d.weights, d.chosen))


@value_types
@given(d=data(), pick=st.data())
@examples
def test_two_way_equals_the_oracle(dtype, d, pick):
    indptr, values = d.csr(dtype)
    column = pick.draw(st.integers(0, len(d.arities) - 1))
    first = sum(d.arities[:column]) - column
    n_states = d.arities[column] - 1
    counts = for_all_jobs(
        lambda jobs: _core.two_way(
            _core.Records(indptr, values, d.n_values, d.chosen, d.weights), first, n_states, jobs
        )
    )
    square = oracles.id_pair_counts(d.lists, d.n_values, d.weights, d.chosen)
    assert_same_counts(counts, square[first : first + n_states])


@value_types
@given(d=data(), cut=st.integers(0, 30))
@examples
def test_pair_triangles_add_up_to_the_oracle(dtype, d, cut):
    indptr, values = d.csr(dtype)
    n, records = d.n_values, np.arange(len(d.lists)) if d.chosen is None else d.chosen

    def add(jobs):
        cells = np.zeros(n * (n + 1) // 2, np.uint32)
        for own in (records[:cut], records[cut:]):
            _core.pair_triangle(_core.Records(indptr, values, n, own.astype(np.int64)), cells, jobs)
        return _core.triangle_to_square(cells, n, jobs)

    assert_same_counts(for_all_jobs(add), oracles.id_pair_counts(d.lists, n, None, records))


def test_pair_triangles_of_the_wrong_size():
    indptr, values = np.array([0, 1], np.int64), np.array([0], np.uint16)
    with pytest.raises(ValueError, match="cells"):
        _core.pair_triangle(_core.Records(indptr, values, 3), np.zeros(5, np.uint32), 1)
    with pytest.raises(ValueError, match="cells"):
        _core.triangle_to_square(np.zeros(5, np.uint32), 3, 1)


@value_types
@given(d=data())
@examples
def test_dense_pair_counts_equal_the_oracle(dtype, d):
    indptr, values = d.csr(dtype)
    expected = oracles.id_pair_counts(d.lists, d.n_values, d.weights, d.chosen)
    for kernel in dense_kernels(indptr, values, d.n_values, d.chosen, d.weights).values():
        assert_same_counts(for_all_jobs(kernel), expected)


@value_types
@given(d=data())
@examples
def test_sparse_pair_counts_equal_the_oracle(dtype, d):
    indptr, values = d.csr(dtype)
    triple = for_all_jobs(
        lambda jobs: _core.pair_counts_sparse(
            _core.Records(indptr, values, d.n_values, d.chosen, d.weights), jobs
        )
    )
    expected = oracles.id_pair_counts(d.lists, d.n_values, d.weights, d.chosen)
    assert_same_counts(to_square(triple, d.n_values), expected)


@value_types
@given(d=data(weights=any_weights))
@examples
def test_weighted_sums_do_not_depend_on_the_kernel_or_the_threads(dtype, d):
    indptr, values = d.csr(dtype)
    n, weights = d.n_values, np.ones(len(d.rows)) if d.weights is None else d.weights
    expected = oracles.id_pair_counts(d.lists, n, weights, d.chosen)
    outer = for_all_jobs(
        lambda jobs: _core.pair_counts_outer(
            _core.Records(indptr, values, n, d.chosen, weights), jobs
        )
    )
    triple = for_all_jobs(
        lambda jobs: _core.pair_counts_sparse(
            _core.Records(indptr, values, n, d.chosen, weights), jobs
        )
    )
    singles = for_all_jobs(
        lambda jobs: _core.one_way(_core.Records(indptr, values, n, d.chosen, weights), jobs)
    )
    np.testing.assert_array_equal(outer, expected)  # both add up in record order
    np.testing.assert_array_equal(to_square(triple, n), expected)
    np.testing.assert_allclose(singles, np.diag(expected), rtol=1e-12)


@value_types
@given(d=data(with_chosen=False, weights=None))
@examples
def test_postings_list_the_records_of_each_value(dtype, d):
    indptr, values = d.csr(dtype)
    held = [[r for r, ids in enumerate(d.lists) if v in ids] for v in range(d.n_values)]
    start, rows = oracles.csr(held, np.int32)
    result = _core.postings(_core.Records(indptr, values, len(start) - 1), start)
    assert result.dtype == np.int32
    np.testing.assert_array_equal(result, rows)


@value_types
def test_counts_of_no_chosen_records_are_zero(dtype):
    indptr, values = oracles.csr([[0, 2], [1]], dtype)
    nobody = np.zeros(0, np.int64)
    for jobs in JOBS:
        assert not _core.one_way(_core.Records(indptr, values, 3, nobody), jobs).any()
        assert not _core.two_way(_core.Records(indptr, values, 3, nobody), 0, 2, jobs).any()
        for kernel in dense_kernels(indptr, values, 3, nobody, None).values():
            assert not kernel(jobs).any()
        triple = _core.pair_counts_sparse(_core.Records(indptr, values, 3, nobody), jobs)
        assert [len(array) for array in triple] == [4, 0, 0]


@value_types
def test_tables_without_stored_values_have_empty_counts(dtype):
    indptr, values = oracles.csr([[], [], []], dtype)
    for n in (0, 5):
        for jobs in JOBS:
            assert _core.one_way(_core.Records(indptr, values, n), jobs).tolist() == [0] * n
            for kernel in dense_kernels(indptr, values, n, None, None).values():
                assert_same_counts(kernel(jobs), np.zeros((n, n), np.int64))
            triple = _core.pair_counts_sparse(_core.Records(indptr, values, n), jobs)
            assert [len(array) for array in triple] == [n + 1, 0, 0]
        assert len(_core.postings(_core.Records(indptr, values, n), np.zeros(n + 1, np.int64))) == 0


@value_types
def test_a_record_of_weight_zero_adds_nothing_but_keeps_the_pattern_symmetric(dtype):
    lists = [[0, 1], [1, 2], [0, 2]] * 50
    weights = np.array([0.0, 1.0, 2.0] * 50)
    indptr, values = oracles.csr(lists, dtype)
    triple = for_all_jobs(
        lambda jobs: _core.pair_counts_sparse(_core.Records(indptr, values, 3, None, weights), jobs)
    )
    square = to_square(triple, 3)
    np.testing.assert_array_equal(square, oracles.id_pair_counts(lists, 3, weights))
    np.testing.assert_array_equal(square, square.T)


def test_weights_of_another_length_are_refused():
    indptr, values = oracles.csr([[0], [1]], np.uint16)
    with pytest.raises(ValueError, match="weights must be as many as records"):
        _core.Records(indptr, values, 2, None, np.ones(3))


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.uint64, np.float64])
def test_value_ids_of_other_types_are_refused(dtype):
    indptr, values = oracles.csr([[0], [1]], dtype)
    with pytest.raises(TypeError, match="values must be uint16 or uint32"):
        _core.one_way(_core.Records(indptr, values, 2), 1)
