"""The paper's data sets, as far as they are here: numbers, and which objects are positive."""

from __future__ import annotations

import gzip
import io
import lzma
import zipfile
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy import sparse

from benchmarks import report
from tacit.table.one_hot import OneHot

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Data: TypeAlias = tuple[Any, np.ndarray]

ADULT = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation",
    "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
    "native-country", "income",
)  # fmt: skip


@cache
def letters() -> Data:
    """Return the 16 numbers of 20,000 letters, and the letters."""
    packed = report.SHARED / "letter" / "letter-recognition.data.xz"
    frame = pl.read_csv(lzma.decompress(packed.read_bytes()))  # the file has a header line
    return frame[:, 1:].to_numpy().astype(np.float64), frame[:, 0].to_numpy()


def le1() -> Data:
    """O against the rest."""
    X, letter = letters()
    return X, (letter == "O").astype(np.int64)


def le2() -> Data:
    """A to M against N to Z."""
    X, letter = letters()
    return X, np.array([one <= "M" for one in letter], np.int64)


def numbers(frame: pl.DataFrame) -> np.ndarray:
    """Return a frame with categories as columns of 0 and 1, dense."""
    encoded = OneHot.fit(frame)[1]
    return encoded.toarray() if sparse.issparse(encoded) else encoded


@cache
def bank() -> Data:
    """45,211 × 51; yes is positive."""
    outer = zipfile.ZipFile(report.SHARED / "bank_marketing" / "bank+marketing.zip")
    inner = zipfile.ZipFile(io.BytesIO(outer.read("bank.zip")))
    frame = pl.read_csv(inner.read("bank-full.csv"), separator=";")
    return numbers(frame.drop("y")), (frame["y"] == "yes").to_numpy().astype(np.int64)


@cache
def adult() -> Data:
    """45,222 × 88: without rows that miss a value, and without the education in words."""
    parts = []
    for name, skip in (("adult.data.xz", 0), ("adult.test.xz", 1)):
        packed = (report.SHARED / "adult" / name).read_bytes()
        text = lzma.decompress(packed).decode().replace(", ", ",")
        lines = [line for line in text.splitlines()[skip:] if line]
        parts.append(
            pl.read_csv("\n".join(lines).encode(), has_header=False, new_columns=list(ADULT))
        )
    frame = pl.concat(parts)
    words = [name for name, kind in frame.schema.items() if kind == pl.String]
    frame = frame.filter(~pl.any_horizontal(pl.col(name) == "?" for name in words))
    positive = frame["income"].str.starts_with(">").to_numpy().astype(np.int64)
    return numbers(frame.drop("income", "education")), positive


@cache
def covertype() -> Data:
    """581,012 × 54; type 1 is positive."""
    packed = report.SHARED / "covtype" / "covtype.csv.xz"
    frame = pl.read_csv(lzma.decompress(packed.read_bytes()))
    y = (frame[:, -1] == 1).to_numpy().astype(np.int64)
    return np.ascontiguousarray(frame[:, :-1].to_numpy().astype(np.float64)), y


@cache
def kdd() -> Data:
    """494,021 × 118 (the 10 % file); attacks are positive."""
    packed = report.SHARED / "kddcup99_10pct" / "kddcup.data_10_percent.gz"
    frame = pl.read_csv(gzip.decompress(packed.read_bytes()), has_header=False)
    last = frame.columns[-1]
    return numbers(frame.drop(last)), (frame[last] != "normal.").to_numpy().astype(np.int64)


@cache
def kos() -> sparse.csr_array:
    """3,430 × 6,906: which words an entry holds, without how often."""
    packed = report.SHARED / "bow_kos" / "docword.kos.txt.gz"
    lines = gzip.decompress(packed.read_bytes()).split(b"\n", 3)
    n, d = int(lines[0]), int(lines[1])
    triples = np.array(lines[3].split(), np.int64).reshape(-1, 3)
    places = (triples[:, 0] - 1, triples[:, 1] - 1)
    return sparse.csr_array(sparse.coo_array((np.ones(len(triples)), places), (n, d)))


SETS: dict[str, Callable[[], Data]] = {"LE1": le1, "LE2": le2, "BAN": bank, "ADU": adult}
