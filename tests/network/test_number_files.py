"""Dependency trees of numbers in files that are read in parts."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from oracles.structure import gaussian_tree
from tacit import InputError, InputWarning
from tacit.errors import FileError
from tacit.network.structure.columns import Columns
from tacit.network.structure.learn import Settings, learn

MIST = Settings(algorithm="mist", initial_sample=400, random_state=0)
NAMES = [f"c{c}" for c in range(7)]


def write(path, x, kind, types=None, batch=700):
    fields = [pa.field(name, (types or {}).get(name, pa.float64())) for name in NAMES]
    columns = [pa.array(x[:, k]).cast(field.type) for k, field in enumerate(fields)]
    table = pa.Table.from_arrays(columns, schema=pa.schema(fields))
    if kind == "parquet":
        parquet.write_table(table, path, row_group_size=batch)
        return path
    options = pa.ipc.IpcWriteOptions(compression="zstd" if kind == "compressed" else None)
    with pa.ipc.new_file(str(path), table.schema, options=options) as file:
        for part in table.to_batches(max_chunksize=batch):
            file.write_batch(part)
    return path


@pytest.fixture(params=["arrow", "compressed", "parquet"])
def kind(request):
    return request.param


def test_all_records_of_a_file(tmp_path, kind):
    x = gaussian_tree(0, 5003, 7)
    columns = Columns.from_file(write(tmp_path / "x", x, kind))
    assert columns.names == NAMES
    assert columns.n_records == 5003
    expected = learn(Columns.from_array(x), Settings(algorithm="exact"))
    result = learn(columns, Settings(algorithm="exact"))
    assert result.edges.tolist() == expected.edges.tolist()
    np.testing.assert_allclose(result.weights, expected.weights, rtol=1e-10)
    assert result.nodes[3].mean == pytest.approx(x[:, 3].mean())


def test_a_sample_of_a_file(tmp_path, kind):
    x = gaussian_tree(1, 20_011, 7)
    columns = Columns.from_file(write(tmp_path / "x", x, kind))
    result = learn(columns, MIST)
    assert result.edges.tolist() == learn(Columns.from_array(x), MIST).edges.tolist()
    assert result.edge_usage < 0.3
    assert 400 <= result.rounds[0]["records"] < 480  # whole slices


def test_a_sorted_file_is_warned_of(tmp_path, kind, recwarn):
    x = gaussian_tree(1, 20_011, 7)
    settings = Settings(algorithm="mist", initial_sample=4000, random_state=0)
    learn(Columns.from_file(write(tmp_path / "x", x, kind)), settings)
    assert not recwarn.list
    x = x[x[:, 2].argsort()]
    with pytest.warns(InputWarning, match=f"alike in column '{NAMES[2]}'"):
        learn(Columns.from_file(write(tmp_path / "y", x, kind)), settings)
    learn(Columns.from_array(x), settings)  # of which any record can be drawn
    assert not recwarn.list


@pytest.mark.parametrize("changes", [{"tree_edges": "exact"}, {"interval": "hoeffding"}])
def test_pairs_that_are_read_to_the_end(tmp_path, kind, changes):
    x = gaussian_tree(2, 5003, 7)
    columns = Columns.from_file(write(tmp_path / "x", x, kind))
    settings = Settings(algorithm="mist", initial_sample=400, random_state=0, **changes)
    whole = learn(Columns.from_array(x), Settings(algorithm="exact"))
    result = learn(columns, settings)
    assert result.edges.tolist() == whole.edges.tolist()
    if "tree_edges" in changes:
        np.testing.assert_allclose(result.weights, whole.weights, rtol=1e-9)


def test_independent_numbers_are_read_once_each(tmp_path, kind):
    x = np.random.default_rng(3).normal(size=(3001, 7))
    columns = Columns.from_file(write(tmp_path / "x", x, kind))
    result = learn(columns, MIST)
    whole = learn(Columns.from_array(x), Settings(algorithm="exact"))
    assert result.edges.tolist() == whole.edges.tolist()
    exact = result.lower == result.upper
    np.testing.assert_allclose(result.weights[exact], whole.weights[exact], rtol=1e-9)
    assert exact.any()
    assert result.edge_usage <= 1


def test_slices_are_those_of_the_file(tmp_path, kind):
    x = np.arange(3500.0 * 7).reshape(3500, 7)
    source = Columns.from_file(write(tmp_path / "x", x, kind)).numbers
    assert source.chunks() == [(0, 700), (700, 1400), (1400, 2100), (2100, 2800), (2800, 3500)]
    starts, stops = np.array([3, 640, 700, 3400]), np.array([4, 700, 764, 3500])
    columns = np.array([5, 0])
    result = source.gather(starts, stops, columns)
    rows = np.concatenate([np.arange(a, b) for a, b in zip(starts, stops, strict=True)])
    np.testing.assert_array_equal(result, x[np.ix_(rows, columns)].T)
    np.testing.assert_array_equal(np.concatenate([part for _, part in source.blocks(333)]), x)


def test_other_kinds_of_numbers(tmp_path, kind):
    x = np.round(4 * gaussian_tree(4, 3000, 7))
    types = {"c0": pa.int8(), "c2": pa.float32(), "c3": pa.int64(), "c5": pa.uint16()}
    x[:, 5] = abs(x[:, 5])
    columns = Columns.from_file(write(tmp_path / "x", x, kind, types))
    expected = learn(Columns.from_array(x), MIST)
    for method in ("exact", "mist"):
        settings = Settings(algorithm=method, initial_sample=400, random_state=0)
        assert learn(columns, settings).edges.tolist() == expected.edges.tolist()


def test_missing_numbers_of_a_file(tmp_path, kind):
    x = gaussian_tree(5, 2000, 7)
    frame = pl.DataFrame(x, schema=NAMES).with_columns(
        c2=pl.when(pl.int_range(2000) != 1234).then(pl.col("c2"))
    )
    path = tmp_path / "x"
    if kind == "parquet":
        frame.write_parquet(path, row_group_size=500)
    else:
        frame.write_ipc(path, compression="lz4" if kind == "compressed" else "uncompressed")
    columns = Columns.from_file(path)
    with pytest.raises(InputError, match="column 'c2' in row 1234 is missing"):
        learn(columns, Settings(algorithm="exact"))
    result = learn(columns, Settings(algorithm="exact", missing="ignore"))
    assert [node.n for node in result.nodes] == [2000, 2000, 1999, 2000, 2000, 2000, 2000]


def test_files_that_cannot_be_read(tmp_path, kind):
    path = tmp_path / "x"
    with pytest.raises(FileError, match="cannot be read"):
        Columns.from_file(path)
    path.write_text("a,b\n1,2\n")
    with pytest.raises(FileError, match="neither a Parquet nor an Arrow IPC file"):
        Columns.from_file(path)
    whole = write(path, gaussian_tree(6, 900, 7), kind).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match="damaged"):
        Columns.from_file(path)
    write(path, np.zeros((0, 7)), kind)
    with pytest.raises(FileError, match="no records"):
        Columns.from_file(path)


def test_text_columns_are_named(tmp_path, kind):
    frame = pl.DataFrame({"a": [1.0, 2.0], "word": ["x", "y"]})
    path = tmp_path / "x"
    if kind == "parquet":
        frame.write_parquet(path)
    else:
        frame.write_ipc(path, compression="lz4" if kind == "compressed" else "uncompressed")
    with pytest.raises(FileError, match=r"column 'word' is .*, not numeric"):
        Columns.from_file(path)
