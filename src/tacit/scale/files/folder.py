"""A folder of stored values, a file for each partition, and an index that is written last.

Files of one writing have a mark of their own in their names. So a folder that is written again has
the old index, and all of its files, until the new index takes its place.
"""

from __future__ import annotations

import json
import os
import re
import uuid
import zlib
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit import store
from tacit.errors import FileError, InputError
from tacit.scale.files.mapped import MappedPiece, MappedReader, firsts_of
from tacit.scale.local import Local
from tacit.scale.partitioned_table import Contents, PartitionedTable, Run
from tacit.scale.partitions import Partitions
from tacit.table.schema_json import pack_schema, unpack_schema, write_json

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.statistic import Partition
    from tacit.table import Table

__all__ = ["is_folder", "materialise", "open_folder"]

INDEX = "tacit.json"
FORMAT = "1"
_BEFORE, _AFTER = b', "content": ', b"}\n"
_KIND = "partition"
_PART = re.compile(r"part-[0-9a-f]{8}-[0-9]{5,}\.tacit")
_REST = re.compile(rf"\.({_PART.pattern}|{re.escape(INDEX)})\..*")


def is_folder(path: Any) -> bool:
    """Return whether a path is a folder that was written, or half written, by us."""
    if not isinstance(path, str | os.PathLike) or not Path(path).is_dir():
        return False
    return any(name == INDEX or _is_ours(name) for name in os.listdir(path))  # noqa: PTH208


@dataclass(frozen=True)
class _Writer:
    """Writes a partition, on whichever machine has it."""

    folder: str
    mark: str

    def __call__(self, part: Partition) -> dict[str, Any]:
        """Write it, and say what the index is to say."""
        arrays = dict(part.records.to_state())
        arrays.pop("schema")  # is in the index, once for all
        name = f"part-{self.mark}-{part.index:05d}.tacit"
        path = os.path.join(self.folder, name)  # noqa: PTH118
        if not Path(self.folder).is_dir():
            raise InputError(
                f"folder: {self.folder} is not there; all who compute must be able to write to it"
            )
        try:
            store.write_arrays(path, _KIND, arrays)
            own = MappedPiece.of(path, part.records)
        except OSError as error:
            raise InputError(f"folder: cannot write {path}: {error.strerror}") from error
        return {
            "file": name,
            "records": own.n_records,
            "stored": own.n_stored,
            "bytes": own.disk_bytes,
            "seal": own.seal,
        }


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
    made, old = _prepare(target, overwrite)
    mark = uuid.uuid4().hex[:8]
    schema = table.schema
    try:
        written = list(
            table.map(_Writer(str(target), mark), what="partitions", n_jobs=n_jobs, verbose=verbose)
        )
        if any(not (target / own["file"]).exists() for own in written):
            raise InputError(f"folder: someone else has written to {target} at the same time")
        content = {
            "mark": mark,
            "weighted": table.weighted,
            "partitions": written,
            "schema": pack_schema(schema),
        }
        text = write_json(content)
        head = {"tacit": FORMAT, "kind": "partitioned table", "crc32": _checksum(text)}
        with store.written_whole(target / INDEX) as name:
            name.write_bytes(write_json(head)[:-1] + _BEFORE + text + _AFTER)
    except BaseException:
        _remove(target, [name for name in os.listdir(target) if mark in name])  # noqa: PTH208
        if made:
            with suppress(OSError):
                target.rmdir()
        raise
    _remove(target, old)
    run = table._run
    return open_folder(target, Run(Local(run.memory), run.n_jobs, run.verbose))


def _checksum(text: bytes) -> str:
    return f"{zlib.crc32(text):08x}"


def _prepare(target: Path, overwrite: bool) -> tuple[bool, list[str]]:
    """Make a folder, or see that it may be written to.

    Returns
    -------
    made : bool
        Whether it was made.
    old : list of str
        Files in it that are to go.
    """
    if target.exists() and not target.is_dir():
        raise InputError(f"folder: {target} is a file")
    if not target.is_dir():
        if not target.parent.is_dir():
            raise InputError(f"folder: there is no folder {str(target.parent)!r} to make it in")
        try:
            target.mkdir()
        except OSError as error:
            raise InputError(f"folder: {target} cannot be made: {error.strerror}") from None
        return True, []
    held = sorted(os.listdir(target))  # noqa: PTH208
    if held and not overwrite:
        raise InputError(f"folder: {target} is not empty; give another, or overwrite=True")
    other = next((name for name in held if name != INDEX and not _is_ours(name)), None)
    if other is not None:
        raise InputError(f"folder: {target} holds {other!r}, which materialise() did not write")
    return False, [name for name in held if name != INDEX]


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
            f"is not a whole table: it has no {INDEX}, so that it was not written to the end",
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
    found: dict[str, Any] = content
    return found


def open_folder(folder: str | os.PathLike[str], run: Run) -> PartitionedTable:
    """Return the table of a folder; nothing is read but its index."""
    target = Path(os.path.abspath(folder))  # noqa: PTH100
    content = _read_index(target)
    try:
        schema = unpack_schema(content["schema"])
        pieces = tuple(
            MappedPiece(
                str(target / own["file"]), own["records"], own["stored"], own["bytes"], own["seal"]
            )
            for own in content["partitions"]
        )
        odd = next((own for own in content["partitions"] if not _PART.fullmatch(own["file"])), None)
        if odd is not None:
            raise InputError(f"it lists {odd['file']!r}")
        weighted = content["weighted"]
        sizes: NDArray[np.int64] = np.array([piece.n_records for piece in pieces], np.int64)
        n_stored = sum(piece.n_stored for piece in pieces)
        if not len(sizes) or sizes.min() < 1:
            raise InputError("it lists no records")
        key = f"{target}:{content['mark']}"
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise FileError(target / INDEX, f"is damaged: {error}") from None
    reader = MappedReader(schema, bool(weighted))
    partitions = Partitions(pieces, reader, firsts_of(pieces), key)
    contents = Contents(schema, partitions, sizes, n_stored, bool(weighted))
    table = PartitionedTable(partial(_known, contents), run, str(folder))
    table._known = contents
    return table


def _known(contents: Contents, run: Run) -> Contents:
    return contents


class PartitionFile(store.Saved):
    """A file of a folder on its own: its schema is in the index."""

    @classmethod
    def from_state(cls, state: store.State) -> PartitionFile:
        """Return what waits for the name of the file."""
        return cls()

    def _from_file(self, path: str | os.PathLike[str]) -> Table:
        own = Path(os.path.abspath(path))  # noqa: PTH100
        table = open_folder(own.parent, Run(Local()))
        partitions = table._contents.partitions
        piece = next((piece for piece in partitions.pieces if piece.path == str(own)), None)
        if piece is None:
            raise FileError(path, f"is not in the index of its folder, {own.parent / INDEX}")
        loaded: Table = partitions.reader.load(piece, 1)
        return loaded
