"""The same records under the schema of a model: Table.conform."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from support.strategies import data, label
from tacit import InputError, Table
from tacit.schema import Labels, Schema

examples = settings(max_examples=50)


def assert_sound(table):
    """Everything about a table's arrays is as kernels expect it."""
    again = Table.from_stored(table.schema, table.indptr, table.values, table.weights)
    np.testing.assert_array_equal(again.to_numpy(), table.to_numpy())


def labels_of(table, name):
    """The label of every record, worked out without any recoding."""
    column = table.schema[name]
    return [column.labels[code] for code in table.codes(name)]


@st.composite
def other_schemas(draw, d):
    """Schemas of the same columns and labels in another order, perhaps more labels or columns."""
    places = draw(st.permutations(range(len(d.arities))))
    places = places[: draw(st.integers(1, len(places)))]
    labels, defaults = [], []
    for place in places:
        extra = draw(st.integers(0, 2))
        items = [label(code) for code in range(d.arities[place] + extra)]
        items = draw(st.permutations(items)) + [None] * draw(st.integers(0, 1))
        labels.append(Labels(items, draw(st.sampled_from(["String", "Enum", "Categorical"]))))
        defaults.append(draw(st.integers(0, len(items) - 1)))
    return Schema([d.names[place] for place in places], labels, defaults)


@given(d=data(with_chosen=False), pick=st.data())
@examples
def test_records_say_the_same_under_any_schema_that_has_their_labels(d, pick):
    table, schema = d.table(), pick.draw(other_schemas(d))
    unseen = pick.draw(st.sampled_from(["error", "default"]))
    kept = table.indptr.copy(), table.values.copy()
    there = table.conform(schema, unseen=unseen)
    assert there.schema == schema
    assert_sound(there)
    for name in schema.names:
        assert labels_of(there, name) == labels_of(table, name)
    if d.weights is None:
        assert there.weights is None
    else:
        np.testing.assert_array_equal(there.weights, d.weights)
    np.testing.assert_array_equal(table.indptr, kept[0])
    np.testing.assert_array_equal(table.values, kept[1])
    if len(schema) == table.n_columns:
        back = there.conform(table.schema)
        assert back.schema == table.schema
        np.testing.assert_array_equal(back.indptr, table.indptr)
        np.testing.assert_array_equal(back.values, table.values)


@given(d=data(with_chosen=False), pick=st.data())
@examples
def test_what_the_schema_does_not_have_becomes_the_default_or_is_refused(d, pick):
    table = d.table()
    c = pick.draw(st.integers(0, len(d.arities) - 1))
    kept = pick.draw(st.sets(st.integers(0, d.arities[c] - 1)))
    items = [label(code) for code in kept] + ["another"]
    labels = list(table.schema.labels)
    labels[c] = Labels(items, "String")
    defaults = table.schema.defaults.copy()
    defaults[c] = pick.draw(st.integers(0, len(items) - 1))
    schema = Schema(table.schema.names, labels, defaults)
    held = labels_of(table, d.names[c])
    expected = [x if x in items else items[defaults[c]] for x in held]
    there = table.conform(schema, unseen="default")
    assert_sound(there)
    assert labels_of(there, d.names[c]) == expected
    wrong = [(record, x) for record, x in enumerate(held) if x not in items]
    if wrong:
        record, x = wrong[0]
        message = f"X: column '{d.names[c]}' has '{x}' at record {record}, which the model was not"
        with pytest.raises(InputError, match=message):
            table.conform(schema)
    else:
        np.testing.assert_array_equal(table.conform(schema).values, there.values)


def test_an_equal_schema_is_the_table_itself():
    table = Table({"a": ["x", "y", "x"], "b": [1, 2, 2]})
    same = Table({"a": ["y", "x", "x"], "b": [2, 2, 1]}).schema
    assert table.schema is not same
    assert table.conform(same) is table


def test_columns_are_found_by_name_and_others_are_passed_over():
    schema = Table({"a": [1, 2], "b": ["x", "y"]}).schema
    table = Table({"c": [5, 6, 7], "b": ["y", "y", "x"], "a": [2, 2, 2]})
    there = table.conform(schema)
    assert there.to_frame().to_dict(as_series=False) == {"a": [2, 2, 2], "b": ["y", "y", "x"]}


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ([0, 1], [1.0, 0.0]),
        ([0, 1], [True, False]),
        ([0.0, 1.0], [True, False]),
        ([False, True], [1, 0]),
        (pl.Series([0, 1], dtype=pl.UInt8), pl.Series([1, 0], dtype=pl.Int64)),
        (["a", "b"], pl.Series(["b", "a"], dtype=pl.Categorical)),
        (["a", "b"], pl.Series(["b", "a"], dtype=pl.Enum(["b", "c", "a"]))),
        (
            pl.Series([dt.datetime(2020, 1, 2), dt.datetime(2020, 1, 3)], dtype=pl.Datetime("ms")),
            pl.Series([dt.datetime(2020, 1, 3), dt.datetime(2020, 1, 2)], dtype=pl.Datetime("ns")),
        ),
    ],
)
def test_labels_match_by_what_they_are_whatever_their_type(there, here):
    schema = Table({"a": there}).schema
    assert Table({"a": here}).conform(schema).to_numpy().tolist() == [[1], [0]]


@pytest.mark.parametrize(
    ("there", "here", "shown"),
    [
        ([0, 1], ["1", "0"], "'1'"),
        (["0", "1"], [1, 0], "1"),
        (pl.Series([1001, 5]).cast(pl.Datetime("ns")), [1001, 5], "1001"),
        (pl.Series([1001, 5]).cast(pl.Datetime("ns")), [1001.0, 5.0], "1001.0"),
        ([1001, 5], pl.Series([1001, 5]).cast(pl.Duration("ns")), "1001"),
        ([dt.date(2020, 1, 2)], [dt.datetime(2020, 1, 2)], "datetime"),
    ],
)
def test_labels_that_only_look_alike_do_not_match(there, here, shown):
    schema = Table({"a": there}).schema
    with pytest.raises(InputError, match=f"X: column 'a' has {shown}.* at record 0, which the mod"):
        Table({"a": here}).conform(schema)


def test_a_label_that_no_record_has_is_no_problem():
    schema = Table({"a": ["x", "y"], "b": [1, 2]}).schema
    declared = pl.Series(["y", "x", "y"], dtype=pl.Enum(["w", "x", "y", "z"]))
    table = Table({"a": declared, "b": [2, 2, 1]})
    for defaults in ({"a": "w"}, {"a": "z"}, None):  # also where it is the default
        there = table.with_defaults(defaults).conform(schema)
        assert there.to_numpy().tolist() == [[1, 1], [0, 1], [1, 0]]


class TestMissing:
    def test_is_a_label_like_others(self):
        schema = Table({"a": ["x", "y", None]}).schema
        there = Table({"a": [None, None, "y"]}).conform(schema)
        assert labels_of(there, "a") == [None, None, "y"]
        nulls = Table({"a": pl.Series([None, None], dtype=pl.Null)}).conform(schema)
        assert labels_of(nulls, "a") == [None, None]

    def test_is_unseen_where_the_schema_has_none(self):
        schema = Table({"a": ["x", "y", "y"]}).schema
        for values in (["x", "y", None], ["x", None, None]):  # stored, and as the default
            table = Table({"a": values})
            record = values.index(None)
            with pytest.raises(
                InputError, match=f"column 'a' has a missing value at rec.* {record}"
            ):
                table.conform(schema)
            there = table.conform(schema, unseen="default")
            assert labels_of(there, "a") == ["y" if x is None else x for x in values]


class TestRefusals:
    table = Table({"a": ["x", "y", "x"]})

    def test_a_column_that_is_absent(self):
        schema = Table({"a": ["x", "y"], "b": [0, 1]}).schema
        with pytest.raises(InputError, match=r"^X: there is no column 'b', on which the model was"):
            self.table.conform(schema)
        with pytest.raises(InputError, match=r"^new: there is no column 'b'"):
            self.table.conform(schema, unseen="default", argument="new")

    def test_the_first_record_of_a_column_and_its_labels_are_named(self):
        schema = Table({"a": [1, 2], "b": [1, 2]}).schema
        table = Table({"b": [8, 1, 1], "a": [1, 9, 7]})
        with pytest.raises(InputError) as error:
            table.conform(schema, argument="rows")
        assert str(error.value) == (
            "rows: column 'a' has 9 at record 1, which the model was not fitted on; "
            "its labels are 1, 2"
        )

    def test_many_labels_are_not_all_named(self):
        schema = Table({"a": list(range(20))}).schema
        with pytest.raises(InputError, match=r"0, 1, 2, 3, 4, 5, 6, 7, … \(20 in all\)$"):
            Table({"a": [20, 20]}).conform(schema)

    @pytest.mark.parametrize("unseen", ["ignore", None, True])
    def test_unseen(self, unseen):
        with pytest.raises(InputError, match="unseen must be 'error' or 'default', got"):
            self.table.conform(self.table.schema, unseen=unseen)

    def test_what_is_no_schema(self):
        with pytest.raises(InputError, match="schema must be a Schema, got Table"):
            self.table.conform(self.table)
        with pytest.raises(InputError, match="the table is empty: it has no columns"):
            self.table.conform(Schema([], [], []))


class TestFrames:
    def test_come_back_as_the_kind_they_were(self):
        schema = Table({"a": ["y", "x"], "b": pl.Series([1, 2, 3], dtype=pl.Int8)[:2]}).schema
        frame = pd.DataFrame({"b": np.array([2, 1, 2], np.int8), "a": ["x", "y", "y"], "c": 0})
        there = Table(frame).conform(schema).to_frame()
        pd.testing.assert_frame_equal(there, frame[["a", "b"]])
        arrow = pa.table({"a": ["x", "y"], "b": pa.array([1, 2], pa.int8())})
        assert Table(arrow).conform(schema).to_frame().equals(arrow)

    def test_types_without_room_for_the_default_are_given_up(self):
        schema = Table({"a": ["x", "y", "y"]}).schema
        frame = pd.DataFrame({"a": pd.Categorical(["x", "z"])})
        there = Table(frame).conform(schema, unseen="default").to_frame()
        assert there["a"].tolist() == ["x", "y"]
        schema = Table({"a": [2, 2, 1, 0]}).schema
        flags = pd.DataFrame({"a": [True, False]})
        assert Table(flags).conform(schema).to_frame()["a"].tolist() == [1, 0]

    def test_polars_has_the_types_of_the_schema(self):
        frame = pl.DataFrame({"a": pl.Series([1, 2], dtype=pl.Int16)})
        there = Table({"a": [2.0, 1.0]}).conform(Table(frame).schema)
        assert_frame_equal(there.to_frame(), frame[::-1])
