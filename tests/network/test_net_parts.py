"""A net of its parts: what it is made of, and what is refused."""

import warnings

import numpy as np
import polars as pl
import pytest

from support.nets import sprinkler
from tacit import BayesNet, InputError

YES = {"a": ["n", "y"], "b": ["n", "y"]}
FLAT = {"a": [0.5, 0.5], "b": [0.5, 0.5]}


def test_parts():
    net = sprinkler()
    assert net.column_names_ == ("rain", "sprinkler", "grass")
    assert net.parents_ == ((), (0,), (0, 1))
    assert net.arcs_ == [("rain", "sprinkler"), ("rain", "grass"), ("sprinkler", "grass")]
    assert (net.n_arcs_, net.n_parameters_) == (3, 7)
    assert net.table("grass").shape == (2, 2, 2)
    assert net.table("grass")[0, 1].tolist() == [0.1, 0.9]
    assert net.tables_[2].tolist() == [[1.0, 0.0], [0.1, 0.9], [0.2, 0.8], [0.01, 0.99]]
    assert net.learning_ is None
    assert not net.interrupted_


def test_tables_are_not_to_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        sprinkler().tables_[0][0, 0] = 1


def test_flat_tables_and_those_with_an_axis_for_each_parent_are_the_same():
    net = sprinkler()
    columns = {column.name: column.labels for column in net.schema_}
    parents = {"sprinkler": ["rain"], "grass": ["rain", "sprinkler"]}
    assert (
        BayesNet.from_tables(
            columns, parents, dict(zip(net.column_names_, net.tables_, strict=True))
        )
        == net
    )


def test_defaults_are_what_is_probable():
    net = sprinkler()
    assert [column.default_label for column in net.schema_] == ["no", "off", "dry"]


def test_labels_of_all_kinds():
    columns = {"i": [3, 1], "b": [False, True], "f": [0.5, 2], "m": ["x", None], "n": np.arange(2)}
    net = BayesNet.from_tables(columns, {}, {name: [0.5, 0.5] for name in columns})
    assert [labels.dtype for labels in net.schema_.labels] == [
        "Int64", "Boolean", "Float64", "String", "Int64",
    ]  # fmt: skip
    assert net.query("m")[None] == 0.5


def test_rows_that_nearly_sum_to_one_are_made_to():
    net = BayesNet.from_tables({"a": [1, 2, 3]}, {}, {"a": [0.333, 0.333, 0.333]})
    assert net.tables_[0].sum() == pytest.approx(1, abs=1e-15)


def test_rows_that_sum_to_one_but_for_rounding_are_left_alone():
    row = [0.1] * 10
    net = BayesNet.from_tables({"a": list(range(10))}, {}, {"a": row})
    assert net.tables_[0].tolist() == [row]


def test_equality():
    net = sprinkler()
    assert net == sprinkler()
    assert net != BayesNet.from_tables(YES, {}, FLAT)
    assert net != "net"


def test_conditional_frame():
    frame = sprinkler().conditional("grass")
    assert frame.columns == ["rain", "sprinkler", "P(grass=dry)", "P(grass=wet)"]
    assert frame.row(1) == ("no", "on", 0.1, 0.9)
    assert isinstance(frame, pl.DataFrame)


def test_conditional_frame_of_a_column_without_parents():
    frame = sprinkler().conditional("rain")
    assert frame.rows(named=True) == [{"P(rain=no)": 0.8, "P(rain=yes)": 0.2}]


@pytest.mark.parametrize(
    ("columns", "parents", "tables", "message"),
    [
        ({}, {}, {}, "columns must map the name of each column"),
        ({1: ["n", "y"]}, {}, {}, "a column's name must be a text, got 1"),
        ({"a": "ny"}, {}, {}, "the labels of 'a' must be a list"),
        ({"a": []}, {}, {}, "'a': labels must not be empty"),
        ({"a": ["n", "n"]}, {}, {}, "'a': labels must be distinct, but 'n' occurs twice"),
        ({"a": ["n", 1]}, {}, {}, "the labels of 'a' are of several types"),
        ({"a": [None, "n"]}, {}, {}, "'a': labels: None, for what is missing, must come last"),
        (YES, [], FLAT, "parents must map columns"),
        (YES, {"c": ["a"]}, FLAT, "parents: there is no column 'c'"),
        (YES, {"a": "b"}, FLAT, "parents: those of 'a' must be a list, got 'b'"),
        (YES, {"a": ["c"]}, FLAT, "parents: 'a' has the parent 'c', which is no column"),
        (YES, {"a": ["a"]}, FLAT, "parents: 'a' is its own parent"),
        (YES, {"a": ["b", "b"]}, FLAT, "parents: 'a' has a parent twice"),
        (YES, {"a": ["b"], "b": ["a"]}, FLAT, "parents: arcs form a cycle, a → b → a"),
        (YES, {}, [], "tables must map columns"),
        (YES, {}, {**FLAT, "c": []}, "tables: there is no column 'c'"),
        (YES, {}, {"a": [0.5, 0.5]}, "tables: 'b' has none"),
        (YES, {}, {**FLAT, "b": "x"}, "tables: that of 'b' is no array of numbers"),
        (YES, {"b": ["a"]}, FLAT, r"that of 'b' must have the shape \(2, 2\).*got \(2,\)"),
        (YES, {}, {**FLAT, "b": [0.5, 0.4]}, "that of 'b' sums to 0.9, not to 1"),
        (YES, {}, {**FLAT, "b": [1.5, -0.5]}, "that of 'b' has 1.5, which is no probability"),
        (YES, {}, {**FLAT, "b": [np.nan, 1]}, "that of 'b' has nan, which is no probability"),
        (
            YES,
            {"b": ["a"]},
            {"a": [0.5, 0.5], "b": [[0.5, 0.5], [0.5, 0.6]]},
            "that of 'b', given a=y, sums to 1.1, not to 1",
        ),
    ],
)
def test_wrong_parts(columns, parents, tables, message):
    with pytest.raises(InputError, match=message):
        BayesNet.from_tables(columns, parents, tables)


def test_wide_grids_are_made_without_overflow():
    """Rounding of each row's sum must not grow along long ways."""
    side = 30
    cells = [(i, j) for i in range(side) for j in range(side)]
    above = {
        f"{i},{j}": [f"{a},{b}" for a, b in ((i - 1, j), (i, j - 1)) if a >= 0 and b >= 0]
        for i, j in cells
    }
    row = np.array([0.3, 0.7 + 1e-13])
    tables = {name: np.broadcast_to(row, (2,) * len(up) + (2,)) for name, up in above.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net = BayesNet.from_tables({name: ["n", "y"] for name in above}, above, tables)
    assert net.schema_.defaults.tolist() == [1] * side * side
