"""Cached statistics: the size of ADtrees, any table at once, and searches over them."""

from __future__ import annotations

import ctypes
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np

import tacit
from benchmarks import report
from benchmarks.adtree.searches import rules, selection
from benchmarks.adtree.synth import all_tables, whatever_the_records
from benchmarks.adtree.tables import tables_of_adult
from benchmarks.adult import NotAtHandError, adult, msweb, mushroom, synth, unasked
from benchmarks.report import Section, milliseconds, per_item, race

LEAVES = (1, 4, 16, 64, 256, 1_024, 4_096)
LIMIT = 200_000_000
TIGHT = 1_000_000
MSWEB_TABLES = 20_000
COMMON = 50
CHECKED_ONE_IN = 20
BUILDS = 3
DATA = {
    "Adult 1": lambda: adult("test", complete=True),
    "Adult 2": lambda: adult("train", complete=True),
    "Adult 3": lambda: adult("both", complete=True),
    **{
        f"synth {m // 1000}k": lambda m=m: synth(m)
        for m in (30_000, 60_000, 125_000, 250_000, 500_000)
    },
    "mushroom": mushroom,
}


def megabytes(n_bytes: float) -> str:
    return f"{n_bytes / 1e6:.1f} MB"


def sizes(section: Section) -> None:
    section.part(
        "The size of trees",
        "After the paper's table 2. A full tree holds every count down to leaves of fewer than 16 "
        "records, so that no table of any columns is left to grow; a lazy one has grown for all "
        "tables of three columns, and keeps lists of records where it may grow on. Bytes include "
        "the codes of columns that leaves refer to, time the making of them. Adult 1 is the test "
        "set, 2 the training set and 3 both, without records that have missing values, numbers in "
        "five bins. The last column is a full tree without leaf lists, as the paper has for Adult.",
    )
    rows = []
    for name, make in DATA.items():
        try:
            rows.append(size_row(name, make()))
        except NotAtHandError as reason:
            rows.append((name, f"left out: {reason}", *["–"] * 8))
    try:
        rows.append(msweb_size())
    except NotAtHandError as reason:
        rows.append(("msweb", f"left out: {reason}", *["–"] * 8))
    head = ("data", "records × columns", "nodes, full", "size", "build", "nodes, lazy", "size",
            "growth", "tables", "nodes, leaf_size 1")  # fmt: skip
    section.table(head, rows)


def size_row(name: str, table: tacit.Table) -> tuple[str, ...]:
    sets = np.array(list(combinations(range(table.n_columns), 3)))
    took = race(
        {
            "full": (lambda: unasked(table), lambda new: tacit.ADTree(new).build()),
            "lazy": (lambda: unasked(table), lambda new: tacit.ADTree(new).tables(sets)),
        },
        BUILDS,
    )
    full = tacit.ADTree(unasked(table)).build().stats()
    lazy = tacit.ADTree(unasked(table))
    lazy.tables(sets)
    grown = lazy.stats()
    unlisted = f"{tacit.ADTree(table, leaf_size=1).build().n_nodes:,}"
    return (
        name, f"{table.n_records:,} × {table.n_columns}", f"{full.nodes:,}",
        megabytes(full.bytes), milliseconds(took["full"]), f"{grown.nodes:,}",
        megabytes(grown.bytes), milliseconds(took["lazy"]), f"{len(sets):,}", unlisted,
    )  # fmt: skip


def msweb_size() -> tuple[str, ...]:
    table = msweb()
    sets = drawn_sets(table)
    tree = tacit.ADTree(unasked(table), memory_limit=LIMIT)
    start = time.perf_counter()
    tree.tables(sets)
    seconds = time.perf_counter() - start
    stats = tree.stats()
    return (
        "msweb, at most 200 MB", f"{table.n_records:,} × {table.n_columns}", "–", "–", "–",
        f"{stats.nodes:,}", megabytes(stats.bytes), milliseconds(seconds),
        f"{len(sets):,} drawn", "–",
    )  # fmt: skip


def leaf_sizes(section: Section) -> None:
    section.part("Leaf lists")
    table = adult("both", complete=True)
    target = table.schema.position("class")
    others = [c for c in range(table.n_columns) if c != target]
    sets = np.array([[*places, target] for places in combinations(others, 3)])
    section.say(
        "After the paper's table 4: full trees of Adult 3 with larger leaves, and the time they "
        f"take for all {len(sets)} tables of three columns and the class, one batch.",
        "",
    )
    trees = {leaf: tacit.ADTree(table, leaf_size=leaf).build() for leaf in LEAVES}
    right = tacit.counts.Scan(table).tables(sets).counts
    for leaf, tree in trees.items():
        assert np.array_equal(tree.tables(sets).counts, right), f"leaf_size {leaf} differs"
    build = race(
        {
            str(leaf): lambda leaf=leaf: tacit.ADTree(table, leaf_size=leaf).build()
            for leaf in trees
        },
        BUILDS,
    )
    search = race({str(k): lambda tree=tree: tree.tables(sets) for k, tree in trees.items()}, 7)
    rows = [
        (
            f"{leaf:,}", f"{tree.n_nodes:,}", megabytes(tree.nbytes),
            milliseconds(build[str(leaf)]), milliseconds(search[str(leaf)]),
        )
        for leaf, tree in trees.items()
    ]  # fmt: skip
    section.table(("leaf_size", "nodes", "size", "build", "search"), rows)


def wide_and_sparse(section: Section) -> None:
    section.part("Many columns in little memory")
    msweb()
    section.say(
        "msweb: tables of three columns, one by one, each line in a process of its own. "
        f"{MSWEB_TABLES:,} are drawn at random; and then all of the {COMMON} most visited areas, "
        "which make a larger tree. The size of the tree is looked at after every table; process "
        "memory is what the process grew by meanwhile, at its greatest. The smaller limit is there "
        f"to be reached. Every {CHECKED_ONE_IN}th table was compared with that of a `Scan`.",
        "",
    )
    rows = []
    spawn = multiprocessing.get_context("spawn")
    for title, limit in product(ASKED_OF_MSWEB, (LIMIT, TIGHT)):
        with ProcessPoolExecutor(1, spawn) as process:
            found = process.submit(ask_within, report.SHARED, title, limit).result()
        assert found["most"] <= limit, f"the tree took {found['most']:,} bytes"
        rows.append(
            (
                f"{found['tables']:,}, {title}", megabytes(limit), megabytes(found["most"]),
                megabytes(found["resident"]), f"{found['evictions']:,}", f"{found['nodes']:,}",
                per_item(found["seconds"], found["tables"]), f"never above {megabytes(limit)}",
            )
        )  # fmt: skip
    head = ("tables", "limit", "greatest size", "process memory", "times parts were dropped",
            "nodes at last", "a table", "goal")  # fmt: skip
    section.table(head, rows)


def drawn_sets(table: tacit.Table) -> Any:
    rng = np.random.default_rng(0)
    return np.array([rng.choice(table.n_columns, 3, replace=False) for _ in range(MSWEB_TABLES)])


def common_sets(table: tacit.Table) -> Any:
    visits = np.bincount(table.values, minlength=table.n_columns)
    return np.array(list(combinations(np.argsort(-visits)[:COMMON].tolist(), 3)))


ASKED_OF_MSWEB = {"drawn": drawn_sets, "most visited": common_sets}


def ask_within(shared: Path, title: str, limit: int) -> dict[str, Any]:
    """Ask a tree of limited memory for tables of msweb; runs in a process of its own."""
    report.SHARED = shared
    table = msweb()
    sets = ASKED_OF_MSWEB[title](table).tolist()
    named = [[table.schema.names[c] for c in places] for places in sets]
    ctypes.CDLL(None).malloc_trim(0)  # so that memory freed before does not hide what is taken
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
    before = resident("VmRSS")
    tree = tacit.ADTree(table, memory_limit=limit)
    most, seconds = tree.nbytes, 0.0
    for columns in named:
        start = time.perf_counter()
        tree.table(columns)
        seconds += time.perf_counter() - start
        most = max(most, tree.nbytes)
    grown, stats = resident("VmHWM") - before, tree.stats()
    scan = tacit.counts.Scan(unasked(table))
    for columns in named[::CHECKED_ONE_IN]:
        found, right = tree.table(columns).to_array(), scan.table(columns).to_array()
        assert np.array_equal(found, right), f"the tree differs in {columns}"
    return {
        "most": max(most, tree.nbytes), "resident": grown, "evictions": stats.evictions,
        "nodes": stats.nodes, "seconds": seconds, "tables": len(named),
    }  # fmt: skip


def resident(kind: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(kind)) * 1024


def main() -> None:
    section = Section("adtree", "Cached statistics")
    section.made_with("numpy", "polars", note="Single thread unless said otherwise.")
    parts = (
        sizes, leaf_sizes, tables_of_adult, all_tables, whatever_the_records, wide_and_sparse,
        selection, rules,
    )  # fmt: skip
    for part in parts:
        try:
            part(section)
        except NotAtHandError as reason:
            section.say(f"(Left out: {reason}.)", "")
    section.write()


if __name__ == "__main__":
    main()
