"""Cubes: all combinations with roll-ups, as GROUP BY CUBE has them in SQL."""

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from support.counters import ENGINES, conditions, expected, questions
from support.strategies import assert_identical, data, exact_weights
from tacit import ADTree, InputError, Table
from tacit.scale.partitioned_table import of_tables


def by_duckdb(frame, columns, where="true", counted="count(*)"):
    """The rows of a cube, as a set."""
    names = ", ".join(f'"{name}"' for name in columns)
    rows = duckdb.sql(
        f"SELECT {names}, {counted}, GROUPING({names}) FROM frame WHERE {where} "
        f"GROUP BY CUBE ({names})"
    ).fetchall()
    assert len(set(rows)) == len(rows)
    return set(rows)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(61)
    n = 3000
    text = np.array(["a", "b", None], object)
    numbers = np.where(rng.random(n) < 0.2, None, rng.integers(0, 4, n))
    return pl.DataFrame(
        {
            "town": text[rng.integers(0, 3, n)].tolist(),
            "n": pl.Series(numbers.tolist(), dtype=pl.Int64),
            "wet": rng.random(n) < 0.1,
            "size": pl.Series(rng.choice(["S", "M", "L"], n), dtype=pl.Enum(["S", "M", "L"])),
        }
    )


@pytest.mark.parametrize("columns", [["n"], ["town", "n"], ["wet", "town", "n"], ["n", "size"]])
@pytest.mark.parametrize("name", ENGINES)
def test_cubes_are_those_of_sql(frame, columns, name):
    counter = ENGINES[name](Table(frame))
    cube = counter.cube(columns)
    assert cube.columns == [*columns, "count", "grouping"]
    assert cube.dtypes == [*counter.table(columns).to_frame().dtypes, pl.Int64]
    assert set(cube.rows()) == by_duckdb(frame, columns)
    assert len(cube) == len(set(cube.rows()))


def test_cubes_of_tables_and_partitions(frame):
    table = Table(frame)
    wanted = by_duckdb(frame, ["town", "wet"], "n >= 1 AND n <= 2")
    query = {"n": tacit.between(1, 2)}
    assert set(table.cube(["town", "wet"], query).rows()) == wanted
    parts = of_tables([table.take(np.arange(1000)), table.take(np.arange(1000, 3000))])
    assert set(parts.cube(["town", "wet"], query).rows()) == wanted
    assert parts.cube(["n"]).equals(table.cube(["n"]))


@given(draw=st.data())
@settings(max_examples=60)
def test_each_roll_up_is_a_table(draw):
    d = draw.draw(data(max_rows=30, weights=exact_weights, with_chosen=False))
    columns, _ = draw.draw(questions(d))
    codes, query = draw.draw(conditions(d))
    table = d.table()
    cube = draw.draw(st.sampled_from([table, ADTree(table), tacit.counter(table)])).cube(
        columns, query
    )
    n = len(columns)
    for rolled in range(2**n):
        own = [k for k in range(n) if not rolled >> (n - 1 - k) & 1]
        rows = cube.filter(pl.col("grouping") == rolled)
        counts = expected(d, [columns[k] for k in own], codes)
        if not own:
            assert rows["count"].to_list() == [counts.item()]
            continue
        assert_identical(rows["count"].to_numpy(), counts[counts != 0])
        for k, at in zip(own, np.nonzero(counts), strict=True):
            labels = table.schema.labels[columns[k]]
            assert rows[:, k].to_list() == [labels[code] for code in at]
        for k in set(range(n)) - set(own):
            assert rows[:, k].null_count() == len(rows)


def test_weights_are_rounded_once(frame):
    weights = np.random.default_rng(62).random(len(frame))
    table = Table(frame, weights=weights)
    cube = table.cube(["town", "wet"])
    total = cube.filter(pl.col("grouping") == 3)["count"].item()
    assert total == table.count({}) == tacit.counter(table).cube(["town", "wet"])[-1, "count"]
    by_town = dict(cube.filter(pl.col("grouping") == 1).select("town", "count").rows())
    assert by_town == {label: table.count({"town": label}) for label in ("a", "b", None)}


def test_other_tools_take_cubes(frame):
    cube = Table(frame).cube(["town", "wet"])
    [(n,)] = duckdb.sql("SELECT sum(count) FROM cube WHERE grouping = 1").fetchall()
    assert n == len(frame)
    assert hasattr(cube, "__arrow_c_stream__")


def test_names_that_are_taken():
    table = Table({"count": [1, 2, 2], "grouping": [0, 0, 1]})
    cube = table.cube(["grouping", "count"])
    assert len(set(cube.columns)) == 4
    assert cube.columns[:2] == ["grouping", "count"]
    assert cube[-1].row(0) == (None, None, 3, 3)


def test_nothing_matches():
    table = Table({"a": [1, 2, 2], "b": [0, 0, 1]})
    assert table.cube(["a", "b"], {"a": []}).rows() == [(None, None, 0, 3)]


def test_what_has_no_cube():
    table = Table(np.ones((3, 17), int))
    with pytest.raises(InputError, match=r"columns: 17 of them have 2\^17 roll-ups"):
        table.cube(range(17))
    with pytest.raises(InputError, match="an approximate tree has no cube"):
        ADTree(table, min_count=2).cube([0])
    with pytest.raises(InputError, match="distinct"):
        table.cube([0, 0])
