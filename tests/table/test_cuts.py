"""Cuts: a Table that is cut is the Table of bins, and other numbers fall where those did."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from scipy import sparse

from tacit import InputError, Table
from tacit.scale import partition
from tacit.schema import Labels, Schema
from tacit.table.cuts import cut_schema, with_edges
from tacit.table.discretise import Auto, apply_cuts, bins_of

examples = settings(max_examples=60)
SPECS = [
    "auto",
    "width",
    "frequency",
    "mdl",
    2,
    3,
    [0.5, 4.0],
    [],
    {"a": "width"},
    {"b": [1], "a": 2},
]

reals = st.sampled_from([-2.5, -1.0, 0.0, 0.25, 0.5, 3.0, 1e9]) | st.floats(-1e6, 1e6)
wholes = st.integers(-3, 50)
targets = st.sampled_from(["n", "y", "z"])
some = st.booleans()


@st.composite
def frames(draw, min_size=1):
    """Return a frame of real numbers, whole numbers and a target."""
    n = draw(st.integers(min_size, 25))

    def column(values, missing):
        values = values | st.none() if missing else values
        return draw(st.lists(values, min_size=n, max_size=n))

    return pl.DataFrame(
        {
            "a": pl.Series(column(reals, draw(some)), dtype=pl.Float64),
            "b": pl.Series(column(wholes, draw(some)), dtype=pl.Int64),
            "y": column(targets, missing=False),
        }
    )


def assert_same_table(one, other):
    assert one.schema == other.schema
    assert [c.edges for c in one.columns] == [c.edges for c in other.columns]
    np.testing.assert_array_equal(one.indptr, other.indptr)
    np.testing.assert_array_equal(one.values, other.values)


@pytest.mark.parametrize("spec", SPECS, ids=str)
@given(frame=frames(), weighted=some)
@examples
def test_a_table_that_is_cut_is_the_table_of_bins(spec, frame, weighted):
    weights = np.arange(frame.height) / 4 if weighted else None
    # "mdl" takes a target that has something to tell apart
    frame = frame if frame["y"].n_unique() > 1 else frame.with_columns(y=pl.lit("n"), z=pl.lit(1))
    if frame["y"].n_unique() < 2 and spec == "mdl":
        return
    target = "y" if frame["y"].n_unique() > 1 else None
    table = Table(frame, weights=weights)
    kept = table.values.copy()
    expected = Table(frame, discretise=spec, target=target, weights=weights)
    assert_same_table(table.cut(spec, target=target), expected)
    parts = partition(table, min(3, frame.height)).cut(spec, target=target)
    assert_same_table(parts.collect(), expected)
    np.testing.assert_array_equal(table.values, kept)
    assert table.schema == Table(frame).schema


@pytest.mark.parametrize("spec", ["auto", "width", "frequency", 2, [0.5, 4.0]], ids=str)
@given(frame=frames())
@examples
def test_arrays_are_cut_as_frames_are(spec, frame):
    X = frame.select("a", "b").fill_null(0).to_numpy().astype(float)
    of_frame = Table(pl.DataFrame(X, schema=["a", "b"], orient="row"), discretise=spec)
    for given_array in (X, sparse.csr_array(X), sparse.csc_array(X)):
        table = Table(given_array, columns=["a", "b"], discretise=spec)
        assert [c.edges for c in table.columns] == [c.edges for c in of_frame.columns]
        for name in ("a", "b"):
            held = table.to_frame()[name].to_list()
            assert held == of_frame.to_frame()[name].to_list()


@given(
    st.lists(reals | st.none(), min_size=1, max_size=20),
    st.sets(st.floats(-1e6, 1e6) | st.sampled_from([-1.0, 0.25, 3.0])),
    st.data(),
)
@examples
def test_records_are_cut_where_the_schema_says(values, edges, data):
    edges = tuple(np.unique([x + 0.0 for x in sorted(edges)]).tolist())
    labels = bins_of(edges, missing=True)
    schema = Schema(["x"], [labels], [data.draw(st.integers(0, len(labels) - 1))])
    frame = pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64)})
    table = Table(frame).conform(schema)
    numbers = frame["x"].fill_null(float("nan")).to_numpy()
    bins = apply_cuts(numbers, edges)
    expected = np.where(bins < 0, labels.missing, bins)
    assert table.schema == schema
    np.testing.assert_array_equal(table.codes("x"), expected)
    assert Table.from_stored(schema, table.indptr, table.values).n_stored == table.n_stored


def test_what_is_missing_has_no_bin_unless_the_schema_has_one():
    schema = Schema(["x"], [bins_of([2])], [0])
    table = Table({"x": [1.5, None, 9.0]})
    with pytest.raises(InputError, match=r"x.* has a missing value at record 1"):
        table.conform(schema)
    assert table.conform(schema, unseen="default").codes("x").tolist() == [0, 0, 1]


def test_numbers_of_any_type_fall_into_bins():
    schema = Table({"x": [1.0, 2.5, 9.0]}, discretise={"x": [2, 5]}).schema
    for values in ([1, 3, 7], [1.0, 3.0, 7.0], pl.Series([1, 3, 7], dtype=pl.UInt8)):
        assert Table({"x": values}).conform(schema).codes("x").tolist() == [0, 1, 2]
    again = Table({"x": ["< 2", "2 – 5", ">= 5"]})  # by their names
    assert again.conform(schema).codes("x").tolist() == [0, 1, 2]
    assert Table({"x": [1, 3, 7]}).conform(schema).count({"x": 6.5}) == 1


def test_bins_are_not_cut_again():
    table = Table({"x": [1.5, 2.5, 3.5]}, discretise={"x": [2]})
    assert table.cut("width") is table
    with pytest.raises(InputError, match="discretise: column 'x' holds bins already"):
        table.cut({"x": 2})


@pytest.mark.parametrize(
    ("spec", "options", "message"),
    [
        ("mdl", {}, "discretise='mdl' needs target, the column to tell apart"),
        ({"z": 2}, {}, "discretise: there is no column 'z'"),
        ({"y": 2}, {}, "discretise: column 'y' holds String, not numbers"),
        ("fine", {}, "a discretisation must be"),
        (2, {"target": "z"}, "target: there is no column 'z'"),
    ],
)
def test_what_cannot_be_cut(spec, options, message):
    frame = {"x": [1.5, 2.5, 3.5], "y": ["a", "b", "a"]}
    with pytest.raises(InputError, match=message):
        Table(frame).cut(spec, **options)
    with pytest.raises(InputError, match=message):
        Table(frame, discretise=spec, **options)


@pytest.mark.parametrize(
    ("values", "cut"),
    [
        ([0.5, 1.5], True),  # real numbers, so that others can be read later
        (list(range(10)), False),
        (list(range(11)), True),
        (list(range(11)) * 5, False),
        (list(range(32)) * 5, False),
        (list(range(33)) * 50, True),
        ([1.0, 2.0, 3.0], False),
    ],
)
def test_what_auto_cuts(values, cut):
    assert Auto().cuts(np.unique(values).astype(float), len(values)) is cut
    table = Table({"x": values})
    assert (table.cut().schema["x"].edges is not None) is cut
    assert (Table({"x": values}, discretise="auto").schema["x"].edges is not None) is cut


def test_classes_that_are_no_column():
    x = np.array([1.0, 2.0, 2.0, 7.0, 8.0, 9.0, 7.0, 1.0] * 5)
    classes = (x > 5).astype(np.int64) + (x > 7)
    with_target = Table({"x": x, "y": classes.astype(str)})
    by_column = cut_schema(with_target, "mdl", "y")
    by_codes = cut_schema(with_target.select(["x"]), "mdl", classes=classes)
    assert by_column["x"].labels == by_codes["x"].labels
    assert by_codes["x"].edges == (4.5, 7.5)


def test_the_default_is_the_bin_of_most_records():
    table = Table({"x": [1.0, 2.0, 3.0, 8.0, 8.0]}).cut({"x": [5]})
    assert table.schema["x"].default_label == "< 5"
    assert table.n_stored == 2


def test_other_edges():
    schema = Table({"x": [1.5, 2.5, None], "y": ["a", "b", "c"]}, discretise={"x": [2]}).schema
    again = with_edges(schema, {"x": [1, 9]})
    assert again["x"].edges == (1.0, 9.0)
    assert again["x"].labels.missing == 3
    with pytest.raises(InputError, match="edges: column 'y' is categorical, not numeric"):
        with_edges(schema, {"y": [1]})


# Numbers that are not cut


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.none(), min_size=1, max_size=20),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20),
)
@examples
def test_whole_numbers_survive_a_table(values, others):
    frame = pl.DataFrame({"x": pl.Series(values, dtype=pl.Int64)})
    table = Table(frame)
    assert_frame_equal(table.to_frame(), frame)
    labels = table.schema["x"].labels
    assert [labels[code] for code in table.codes("x").tolist()] == values
    assert all(table.count({"x": value}) == values.count(value) for value in values)
    known = {value: code for code, value in enumerate(labels)}
    for label in others:
        assert labels.find(label) == known.get(label, -1)
    if others:
        found = labels.find_all(Table({"x": others}).schema["x"].labels)
        assert found.tolist() == [known.get(label, -1) for label in sorted(set(others))]


@given(
    st.lists(
        st.floats(allow_nan=False, allow_infinity=False, width=64) | st.none(),
        min_size=1,
        max_size=20,
    )
)
@examples
def test_real_numbers_survive_a_table(values):
    frame = pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64)})
    table = Table(frame)
    held = table.to_frame()["x"].to_list()
    assert held == values  # of which -0.0 is 0.0
    labels = table.schema["x"].labels
    assert labels.kind == ("numeric")
    assert all(table.count({"x": value}) == values.count(value) for value in values)
    known = [value for value in values if value is not None]
    assert list(labels)[: labels.missing] == sorted(set(known))


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1), st.lists(st.integers(-5, 2**63 - 1)))
@examples
def test_numbers_of_several_types_are_compared_exactly(values, others):
    unsigned = Labels.of_numbers(np.unique(np.array(values, np.uint64)), "UInt64")
    codes = {value: code for code, value in enumerate(unsigned)}
    if others:
        signed = Labels.of_numbers(np.unique(np.array(others, np.int64)), "Int64")
        assert unsigned.find_all(signed).tolist() == [codes.get(x, -1) for x in signed]
        real = Labels.of_numbers(np.unique(np.array(others, np.float64)), "Float64")
        assert unsigned.find_all(real).tolist() == [codes.get(int(x), -1) for x in real]


@pytest.mark.parametrize("label", [2.5, np.inf, -np.inf, "2", b"2", 2**70, -(2**70), (2,)])
def test_labels_that_are_no_number_of_a_column(label):
    for dtype in (np.int64, np.float64):
        assert Labels.of_numbers(np.array([1, 2, 3], dtype), "Int64").find(label) == -1


@pytest.mark.parametrize("label", [2, 2.0, np.int8(2), np.float32(2), np.uint64(2)])
def test_labels_that_are(label):
    for dtype in (np.int64, np.uint8, np.float64):
        assert Labels.of_numbers(np.array([1, 2, 3], dtype), "Int64").find(label) == 1
