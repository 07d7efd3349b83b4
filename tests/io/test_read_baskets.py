"""Basket files against `Table.from_baskets`."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.comparing import assert_same
from tacit import FileError, InputError, Table, read, read_baskets


@pytest.fixture
def path(tmp_path):
    return tmp_path / "shop.dat"


@pytest.mark.parametrize("size", [1, 2, 5, 1 << 20])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_a_line_is_a_basket(path, size, end, last):
    lines = ["milk bread", "", "tea  milk\tmilk ", " bread", "é"]
    path.write_bytes((end.join(lines) + (end if last else "")).encode())
    table = read_baskets(path, chunk_bytes=size)
    assert_same(table, Table.from_baskets([line.split() for line in lines]))
    assert table.schema.names == ("bread", "milk", "tea", "é")


def test_whole_numbers_are_sorted_as_numbers(path):
    path.write_text("10 9\n-3 007 7\n")
    table = read_baskets(path)
    assert table.schema.names == ("-3", "007", "7", "9", "10")
    assert table.to_numpy().tolist() == [[0, 0, 0, 1, 1], [1, 1, 1, 0, 0]]
    path.write_text("10 9\nx\n")
    assert read_baskets(path).schema.names == ("10", "9", "x")


items = st.text(alphabet="ab1é,\"' ", min_size=1, max_size=3).map(str.strip).filter(bool)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(st.lists(st.lists(items, max_size=5), min_size=1, max_size=8), st.integers(1, 40))
def test_quoted_items_in_chunks_of_any_size(tmp_path, baskets, size):
    if not any(baskets):
        baskets[0] = ["a"]
    lines = [",".join('"{}"'.format(x.replace('"', '""')) for x in basket) for basket in baskets]
    path = tmp_path / "x.csv"
    path.write_text("\n".join(lines) + "\n")
    table = read_baskets(path, chunk_bytes=size, separator=",")
    expected = Table.from_baskets(baskets)
    assert_same(table, expected.select(table.schema.names))


def test_the_separator_is_found(path):
    path.write_text("\nwhole milk, rolls\n,\nrolls,,whole milk\n")
    table = read_baskets(path)
    assert_same(
        table, Table.from_baskets([[], ["whole milk", "rolls"], [], ["rolls", "whole milk"]])
    )
    path.write_text("whole milk;rolls\nrolls\n")
    assert read_baskets(path, separator=";").schema.names == ("rolls", "whole milk")


def test_defaults_empty_lines_and_threads(path):
    path.write_text("a b\n\na\na\n")
    assert read_baskets(path, defaults=None).schema["a"].default_label is True
    assert read_baskets(path, defaults={"b": True}).schema["b"].default_label is True
    assert read_baskets(path).n_records == 4
    assert read_baskets(path, skip_empty=True).n_records == 3
    assert_same(read(path, n_jobs=3), read_baskets(path, n_jobs=None))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "holds no items"),
        (b"a b\nc \xff\n", "line 2 is not UTF-8 text"),
        (b"a b\nc \x00\n", "is not a text file: it holds zero bytes"),
        (b'a,b\nc,"d\n', "line 2: unexpected end of data"),
        (b'a,b\n"c"d,e\n', "line 2: .*expected after"),
    ],
)
def test_bad_files(path, content, message):
    path.write_bytes(content)
    for size in (1, 1 << 20):
        with pytest.raises(FileError, match=f"shop.dat: {message}"):
            read_baskets(path, chunk_bytes=size)


def test_arguments_are_checked(path):
    path.write_text("a\n")
    for options, message in [
        ({"separator": ""}, "separator must be"),
        ({"separator": 3}, "separator must be"),
        ({"chunk_bytes": 0}, "chunk_bytes must be"),
        ({"chunk_bytes": True}, "chunk_bytes must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"defaults": {"z": True}}, "shop.dat: defaults: there is no column 'z'"),
    ]:
        with pytest.raises(InputError, match=message):
            read_baskets(path, **options)
