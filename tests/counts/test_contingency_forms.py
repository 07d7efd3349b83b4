"""Both forms of a contingency table give the same answers, and those of the definitions."""

import copy
import itertools
import math
import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from support.contingency_tables import both, column, make, queries, slices, some_places, tables
from support.strategies import data
from tacit import InputError, Table
from tacit.counts import ContingencyTable

WIDE = tuple(column(f"c{k}", 4) for k in range(31))  # 2**62 cells


@pytest.fixture
def wide():
    """Three records of a table with more cells than any memory has."""
    cells = np.array([0, 4**30 + 2, 2**62 - 1])
    return ContingencyTable.from_cells(WIDE, cells, np.array([5, 1, 2]))


@given(table=tables())
def test_facts(table):
    counts = table.to_array()
    for form in both(table):
        assert form.shape == counts.shape
        assert form.n_cells == counts.size
        assert form.n_occurring == np.count_nonzero(counts)
        assert form.total == counts.sum()
        assert isinstance(form.total, float if counts.dtype == np.float64 else int)
        assert form.names == tuple("abcd"[: counts.ndim])
        assert form.exact
        assert form.check() is form
        np.testing.assert_array_equal(form.to_array(), counts)
        assert form.to_array().dtype == counts.dtype


@given(table=tables())
def test_forms_turn_into_each_other(table):
    dense, sparse = both(table)
    assert sparse.to_sparse() is sparse
    assert dense.to_dense() is dense
    assert sparse.to_dense().layout == "dense"
    assert sparse.equals(dense)
    assert dense.equals(sparse)
    assert_frame_equal(dense.to_frame(), sparse.to_frame())
    assert_frame_equal(dense.to_frame(zeros=True), sparse.to_frame(zeros=True))
    for form in both(table):
        assert pickle.loads(pickle.dumps(form)).equals(form)
        assert copy.deepcopy(form).equals(form)


@given(table=tables())
def test_cells_and_labels_say_the_same(table):
    for form in both(table):
        codes, counts = form.cells()
        assert codes.shape == (form.n_occurring, len(form.columns))
        assert (counts != 0).all()
        np.testing.assert_array_equal(form.to_array()[tuple(codes.T)], counts)
        for cell in itertools.product(*map(range, form.shape)):
            labels = tuple(c.labels[k] for c, k in zip(form.columns, cell, strict=True))
            assert form[labels] == table.to_array()[cell]
            assert type(form[labels]) is type(table[labels])
            assert form.interval(labels) == (form[labels], form[labels])


@given(table=tables(), pick=st.data())
def test_marginals(table, pick):
    places = pick.draw(some_places(table))
    letters = "abcd"[: len(table.columns)]
    expected = np.einsum(
        table.to_array(), range(len(letters)), [letters.index(letters[p]) for p in places]
    )
    for form in both(table):
        by_place, by_name = form.marginal(places), form.marginal([letters[p] for p in places])
        np.testing.assert_array_equal(by_place.to_array(), expected)
        assert by_name.equals(by_place)
        assert by_name.layout == form.layout
        assert by_name.total == table.total
        assert by_name.columns == tuple(table.columns[p] for p in places)


@given(table=tables(), pick=st.data())
def test_conditions(table, pick):
    query = pick.draw(queries(table))
    index = tuple(c.code(query[c.name]) if c.name in query else slice(None) for c in table.columns)
    for form in both(table):
        part = form.condition(query)
        np.testing.assert_array_equal(part.to_array(), table.to_array()[index])
        assert part.check().layout == form.layout
        assert not set(part.names) & set(query)


@given(table=tables(), pick=st.data())
def test_conditions_add_up_to_the_marginal(table, pick):
    if len(table.columns) == 1:
        return
    place = pick.draw(st.integers(0, len(table.columns) - 1))
    rest = [p for p in range(len(table.columns)) if p != place]
    for form in both(table):
        parts = [form.condition({place: label}) for label in form.columns[place].labels]
        assert sum(parts).equals(form.marginal(rest))


@given(table=tables(), pick=st.data())
def test_slices(table, pick):
    chosen = pick.draw(slices(table))
    codes = [
        sorted(c.code(label) for label in chosen.get(place, c.labels))
        for place, c in enumerate(table.columns)
    ]
    for form in both(table):
        part = form.slice(chosen)
        np.testing.assert_array_equal(part.to_array(), table.to_array()[np.ix_(*codes)])
        assert part.check().layout == form.layout
        for c, own, kept in zip(part.columns, table.columns, codes, strict=True):
            assert list(c.labels) == [own.labels[k] for k in kept]


def test_a_slice_keeps_the_default_if_it_keeps_its_label():
    table = ContingencyTable((column("a", 4, default=2),), np.arange(4))
    assert table.slice({"a": ["a1", "a2"]}).columns[0].default_label == "a2"
    assert table.slice({"a": ["a3"]}).columns[0].default_label == "a3"


@given(table=tables(), pick=st.data())
def test_probabilities(table, pick):
    places = pick.draw(some_places(table, min_size=0)) or None
    counts = table.to_array()
    others = tuple(k for k in range(counts.ndim) if k not in (places or ()))
    totals = np.broadcast_to(counts.sum(axis=others, keepdims=True), counts.shape)
    expected = np.array(
        [n / t if t else 0.0 for n, t in zip(counts.flat, totals.flat, strict=True)]
    )
    for form in both(table):
        shares = form.probabilities(places)
        assert shares.layout == form.layout
        assert shares.to_array().dtype == np.float64
        np.testing.assert_array_equal(shares.to_array().ravel(), expected)


@given(d=data(max_columns=3), pick=st.data())
def test_combining_parts_of_the_records_counts_them_all(d, pick):
    """Wherever records are split, and in whichever form and order the parts come."""
    frame = pl.DataFrame(np.array(d.rows), schema=d.names, orient="row")
    cut = pick.draw(st.integers(0, len(frame)))
    whole = Table(frame, weights=d.weights).contingency(d.names)
    parts = []
    for rows in (slice(0, cut), slice(cut, None)):
        if len(frame[rows]):
            weights = None if d.weights is None else d.weights[rows]
            parts.append(Table(frame[rows], weights=weights).contingency(d.names))
    for forms in itertools.product(*map(both, parts)):
        assert sum(forms).equals(whole)
        assert sum(reversed(forms)).equals(whole)
        dense = all(form.layout == "dense" for form in forms)
        assert sum(forms).layout == ("dense" if dense else "sparse")


def test_combining_matches_labels_and_columns_by_name():
    one = Table({"a": ["x", "y"], "b": [1, 1]}).contingency(["a", "b"])
    two = Table({"a": ["z", "x", None], "b": [0, 1, 0]}).contingency(["b", "a"])
    for left, right in itertools.product(both(one), both(two)):
        table = left + right
        assert table.names == ("a", "b")
        assert list(table.columns[0].labels) == ["x", "y", "z", None]
        assert table.to_array().tolist() == [[0, 2], [0, 1], [1, 0], [1, 0]]
        assert left.combine(right).equals(table)


def test_integers_and_weights_add_up_to_floats():
    one, two = make([1, 2]), make([0.5, 0])
    for left, right in itertools.product(both(one), both(two)):
        assert (left + right).to_array().tolist() == [1.5, 2.0]
        assert (left + right).to_array().dtype == np.float64
        assert isinstance((left + left).total, int)


def test_only_tables_and_the_zero_of_sum_can_be_added():
    with pytest.raises(TypeError):
        make([1, 2]) + 3
    with pytest.raises(TypeError):
        3 + make([1, 2])


def test_two_columns_of_one_name_are_found_by_place():
    table = Table({"a": ["x", "y", "x"], "b": [1, 2, 3]}).pairs()["a", "a"]
    assert table.marginal([1]).to_array().tolist() == [2, 1]
    assert table.entropy([0]) == pytest.approx(table.mutual_information())
    assert table.to_frame().columns == ["a", "a_", "count"]


@given(d=data(max_columns=3, with_chosen=False))
def test_a_weight_of_two_is_the_record_twice(d):
    columns = range(len(d.arities))
    twice = d.with_(rows=d.rows * 2, weights=None).table().contingency(columns)
    heavy = d.with_(weights=np.full(len(d.rows), 2.0)).table().contingency(columns)
    for form in both(heavy):
        assert form.equals(twice)
        assert form.entropy() == pytest.approx(twice.entropy(), abs=1e-12)
        assert form.probabilities().equals(twice.probabilities())


def test_equals_sees_every_difference():
    table = make([[1, 2], [0, 3]])
    assert not table.equals(make([[1, 2], [0, 4]]))
    assert not table.equals(make([[1, 2], [0, 3]], names="xy"))
    assert not table.equals(make([[1, 2]]))
    assert not table.equals(table.to_sparse().slice({"a": ["a0"]}))
    other = ContingencyTable(table.columns, table.to_array(), upper=table.to_array() + 1)
    assert not table.equals(other)
    assert other.equals(other.to_sparse())


# ------------------------------------------------------- more cells than memory


def test_a_table_of_2_to_the_62_cells_is_never_made_dense(wide):
    assert wide.n_cells == 2**62
    assert wide.n_occurring == 3
    assert wide.total == 8
    assert wide[tuple(f"c{k}3" for k in range(31))] == 2
    assert wide[("c01", *(f"c{k}0" for k in range(1, 31)))] == 0
    codes, counts = wide.cells()
    assert codes.sum() == 1 + 2 + 3 * 31
    assert counts.tolist() == [5, 1, 2]
    assert wide.marginal(["c30", "c0"]).to_array().tolist() == [
        [5, 0, 0, 0],
        [0, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 0, 2],
    ]
    reverse = wide.marginal(range(30, -1, -1))
    assert reverse.n_occurring == 3
    assert reverse.marginal(range(30, -1, -1)).equals(wide)
    assert wide.condition({"c0": "c01"}).total == 1
    assert wide.slice({"c0": ["c00", "c03"]}).total == 7
    assert (wide + wide).total == 16
    assert wide.probabilities("c0").total == 3.0
    assert wide.entropy() == pytest.approx(-sum(p * math.log(p) for p in (5 / 8, 1 / 8, 2 / 8)))
    assert wide.mutual_information("c0", [f"c{k}" for k in range(1, 31)]) == wide.entropy()
    assert wide.chi2("c0", "c30").statistic == pytest.approx(16)
    assert wide.cramers_v("c0", "c30") == pytest.approx(1)
    assert wide.to_frame().height == 3
    assert "3 of 4,611,686,018,427,387,904 cells occur" in repr(wide)
    assert "cells occur" in wide._repr_html_()


@pytest.mark.parametrize(
    "ask", [lambda t: t.to_array(), lambda t: t.to_dense(), lambda t: t.to_frame(zeros=True)]
)
def test_a_dense_form_that_does_not_fit_is_refused(wide, ask):
    with pytest.raises(InputError, match=r"4,611,686,018,427,387,904 (cells|rows).* TB"):
        ask(wide)


def test_a_union_with_more_cells_than_numbers_is_refused(wide):
    other = ContingencyTable.from_cells((column("c0", 5), *WIDE[1:]), np.array([0]), np.array([1]))
    with pytest.raises(InputError, match=r"other: [\d,]+ cells are more than can be numbered"):
        wide + other


# ------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda t: t.marginal([]), "columns must be one or more columns, got none"),
        (lambda t: t.marginal("aa"), "columns: there is no column 'aa'"),
        (lambda t: t.marginal(["a", "a"]), "columns: column 'a' is there twice"),
        (lambda t: t.marginal(["a", 0]), "columns: column 'a' is there twice"),
        (lambda t: t.marginal([7]), "columns: column 7 is not among the 2 columns"),
        (lambda t: t.marginal(1.5), "columns must be a column or several, got float"),
        (lambda t: t.condition({"z": 1}), "query: there is no column 'z'"),
        (lambda t: t.condition({"a": 1}), "column 'a' has no label 1; its labels are 'a0'"),
        (lambda t: t.condition({"a": "a0", 0: "a1"}), "query: column 'a' is there twice"),
        (lambda t: t.condition(["a"]), "query must map columns to labels, got list"),
        (lambda t: t.condition({"a": "a0", "b": "b0"}), "query: it leaves no column"),
        (lambda t: t.slice({"z": []}), "labels: there is no column 'z'"),
        (lambda t: t.slice({"a": []}), "labels: column 'a' must keep one label or more"),
        (lambda t: t.slice({"a": "a0"}), "labels: column 'a' needs a list of labels, got 'a0'"),
        (lambda t: t.slice({"a": ["a0", "a0"]}), "labels: 'a0' of 'a' is there twice"),
        (lambda t: t.slice({"a": ["x"]}), "column 'a' has no label 'x'"),
        (lambda t: t.slice([]), "labels must map columns to lists of labels, got list"),
        (lambda t: t.combine(3), "other must be a ContingencyTable, got int"),
        (lambda t: t + make([[1]], names="ax"), "other has the columns a, x, not a, b"),
        (lambda t: t.probabilities("z"), "given: there is no column 'z'"),
        (lambda t: t["a0"], "one label is needed for each of a, b, got 1"),
        (lambda t: t["a0", "x"], "column 'b' has no label 'x'"),
        (lambda t: t.interval("a0"), "one label is needed for each of a, b, got 1"),
    ],
)
def test_questions_that_make_no_sense_are_refused(ask, message):
    for form in both(make([[1, 2], [0, 3]])):
        with pytest.raises(InputError, match=message):
            ask(form)


def test_columns_of_different_types_cannot_be_combined():
    one, two = Table({"a": [1]}).contingency(["a"]), Table({"a": ["x"]}).contingency(["a"])
    with pytest.raises(InputError, match="other: column 'a' is Int64 in one and String in another"):
        one + two


def dense(counts, **bounds):
    return ContingencyTable((column("a", 2), column("b", 2)), counts, **bounds)


def sparse(cells, counts, **bounds):
    return ContingencyTable.from_cells(dense(None).columns, cells, counts, **bounds)


SQUARE = np.ones((2, 2), np.int64)
ONE = np.array([1])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (ContingencyTable((), np.ones(())), "columns must be one or more"),
        (ContingencyTable((column("a", 1),) * 2, SQUARE), "columns: 'a' is there twice"),
        (ContingencyTable((*WIDE, column("x", 2)), SQUARE), "more than can be numbered"),
        (dense([[1]]), "counts must be an array of int64 or float64"),
        (dense(SQUARE.astype(np.int32)), "counts must be an array of int64 or float64"),
        (dense(SQUARE[:1]), r"counts must have the shape \(2, 2\), got \(1, 2\)"),
        (dense(-SQUARE), r"counts must be finite and not negative, but not at position \(0, 0\)"),
        (dense(SQUARE * np.nan), "counts must be finite"),
        (dense(SQUARE, lower=SQUARE + 1), r"lower is above the count at position \(0, 0\)"),
        (dense(SQUARE, upper=SQUARE - np.eye(2)), r"upper is below the count at position \(0, 0\)"),
        (sparse([0], ONE), "cells must be a one-dimensional array of int64"),
        (sparse(ONE * 4, ONE), "cells must be from 0 to 3, but not at position 0"),
        (sparse(np.array([2, 2]), np.array([1, 1])), "cells must ascend, but do not after at"),
        (sparse(ONE, np.array([1, 1])), r"counts must have the shape \(1,\), got \(2,\)"),
        (sparse(ONE, ONE, rest_upper=-1), "rest_upper must not be negative, got -1"),
    ],
)
def test_check_finds_what_is_wrong_with_the_arrays(table, message):
    with pytest.raises(InputError, match=message):
        table.check()
