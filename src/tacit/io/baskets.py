"""Basket files: one transaction a line, items separated by white space, commas or what you say."""

from __future__ import annotations

import csv
import re
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit import _core
from tacit.errors import FileError, InputError
from tacit.io.opening import naming, opened
from tacit.machine import count_jobs
from tacit.table.matrices import presence_parts
from tacit.table.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from tacit.io.opening import PathLike

__all__ = ["read_baskets"]

_INTEGER = re.compile(r"[+-]?[0-9]+")
# White space of a line becomes blanks, so that one separator is enough.
_HEAD = 1 << 16  # bytes
_BLANKS = bytes.maketrans(b"\t\v\f\r", b"    ")


def read_baskets(
    path: PathLike,
    *,
    separator: str | None = None,
    defaults: Any = False,
    skip_empty: bool = False,
    chunk_bytes: int = 1 << 22,
    n_jobs: int | None = -1,
) -> Table:
    r"""Read transactions, one a line, into a Table with a column for each item.

    The labels are False and True. Columns are in the order of their items: by number if all are
    whole numbers, else by name. An item twice in a line counts once; an empty line is an empty
    basket.

    Parameters
    ----------
    path : path-like
        May be compressed, as for :func:`read_csv`.
    separator : str, optional
        What stands between items. By default a comma if the first lines have one, else any white
        space. With commas, items may be quoted.
    defaults : mapping or label, default False
        As for :class:`tacit.Table`; ``None`` stores the rarer of True and False for each item.
    skip_empty : bool, default False
        Whether an empty line is nothing instead of an empty basket.
    chunk_bytes : int
        Bytes of text to hold in memory at a time. The result does not depend on it.
    n_jobs : int, default -1
        Threads, all cores by default. The result does not depend on it.

    Returns
    -------
    Table

    Examples
    --------
    >>> import pathlib, tempfile, tacit
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "shop.dat"
    ...     _ = path.write_text("10 2\n\n2 2 7\n")
    ...     table = tacit.read_baskets(path)
    >>> table.schema.names, table.n_records
    (('2', '7', '10'), 3)
    """
    if separator is not None and (not isinstance(separator, str) or separator in ("", "\n", '"')):
        raise InputError(f"separator must be a text between items, got {separator!r}")
    if isinstance(chunk_bytes, bool) or not isinstance(chunk_bytes, int) or chunk_bytes < 1:
        raise InputError(f"chunk_bytes must be a positive integer, got {chunk_bytes!r}")
    jobs = count_jobs(n_jobs)
    reader = _Baskets(path, separator, skip_empty, jobs)
    with naming(path), opened(path) as file:
        for text in _texts(file, chunk_bytes):
            reader.add(text)
        return Table._of(reader.finish(defaults))


def _texts(file: IO[bytes], size: int) -> Iterator[bytes]:
    """Give complete lines, about `size` bytes of them at a time, each with its line end."""
    rest: list[bytes] = []
    first = True
    # The separator is told by the first lines, so they come together however small the chunks.
    while block := file.read(max(size, _HEAD) if first else size):
        if first:
            block, first = block.removeprefix(b"\xef\xbb\xbf"), False
        cut = block.rfind(b"\n") + 1
        rest.append(block[:cut] if cut else block)
        if cut:
            yield b"".join(rest)
            rest = [block[cut:]]
    if last := b"".join(rest):
        yield last if last.endswith((b"\n", b"\r")) else last + b"\n"


class _Baskets:
    """Items seen so far, numbered as they came, and the baskets of their numbers."""

    def __init__(
        self, path: PathLike, separator: str | None, skip_empty: bool, n_jobs: int
    ) -> None:
        self._path, self._separator, self._n_jobs = path, separator, n_jobs
        self._skip_empty = skip_empty
        self._numbers: dict[str, int] = {}
        self._chunks: list[tuple[NDArray[np.int32], NDArray[np.int32]]] = []
        self._n_lines = 0

    def add(self, text: bytes) -> None:
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\x00" in text:
            raise FileError(self._path, "is not a text file: it holds zero bytes")
        if self._separator is None:
            self._separator = _find_separator(text)
        if self._separator == " ":
            text = text.translate(_BLANKS)
        try:
            decoded = text.decode()
        except UnicodeDecodeError as error:
            line = self._n_lines + text.count(b"\n", 0, error.start) + 1
            raise FileError(self._path, f"line {line} is not UTF-8 text") from None
        n_lines = text.count(b"\n")
        lines = pl.Series([decoded[:-1]]).str.split("\n").explode()
        rows, items = self._split(lines)
        lengths = np.bincount(rows, minlength=n_lines).astype(np.int32)
        if self._skip_empty:
            lengths = lengths[lengths > 0]
        self._chunks.append((lengths, self._number(items)))
        self._n_lines += n_lines

    def _split(self, lines: pl.Series) -> tuple[NDArray[np.int64], pl.Series]:
        """Return the line of each item and the item."""
        assert self._separator is not None
        frame = lines.alias("item").to_frame().with_row_index("row")
        split = frame.with_columns(pl.col("item").str.split(self._separator))
        if self._separator == ",":
            quoted = frame.filter(pl.col("item").str.contains('"', literal=True))
            if quoted.height:
                parsed = [self._unquote(row, line) for row, line in quoted.iter_rows()]
                new = quoted.select("row").with_columns(
                    pl.Series("parsed", parsed, dtype=pl.List(pl.String))
                )
                split = split.join(new, on="row", how="left", maintain_order="left").select(
                    "row", pl.coalesce("parsed", "item").alias("item")
                )
        items = split.explode("item").with_columns(pl.col("item").str.strip_chars())
        items = items.filter(pl.col("item") != "")
        return items.get_column("row").to_numpy().astype(np.int64), items.get_column("item")

    def _unquote(self, row: int, line: str) -> list[str]:
        try:
            return next(csv.reader([line], skipinitialspace=True, strict=True))
        except csv.Error as error:
            raise FileError(self._path, f"line {self._n_lines + row + 1}: {error}") from None

    def _number(self, items: pl.Series) -> NDArray[np.int32]:
        if len(items) == 0:
            return np.zeros(0, np.int32)
        [(codes, first, _, _)] = _core.encode_columns(
            [items.alias("").__arrow_c_stream__()], self._n_jobs
        )
        known = self._numbers
        ids = [known.setdefault(item, len(known)) for item in items.gather(first).to_list()]
        return np.array(ids, np.int32)[codes]

    def finish(self, defaults: Any) -> Any:
        """Sort the items, and each basket by them."""
        names = _in_order(list(self._numbers))
        if not names:
            raise FileError(self._path, "holds no items")
        ranks = np.empty(len(names), np.int32)
        ranks[[self._numbers[name] for name in names]] = np.arange(len(names))
        indptr = np.zeros(sum(len(lengths) for lengths, _ in self._chunks) + 1, np.int64)
        ids = np.empty(sum(len(items) for _, items in self._chunks), ranks.dtype)
        row = end = 0
        while self._chunks:
            lengths, items = self._chunks.pop(0)
            keys = np.repeat(np.arange(len(lengths)), lengths) * len(names) + ranks[items]
            keys.sort()
            if len(keys):
                keys = keys[np.diff(keys, prepend=-1) > 0]
            rows, kept = np.divmod(keys, len(names))
            indptr[row + 1 : row + 1 + len(lengths)] = np.bincount(rows, minlength=len(lengths))
            ids[end : end + len(kept)] = kept
            row, end = row + len(lengths), end + len(kept)
        np.cumsum(indptr, out=indptr)
        return presence_parts(names, indptr, ids[:end], defaults)


def _find_separator(text: bytes) -> str:
    head = [line for line in text[:_HEAD].split(b"\n") if line.strip()][:10]
    return "," if any(b"," in line for line in head) else " "


def _in_order(items: list[str]) -> list[str]:
    if all(_INTEGER.fullmatch(item) for item in items):
        return sorted(items, key=lambda item: (int(item), item))
    return sorted(items)
