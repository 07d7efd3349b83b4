"""The planner against the best engine for a whole workload, growth included."""

from __future__ import annotations

import gzip
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import tacit
from benchmarks import report
from benchmarks.adult import NotAtHandError, adult, unasked
from benchmarks.report import Section, milliseconds, race

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.report import Work

    Given = dict[str, Any]
    Question = tuple[list[str], Given | None]

REPEATS = 3
GOAL = 1.3
DNA = 3_186, 61, 4  # records, columns and values of each
ENGINES: dict[str, Callable[[tacit.Table], tacit.counts.Counter]] = {
    "`Scan`": tacit.counts.Scan,
    "`Bitmaps`": tacit.counts.Bitmaps,
    "`ADTree`": tacit.ADTree,
    "planner": partial(tacit.counter, memo=0),
}


def dna() -> tacit.Table:
    """Return a table of the shape of DNA data: 60 columns of four values and a class of three."""
    n_records, n_columns, n_values = DNA
    rng = np.random.default_rng(0)
    classes = rng.choice(3, n_records, p=[0.25, 0.25, 0.5])
    codes = rng.integers(0, n_values, (n_records, n_columns - 1))
    for k in range(25, 35):  # near the junction, classes have bases of their own
        own = rng.random(n_records) < 0.6
        codes[own, k] = (classes[own] + k) % n_values
    columns = {f"base {k}": codes[:, k] for k in range(n_columns - 1)}
    return tacit.Table(pl.DataFrame({**columns, "class": classes}))


def kdd() -> tacit.Table:
    """Return the connections of the KDD Cup 1999, numbers in ten bins."""
    path = report.SHARED / "kddcup99_10pct" / "kddcup.data_10_percent.gz"
    if not path.exists():
        raise NotAtHandError("kddcup99_10pct is not among the shared data")
    with gzip.open(path) as stream:
        frame = pl.read_csv(stream.read(), has_header=False)
    return tacit.Table(frame).cut()


DATA = {
    "Adult": lambda: adult("both", complete=False),
    f"DNA-like, drawn, {DNA[0]:,} × {DNA[1]}": dna,
    "KDD Cup 1999, 10 %": kdd,
}


def workloads(table: tacit.Table, n_questions: int) -> Iterator[tuple[str, list[Question]]]:
    """Yield questions as searches and people ask them."""
    rng = np.random.default_rng(1)
    names = list(table.schema.names)
    *others, target = names
    triples = list(combinations(others, 3))

    def draw(n: int) -> list[str]:
        return [names[k] for k in rng.permutation(len(names))[:n]]

    def condition(name: str) -> Any:
        labels = table.schema[name].labels
        chosen = rng.permutation(len(labels))[: 1 + rng.integers(max(1, len(labels) - 1))]
        return labels[int(chosen[0])] if rng.random() < 0.5 else [labels[int(k)] for k in chosen]

    pairs = [[a, b, target] for a, b in combinations(others, 2)]
    yield "feature selection: pairs with the class", [(p, None) for p in pairs[:n_questions]]
    chosen = rng.choice(len(triples), min(n_questions, len(triples)), replace=False)
    triples_asked = [[*triples[k], target] for k in chosen]
    yield "feature selection: three and the class", [(own, None) for own in triples_asked]
    rules: list[Question] = []
    for _ in range(n_questions // 2):  # beam search: a rule grows by one condition at a time
        first, second = draw(2)
        given = {first: condition(first)}
        rules += [([target], given), ([target], {**given, second: condition(second)})]
    yield "rule finding: the class given conditions", rules
    cubes = [
        (draw(1 + k % 3), {n: condition(n) for n in draw(1 + k % 2)}) for k in range(n_questions)
    ]
    yield "random cubes given sets of labels", [*cubes]
    few = names[:7]
    dashboard: list[Question] = [
        ([view], {n: condition(n) for n in few if n != view and rng.random() < 0.3})
        for _ in range(n_questions // 7)
        for view in few
    ]
    yield "linked views of seven columns", dashboard


def one_by_one(asked: list[Question], counter: tacit.counts.Counter) -> None:
    for columns, given in asked:
        counter.table(columns, given)


def in_batches(batches: list[tuple[list[list[str]], Given | None]], counter: Any) -> None:
    for sets, given in batches:
        counter.tables(sets, given)


def together(asked: list[Question]) -> list[tuple[list[list[str]], Given | None]]:
    """Put questions with the same condition into one batch."""
    batches: dict[str, tuple[list[list[str]], Given | None]] = {}
    for columns, given in asked:
        batches.setdefault(repr(given), ([], given))[0].append(columns)
    return list(batches.values())


def check(table: tacit.Table, asked: list[Question]) -> None:
    counters = [make(table) for make in ENGINES.values()]
    for columns, given in asked[:: max(1, len(asked) // 100)]:
        right, *found = (counter.table(columns, given).to_array() for counter in counters)
        assert all(np.array_equal(right, counts) for counts in found), (columns, given)


def main() -> None:
    section = Section("planner", "The planner")
    section.made_with("numpy", "polars", note="Single thread.")
    section.say(
        "All questions of a workload, from a Table that was never asked: growth, codes and "
        "bitmaps are included, nothing is memoised. Answers of all engines were compared first. "
        "The ratio is the planner's time over that of the engine that is best for the whole "
        f"workload; the goal is at most {GOAL}.",
        "",
    )
    rows = []
    for name, make in DATA.items():
        try:
            table = make()
        except NotAtHandError as reason:
            section.say(f"({name} left out: {reason}.)", "")
            continue
        n_questions = 300 if table.n_records > 100_000 else 2_000
        for title, asked in workloads(table, n_questions):
            check(table, asked)
            ways: list[tuple[str, Any]] = [("one by one", partial(one_by_one, asked))]
            batches = together(asked)
            if len(batches) < len(asked) // 4:
                ways.append(("in batches", partial(in_batches, batches)))
            for way, ask in ways:
                rows.append((name, title, f"{len(asked):,}", way, *timed(table, ask)))
    head = ("data", "questions", "of them", "asked", *ENGINES, "ratio")
    section.table(head, rows)
    ratios = [float(row[-1]) for row in rows]
    section.say(
        f"{sum(ratio <= GOAL for ratio in ratios)} of {len(ratios)} keep to the goal; "
        f"the largest ratio is {max(ratios):.2f}.",
        "",
    )
    section.write()


def timed(table: tacit.Table, ask: Callable[[Any], None]) -> tuple[str, ...]:
    works: dict[str, Work] = {
        name: (lambda: unasked(table), lambda new, make=make: ask(make(new)))
        for name, make in ENGINES.items()
    }
    took = race(works, REPEATS, warm_up=False)
    best = min(seconds for name, seconds in took.items() if name != "planner")
    return (*map(milliseconds, took.values()), f"{took['planner'] / best:.2f}")


if __name__ == "__main__":
    main()
