"""Counts of Parquet files: tacit.scan beside Polars' streaming engine and DuckDB."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import polars as pl

import tacit
from benchmarks.report import milliseconds, race

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.report import Section

N_FILES, N_RECORDS, N_COLUMNS = 4, 500_000, 50
GROUP = 125_000


def write(folder: Path) -> list[str]:
    """Write baskets: 50 columns of which few are True, and return their names."""
    folder.mkdir()
    rng = np.random.default_rng(1)
    probabilities = rng.uniform(0.005, 0.1, N_COLUMNS)
    names = [f"item {c}" for c in range(N_COLUMNS)]
    for k in range(N_FILES):
        busy = rng.gamma(2, 0.5, N_RECORDS)
        columns = {
            name: rng.random(N_RECORDS) < np.minimum(probabilities[c] * busy, 1)
            for c, name in enumerate(names)
        }
        pl.DataFrame(columns).write_parquet(folder / f"{k}.parquet", row_group_size=GROUP)
    return names


def peers(section: Section, folder: Path) -> None:
    section.part("Counting files, and peers")
    names = write(folder)
    pattern = str(folder / "*.parquet")
    pairs = list(combinations(names, 2))
    section.say(
        f"{N_FILES * N_RECORDS:,} records × {N_COLUMNS} columns of True and False in {N_FILES} "
        "Parquet files; how many records have each value, and how many have each of the "
        f"{len(pairs):,} pairs. tacit scans anew each time: labels and defaults are found in a "
        "further pass; and once with partitions kept in memory from the pass before. Polars "
        "streams one query of sums; DuckDB takes one query of filtered counts. All use two "
        "threads, and the counts are the same.",
        "",
    )
    kept = tacit.scan(pattern, n_jobs=2)
    kept.one_way()

    def polars_ones() -> pl.DataFrame:
        lazy = pl.scan_parquet(pattern).select(pl.col(name).sum() for name in names)
        return lazy.collect(engine="streaming")

    def polars_pairs() -> pl.DataFrame:
        sums = [(pl.col(a) & pl.col(b)).sum().alias(f"{a}|{b}") for a, b in pairs]
        return pl.scan_parquet(pattern).select(sums).collect(engine="streaming")

    connection = duckdb.connect(config={"threads": 2})

    def duck(texts: list[str]) -> tuple[int, ...]:
        query = f"SELECT {', '.join(texts)} FROM read_parquet('{pattern}')"
        row = connection.execute(query).fetchone()
        assert row is not None
        return row

    def duck_ones() -> tuple[int, ...]:
        return duck([f'count(*) FILTER ("{name}")' for name in names])

    def duck_pairs() -> tuple[int, ...]:
        return duck([f'count(*) FILTER ("{a}" AND "{b}")' for a, b in pairs])

    ones = [kept.one_way()[name][True] for name in names]
    assert ones == list(polars_ones().row(0)) == list(duck_ones())
    stored = kept.pairs().stored
    both = [int(stored[i, j]) for i, j in combinations(range(N_COLUMNS), 2)]
    assert both == list(polars_pairs().row(0)) == list(duck_pairs())
    questions = {
        "every value": (
            lambda: tacit.scan(pattern, n_jobs=2).one_way(),
            lambda: kept.one_way(),
            polars_ones,
            duck_ones,
        ),
        "every pair": (
            lambda: tacit.scan(pattern, n_jobs=2).pairs(),
            lambda: kept.pairs(),
            polars_pairs,
            duck_pairs,
        ),
    }
    who = ("tacit, from files", "tacit, kept", "Polars", "DuckDB")
    rows = []
    for name, works in questions.items():
        took = race(dict(zip(who, works, strict=True)), 1, warm_up=False)
        rows.append((name, *(milliseconds(took[one]) for one in who)))
    section.table(("question", *who), rows)
