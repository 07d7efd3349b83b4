"""Opening files, compressed or not, so that every error names the file.

How a file is compressed is read from its first bytes, not from its name. Decompression is always
ours and never Polars', which takes a gzip file that is cut off for a short one.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import os
import shutil
import struct
import tempfile
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import polars as pl

from tacit.errors import FileError, InputError
from tacit.forks import check_fork
from tacit.machine import available_memory, human_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "POLARS_ERRORS",
    "PathLike",
    "Version",
    "first_line",
    "is_compressed",
    "naming",
    "on_disk",
    "opened",
    "read_whole",
    "uncompressed_name",
]

PathLike: TypeAlias = "str | os.PathLike[str]"

POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
_SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd", ".zip": "zip"}
_MAGIC = {
    b"\x1f\x8b": "gzip",
    **{b"BZh%d1AY&SY" % level: "bzip2" for level in range(1, 10)},
    **{b"BZh%d\x17\x72\x45\x38\x50\x90" % level: "bzip2" for level in range(1, 10)},  # of nothing
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
}
_CHUNK = 1 << 22  # bytes that are decompressed at a time
_KEPT_FREE = 0.05  # of the disk, whatever a file says, but no more than
_MOST_KEPT = 1 << 28  # bytes: most of a large disk may well be in use
_COPIES = 8  # bytes, text and what it says take so many times what is read
_DAMAGE = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, struct.error)


@contextmanager
def naming(path: PathLike) -> Iterator[None]:
    """Turn errors from inside into errors that name the file."""
    try:
        yield
    except FileError:
        raise
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    except _DAMAGE as error:
        raise FileError(path, f"is damaged or cut off: {error}") from error
    except UnicodeDecodeError as error:
        raise FileError(path, f"is not UTF-8 text ({error.reason})") from error
    except POLARS_ERRORS as error:
        raise FileError(path, f"cannot be read: {first_line(error)}") from error
    except OSError as error:
        # gzip and bz2 report damage as an OSError without a number.
        problem = error.strerror if error.errno else f"is damaged: {error}"
        raise FileError(path, str(problem)) from error


def first_line(error: BaseException) -> str:
    """Return what an error says, without the advice that Polars adds below."""
    return str(error).strip().partition("\n")[0] or type(error).__name__


def uncompressed_name(path: PathLike) -> str:
    """Return a file's name without what says that it is compressed.

    >>> uncompressed_name("data/adult.csv.xz")
    'adult.csv'
    """
    name = PurePath(path).name
    stem, dot, suffix = name.rpartition(".")
    if not stem or f"{dot}{suffix}".lower() not in _SUFFIXES:
        return name
    if suffix.lower() == "zip" and "." not in stem and zipfile.is_zipfile(path):
        with naming(path), _archive(path) as archive:
            return PurePath(_only_member(path, archive)).name
    return stem


def _compression(path: PathLike) -> str | None:
    """Return how a file is compressed, or None; says so if there is no such file."""
    check_fork(f"reading {path}")
    file = Path(path)
    if not file.exists():
        raise FileError(path, "no such file")
    if file.is_dir():
        raise FileError(path, "is a folder, not a file")
    with file.open("rb") as stream:
        head = stream.read(10)
    if not head:
        raise FileError(path, "is empty")
    kind = next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)
    claimed = _SUFFIXES.get(file.suffix.lower())
    if claimed is not None and kind != claimed:
        raise FileError(path, f"is not compressed with {claimed}, in spite of its name")
    return kind


def is_compressed(path: PathLike) -> bool:
    """Return whether a file, which has to be there, is compressed."""
    return _compression(path) is not None


def _archive(path: PathLike) -> zipfile.ZipFile:
    with _unpacking_errors(path):
        return zipfile.ZipFile(path)


@contextmanager
def _unpacking_errors(path: PathLike) -> Iterator[None]:
    try:
        yield
    except (RuntimeError, NotImplementedError) as error:  # encrypted, or packed otherwise
        raise FileError(path, f"cannot be decompressed: {error}") from error


def _only_member(path: PathLike, archive: zipfile.ZipFile) -> str:
    # Folders end with a slash; is_dir() fails where a name was damaged to nothing.
    members = [name for name in archive.namelist() if not name.endswith("/")]
    if len(members) != 1:
        shown = ", ".join(members[:5]) + (", …" if len(members) > 5 else "")
        raise FileError(path, f"holds {len(members)} files ({shown}); give one that holds one")
    return members[0]


@contextmanager
def opened(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, decompressed on the way."""
    kind = _compression(path)
    stream: Any
    if kind == "zip":
        with _archive(path) as archive:
            with _unpacking_errors(path):
                stream = archive.open(_only_member(path, archive))
            with stream:
                yield stream
        return
    openers: dict[str | None, Callable[..., Any]] = {
        None: open, "gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open
    }  # fmt: skip
    if kind == "zstd":
        try:
            openers["zstd"] = importlib.import_module("compression.zstd").open
        except ModuleNotFoundError:
            raise FileError(path, "is compressed with zstd, which takes Python 3.14") from None
    with openers[kind](path, "rb") as stream:
        yield stream


def read_whole(path: PathLike) -> bytes:
    """Return all of a file, decompressed, as long as memory has room for what is made of it."""
    parts, size = [], 0
    with naming(path), opened(path) as stream:
        while data := stream.read(_CHUNK):
            parts.append(data)
            size += len(data)
            room = available_memory()
            if room is not None and _COPIES * size > room:
                raise FileError(
                    path,
                    f"holds more than {human_bytes(size)}, decompressed, of which "
                    f"{human_bytes(room)} of free memory cannot hold {_COPIES} copies",
                )
    return b"".join(parts)


@contextmanager
def on_disk(path: PathLike) -> Iterator[Path]:
    """Give a file that is not compressed: itself, or a temporary one that goes away."""
    if _compression(path) is None:
        yield Path(path)
        return
    with tempfile.TemporaryDirectory(prefix="tacit-") as folder:
        plain = Path(folder) / "plain"
        with opened(path) as source, plain.open("wb") as target:
            while data := source.read(_CHUNK):
                disk = shutil.disk_usage(folder)
                if disk.free < min(disk.total * _KEPT_FREE, _MOST_KEPT) + len(data):
                    raise FileError(
                        path,
                        f"takes more than {human_bytes(target.tell())} when it is decompressed, "
                        f"and {human_bytes(disk.free)} are free in {tempfile.gettempdir()}",
                    )
                target.write(data)
        if plain.stat().st_size == 0:
            raise FileError(path, "is empty")
        yield plain


@dataclass(frozen=True)
class Version:
    """What tells a file from another that replaces it: its size, and when it was written."""

    size: int
    written: int  # in nanoseconds

    @classmethod
    def of(cls, path: PathLike) -> Version:
        """Return the version of a file as it is now."""
        try:
            status = os.stat(path)  # noqa: PTH116
        except FileNotFoundError:
            raise FileError(path, "no such file") from None
        return cls(status.st_size, status.st_mtime_ns)

    def check(self, path: PathLike) -> None:
        """Refuse a file that is not there any more, or not the same."""
        try:
            now = Version.of(path)
        except FileError:
            raise FileError(path, "is not there any more") from None
        if now.size != self.size:
            raise FileError(
                path,
                f"has changed since it was opened: it had {self.size:,} bytes and has {now.size:,}",
            )
        if now != self:
            raise FileError(path, "has changed since it was opened: it was written again")
