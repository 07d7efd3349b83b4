"""An ADtree of partitions has the counts of all records, and says what it cannot do."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import tacit
from support.counters import conditions, questions
from support.strategies import assert_identical, data
from tacit import ADTree, FileError, InputError, Table, store
from tacit.cli import app
from tacit.counts import Scan


def some_table(n=3000):
    rng = np.random.default_rng(14)
    codes = rng.integers(0, 4, (n, 5)) * (rng.random((n, 5)) < [0.9, 0.5, 0.2, 0.05, 0.6])
    return Table({name: codes[:, c] for c, name in enumerate("abcde")})


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_counts_are_those_of_all_records(draw):
    d = draw.draw(data(with_chosen=False))
    table = d.table().with_weights(None)
    n = draw.draw(st.integers(1, min(4, table.n_records)))
    tree = ADTree(tacit.scale.partition(table, n), leaf_size=draw.draw(st.sampled_from([1, 3, 16])))
    scan = Scan(table)
    assert tree.n_records == table.n_records
    if draw.draw(st.booleans()):
        tree.build()
    columns, _ = draw.draw(questions(d))
    _, query = draw.draw(conditions(d))
    for given_ in (None, query):
        for layout in ("dense", "sparse"):
            own = tree.table(columns, given_, layout=layout)
            own.check()
            assert_identical(own.to_array(), scan.table(columns, given_, layout=layout).to_array())
    count = tree.count(query)
    assert type(count) is int
    assert count == scan.count(query)
    assert tree.interval(query) == (count, count)
    assert_identical(tree.tables([columns], query).counts, scan.tables([columns], query).counts)
    assert tree.cube(columns).equals(scan.cube(columns))


@pytest.mark.parametrize("full", [False, True])
def test_it_is_saved_and_explored(tmp_path, full):
    table = some_table()
    tree = ADTree(tacit.scale.partition(table, 3), leaf_size=2)
    tree.build(full=full)
    assert tree.records.n_records < table.n_records
    tree.save(tmp_path / "t.tacit")
    loaded = tacit.load(tmp_path / "t.tacit")
    for one in (tree, loaded, pickle.loads(pickle.dumps(tree))):
        assert one.n_records == 3000
        assert not one.weighted
        for columns in (["a"], ["e", "b"], ["a", "b", "c", "d", "e"]):
            wanted = Scan(table).table(columns, {"c": [0, 2]}).to_array()
            assert_identical(one.table(columns, {"c": [0, 2]}).to_array(), wanted)
    out = tmp_path / "x.html"
    result = CliRunner().invoke(app, ["explore", str(tmp_path / "t.tacit"), "-o", str(out)])
    assert result.exit_code == 0, result.output
    arrays = dict(store.read_arrays(tmp_path / "t.tacit")[1])
    arrays["weights"] = arrays["weights"] + 0.5
    store.write_arrays(tmp_path / "t.tacit", "adtree", arrays)
    with pytest.raises(FileError, match="how often records occur must be whole numbers"):
        tacit.load(tmp_path / "t.tacit")


def test_the_command_takes_patterns(tmp_path):
    table = some_table()
    frame = table.to_frame("polars")
    for k in range(3):
        frame[k * 1000 : (k + 1) * 1000].write_parquet(tmp_path / f"{k}.parquet")
    out = tmp_path / "t.tacit"
    result = CliRunner().invoke(app, ["adtree", str(tmp_path / "*.parquet"), "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert tacit.load(out).count({"a": 0, "b": [1, 2]}) == table.count({"a": 0, "b": [1, 2]})


def test_what_it_refuses():
    parts = tacit.scale.partition(some_table(), 2)
    with pytest.raises(InputError, match=r"memory_limit: 1.0 kB are too little for the distinct"):
        ADTree(parts, memory_limit=1000)
    with pytest.raises(InputError, match="min_count: counts of partitions are all kept"):
        ADTree(parts, min_count=2)
    weighted = tacit.scale.partition(some_table().with_weights(np.ones(3000)), 2)
    with pytest.raises(InputError, match="partitions with weights have no tree"):
        ADTree(weighted)
