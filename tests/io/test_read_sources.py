"""JSON, Excel and databases: the same table as of their frame, or an error that says what to do."""

import gzip
import sqlite3

import polars as pl
import pytest

import tacit
from tacit import FileError, InputError, Table
from tacit.io import sources

SALES = pl.DataFrame(
    {"shop": ["x", "y", "x", "z"], "item": ["tea", "tea", "milk", None], "n": [1, 2, 3, 4]}
)


def write(kind, folder):
    """Write the sales; return what to read, and the options for it."""
    match kind:
        case "ndjson":
            SALES.write_ndjson(folder / "sales.ndjson")
            return folder / "sales.ndjson", {}
        case "jsonl.gz":
            packed = gzip.compress(SALES.write_ndjson().encode())
            (folder / "sales.jsonl.gz").write_bytes(packed)
            return folder / "sales.jsonl.gz", {}
        case "excel":
            openpyxl = pytest.importorskip("openpyxl")
            book = openpyxl.Workbook()
            for row in (SALES.columns, *SALES.rows()):
                book.active.append(list(row))
            book.create_sheet("empty")
            book.save(folder / "sales.xlsx")
            return folder / "sales.xlsx", {}
        case _:
            with sqlite3.connect(folder / "sales.db") as base:
                base.execute("create table sales (shop text, item text, n integer)")
                base.executemany("insert into sales values (?, ?, ?)", SALES.rows())
            base.close()
            return f"sqlite:///{folder / 'sales.db'}", {"query": "select * from sales"}


KINDS = ["ndjson", "jsonl.gz", "excel", "sql"]


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_the_table_of_its_frame(tmp_path, kind):
    path, options = write(kind, tmp_path)
    expected = Table(SALES)
    table = tacit.read(path, **options)
    assert table.schema == expected.schema
    assert table.to_frame().equals(SALES)
    assert tacit.io.read_frame(path, **options).equals(SALES)
    some = tacit.read(path, columns=["item"], weights="n", missing="default", **options)
    assert some.schema.names == ("item",)
    assert some.weights.tolist() == [1, 2, 3, 4]
    cut = tacit.read(path, discretise={"n": [2.5]}, **options)
    assert cut.schema == Table(SALES, discretise={"n": [2.5]}).schema


@pytest.mark.parametrize("kind", KINDS)
def test_it_may_be_a_log(tmp_path, kind):
    path, options = write(kind, tmp_path)
    table = tacit.read(path, long=("shop", "item"), missing="drop", **options)
    assert table.to_frame().rows() == [("x", True, True), ("y", False, True)]
    with pytest.raises(InputError, match="long: there is no column 'thing'"):
        tacit.read(path, long=("shop", "thing"), **options)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_that_are_not_there(tmp_path, kind):
    path, options = write(kind, tmp_path)
    with pytest.raises(InputError, match="columns: there is no column 'thing'"):
        tacit.read(path, columns=["thing"], **options)
    with pytest.raises(InputError, match="columns must be a sequence"):
        tacit.read(path, columns="item", **options)
    with pytest.raises(InputError, match="separator is no option"):
        tacit.read(path, separator=";", **options)


@pytest.mark.parametrize("text", ['{"a": 1}\n{"a": tr', "a,b\n1,2\n", "[1, 2]\n"])
def test_what_is_no_json(tmp_path, text):
    (tmp_path / "x.ndjson").write_text(text)
    with pytest.raises(FileError, match=r"x.ndjson: (cannot be read|holds no)"):
        tacit.read(tmp_path / "x.ndjson")


def test_json_of_nested_values_is_refused(tmp_path):
    (tmp_path / "x.ndjson").write_text('{"a": [1, 2]}\n')
    with pytest.raises(InputError, match="column 'a' has the type"):
        tacit.read(tmp_path / "x.ndjson")


def test_sheets(tmp_path):
    path, _ = write("excel", tmp_path)
    assert tacit.read(path, sheet=1).n_records == 4
    assert tacit.read(path, sheet="Sheet").n_records == 4
    with pytest.raises(FileError, match=r"sales.xlsx: (holds no records|cannot be read)"):
        tacit.read(path, sheet="empty")
    with pytest.raises(FileError, match=r"sales.xlsx: cannot be read as Excel: no matching sheet"):
        tacit.read(path, sheet="other")
    with pytest.raises(InputError, match="sheet must be a name or a number"):
        tacit.read(path, sheet=1.5)
    (tmp_path / "x.xlsx").write_text("no")
    with pytest.raises(FileError, match=r"x.xlsx: cannot be read as Excel"):
        tacit.read(tmp_path / "x.xlsx")
    with pytest.raises(FileError, match=r"y.xlsx: no such file"):
        tacit.read(tmp_path / "y.xlsx")


def test_databases(tmp_path, monkeypatch):
    path, _ = write("sql", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert tacit.read("sqlite:///sales.db", query="select shop from sales").n_records == 4
    with pytest.raises(InputError, match="query: say what to ask"):
        tacit.read(path)
    with pytest.raises(FileError, match="cannot be asked: no such table: gone"):
        tacit.read(path, query="select * from gone")
    with pytest.raises(FileError, match="holds no records"):
        tacit.read(path, query="select * from sales where n > 9")
    with pytest.raises(FileError, match=r"nothing.db: no such file"):
        tacit.read("sqlite:///nothing.db", query="select 1")
    assert not (tmp_path / "nothing.db").exists()
    with pytest.raises(FileError) as error:
        tacit.read("postgresql://me:secret@localhost:99999999/db", query="select 1")
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(("kind", "extra"), [("excel", "excel"), ("sql", "sql")])
def test_what_is_not_installed_is_named(tmp_path, monkeypatch, kind, extra):
    path, options = write(kind, tmp_path)
    monkeypatch.setattr(sources, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=rf"pip install 'tacit\[{extra}\]'"):
        tacit.read(path, **options)


@pytest.mark.parametrize("kind", ["ndjson", "excel", "sql"])
def test_scan_says_that_it_does_not_read_them(tmp_path, kind):
    path, _ = write(kind, tmp_path)
    with pytest.raises(FileError, match=r"scan reads Parquet, Arrow IPC, CSV and \.tacit files"):
        tacit.scan(path)
