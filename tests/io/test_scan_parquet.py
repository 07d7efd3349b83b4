"""A scan of Parquet files is the Table of all of them."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from support.scans import WRITERS, as_read, assert_same, some_frames, write

CUTS = {"size": [0.0, 1.0, 2.5]}


@pytest.fixture(scope="module", params=["parquet", "arrow"])
def files(request, tmp_path_factory):
    """Return a pattern, and the frames that the files hold."""
    frames = some_frames()
    return write(tmp_path_factory.mktemp(request.param), frames, request.param), frames


@pytest.mark.parametrize("missing", ["state", "default"])
@pytest.mark.parametrize("weights", [None, "weight"])
@pytest.mark.parametrize("records", [None, 1, 5, 7, 16, 1000])
def test_same_as_the_table(files, missing, weights, records):
    pattern, frames = files
    frames = [frame if weights else frame.drop("weight") for frame in frames]
    columns = [name for name in frames[0].columns if name != weights]
    parts = tacit.scan(
        pattern, columns=columns, missing=missing, weights=weights, discretise=CUTS,
        partition_records=records, n_jobs=2,
    )  # fmt: skip
    assert_same(parts, as_read(frames, missing=missing, weights=weights, discretise=CUTS))
    if records is not None:
        assert parts.partition_sizes.max() <= records


@pytest.mark.parametrize("spec", ["width", {"size": 3}, {"size": "width", "weight": [1.0]}])
def test_bins_of_equal_width(files, spec):
    pattern, frames = files
    frames = [frame.drop("whole") for frame in frames]
    if spec == {"size": 3}:  # which means bins of equal frequency
        with pytest.raises(tacit.InputError, match="column 'size' take all of its numbers"):
            tacit.scan(pattern, columns=["size"], discretise=spec)
        return
    chosen = frames[0].columns
    parts = tacit.scan(pattern, columns=chosen, discretise=spec, partition_records=6)
    assert_same(parts, as_read(frames, discretise=spec))


def test_defaults(files):
    pattern, frames = files
    wanted = {"word": "w6", "flag": True, "gap": None}
    columns = ["word", "flag", "gap"]
    parts = tacit.scan(pattern, columns=columns, defaults=wanted, partition_records=6)
    table = as_read([frame.select(columns) for frame in frames], defaults=wanted)
    assert_same(parts, table)
    assert parts.schema["word"].default_label == "w6"  # which only the last file has
    with pytest.raises(tacit.InputError, match="defaults: there is no column 'nowhere'"):
        tacit.scan(pattern, columns=columns, defaults={"nowhere": 1})
    with pytest.raises((tacit.InputError, KeyError), match="w99"):
        tacit.scan(pattern, columns=columns, defaults={"word": "w99"}).n_records  # noqa: B018


def test_what_is_missing_can_be_refused(files):
    pattern, frames = files
    fine = ["word", "number"]
    assert_same(
        tacit.scan(pattern, columns=fine, missing="error"),
        as_read([frame.select(fine) for frame in frames]),
    )
    parts = tacit.scan(pattern, columns=["gap"], missing="error", partition_records=7)
    with pytest.raises(
        tacit.InputError, match=r"00\.\w+: .* 1: column 'gap' has a missing value at record 9"
    ):
        parts.one_way()


def test_same_as_reading_one_file(files, tmp_path):
    pattern, frames = files
    ending = pattern.suffix[1:]
    WRITERS[ending](pl.concat(frames), tmp_path / f"all.{ending}")
    table = tacit.read(tmp_path / f"all.{ending}", discretise=CUTS, weights="weight")
    assert_same(tacit.scan(pattern, discretise=CUTS, weights="weight"), table)


@given(data=st.data())
@settings(max_examples=25)
def test_wherever_files_and_row_groups_end(data, tmp_path_factory):
    ending = data.draw(st.sampled_from(["parquet", "arrow"]))
    sizes = data.draw(st.lists(st.integers(0, 12), min_size=1, max_size=4).filter(any))
    frames = some_frames(data.draw(st.integers(0, 99)), sizes)
    folder = tmp_path_factory.mktemp("cut")
    each = data.draw(st.integers(1, 9))
    for k, frame in enumerate(frames):
        if ending == "parquet":
            frame.write_parquet(folder / f"{k}.parquet", row_group_size=each)
        else:
            frame.write_ipc(folder / f"{k}.arrow", record_batch_size=each)
    records = data.draw(st.none() | st.integers(1, 15))
    parts = tacit.scan(
        folder / f"*.{ending}", weights="weight", discretise=CUTS, partition_records=records
    )
    assert_same(parts, as_read(frames, weights="weight", discretise=CUTS))
    for source in parts._metadata.partitions.sources:  # neighbours in a file are one read
        assert len(source.row_ranges) == len({row_range.path for row_range in source.row_ranges})


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_enumerations_that_differ(tmp_path, ending):
    kinds = [pl.Enum(["c", "a"]), pl.Enum(["b", "a"]), pl.Enum(["c", "a"])]
    values = [["c", "a", None], ["b", "b"], ["a"]]
    frames = [
        pl.DataFrame({"e": pl.Series(column, dtype=kind), "n": range(len(column))})
        for column, kind in zip(values, kinds, strict=True)
    ]
    parts = tacit.scan(write(tmp_path, frames, ending), partition_records=1)
    assert_same(parts, tacit.Table.concat([tacit.Table(frame) for frame in frames]))
    assert parts.one_way()["e"] == {"a": 2, "b": 2, "c": 1, None: 1}
    same = tacit.scan([tmp_path / f"00.{ending}", tmp_path / f"02.{ending}"])
    assert list(same.schema["e"].labels) == ["c", "a", None]  # in the order declared


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_a_column_without_values_in_one_file(tmp_path, ending):
    frames = [
        pl.DataFrame({"a": [None, None], "x": [None, None], "w": [1.0, 2.0]}),
        pl.DataFrame({"a": ["u", None], "x": [0.5, 1.5], "w": [1.0, 1.0]}),
        pl.DataFrame({"a": [None], "x": [None], "w": [3.0]}),
    ]
    assert frames[0].schema["a"] == pl.Null
    pattern = write(tmp_path, frames, ending)
    for missing in ("state", "default"):
        parts = tacit.scan(pattern, missing=missing, weights="w", discretise={"x": [1.0]})
        table = as_read(frames, missing=missing, weights="w", discretise={"x": [1.0]})
        assert_same(parts, table)
    assert_same(tacit.scan(tmp_path / f"00.{ending}", columns=["a"]), as_read([frames[0][["a"]]]))
    parts = tacit.scan(pattern, columns=["a", "w"], weights="x")
    with pytest.raises(tacit.InputError, match="weights must be finite"):
        parts.one_way()


def test_parts_without_records(tmp_path):
    """Of pyarrow's, which has a row group of no records, and a dictionary before no pages."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    whole = pa.table({"a": [1, 2] * 50, "s": ["x", "y"] * 50})
    pq.write_table(whole, tmp_path / "0.parquet")
    pq.write_table(whole.slice(0, 0), tmp_path / "1.parquet")
    pl.from_arrow(whole).head(0).write_parquet(tmp_path / "2.parquet")
    assert_same(tacit.scan(tmp_path / "*.parquet"), tacit.read(tmp_path / "0.parquet"))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("codec", ["none", "snappy"])
def test_checksums_of_pages(tmp_path, version, codec):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    numbers = np.random.default_rng(0).integers(0, 200, 4000)
    pq.write_table(
        pa.table({"a": numbers}), path, write_page_checksum=True, data_page_version=version,
        compression=codec, data_page_size=1000,
    )  # fmt: skip
    columns = {"discretise": [50.5, 100.5]}
    assert tacit.read(path, **columns).n_records == 4000
    assert tacit.scan(path, **columns).one_way().total == 4000
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)
    for ask in (lambda: tacit.read(path, **columns), lambda: tacit.scan(path, **columns).summary()):
        with pytest.raises(tacit.FileError, match="'a': the checksum of a page does not match"):
            ask()


def test_large_row_groups_are_cut_and_small_ones_joined(tmp_path):
    n = 20_000
    frame = pl.DataFrame({"a": np.arange(n) % 50, "t": [f"{x % 7} {'x' * 40}" for x in range(n)]})
    frame.write_parquet(tmp_path / "one.parquet", row_group_size=n)
    frame.write_parquet(tmp_path / "many.parquet", row_group_size=100)
    table = tacit.Table(frame)
    for name in ("one", "many"):
        path = tmp_path / f"{name}.parquet"
        parts = tacit.scan(path, memory="4MB")
        assert_same(parts, table)
        assert 1 < parts.n_partitions < 50
        assert tacit.scan(path).n_partitions == 1
    names = [
        source.name
        for source in tacit.scan(path, partition_records=250)._metadata.partitions.sources
    ]
    assert names[0].endswith("many.parquet, row groups 0 to 1")
    names = [
        source.name
        for source in tacit.scan(
            tmp_path / "one.parquet", partition_records=9999
        )._metadata.partitions.sources
    ]
    assert names[1].endswith("one.parquet, row group 0, records 6,666 to 13,332 of it")


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_other_columns_are_not_read(tmp_path, ending):
    frames = some_frames(sizes=[2000])
    pattern = write(tmp_path, frames, ending)
    path = tmp_path / f"00.{ending}"
    if ending == "parquet":
        frames[0].write_parquet(path, compression="uncompressed")
    else:
        frames[0].write_ipc(path, compression="uncompressed")
    data = bytearray(path.read_bytes())
    # Whatever else is asked, the values of the long texts are ruined: only who reads them fails.
    place = data.find(b"a longer text")
    while place >= 0:
        data[place : place + 13] = b"\xff" * 13
        place = data.find(b"a longer text", place)
    path.write_bytes(data)
    columns = [name for name in frames[0].columns if name != "text"]
    parts = tacit.scan(pattern, columns=columns, weights="weight", discretise=CUTS)
    table = as_read([frames[0].select(columns)], weights="weight", discretise=CUTS)
    assert_same(parts, table)
    with pytest.raises(tacit.FileError, match=rf"00\.{ending}"):
        tacit.scan(pattern, columns=["text"]).one_way()
    some = parts.select(["flag", "word"])
    assert some._metadata.partitions.reader.coding.columns == ["flag", "word", "weight"]
    assert_same(some, table.select(["flag", "word"]))


def test_order_of_columns_is_that_of_the_first_file(tmp_path):
    pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}).write_parquet(tmp_path / "0.parquet")
    pl.DataFrame({"b": ["x"], "a": [2]}).write_parquet(tmp_path / "1.parquet")
    parts = tacit.scan(tmp_path / "*.parquet")
    assert parts.schema.names == ("a", "b")
    assert parts.count({"a": 2, "b": "x"}) == 1
    assert tacit.scan(tmp_path / "*.parquet", columns=["b", "a"]).schema.names == ("b", "a")


def test_lists_patterns_and_relative_paths(tmp_path, monkeypatch):
    frames = some_frames(sizes=[3, 4])
    write(tmp_path, frames, "parquet")
    monkeypatch.chdir(tmp_path)
    options = {"discretise": CUTS, "weights": "weight"}
    forth = tacit.scan(["00.parquet", "01.parquet"], **options)
    assert "not read yet" in repr(forth)
    monkeypatch.chdir(tmp_path.parent)  # as a worker elsewhere would be
    assert_same(forth, as_read(frames, **options))
    back = tacit.scan([tmp_path / "01.parquet", str(tmp_path / "0[0].parquet")], **options)
    assert_same(back, as_read(frames[::-1], **options))


def test_nothing_is_read_before_something_is_asked(files):
    pattern, frames = files
    parts = tacit.scan(pattern, discretise=CUTS, weights="weight", partition_records=10)
    assert parts.cost.passes == 0
    assert parts.n_records == sum(frame.height for frame in frames)
    assert parts.cost.passes == 1
    parts.one_way()
    assert parts.cost.passes == 2
    parts.one_way()
    assert parts.cost.partitions == 3 * parts.n_partitions
    raw = [
        kept
        for kept, _ in parts._passes.default._kept.values()
        if not isinstance(kept, tacit.Table)
    ]
    assert not raw  # frames are not kept
