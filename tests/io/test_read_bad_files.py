"""Files that are missing, cut off, damaged or something else: an error, never part of a Table."""

import bz2
import gzip
import lzma
import zipfile

import numpy as np
import polars as pl
import pytest

from tacit import FileError, InputError, read, read_msweb
from tacit.io.csv import file as csv_file

RNG = np.random.default_rng(0)
ROWS = RNG.integers(0, 50, (400, 3)).tolist()
FRAME = pl.DataFrame({"a": [f"k{r[0]}" for r in ROWS], "b": [r[1] for r in ROWS]})
TEXTS = {
    "csv": "a,b,c\n" + "".join(f"x{a},{b},{c}\n" for a, b, c in ROWS),
    "dat": "".join(f"{a} {b} {c}\n" for a, b, c in ROWS),
    "arff": "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute c numeric\n@data\n"
    + "".join(f"{a},{b},{c}\n" for a, b, c in ROWS),
    "svm": "".join(f"{a} 1:{b} 2:{c}\n" for a, b, c in ROWS),
    "data": 'A,1,1,"one","/"\n' + "".join(f'C,"{a}",1\nV,1,1\n' for a, *_ in ROWS),
}
PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def pack_zip(path, content):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in content.items():
            archive.writestr(name, text)


def read_any(path):
    return read_msweb(path) if ".data" in path.name else read(path)


def attempt(reader, path, **options):
    """Return a table and no message, or no table and a message."""
    try:
        return reader(path, **options), ""
    except InputError as error:
        return None, str(error)


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.arrow", "x.arff", "x.svm", "x.dat.gz"])
def test_a_file_that_is_not_there(tmp_path, name):
    with pytest.raises(FileError, match=rf"{name}: no such file"):
        read(tmp_path / name)


def test_a_tacit_file_that_is_not_there_or_is_none(tmp_path):
    with pytest.raises(FileError, match=r"x.tacit: no such file"):
        read(tmp_path / "x.tacit")
    (tmp_path / "x.tacit").write_bytes(b"\x00" * 50)
    with pytest.raises(FileError, match=r"x.tacit: not a tacit file"):
        read(tmp_path / "x.tacit")


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.arrow", "x.arff", "x.svm", "x.dat"])
def test_an_empty_file_and_a_folder(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(FileError, match=rf"{name}: is empty"):
        read(tmp_path / name)
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    with pytest.raises(FileError, match=rf"{name}: is a folder"):
        read(tmp_path / name)


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("kind", TEXTS)
def test_compressed_files_that_hold_nothing(tmp_path, kind, packing):
    path = tmp_path / f"x.{kind}.{packing}"
    path.write_bytes(PACK[packing](b""))
    message = "is empty|holds no|has no @data line|declares no"
    with pytest.raises(FileError, match=rf"x.{kind}.{packing}: ({message})"):
        read_any(path)


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("share", [0.3, 0.7, 0.99])
def test_a_compressed_file_that_is_cut_off(tmp_path, kind, packing, share):
    whole = PACK[packing](TEXTS[kind].encode())
    path = tmp_path / f"x.{kind}.{packing}"
    path.write_bytes(whole)
    assert read_any(path).n_records == 400
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(FileError, match=rf"x.{kind}.{packing}: is damaged or cut off"):
        read_any(path)


@pytest.mark.parametrize("packing", PACK)
def test_a_compressed_csv_file_cut_off_under_a_plain_name(tmp_path, packing):
    whole = PACK[packing](TEXTS["csv"].encode())
    (tmp_path / "x.csv").write_bytes(whole[:-20])
    with pytest.raises(FileError, match=r"x.csv: is damaged or cut off"):
        read(tmp_path / "x.csv")


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("kind", TEXTS)
def test_a_compressed_file_with_flipped_bits(tmp_path, kind, packing):
    whole = PACK[packing](TEXTS[kind].encode())
    path = tmp_path / f"x.{kind}.{packing}"
    path.write_bytes(whole)
    expected = read_any(path).to_frame()
    for place in RNG.integers(0, len(whole), 25).tolist():
        damaged = bytearray(whole)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        table, error = attempt(read_any, path)
        if table is None:
            assert path.name in error
        else:  # a bit that says nothing about the content, such as a time stamp
            assert table.to_frame().equals(expected)


def test_a_file_that_is_not_compressed_as_its_name_says(tmp_path):
    (tmp_path / "x.csv.gz").write_text(TEXTS["csv"])
    with pytest.raises(
        FileError, match=r"x.csv.gz: is not compressed with gzip, in spite of its name"
    ):
        read(tmp_path / "x.csv.gz")
    (tmp_path / "x.csv.xz").write_bytes(gzip.compress(b"a\n1\n"))
    with pytest.raises(
        FileError, match=r"x.csv.xz: is not compressed with xz, in spite of its name"
    ):
        read(tmp_path / "x.csv.xz")


def test_archives(tmp_path):
    path = tmp_path / "x.csv.zip"
    pack_zip(path, {"a.csv": TEXTS["csv"], "b.csv": TEXTS["csv"]})
    with pytest.raises(FileError, match=r"x.csv.zip: holds 2 files \(a.csv, b.csv\)"):
        read(path)
    pack_zip(tmp_path / "x.zip", {})
    with pytest.raises(FileError, match=r"x.zip: holds 0 files"):
        read(tmp_path / "x.zip")
    pack_zip(path, {"a.csv": TEXTS["csv"]})
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match=r"x.csv.zip: is damaged or cut off"):
        read(path)
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(FileError, match=r"x.csv.zip: is damaged or cut off"):
        read(path)


def test_an_archive_whose_list_of_files_is_damaged(tmp_path):
    path = tmp_path / "x.zip"
    pack_zip(path, {"a": TEXTS["csv"]})
    whole = path.read_bytes()
    entry = whole.index(b"PK\x01\x02")
    # The version that it takes to unpack; how long the name is, of which nothing is left.
    for at, value, message in ((6, 99, "cannot be decompressed: "), (28, 0, "")):
        damaged = bytearray(whole)
        assert damaged[entry + at] != value
        damaged[entry + at] = value
        path.write_bytes(damaged)
        with pytest.raises(FileError, match=rf"x\.zip: {message}"):
            read(path)


def test_zstd_without_a_module_for_it(tmp_path):
    (tmp_path / "x.csv.zst").write_bytes(b"\x28\xb5\x2f\xfd\x00\x00")
    with pytest.raises(FileError, match=r"x.csv.zst: is (compressed with zstd|damaged)"):
        read(tmp_path / "x.csv.zst")


PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)) * 8


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x.csv", "is not a text file: it holds zero bytes"),
        ("x.data", "is not a text file: it holds zero bytes"),
        ("x.parquet", "is not a Parquet file"),
        ("x.arrow", "is not an Arrow IPC file"),
        ("x.feather", "is not an Arrow IPC file"),
        ("x.arff", "is not UTF-8 text"),
        ("x.svm", "line 1: could not convert"),
        ("x.dat", "is not a text file"),
        ("x.tacit", "not a tacit file"),
        ("x.zip", "does not say|is not compressed with zip"),
        ("x.csv.gz", "is not compressed with gzip"),
    ],
)
def test_a_picture_is_none_of_these(tmp_path, name, message):
    (tmp_path / name).write_bytes(PNG)
    with pytest.raises(FileError, match=rf"{name}: .*({message})"):
        read(tmp_path / name)


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
def test_column_files_cut_off_anywhere(tmp_path, name, capfd):
    path = tmp_path / name
    (FRAME.write_parquet if "parquet" in name else FRAME.write_ipc)(path)
    whole = path.read_bytes()
    for size in [3, 4, 8, 9, 100, len(whole) // 2, len(whole) - 9, len(whole) - 1]:
        path.write_bytes(whole[:size])
        with pytest.raises(FileError, match=name):
            read(path)
    capfd.readouterr()  # Polars prints where it panicked


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
def test_column_files_with_flipped_bits_are_read_in_full_or_not_at_all(tmp_path, name, capfd):
    path = tmp_path / name
    (FRAME.write_parquet if "parquet" in name else FRAME.write_ipc)(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    for place in rng.integers(0, len(whole), 60).tolist():
        damaged = bytearray(whole)
        damaged[place] ^= 1 << (place % 4)
        path.write_bytes(damaged)
        table, error = attempt(read, path, chunk_records=50)
        assert name in error if table is None else table.n_records == 400
    capfd.readouterr()


@pytest.mark.parametrize("writer", ["uncompressed", "zstd", "stream"])
def test_lengths_that_an_arrow_file_claims_are_not_believed(tmp_path, writer, capfd):
    """A claim of 2^60 bytes, if believed, ends the process."""
    path = tmp_path / "x.arrow"
    declared = pl.Series(["p", "q"] * 4, dtype=pl.Enum(["p", "q"]))
    frame = FRAME.head(8).with_columns(c=pl.lit("z" * 20), d=declared)
    if writer == "stream":
        frame.write_ipc_stream(path)
    else:
        frame.write_ipc(path, compression=writer)
    whole = path.read_bytes()
    claims = 0
    for place in (k for k in range(len(whole)) if k % 8 > 3):  # the high bytes of lengths
        damaged = bytearray(whole)
        damaged[place] ^= 0x50
        path.write_bytes(damaged)
        table, error = attempt(read, path)
        assert "x.arrow" in error if table is None else table.n_records <= 8
        claims += "claims" in error or "beyond" in error
    assert claims > 5
    capfd.readouterr()


CSV = {
    "short line": (b"a,b\n1,2\n3\n", "line 3 has 1 field where 2 are expected"),
    "short last line": (b"a,b,c\n1,2,3\n4,5", "line 3 has 2 fields where 3 are expected"),
    "short lines only": (b"a,b\n1\n2\n", "line 2 has 1 field where 2 are expected"),
    "long line": (b"a,b\n1,2\n3,4,5\n", "line 3 has 3 fields where 2 are expected"),
    "long header": (b"a,b,c\n1,2\n", "line 2 has 2 fields where 3 are expected"),
    "after a quoted line end": (b'a,b\n"x\ny",2\n3\n', "line 4 has 1 field where 2 are expected"),
    "not UTF-8": (b"a,b\n1,2\n3,\x81\n", "line 3 is not UTF-8 text"),
    "not UTF-8 in the header": (b"a,\x8d\n1,2\n", "line 1 is not UTF-8 text"),
    "cut off UTF-16": ("a,b\n1,2\n".encode("utf-16")[:-1], "is not utf-16 text"),
    "zero bytes": (b"a,b\n1,\x00\n", "is not a text file: it holds zero bytes"),
    "open quote": (b'a,b\n1,2\n"3,4\n5,6\n', "line 3 opens a quote that is never closed"),
    "blank": (b"\n \n\r\n", "is empty: it holds blank lines only"),
    "header only": (b"a,b\n", "holds no records"),
    "header and blank lines": (b"a,b\n\n\n", "holds no records"),
    "late nonsense": (b"a,b\n" + b"1,2\n" * 50 + b"\x81,3\n", "line 52 is not UTF-8 text"),
}


@pytest.mark.parametrize(("content", "message"), CSV.values(), ids=CSV)
@pytest.mark.parametrize("size", [1, None])
def test_bad_csv_files(tmp_path, monkeypatch, content, message, size):
    (tmp_path / "x.csv").write_bytes(content)
    for inferred in (10_000, 2):
        monkeypatch.setattr(csv_file, "_INFERRED", inferred)
        for columns in (None, ["a"]):
            if columns and "header" in message:
                continue
            with pytest.raises(FileError, match=f"x.csv: {message}"):
                read(tmp_path / "x.csv", chunk_records=size, columns=columns)


def test_what_is_wrong_with_a_frame_is_said_of_the_file(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1.5,2\n,3\n")
    with pytest.raises(InputError, match=r"x.csv: column 'a' has a missing value") as caught:
        read(tmp_path / "x.csv", missing="error")
    assert not isinstance(caught.value, FileError)  # the file is fine, the arguments are not
