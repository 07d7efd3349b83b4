"""Nets in text files, compressed or not: which format a name means, reading, atomic writing."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import FileError
from tacit.io.opening import read_whole
from tacit.writing import written_whole

if TYPE_CHECKING:
    import os

__all__ = ["format_of", "read_text", "write_text"]

_FORMATS = {".bif": "bif", ".xml": "xmlbif", ".xmlbif": "xmlbif", ".bifxml": "xmlbif"}


def format_of(path: str | os.PathLike[str]) -> str | None:
    """Return "bif", "xmlbif" or ``None`` for the name of a file.

    >>> format_of("alarm.bif.gz"), format_of("asia.xml"), format_of("asia.csv")
    ('bif', 'xmlbif', None)
    """
    name = Path(path)
    suffix = Path(name.stem).suffix if name.suffix.lower() == ".gz" else name.suffix
    return _FORMATS.get(suffix.lower())


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a file: UTF-8, or else what old programs write."""
    data = read_whole(path)
    if b"\0" in data:
        raise FileError(path, "is no text")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text, atomically; compressed if the name ends in .gz."""
    data = text.encode("utf-8", "replace")
    if Path(path).suffix.lower() == ".gz":
        data = gzip.compress(data, mtime=0)  # the same net makes the same file
    with written_whole(path) as name:
        name.write_bytes(data)
