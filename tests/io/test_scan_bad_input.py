"""Whatever is wrong with files is said, with the file and the place in it."""

import os
import pickle

import numpy as np
import polars as pl
import pytest

import tacit
from support.scans import WRITERS, as_read, assert_same, some_frames

ENDINGS = list(WRITERS)
FRAME = pl.DataFrame({"a": [1, 2, 3, 1], "b": ["x", "y", "x", None], "w": [1.0, 2.0, 0.5, 1.0]})


def put(folder, name, frame=FRAME):
    path = folder / name
    WRITERS[path.suffix[1:]](frame, path)
    return path


def test_which_files(tmp_path):
    for paths, message in [
        (tmp_path / "*.parquet", r"paths: no file matches '.*\*\.parquet'"),
        (tmp_path / "a.parquet", r"a\.parquet: no such file"),
        ([], "paths: there is no file among them"),
        (7, "paths must be a path, a pattern or a list of them, got 7"),
        ([tmp_path, 3], "paths must be a path"),
        (tmp_path, "is a folder, but not one"),
        (tmp_path / "a.xyz", "its name does not say what it is"),
    ]:
        with pytest.raises(tacit.InputError, match=message):
            tacit.scan(paths)
    path = put(tmp_path, "a.parquet")
    with pytest.raises(tacit.InputError, match=r"a\.parquet is there twice"):
        tacit.scan([path, tmp_path / "*.parquet"])
    other = put(tmp_path, "b.csv")
    with pytest.raises(tacit.InputError, match=r"a\.parquet is Parquet, but .*b\.csv is CSV"):
        tacit.scan([path, other])
    (tmp_path / "c.arff").write_text("@relation r\n")
    with pytest.raises(tacit.FileError, match=r"c\.arff: scan reads Parquet, Arrow IPC, CSV"):
        tacit.scan(tmp_path / "c.arff")
    (tmp_path / "d.parquet").write_bytes(b"")
    with pytest.raises(tacit.FileError, match=r"d\.parquet: is empty"):
        tacit.scan(tmp_path / "*.parquet")


@pytest.mark.parametrize("ending", ENDINGS)
def test_arguments(tmp_path, ending):
    path = put(tmp_path, f"a.{ending}")
    for options, message in [
        ({"missing": "no"}, "missing must be 'state'"),
        ({"columns": ["a", "z"]}, "columns: there is no column 'z'"),
        ({"columns": "a"}, "columns must be a sequence of names"),
        ({"columns": ["a", "a"]}, "columns must be distinct"),
        ({"columns": ["w"], "weights": "w"}, "no column left"),
        ({"weights": "z"}, "weights: there is no column 'z'"),
        ({"weights": [1, 2]}, "weights: give the name of the column"),
        ({"defaults": {"z": 1}}, "defaults: there is no column 'z'"),
        ({"discretise": {"z": [1.0]}}, "discretise: there is no column 'z'"),
        ({"discretise": {"w": "frequency"}}, "cuts of column 'w' take all of its numbers at once"),
        ({"discretise": {"w": "mdl"}}, "needs target"),
        ({"weights": "w", "discretise": {"b": [1.0]}}, "discretise: column 'b' holds String"),
        ({"partition_records": 0}, "partition_records must be a whole number of at least 1"),
        ({"memory": "lots"}, "memory must be a size"),
        ({"chunk_records": 5}, "chunk_records is no option of"),
        ({"format": "stone"}, "format must be one of"),
    ]:
        with pytest.raises(tacit.InputError, match=message):
            tacit.scan(path, **options)
    for options, message in [
        ({"weights": "b"}, "weights: column 'b' holds String, not numbers"),
        ({"weights": "w", "missing": "error"}, "'b' has a missing value at record 3"),
    ]:
        parts = tacit.scan(path, **options)
        with pytest.raises(tacit.InputError, match=rf"a\.{ending}: .*{message}"):
            parts.one_way()


def test_options_of_text_are_for_text(tmp_path):
    for name in ("a.parquet", "a.arrow"):
        with pytest.raises(
            tacit.InputError, match=r"separator is no option of (parquet|ipc) files"
        ):
            tacit.scan(put(tmp_path, name), separator=";")
    for options in ({"separator": "ab"}, {"quote": "xy"}, {"separator": '"'}):
        with pytest.raises(tacit.InputError, match=r"separator|quote"):
            tacit.scan(put(tmp_path, "a.csv"), **options)
    with pytest.raises(tacit.InputError, match="names: 2 for 3 columns"):
        tacit.scan(put(tmp_path, "a.csv"), names=["a", "b"])


@pytest.mark.parametrize("ending", ENDINGS)
def test_columns_that_differ(tmp_path, ending):
    put(tmp_path, f"0.{ending}")
    other = put(tmp_path, f"1.{ending}", FRAME.drop("b"))
    pattern = tmp_path / f"*.{ending}"
    with pytest.raises(
        tacit.FileError, match=rf"1\.{ending}: has no column 'b', but .*0\.{ending}"
    ):
        tacit.scan(pattern, weights="w")
    both = as_read([FRAME.select("a"), FRAME.select("a")])
    assert_same(tacit.scan(pattern, columns=["a"]), both)
    put(tmp_path, other.name, FRAME.with_columns(z=1))
    with pytest.raises(
        tacit.FileError, match=rf"1\.{ending}: has the column 'z', but .*0\.{ending}"
    ):
        tacit.scan(pattern, weights="w")
    assert_same(tacit.scan(pattern, columns=["a"]), both)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_a_column_that_changes_its_type(tmp_path, ending):
    put(tmp_path, f"0.{ending}", FRAME.with_columns(b=pl.lit(None)))
    put(tmp_path, f"1.{ending}")
    put(tmp_path, f"2.{ending}", FRAME.with_columns(a=pl.col("a").cast(pl.Int32)))
    put(tmp_path, f"3.{ending}", FRAME.with_columns(b=pl.col("w")))
    pattern = tmp_path / f"[01%s].{ending}"
    with pytest.raises(
        tacit.FileError,
        match=rf"2\.{ending}: column 'a' is Int32, but in .*0\.{ending} it is Int64",
    ):
        tacit.scan(str(pattern) % "2", weights="w")
    with pytest.raises(
        tacit.FileError,
        match=rf"3\.{ending}: column 'b' is Float64, but in .*1\.{ending} it is Str",
    ):
        tacit.scan(str(pattern) % "3", weights="w")
    fine = tacit.scan(str(pattern) % "2", columns=["b"])
    assert fine.n_records == 12


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_records(tmp_path, ending):
    for k in range(2):
        put(tmp_path, f"{k}.{ending}", FRAME.clear())
    with pytest.raises(
        tacit.InputError, match=rf"paths: 2 files, .*0\.{ending} to .* hold no records"
    ):
        tacit.scan(tmp_path / f"*.{ending}", weights="w").one_way()
    put(tmp_path, f"2.{ending}")
    assert tacit.scan(tmp_path / f"*.{ending}", weights="w").n_records == 4


def test_text_without_records(tmp_path):
    for text, message in [
        ("", "a.csv: is empty"),
        ("\n \n", "a.csv: is empty: it holds blank lines only"),
        ("a,b\n", "paths: .*a.csv hold no records"),
        ("a,b\n\n\n", "paths: .*a.csv hold no records"),
    ]:
        (tmp_path / "a.csv").write_text(text)
        with pytest.raises(tacit.InputError, match=message):
            tacit.scan(tmp_path / "a.csv").one_way()


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("value", [-1.0, None, float("inf")])
def test_weights(tmp_path, ending, value):
    put(tmp_path, f"0.{ending}")
    wrong = FRAME.with_columns(w=pl.Series([1.0, 2.0, value, 1.0]))
    put(tmp_path, f"1.{ending}", wrong)
    parts = tacit.scan(tmp_path / f"*.{ending}", weights="w")
    with pytest.raises(
        tacit.InputError, match=rf"1\.{ending}: .*weights must be finite and not negative; record 2"
    ):
        parts.one_way()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_partition_beyond_the_limit(tmp_path, ending):
    n = 5000
    path = put(tmp_path, f"a.{ending}", pl.DataFrame({"t": [f"{k} {'x' * 500}" for k in range(n)]}))
    parts = tacit.scan(path, memory="1MB", partition_records=n)
    with pytest.raises(
        tacit.InputError,
        match=rf"memory: .*a\.{ending}, .* needs about .* to be loaded, but the limit",
    ):
        parts.one_way()
    with pytest.raises(tacit.InputError, match="memory: "):
        tacit.NaiveBayesMixture(2).fit(parts)


def ruin(path, start, size=60):
    data = bytearray(path.read_bytes())
    data[start : start + size] = b"\xff" * size
    path.write_bytes(data)


def test_a_corrupt_row_group_is_named(tmp_path):
    n = 4000
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"a": [f"{x}" for x in rng.integers(0, 10**9, n)], "b": np.arange(n) % 5})
    put(tmp_path, "0.parquet", frame)
    path = tmp_path / "1.parquet"
    frame.write_parquet(path, row_group_size=1000, compression="zstd")
    pq = pytest.importorskip("pyarrow.parquet")

    chunk = pq.ParquetFile(path).metadata.row_group(2).column(0)
    ruin(path, (chunk.dictionary_page_offset or chunk.data_page_offset) + 40)
    # Whether row groups are read one by one or together, and in whichever pass, the one is named.
    for records in (1000, 2000, 4000):
        parts = tacit.scan(tmp_path / "*.parquet", partition_records=records)
        with pytest.raises(tacit.FileError, match=r"1\.parquet: row group 2: "):
            parts.one_way()
        model = tacit.NaiveBayesMixture(2, max_iter=2)
        with pytest.raises(tacit.FileError, match=r"1\.parquet: row group 2: "):
            model.fit(parts)
        assert not [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    assert tacit.scan(tmp_path / "*.parquet", columns=["b"]).n_records == 2 * n


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_files_cut_off(tmp_path, ending):
    path = put(tmp_path, f"a.{ending}")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(tacit.FileError, match=rf"a\.{ending}: is damaged or cut off"):
        tacit.scan(path)
    path.write_bytes(b"what is this, then?")
    with pytest.raises(tacit.FileError, match=rf"a\.{ending}: is not a"):
        tacit.scan(path)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("seed", range(20))
def test_any_byte_may_be_wrong(tmp_path, ending, seed):
    """Either nothing is noticed, or a FileError that names the file says so."""
    rng = np.random.default_rng(seed)
    path = put(tmp_path, f"a.{ending}", some_frames(sizes=[60])[0])
    data = bytearray(path.read_bytes())
    for place in rng.integers(0, len(data), 3):
        data[place] ^= 1 << int(rng.integers(0, 8))
    path.write_bytes(data)
    try:
        tacit.scan(path, weights="weight", discretise={"size": [0.0]}).one_way()
    except tacit.InputError as error:
        assert "a." + ending in str(error) or "column" in str(error)  # noqa: PT017


def test_ragged_and_bad_text_are_named(tmp_path):
    lines = ["a,b,c"] + [f"{k},x,{k % 3}" for k in range(500)]
    for at, line, message in [
        (400, "1,2", "line 401 has 2 fields where 3 are expected"),
        (300, "1,2,3,4", "line 301 has 4 fields where 3 are expected"),
    ]:
        wrong = list(lines)
        wrong[at] = line
        (tmp_path / "a.csv").write_text("\n".join(wrong) + "\n")
        for options in ({}, {"columns": ["a"]})[: 1 + (at == 400)]:
            with pytest.raises(
                tacit.FileError, match=rf"a\.csv: bytes [\d,]+ to [\d,]+: {message}"
            ):
                tacit.scan(tmp_path / "a.csv", partition_records=100, **options).one_way()
    for line in (350, 20_350):
        lines = ["a,b,c"] + [f"{k},x,{k % 3}" for k in range(line + 50)]
        text = ("\n".join(lines) + "\n").encode()
        (tmp_path / "a.csv").write_bytes(text.replace(b"\n%d,x" % line, b"\n%d,\x81" % line))
        place = r"(bytes [\d,]+ to [\d,]+: )?"
        message = rf"a\.csv: {place}line {line + 2} is not UTF-8 text"
        with pytest.raises(tacit.FileError, match=message):
            tacit.scan(tmp_path / "a.csv", partition_records=1000).one_way()
    lines = ["a,b,c"] + [f"{k},x,{k % 3}" for k in range(500)]
    text = ("\n".join(lines) + "\n").encode()
    (tmp_path / "a.csv").write_bytes(text.replace(b"350,x", b'350,"x'))
    with pytest.raises(
        tacit.FileError, match=r"a\.csv: .*line 352 opens a quote that is never closed"
    ):
        tacit.scan(tmp_path / "a.csv", partition_records=100).one_way()


@pytest.mark.parametrize("ending", ENDINGS)
def test_files_that_vanish_or_change_between_passes(tmp_path, ending):
    for k in range(3):
        put(tmp_path, f"{k}.{ending}")
    parts = tacit.scan(tmp_path / f"*.{ending}", weights="w", partition_records=4)
    parts.one_way()
    parts._passes.default.release()
    path = tmp_path / f"1.{ending}"
    before = path.stat()
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 10**9))
    with pytest.raises(tacit.FileError, match=rf"1\.{ending}: .*has changed since it was opened"):
        parts.one_way()
    parts._passes.default.release()
    put(tmp_path, f"1.{ending}", pl.concat([FRAME, FRAME]))
    with pytest.raises(
        tacit.FileError, match=rf"1\.{ending}: .*it had [\d,]+ bytes and has [\d,]+"
    ):
        parts.one_way()
    path.unlink()
    with pytest.raises(tacit.FileError, match=rf"1\.{ending}: .*is not there any more"):
        parts.one_way()


def test_a_file_with_new_labels_in_spite_of_its_age(tmp_path):
    """If even its size and its age are the same, a label that was not there is noticed."""
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,x\n2,y\n")
    before = path.stat()
    parts = tacit.scan(path)
    assert parts.n_records == 2
    path.write_text("a,b\n1,x\n3,y\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(
        tacit.FileError, match=r"has changed since its labels were counted: column 'a' holds 3"
    ):
        parts.one_way()


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_sent_to_workers_is_small(tmp_path, ending):
    wide = pl.DataFrame({f"a column with a long name, number {k}": [k % 2, 1] for k in range(2000)})
    put(tmp_path, f"a.{ending}", wide)
    sent = []

    class Watching(tacit.scale.Local):
        def reduce(self, partitions, statistic, n_jobs, report):
            sent.extend(len(pickle.dumps(source)) for source in partitions.sources)
            sent_along = pickle.loads(pickle.dumps((partitions, statistic)))
            return pickle.loads(pickle.dumps(super().reduce(*sent_along, n_jobs, report)))

        def map(self, partitions, function, n_jobs, report):
            sent.extend(len(pickle.dumps(source)) for source in partitions.sources)
            return super().map(*pickle.loads(pickle.dumps((partitions, function))), n_jobs, report)

    with tacit.scale.using(Watching()):
        parts = tacit.scan(tmp_path / f"a.{ending}", partition_records=1)
        assert_same(parts, as_read([wide]))
        parts.materialise(tmp_path / "folder")
    assert max(sent) < 1000
    error = tacit.FileError("a", "b")
    assert str(pickle.loads(pickle.dumps(error))) == "a: b"


def test_a_link_to_what_is_not_there_is_not_passed_over(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n2\n")
    (tmp_path / "folder.csv").mkdir()
    link = tmp_path / "b.csv"
    link.symlink_to(tmp_path / "gone" / "b.csv")
    with pytest.raises(
        tacit.FileError, match=r"b\.csv: matches '.*\*\.csv', but is a link to what"
    ):
        tacit.scan(str(tmp_path / "*.csv"))
    link.unlink()
    link.symlink_to(tmp_path / "folder.csv")  # folders are no files, through links neither
    assert tacit.scan(str(tmp_path / "*.csv")).n_records == 2
