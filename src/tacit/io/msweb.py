"""The format of UCI's anonymous web logs: attributes, cases, and the votes of each case."""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import FileError
from tacit.io.opening import naming, opened
from tacit.table.matrices import presence_parts
from tacit.table.table import Table

if TYPE_CHECKING:
    from tacit.io.opening import PathLike

__all__ = ["read_msweb"]


def read_msweb(path: PathLike) -> Table:
    """Read a log such as UCI's "anonymous Microsoft web data" into a Table of True and False.

    A line ``A,1287,1,"International AutoRoute","/autoroute"`` declares a column, called by its
    title, or by title and id where several have the same title. A line ``C,"10001",10001`` begins
    a record and ``V,1287,1`` says what it holds. Lines of other kinds are skipped.

    Parameters
    ----------
    path : path-like
        May be compressed, as for :func:`read_csv`.

    Returns
    -------
    Table
        A column for each attribute, in the order of the file, whether it was visited or not.
    """
    with (
        naming(path),
        opened(path) as file,
        io.TextIOWrapper(file, "utf-8-sig", newline="") as text,
    ):
        names, starts, votes = _parse(path, text)
        indptr = np.array([*starts, len(votes)], np.int64)
        rows = np.repeat(np.arange(len(starts)), np.diff(indptr))
        keys = np.unique(rows * len(names) + np.array(votes, np.int64))
        rows, columns = np.divmod(keys, len(names))
        indptr = np.searchsorted(rows, np.arange(len(starts) + 1)).astype(np.int64)
        return Table._of(presence_parts(names, indptr, columns, False))


def _parse(path: PathLike, text: io.TextIOWrapper) -> tuple[list[str], list[int], list[int]]:
    """Return the column names, where each case begins among the votes, and the votes."""
    titles: dict[str, str] = {}  # by id
    column_of: dict[str, int] = {}
    starts: list[int] = []
    votes: list[int] = []
    lines = csv.reader(text, strict=True)
    try:
        for fields in lines:
            kind = fields[0] if fields else ""
            if kind == "V":
                if not starts:
                    raise FileError(path, f"line {lines.line_num} is a vote before any case")
                if len(fields) < 2 or fields[1] not in column_of:
                    raise FileError(path, f"line {lines.line_num} votes for an unknown attribute")
                votes.append(column_of[fields[1]])
            elif kind == "C":
                starts.append(len(votes))
            elif kind == "A":
                if len(fields) < 4:
                    raise FileError(path, f"line {lines.line_num} declares an attribute in part")
                if fields[1] in column_of:
                    raise FileError(path, f"line {lines.line_num} declares {fields[1]} again")
                column_of[fields[1]] = len(column_of)
                titles[fields[1]] = fields[3]
            elif kind not in ("", "I", "T", "N"):
                raise FileError(path, f"line {lines.line_num} is of an unknown kind: {kind[:20]!r}")
    except csv.Error as error:
        raise FileError(path, f"line {lines.line_num}: {error}") from None
    except UnicodeDecodeError:
        raise FileError(path, f"after line {lines.line_num}: not UTF-8 text") from None
    if not column_of:
        raise FileError(path, "declares no attributes")
    if not starts:
        raise FileError(path, "holds no cases")
    return _distinct(titles), starts, votes


def _distinct(titles: dict[str, str]) -> list[str]:
    times = Counter(titles.values())
    names = [t if times[t] == 1 else f"{t} ({key})" for key, t in titles.items()]
    if len(set(names)) < len(names):  # a title that reads like another with its id
        names = [f"{title} ({key})" for key, title in titles.items()]
    return names
