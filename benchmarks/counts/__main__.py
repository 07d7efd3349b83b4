"""Counting: all pairs, one target against all, reading, and how cost grows."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy import optimize, sparse
from threadpoolctl import threadpool_limits

import tacit
from benchmarks.report import (
    SHARED,
    Section,
    compare,
    milliseconds,
    peak_bytes,
    times,
)
from tacit import counts, datasets
from tacit.schema import Labels, Schema

HEAD = ("data", "tacit", "peer", "ratio", "goal")
GIGABYTE_RECORDS = 7_500_000


def as_matrix(table: tacit.Table) -> sparse.csr_array:
    """The same table as SciPy users hold it: int64 ones, whose products are int64 counts."""
    ones = np.ones(table.n_stored, np.int64)
    indices, indptr = table.values.astype(np.int32), table.indptr.astype(np.int32)
    return sparse.csr_array((ones, indices, indptr), shape=table.shape)


def dense(stored: Any) -> Any:
    return stored.toarray() if sparse.issparse(stored) else stored


def row(name: str, ours: float, peer: float, asked: str) -> tuple[str, ...]:
    return name, milliseconds(ours), milliseconds(peer), f"{peer / ours:.1f}×", asked


def pairs_against_scipy(section: Section) -> None:
    section.part("All pairs against SciPy's `X.T @ X`")
    rows, memory = [], []
    baskets = {
        "100,000 × 1,000, 1 %, uniform": datasets.make_uniform(100_000, 1_000, 0.01),
        "100,000 × 1,000, 1 %, Zipf": datasets.make_uniform(100_000, 1_000, 0.01, exponent=1.0),
    }
    for name, table in baskets.items():
        for jobs, asked in ((1, "8×"), (2, "12×")):
            threads = "one thread" if jobs == 1 else "two threads"
            rows.append(against_scipy(f"{name}, {threads}", table, jobs, asked))
    fimi = SHARED / "fimi" / "T10I4D100K.dat.xz"
    wide = {
        f"baskets, {m:,} × 16,000": datasets.make_baskets(m) for m in (100_000, 400_000, 1_000_000)
    }
    if fimi.exists():
        wide = {"T10I4D100K, 100,000 × 870": tacit.read_baskets(fimi), **wide}
    else:
        section.say("(T10I4D100K is not at hand and was left out.)", "")
    wide["uniform, 100,000 × 16,000"] = datasets.make_uniform(100_000, 16_000, 10 / 16_000)
    for name, table in wide.items():
        asked = "5×" if not name.startswith("uniform") else "–"
        rows.append(against_scipy(f"{name}, l = {table.n_stored:,}", table, 1, asked))
        memory.append(memory_of(name, table))
    section.table(HEAD, rows)
    section.say("Memory while counting, beside the table itself, single thread:", "")
    section.table(("data", "output", "peak", "peak / output", "goal"), memory)


def against_scipy(name: str, table: tacit.Table, jobs: int, asked: str) -> tuple[str, ...]:
    matrix = as_matrix(table)
    result = table.pairs(n_jobs=jobs).stored
    difference = sparse.csr_array(result) - matrix.T @ matrix
    assert abs(difference).max() == 0, f"{name}: the counts differ"
    ours, peer = compare(lambda: table.pairs(n_jobs=jobs), lambda: matrix.T @ matrix)
    return row(name, ours, peer, asked)


def memory_of(name: str, table: tacit.Table) -> tuple[str, ...]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.tacit"
        table.save(path)
        peak, output = peak_bytes(
            f"""
import tacit
from scipy import sparse
def prepare():
    table = tacit.load({str(path)!r})
    table.one_way(), table.values.sum(), table.select([0, 1]).pairs()
    return table
def work(table):
    stored = table.pairs().stored
    if sparse.issparse(stored):
        return stored.data.nbytes + stored.indices.nbytes + stored.indptr.nbytes
    return stored.nbytes
"""
        )
    megabytes = [f"{n / 1e6:.1f} MB" for n in (output, peak)]
    return name, *megabytes, f"{peak / output:.2f}", "below 1.5"


def pairs_against_gemm(section: Section) -> None:
    section.part("All pairs of a denser table against a dense product")
    table = datasets.make_uniform(100_000, 1_000, 0.2)
    matrix = as_matrix(table).toarray().astype(np.float32)
    other = matrix.copy()  # X.T @ X itself is a symmetric product, which BLAS does in half the time
    with threadpool_limits(1):
        assert (dense(table.pairs().stored) == matrix.T @ matrix).all()
        ours, peer = compare(lambda: table.pairs(), lambda: matrix.T @ other, repeats=5)
        ours_too, half = compare(lambda: table.pairs(), lambda: matrix.T @ matrix, repeats=5)
    name = "100,000 × 1,000, 20 % stored"
    section.table(
        HEAD,
        [
            row(f"{name}: NumPy float32 GEMM", ours, peer, "3×"),
            row(f"{name}: the same product as SYRK", ours_too, half, "–"),
        ],
    )


def two_way(table: tacit.Table, target: int) -> Any:
    """One-way and two-way counts from scratch: what figure 3 of the paper does."""
    return counts.two_way(table, target, None, counts.one_way(table, None, 1), 1)


def dense_view(table: tacit.Table) -> tacit.Table:
    """The same records with a default that never occurs: every value is stored and visited."""
    labels = [Labels([*own, "never"], "Object") for own in table.schema.labels]
    schema = Schema(table.schema.names, labels, table.schema.arities)
    codes = table.to_numpy() + schema.offsets[:-1]
    indptr = np.arange(table.n_records + 1, dtype=np.int64) * table.n_columns
    return tacit.Table.from_stored(schema, indptr, codes.reshape(-1))


def target_against_all(section: Section) -> None:
    section.part("One target against all columns, sparse against the dense view")
    table = datasets.make_msnbc()
    part = table.take(np.arange(0, table.n_records, 20))
    full = dense_view(part)
    target = int(np.argsort(table.one_way().stored)[-20])
    agree = two_way(full, target).counts.reshape(3, -1, 3)[:2, :, :2].reshape(2, -1)
    assert (agree == two_way(part, target).counts).all(), "the dense view counts differently"
    ours, peer = compare(lambda: two_way(table, target), lambda: two_way(full, target), repeats=5)
    scaled = peer * table.n_records / part.n_records
    factor = table.summary().factor
    section.say(
        f"{table.n_records:,} × {table.n_columns:,}, l = {table.n_stored:,}. The dense view is the "
        "same code on a table in which every value is stored, timed on every 20th record and "
        f"scaled by {table.n_records / part.n_records:.1f}.",
        "",
    )
    section.table(
        ("sparse", "dense, scaled", "ratio", "m·n/l", "ratio / (m·n/l)", "goal"),
        [
            (
                milliseconds(ours), milliseconds(scaled), f"{scaled / ours:.0f}×", f"{factor:.0f}",
                f"{scaled / ours / factor:.2f}", "0.7",
            )
        ],
    )  # fmt: skip


def growth(section: Section) -> None:
    section.part("How cost grows")
    base = (1_600_000, 1_000, 16_000_000)
    sizes = [base]
    for factor in (0.25, 0.5, 2):
        sizes += [
            tuple(int(n * factor) if k == axis else n for k, n in enumerate(base))
            for axis in range(3)
        ]
    seconds, terms = [], []
    rows = []
    for m, n, stored in sizes:
        table = datasets.make_uniform(m, n, stored / m / n)
        l_ = table.n_stored
        taken = float(np.median(times(lambda table=table: two_way(table, 0), 31)))
        seconds.append(taken)
        terms.append((l_, m, n, m * n, 1))
        rows.append((f"{m:,}", f"{n:,}", f"{l_:,}", f"{m * n / 1e6:,.0f} M", milliseconds(taken)))
    section.say(
        "One-way counts and one target against all, with m, n and l varied one at a time:", ""
    )
    section.table(("m", "n", "l", "m·n", "time"), rows)
    matrix, target = np.array(terms, float), np.array(seconds)
    scale = matrix.max(axis=0)
    fit, _ = optimize.nnls(matrix / scale, target)
    fitted = matrix / scale @ fit
    r2 = 1 - ((target - fitted) ** 2).sum() / ((target - target.mean()) ** 2).sum()
    shares = (matrix / scale * fit).mean(axis=0) / fitted.mean()
    per_value = fit[0] / scale[0] * 1e9
    section.say(
        "A non-negative least-squares fit of time to l, m, n, m·n and a constant "
        f"(R² = {r2:.3f}) gives {per_value:.2f} ns a stored value; the shares of the five terms in "
        + "the mean time are "
        + ", ".join(
            f"{name} {share:.0%}"
            for name, share in zip(("l", "m", "n", "m·n", "a constant"), shares, strict=True)
        )
        + ".",
        "",
    )


def reading(section: Section) -> None:
    section.part("Reading categoricals into a Table")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        csv, parquet = Path(folder) / "large.csv", Path(folder) / "large.parquet"
        frame = categoricals(GIGABYTE_RECORDS)
        frame.write_csv(csv)
        frame.write_parquet(parquet)
        table = tacit.read(parquet)
        assert table.to_frame().equals(frame), "the table does not hold what the file does"
        del frame, table
        for path, peer in ((csv, pl.read_csv), (parquet, pl.read_parquet)):
            ours, theirs = compare(lambda p=path: tacit.read(p), lambda p=path, r=peer: r(p), 3)
            size = f"{path.stat().st_size / 1e9:.2f} GB"
            rows.append(
                (f"{path.suffix[1:]}, {size}", milliseconds(ours), milliseconds(theirs),
                 f"{ours / theirs:.2f}", "at most 2.5")
            )  # fmt: skip
    section.say(
        f"{GIGABYTE_RECORDS:,} records of 20 categorical columns with 2 to 1,000 labels, all "
        "cores, against Polars reading the same file into a frame and doing nothing with it.",
        "",
    )
    section.table(("file", "tacit.read", "Polars alone", "tacit / Polars", "goal"), rows)


def categoricals(n_records: int) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    columns = {}
    for k in range(20):
        arity = (2, 3, 5, 8, 12, 20, 40, 100, 300, 1_000)[k % 10]
        words = np.resize(["north", "south", "red", "blue", "yes", "no", "medium", "high"], arity)
        labels = pl.Series([f"{word}{i}" for i, word in enumerate(words)])
        share = 1 / np.arange(1, arity + 1) ** 1.5
        columns[f"c{k}"] = labels.gather(rng.choice(arity, n_records, p=share / share.sum()))
    return pl.DataFrame(columns)


def main() -> None:
    section = Section("counts", "Counting")
    section.made_with("numpy", "scipy", "polars", note="Single thread unless said otherwise.")
    for part in (pairs_against_scipy, pairs_against_gemm, target_against_all, growth, reading):
        part(section)
    section.write()


if __name__ == "__main__":
    main()
