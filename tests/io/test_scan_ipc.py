"""What only Arrow IPC files do; the rest is in test_scan_parquet.py, for both kinds."""

import polars as pl
import pytest

import tacit
from support.scans import as_read, assert_same, some_frames

CUTS = {"discretise": {"size": [0.0, 1.0, 2.5]}, "weights": "weight"}


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
@pytest.mark.parametrize("each", [5, 40])
@pytest.mark.parametrize("records", [None, 3, 12])
def test_batches_are_cut_and_joined(tmp_path, compression, each, records):
    [frame] = some_frames(sizes=[40])
    frame.write_ipc(tmp_path / "a.arrow", compression=compression, record_batch_size=each)
    parts = tacit.scan(tmp_path / "a.arrow", partition_records=records, **CUTS)
    assert_same(parts, as_read([frame], **CUTS))
    names = [source.name for source in parts._metadata.partitions.sources]
    if records == 12 and each == 5:
        assert names[0].endswith("a.arrow, record batches 0 to 1")
        assert parts.partition_sizes.tolist() == [10, 10, 10, 10]
    if records == 12 and each == 40:
        assert names[0].endswith("a.arrow, record batch 0, records 0 to 9 of it")


@pytest.mark.parametrize("name", ["a.feather", "a.ipc", "a.arrow"])
def test_endings(tmp_path, name):
    [frame] = some_frames(sizes=[9])
    frame.write_ipc(tmp_path / name)
    assert_same(tacit.scan(tmp_path / name, **CUTS), as_read([frame], **CUTS))


def test_a_stream_is_read_as_a_whole(tmp_path):
    frames = some_frames(sizes=[9, 0, 14])
    for k, frame in enumerate(frames):
        frame.write_ipc_stream(tmp_path / f"{k}.arrow")
    parts = tacit.scan(tmp_path / "*.arrow", partition_records=4, **CUTS)
    assert_same(parts, as_read(frames, **CUTS))
    assert parts.partition_sizes.tolist() == [9, 14]
    names = [source.name for source in parts._metadata.partitions.sources]
    assert names[0].endswith("0.arrow, all of it at once, as it is a stream")


def test_files_of_other_libraries(tmp_path):
    feather = pytest.importorskip("pyarrow.feather")
    [frame] = some_frames(sizes=[30])
    for compression in ("uncompressed", "lz4"):
        feather.write_feather(frame.to_arrow(), tmp_path / "a.arrow", compression, chunksize=8)
        parts = tacit.scan(tmp_path / "a.arrow", partition_records=8, **CUTS)
        assert parts.n_partitions >= 4
        assert_same(parts, tacit.read(tmp_path / "a.arrow", **CUTS))


def test_a_compressed_batch_counts_as_a_whole(tmp_path):
    n = 40_000
    frame = pl.DataFrame({"a": range(n), "t": [f"{x % 99} {'z' * 30}" for x in range(n)]})
    sizes = {}
    for compression in ("uncompressed", "zstd"):
        path = tmp_path / f"{compression}.arrow"
        frame.write_ipc(path, compression=compression, record_batch_size=n)
        parts = tacit.scan(path, partition_records=1000, columns=["t"])
        sizes[compression] = max(p.load_bytes for p in parts._metadata.partitions.sources)
        assert_same(parts, as_read([frame.select("t")]))
    assert sizes["uncompressed"] < 300_000
    assert sizes["zstd"] > n * 46  # all texts of the batch are decompressed for any of them
    with pytest.raises(
        tacit.InputError, match=r"memory: .*zstd\.arrow, record batch 0.* needs about"
    ):
        tacit.scan(tmp_path / "zstd.arrow", memory="1MB", columns=["t"]).one_way()
