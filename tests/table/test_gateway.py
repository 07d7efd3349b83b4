"""Bad input is refused, with an error that names the argument and the place."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tacit import InputError, Table, machine
from tacit.schema import Labels, Schema
from tacit.table import gateway

INT = Labels([0, 1], "Int64")
THREE = Labels([0, 1, 2], "Int64")


@pytest.fixture
def table():
    return Table({"colour": ["red", "red", "blue"], "size": [1, 2, 2], "same": [5, 5, 5]})


@pytest.fixture
def schema():
    # Value ids 0 and 1 are a's, 2 is b's.
    return Schema(["a", "b"], [THREE, INT], [0, 0])


bad_weights = {
    "too few": ([1, 2], r"weights must have shape \(3,\), got \(2,\)"),
    "two-dimensional": ([[1, 2, 3]], r"weights must have shape \(3,\), got \(1, 3\)"),
    "a number": (1.0, r"weights must have shape \(3,\), got \(\)"),
    "negative": ([1, 2, -0.5], "weights must be finite and not negative; record 2: -0.5"),
    "nan": ([1, np.nan, 2], "weights must be finite and not negative; record 1: nan"),
    "inf": ([np.inf, 1, 2], "weights must be finite and not negative; record 0: inf"),
    "words": (["a", "b", "c"], "weights must be numbers, got list"),
}


@pytest.mark.parametrize(("weights", "message"), bad_weights.values(), ids=bad_weights)
def test_bad_weights_are_refused_everywhere(table, weights, message):
    for make in (
        lambda: table.with_weights(weights),
        lambda: Table({"a": [1, 2, 3]}, weights=weights),
        lambda: Table(np.eye(3, dtype=int), weights=weights),
        lambda: Table.from_baskets([["a"], ["b"], []], weights=weights),
        lambda: Table.from_stored(table.schema, [0, 0, 0, 0], np.zeros(0, int), weights),
    ):
        with pytest.raises(InputError, match=message):
            make()


def test_bad_weight_columns_are_refused():
    with pytest.raises(InputError, match="weights: there is no column 'v'"):
        Table({"a": [1, 2], "w": [1.0, 2.0]}, weights="v")
    with pytest.raises(InputError, match="weights: column 'w' holds String, not numbers"):
        Table({"a": [1, 2], "w": ["x", "y"]}, weights="w")
    with pytest.raises(InputError, match="weights must be finite and not negative; record 1: nan"):
        Table({"a": [1, 2], "w": [1.0, None]}, weights="w")
    with pytest.raises(InputError, match="the table is empty: it has no columns"):
        Table({"w": [1.0, 2.0]}, weights="w")
    with pytest.raises(InputError, match="weights must be numbers, got str"):
        Table(np.eye(2, dtype=int), weights="w")


bad_records = {
    "short mask": ([True, False], "records: a mask must have length 3, got 2"),
    "long mask": (np.ones(4, bool), "records: a mask must have length 3, got 4"),
    "beyond": ([0, 3], r"records: 3 is not in \[0, 3\)"),
    "negative": ([-1, 2], r"records: -1 is not in \[0, 3\)"),
    "twice": ([2, 0, 2], "records: 2 occurs twice; use weights to repeat"),
    "floats": ([0.5, 1.0], "records must be a mask or record numbers, got float64"),
    "matrix": ([[0], [1]], "records must have one dimension, got 2"),
    "number": (1, "records must have one dimension, got 0"),
    "words": (["a"], "records must be a mask or record numbers, got"),
}


@pytest.mark.parametrize(("records", "message"), bad_records.values(), ids=bad_records)
def test_bad_subsets_are_refused_everywhere(table, records, message):
    for ask in (
        lambda: table.one_way(records=records),
        lambda: table.two_way("size", records=records),
        lambda: table.pairs(records=records),
        lambda: table.contingency(["size"], records=records),
        lambda: table.take(records),
    ):
        with pytest.raises(InputError, match=message):
            ask()


bad_queries = {
    "unseen label": (
        {"colour": "green"},
        "column 'colour' has no label 'green'; its labels are 'blue', 'red'",
    ),
    "unseen missing": ({"size": None}, "column 'size' has no label None; its labels are 1, 2"),
    "unhashable label": ({"size": {}}, r"column 'size' has no label \{\}"),
    "unknown column": ({"color": "red"}, "there is no column 'color'; did you mean 'colour'"),
    "place beyond": ({3: 1}, "column 3 is not among the 3 columns"),
    "no column": ({None: 1}, "must be a column's name or position, got None"),
    "no mapping": ([("colour", "red")], "must map columns to labels, got list"),
    "a string": ("colour", "must map columns to labels, got str"),
}


@pytest.mark.parametrize(("query", "message"), bad_queries.values(), ids=bad_queries)
def test_bad_queries_are_refused_everywhere(table, query, message):
    for ask in (lambda: table.where(query), lambda: table.count(query)):
        with pytest.raises(InputError, match=message):
            ask()
    for ask in (
        lambda: table.one_way(given=query),
        lambda: table.two_way("size", given=query),
        lambda: table.pairs(given=query),
        lambda: table.contingency(["size"], given=query),
    ):
        with pytest.raises(InputError, match=message):
            ask()


bad_stored = {
    "start": ([1, 2], [0, 1], "values: indptr must start with 0, got 1"),
    "decreasing": ([0, 2, 1], [0], "indptr must not decrease or pass the end of indices.* row 0"),
    "backwards": ([0, 1, 0, 1], [0], "indptr must not decrease .* after row 1"),
    "end": ([0, 1], [0, 2], "values: indptr must end with the number of indices, got 1"),
    "no indptr": ([], np.zeros(0, int), "indptr must have one entry more than there are rows"),
    "beyond": ([0, 1], [3], r"values: 3 is not in \[0, 3\)"),
    "negative": ([0, 1], [-1], r"values: -1 is not in \[0, 3\)"),
    "duplicate": ([0, 0, 2], [2, 2], "values: row 1 has the column index 2 twice"),
    "unsorted": ([0, 0, 2], [2, 0], "values: row 1 is not sorted"),
    "one column": ([0, 0, 2], [0, 1], "values: record 1 stores two values of column 'a'"),
    "float values": ([0, 1], [0.5], "values must be integers, got float64"),
    "float indptr": ([0, 1.5], [0], "indptr must be integers"),
    "matrix": ([[0, 1]], [0], "indptr must have one dimension, got 2"),
    "matrix values": ([0, 1], [[0]], "must have one dimension, got 2"),
    "no records": ([0], np.zeros(0, int), "the table is empty: it has no records"),
}


@pytest.mark.parametrize(("indptr", "values", "message"), bad_stored.values(), ids=bad_stored)
def test_bad_stored_values_are_refused(schema, indptr, values, message):
    with pytest.raises(InputError, match=message):
        Table.from_stored(schema, indptr, values)


empty = {
    "no columns": (lambda: Table({}), "it has no columns"),
    "no records": (lambda: Table({"a": []}), "it has no records"),
    "no columns of an array": (lambda: Table(np.zeros((3, 0), int)), "it has no columns"),
    "no records of an array": (lambda: Table(np.zeros((0, 3), int)), "it has no records"),
    "no baskets": (lambda: Table.from_baskets([]), "the table is empty"),
    "empty baskets": (lambda: Table.from_baskets([[], []]), "it has no columns"),
    "an empty frame": (lambda: Table(pl.DataFrame()), "it has no columns"),
    "nothing taken": (lambda: Table({"a": [1, 2]}).take([]), "it has no records"),
    "nothing selected": (lambda: Table({"a": [1, 2]}).select([]), "it has no columns"),
}


@pytest.mark.parametrize(("make", "message"), empty.values(), ids=empty)
def test_empty_tables_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


other_data = {"number": 5, "none": None, "series": pl.Series([1, 2]), "class": pl.DataFrame}


@pytest.mark.parametrize("data", other_data.values(), ids=other_data)
def test_data_of_other_kinds_are_refused(data):
    with pytest.raises(InputError, match="data must be a frame .* got " + type(data).__name__):
        Table(data)


elsewhere = {
    "list": ([[1, 2], [3, 4]], r"data is a list; Table.from_baskets\(data\) makes a Table"),
    "string": ("abc.csv", r"data is the path of a file; tacit.read\(path\) makes a Table of it"),
    "path": (Path("abc.csv"), r"data is the path of a file; tacit.read\(path\)"),
}


@pytest.mark.parametrize(("data", "message"), elsewhere.values(), ids=elsewhere)
def test_data_for_which_there_is_another_way_say_which(data, message):
    with pytest.raises(InputError, match=message):
        Table(data)


def test_a_table_is_not_made_of_a_table(table):
    with pytest.raises(InputError, match="data is a Table already"):
        Table(table)


def test_baskets_of_strings_are_refused():
    with pytest.raises(InputError, match="baskets: basket 1 is a str; give a list of items"):
        Table.from_baskets([["a"], "milk"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"missing": "drop"}, "missing must be 'state', 'default' or 'error', got 'drop'"),
        ({"columns": ["x"]}, "columns names the columns of an array"),
        ({"n_jobs": 0}, "n_jobs must be a non-zero integer or None, got 0"),
        ({"n_jobs": "two"}, "n_jobs must be a non-zero integer or None, got 'two'"),
        ({"defaults": {"b": 1}}, "defaults: there is no column 'b'"),
        ({"defaults": {"a": 3}}, "column 'a' has no label 3; its labels are 1, 2"),
        ({"defaults": 3}, "defaults: column 'a' has no label 3"),
        ({"discretise": {"b": 3}}, "discretise: there is no column 'b'"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        Table({"a": [1, 2, 2]}, **options)


def test_other_backends_are_refused(table):
    with pytest.raises(
        InputError, match="backend must be 'polars', 'pandas' or 'pyarrow', got 'dask'"
    ):
        table.to_frame("dask")


def test_a_dense_view_that_does_not_fit_is_refused(table, monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: 60)
    with pytest.raises(InputError, match="the dense view would take 72 B, but 60 B of memory"):
        table.to_numpy()
    with pytest.raises(InputError, match="the dense frame would take 72 B, but 60 B of memory"):
        table.to_frame()


def test_more_records_than_can_be_numbered_are_refused():
    with pytest.raises(InputError, match="has 2,147,483,648 records; at most 2,147,483,647 fit"):
        gateway.check_size(2**31, 1)
    with pytest.raises(InputError, match="2,147,483,648 non-default values; at most 2³¹ - 1 fit"):
        gateway.value_type(2**31)


def test_machine_limits_read_well():
    assert machine.count_jobs(None) == 1
    assert machine.count_jobs(-1) >= 1
    assert machine.count_jobs(-(10**6)) == 1
    assert machine.human_bytes(999) == "999 B"
    assert machine.human_bytes(72e12) == "72.0 TB"
    assert machine.available_memory() is None or machine.available_memory() > 0
