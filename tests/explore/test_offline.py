"""The file holds every record, or a sample of them that says what it is."""

import json
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import tacit
from support.strategies import data as random_data
from tacit import InputError
from tacit.cli import app
from tacit.explore import Explorer
from tacit.explore.offline import packed_records


def unpacked(explorer, most=None):
    """Return the header, the records as rows, how often each occurs, and the exact tables."""
    data = zlib.decompress(packed_records(explorer, most))
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    at = 4 + length

    def take(kind, n):
        nonlocal at
        part = np.frombuffer(data, kind, n, at)
        at += part.nbytes
        return part

    n = header["n"]
    kinds = {"none": None, "u32": "<u4", "f64": "<f8"}
    kind = kinds[header["times"]]
    times = np.ones(n) if kind is None else take(kind, n)
    rows = np.zeros((n, len(header["columns"])), np.int64)
    for c, column in enumerate(header["columns"]):
        if column["rare"] < 0:
            rows[:, c] = take(f"<u{column['size']}", n)
        else:
            rows[:, c] = explorer.table.schema.defaults[c]
            places = np.cumsum(take("<u4", column["rare"]))
            rows[places, c] = take(f"<u{column['size']}", column["rare"])
    arities = explorer.table.schema.arities
    exact = {}
    for key, size in header.get("exact", []):
        columns = [int(c) for c in key.split(",")]
        cells = int(np.prod(arities[columns]))
        exact[tuple(columns)] = take("<u4" if size == 4 else "<f8", cells)
    assert at == len(data)
    return header, rows, times, exact


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_records_are_all_there_once(data):
    table = data.draw(random_data(with_chosen=False)).table()
    if not table.n_records or not len(table.schema):
        return
    try:
        explorer = Explorer(table)
    except InputError:
        return
    codes = explorer.table.to_numpy()
    weights = np.ones(len(codes)) if table.weights is None else table.weights
    expected = {}
    for row, weight in zip(map(tuple, codes.tolist()), weights, strict=True):
        expected[row] = expected.get(row, 0) + weight
    _, rows, times, _ = unpacked(explorer)
    assert {tuple(r): t for r, t in zip(rows.tolist(), times, strict=True)} == expected
    assert len(rows) == len(expected)


def test_a_sample_is_of_records_and_its_tables_of_all():
    rng = np.random.default_rng(0)
    table = tacit.Table({name: rng.integers(0, 9, 5000) for name in "abcde"})
    explorer = Explorer(table)
    header, rows, times, exact = unpacked(explorer, 1000)
    assert times.sum() == 1000
    assert header["scale"] == 5
    held = {tuple(r) for r in table.to_numpy().tolist()}
    assert all(tuple(row) in held for row in rows.tolist())
    assert len(exact) == 5 + 10
    for columns, counts in exact.items():
        names = [table.schema.names[c] for c in columns]
        assert counts.tolist() == table.contingency(names).to_array().ravel().tolist()
    assert "scale" not in unpacked(explorer, 5000)[0]
    weighted = unpacked(Explorer(table.with_weights(np.full(5000, 7))), 1000)
    assert (weighted[0]["scale"], weighted[0]["total"]) == (35, 35_000)
    assert weighted[2].sum() == 1000
    with pytest.raises(InputError, match="max_records: records with weights"):
        packed_records(Explorer(table.with_weights(np.full(5000, 0.5))), 100)


def test_wide_records_take_several_words():
    rng = np.random.default_rng(1)
    table = tacit.Table((rng.random((200, 90)) < 0.3).astype(int))
    _, rows, times, _ = unpacked(Explorer(table))
    assert sorted(map(tuple, np.repeat(rows, times.astype(int), axis=0).tolist())) == sorted(
        map(tuple, table.to_numpy().tolist())
    )


def test_the_command_writes_a_sample(tmp_path):
    path = tmp_path / "x.csv"
    tacit.Table({"a": range(300), "b": range(300)}).to_frame().write_csv(path)
    given = ["explore", str(path), "-o", str(tmp_path / "x.html"), "--max-records", "10"]
    assert CliRunner().invoke(app, given).exit_code == 0
    assert "worker-src blob:" in (tmp_path / "x.html").read_text()
    result = CliRunner().invoke(app, ["explore", str(path), "--max-records", "10"])
    assert "--max-records: this is about the file" in result.output + str(result.exception)
