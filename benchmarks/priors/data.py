"""Every set of the shared data, as tables to model and as classes to predict."""

from __future__ import annotations

import gzip
import io
import lzma
import zipfile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from scipy import sparse
from sklearn.datasets import load_svmlight_file

import tacit
from benchmarks.adult import _adult_frame, msweb, mushroom
from benchmarks.mixture.held_out import debd
from benchmarks.report import SHARED
from benchmarks.rules.data import multilabel

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 20_000  # records that are learnt from
LABELS = 30  # of a multi-label set that are predicted, at most
MULTILABEL = (
    "birds", "emotions", "enron", "flags", "medical", "scene", "yeast",
)  # fmt: skip


class Density(NamedTuple):
    """Tables to learn from and to try on."""

    name: str
    train: tacit.Table
    test: tacit.Table


class Classes(NamedTuple):
    """Columns and classes to learn from and to try on; several targets in a multi-label set."""

    name: str
    X: Any
    y: list[Any]
    T: Any
    u: list[Any]


def tables() -> Iterator[Density]:
    """Yield tables, with the test parts that they come with or else a third of the records."""
    for folder in sorted((SHARED / "debd").iterdir()):
        yield Density(folder.name, debd(folder.name, "train"), debd(folder.name, "test"))
    test = tacit.read_msweb(SHARED / "msweb" / "anonymous-msweb.test.gz")
    yield Density("msweb", msweb(), test)
    groceries = tacit.read(SHARED / "groceries" / "groceries.csv.xz", format="baskets")
    for name, table in (
        ("groceries", groceries),
        ("T10I4D100K", tacit.read(SHARED / "fimi" / "T10I4D100K.dat.xz")),
        ("kos words", _kos()),
        ("Adult", tacit.Table(_adult_frame("adult.data"))),
        ("mushroom", mushroom()),
        ("mushroom baskets", tacit.read(SHARED / "fimi" / "mushroom.dat.xz", format="baskets")),
        ("chess", tacit.read(SHARED / "fimi" / "chess.dat.xz", format="baskets")),
    ):
        train, test_rows = _divided(table.n_records)
        yield Density(name, table.take(train), table.take(test_rows))


def class_sets() -> Iterator[Classes]:
    """Yield classes, with the test parts that they come with or else a third of the records."""
    adult, test = _adult_frame("adult.data"), _adult_frame("adult.test")
    label = adult.columns[-1]
    yield Classes(
        "Adult", adult.drop(label), [_array(adult[label])], test.drop(label), [_array(test[label])]
    )
    for name, frame, column in _frames():
        train, held = _divided(len(frame))
        X, y = frame.drop(column), _array(frame[column])
        yield Classes(name, X[train], [y[train]], X[held], [y[held]])
    for name, files in (
        ("a9a", ("a9a_libsvm/adult.trn.bz2", "a9a_libsvm/adult.tst.bz2")),
        ("Reuters money-fx", _reuters()),
    ):
        (X, y), (T, u) = (load_svmlight_file(SHARED / file) for file in files)
        width = max(X.shape[1], T.shape[1])
        for matrix in (X, T):
            matrix.resize(matrix.shape[0], width)
        yield Classes(name, sparse.csr_array(X), [y], sparse.csr_array(T), [u])
    for name in MULTILABEL:
        task = multilabel(name)
        several = [k for k in range(task.Y.shape[1]) if 4 < task.Y[:, k].sum() < len(task.Y) - 4]
        chosen = several[:LABELS]
        yield Classes(
            name, task.X, [task.Y[:, k] for k in chosen], task.T, [task.U[:, k] for k in chosen]
        )


def _divided(n: int) -> tuple[Any, Any]:
    order = np.random.default_rng(0).permutation(n)
    held = n // 3
    return np.sort(order[held:][:MOST]), np.sort(order[:held][:MOST])


def _array(column: pl.Series) -> Any:
    return column.to_numpy()


def _kos() -> tacit.Table:
    with gzip.open(SHARED / "bow_kos" / "docword.kos.txt.gz", "rt") as stream:
        n_records, n_words = int(stream.readline()), int(stream.readline())
        stream.readline()
        rows = np.loadtxt(stream, dtype=np.int64)
    ones = np.ones(len(rows), np.int8)
    shape = (n_records, n_words)
    return tacit.Table(sparse.csr_array((ones, (rows[:, 0] - 1, rows[:, 1] - 1)), shape))


def _reuters() -> tuple[str, str]:
    names = sorted(path.name for path in (SHARED / "reuters_moneyfx").iterdir())
    train = next(name for name in names if "tr" in name)
    return f"reuters_moneyfx/{train}", "reuters_moneyfx/" + next(n for n in names if n != train)


def _frames() -> Iterator[tuple[str, pl.DataFrame, str]]:
    def read(path: str, **options: Any) -> pl.DataFrame:
        with lzma.open(SHARED / path) as stream:
            return pl.read_csv(stream.read().replace(b"\r", b"\n"), **options)

    with (
        zipfile.ZipFile(SHARED / "bank_marketing" / "bank+marketing.zip") as outer,
        zipfile.ZipFile(io.BytesIO(outer.read("bank.zip"))) as inner,
    ):
        bank = pl.read_csv(io.BytesIO(inner.read("bank-full.csv")), separator=";")
    yield "Bank marketing", bank, "y"
    covtype = read("covtype/covtype.csv.xz")
    yield "Covertype", covtype, covtype.columns[-1]
    letter = read("letter/letter-recognition.data.xz", has_header=False)
    yield "Letter", letter, letter.columns[0]
    liver = read("ilpd/Indian Liver Patient Dataset (ILPD).csv.xz")
    yield "Liver patients", liver, liver.columns[-1]
    table = mushroom()
    yield "Mushroom", table.to_frame(), table.schema.names[0]
    with gzip.open(SHARED / "kddcup99_10pct" / "kddcup.data_10_percent.gz") as stream:
        kdd = pl.read_csv(stream.read(), has_header=False)
    attack = (pl.col(kdd.columns[-1]) != "normal.").alias("attack")
    yield "KDD Cup 1999", kdd.with_columns(attack).drop(kdd.columns[-1]), "attack"
