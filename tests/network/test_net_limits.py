"""Small files of nets that claim, or hold, more than memory does."""

import gzip
import re
import sys

import pytest

from tacit import BayesNet, FileError, machine
from tacit.io import opening


def many_parents(n, rows):
    """A column of n binary parents, of whose rows a file says this."""
    names = [f"a{k}" for k in range(n)]
    lines = [f"variable {name} {{ type discrete [ 2 ] {{ y, n }}; }}" for name in [*names, "z"]]
    lines += [f"probability ( {name} ) {{ table 0.5, 0.5; }}" for name in names]
    return "\n".join([*lines, f"probability ( z | {', '.join(names)} ) {{ {rows} }}"]) + "\n"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "net.bif"


@pytest.fixture
def short_numbers():
    """Have numbers of more than 640 digits not be written, as it is with those of 4,300."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    yield
    sys.set_int_max_str_digits(before)


@pytest.mark.parametrize(
    ("n", "rows", "problem"),
    [
        (29, "table 0.5, 0.5;", "has 536,870,912 rows, of which nearly all are missing"),
        (29, "default 0.5, 0.5;", "would take 30.1 GB, but 1.0 GB of memory are available"),
        (30, "default 0.5, 0.5; property p;", "would take 60.1 GB"),
        (31, "default 0.5, 0.5;", "would have more than 2,147,483,648 cells"),
        (2_500, "default 0.5, 0.5;", "would have more than 2,147,483,648 cells"),
    ],
)
def test_a_table_that_does_not_fit(path, monkeypatch, short_numbers, n, rows, problem):
    monkeypatch.setattr(machine, "available_memory", lambda: 10**9)
    path.write_text(many_parents(n, rows))
    with pytest.raises(FileError, match=rf"line {2 * n + 2}: the table of 'z' {problem}"):
        BayesNet.read_bif(path)


def test_a_default_fills_what_fits(path):
    path.write_text(many_parents(10, "(y, y, y, y, y, y, y, y, y, y) 1, 0; default 0.25, 0.75;"))
    table = BayesNet.read_bif(path).table("z").reshape(-1, 2)
    assert table[0].tolist() == [1, 0]
    assert (table[1:] == [0.25, 0.75]).all()
    assert len(table) == 1024


def test_an_xml_table_of_very_many_cells(tmp_path, short_numbers):
    path = tmp_path / "net.xml"
    names = [f"a{k}" for k in range(2_500)]
    of = "<OUTCOME>y</OUTCOME><OUTCOME>n</OUTCOME>"
    columns = "".join(f"<VARIABLE><NAME>{name}</NAME>{of}</VARIABLE>" for name in [*names, "z"])
    given = "".join(f"<GIVEN>{name}</GIVEN>" for name in names)
    tables = f"<DEFINITION><FOR>z</FOR>{given}<TABLE>1 0</TABLE></DEFINITION>" + "".join(
        f"<DEFINITION><FOR>{name}</FOR><TABLE>1 0</TABLE></DEFINITION>" for name in names
    )
    path.write_text(f"<BIF><NETWORK>{columns}{tables}</NETWORK></BIF>")
    with pytest.raises(FileError, match="the table of 'z' would have more than"):
        BayesNet.read_xmlbif(path)


def test_notes_that_are_nested_too_deeply_are_none(path, tmp_path):
    deep = "[" * 100_000
    text = many_parents(1, "(y) 1, 0; (n) 0, 1;").replace(
        "y, n }; }", f"y, n }};\n// tacit {deep}\n}}"
    )
    path.write_text(text)
    assert BayesNet.read_bif(path).column_names_ == ("a0", "z")
    xml = tmp_path / "net.xml"
    BayesNet.read_bif(path).save_xmlbif(xml)
    note = f"<PROPERTY>tacit = {deep}</PROPERTY></VARIABLE>"
    xml.write_text(xml.read_text().replace("</VARIABLE>", note))
    assert BayesNet.read_xmlbif(xml).column_names_ == ("a0", "z")


@pytest.mark.parametrize("suffix", [".bif.gz", ".xml.gz"])
def test_little_that_unpacks_to_much(tmp_path, monkeypatch, suffix):
    path = tmp_path / f"net{suffix}"
    path.write_bytes(gzip.compress(b" " * 40_000_000))
    monkeypatch.setattr(opening, "available_memory", lambda: 10**8)
    read = BayesNet.read_xmlbif if "xml" in suffix else BayesNet.read_bif
    problem = rf"net{re.escape(suffix)}: holds more than 1[0-9]\.[0-9] MB, decompressed"
    with pytest.raises(FileError, match=problem):
        read(path)
