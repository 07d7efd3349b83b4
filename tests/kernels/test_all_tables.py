"""The tables of all sets of columns with a target, against counting them one by one."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import counts as oracles
from support.strategies import VALUE_TYPES
from tacit import _core


def offsets_of(arities):
    return np.concatenate(([0], np.cumsum(np.array(arities) - 1))).astype(np.int64)


def counted(rows, arities, defaults, columns, target, size, dtype=np.uint16):
    indptr, values = oracles.csr(oracles.stored_lists(rows, arities, defaults), dtype)
    return _core.all_tables(
        _core.Records(indptr, values, sum(arities) - len(arities)),
        offsets_of(arities),
        np.array(defaults, np.int64),
        columns,
        target,
        size,
    )


def expected(rows, arities, columns, target, size):
    tables = [
        oracles.joint_counts(rows, arities, [*chosen, target]).ravel()
        for chosen in combinations(columns, size)
    ]
    return np.concatenate(tables) if tables else np.zeros(0, np.int64)


@st.composite
def questions(draw):
    arities = draw(st.lists(st.integers(1, 4), min_size=2, max_size=6))
    defaults = [draw(st.integers(0, arity - 1)) for arity in arities]
    row = st.tuples(*(st.integers(0, arity - 1) for arity in arities))
    rows = draw(st.lists(row, min_size=1, max_size=25))
    target = draw(st.integers(0, len(arities) - 1))
    others = [c for c in range(len(arities)) if c != target]
    columns = sorted(draw(st.sets(st.sampled_from(others), min_size=1)))
    return rows, arities, defaults, columns, target, draw(st.integers(1, len(columns)))


@settings(max_examples=200, deadline=None)
@given(questions(), st.sampled_from(VALUE_TYPES))
def test_all_tables_are_those_counted_one_by_one(question, dtype):
    rows, arities, defaults, columns, target, size = question
    found = counted(rows, arities, defaults, columns, target, size, dtype)
    np.testing.assert_array_equal(found, expected(rows, arities, columns, target, size))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_long_records_and_many_values(size):
    draw = np.random.default_rng(size)
    arities = [3] * 13 + [5]
    rows = [tuple(draw.integers(0, arity) for arity in arities) for _ in range(60)]
    defaults = [int(draw.integers(0, arity)) for arity in arities]
    columns = [c for c in range(14) if c != 6]
    found = counted(rows, arities, defaults, columns, 6, size)
    np.testing.assert_array_equal(found, expected(rows, arities, columns, 6, size))
