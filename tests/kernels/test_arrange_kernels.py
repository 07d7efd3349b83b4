"""Kernels that lay stored values out: from columns of codes, and under other ids."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import counts as oracles
from support.strategies import JOBS, VALUE_TYPES, Data, data, defaults_of, for_all_jobs
from tacit import _core

value_types = pytest.mark.parametrize("dtype", VALUE_TYPES)
unweighted = data(weights=None)


def code_columns(d):
    """Return the codes of each column and the value id of each code, -1 for the default."""
    ids = oracles.value_ids(d.arities, d.defaults)
    codes = [np.array([row[c] for row in d.rows], np.uint32) for c in range(len(d.arities))]
    own = [
        np.array([ids.get((c, code), -1) for code in range(arity)], np.int32)
        for c, arity in enumerate(d.arities)
    ]
    return codes, own


def make_plan(old, new, places):
    """Say how the ids of `old` become those of `new`, whose column c is places[c] of `old`."""
    old_ids = oracles.value_ids(old.arities, old.defaults)
    new_ids = oracles.value_ids(new.arities, new.defaults)
    ids = np.full(old.n_values, -1, np.int64)
    fills = []
    for c, place in enumerate(places):
        own = [
            old_ids[place, code] for code in range(old.arities[place]) if (place, code) in old_ids
        ]
        for code in range(old.arities[place]):
            if (place, code) in old_ids:
                ids[old_ids[place, code]] = new_ids.get((c, code), -1)
        if old.defaults[place] != new.defaults[c]:
            fills.append((own[0], own[-1] + 1, new_ids[c, old.defaults[place]]))
    fills.sort()
    return ids, *(np.array([fill[k] for fill in fills], np.int64) for k in range(3))


def recode(old, plan, dtype, out_dtype, jobs):
    """Run both recoding kernels and return the new CSR arrays."""
    indptr, values = old.csr(dtype)
    lengths = _core.recoded_lengths(
        _core.Records(indptr, values, len(plan[0]), old.chosen), *plan, jobs
    )
    assert lengths.dtype == np.int64
    new_indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    out = np.empty(new_indptr[-1], out_dtype)
    _core.recoded_values(
        _core.Records(indptr, values, len(plan[0]), old.chosen), *plan, new_indptr, out, jobs
    )
    return new_indptr, out


@value_types
@given(d=unweighted)
@settings(max_examples=60)
def test_stored_values_are_the_ids_that_are_not_the_default(dtype, d):
    codes, ids = code_columns(d)
    expected_indptr, expected = d.csr(dtype)
    lengths = for_all_jobs(lambda jobs: _core.stored_lengths(codes, ids, len(d.rows), jobs))
    assert lengths.dtype == np.int64
    np.testing.assert_array_equal(lengths, np.diff(expected_indptr))

    def write(jobs):
        out = np.empty(len(expected), dtype)
        # Only differences of offsets matter: a piece may lie anywhere in a larger array.
        _core.stored_values(codes, ids, expected_indptr + 1000, out, jobs)
        return out

    np.testing.assert_array_equal(for_all_jobs(write), expected)


@value_types
@pytest.mark.parametrize("n_rows", [4095, 4096, 4097, 13_000])
def test_stored_values_of_several_blocks_of_records(dtype, n_rows):
    rng = np.random.default_rng(n_rows)
    arities, defaults = [2, 1, 5, 3], [0, 0, 4, 1]
    rows = [tuple(row) for row in rng.integers(0, arities, (n_rows, 4)).tolist()]
    d = Data(rows, arities, defaults)
    codes, ids = code_columns(d)
    expected_indptr, expected = d.csr(dtype)
    for jobs in JOBS:
        lengths = _core.stored_lengths(codes, ids, n_rows, jobs)
        np.testing.assert_array_equal(lengths, np.diff(expected_indptr))
        out = np.empty(len(expected), dtype)
        _core.stored_values(codes, ids, expected_indptr, out, jobs)
        np.testing.assert_array_equal(out, expected)


@value_types
@pytest.mark.parametrize("out_dtype", VALUE_TYPES)
@given(old=unweighted, pick=st.data())
@settings(max_examples=50)
def test_recoded_values_are_those_of_the_new_columns_and_defaults(dtype, out_dtype, old, pick):
    places = pick.draw(st.permutations(range(len(old.arities))))
    places = places[: pick.draw(st.integers(1, len(places)))]
    arities = [old.arities[p] for p in places]
    rows = [tuple(row[p] for p in places) for row in old.rows]
    new = Data(rows, arities, pick.draw(defaults_of(arities)))
    expected = [new.lists[r] for r in oracles.chosen_rows(len(rows), old.chosen)]
    plan = make_plan(old, new, places)
    indptr, values = for_all_jobs(lambda jobs: recode(old, plan, dtype, out_dtype, jobs))
    expected_indptr, expected_values = oracles.csr(expected, out_dtype)
    np.testing.assert_array_equal(indptr, expected_indptr)
    np.testing.assert_array_equal(values, expected_values)


@pytest.mark.parametrize("n_rows", [4095, 4097, 13_000])
def test_recoded_values_of_several_blocks_of_records(n_rows):
    rng = np.random.default_rng(n_rows)
    arities = [4, 2, 6, 3]
    rows = [tuple(row) for row in rng.integers(0, arities, (n_rows, 4)).tolist()]
    old = Data(rows, arities, [0, 0, 3, 1])
    new = Data(rows, arities, [2, 1, 3, 0])
    plan = make_plan(old, new, range(4))
    indptr, values = for_all_jobs(lambda jobs: recode(old, plan, np.uint16, np.uint16, jobs))
    expected_indptr, expected = new.csr(np.uint16)
    np.testing.assert_array_equal(indptr, expected_indptr)
    np.testing.assert_array_equal(values, expected)
