"""CSV files against frames of the same data, whole and in chunks."""

import bz2
import csv
import gzip
import lzma
import zipfile

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tacit
from support.comparing import assert_same
from tacit import FileError, InputError, Table, read, read_csv
from tacit.io import tabular
from tacit.io.csv import file as csv_file
from tacit.io.csv import text as csv_text

SIZES = [1, 2, 3, 5, None]


def write(path, columns, header=True, **dialect):
    with path.open("w", newline="") as file:
        writer = csv.writer(file, **dialect)
        if header:
            writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some.csv"


@pytest.fixture
def few(monkeypatch):
    """Types are inferred from two records only."""
    monkeypatch.setattr(csv_file, "_INFERRED", 2)


WEATHER = {
    "sky": ["blue", "blue", "grey", "grey", "black", "grey", "grey"],
    "wind": [3, 1, 1, 2, 2, 2, 5],
    "rain": [False, False, True, False, True, True, False],
    "note": [None, "a, b", 'say "so"', "two\nlines", None, None, "ünï"],
}


@pytest.mark.parametrize("size", SIZES)
def test_a_file_reads_like_its_frame(path, size):
    write(path, WEATHER)
    assert_same(read_csv(path, chunk_records=size), Table(WEATHER))


@pytest.mark.parametrize("jobs", [1, 2, 5, None])
def test_threads_make_no_difference(path, jobs):
    write(path, WEATHER)
    assert_same(read_csv(path, n_jobs=jobs, chunk_records=3), Table(WEATHER))


texts = st.sampled_from(["a", "b", "b c", 'q"q', "x,y", "l\nm", " s ", "é"])
columns = st.sampled_from([texts, st.integers(-3, 3), st.booleans()])


@st.composite
def frames(draw):
    m = draw(st.integers(1, 12))
    kinds = draw(st.lists(columns, min_size=1, max_size=4))
    data = {
        f"c{c}": draw(st.lists(st.none() | kind, min_size=m, max_size=m))
        for c, kind in enumerate(kinds)
    }
    return {**data, "last": draw(st.lists(texts, min_size=m, max_size=m))}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(frames(), st.integers(1, 13), st.sampled_from(["state", "default"]), st.booleans())
def test_chunks_of_any_size_make_the_same_table(tmp_path, data, size, missing, turned):
    if turned:  # the column with missing values last, where lines could be short
        data = dict(reversed(data.items()))
    write(tmp_path / "x.csv", data)
    empty = [name for name, values in data.items() if all(v is None for v in values)]
    expected = Table(pl.DataFrame(data).cast(dict.fromkeys(empty, pl.String)), missing=missing)
    assert_same(read_csv(tmp_path / "x.csv", chunk_records=size, missing=missing), expected)


@pytest.mark.parametrize("size", SIZES)
def test_defaults_are_those_of_the_whole(path, size):
    data = {"x": list("aaabbbbbbc"), "y": [1, 1, 2, 2, 2, 2, 3, 1, 1, 1]}
    write(path, data)
    table = read_csv(path, chunk_records=size)
    assert table.schema["x"].default_label == "b"
    assert_same(table, Table(data))
    assert_same(
        read_csv(path, chunk_records=size, defaults={"x": "c"}), Table(data, defaults={"x": "c"})
    )


@pytest.mark.parametrize("size", SIZES)
def test_one_label_can_be_the_default_of_all(path, size):
    data = {"x": [1, 1, 0], "y": [1, 0, 1]}
    write(path, data)
    assert_same(read_csv(path, chunk_records=size, defaults=0), Table(data, defaults=0))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("missing", ["state", "default"])
def test_missing_values_take_the_default_of_the_whole(path, size, missing):
    data = {"x": ["a", None, "a", None, None, "b", "b", "b", "b"], "y": list("pqpqpqpqp")}
    write(path, data)
    assert_same(read_csv(path, chunk_records=size, missing=missing), Table(data, missing=missing))


@pytest.mark.parametrize("size", SIZES)
def test_a_missing_value_that_is_refused_is_placed_in_the_whole(path, size):
    write(path, {"x": ["a", "b", "a", "b", None], "y": list("ppppp")})
    with pytest.raises(InputError, match=r"some.csv: column 'x' has a missing value at record 4"):
        read_csv(path, chunk_records=size, missing="error")


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("size", SIZES)
def test_a_column_of_numbers_that_turns_to_text_is_text(path, size):
    data = {"x": ["1", "2", "3", "four"], "y": [7, 8, 7, 7]}
    write(path, data)
    assert_same(read_csv(path, chunk_records=size), Table(data))


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("separator", [",", ", "])
def test_every_type_widens_as_far_as_it_must(path, size, separator):
    data = {
        "whole": [1, 2, 3, 4],
        "real": [1, 2, 2.5, 3],
        "long": [1, 2, 3, 12345678901234567890123],
        "flag": ["true", "false", "true", "perhaps"],
        "float": [1.5, 2.5, "x", 3],
    }
    write(path, data)
    table = read_csv(path, chunk_records=size, separator=separator, discretise={"real": [2.2]})
    assert [labels.dtype for labels in table.schema.labels] == [
        "Int64", "String", "String", "String", "String",
    ]  # fmt: skip
    assert table.to_frame()["real"].to_list() == ["< 2.2", "< 2.2", ">= 2.2", ">= 2.2"]
    assert table.to_frame()["float"].to_list() == ["1.5", "2.5", "x", "3"]


@pytest.mark.usefixtures("few")
def test_real_numbers_late_in_a_column_make_it_real(path):
    write(path, {"x": [1, 2, 3, 4, 2.5], "y": [1, 2, 1, 2, 1]})
    table = read_csv(path, chunk_records=2)
    assert_same(table, Table({"x": [1.0, 2.0, 3.0, 4.0, 2.5], "y": [1, 2, 1, 2, 1]}))


def test_whole_numbers_beyond_64_bits_are_text(path):
    write(path, {"x": [1, 2**70], "y": [1, 2]})
    assert read_csv(path).schema["x"].labels.items == ("1", str(2**70))


REALS = {
    "x": [0.5, 1.5, 2.25, 7.0, 8.5, None, 9.25, 0.25],
    "k": [1, 2, 3, 4, 5, 6, 7, 8],
    "y": list("aaabbbba"),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("group", [1, 1 << 27])
@pytest.mark.parametrize(
    "discretise",
    ["width", "frequency", 3, [2.0, 8.0], {"x": "mdl", "k": "width"}, {"x": [1], "k": 2}],
)
def test_cuts_are_those_of_the_whole(path, monkeypatch, size, group, discretise):
    monkeypatch.setattr(tabular, "_AT_ONCE", group)
    write(path, REALS)
    for missing in ("state", "default"):
        options = {"discretise": discretise, "target": "y", "missing": missing}
        assert_same(
            read_csv(path, chunk_records=size, **options), Table(pl.DataFrame(REALS), **options)
        )


@pytest.mark.parametrize("size", SIZES)
def test_infinite_numbers_are_refused_with_their_place(path, size):
    path.write_text("x,y\n1.5,a\n2.5,b\n1e999,a\n")
    for discretise in ([2.0], 2, None):
        with pytest.raises(InputError, match=r"column 'x' .*(record 2|record 0: 1.5)"):
            read_csv(path, discretise=discretise, chunk_records=size)


def test_weights_come_from_a_column_or_from_the_caller(path):
    data = {"x": list("abab"), "w": [1.5, 2, 0, 3]}
    write(path, data)
    for size in SIZES:
        assert_same(read_csv(path, weights="w", chunk_records=size), Table(data, weights="w"))
    given = [1, 2, 3, 4]
    assert_same(
        read_csv(path, columns=["x"], weights=given), Table({"x": data["x"]}, weights=given)
    )


def test_columns_can_be_chosen_and_named(path):
    write(path, WEATHER)
    table = read_csv(path, columns=["wind", "sky"], chunk_records=2)
    assert_same(table, Table({name: WEATHER[name] for name in ("wind", "sky")}))
    renamed = read_csv(path, names=["a", "b", "c", "d"])
    assert renamed.schema.names == ("a", "b", "c", "d")
    assert renamed.n_records == 7


def test_without_a_header_columns_are_numbered(path):
    write(path, {"sky": WEATHER["sky"], "wind": WEATHER["wind"]}, header=False)
    assert_same(read_csv(path, header=False), Table({"0": WEATHER["sky"], "1": WEATHER["wind"]}))
    named = read_csv(path, header=False, names=["sky", "wind"])
    assert_same(named, Table({"sky": WEATHER["sky"], "wind": WEATHER["wind"]}))


def test_a_header_that_repeats_a_name_needs_names(path):
    path.write_text("a,b,a\n1,2,3\n")
    with pytest.raises(FileError, match="the header names column 'a' twice"):
        read_csv(path)
    assert read_csv(path, names=["a", "b", "c"]).schema.names == ("a", "b", "c")


@pytest.mark.parametrize(("separator", "name"), [(";", "x.csv"), ("\t", "x.tsv"), ("|", "x.csv")])
def test_separators(tmp_path, separator, name):
    write(tmp_path / name, WEATHER, delimiter=separator)
    assert_same(read_csv(tmp_path / name, separator=separator), Table(WEATHER))
    if name.endswith("tsv"):
        assert_same(read(tmp_path / name), Table(WEATHER))


@pytest.mark.parametrize("size", SIZES)
def test_a_separator_with_a_blank_drops_white_space(path, size):
    path.write_text("a, b , c\n1, x , true\n 2, ?,false\n3,\ty,TRUE\n\n")
    table = read_csv(path, separator=", ", null_values="?", chunk_records=size)
    assert_same(table, Table({"a": [1, 2, 3], "b": ["x", None, "y"], "c": [True, False, True]}))


def test_null_values(path):
    path.write_text("a,b\n1,NA\n?,x\n3,\n")
    expected = Table({"a": [1, None, 3], "b": [None, "x", None]})
    assert_same(read_csv(path, null_values=["NA", "?"]), expected)
    assert_same(read_csv(path, null_values="?"), Table({"a": [1, None, 3], "b": ["NA", "x", None]}))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\n\n"])
@pytest.mark.parametrize("header", [True, False])
def test_line_ends_byte_order_marks_and_blank_lines(path, end, start, header):
    lines = ["p,q", "1,x", "", "2,y", ",", "1,", "", ""]
    text = start.replace("\n", end) + end.join(lines if header else lines[1:])
    path.write_bytes(text.encode())
    expected = {"p": [1, 2, None, 1], "q": ["x", "y", None, None]}
    if not header:
        expected = {"0": expected["p"], "1": expected["q"]}
    for size in SIZES:
        assert_same(read_csv(path, header=header, chunk_records=size), Table(expected))


def test_a_blank_line_of_a_single_column_is_a_missing_value(path):
    path.write_text("a\nx\n\ny\n")
    assert_same(read_csv(path), Table({"a": ["x", None, "y"]}))


def test_quotes_can_be_nothing_special(path):
    path.write_text('a,b\n5",x\n"6,y\n')
    assert_same(read_csv(path, quote=None), Table({"a": ['5"', '"6'], "b": ["x", "y"]}))


def compress_zip(path, data):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inner/some.csv", data)


WRITERS = {
    ".gz": lambda path, data: path.write_bytes(gzip.compress(data)),
    ".bz2": lambda path, data: path.write_bytes(bz2.compress(data)),
    ".xz": lambda path, data: path.write_bytes(lzma.compress(data)),
    ".zip": compress_zip,
}


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("name", ["some.csv{}", "some.csv"])
def test_compressed_files(tmp_path, suffix, name):
    plain = write(tmp_path / "plain.csv", WEATHER).read_bytes()
    path = tmp_path / name.format(suffix)
    WRITERS[suffix](path, plain)
    assert_same(read(path), Table(WEATHER))
    assert_same(read(str(path), chunk_records=2), Table(WEATHER))


def test_an_archive_says_what_is_in_it(tmp_path):
    compress_zip(tmp_path / "some.zip", write(tmp_path / "plain.csv", WEATHER).read_bytes())
    assert_same(read(tmp_path / "some.zip"), Table(WEATHER))


def test_ragged_lines_across_blocks_and_quotes(path, monkeypatch):
    monkeypatch.setattr(csv_text, "_BLOCK", 5)
    path.write_text('a,b\n"x\ny",1\n"p,q",\nz\n')
    with pytest.raises(FileError, match=r"some.csv: line 5 has 1 field where 2 are expected"):
        read_csv(path)


def test_a_wide_file_with_many_chunks_has_16_and_32_bit_ids(path):
    data = {"x": list(range(70_000)), "y": [k % 7 for k in range(70_000)]}
    write(path, data)
    table = read_csv(path, chunk_records=20_000)
    assert table.values.dtype == np.uint32
    assert_same(table, Table(data))


def test_arguments_are_checked(path):
    write(path, {"x": ["a", "b"], "n": [1, 2]})
    for options, message in [
        ({"separator": "::"}, "separator must be one character"),
        ({"separator": ""}, "separator must be one character"),
        ({"separator": '"'}, "separator cannot be"),
        ({"quote": "ab"}, "quote must be"),
        ({"columns": ["z"]}, "some.csv: columns: there is no column 'z'"),
        ({"columns": "x"}, "columns must be a sequence"),
        ({"columns": ["x", "x"]}, "columns must be distinct"),
        ({"columns": ["n"], "weights": "n"}, "there is no column left"),
        ({"weights": "z"}, "weights: there is no column 'z'"),
        ({"weights": "x"}, "weights: column 'x' holds String"),
        ({"weights": [1.0]}, "weights must have shape"),
        ({"target": "z"}, "target: there is no column 'z'"),
        ({"defaults": {"z": 1}}, "defaults: there is no column 'z'"),
        ({"defaults": {"x": "z"}}, "column 'x' has no label 'z'"),
        ({"discretise": {"x": "width"}}, "discretise: column 'x' holds String"),
        ({"discretise": {"x": [1.0]}}, "discretise: column 'x' holds String"),
        ({"discretise": {"z": 2}}, "discretise: there is no column 'z'"),
        ({"discretise": {"n": "mdl"}}, "needs target"),
        ({"missing": "drop"}, "missing must be"),
        ({"chunk_records": 0}, "chunk_records must be"),
        ({"names": ["a"]}, "names: 1 for 2 columns"),
        ({"names": ["a", "a"]}, "column names must be distinct, but 'a' occurs twice"),
        ({"names": "ab"}, "names must be a sequence"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ]:
        with pytest.raises(InputError, match=message):
            read_csv(path, **options)


def test_the_package_offers_the_readers():
    assert tacit.read_csv is read_csv
