"""The DEBD sets in their three parts."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

import tacit
from benchmarks.mixture.held_out import debd
from benchmarks.report import SHARED

FOLDER = SHARED / "debd"
PARTS = ("train", "valid", "test")


class DataSet(NamedTuple):
    """One set in its three parts, all under one schema: a label may be in one part alone."""

    name: str
    train: tacit.Table
    valid: tacit.Table
    test: tacit.Table


def names() -> list[str]:
    """Return the names of the sets that are at hand."""
    return (
        sorted(path.name for path in FOLDER.iterdir() if path.is_dir()) if FOLDER.exists() else []
    )


def load(name: str) -> DataSet:
    """Read a set."""
    parts = [debd(name, part) for part in PARTS]
    ends = np.cumsum([0, *(part.n_records for part in parts)])
    codes = np.vstack([np.column_stack(list(part.to_frame().iter_columns())) for part in parts])
    whole = tacit.Table(codes)
    train, valid, test = (whole.take(np.arange(a, b)) for a, b in pairwise(ends))
    return DataSet(name, train, valid, test)


def dense(table: tacit.Table) -> np.ndarray:
    """Return zeros and ones."""
    columns = [table.codes(c) for c in range(len(table.schema))]
    labels = [np.array(list(known), np.int8) for known in table.schema.labels]
    return np.column_stack([known[codes] for known, codes in zip(labels, columns, strict=True)])
