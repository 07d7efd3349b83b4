"""CSV as people have it: what is found of its layout, that it is said, and that it can be set."""

import logging

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import FileError, InputError

WEATHER = {
    "sky": ["blue", "grey", "grey", "pink"],
    "wind": [1, 2, 3, 1],
    "warm": [True, False, False, True],
}
PLAIN = pl.DataFrame(WEATHER)


def text_of(separator=",", quote=None, end="\n", header=True):
    rows = [list(WEATHER)] if header else []
    rows += [[str(x) for x in row] for row in PLAIN.rows()]
    if quote:
        rows = [[f"{quote}{value}{quote}" for value in row] for row in rows]
    return "".join(separator.join(row) + end for row in rows)


def check(path, caplog, expected, *notes, scans=True, **options):
    """See that a file holds what is expected, read in both ways, and that notes are logged."""
    with caplog.at_level(logging.INFO, logger="tacit.io"):
        caplog.clear()
        frame = tacit.read(path, **options).to_frame("polars")
        assert frame.equals(expected), frame
        said = " ".join(record.getMessage() for record in caplog.records)
        assert len(caplog.records) == bool(notes)
        for note in notes:
            assert note in said
        if notes:
            assert said.startswith(str(path))
        if scans:
            for several in ({}, {"partition_records": 1}):
                scanned = tacit.scan(path, **options, **several).collect().to_frame("polars")
                assert scanned.equals(expected)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "weather.csv"


def test_plain_text_says_nothing(path, caplog):
    path.write_text(text_of())
    check(path, caplog, PLAIN)
    path.write_text(text_of(quote='"').replace('"blue"', '"blue; or, say, red"'))
    frame = PLAIN.with_columns(sky=pl.col("sky").replace("blue", "blue; or, say, red"))
    check(path, caplog, frame)


@pytest.mark.parametrize(
    ("separator", "note", "quote"),
    [
        (";", "';'", None),
        (";", "';'", '"'),
        ("\t", "a tab", None),
        ("\t", "a tab", '"'),
        ("|", "'|'", None),
        ("|", "'|'", '"'),
        (", ", "',' and blanks", None),
    ],
)
def test_separators_are_found(path, caplog, separator, note, quote):
    path.write_text(text_of(separator, quote))
    check(path, caplog, PLAIN, f"separated by {note}")
    check(path, caplog, PLAIN, separator=separator)


def test_single_quotes_are_found(path, caplog):
    path.write_text(text_of(quote="'").replace("'blue'", "'blue, or red'"))
    frame = PLAIN.with_columns(sky=pl.col("sky").replace("blue", "blue, or red"))
    # Numbers between quotes are numbers, as between double ones.
    check(path, caplog, frame, "quoted by")
    check(path, caplog, frame, quote="'")
    path.write_text("name,n\nO'Hara,1\nD'Arcy,2\n")
    assert tacit.read(path).count({"name": "O'Hara"}) == 1


def test_decimal_commas_are_found(path, caplog):
    text = "size;n;name\n1,5;1;a,b\n-2,25;2;c,d\n;3;e\n"
    path.write_text(text)
    cut = {"size": [0.0]}
    expected = tacit.Table(
        {"size": [1.5, -2.25, None], "n": [1, 2, 3], "name": ["a,b", "c,d", "e"]}, discretise=cut
    ).to_frame()
    check(path, caplog, expected, "decimal commas", "';'", discretise=cut)
    check(path, caplog, expected, discretise=cut, decimal=",", separator=";")
    texts = tacit.read(path, decimal=".")
    assert texts.count({"size": "1,5"}) == 1
    # Blanks after separators, and a number that is whole until late.
    path.write_text("size; n\n1; 1\n" + "2; 2\n" * 50 + "1,5; 1\n")
    for table in (
        tacit.read(path, discretise=cut), tacit.scan(path, discretise=cut).collect()
    ):  # fmt: skip
        assert table.n_records == 52


@pytest.mark.parametrize(
    ("encoding", "note"),
    [("utf-8-sig", None), ("latin-1", "Latin-1"), ("cp1252", "Latin-1"), ("utf-16", "UTF-16")],
)
def test_encodings_are_found(path, caplog, encoding, note):
    word = "café" if encoding != "cp1252" else "café – 5 €"
    path.write_text(text_of().replace("blue", word), encoding=encoding)
    expected = PLAIN.with_columns(sky=pl.col("sky").replace("blue", word))
    scans = encoding != "utf-16"
    check(path, caplog, expected, *([note] if note else []), scans=scans)
    if encoding != "utf-8-sig":
        check(path, caplog, expected, encoding=encoding, scans=scans)
    if not scans:
        with pytest.raises(FileError, match="UTF-16 text, which cannot be cut"):
            tacit.scan(path)


def test_damaged_utf8_is_not_taken_for_latin(path):
    path.write_bytes("sky,wind\ncafé,1\n".encode() + b"\xff,2\n")
    with pytest.raises(FileError, match="line 3 is not UTF-8 text"):
        tacit.read(path)
    path.write_bytes(b"a,b\n" + b"x,1\n" * 30_000 + b"\xe9,2\n")
    with pytest.raises(FileError, match="line 30002 is not UTF-8 text; say encoding"):
        tacit.read(path)
    assert tacit.read(path, encoding="latin-1").count({"a": "é"}) == 1
    assert tacit.scan(path, encoding="latin-1").count({"a": "é"}) == 1


def test_a_character_at_the_end_of_what_is_looked_at(path):
    path.write_bytes(b"a,b\n" + b"x,1\n" * 16382 + b"xx\xc3\xa9,2\n")
    assert tacit.read(path).count({"a": "xxé"}) == 1


def test_a_missing_header_is_found(path, caplog):
    path.write_text(text_of(header=False))
    numbered = PLAIN.rename({name: str(k) for k, name in enumerate(PLAIN.columns)})
    check(path, caplog, numbered, "no header: columns are called 0, 1")
    check(path, caplog, numbered, header=False)
    check(path, caplog, PLAIN, "there is no header", names=list(WEATHER))
    with_header = tacit.read(path, header=True)
    assert with_header.schema.names == ("blue", "1", "True")


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("a,b\n1,2\n", True),
        ("x,y\nx,p\nq,x\nx,q\n", True),
        ("0,1,2\n0,1,1\n1,0,1\n", True),
        ("0,1\n0,1\n1,0\n", True),
        ("196,242\n186,302\n22,377\n", False),
        ("city,2010,2015\nRome,3,4\nBonn,5,6\n", True),
        ("0,0,1\n0,1,1\n1,0,1\n", False),
        ("5.1,3.5,Iris\n4.9,3.0,Iris\n", False),
        ("p,x,s\ne,x,s\np,x,f\n", False),
        ("39,State,?\n50,State,7\n", False),
        ("39,State,77516,<=50K\n50,Private,83311,>50K\n38,State,215646,<=50K\n", False),
        ("1,State,2,low\n5,Private,8,low\n3,State,2,high\n", False),
        ("name\nname\nx\n", True),
        ("7\n8\n", True),
        (",a,b\n0,1,2\n1,3,4\n", True),
    ],
)
def test_the_rule_for_headers(path, text, header):
    path.write_text(text)
    n = text.count("\n") - header
    table = tacit.read(path, discretise=2 if "." in text else None)
    assert table.n_records == n


def test_a_comment_in_the_first_line(path, caplog):
    path.write_text("|1x3 Cross validator\n" + text_of())
    check(path, caplog, PLAIN, "the first line is a comment")
    check(path, caplog, PLAIN, skip_lines=1)
    path.write_text("made by hand\nin May\n\n" + text_of())
    check(path, caplog, PLAIN, skip_lines=2)
    path.write_text("#a,b\n1,2\n3,4\n")
    assert tacit.read(path).schema.names == ("#a", "b")
    path.write_text("# x\n" + text_of() + "blue,1\n")
    with pytest.raises(FileError, match="line 7 has 2 fields where 3 are expected"):
        tacit.read(path)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_blank_lines(path, caplog, end):
    path.write_bytes((text_of(end=end) + 3 * end).encode())
    check(path, caplog, PLAIN, *(["lines end in CR"] if end == "\r" else []))
    path.write_bytes(("# note" + end + text_of(";", end=end)).encode())
    notes = ["a comment", "';'", *(["lines end in CR"] if end == "\r" else [])]
    check(path, caplog, PLAIN, *notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decimal": "'"}, "decimal must be"),
        ({"decimal": ",", "separator": ","}, "decimal: a comma cannot be"),
        ({"decimal": ","}, "has commas between values"),
        ({"encoding": "latin-77"}, "encoding: 'latin-77' is not known"),
        ({"skip_lines": -1}, "skip_lines must be a number of lines"),
        ({"header": "yes"}, "header must be True, False or None"),
        ({"quote": "<<"}, "quote must be one character"),
        ({"skip_lines": 99}, "is empty"),
    ],
)
def test_options_that_cannot_be(path, options, message):
    path.write_text(text_of())
    with pytest.raises(InputError, match=message):
        tacit.read(path, **options)
    with pytest.raises(InputError, match=message):
        tacit.scan(path, **options).n_records  # noqa: B018


def test_files_of_one_scan_have_the_same_decimals(tmp_path):
    (tmp_path / "a.csv").write_text("x;y\n1,5;2\n")
    (tmp_path / "b.csv").write_text("x;y\n1.5;2\n")
    with pytest.raises(FileError, match=r"has '\.' in numbers, but"):
        tacit.scan(tmp_path / "*.csv", discretise={"x": [1.0]}).n_records  # noqa: B018


@given(
    rows=st.lists(
        st.tuples(
            st.text("abc;|, é", max_size=4), st.integers(-5, 5), st.sampled_from(["lo", "hi"])
        ),
        min_size=1,
        max_size=12,
    )
)
@settings(max_examples=80, deadline=None)
def test_what_polars_writes_is_read_as_it_was(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    frame = pl.DataFrame(rows, schema=["some text", "number", "level"], orient="row")
    frame.write_csv(path)
    back = tacit.read(path).to_frame("polars")
    strings = frame["some text"].replace("", None)
    assert back["number"].to_list() == frame["number"].to_list()
    assert back["level"].to_list() == frame["level"].to_list()
    assert back["some text"].to_list() in (strings.to_list(), frame["some text"].to_list())


def test_lines_that_are_longer_than_what_is_looked_at(path, caplog):
    n = 50_000
    path.write_text("".join(";".join([value] * n) + "\n" for value in "0110"))
    with caplog.at_level(logging.INFO, logger="tacit.io"):
        table = tacit.read(path)
    assert table.shape == (4, n)
    assert "separated by ';'; there is no header" in caplog.text
