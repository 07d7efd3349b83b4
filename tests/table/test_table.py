"""The Table itself: what it holds, what it says, and that it leaves its inputs alone."""

import copy
import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

from support.strategies import VALUE_TYPES, assert_identical, data
from tacit import Table, as_table
from tacit.schema import Column, Labels, Schema
from tacit.table import Summary

examples = settings(max_examples=50)


@pytest.fixture
def weather():
    return Table(
        {"sky": ["blue", "grey", "grey", None], "rain": [False, True, False, True]},
        weights=[1, 2, 3, 4],
    )


@given(d=data(with_chosen=False))
@examples
def test_a_table_stores_what_differs_from_the_defaults(d):
    table = d.table()
    indptr, values = d.csr(table.values.dtype)
    assert_identical(table.indptr, indptr)
    assert_identical(table.values, values)
    assert table.shape == (len(d.rows), len(d.arities))
    assert table.n_stored == len(values)
    assert table.schema.arities.tolist() == d.arities


@given(d=data(with_chosen=False))
@examples
def test_the_dense_view_is_the_data(d):
    table = d.table()
    np.testing.assert_array_equal(table.to_numpy(), np.array(d.rows))
    for c, name in enumerate(d.names):
        assert table.codes(name).tolist() == [row[c] for row in d.rows]


@given(d=data(with_chosen=False))
@examples
def test_from_stored_takes_what_a_table_holds(d):
    table = d.table()
    for dtype in (*VALUE_TYPES, np.int64):
        again = Table.from_stored(
            table.schema, table.indptr.astype(np.int32), table.values.astype(dtype), d.weights
        )
        assert_identical(again.values, table.values)
        assert_identical(again.indptr, table.indptr)


@given(d=data(with_chosen=False))
@examples
def test_postings_are_the_records_of_each_value(d):
    start, rows = d.table().postings
    for v in range(d.n_values):
        held = [r for r, ids in enumerate(d.lists) if v in ids]
        assert rows[start[v] : start[v + 1]].tolist() == held


def test_the_most_common_value_is_the_default_and_the_first_of_equals():
    table = Table({"a": [2, 1, 2, 1], "b": [5, 5, 3, 4], "c": [None, None, 1, 1]})
    assert [column.default_label for column in table.columns] == [1, 5, 1]


def test_a_default_that_never_occurs_stores_every_value():
    frame = pl.DataFrame({"a": pl.Series(["x", "x"], dtype=pl.Enum(["x", "y"]))})
    table = Table(frame, defaults={"a": "y"})
    assert table.n_stored == 2
    assert table.one_way()["a"] == {"x": 2, "y": 0}


def test_one_label_can_be_the_default_of_all_columns():
    table = Table({"a": [0, 1, 1], "b": [1, 1, 0]}, defaults=0)
    assert table.schema.defaults.tolist() == [0, 0]
    assert table.n_stored == 4


def test_summaries_report_size_and_sparsity(weather):
    summary = weather.summary()
    assert isinstance(summary, Summary)
    assert (summary.records, summary.columns, summary.stored) == (4, 2, 4)
    assert summary.factor == 2
    assert summary.values == 3
    assert summary.largest_arity == 3
    assert summary.missing_columns == 1
    assert summary.weighted
    assert repr(weather) == "Table of 4 records × 2 columns, 4 stored values (m·n/l = 2), weighted"
    assert ">Table</div>" in summary._repr_html_()
    assert "a label of 1 column" in str(summary)
    assert summary.as_dict()["factor"] == 2


def test_a_table_of_constants_has_an_infinite_factor():
    summary = Table({"a": [1, 1]}).summary()
    assert summary.factor == float("inf")
    assert summary.as_dict()["factor"] is None


def test_nbytes_counts_what_is_held(weather):
    n_bytes = weather.indptr.nbytes + weather.values.nbytes + weather.weights.nbytes
    assert weather.nbytes == n_bytes
    weather.where({"rain": True})  # makes the postings
    n_bytes += sum(array.nbytes for array in weather.postings)
    assert weather.nbytes == n_bytes
    weather.count({"rain": True})  # makes what engines count with: here, exact weights
    assert weather.nbytes == n_bytes + 16 * weather.n_records


def test_columns_are_described(weather):
    assert weather.columns == [
        Column("sky", Labels(["blue", "grey", None], "String"), 1),
        Column("rain", Labels([False, True], "Boolean"), 0),
    ]
    assert len(weather) == weather.n_records == 4


def test_queries_take_any_label_also_missing_and_defaults(weather):
    assert weather.where({"sky": None}).tolist() == [3]
    assert weather.where({"sky": "grey"}).tolist() == [1, 2]
    assert weather.where({"rain": False, "sky": "grey"}).tolist() == [2]
    assert weather.where({}).tolist() == [0, 1, 2, 3]
    assert weather.where({1: True}).tolist() == [1, 3]
    assert weather.count({"sky": "grey"}) == 5.0
    assert weather.with_weights(None).count({"sky": "grey"}) == 2


def test_records_and_given_are_both_met(weather):
    counts = weather.one_way(records=[0, 1, 3], given={"rain": True})
    assert counts.total == 6
    assert counts["sky"] == {"blue": 0, "grey": 2, None: 4}
    mask = np.array([True, True, False, True])
    np.testing.assert_array_equal(
        weather.one_way(records=mask, given={"rain": True}).counts, counts.counts
    )


@pytest.mark.parametrize("records", [[3, 0, 1], np.array([0, 1, 3], np.uint8), (1, 3, 0)])
def test_record_numbers_come_in_any_order_and_type(weather, records):
    assert weather.one_way(records=records).total == 7


def test_weights_are_a_copy(weather):
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    table = weather.with_weights(weights)
    weights[:] = 0
    assert table.one_way().total == 10
    with pytest.raises(ValueError, match="read-only"):
        table.weights[0] = 5


def test_weights_can_be_a_column_of_the_frame():
    table = Table({"a": [1, 1, 2], "w": [0.5, 1.5, 2.0]}, weights="w")
    assert table.schema.names == ("a",)
    assert table.one_way()["a"] == {1: 2.0, 2: 2.0}


@pytest.mark.parametrize("dtype", VALUE_TYPES)
def test_from_stored_leaves_its_arrays_alone(weather, dtype):
    indptr, values = weather.indptr.copy(), weather.values.astype(dtype)
    table = Table.from_stored(weather.schema, indptr, values)
    assert indptr.flags.writeable
    assert values.flags.writeable
    values[:] = 0
    indptr[:] = 0
    np.testing.assert_array_equal(table.to_numpy(), weather.to_numpy())


def test_a_table_without_stored_values_can_be_made_of_empty_lists():
    schema = Schema(["a"], [Labels([0, 1], "Int64")], [0])
    assert Table.from_stored(schema, [0, 0, 0], []).to_numpy().tolist() == [[0], [0]]


def test_baskets_have_a_column_for_each_item():
    baskets = [["milk", "bread", "milk"], [], {"tea"}, (7, "bread")]
    table = Table.from_baskets(iter(baskets), weights=[1, 2, 3, 4])
    assert table.schema.names == ("7", "bread", "milk", "tea")
    assert table.to_frame()["bread"].to_list() == [True, False, False, True]
    assert table.one_way()["bread"] == {False: 5.0, True: 5.0}
    assert table.schema.defaults.tolist() == [0, 0, 0, 0]


def test_baskets_can_store_the_rarer_of_there_and_not_there():
    baskets = [["a"], ["a", "b"], ["a"]]
    table = Table.from_baskets(baskets, defaults=None)
    assert [column.default_label for column in table.columns] == [True, False]
    assert table.n_stored == 1
    assert Table.from_baskets(baskets, defaults={"b": True}).schema["b"].default_label is True


def test_as_table_keeps_tables_and_makes_others(weather):
    assert as_table(weather) is weather
    assert as_table({"a": [1, 2]}, defaults={"a": 2}).schema["a"].default_label == 2


def test_tables_can_be_copied_and_sent(weather):
    for again in (copy.deepcopy(weather), pickle.loads(pickle.dumps(weather))):
        assert again.schema == weather.schema
        np.testing.assert_array_equal(again.to_numpy(), weather.to_numpy())
        np.testing.assert_array_equal(again.weights, weather.weights)
        np.testing.assert_array_equal(again.pairs().stored, weather.pairs().stored)


def test_more_values_than_sixteen_bits_hold():
    n = 2**16
    for count, dtype in ((n - 1, np.uint16), (n, np.uint32), (n + 1, np.uint32)):
        table = Table({"a": range(count), "b": [1] + [0] * (count - 1)})
        assert table.schema.n_values == count
        assert table.values.dtype == dtype
        assert table.codes("a").tolist() == list(range(count))
        assert (table.one_way().array("a") == 1).all()
        counts = table.two_way("b")["a"].to_array()
        assert counts[1].tolist() == [1] + [0] * (count - 1)
        assert counts[0].tolist() == [0] + [1] * (count - 1)


@pytest.mark.parametrize("jobs", [None, 1, 2, 3, 7, -1])
def test_encoding_does_not_depend_on_the_number_of_threads(jobs):
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({f"c{k}": rng.integers(0, k + 1, 9000) for k in range(9)})
    frame = frame.with_columns(pl.col("c7").cast(pl.String), pl.col("c8").cast(pl.Float64))
    expected, table = Table(frame), Table(frame, n_jobs=jobs)
    assert table.schema == expected.schema
    assert_identical(table.values, expected.values)
    assert_identical(table.indptr, expected.indptr)
