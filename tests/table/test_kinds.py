"""Kinds of columns: as the data have them, or as the caller says."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import InputError, Table
from tacit.schema import KINDS, Labels
from tacit.table.kinds import check_kinds, mark_identifier, of_kind

KINDS_OF = {
    "numeric": [[1, 2], [0.5, 2.5, None], pl.Series([1, 2], dtype=pl.UInt8)],
    "ordered": [
        pl.Series(["lo", "hi"], dtype=pl.Enum(["lo", "hi"])),
        [dt.date(2020, 1, 1)],
        [dt.datetime(2020, 1, 1)],
        [dt.timedelta(days=1)],
        [dt.time(1)],
    ],
    "categorical": [["a", None], pl.Series(["a"], dtype=pl.Categorical), [None]],
    "boolean": [[True, False, None]],
}


@pytest.mark.parametrize(
    ("values", "kind"), [(values, kind) for kind, many in KINDS_OF.items() for values in many]
)
def test_the_type_says_what_a_column_is(values, kind):
    assert Table({"x": values}).schema["x"].kind == kind


def test_bins_are_numeric():
    column = Table({"x": [1.5, 2.5, 3.5]}, discretise={"x": [2]}).schema["x"]
    assert (column.kind, column.edges) == ("numeric", (2.0,))
    assert Table({"x": ["< 2", ">= 2"]}).schema["x"].kind == "categorical"  # text is text


def test_the_caller_says_what_a_column_is():
    data = {
        "month": [1, 2, 12],
        "size": ["s", "m", "l"],
        "flag": [0, 1, 1],
        "name": ["a", "b", "c"],
    }
    kinds = {"month": "categorical", "size": "ordered", "flag": "boolean", 3: "identifier"}
    for table in (Table(data, kinds=kinds), Table(pl.DataFrame(data).to_pandas(), kinds=kinds)):
        found = [column.kind for column in table.columns]
        assert found == ["categorical", "ordered", "boolean", "identifier"]
        assert table.to_frame("polars").to_dict(as_series=False) == data


def test_kinds_of_arrays():
    table = Table(np.array([[1, 0], [2, 1], [3, 0]]), kinds={0: "categorical", "1": "boolean"})
    assert [column.kind for column in table.columns] == ["categorical", "boolean"]


def test_one_spec_cuts_numeric_columns_only():
    data = {"month": [1, 2, 3, 12], "age": [20, 30, 40, 50], "y": [1, 2, 3, 4]}
    kinds = {"month": "categorical"}
    table = Table(data, discretise=2, target="y", kinds=kinds)
    assert [column.edges for column in table.columns] == [None, (35.0,), None]
    cut = Table(data, kinds=kinds).cut(2, target="y")
    assert cut.schema == table.schema
    named = Table(data, discretise={"month": [6]}, kinds={"age": "ordered"})
    assert [column.edges for column in named.columns] == [(6.0,), None, None]


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_saved(tmp_path, kind):
    table = Table({"x": [0, 1, 1]}, kinds={"x": kind})
    table.save(tmp_path / "t")
    again = tacit.load(tmp_path / "t")
    assert again.schema["x"].kind == kind
    assert again.schema["x"].labels.chosen_kind == kind


def test_kinds_survive_what_is_done_to_a_table():
    table = Table({"x": [1, 2, 3, 3], "y": [0, 1, 0, 1]}, kinds={"x": "categorical"})
    for other in (
        table.take([0, 1]),
        table.select(["x"]),
        table.with_defaults({"x": 1}),
        table.with_weights([1, 2, 3, 4]),
        Table.concat([table, Table({"x": [9], "y": [0]}, kinds={"x": "categorical"})]),
        table.conform(table.schema),
        table.cut("auto"),
    ):
        assert other.schema["x"].kind == "categorical"


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ("numeric", "kinds must map columns to kinds, got str"),
        ({"size": "ordered"}, "kinds: there is no column 'size'"),
        ({"town": "text"}, "kinds: column 'town' must be one of numeric, ordered, .*; got 'text'"),
        ({5: "ordered"}, "kinds: column 5 is not among the 2 columns"),
        ({"town": "boolean"}, "kinds: column 'town' has 3 labels, not two"),
        ({"town": "numeric"}, "kinds: column 'town' is no number at record 0: 'Ulm'"),
    ],
)
def test_what_cannot_be(kinds, message):
    with pytest.raises(InputError, match=message):
        Table({"town": ["Ulm", "Bern", "Rome"], "age": [1, 2, 3]}, kinds=kinds)


def test_text_that_is_numbers():
    table = Table({"x": ["10", "9", None, "2.5"]}, kinds={"x": "numeric"})
    assert table.schema["x"].labels.items == (2.5, 9.0, 10.0, None)


def test_labels_that_are_no_numbers():
    with pytest.raises(InputError, match="kinds: column 'x' holds String, not numbers"):
        of_kind(Labels(["a"], "String"), "numeric", "x")
    labels = Labels(["a"], "String")
    assert of_kind(labels, None, "x") is labels


def test_positions_count_from_either_end():
    assert check_kinds({0: "ordered", -1: "numeric"}, ["a", "b"]) == {
        "a": "ordered",
        "b": "numeric",
    }
    assert check_kinds(None, ["a"]) == {}


class TestIdentifiers:
    def test_text_that_nearly_every_record_has_its_own_of(self):
        names = [f"n{k}" for k in range(100)]
        assert Table({"x": names}).schema["x"].kind == "identifier"
        assert Table({"x": names[:90] + names[:10]}).schema["x"].kind == "identifier"
        assert Table({"x": names[:89] + names[:11]}).schema["x"].kind == "categorical"
        assert Table({"x": names[:49]}).schema["x"].kind == "categorical"  # too few to tell
        assert Table({"x": names}, kinds={"x": "categorical"}).schema["x"].kind == "categorical"

    def test_numbers_are_none(self):
        assert Table({"x": range(100, 200)}).schema["x"].kind == "numeric"
        assert Table({"x": [2 * k for k in range(100)]}).schema["x"].kind == "numeric"
        assert Table({"x": [*range(99), 0]}).schema["x"].kind == "numeric"
        assert Table({"x": [k / 2 for k in range(100)]}).schema["x"].kind == "numeric"

    def test_dates_are_none(self):
        days = pl.Series(range(100)).cast(pl.Date)
        assert Table({"x": days}).schema["x"].kind == "ordered"

    def test_labels_that_are_kept(self):
        labels = Labels(["a", "b"], "String")
        assert mark_identifier(labels, 2) is labels


def test_the_kind_of_a_whole_does_not_depend_on_the_order_of_its_parts():
    plain, said = Table({"x": [1, 2]}), Table({"x": [1, 2]}, kinds={"x": "categorical"})
    assert plain.schema != said.schema
    for parts in ([plain, said], [said, plain], [plain, said, plain]):
        assert Table.concat(parts).schema["x"].kind == "categorical"
    text = [f"person {k}" for k in range(60)]
    each, twice = Table({"x": text}), Table({"x": text * 2})
    assert (each.schema["x"].kind, twice.schema["x"].kind) == ("identifier", "categorical")
    for parts in ([each, twice], [twice, each]):
        assert Table.concat(parts).schema["x"].kind == "categorical"
    assert Table.concat([each, each]).schema["x"].kind == "identifier"
    ordered = Table({"x": [1, 2]}, kinds={"x": "ordered"})
    for parts in ([ordered, said], [said, ordered]):
        with pytest.raises(InputError, match="column 'x' is categorical in one and ordered in an"):
            Table.concat(parts)
