"""Data for benchmarks: Adult in its three forms, mushroom, msweb, synthetic records."""

from __future__ import annotations

import io
import lzma
from typing import TYPE_CHECKING

import polars as pl

import tacit
from benchmarks import report
from tacit import datasets

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "class",
]  # fmt: skip
BINS = 5


class NotAtHandError(Exception):
    """Something a section needs is not at hand; the message says what."""


def adult(part: str, *, complete: bool) -> tacit.Table:
    """Return Adult's "test" or "train" records or "both", numbers cut into five bins.

    With `complete`, records with missing values are left out, as in the ADtree paper; without,
    missing is a state of its own.
    """
    files = {"test": ["adult.test"], "train": ["adult.data"], "both": ["adult.data", "adult.test"]}
    frame = pl.concat([_adult_frame(file) for file in files[part]])
    if complete:
        frame = frame.drop_nulls()
    numbers = [name for name, kind in frame.schema.items() if kind.is_numeric()]
    return tacit.Table(frame, discretise=dict.fromkeys(numbers, BINS))


def _adult_frame(file: str) -> pl.DataFrame:
    with lzma.open(_path("adult", f"{file}.xz"), "rt", encoding="utf-8") as stream:
        lines = [line.strip().replace(", ", ",").rstrip(".") for line in stream]
    records = [line for line in lines if line and not line.startswith("|")]  # "|" is a banner
    text = io.StringIO("\n".join(records))
    return pl.read_csv(text, has_header=False, new_columns=NAMES, null_values="?")


def mushroom() -> tacit.Table:
    return tacit.read(_path("mushroom_uci", "mushrooms.csv.xz"), null_values="?")


def msweb() -> tacit.Table:
    return tacit.read_msweb(_path("msweb", "anonymous-msweb.data.gz"))


def synth(n_records: int) -> tacit.Table:
    return datasets.make_synth(n_records)


def unasked(table: tacit.Table) -> tacit.Table:
    """Return the same records as a Table that holds nothing prepared for counting."""
    return tacit.Table.from_stored(table.schema, table.indptr, table.values)


def _path(*parts: str) -> Path:
    path = report.SHARED.joinpath(*parts)
    if not path.exists():
        raise NotAtHandError(f"{'/'.join(parts)} is not among the shared data")
    return path
