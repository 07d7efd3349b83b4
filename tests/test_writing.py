"""Files are written in full or not at all; what reads strangers' files can do so elsewhere."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tacit
from support.commands import run
from tacit import store, writing
from tacit.io import isolated
from tacit.machine import _free_in_groups
from tacit.store import seal_of

OLD = b"what was there before"


def small_table():
    return tacit.Table({"sky": ["blue", "grey", "grey"], "n": [1, 2, 3]})


def test_permissions_and_links_are_kept(tmp_path):
    real, link, dangling = tmp_path / "real.tacit", tmp_path / "link.tacit", tmp_path / "to"
    small_table().save(real)
    real.chmod(0o600)
    link.symlink_to(real.name)
    dangling.symlink_to(tmp_path / "new.tacit")
    tacit.Table({"other": [1, 2]}).save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600
    assert tacit.load(real).schema.names == ("other",)
    small_table().save(dangling)
    assert dangling.is_symlink()
    assert tacit.load(tmp_path / "new.tacit").n_records == 3


def test_links_that_go_in_circles_and_names_that_cannot_be(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.symlink_to(two)
    two.symlink_to(one)
    with pytest.raises(tacit.InputError, match=r"path: .*one' is a link that leads back to itself"):
        small_table().save(one)
    assert one.is_symlink()
    assert two.is_symlink()
    with pytest.raises(tacit.InputError, match=r"path: 'a\\x00b' has the character"):
        small_table().save("a\0b")


@pytest.mark.parametrize("call", ["is_file", "open"])
def test_a_file_that_must_not_be_read(tmp_path, monkeypatch, call):
    path = tmp_path / "a.tacit"
    small_table().save(path)

    def refuse(self, *given, **options):
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, call, refuse)
    with pytest.raises(tacit.FileError, match=r"a\.tacit: cannot be read: Permission denied"):
        tacit.load(path)
    if call == "open":
        with pytest.raises(tacit.FileError, match=r"a\.tacit: cannot be read: Permission denied"):
            seal_of(path)


@pytest.mark.parametrize("length", [246, 250, 255])
def test_names_may_be_as_long_as_the_system_allows(tmp_path, length):
    path = tmp_path / ("é" * 60 + "n" * (length - 126) + ".tacit")
    assert len(os.fsencode(path.name)) == length
    small_table().save(path)
    assert tacit.load(path).n_records == 3
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(tacit.FileError, match=r"cannot be written: File name too long"):
        small_table().save(path.with_name("x" * 300))


def test_a_name_that_is_no_text(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.tacit")
    small_table().save(path)
    assert tacit.load(path).n_records == 3


def test_a_pipe_is_written_to(tmp_path):
    small_table().save("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)  # noqa: PTH116


def test_a_pipe_without_a_name_is_written_to():
    code = "from tacit.writing import write_text; write_text('/dev/stdout', 'text')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "text"


class FailingFile:
    """A file system that is full after some bytes, or fails at a call."""

    def __init__(self, monkeypatch, n_bytes):
        self.left = n_bytes
        self.real = os.write
        monkeypatch.setattr(store, "_write_file", self.write_file)

    def write_file(self, path, arrays, metadata):
        data = b"".join(array.tobytes() for array in arrays.values())
        path.write_bytes(data[: self.left])
        if len(data) > self.left:
            raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("n_bytes", [0, 1, 40])
def test_a_full_disk_while_saving(tmp_path, monkeypatch, n_bytes):
    path = tmp_path / "table.tacit"
    path.write_bytes(OLD)
    FailingFile(monkeypatch, n_bytes)
    with pytest.raises(tacit.FileError, match=r"table\.tacit: cannot be written: No space left"):
        small_table().save(path)
    assert path.read_bytes() == OLD
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("call", ["open", "fsync", "replace", "chmod"])
@pytest.mark.parametrize("nth", [0, 1])
def test_every_call_of_a_save_may_fail(tmp_path, monkeypatch, call, nth):
    """Whatever the n-th call of a kind says: the old file, or the new one, and nothing else."""
    path = tmp_path / "table.tacit"
    small_table().save(path)
    calls = iter([None] * nth + [errno.EIO])
    real = getattr(os, call)

    def fails(*given, **options):
        if (number := next(calls, None)) is not None:
            raise OSError(number, os.strerror(number))
        return real(*given, **options)

    monkeypatch.setattr(os, call, fails)
    try:
        tacit.Table({"other": [1, 2]}).save(path)
    except tacit.FileError as error:
        assert "Input/output error" in str(error)  # noqa: PT017
    monkeypatch.undo()
    assert tacit.load(path).schema.names in (("sky", "n"), ("other",))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.html", "out.png", "out.svg"])
def test_commands_leave_the_old_file_where_they_fail(tmp_path, monkeypatch, name):
    small_table().save(tmp_path / "t.tacit")
    (tmp_path / "d.csv").write_text("a,b\n" + "1,x\n2,y\n3,z\n" * 9)
    path = tmp_path / name
    path.write_bytes(OLD)
    path.chmod(0o600)

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    table = name.endswith((".csv", ".parquet", ".png"))
    option = "--plot" if name.endswith(".png") else "-o"
    command = (
        ["table", tmp_path / "t.tacit", "sky", option, path]
        if table
        else ["tree", tmp_path / "d.csv", "--target", "b", "-o", path]
    )
    monkeypatch.setattr(writing.os, "fsync", full)
    result = run(*command)
    assert result.exit_code == 1, result.output
    assert "cannot be written: No space left on device" in result.output.replace("\n", " ")
    monkeypatch.undo()
    assert path.read_bytes() == OLD
    assert run(*command).exit_code == 0
    assert path.read_bytes() != OLD
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(list(tmp_path.iterdir())) == 3


def test_a_header_that_claims_more_than_there_is(tmp_path):
    folder = tmp_path / "parts"
    tacit.scale.partition(small_table(), 2).materialise(folder)
    part = min(folder.glob("part-*"))
    data = part.read_bytes()
    for length in (2**63, 2**62, 2**40, len(data)):
        part.write_bytes(length.to_bytes(8, "little") + data[8:])
        with pytest.raises(tacit.FileError, match=rf"{part.name}: is damaged: its header"):
            tacit.scan(folder).one_way()


def test_a_shape_of_truth_values_is_no_shape(tmp_path):
    path = tmp_path / "t.tacit"
    small_table().save(path)
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = data[8 : 8 + length].replace(b'"shape":[4]', b'"shape":[true]')
    assert len(header) == length + 3
    path.write_bytes(len(header).to_bytes(8, "little") + header + data[8 + length :])
    with pytest.raises(tacit.FileError, match="is damaged"):
        tacit.load(path)


def test_reading_in_a_process_of_its_own(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    frame = pl.DataFrame({"a": [0, 1, 2] * 5, "b": ["x", "y", "z"] * 5})
    frame.write_parquet(path)
    table = tacit.read(path, isolated=True, columns=["b"], defaults={"b": "y"})
    expected = tacit.read(path, columns=["b"], defaults={"b": "y"})
    assert table.schema == expected.schema
    assert np.array_equal(table.values, expected.values)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(tacit.FileError, match=r"a\.parquet: is damaged or cut off"):
        tacit.read(path, isolated=True)
    frame.write_parquet(path)
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        tacit.read(path, isolated=True, columns=5)  # which the file has no part in
    with pytest.raises(tacit.InputError, match="isolated: the options cannot be sent"):
        tacit.read(path, isolated=True, columns=lambda: 1)
    monkeypatch.setattr(isolated, "_MODULE", "this")  # which writes no table
    with pytest.raises(tacit.FileError, match="the process that read it ended with 0"):
        tacit.read(path, isolated=True)


def test_memory_of_control_groups(tmp_path):
    """The tightest group counts, those above it as well; pages of files are free."""
    group = tmp_path / "cgroup" / "user" / "job"
    group.mkdir(parents=True)
    (tmp_path / "self").write_text("0::/user/job\n")
    assert _free_in_groups(tmp_path / "self", tmp_path / "cgroup") is None
    (group / "memory.max").write_text("max\n")
    (group / "memory.current").write_text("500\n")
    (group.parent / "memory.max").write_text("2000\n")
    (group.parent / "memory.current").write_text("1500\n")
    assert _free_in_groups(tmp_path / "self", tmp_path / "cgroup") == 500
    (group.parent / "memory.stat").write_text("anon 7\ninactive_file 300\n")
    assert _free_in_groups(tmp_path / "self", tmp_path / "cgroup") == 800
    first = tmp_path / "cgroup" / "memory" / "box"
    first.mkdir(parents=True)
    (first / "memory.limit_in_bytes").write_text("1000\n")
    (first / "memory.usage_in_bytes").write_text("900\n")
    (tmp_path / "self").write_text("5:cpu,cpuacct:/box\n9:memory:/box\n0::/user/job\n")
    assert _free_in_groups(tmp_path / "self", tmp_path / "cgroup") == 100
