"""Approximate tables: the truth stays within the bounds, whatever is done to both."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.contingency_tables import bounded, column, make, queries, slices, some_places, tables
from tacit import InputError
from tacit.counts import ContingencyTable

layouts = st.sampled_from(["dense", "sparse"])
whole_tables = tables().filter(lambda table: table.to_array().dtype == np.int64)


def assert_within(guess, truth):
    """Bounds hold the truth, and every way to ask for them says the same."""
    guess.check()
    lower, upper = guess.bounds()
    assert lower.exact
    assert upper.exact
    assert (lower.to_array() <= truth.to_array()).all()
    assert (truth.to_array() <= upper.to_array()).all()
    for codes in np.ndindex(truth.shape):
        labels = tuple(c.labels[k] for c, k in zip(truth.columns, codes, strict=True))
        assert guess.interval(labels) == (lower[labels], upper[labels])
    assert guess.to_dense().equals(guess)


@given(truth=whole_tables, layout=layouts, pick=st.data())
def test_parts_stay_within_their_bounds(truth, layout, pick):
    guess = pick.draw(bounded(truth, layout))
    assert guess.layout == layout
    assert_within(guess, truth)
    assert_within(guess.to_sparse(), truth)
    assert_within(guess.to_dense(), truth)
    places = pick.draw(some_places(truth))
    assert_within(guess.marginal(places), truth.marginal(places))
    query = pick.draw(queries(truth))
    assert_within(guess.condition(query), truth.condition(query))
    chosen = pick.draw(slices(truth))
    assert_within(guess.slice(chosen), truth.slice(chosen))


@given(truth=whole_tables, pick=st.data())
def test_bounds_of_sums_are_the_same_in_both_forms(truth, pick):
    guess = pick.draw(bounded(truth, "sparse"))
    places = pick.draw(some_places(truth))
    assert guess.marginal(places).to_dense().equals(guess.to_dense().marginal(places))


@given(truth=whole_tables, ways=st.tuples(layouts, layouts), pick=st.data())
def test_unions_stay_within_their_bounds(truth, ways, pick):
    first, second = pick.draw(slices(truth)), pick.draw(slices(truth))
    one, two = truth.slice(first), truth.slice(second)
    guess = pick.draw(bounded(one, ways[0])) + pick.draw(bounded(two, ways[1]))
    assert_within(guess, one + two)


def test_an_exact_table_is_its_own_bounds():
    table = make([[1, 2], [0, 3]])
    assert all(bound.equals(table) for bound in table.bounds())
    part = ContingencyTable(table.columns, table.to_array(), upper=table.to_array() + 1)
    assert not part.exact
    assert part.bounds()[0].equals(table)
    assert (part + table).interval(("a0", "b1")) == (4, 5)


def test_cells_that_are_not_listed_have_an_upper_bound():
    columns = (column("a", 2), column("b", 3))
    table = ContingencyTable.from_cells(columns, np.array([1]), np.array([8]), rest_upper=4)
    assert not table.exact
    assert table.rest_upper == 4
    assert table["a1", "b1"] == 0
    assert table.interval(("a1", "b1")) == (0, 4)
    assert table.interval(("a0", "b1")) == (8, 8)
    assert table.bounds()[1].to_array().tolist() == [[4, 8, 4], [4, 4, 4]]
    rows = table.marginal("a")
    assert [rows.interval(label) for label in ("a0", "a1")] == [(8, 16), (0, 12)]


def test_upper_bounds_of_very_many_cells_stop_where_integers_do():
    columns = tuple(column(f"c{k}", 4) for k in range(31))
    table = ContingencyTable.from_cells(columns, np.array([3]), np.array([9]), rest_upper=7)
    rows = table.marginal("c0")
    assert rows.interval("c00") == (9, 2**61)
    assert rows.interval("c01") == (0, 2**61)
    doubled = rows + rows
    assert doubled.interval("c00") == (18, 2**61)
    assert doubled.to_dense().marginal("c0").interval("c02") == (0, 2**61)
    with pytest.raises(InputError, match=r"the dense form of c0 × c1.* use the sparse form"):
        table.bounds()


def test_approximate_tables_say_so():
    counts = np.array([[5, 0], [2, 3]])
    table = ContingencyTable(
        make(counts).columns, counts, lower=np.array([[4, 0], [2, 3]]), upper=counts
    )
    assert repr(table) == (
        "a × b, about 10 records, approximate [lower, upper]\n"
        "a \\ b        b0  b1\n"
        "a0     5 [4, 5]   0\n"
        "a1            2   3"
    )
    assert "5 [4, 5]" in table._repr_html_()
    assert table.to_frame().columns == ["a", "b", "count", "lower", "upper"]
    rest = ContingencyTable.from_cells(table.columns, np.array([0]), np.array([5]), rest_upper=2)
    title = "1 of 4 cells occur, approximate [lower, upper], cells not listed are at most 2"
    assert title in repr(rest)
    assert "0 [0, 2]" in repr(rest)
