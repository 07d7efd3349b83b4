"""Logs of (record, item) rows: the same table as plain Python makes, whatever the frame."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.long import long_table
from tacit import InputError, Table

examples = settings(max_examples=150)

IDS = {
    "numbers": st.integers(-3, 12),
    "far numbers": st.sampled_from([-(2**62), -5, 0, 10**12, 2**62]),
    "texts": st.sampled_from(["", "a", "b", "Z", "é", "10", "9"]),
    "dates": st.dates(dt.date(2020, 1, 1), dt.date(2020, 1, 9)),
    "flags": st.booleans(),
}
VALUES = {
    "presence": st.none(),
    "number": st.one_of(st.integers(-2, 3)),
    "label": st.sampled_from(["lo", "mid", "hi"]),
}


@st.composite
def logs(draw):
    record = draw(st.sampled_from(sorted(IDS)))
    item = draw(st.sampled_from(sorted(IDS)))
    kind = draw(st.sampled_from(sorted(VALUES)))
    row = st.tuples(IDS[record], IDS[item], VALUES[kind])
    return kind, draw(st.lists(row, min_size=1, max_size=30))


def frame_of(rows, value):
    columns = {"user": [r for r, _, _ in rows], "film": [i for _, i, _ in rows]}
    if value is not None:
        columns["stars"] = [v for _, _, v in rows]
    return pl.DataFrame(columns)


@given(
    log=logs(),
    min_count=st.integers(1, 3),
    min_items=st.integers(0, 2),
    how=st.sampled_from(["sum", "first", "last"]),
    halves=st.booleans(),
)
@examples
def test_a_log_is_the_table_that_plain_python_makes(log, min_count, min_items, how, halves):
    kind, rows = log
    if kind == "label" and how == "sum":
        how = "first"
    if kind == "number" and halves:
        rows = [(r, i, v / 2) for r, i, v in rows]
    value = None if kind == "presence" else "stars"
    options = {"duplicates": how, "min_count": min_count, "min_items": min_items}
    names, ids, dense = long_table(rows, kind, **options)
    frame = frame_of(rows, value)
    if not names or not ids:
        with pytest.raises(InputError, match=r"min_count: no item|min_items: no record"):
            Table.from_long(frame, "user", "film", value, **options)
        return
    table = Table.from_long(frame, "user", "film", value, **options)
    assert list(table.schema.names) == names
    assert table.index.to_list() == ids
    assert table.index.name == "user"
    assert [list(row) for row in table.with_index(None).to_frame("polars").rows()] == dense
    default = {"presence": False, "number": 0, "label": None}[kind]
    assert all(column.default_label == default for column in table.columns)
    for c, column in enumerate(table.columns):
        held = {row[c] for row in dense} if min_items == 0 else None
        if kind == "presence":
            assert list(column.labels) == [False, True]
        elif held is not None:
            held.discard(None)
            told = sorted(held | {0} if kind == "number" else held)
            assert list(column.labels) == [*told, *([None] if kind == "label" else [])]
    # What is stored makes sense to the check that files go through.
    Table.from_stored(table.schema, table.indptr, table.values)


def test_columns_share_their_labels():
    table = Table.from_long({"r": [1, 2, 3], "i": list("abc")}, "r", "i")
    assert len({id(labels) for labels in table.schema.labels}) == 1
    rated = Table.from_long({"r": [1, 2, 3], "i": list("abc"), "v": [5, 5, 4]}, "r", "i", "v")
    assert len({id(labels) for labels in rated.schema.labels}) == 2


LOG = {"user": [7, 3, 7, 7], "film": ["Alien", "Heat", "Heat", "Heat"], "when": [1, 2, 3, 4]}


@pytest.mark.parametrize(
    "make",
    [
        dict,
        pl.DataFrame,
        pl.LazyFrame,
        pd.DataFrame,
        lambda log: pl.DataFrame(log).to_arrow(),
        lambda log: pl.DataFrame(log, schema_overrides={"film": pl.Categorical}),
        lambda log: pl.DataFrame(log, schema_overrides={"film": pl.Enum(["Alien", "Heat"])}),
        lambda log: pd.DataFrame(log).astype({"film": "category"}),
    ],
    ids=["mapping", "polars", "lazy", "pandas", "arrow", "categorical", "enum", "pandas category"],
)
def test_any_frame_makes_the_same_table(make):
    table = Table.from_long(make(LOG), record="user", item="film")
    assert table.with_index(None).to_frame("polars").rows() == [(False, True), (True, True)]
    assert table.schema.names == ("Alien", "Heat")
    assert table.index.to_list() == [3, 7]


def test_a_pandas_log_gives_pandas_back():
    frame = Table.from_long(pd.DataFrame(LOG), "user", "film").to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert frame.index.tolist() == [3, 7]
    assert frame.index.name == "user"


def test_the_log_is_left_as_it_is():
    frame = pl.DataFrame(LOG)
    before = frame.clone()
    Table.from_long(frame, "user", "film", "when")
    assert frame.equals(before)


def test_the_answer_does_not_depend_on_threads():
    rng = np.random.default_rng(0)
    log = {"r": rng.integers(0, 500, 5000), "i": [f"item {k}" for k in rng.integers(0, 90, 5000)]}
    one = Table.from_long(log, "r", "i", n_jobs=1)
    two = Table.from_long(log, "r", "i", n_jobs=2)
    assert one.schema == two.schema
    assert np.array_equal(one.values, two.values)
    assert np.array_equal(one.indptr, two.indptr)


def test_weights_of_records():
    log = {"r": ["b", "a", "b"], "i": [1, 1, 2], "w": [2.5, 1, 2.5]}
    table = Table.from_long(log, "r", "i", weight="w")
    assert table.weights.tolist() == [1, 2.5]
    kept = Table.from_long(log, "r", "i", weight="w", min_items=2)
    assert kept.weights.tolist() == [2.5]
    with pytest.raises(InputError, match=r"weight: record 'b' has the weights 2.5 and 3.0"):
        Table.from_long({**log, "w": [2.5, 1, 3]}, "r", "i", weight="w")


def test_duplicates_are_refused_by_name():
    with pytest.raises(InputError, match="record 7 has item 'Heat' more than once"):
        Table.from_long(LOG, "user", "film", duplicates="error")
    labels = {"user": [7, 7], "film": ["Heat", "Heat"], "said": ["good", "bad"]}
    with pytest.raises(InputError, match="record 7 has item 'Heat' with 'good' and 'bad'"):
        Table.from_long(labels, "user", "film", "said")
    same = {**labels, "said": ["good", "good"]}
    assert Table.from_long(same, "user", "film", "said").count({"Heat": "good"}) == 1


@pytest.mark.parametrize("column", ["user", "film", "when"])
def test_missing_values_are_refused_or_dropped(column):
    log = {**LOG, "when": [1.0, 2.0, 3.0, 4.0]}
    log[column] = [*LOG[column][:3], None]
    with pytest.raises(InputError, match=rf"column '{column}' has a missing value at row 3"):
        Table.from_long(log, "user", "film", "when")
    dropped = Table.from_long(log, "user", "film", "when", missing="drop")
    assert dropped.with_index(None).to_frame().rows() == [(0, 2), (1, 3)]


def test_nan_is_missing_and_infinity_is_refused():
    log = {"r": [1, 2], "i": [1, 1], "v": [1.0, float("nan")]}
    with pytest.raises(InputError, match="value: column 'v' has a missing value at row 1"):
        Table.from_long(log, "r", "i", "v")
    with pytest.raises(InputError, match="value: column 'v' holds inf at row 1"):
        Table.from_long({**log, "v": [1.0, float("inf")]}, "r", "i", "v")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"record": "who"}, "record: there is no column 'who'"),
        ({"item": "what"}, "item: there is no column 'what'"),
        ({"value": "how"}, "value: there is no column 'how'"),
        ({"item": "user"}, "item: the column 'user' is the record already"),
        ({"record": 3}, "record must be the name of a column, got 3"),
        ({"duplicates": "mean"}, "duplicates must be one of"),
        ({"missing": "state"}, "missing must be 'error' or 'drop'"),
        ({"min_count": 0}, "min_count"),
        ({"min_items": -1}, "min_items"),
        ({"min_count": 9}, "min_count: no item is in 9 records; the most common one is in 2"),
        ({"min_items": 9}, "min_items: no record has 9 items"),
        ({"weight": "said"}, "weight: column 'said' holds String, not numbers"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(InputError, match=message):
        Table.from_long(
            {**LOG, "said": list("abcd")}, **{"record": "user", "item": "film", **options}
        )


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ({"user": [], "film": []}, "which cannot be ids|has no rows"),
        ({"user": [[1], [2]], "film": [1, 2]}, "cannot be ids"),
        ({"user": pl.Series([1, 2], dtype=pl.Int128), "film": [1, 2]}, "cannot be ids"),
        ({"user": [1, 2], "film": [b"a", b"b"]}, "cannot be ids"),
        ([1, 2], "frame must be a frame"),
        ({"user": [1, 1], "film": [1, 1], "v": [2**62, 2**62]}, "is too large"),
        ({"user": [1, 1], "film": [1, 1], "v": [1e308, 1e308]}, "is too large"),
    ],
)
def test_bad_logs_are_refused(log, message):
    value = "v" if "v" in log else None
    with pytest.raises(InputError, match=message):
        Table.from_long(log, "user", "film", value)
