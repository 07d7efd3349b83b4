"""Baskets for benchmarks of itemsets: records × items, as sparse arrays of ones."""

from __future__ import annotations

import lzma
import re
from typing import Any

import numpy as np
from scipy import sparse

import tacit
from benchmarks.report import SHARED

FIMI = ("T10I4D100K", "mushroom", "chess")
DEBD = ("accidents", "pumsb_star")
DRAWN = {"zipf": (200_000, 40_000, 8)}  # records, items, mean length
NAMES = (*FIMI, *DEBD, "groceries", *DRAWN)


def as_csr(rows: list[Any]) -> Any:
    """Return lists of whole numbers as records × items; items that nobody holds are left out."""
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    _, items = np.unique(np.concatenate(rows), return_inverse=True)
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    held = sparse.csr_array(
        (np.ones(len(items), np.int8), items.astype(np.int32), indptr.astype(np.int32))
    )
    held.sum_duplicates()
    held.data[:] = 1
    return held


def path(name: str) -> Any:
    if name in FIMI:
        return SHARED / "fimi" / f"{name}.dat.xz"
    if name in DEBD:
        return SHARED / "debd" / name / f"{name}.train.data.xz"
    return SHARED / "groceries" / "groceries.csv.xz"


def at_hand() -> list[str]:
    """Return the names of what can be read or drawn here."""
    return [name for name in NAMES if name in DRAWN or path(name).exists()]


def load(name: str) -> Any:
    """Read or draw a data set."""
    if name in DRAWN:
        table = tacit.datasets.make_baskets(*DRAWN[name])
        rows = np.split(table.values.astype(np.int64), table.indptr[1:-1])
        return as_csr(rows)
    with lzma.open(path(name), "rt", encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip()]
    if name in FIMI:
        return as_csr([np.array(line.split(), np.int64) for line in lines])
    if name in DEBD:
        return as_csr([np.flatnonzero(np.array(line.split(","), np.int8)) for line in lines])
    names: dict[str, int] = {}
    rows = [
        [names.setdefault(item, len(names)) for item in re.split(r"\s*,\s*", line)]
        for line in lines
    ]
    return as_csr([np.array(row) for row in rows])
