"""Questions of the page, all of one kind: tables of some columns, given a selection."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import InputError
from tacit.explore.state import Selection

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.counts import Counter

__all__ = ["answer", "pack"]

MOST_CELLS = 4_000_000  # in one answer
_MOST_SETS = 20_000
_MOST_COLUMNS = 4
_SIZES = (np.uint8, np.uint16, np.uint32)


def answer(counter: Counter, asked: Any) -> list[NDArray[Any]]:
    """Return the counts of each group of tables, those of a group one after another.

    Parameters
    ----------
    counter : Counter
    asked : list of {"given": str, "sets": list of lists of int}
        The tables that are wanted: a selection, and the positions of the columns of each.
    """
    arities = counter.schema.arities.tolist()
    groups = _checked(asked, arities)
    schema = counter.schema
    answers = counter.linked([(sets, selection.query(schema)) for selection, sets in groups])
    return [tables.counts for tables in answers]


def _checked(asked: Any, arities: list[int]) -> list[tuple[Selection, list[list[int]]]]:
    if not isinstance(asked, list) or not asked:
        raise InputError("ask must be a list of groups of tables")
    groups, n_sets, n_cells = [], 0, 0
    for group in asked:
        if not isinstance(group, dict) or not isinstance(group.get("sets"), list):
            raise InputError("ask: a group must have sets of columns")
        selection = Selection.parse(group.get("given", ""), arities)
        n_sets += len(group["sets"])
        if n_sets > _MOST_SETS:
            raise InputError(f"ask: at most {_MOST_SETS:,} tables at a time")
        for columns in group["sets"]:
            good = isinstance(columns, list) and 0 < len(columns) <= _MOST_COLUMNS
            if not good or not all(type(c) is int and 0 <= c < len(arities) for c in columns):
                raise InputError(f"ask: a set is up to {_MOST_COLUMNS} positions of columns")
            if len(set(columns)) < len(columns):
                raise InputError("ask: the columns of a set must be distinct")
            n_cells += math.prod(arities[c] for c in columns)
            if n_cells > MOST_CELLS:
                raise InputError(f"ask: an answer has at most {MOST_CELLS:,} cells")
        groups.append((selection, group["sets"]))
    return groups


def pack(answers: list[NDArray[Any]]) -> bytes:
    r"""Return counts as bytes: the size of one in the first of eight bytes, then all of them.

    Whole numbers take 1, 2 or 4 bytes each; others are doubles.

    >>> pack([np.array([1, 300])])
    b'\x02\x00\x00\x00\x00\x00\x00\x00\x01\x00,\x01'
    """
    counts = np.concatenate(answers) if answers else np.zeros(0, np.int64)
    kind: Any = np.float64
    if counts.dtype.kind in "iu":
        largest = int(counts.max(initial=0))
        kind = next(
            (t for t in (np.uint8, np.uint16, np.uint32) if largest <= np.iinfo(t).max), kind
        )
    packed = counts.astype(kind)
    if sys.byteorder == "big":
        packed = packed.byteswap()
    return bytes([packed.itemsize, 0, 0, 0, 0, 0, 0, 0]) + packed.tobytes()
