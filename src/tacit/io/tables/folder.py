"""A folder of stored values, a file for each partition, and an index that is written last.

Files of one writing have the same mark in their names. So a folder that is written again has
the old index, and all of its files, until the new index replaces it.
"""

from __future__ import annotations

import errno
import json
import os
import re
import uuid
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import store
from tacit.errors import FileError, InputError
from tacit.io.tables.mapped import MappedFile, MappedReader, firsts_of
from tacit.scale.local import Local
from tacit.scale.partitioned_table import Metadata, PartitionedTable, PassRunner
from tacit.scale.partitions import Partitions
from tacit.table.schema_json import pack_schema, unpack_schema, write_json
from tacit.writing import written_whole

fcntl: Any
try:
    import fcntl
except ModuleNotFoundError:  # of Windows, where files are not locked
    fcntl = None

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tacit.statistic import Partition
    from tacit.table import Table

__all__ = ["is_folder", "materialise", "open_folder", "write_partition"]

INDEX = "tacit.json"
LOCK = ".tacit.lock"
FORMAT = "1"
_BEFORE, _AFTER = b', "content": ', b"}\n"
_KIND = "partition"
_PART = re.compile(r"part-[0-9a-f]{8}-[0-9]{5,}\.tacit")
# What is left where a process was killed: of a file that was being written, of a lock.
_REST = re.compile(
    rf"\.({_PART.pattern}|{re.escape(INDEX)})\..*|\.tmp[0-9A-Za-z]{{6}}|{re.escape(LOCK)}"
)


def is_folder(path: Any) -> bool:
    """Return whether a path is a folder that was written, or half written, by us."""
    if not isinstance(path, str | os.PathLike) or not Path(path).is_dir():
        return False
    return any(name == INDEX or _is_ours(name) for name in _names_in(Path(path)))


@dataclass(frozen=True)
class _Writer:
    """Writes a partition, on whichever machine has it."""

    folder: str
    mark: str

    def __call__(self, partition: Partition) -> dict[str, Any]:
        """Write it, and say what the index is to say."""
        file = write_partition(partition, self.folder, self.mark)
        return {
            "file": Path(file.name).name,
            "records": file.n_records,
            "stored": file.n_stored,
            "bytes": file.disk_bytes,
            "seal": file.seal,
        }


def write_partition(partition: Partition, folder: str, mark: str) -> MappedFile:
    """Write the Table of a partition, without its schema, to a file with a mark in its name."""
    arrays = partition.records._stored_state()  # whoever reads it knows the schema, once for all
    name = f"part-{mark}-{partition.index:05d}.tacit"
    path = os.path.join(folder, name)  # noqa: PTH118
    if not Path(folder).is_dir():
        raise InputError(
            f"folder: {folder} is not there; all who compute must be able to write to it"
        )
    try:
        store.write_arrays(path, _KIND, arrays)
        return MappedFile.of(path, partition.records.n_records, partition.records.n_stored)
    except OSError as error:
        raise InputError(f"folder: cannot write {path}: {error.strerror}") from error


def materialise(
    table: PartitionedTable,
    folder: str | os.PathLike[str],
    *,
    overwrite: bool,
    n_jobs: int | None,
    verbose: int | None,
) -> PartitionedTable:
    """Write a partitioned table; see :meth:`PartitionedTable.materialise`."""
    target = Path(os.path.abspath(folder))  # noqa: PTH100
    made = _make(target)
    try:
        with _locked(target):
            _write(table, target, overwrite, n_jobs, verbose)
    except BaseException:
        if made:
            with suppress(OSError):
                target.rmdir()
        raise
    passes = table._passes
    return open_folder(target, PassRunner(Local(passes.memory), passes.n_jobs, passes.verbose))


def _write(
    table: PartitionedTable, target: Path, overwrite: bool, n_jobs: int | None, verbose: int | None
) -> None:
    """Write all partitions, then the index; then remove what was there."""
    old = _check_content(target, overwrite)
    mark = uuid.uuid4().hex[:8]
    schema = table.schema
    try:
        written = list(
            table.map(_Writer(str(target), mark), what="partitions", n_jobs=n_jobs, verbose=verbose)
        )
        if any(not (target / entry["file"]).exists() for entry in written):
            raise InputError(f"folder: someone else has written to {target} at the same time")
        content = {
            "mark": mark,
            "weighted": table.weighted,
            "partitions": written,
            "schema": pack_schema(schema),
        }
        text = write_json(content)
        head = {"tacit": FORMAT, "kind": "partitioned table", "crc32": _checksum(text)}
        with written_whole(target / INDEX) as name:
            name.write_bytes(write_json(head)[:-1] + _BEFORE + text + _AFTER)
    except BaseException:
        _remove(target, [name for name in os.listdir(target) if mark in name])  # noqa: PTH208
        raise
    _remove(target, old)


@contextmanager
def _locked(target: Path) -> Iterator[None]:
    """Keep others from writing to a folder; the system frees the lock of a process that is gone."""
    if fcntl is None:
        yield
        return
    path = target / LOCK
    while True:
        try:
            handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
        except OSError as error:
            raise InputError(f"folder: {target} cannot be written to: {error.strerror}") from error
        try:
            with _if_supported():
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever had it before has removed the file: then it is no lock for those who come.
            with suppress(FileNotFoundError):
                if path.stat().st_ino == os.fstat(handle).st_ino:
                    break
        except BlockingIOError:
            os.close(handle)
            raise InputError(f"folder: someone else is writing to {target} just now") from None
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


@contextmanager
def _if_supported() -> Iterator[None]:
    """Pass over file systems that have no locks: there, one has to see to it oneself."""
    try:
        yield
    except BlockingIOError:
        raise
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL):
            raise


def _checksum(text: bytes) -> str:
    return f"{zlib.crc32(text):08x}"


def _make(target: Path) -> bool:
    """Make a folder, and return whether it was not there."""
    if target.exists() and not target.is_dir():
        raise InputError(f"folder: {target} is a file")
    if not target.parent.is_dir():
        raise InputError(f"folder: there is no folder {str(target.parent)!r} to make it in")
    try:
        target.mkdir()
    except FileExistsError:
        return False
    except OSError as error:
        raise InputError(f"folder: {target} cannot be made: {error.strerror}") from None
    return True


def _check_content(target: Path, overwrite: bool) -> list[str]:
    """See that a folder may be written to, and return which files in it are to go."""
    names = sorted(set(_names_in(target)) - {LOCK})
    if names and not overwrite:
        raise InputError(f"folder: {target} is not empty; give another, or overwrite=True")
    other = next((name for name in names if name != INDEX and not _is_ours(name)), None)
    if other is not None:
        raise InputError(f"folder: {target} holds {other!r}, which materialise() did not write")
    return [name for name in names if name != INDEX]


def _names_in(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError as error:
        raise FileError(folder, f"cannot be read: {error.strerror}") from error


def _is_ours(name: str) -> bool:
    """Return whether a file is a partition, or what is left of writing one or an index."""
    return _PART.fullmatch(name) is not None or _REST.fullmatch(name) is not None


def _remove(target: Path, names: list[str]) -> None:
    """Remove files, but for those in use that the system does not let go; they do no harm."""
    for name in names:
        with suppress(OSError):
            (target / name).unlink()


def _read_index(folder: Path) -> dict[str, Any]:
    """Read an index, and believe none of it unchecked."""
    path = folder / INDEX
    if not path.exists():
        raise FileError(
            folder,
            f"is not a complete table: it has no {INDEX}, so that it was not written to the end",
        )
    try:
        text = path.read_bytes()
        index = json.loads(text)
        version, kind, content = index["tacit"], index["kind"], index["content"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise FileError(path, "is damaged: it cannot be read") from None
    except OSError as error:
        raise FileError(path, str(error.strerror)) from error
    if kind != "partitioned table" or version != FORMAT:
        raise FileError(path, f"has format {version!r}; this version of tacit reads {FORMAT!r}")
    if _checksum(text.partition(_BEFORE)[2].removesuffix(_AFTER)) != index.get("crc32"):
        raise FileError(path, "is damaged: its checksum does not match")
    checked: dict[str, Any] = content
    return checked


def open_folder(folder: str | os.PathLike[str], passes: PassRunner) -> PartitionedTable:
    """Return the table of a folder; nothing is read but its index."""
    target = Path(os.path.abspath(folder))  # noqa: PTH100
    content = _read_index(target)
    with store.damaged_if_it_fails(target / INDEX):
        schema = unpack_schema(content["schema"])
        files = tuple(
            MappedFile(
                e["records"],
                e["stored"],
                e["seal"],
                name=str(target / e["file"]),
                disk_bytes=e["bytes"],
            )
            for e in content["partitions"]
        )
        odd = next((e for e in content["partitions"] if not _PART.fullmatch(e["file"])), None)
        if odd is not None:
            raise InputError(f"it lists {odd['file']!r}")
        weighted = content["weighted"]
        sizes: NDArray[np.int64] = np.array([file.n_records for file in files], np.int64)
        n_stored = sum(file.n_stored for file in files)
        if not len(sizes) or sizes.min() < 1:
            raise InputError("it lists no records")
        key = f"{target}:{content['mark']}"
    reader = MappedReader(schema, bool(weighted))
    partitions = Partitions(files, reader, firsts_of(files), key)
    metadata = Metadata(schema, partitions, sizes, n_stored, bool(weighted))
    return PartitionedTable._of(metadata, passes, str(folder))


class PartitionFile(store.Saved):
    """A single file of a folder: its schema is in the index."""

    @classmethod
    def from_state(cls, state: store.State) -> PartitionFile:
        """Return what waits for the name of the file."""
        return cls()

    def _from_file(self, path: str | os.PathLike[str]) -> Table:
        target = Path(os.path.abspath(path))  # noqa: PTH100
        table = open_folder(target.parent, PassRunner(Local()))
        partitions = table._metadata.partitions
        source = next((file for file in partitions.sources if file.name == str(target)), None)
        if source is None:
            raise FileError(path, f"is not in the index of its folder, {target.parent / INDEX}")
        loaded: Table = partitions.reader.load(source, 1)
        return loaded
