"""Synthetic records: all tables of three and four columns, and whether records matter."""

from __future__ import annotations

import time
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

import tacit
from benchmarks.adult import synth, unasked
from benchmarks.numpy_counting import PLAIN, TUNED, NumpyCounter
from benchmarks.report import milliseconds, per_item, race

if TYPE_CHECKING:
    from benchmarks.report import Section

LARGE, SMALL = 500_000, 30_000
SAMPLE = 100  # tables that NumPy is timed on
REPEATS = 5
LEAST_OF = 9
ROUNDS = 20_000  # tables of two columns are few: they are asked for so many times in all


def every_set(table: tacit.Table, size: int) -> Any:
    return np.array(list(combinations(range(table.n_columns), size)))


def one_by_one(counter: tacit.counts.Counter, named: list[list[str]]) -> None:
    for columns in named:
        counter.table(columns)


def all_tables(section: Section) -> None:
    section.part(f"All tables of {LARGE:,} synthetic records")
    table = synth(LARGE)
    numpy = NumpyCounter(table)
    section.say(
        f"`make_synth({LARGE})`, {table.n_columns} binary columns. NumPy has its codes ready, "
        f"and is timed on {SAMPLE} tables and scaled; a tree that is built "
        "meanwhile begins with a Table that was never asked. A batch is one call of `tables` "
        "for each number of columns. The counts of the sample were compared.",
        "",
    )
    rows = [row for sizes in ((3,), (4,), (3, 4)) for row in ratios(table, numpy, sizes)]
    head = ("tables", "by", "all", "a table", f"than {PLAIN}", f"than {TUNED}", "goal")
    section.table(head, rows)


def ratios(
    table: tacit.Table, numpy: NumpyCounter, sizes: tuple[int, ...]
) -> list[tuple[str, ...]]:
    groups = [every_set(table, size) for size in sizes]
    total = sum(map(len, groups))
    rng = np.random.default_rng(0)
    chosen = [rng.choice(len(sets), SAMPLE, replace=False) for sets in groups]
    samples = [sets[own].tolist() for sets, own in zip(groups, chosen, strict=True)]
    names = table.schema.names
    named = [[names[c] for c in places] for sets in groups for places in sets.tolist()]
    grown = tacit.ADTree(table)

    def batches(tree: tacit.ADTree) -> list[tacit.counts.Tables]:
        return [tree.tables(sets) for sets in groups]

    for tables, own, sample in zip(batches(grown), chosen, samples, strict=True):
        for k, places in zip(own, sample, strict=True):
            assert np.array_equal(tables[k].to_array().ravel(), numpy.tuned(places)), "not equal"
    works: dict[str, Any] = {
        "new": (lambda: unasked(table), lambda new: batches(tacit.ADTree(new))),
        "new, one by one": (
            lambda: unasked(table),
            lambda new: one_by_one(tacit.ADTree(new), named),
        ),
        "grown": lambda: batches(grown),
        "grown, one by one": lambda: one_by_one(grown, named),
    }
    for size, sample in zip(sizes, samples, strict=True):
        works[f"plain {size}"] = lambda sample=sample: [numpy.plain(own) for own in sample]
        works[f"tuned {size}"] = lambda sample=sample: [numpy.tuned(own) for own in sample]
    took = race(works, REPEATS)
    plain, tuned = (
        sum(took[f"{how} {k}"] * len(sets) / SAMPLE for k, sets in zip(sizes, groups, strict=True))
        for how in ("plain", "tuned")
    )
    title = f"{total:,} of {' and '.join(map(str, sizes))} columns"
    ways = (
        ("`ADTree`, built meanwhile, one batch", "new", "50×" if len(sizes) > 1 else "–"),
        ("`ADTree`, built meanwhile, one by one", "new, one by one", "–"),
        ("`ADTree`, grown before, one batch", "grown", "1,000×" if len(sizes) > 1 else "–"),
        ("`ADTree`, grown before, one by one", "grown, one by one", "–"),
    )
    by_numpy = [
        (title, how, milliseconds(seconds), per_item(seconds, total), "–", "–", "–")
        for how, seconds in ((PLAIN, plain), (TUNED, tuned))
    ]
    return by_numpy + [
        (
            title, way, milliseconds(took[key]), per_item(took[key], total),
            f"{plain / took[key]:,.0f}×", f"{tuned / took[key]:,.0f}×", asked,
        )
        for way, key, asked in ways
    ]  # fmt: skip


def whatever_the_records(section: Section) -> None:
    section.part("Time for a table, whatever the number of records")
    trees = [tacit.ADTree(synth(m)) for m in (SMALL, LARGE)]
    rows = []
    for size in (1, 2, 3, 4):
        sets = every_set(synth(1_000), size)
        sets = np.tile(sets, (max(1, ROUNDS // len(sets)), 1))
        taken = least(trees, sets)
        ratio = taken[1] / taken[0]
        rows.append(
            (str(size), *(per_item(t, len(sets)) for t in taken), f"{ratio:.2f}×",
             "at most 1.5×")
        )  # fmt: skip
    section.say(
        "The same tables of trees that have grown for them, one batch; the least of "
        f"{LEAST_OF} runs in turns.",
        "",
    )
    section.table(("columns", f"{SMALL:,} records", f"{LARGE:,} records", "ratio", "goal"), rows)


def least(trees: list[tacit.ADTree], sets: Any) -> list[float]:
    taken: list[list[float]] = [[], []]
    for tree in trees:
        tree.tables(sets)
    for _ in range(LEAST_OF):
        for own, tree in zip(taken, trees, strict=True):
            start = time.perf_counter()
            tree.tables(sets)
            own.append(time.perf_counter() - start)
    return [min(own) for own in taken]
