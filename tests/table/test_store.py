"""Files: what is saved comes back, and what is damaged is an error that names the file."""

import datetime as dt
import errno
import json
import os
import struct
from contextlib import contextmanager
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from polars.testing import assert_frame_equal
from safetensors.numpy import save_file

import tacit
from support.strategies import assert_identical, data
from tacit import FileError, InputError, Table, store

BERLIN = ZoneInfo("Europe/Berlin")


def assert_same(table, expected):
    assert table.schema == expected.schema
    assert_identical(table.indptr, expected.indptr)
    assert_identical(table.values, expected.values)
    assert (table.weights is None) == (expected.weights is None)
    if expected.weights is not None:
        assert_identical(table.weights, expected.weights)


def small_table():
    return Table({"a": ["x", "y", "x"], "b": [1, None, 2]}, weights=[0.5, 1.0, 2.0])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some table.tacit"


@given(d=data(with_chosen=False))
@settings(max_examples=25)
def test_a_saved_table_comes_back(tmp_path_factory, d):
    path = tmp_path_factory.mktemp("store") / "t"
    table = d.table()
    table.save(path)
    assert_same(tacit.load(path), table)
    assert_same(tacit.load(str(path), verify=False), table)


label_types = {
    "strings": ["b", "a", None, "", "é", "\0", 'quote" and \\ slash\n'],
    "integers": [-(2**63), 2**63 - 1, None, 0],
    "large integers": pl.Series([2**64 - 1, 0, None], dtype=pl.UInt64),
    "floats": [1.0, -1e300, None, 2.0**-0],
    "booleans": [True, False, None],
    "dates": [dt.date(1, 1, 1), dt.date(9999, 12, 31), None],
    "datetimes": [dt.datetime(1, 1, 1), dt.datetime(2020, 1, 1, 1, 2, 3, 4), None],
    "datetimes with zone": [dt.datetime(2020, 1, 1, tzinfo=BERLIN), None],
    "datetimes with summer": [dt.datetime(2020, 7, 1, tzinfo=BERLIN), None],
    "times": [dt.time(0, 0, 0, 1), dt.time(23, 59, 59, 999_999), None],
    "durations": [dt.timedelta(days=-3, microseconds=1), dt.timedelta(days=9999), None],
    "enumerations": pl.Series(["b", None, "a"], dtype=pl.Enum(["c", "b", "a"])),
    "categories": pl.Series(["b", None, "a"], dtype=pl.Categorical),
    "nothing": pl.Series([None, None], dtype=pl.Null),
}


@pytest.mark.parametrize("values", label_types.values(), ids=label_types)
def test_labels_keep_their_types(path, values):
    frame = pl.DataFrame({"x": values})
    table = Table(frame)
    table.save(path)
    loaded = tacit.load(path)
    assert_same(loaded, table)
    for label, given_label in zip(loaded.schema["x"].labels, table.schema["x"].labels, strict=True):
        assert type(label) is type(given_label)
    assert_frame_equal(loaded.to_frame(), frame)


def test_an_hour_that_a_clock_shows_twice_comes_back(path):
    hours = [dt.datetime(2021, 10, 31, h, 30) for h in (0, 1, 2)]
    series = pl.Series(hours).dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Berlin")
    table = Table(pl.DataFrame({"x": series}))
    table.save(path)
    assert_frame_equal(tacit.load(path).to_frame(), table.to_frame())
    assert tacit.load(path).schema == table.schema


@pytest.mark.parametrize("mmap", [False, True])
def test_loaded_arrays_are_read_only_and_views_of_the_file_if_asked_for(path, mmap):
    small_table().save(path)
    table = tacit.load(path, mmap=mmap)
    for array in (table.indptr, table.values):
        assert not array.flags.writeable
        owner = array
        while isinstance(owner, np.ndarray) and not isinstance(owner, np.memmap):
            owner = owner.base
        assert isinstance(owner, np.memmap) == mmap
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_loaded_table_counts_like_the_saved_one(path):
    rng = np.random.default_rng(4)
    table = Table(rng.integers(0, 3, (200, 6)), weights=rng.random(200))
    table.save(path)
    assert_identical(tacit.load(path).pairs().stored, table.pairs().stored)


def test_saving_over_a_loaded_file_leaves_what_was_loaded_alone(path):
    table = small_table()
    table.save(path)
    loaded = tacit.load(path)
    Table({"other": [1, 2, 3, 4] * 50}).save(path)
    assert_same(loaded, table)
    assert tacit.load(path).schema.names == ("other",)


def test_a_failing_write_leaves_the_old_file_and_nothing_else(path, monkeypatch):
    small_table().save(path)
    before = path.read_bytes()

    def write_half(name, arrays, metadata):
        name.write_bytes(b"half a file")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store, "_write_file", write_half)
    with pytest.raises(FileError, match="cannot be written: No space left"):
        Table({"other": [1, 2]}).save(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_write_that_fails_at_the_last_step_leaves_nothing_behind(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises((OSError, InputError)):
        small_table().save(tmp_path / "folder")
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def test_files_are_readable_as_the_users_mask_says(path):
    mask = os.umask(0o027)
    try:
        small_table().save(path)
    finally:
        os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"the folder .*nowhere' does not exist"):
        small_table().save(tmp_path / "nowhere" / "t")


def test_names_that_cannot_be_written_are_refused(path):
    with pytest.raises(InputError, match="name"):
        Table.from_baskets([["\ud800"], ["b"]]).save(path)
    assert not path.exists()


# Damage


def read_or_error(path, verify=True):
    """Return the loaded table, or None if it was refused as it should be."""
    problem = None
    try:
        return tacit.load(path, verify=verify)
    except FileError as error:
        problem = error
    assert str(path) in str(problem)
    assert problem.path == path
    return None


def test_every_truncation_is_refused(path):
    small_table().save(path)
    for length in reversed(range(path.stat().st_size)):
        os.truncate(path, length)
        assert read_or_error(path) is None, length


def header_length(content):
    return 8 + struct.unpack("<Q", content[:8])[0]


@contextmanager
def changed_byte(path, place, new, old):
    """Change one byte of a file where it stands, and change it back."""
    with path.open("r+b", buffering=0) as file:
        for byte in (new, old):
            file.seek(place)
            file.write(bytes([byte]))
            if byte == new:
                yield


def substitutes(old, in_header):
    """Return other values for a byte: all single bits flipped, and in JSON whatever has meaning."""
    flipped = {old ^ (1 << bit) for bit in range(8)} | {old ^ 0xFF}
    if in_header:
        flipped |= set(b'09 "},IUFB')
    return sorted(flipped - {old})


def test_every_changed_byte_is_an_error_or_makes_no_difference(path):
    table = small_table()
    table.save(path)
    content = path.read_bytes()
    body = header_length(content)
    harmless = []
    for place, old in enumerate(content):
        for new in substitutes(old, 8 <= place < body):
            with changed_byte(path, place, new, old):
                loaded = read_or_error(path)
                if loaded is not None:
                    harmless.append(place)
                    assert_same(loaded, table)
    # Only in the header can anything be left to chance; what arrays hold is under a checksum.
    assert all(place < body for place in harmless)


def test_every_removed_or_doubled_byte_of_the_header_is_an_error_or_makes_no_difference(path):
    table = small_table()
    table.save(path)
    content = path.read_bytes()
    for place in range(header_length(content)):
        for middle in (b"", content[place : place + 1] * 2):
            path.write_bytes(content[:place] + middle + content[place + 1 :])
            loaded = read_or_error(path)
            if loaded is not None:
                assert_same(loaded, table)


def test_unverified_files_are_still_checked_for_structure(path):
    small_table().save(path)
    content = path.read_bytes()
    body = header_length(content)
    for place in range(body, len(content)):
        for new in substitutes(content[place], in_header=False):
            with changed_byte(path, place, new, content[place]):
                table = read_or_error(path, verify=False)
                if table is not None:  # another table, but a sound one
                    Table.from_stored(table.schema, table.indptr, table.values, table.weights)
                    assert table.one_way().total >= 0


foreign = {
    "empty": b"",
    "short": b"tacit",
    "text": b"colour,size\nred,1\nblue,2\n" * 10,
    "zip": b"PK\x03\x04" + bytes(200),
    "huge header": struct.pack("<Q", 2**63) + b"{}",
    "no JSON": struct.pack("<Q", 4) + b"nope",
    "no object": struct.pack("<Q", 2) + b"[]",
    "no metadata": struct.pack("<Q", 2) + b"{}",
    "a number for metadata": struct.pack("<Q", 18) + b'{"__metadata__":5}',
    "deep": struct.pack("<Q", 20_000) + b"[" * 20_000,
    "no UTF-8": struct.pack("<Q", 4) + b"\xff\xfe\xfd\xfc",
}


@pytest.mark.parametrize("content", foreign.values(), ids=foreign)
def test_foreign_files_are_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(FileError, match="not a tacit file") as caught:
        tacit.load(path)
    assert str(path) in str(caught.value)


def test_files_of_others_in_the_same_format_are_refused(path):
    save_file({"weight": np.zeros(3)}, path)
    with pytest.raises(FileError, match="not a tacit file"):
        tacit.load(path)
    save_file({"weight": np.zeros(3)}, path, metadata={"format": "pt"})
    with pytest.raises(FileError, match="not a tacit file"):
        tacit.load(path)


def test_what_is_not_there_is_refused(tmp_path):
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(FileError, match="no such file"):
            tacit.load(path)


def test_a_future_format_is_named(path):
    save_file({}, path, metadata={"tacit": "2", "kind": "table"})
    with pytest.raises(FileError, match="has format '2'; this version of tacit reads '1'"):
        tacit.load(path)


def test_an_unknown_kind_is_named(path):
    store.write_arrays(path, "forest", {"x": np.zeros(2)})
    with pytest.raises(FileError, match="holds a 'forest', which this version of tacit does not"):
        tacit.load(path)


# Files with sound checksums that still make no table

GOOD_SCHEMA = {
    "names": ["a", "b"],
    "labels": [0, 0],
    "defaults": [0, 0],
    "sets": [{"dtype": "String", "items": ["x", "y"]}],
}
GOOD_ARRAYS = {"indptr": np.array([0, 2, 2]), "values": np.array([0, 1], np.uint16)}


def write(path, changes, arrays):
    text = json.dumps(GOOD_SCHEMA | changes)
    changed = GOOD_ARRAYS | {"schema": np.frombuffer(text.encode(), np.uint8)} | arrays
    store.write_arrays(path, "table", {k: v for k, v in changed.items() if v is not None})


def test_a_file_written_by_hand_is_fine_if_all_of_it_is(path):
    write(path, {}, {})
    assert tacit.load(path).to_frame().rows() == [("y", "y"), ("x", "x")]


def labels(*items, dtype="String"):
    return {"sets": [{"dtype": dtype, "items": list(items)}]}


unsound = {
    "no values": ({}, {"values": None}, "it has no 'values'"),
    "no schema": ({}, {"schema": None}, "it has no 'schema'"),
    "wrong value type": ({}, {"values": np.array([0, 1], np.uint32)}, "the wrong types"),
    "wrong offset type": ({}, {"indptr": np.array([0, 2, 2], np.int32)}, "the wrong types"),
    "wrong weight type": ({}, {"weights": np.array([1, 2])}, "wrong type"),
    "unsorted": ({}, {"values": np.array([1, 0], np.uint16)}, "row 0 is not sorted"),
    "value beyond": ({}, {"values": np.array([0, 2], np.uint16)}, r"not in \[0, 2\)"),
    "offsets": ({}, {"indptr": np.array([0, 3, 2])}, "indptr must not decrease"),
    "no records": ({}, {"indptr": np.array([0]), "values": np.zeros(0, np.uint16)}, "no records"),
    "matrix": ({}, {"values": np.array([[0, 1]], np.uint16)}, "one dimension"),
    "weights": ({}, {"weights": np.ones(3)}, r"weights must have shape \(2,\)"),
    "negative weights": ({}, {"weights": -np.ones(2)}, "finite and not negative"),
    "names": ({"names": ["a"]}, {}, "equally many|schema"),
    "names twice": ({"names": ["a", "a"]}, {}, "distinct"),
    "names of numbers": ({"names": [1, 2]}, {}, "names a column"),
    "no names": ({"names": None}, {}, "schema cannot be read"),
    "default beyond": ({"defaults": [0, 2]}, {}, "a default that cannot be"),
    "default negative": ({"defaults": [0, -1]}, {}, "a default that cannot be"),
    "labels beyond": ({"labels": [0, 1]}, {}, "schema cannot be read"),
    "no labels": (labels(), {}, "labels must not be empty"),
    "labels twice": (labels("x", "x"), {}, "distinct"),
    "missing not last": (labels(None, "x"), {}, "is damaged"),
    "label of lists": (labels([1], [2]), {}, "not a scalar"),
    "label of unknown kind": (labels({"datum": "x"}, "y"), {}, "schema cannot be read"),
    "impossible date": (labels({"date": "2020-13-01"}, "y"), {}, "schema cannot be read"),
    "impossible duration": (labels({"timedelta": [10**12, 0, 0]}, "y"), {}, "is damaged"),
    "unknown type": (labels("x", "y", dtype="read_csv"), {}, "is damaged"),
}


@pytest.mark.parametrize(("changes", "arrays", "message"), unsound.values(), ids=unsound)
def test_arrays_that_make_no_table_are_refused(path, changes, arrays, message):
    write(path, changes, arrays)
    with pytest.raises(FileError, match=message) as caught:
        tacit.load(path)
    assert str(path) in str(caught.value)
