"""Entropies of tables whose last axis is a target."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from support.strategies import assert_identical, for_all_jobs
from tacit import _core

# Around the end of the kernel's own table of logarithms, too.
counts_of = {
    np.int64: st.integers(0, 40) | st.integers(4090, 4100) | st.integers(0, 2**40),
    np.float64: st.floats(0, 50) | st.floats(1e-12, 1e12) | st.integers(0, 8).map(lambda n: n / 4),
}


def slow_entropies(table):
    """Return H(S), H(Y | S), and the rows and cells that occur, by the definition."""
    rows = [math.fsum(row) for row in table.tolist()]
    total = math.fsum(rows)
    entropy = math.fsum(r / total * (math.log2(total) - math.log2(r)) for r in rows if r)
    rest = math.fsum(
        c / total * (math.log2(r) - math.log2(c))
        for r, row in zip(rows, table.tolist(), strict=True)
        for c in row
        if c
    )
    return entropy, rest, sum(r > 0 for r in rows), int((table > 0).sum())


def measure(tables, n_jobs=1):
    counts = np.concatenate([t.reshape(-1) for t in tables])
    offsets = np.concatenate(([0], np.cumsum([t.size for t in tables]))).astype(np.int64)
    arities = np.array([t.shape[1] for t in tables], np.int64)
    return _core.table_entropies(counts, offsets, arities, n_jobs)


@st.composite
def tables(draw, dtype):
    shape = draw(st.tuples(st.integers(1, 12), st.integers(1, 6)))
    cells = hnp.arrays(dtype, shape, elements=counts_of[dtype], fill=st.just(0))
    return draw(cells)


@pytest.mark.parametrize("dtype", counts_of)
@given(pick=st.data())
@settings(max_examples=150)
def test_the_definition(dtype, pick):
    some = pick.draw(st.lists(tables(dtype), min_size=1, max_size=4))
    found = for_all_jobs(lambda n_jobs: measure(some, n_jobs))
    for k, table in enumerate(some):
        entropy, rest, n_rows, n_cells = slow_entropies(table)
        assert found[0][k] == pytest.approx(entropy, rel=1e-12, abs=1e-13)
        assert found[1][k] == pytest.approx(rest, rel=1e-12, abs=1e-13)
        assert (found[2][k], found[3][k]) == (n_rows, n_cells)


@pytest.mark.parametrize("dtype", counts_of)
@given(pick=st.data())
@settings(max_examples=80)
def test_listed_cells_are_the_same_table(dtype, pick):
    table = pick.draw(tables(dtype))
    cells = np.flatnonzero(table)
    listed = _core.cell_entropies(cells, table.reshape(-1)[cells], table.shape[1])
    for one, other in zip(measure([table]), listed, strict=True):
        assert_identical(other, one)


@given(table=tables(np.int64), pick=st.data())
@settings(max_examples=80)
def test_the_order_of_labels_does_not_matter(table, pick):
    rows = pick.draw(st.permutations(range(table.shape[0])))
    columns = pick.draw(st.permutations(range(table.shape[1])))
    for one, other in zip(measure([table]), measure([table[rows][:, columns]]), strict=True):
        assert_identical(other, one)


def test_many_large_tables_on_any_number_of_threads():
    rng = np.random.default_rng(0)
    some = [rng.poisson(0.2, (3000 + k, 2 + k % 3)) for k in range(60)]
    found = for_all_jobs(lambda n_jobs: measure(some, n_jobs))
    for k in (0, 1, 2, 31, 59):
        entropy, rest, n_rows, n_cells = slow_entropies(some[k])
        assert (found[2][k], found[3][k]) == (n_rows, n_cells)
        assert found[0][k] == pytest.approx(entropy, rel=1e-13)
        assert found[1][k] == pytest.approx(rest, rel=1e-13)


def test_what_follows_is_exactly_nothing():
    table = np.array([[7, 0, 0], [0, 0, 3], [0, 0, 0], [11, 0, 0]])
    for dtype in counts_of:
        assert measure([table.astype(dtype)])[1][0] == 0
        one_row = measure([table[:1].astype(dtype)])
        assert [x[0] for x in one_row] == [0, 0, 1, 1]


def test_nothing_at_all():
    for dtype in counts_of:
        assert [x[0] for x in measure([np.zeros((3, 2), dtype)])] == [0, 0, 0, 0]
        empty = np.zeros(0, np.int64)
        assert [x[0] for x in _core.cell_entropies(empty, empty.astype(dtype), 2)] == [0] * 4
        none = _core.table_entropies(np.zeros(0, dtype), np.zeros(1, np.int64), empty, 1)
        assert [len(x) for x in none] == [0] * 4


def test_arguments_that_do_not_fit_are_refused():
    counts, offsets, arities = np.zeros(4, np.int64), np.array([0, 4]), np.array([2])
    with pytest.raises(TypeError, match="counts must be int64 or float64"):
        _core.table_entropies(counts.astype(np.int32), offsets, arities, 1)
    with pytest.raises(ValueError, match="offsets must be one more than arities"):
        _core.table_entropies(counts, offsets[:1], arities, 1)
    with pytest.raises(ValueError, match="offsets must not pass the end of counts"):
        _core.table_entropies(counts, offsets + 1, arities, 1)
    with pytest.raises(ValueError, match="cells and counts must be equally many"):
        _core.cell_entropies(offsets, counts, 2)
