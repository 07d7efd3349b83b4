"""A scan of CSV files is what reading them gives, wherever ranges of bytes are cut."""

import gzip
import lzma
import string

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tacit
from support.scans import assert_same, some_frames, write

CUTS = {"size": [0.0, 1.0, 2.5]}
RECORDS = [None, 1, 2, 7, 1000]


def joined(path, *texts, header=True):
    """Write texts as one file, with the header of the first."""
    lines = [
        text if k == 0 or not header else text.partition("\n")[2] for k, text in enumerate(texts)
    ]
    path.write_text("".join(lines), newline="")
    return path


@pytest.mark.parametrize("records", RECORDS)
@pytest.mark.parametrize("missing", ["state", "default"])
def test_same_as_reading_one_file(tmp_path, records, missing):
    frames = some_frames()
    pattern = write(tmp_path, frames, "csv")
    pl.concat(frames).write_csv(tmp_path / "all.txt")
    options = {"discretise": CUTS, "weights": "weight", "missing": missing}
    table = tacit.read(tmp_path / "all.txt", format="csv", **options)
    parts = tacit.scan(pattern, partition_records=records, n_jobs=2, **options)
    assert_same(parts, table)
    assert parts.n_partitions >= (1 if records is None else 64 // (2 * records))
    some = ["gap", "word"]
    chosen = tacit.scan(pattern, columns=some, partition_records=records, missing=missing)
    assert_same(
        chosen, tacit.read(tmp_path / "all.txt", format="csv", columns=some, missing=missing)
    )


@pytest.mark.parametrize("records", RECORDS)
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_lines_that_break_between_quotes(tmp_path, records, eol):
    lines = ['"na', 'me",b', '"one', "", 'two ""three""",1', "plain,2", '"a,b",3', '"', '",4', ""]
    text = eol.join([*lines, "x,5", ""])
    (tmp_path / "a.csv").write_text(text, newline="")
    table = tacit.read(tmp_path / "a.csv")
    assert table.n_records == 5
    assert_same(tacit.scan(tmp_path / "a.csv", partition_records=records), table)


field = st.text(string.ascii_letters[:3] + ' ,"\n', max_size=5)
records_of_fields = st.lists(st.tuples(field, st.integers(-3, 3), field), min_size=1, max_size=12)


@given(records_of_fields, st.integers(1, 12), st.booleans(), st.integers(0, 2))
@example([("", 0, ""), ("", 0, "")], 1, True, 1)
@settings(max_examples=80)
def test_wherever_ranges_are_cut(tmp_path_factory, rows, each, final_eol, blank):
    text = "a,n,z\n" + "\n" * blank
    for row in rows:
        quoted = [
            '"' + str(x).replace('"', '""') + '"' if set(str(x)) & set('",\n') else str(x)
            for x in row
        ]
        text += ",".join(quoted) + "\n" * (1 + blank)
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_text(text if final_eol else text.rstrip("\n"), newline="")
    assert_same(tacit.scan(path, partition_records=each), tacit.read(path))


@given(
    st.lists(st.sampled_from(["", "a", "b", '"x\ny"', '""']), min_size=1, max_size=9),
    st.integers(1, 5),
)
@settings(max_examples=40)
def test_blank_lines_of_one_column_are_missing_values(tmp_path_factory, values, each):
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_text("c\n" + "\n".join(values) + "\n")
    assert_same(tacit.scan(path, partition_records=each), tacit.read(path))


def test_types_are_widened_when_a_later_range_does_not_fit(tmp_path):
    n = 12_000  # types are inferred from fewer
    rows = [f"{k % 3},{k % 2},{k % 5},{'true' if k % 2 else 'false'},{k % 4}" for k in range(n)]
    rows += ["2,1.5,x,true,", "1,0,3,maybe,9"]
    text = "int,real,word,flag,fine\n" + "\n".join(rows) + "\n"
    (tmp_path / "a.csv").write_text(text)
    cuts = {"real": [0.5, 1.2]}
    table = tacit.read(tmp_path / "a.csv", discretise=cuts)
    parts = tacit.scan(tmp_path / "a.csv", partition_records=5000, discretise=cuts)
    assert_same(parts, table)
    kinds = {column.name: column.labels.dtype for column in parts.schema}
    assert kinds == {
        "int": "Int64",
        "real": "String",
        "word": "String",
        "flag": "String",
        "fine": "Int64",
    }
    assert parts.cost.passes == 4 + 2  # bytes, labels, types, labels; two questions


@pytest.mark.parametrize(
    "value", [" true", "+5", '" 5"', "1_0", "1e5", "TRUE", "-", '""', "9" * 19]
)
@pytest.mark.parametrize("others", ["10", "truefalse"])
def test_odd_values_that_come_late(tmp_path, value, others):
    first, second = (others[0], others[1]) if others == "10" else ("true", "false")
    rows = "".join(f"{first},x\n{second},x\n" for _ in range(11_000))
    (tmp_path / "a.csv").write_text(f"a,b\n{rows}{value},y\n")
    table = tacit.read(tmp_path / "a.csv")
    assert_same(tacit.scan(tmp_path / "a.csv", partition_records=9000), table)


def test_types_are_those_that_suit_all_files(tmp_path):
    texts = ["a,b,c,d\n1,true,,x\n2,false,,y\n", "d,c,b,a\nz,5,1,2.0\n", "a,b,c,d\n3,true,,\n"]
    for k, text in enumerate(texts):
        (tmp_path / f"{k}.csv").write_text(text)
    parts = tacit.scan(tmp_path / "*.csv")
    kinds = {column.name: (column.labels.dtype, list(column.labels)) for column in parts.schema}
    assert kinds == {
        "a": ("Float64", [1.0, 2.0, 3.0]),
        "b": ("String", ["1", "false", "true"]),
        "c": ("Int64", [5, None]),  # of which the first file says nothing
        "d": ("String", ["x", "y", "z", None]),
    }
    silent = tacit.scan(tmp_path / "0.csv")
    assert silent.schema == tacit.read(tmp_path / "0.csv").schema


def test_real_numbers_that_come_late_are_cut(tmp_path):
    rows = "\n".join(str(k % 7) for k in range(11_000))
    (tmp_path / "a.csv").write_text(
        f"x,y\n{rows}\n2.5\n".replace("\n", ",0\n").replace("x,y,0", "x,y").rstrip(",0\n") + ",0\n"
    )
    for spec in ("width", [1.0, 3.0]):
        table = tacit.read(tmp_path / "a.csv", discretise=spec)
        parts = tacit.scan(tmp_path / "a.csv", discretise=spec, partition_records=4000)
        assert_same(parts, table)
        assert len(parts.schema["x"].labels) == len(table.schema["x"].labels) > 1


@pytest.mark.parametrize("records", [None, 1, 2])
def test_dialects(tmp_path, records):
    (tmp_path / "a.tsv").write_text("a\tb\n1\tNA\n?\t2\n")
    (tmp_path / "a.data").write_text("x, 1, yes \n y ,2,NA\nz, 3,no\n")
    (tmp_path / "b.csv").write_text("\ufeff\n\na;'b;c'\n1;'x\ny'\n2;z\n")
    (tmp_path / "c.csv").write_text('5" pipe,1\n"x,2\n')
    cases = [
        ("a.tsv", {"null_values": ["NA", "?"]}),
        ("a.data", {"separator": ", ", "null_values": "NA"}),
        ("b.csv", {"separator": ";", "quote": "'"}),
        ("c.csv", {"quote": None, "header": False, "names": ["what", "n"]}),
    ]
    for name, options in cases:
        table = tacit.read(tmp_path / name, **options)
        assert_same(tacit.scan(tmp_path / name, partition_records=records, **options), table)


def test_compressed_files_are_read_as_a_whole(tmp_path):
    frames = some_frames()
    texts = [frame.write_csv() for frame in frames]
    for k, text in enumerate(texts):
        with gzip.open(tmp_path / f"{k}.csv.gz", "wt", newline="") as file:
            file.write(text)
    joined(tmp_path / "all.csv", *texts)
    options = {"discretise": CUTS, "weights": "weight"}
    parts = tacit.scan(tmp_path / "*.csv.gz", partition_records=5, **options)
    assert_same(parts, tacit.read(tmp_path / "all.csv", **options))
    assert parts.n_partitions == 3
    wide = pl.DataFrame({"t": [f"{k} {'x' * 99}" for k in range(50_000)]})
    with gzip.open(tmp_path / "3.csv.gz", "wb") as file:
        wide.write_csv(file)
    large = tacit.scan(tmp_path / "3.csv.gz", memory="6MB")
    message = r"3\.csv\.gz, all of it at once, as it is compressed needs about 1\d\.\d MB"
    with pytest.raises(tacit.InputError, match=message):
        large.one_way()
    assert_same(tacit.scan(tmp_path / "3.csv.gz", memory="200MB"), tacit.Table(wide))


def test_ranges_are_as_large_as_memory_allows(tmp_path):
    n = 30_000
    frame = pl.DataFrame({"a": np.arange(n) % 9, "t": [f"{x % 11} {'y' * 30}" for x in range(n)]})
    frame.write_csv(tmp_path / "a.csv")
    small = tacit.scan(tmp_path / "a.csv", memory="8MB")
    assert_same(small, tacit.Table(frame))
    assert 2 < small.n_partitions < 20
    assert max(source.load_bytes for source in small._metadata.partitions.sources) < 8e6 / 2


def test_real_data(shared_data, tmp_path):
    packed = shared_data / "adult" / "adult.data.xz"
    path = tmp_path / "adult.data"
    path.write_bytes(lzma.decompress(packed.read_bytes()))
    options = {
        "separator": ", ",
        "null_values": "?",
        "discretise": {name: [30.0, 50.0] for name in ("0", "2", "10", "11", "12")},
    }
    table = tacit.read(path, **options)
    parts = tacit.scan(path, **options, partition_records=4000)
    assert parts.n_partitions >= 8
    assert_same(parts, table)
    again = parts.materialise(tmp_path / "folder")
    assert_same(again, table)
