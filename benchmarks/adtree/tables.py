"""Tables of Adult, by every counter and by NumPy: three columns, four, and given a value."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, groupby
from typing import TYPE_CHECKING, Any

import numpy as np

import tacit
from benchmarks.adtree.peers import against_peers
from benchmarks.adult import adult, unasked
from benchmarks.numpy_counting import PLAIN, RAVELED, TUNED, NumpyCounter
from benchmarks.report import per_item, race

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.report import Section, Work

DRAWN = 10_000
DRAWN_LARGE = 2_000  # four columns, or three given a value of a fourth
PEER_TABLES = 100
REPEATS = 3
SCAN, SCAN_ALL = "`Scan`, one by one", "`Scan`, one batch"
BITMAPS = "`Bitmaps`, one by one"
NEW, NEW_ALL = "`ADTree`, built meanwhile, one by one", "`ADTree`, built meanwhile, one batch"
GROWN, GROWN_ALL = "`ADTree`, grown before, one by one", "`ADTree`, grown before, one batch"
PLANNED = "`tacit.counter`, memo off, from scratch, one by one"
PLANNED_ALL = "`tacit.counter`, memo off, from scratch, one batch"


@dataclass
class Questions:
    """Tables to ask for; `given` has a column and a code for each, or is empty."""

    title: str
    sets: list[list[int]]
    given: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.given:  # those with a condition in common can be asked for at once
            order = sorted(range(len(self.sets)), key=lambda k: self.given[k])
            self.sets = [self.sets[k] for k in order]
            self.given = [self.given[k] for k in order]


def questions(table: tacit.Table) -> Iterator[Questions]:
    rng = np.random.default_rng(0)
    n = table.n_columns

    def draw(size: int, count: int) -> list[list[int]]:
        return [rng.permutation(n)[:size].tolist() for _ in range(count)]

    for size, count in ((3, DRAWN), (4, DRAWN_LARGE)):
        every = [list(places) for places in combinations(range(n), size)]
        yield Questions(f"{size} columns, each of {len(every):,} once", every)
        yield Questions(f"{size} columns, {count:,} drawn", draw(size, count))
    both = draw(4, DRAWN_LARGE)
    given = [(c, int(rng.integers(table.schema.arities[c]))) for *_, c in both]
    title = f"3 columns given a value, {DRAWN_LARGE:,} drawn"
    yield Questions(title, [places[:3] for places in both], given)


class Asker:
    """Asks counters of one table for all tables of some questions."""

    def __init__(self, table: tacit.Table, asked: Questions) -> None:
        names = table.schema.names
        self.named = [[names[c] for c in places] for places in asked.sets]
        self.sets = np.array(asked.sets)
        labels = table.schema.labels
        self.given = [{names[c]: labels[c][code]} for c, code in asked.given]
        self.runs = []
        for _, run in groupby(range(len(asked.given)), key=asked.given.__getitem__):
            own = list(run)
            self.runs.append((self.sets[own], self.given[own[0]]))

    def one_by_one(self, counter: tacit.counts.Counter) -> None:
        if self.given:
            for columns, given in zip(self.named, self.given, strict=True):
                counter.table(columns, given)
        else:
            for columns in self.named:
                counter.table(columns)

    def at_once(self, counter: tacit.counts.Counter) -> Any:
        """Return all counts, one table after another."""
        if self.given:
            return [counter.tables(sets, given).counts for sets, given in self.runs]
        return counter.tables(self.sets).counts

    def some(self, counter: tacit.counts.Counter, chosen: Sequence[int]) -> list[Any]:
        given = self.given or [None] * len(self.named)
        return [counter.table(self.named[k], given[k]).to_array().ravel() for k in chosen]


def asked_by_numpy(numpy: NumpyCounter, asked: Questions, how: str) -> list[Any]:
    if asked.given:
        return [
            numpy.given(places, *own) for places, own in zip(asked.sets, asked.given, strict=True)
        ]
    return [getattr(numpy, how)(places) for places in asked.sets]


def measured(table: tacit.Table, numpy: NumpyCounter, asked: Questions) -> dict[str, float]:
    """Return the seconds that each way takes for all questions, after checking the answers."""
    ask = Asker(table, asked)
    grown = tacit.ADTree(table)
    check(table, numpy, asked, ask, grown)

    def fresh(make: Callable[[tacit.Table], tacit.counts.Counter], work: Any) -> Work:
        return lambda: unasked(table), lambda new: work(make(new))

    planner = partial(tacit.counter, memo=0)
    scan, bitmaps = tacit.counts.Scan(table), tacit.counts.Bitmaps(table)
    works: dict[str, Work] = {
        TUNED: lambda: asked_by_numpy(numpy, asked, "tuned"),
        SCAN: lambda: ask.one_by_one(scan),
        SCAN_ALL: lambda: ask.at_once(scan),
        BITMAPS: lambda: ask.one_by_one(bitmaps),
        NEW: fresh(tacit.ADTree, ask.one_by_one),
        NEW_ALL: fresh(tacit.ADTree, ask.at_once),
        GROWN: lambda: ask.one_by_one(grown),
        GROWN_ALL: lambda: ask.at_once(grown),
        PLANNED: fresh(planner, ask.one_by_one),
        PLANNED_ALL: fresh(planner, ask.at_once),
    }
    if not asked.given:
        works[PLAIN] = lambda: asked_by_numpy(numpy, asked, "plain")
        works[RAVELED] = lambda: asked_by_numpy(numpy, asked, "raveled")
    return race(works, REPEATS, warm_up=False)


def check(
    table: tacit.Table, numpy: NumpyCounter, asked: Questions, ask: Asker, grown: tacit.ADTree
) -> None:
    """Compare all answers of batches, and some of those one by one."""
    right = asked_by_numpy(numpy, asked, "tuned")
    planner = tacit.counter(table, memo=0)
    for counter in (grown, tacit.counts.Scan(table), tacit.counts.Bitmaps(table), planner):
        found = ask.at_once(counter)
        found = np.concatenate(found) if asked.given else found
        assert np.array_equal(found, np.concatenate(right)), f"{counter} differs"
        chosen = range(0, len(right), max(1, len(right) // 200))
        for k, cells in zip(chosen, ask.some(counter, chosen), strict=True):
            assert np.array_equal(cells, right[k]), f"{counter} differs"
    for how in () if asked.given else ("plain", "raveled"):
        for k in range(0, len(right), max(1, len(right) // 200)):
            assert np.array_equal(getattr(numpy, how)(asked.sets[k]), right[k]), how


def tables_of_adult(section: Section) -> None:
    section.part("Any table of Adult")
    table = adult("both", complete=False)
    numpy = NumpyCounter(table)
    every = list(questions(table))
    section.say(
        f"Adult, all records: {table.n_records:,} × {table.n_columns}, missing values as a state, "
        "numbers in five bins. Time for one table, from all of them one after another. NumPy has "
        "its codes ready; "
        "a tree that is built meanwhile, and the planner, begin with a Table that was never asked. "
        "Nothing is memoised; Python's garbage collector is off while a clock runs. "
        "A batch is one call of `tables`; given values, one for each value. All counts of batches "
        "were compared with NumPy's, and some 200 of those asked one by one.",
        "",
    )
    took = {asked.title: measured(table, numpy, asked) for asked in every}
    size = {asked.title: len(asked.sets) for asked in every}
    ways = (PLAIN, TUNED, RAVELED, SCAN, SCAN_ALL, BITMAPS, NEW, NEW_ALL, GROWN, GROWN_ALL)
    rows = [
        (way, *(per_item(took[t][way], size[t]) if way in took[t] else "–" for t in took))
        for way in (*ways, PLANNED, PLANNED_ALL)
    ]
    section.table(("", *took), rows)
    figures(section, took)
    drawn = every[1]
    ours = {
        "`ADTree`, built meanwhile": took[drawn.title][NEW] / len(drawn.sets),
        "`Scan`": took[drawn.title][SCAN] / len(drawn.sets),
    }
    against_peers(section, table, numpy, drawn.sets[:PEER_TABLES], ours)


def figures(section: Section, took: dict[str, dict[str, float]]) -> None:
    """Say how often tacit is faster than NumPy, and the goals."""
    ways = (NEW, NEW_ALL, GROWN, GROWN_ALL, SCAN, SCAN_ALL, PLANNED, PLANNED_ALL)
    rows = [
        (way, *(f"{seconds[TUNED] / seconds[way]:.1f}×" for seconds in took.values()))
        for way in ways
    ]
    section.say("How many times as fast as NumPy with narrow codes and buffers:", "")
    section.table(("", *took), rows)
    title = f"3 columns, {DRAWN:,} drawn"
    seconds = took[title]
    rows = []
    for way, asked in ((NEW, "12×"), (NEW_ALL, "12×"), (SCAN, "5×"), (SCAN_ALL, "5×")):
        ratios = [f"{seconds[peer] / seconds[way]:.1f}×" for peer in (PLAIN, TUNED)]
        rows.append((way, *ratios, asked))
    section.say(f"Goals, {title}:", "")
    section.table(("", f"than {PLAIN}", f"than {TUNED}", "goal"), rows)
