"""Columns, labels, and the numbering of stored values."""

import datetime as dt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import counts as oracles
from support.strategies import defaults_of
from tacit import InputError
from tacit.schema import Column, Labels, Schema


@st.composite
def schemas(draw):
    arities = draw(st.lists(st.integers(1, 6), min_size=1, max_size=8))
    defaults = draw(defaults_of(arities))
    return arities, defaults


def make_schema(arities, defaults):
    names = [f"c{k}" for k in range(len(arities))]
    return Schema(names, [Labels(range(arity), "Int64") for arity in arities], defaults)


@given(schemas())
def test_value_ids_number_the_codes_that_are_not_the_default(case):
    arities, defaults = case
    schema = make_schema(arities, defaults)
    ids = oracles.value_ids(arities, defaults)
    assert schema.n_values == len(ids)
    assert list(zip(schema.value_columns, schema.value_codes, strict=True)) == list(ids)
    assert schema.offsets.tolist() == [
        sum(c < column for c, _ in ids) for column in range(len(arities) + 1)
    ]
    for (column, code), number in ids.items():
        assert schema.value_id(column, code) == number
        assert schema.value_label(number) == (f"c{column}", code)
        assert number in schema.values_of(column)
    for column, default in enumerate(defaults):
        assert schema.value_id(column, default) is None
        codes = [code for code in range(arities[column]) if code != default]
        assert schema.codes_of(column).tolist() == codes
        assert len(schema.values_of(column)) == arities[column] - 1


@given(schemas())
def test_cells_number_all_codes(case):
    arities, defaults = case
    schema = make_schema(arities, defaults)
    cells = [(c, code) for c, arity in enumerate(arities) for code in range(arity)]
    assert [cells[k] for k in schema.value_cells] == list(oracles.value_ids(arities, defaults))
    assert [cells[k] for k in schema.default_cells] == list(enumerate(defaults))
    assert schema.cells[-1] == len(cells)


def test_a_schema_is_a_sequence_of_columns():
    schema = make_schema([2, 3, 1], [0, 2, 0])
    assert len(schema) == 3
    assert [column.arity for column in schema] == [2, 3, 1]
    assert schema["c1"] == schema[1] == schema[-2] == Column("c1", Labels(range(3), "Int64"), 2)
    assert schema["c1"].default_label == 2
    assert [column.name for column in schema[1:]] == ["c1", "c2"]
    assert repr(schema) == "Schema(3 columns, 3 non-default values)"


def test_schemas_are_equal_if_all_their_parts_are():
    assert make_schema([2, 3], [0, 2]) == make_schema([2, 3], [0, 2])
    assert make_schema([2, 3], [0, 2]) != make_schema([2, 3], [0, 1])
    assert make_schema([2, 3], [0, 0]) != make_schema([2, 4], [0, 0])
    assert make_schema([2], [0]) != "c0"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda s: s["c10"], "column: there is no column 'c10'; did you mean 'c1'"),
        (lambda s: s["zebra"], "column: there is no column 'zebra'$"),
        (lambda s: s[3], "column: column 3 is not among the 3 columns"),
        (lambda s: s[-4], "column: column -4 is not among the 3 columns"),
        (lambda s: s[None], "column must be a column's name or position, got None"),
        (lambda s: s.column(1).code(7), "column 'c1' has no label 7; its labels are 0, 1, 2"),
        (lambda s: s.column(1).code([]), r"column 'c1' has no label \[\]"),
    ],
)
def test_what_is_not_there_is_named(ask, message):
    with pytest.raises(InputError, match=message):
        ask(make_schema([2, 3, 1], [0, 2, 0]))


def test_many_labels_are_not_all_listed():
    column = Column("n", Labels(range(100), "Int64"), 0)
    with pytest.raises(
        InputError, match=r"its labels are 0, 1, 2, 3, 4, 5, 6, 7, … \(100 in all\)"
    ):
        column.code("x")
    assert repr(column.labels) == "Labels(0, 1, 2, 3, 4, 5, … 100 in all)"


def test_parts_of_different_lengths_are_refused():
    labels = Labels([0, 1], "Int64")
    with pytest.raises(InputError, match="names, labels and defaults must be equally many"):
        Schema(["a", "b"], [labels], [0])
    with pytest.raises(InputError, match="names, labels and defaults must be equally many"):
        Schema(["a"], [labels], [0, 1])


def test_names_that_occur_twice_are_refused():
    labels = Labels([0, 1], "Int64")
    with pytest.raises(InputError, match="column names must be distinct, but 'a' occurs twice"):
        Schema(["a", "b", "a"], [labels] * 3, [0, 0, 0])


def test_a_default_that_is_no_code_is_refused():
    with pytest.raises(InputError, match="default"):
        Schema(["a"], [Labels([0, 1], "Int64")], [2])
    with pytest.raises(InputError, match="default"):
        Schema(["a"], [Labels([0, 1], "Int64")], [-1])


def test_labels_are_a_sequence():
    labels = Labels(["no", "yes", None], "String")
    assert list(labels) == ["no", "yes", None]
    assert labels[1] == "yes"
    assert labels[:2] == ("no", "yes")
    assert len(labels) == 3
    assert labels.missing == 2
    assert Labels(["no"], "String").missing is None
    assert [labels.code(x) for x in labels] == [0, 1, 2]
    assert hash(labels) == hash(Labels(["no", "yes", None], "String"))
    assert labels == Labels(["no", "yes", None], "String")
    assert labels != Labels(["no", "yes", None], "Categorical")
    with pytest.raises(KeyError):
        labels.code("maybe")


def test_labels_must_be_some_and_distinct():
    with pytest.raises(InputError, match="labels must not be empty"):
        Labels([], "String")
    with pytest.raises(InputError, match="labels must be distinct, but 'a' occurs twice"):
        Labels(["a", "b", "a"], "String").code("b")


def test_labels_are_found_by_how_they_read():
    labels = Labels([1, 10, None], "Int64")
    assert labels.code_of_text("10") == 1
    assert labels.code_of_text("") == 2
    assert Labels([False, True], "Boolean").code_of_text("True") == 1
    assert Labels([dt.date(2020, 1, 2)], "Date").code_of_text("2020-01-02") == 0
    assert Labels(["", "None"], "String").code_of_text("") == 0
    with pytest.raises(KeyError):
        labels.code_of_text("2")


def test_numpy_scalars_find_their_labels():
    assert Labels([0, 5], "Int64").code(np.int64(5)) == 1
    assert Labels([False, True], "Boolean").code(np.True_) == 1
    assert make_schema([2, 3], [0, 0]).position(np.int32(1)) == 1
