"""Reading: a log of ratings into a Table, and CSV into a frame, against Polars."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

import tacit
from benchmarks.report import Section, compare, milliseconds
from tacit import datasets

N_RECORDS, N_ITEMS, N_ROWS = 138_000, 27_000, 10_000_000
REPEATS = 5
COLUMNS = ("userId", "movieId")


def row(name: str, ours: float, peer: float, goal: str) -> tuple[str, ...]:
    return name, milliseconds(ours), milliseconds(peer), f"{ours / peer:.2f}", goal


def grouped(lazy: pl.LazyFrame, *values: str) -> pl.DataFrame:
    return lazy.group_by(COLUMNS[0]).agg(COLUMNS[1], *values).collect()


def check_items(table: tacit.Table, lists: pl.DataFrame) -> None:
    """See that each record has the items that Polars lists for it."""
    told = lists.sort(COLUMNS[0]).with_columns(pl.col(COLUMNS[1]).list.unique().list.sort())
    assert told[COLUMNS[0]].equals(table.index), "the records differ"
    assert (told[COLUMNS[1]].list.len().to_numpy() == np.diff(table.indptr)).all()
    names = np.array(table.schema.names, np.int64)
    items = told[COLUMNS[1]].explode().to_numpy()
    assert (names[table.values] == items).all(), "the items differ"


def logs(section: Section, folder: Path) -> None:
    section.part("A log into a table, against Polars' own group-by of the same file")
    log = datasets.make_ratings(N_RECORDS, N_ITEMS, N_ROWS)
    csv, parquet = folder / "ratings.csv", folder / "ratings.parquet"
    log.drop("title").write_csv(csv)
    log.write_parquet(parquet)
    rows = []
    for path, lazy in ((csv, pl.scan_csv(csv)), (parquet, pl.scan_parquet(parquet))):
        check_items(tacit.read(path, long=COLUMNS), grouped(lazy))
        ours, peer = compare(
            lambda path=path: tacit.read(path, long=COLUMNS),
            lambda lazy=lazy: grouped(lazy),
            REPEATS,
        )
        rows.append(row(f"{path.suffix[1:]}: userId, movieId", ours, peer, "at most 2"))
    ours, peer = compare(
        lambda: tacit.read(parquet, long=(*COLUMNS, "rating"), duplicates="last"),
        lambda: grouped(pl.scan_parquet(parquet), "rating"),
        REPEATS,
    )
    rows.append(row("parquet: with ratings", ours, peer, "–"))
    ours, peer = compare(
        lambda: tacit.read(parquet, long=("userId", "title")),
        lambda: pl.scan_parquet(parquet).group_by("userId").agg("title").collect(),
        REPEATS,
    )
    rows.append(row("parquet: userId, title", ours, peer, "–"))
    section.say(
        f"{N_ROWS:,} rows of {N_RECORDS:,} people and {N_ITEMS:,} films, popular by Zipf's law, "
        "all cores. Polars lists the films of each person; tacit also finds and sorts the items "
        "of all, drops those that come twice, and lays them out as columns.",
        "",
    )
    section.table(("file", "tacit.read", "Polars", "tacit / Polars", "goal"), rows)


def plain_csv(section: Section, folder: Path) -> None:
    section.part("Plain CSV, whose layout is found, against Polars, which is told")
    log = datasets.make_ratings(20_000, 5_000, N_ROWS // 2)
    path = folder / "plain.csv"
    log.write_csv(path)
    read = tacit.io.read_frame(path)
    assert read is not None
    assert read.equals(log), "the frame is not what was written"
    ours, peer = compare(lambda: tacit.io.read_frame(path), lambda: pl.read_csv(path), REPEATS)
    size = f"{path.stat().st_size / 1e6:.0f} MB"
    section.table(
        ("file", "tacit", "Polars", "tacit / Polars", "goal"),
        [row(f"csv, {log.height:,} × {log.width}, {size}, as a frame", ours, peer, "at most 1.2")],
    )


def main() -> None:
    section = Section("reading", "Reading files")
    section.made_with("polars", note="All cores.")
    with tempfile.TemporaryDirectory() as folder:
        logs(section, Path(folder))
        plain_csv(section, Path(folder))
    section.write()


if __name__ == "__main__":
    main()
