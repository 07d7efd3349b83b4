"""The same records under other ids: take, select, with_defaults, concat."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from support.strategies import data, subsets
from tacit import InputError, Table

examples = settings(max_examples=50)


def assert_sound(table):
    """Everything about a table's arrays is as kernels expect it."""
    again = Table.from_stored(table.schema, table.indptr, table.values, table.weights)
    np.testing.assert_array_equal(again.to_numpy(), table.to_numpy())


@given(d=data(), pick=st.data())
@examples
def test_take_keeps_the_chosen_records_and_all_labels(d, pick):
    table = d.table()
    chosen = pick.draw(subsets(len(d.rows)).filter(len))
    part = table.take(chosen)
    assert part.schema == table.schema
    assert_sound(part)
    assert part.to_numpy().tolist() == [list(d.rows[r]) for r in chosen]
    if d.weights is not None:
        np.testing.assert_array_equal(part.weights, d.weights[chosen])
    assert_frame_equal(part.to_frame(), d.frame()[chosen])
    mask = np.isin(np.arange(len(d.rows)), chosen)
    np.testing.assert_array_equal(table.take(mask).values, part.values)


def test_taking_everything_is_the_table_itself():
    table = Table({"a": [1, 2, 1]})
    assert table.take(None) is table


@given(d=data(), pick=st.data())
@examples
def test_select_keeps_the_chosen_columns_in_the_given_order(d, pick):
    table = d.table()
    places = pick.draw(st.permutations(range(len(d.arities))))
    places = places[: pick.draw(st.integers(1, len(places)))]
    asked = [pick.draw(st.sampled_from([p, d.names[p]])) for p in places]
    part = table.select(asked)
    assert_sound(part)
    assert list(part.schema.names) == [d.names[p] for p in places]
    assert part.to_numpy().tolist() == [[row[p] for p in places] for row in d.rows]
    assert part.schema.defaults.tolist() == [d.defaults[p] for p in places]
    assert_frame_equal(part.to_frame(), d.frame().select([d.names[p] for p in places]))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([], "the table is empty: it has no columns"),
        (["a", "a"], "column names must be distinct, but 'a' occurs twice"),
        (["c"], "columns: there is no column 'c'"),
        ("ab", "columns must be"),
    ],
)
def test_selections_that_make_no_table_are_refused(columns, message):
    with pytest.raises(InputError, match=message):
        Table({"a": [1, 2], "b": [3, 3]}).select(columns)


@given(d=data())
@examples
def test_with_defaults_none_stores_the_least(d):
    table = d.table().with_defaults(None)
    assert_sound(table)
    codes = np.array(d.rows)
    most = [np.bincount(column, minlength=a) for column, a in zip(codes.T, d.arities, strict=True)]
    assert table.schema.defaults.tolist() == [int(np.argmax(counts)) for counts in most]
    assert table.n_stored == codes.size - sum(int(counts.max()) for counts in most)
    np.testing.assert_array_equal(table.to_numpy(), codes)


def test_with_defaults_leaves_the_original_alone():
    table = Table({"a": [0, 0, 1], "b": [2, 3, 3]})
    other = table.with_defaults({"a": 1})
    assert table.schema["a"].default_label == 0
    assert other.schema["a"].default_label == 1
    assert other.schema["b"].default_label == 3  # not named: the most common


@pytest.mark.parametrize(
    ("defaults", "message"),
    [
        ({"a": 9}, "column 'a' has no label 9; its labels are 0, 1"),
        ({"aa": 1}, "defaults: there is no column 'aa'; did you mean 'a'|there is no column 'aa'"),
        (1, "defaults: column 'b' has no label 1"),
        ([1], r"defaults: column 'a' has no label \[1\]"),
    ],
)
def test_defaults_that_are_no_labels_are_refused(defaults, message):
    table = Table({"a": [0, 0, 1], "b": [2, 3, 3]})
    with pytest.raises(InputError, match=message):
        table.with_defaults(defaults)
    with pytest.raises(InputError, match=message):
        Table({"a": [0, 0, 1], "b": [2, 3, 3]}, defaults=defaults)


@given(d=data(with_chosen=False), pick=st.data())
@examples
def test_concat_of_any_parts_is_the_whole(d, pick):
    cuts = sorted(pick.draw(st.sets(st.integers(1, len(d.rows)), max_size=3)) | {len(d.rows)})
    bounds = list(zip([0, *cuts], cuts, strict=False))
    frame = pl.DataFrame(np.array(d.rows), schema=d.names, orient="row")
    parts = [
        Table(frame[a:b], weights=None if d.weights is None else d.weights[a:b]) for a, b in bounds
    ]
    whole = Table.concat(parts)
    assert_sound(whole)
    direct = Table(frame, weights=d.weights)
    assert whole.schema == direct.schema
    np.testing.assert_array_equal(whole.values, direct.values)
    np.testing.assert_array_equal(whole.indptr, direct.indptr)
    assert_frame_equal(whole.to_frame(), frame)
    if d.weights is not None:
        np.testing.assert_array_equal(whole.weights, d.weights)


def test_concat_leaves_the_list_it_is_given_alone():
    tables = [Table({"a": [1, 2]}), Table({"a": [3, 3]})]
    assert Table.concat(tables).n_records == 4
    assert len(tables) == 2


def test_concat_matches_labels_by_what_they_are():
    left, right = Table({"a": ["x", "y"]}), Table({"a": ["y", "z", None]})
    whole = Table.concat([left, right])
    assert whole.one_way()["a"] == {"x": 1, "y": 2, "z": 1, None: 1}
    assert whole.to_frame()["a"].to_list() == ["x", "y", "y", "z", None]


def test_concat_keeps_the_order_that_an_enumeration_declares():
    dtype = pl.Enum(["low", "mid", "high"])
    frame = pl.DataFrame({"a": pl.Series(["mid", None, "low", "mid"], dtype=dtype)})
    whole = Table.concat([Table(frame[:2]), Table(frame[2:])])
    assert list(whole.schema["a"].labels) == ["low", "mid", "high", None]
    assert_frame_equal(whole.to_frame(), frame)


def test_concat_keeps_the_order_of_bins():
    frame = pl.DataFrame({"a": [1.5, 9.5, 10.5, None, 20.5]})
    cut = {"a": [2, 10]}
    whole = Table.concat([Table(part, discretise=cut) for part in (frame[:3], frame[3:])])
    assert list(whole.schema["a"].labels) == list(Table(frame, discretise=cut).schema["a"].labels)


@pytest.mark.parametrize("dtype", [pl.Datetime("ns"), pl.Duration("ns"), pl.Time])
def test_concat_joins_moments_of_any_resolution(dtype):
    # Whole microseconds in one table, nanoseconds in the other.
    frame = pl.DataFrame({"a": pl.Series([1000, None, 5000, 1001, 1000]).cast(dtype)})
    whole = Table.concat([Table(frame[:3]), Table(frame[3:])])
    assert_frame_equal(whole.to_frame(), frame)
    assert whole.one_way().array("a").tolist() == [2, 1, 1, 1]


def test_concat_joins_columns_that_are_all_missing_in_one_table():
    nulls = Table({"a": pl.Series([None, None], dtype=pl.Null)})
    whole = Table.concat([nulls, Table({"a": [5, 6]})])
    assert whole.to_frame()["a"].to_list() == [None, None, 5, 6]
    assert whole.to_frame()["a"].dtype == pl.Int64


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ([], "tables must not be empty"),
        (
            [{"a": [1, 2]}, {"b": [1, 2]}],
            "tables: the columns of table 1 are not those of table 0",
        ),
        (
            [{"a": [1, 2]}, {"a": ["x", "y"]}],
            "tables: column 'a' is Int64 in one and String in another",
        ),
    ],
)
def test_tables_that_do_not_match_are_refused(tables, message):
    with pytest.raises(InputError, match=message):
        Table.concat([Table(columns) for columns in tables])


def test_weights_on_some_tables_only_are_refused():
    with pytest.raises(InputError, match="tables: some have weights and some have none"):
        Table.concat([Table({"a": [1, 2]}), Table({"a": [1, 2]}, weights=[1, 2])])
