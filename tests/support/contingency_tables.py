"""Contingency tables for tests: columns, random tables in both forms, tables within bounds."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from support.strategies import exact_weights
from tacit.counts import ContingencyTable
from tacit.schema import Column, Labels


def column(name, arity, default=0):
    return Column(name, Labels([f"{name}{code}" for code in range(arity)], "String"), default)


def make(counts, names="abcdefgh"):
    """Return a dense table of these counts; column a has the labels a0, a1, …"""
    counts = np.asarray(counts)
    columns = [column(name, arity) for name, arity in zip(names, counts.shape, strict=False)]
    return ContingencyTable(tuple(columns), counts)


def both(table):
    """Return the two forms of a dense table."""
    sparse = table.to_sparse()
    assert (table.layout, sparse.layout) == ("dense", "sparse")
    return table, sparse


@st.composite
def tables(draw, min_columns=1, max_columns=4):
    """Dense tables with many zeros, of integers or of sums of weights."""
    n = draw(st.integers(min_columns, max_columns))
    shape = draw(st.tuples(*[st.integers(1, 4)] * n))
    numbers = draw(st.sampled_from([np.int64, np.float64]))
    elements = st.integers(0, 9) if numbers is np.int64 else exact_weights
    return make(draw(hnp.arrays(numbers, shape, elements=elements, fill=st.just(0))))


@st.composite
def bounded(draw, truth, layout):
    """Tables that do not know a true table of integers, but bounds of it."""
    counts = truth.to_array()
    wide = hnp.arrays(np.int64, counts.shape, elements=st.integers(0, 5), fill=st.just(0))
    lower, upper = np.maximum(counts - draw(wide), 0), counts + draw(wide)
    guess = (lower + upper) // 2
    if layout == "dense":
        return ContingencyTable(truth.columns, guess, lower=lower, upper=upper)
    rest = draw(st.integers(0, 5))
    lists = [array.ravel() for array in (guess, lower, upper)]
    cells = np.flatnonzero((lists[2] > rest) | (lists[1] > 0) | (lists[0] > 0))
    guess, lower, upper = (array[cells] for array in lists)
    return ContingencyTable.from_cells(
        truth.columns, cells, guess, lower=lower, upper=upper, rest_upper=rest
    )


@st.composite
def some_places(draw, table, min_size=1):
    """Some columns of a table in any order."""
    order = draw(st.permutations(range(len(table.columns))))
    return list(order[: draw(st.integers(min_size, len(order)))])


@st.composite
def queries(draw, table):
    """Labels for some of the columns, but not for all."""
    places = draw(some_places(table, min_size=0))[: len(table.columns) - 1]
    return {
        table.names[place]: draw(st.sampled_from(table.columns[place].labels)) for place in places
    }


@st.composite
def slices(draw, table):
    """Some labels of some columns."""
    places = draw(some_places(table, min_size=0))
    return {
        place: draw(st.lists(st.sampled_from(table.columns[place].labels), min_size=1, unique=True))
        for place in places
    }
