"""The look at sparse input before any other kernel sees it."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import counts as oracles
from support.strategies import VALUE_TYPES, data
from tacit import _core

INDEX_TYPES = (np.int32, np.int64, np.uint16, np.uint32)


@pytest.mark.parametrize("offset_type", [np.int32, np.int64])
@pytest.mark.parametrize("index_type", INDEX_TYPES)
@given(
    lengths=st.lists(st.integers(0, 5), max_size=5),
    pick=st.data(),
)
@settings(max_examples=60)
def test_the_first_fault_is_the_oracles(offset_type, index_type, lengths, pick):
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(int).tolist()
    n = pick.draw(st.integers(1, 8))
    lowest = 0 if np.dtype(index_type).kind == "u" else -1
    index = st.integers(0, n - 1) | st.integers(lowest, n + 1)
    indices = pick.draw(st.lists(index, min_size=indptr[-1], max_size=indptr[-1]))
    if pick.draw(st.booleans()):  # often a row would be fine if only it were sorted
        bounds = itertools.pairwise(indptr)
        indices = [i for a, b in bounds for i in sorted(indices[a:b])]
    if pick.draw(st.integers(0, 3)) == 0:
        place = pick.draw(st.integers(0, len(indptr) - 1))
        indptr[place] += pick.draw(st.integers(-3, 3))
    found = _core.check_sparse(np.array(indptr, offset_type), np.array(indices, index_type), n)
    assert found == oracles.sparse_fault(indptr, indices, n)


@pytest.mark.parametrize("dtype", VALUE_TYPES)
@given(d=data(weights=None, with_chosen=False))
@settings(max_examples=40)
def test_what_a_table_stores_has_no_fault(dtype, d):
    indptr, values = d.csr(dtype)
    offsets = np.concatenate(([0], np.cumsum(np.array(d.arities) - 1))).astype(np.int64)
    assert _core.check_sparse(indptr, values, max(d.n_values, 1)) == (0, 0, 0)
    assert _core.check_columns(indptr, values, offsets) == (0, 0, 0)


@pytest.mark.parametrize("dtype", VALUE_TYPES)
@given(
    arities=st.lists(st.integers(1, 4), min_size=1, max_size=5),
    pick=st.data(),
)
@settings(max_examples=80)
def test_two_values_of_one_column_are_found(dtype, arities, pick):
    owner = [c for c, arity in enumerate(arities) for _ in range(arity - 1)]
    lists = pick.draw(
        st.lists(
            st.sets(st.integers(0, max(len(owner) - 1, 0))) if owner else st.just(set()), max_size=5
        )
    )
    lists = [sorted(ids) for ids in lists]
    expected = next(
        (
            (5, r, owner[b])
            for r, ids in enumerate(lists)
            for a, b in itertools.pairwise(ids)
            if owner[a] == owner[b]
        ),
        (0, 0, 0),
    )
    indptr, values = oracles.csr(lists, dtype)
    offsets = np.concatenate(([0], np.cumsum(np.array(arities) - 1))).astype(np.int64)
    assert _core.check_columns(indptr, values, offsets) == expected


def test_types_that_are_no_indices_are_refused():
    offsets, indices = np.array([0, 1]), np.array([0])
    with pytest.raises(TypeError, match="indptr must be int32 or int64"):
        _core.check_sparse(offsets.astype(np.float64), indices, 1)
    with pytest.raises(TypeError, match="indices must be int32, int64, uint16 or uint32"):
        _core.check_sparse(offsets, indices.astype(np.float64), 1)
    with pytest.raises(ValueError, match="indptr must not be empty"):
        _core.check_sparse(np.zeros(0, np.int64), indices, 1)


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", VALUE_TYPES)
@given(
    lists=st.lists(st.lists(st.integers(-1, 8), max_size=5), max_size=6),
    pick=st.data(),
)
@settings(max_examples=150)
def test_rows_of_ones_are_counted_and_stored_as_the_oracle_does(index_type, dtype, lists, pick):
    n = pick.draw(st.integers(1, 9))
    if pick.draw(st.integers(0, 3)):  # mostly rows that are fine
        lists = [sorted({index % n for index in row}) for row in lists]
    indptr = [0, *itertools.accumulate(map(len, lists))]
    indices = [index for row in lists for index in row]
    if pick.draw(st.integers(0, 5)) == 0:
        indptr[pick.draw(st.integers(0, len(indptr) - 1))] += pick.draw(st.integers(-2, 2))
    arrays = np.array(indptr, index_type), np.array(indices, index_type)
    counts = _core.count_presence(*arrays, n)
    assert (counts is None) == (oracles.sparse_fault(indptr, indices, n) != (0, 0, 0))
    if counts is None:
        return
    lists = [indices[begin:end] for begin, end in itertools.pairwise(indptr)]
    assert counts.tolist() == [sum(c in row for row in lists) for c in range(n)]
    usual = pick.draw(st.sets(st.integers(0, n - 1)))
    expected = [[c for c in range(n) if (c in row) != (c in usual)] for row in lists]
    out = np.full(sum(map(len, expected)), 99, dtype)
    offsets = _core.store_presence(*arrays, np.array(sorted(usual), np.int64), out)
    assert offsets.tolist() == [0, *itertools.accumulate(map(len, expected))]
    assert out.tolist() == [c for row in expected for c in row]


def test_long_rows_are_checked_to_their_ends():
    indices = np.arange(100_000, dtype=np.int32)
    indptr = np.array([0, 40_000, 100_000], np.int32)
    assert (_core.count_presence(indptr, indices, 100_000) == 1).all()
    assert _core.count_presence(indptr, indices, 99_999) is None
    # A row may begin anywhere, but not go down.
    down = np.concatenate((indices[:40_000], indices[:60_000]))
    assert _core.count_presence(indptr, down, 100_000).sum() == 100_000
    assert _core.count_presence(indptr + np.array([0, 1, 0], np.int32), down, 100_000) is None
