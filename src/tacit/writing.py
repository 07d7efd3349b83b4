"""Files are written in full or not at all, whatever happens meanwhile.

What is written goes to a new file beside the old one, to the disk, and only then to its name. A
process that is killed leaves the old file, and perhaps a new one whose name begins with a dot.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import FileError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["sync_folder", "write_text", "writing_errors", "written_whole"]

_NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES, errno.EPERM)
_NAME = 100  # bytes of a name that the new file's name begins with, as names may have 255


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a file to write that replaces another once it has been written in full.

    The new file has the permissions of the old one. Where `path` is a link, it stays one, and what
    it points to is replaced. What is no file, such as a pipe, is written to at the end.
    """
    if b"\0" in os.fsencode(path):
        raise InputError(f"path: {str(path)!r} has the character '\\0'; no name of a file can")
    with writing_errors(path):
        if _is_stream(path):  # before links are followed, since pipes have no other name
            with _copied(Path(path)) as new:
                yield new
            return
        target = Path(os.path.realpath(path))
        if target.is_symlink():
            raise InputError(f"path: {str(path)!r} is a link that leads back to itself")
        if not target.parent.is_dir():
            raise InputError(f"path: the folder {str(target.parent)!r} does not exist")
        if target.is_dir():
            raise InputError(f"path: {str(path)!r} is a folder")
        old = target.stat() if target.exists() else None
        new = _make(target, 0o666 if old is None else 0o600)
        try:
            if old is not None:
                new.chmod(stat.S_IMODE(old.st_mode))
            yield new
            _sync(new)
            new.replace(target)
        finally:
            with suppress(FileNotFoundError):
                new.unlink()
        sync_folder(target.parent)


@contextmanager
def writing_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what the system says against writing into an error that names the file."""
    try:
        yield
    except OSError as error:
        raise FileError(path, f"cannot be written: {error.strerror or error}") from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text, in full or not at all."""
    with written_whole(path) as new:
        new.write_text(text, encoding="utf-8")


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Have the names in a folder on the disk, where the system can do that."""
    if os.name == "nt":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise


def _is_stream(path: str | os.PathLike[str]) -> bool:
    """Return whether something is there that is neither a file nor a folder."""
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _make(target: Path, mode: int) -> Path:
    """Make an empty file beside another, with those of some permissions that the user gives."""
    begin = os.fsdecode(os.fsencode(target.name)[:_NAME])
    while True:
        new = target.with_name(f".{begin}.{secrets.token_hex(4)}")
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
        try:
            handle = os.open(new, flags, mode)
        except FileExistsError:
            continue
        os.close(handle)
        return new


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


@contextmanager
def _copied(target: Path) -> Iterator[Path]:
    """Give a file whose content goes to a pipe or a device at the end."""
    with tempfile.TemporaryDirectory(prefix="tacit-") as folder:
        new = Path(folder) / "new"
        new.touch()
        yield new
        with new.open("rb") as source, target.open("wb") as sink:
            shutil.copyfileobj(source, sink)
