"""Searches over counts: feature selection and rule finding, against the same search over NumPy."""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

import tacit
from benchmarks.adult import adult, unasked
from benchmarks.numpy_counting import PLAIN, TUNED, NumpyCounter
from benchmarks.report import milliseconds, per_item, race

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from benchmarks.report import Section

    Count: TypeAlias = Callable[[Sequence[int]], Any]  # the cells of some columns

SIZES = (1, 2, 3, 4, 5)
KEPT = 20
MIN_SUPPORT = 200
TARGET, VALUE = "class", ">50K"


def repeats(size: int) -> int:
    """Return how often to run searches for so many attributes; large ones take seconds."""
    return 5 if size <= 3 else 3 if size == 4 else 1


def selection(section: Section) -> None:
    section.part("Feature selection")
    table = adult("both", complete=True)
    numpy = NumpyCounter(table)
    section.say(
        f"Adult 3, {table.n_records:,} × {table.n_columns}: the {KEPT} best sets of n of 14 "
        "columns by information gain about the class, after the paper's table 5. `BestSubset` "
        "begins with a Table that was never asked, or has an `ADTree` that has grown for the same "
        "search. NumPy counts and scores every set, or counts for `BestSubset`. All give the same "
        "sets and scores.",
        "",
    )
    rows = [selection_row(table, numpy, size) for size in SIZES]
    head = ("n", "sets", "counted", "`BestSubset`", "a set", "tree grown before",
            f"{PLAIN}, all sets", "ratio", f"{TUNED}, all sets", "ratio",
            "`BestSubset` over the latter", "ratio", "goal")  # fmt: skip
    section.table(head, rows)


def selection_row(table: tacit.Table, numpy: NumpyCounter, size: int) -> tuple[str, ...]:
    def search(records: tacit.Table, counter: Any) -> tacit.BestSubset:
        return tacit.BestSubset(n_features=size, n_best=KEPT, counter=counter).fit(records, TARGET)

    grown = tacit.ADTree(table)
    right = best_by_numpy(table, numpy.tuned, size)
    for counter in (None, grown, numpy):
        best = search(table, counter)
        names = [tuple(table.schema.names[c] for c in places) for places, _ in right]
        assert [subset.columns for subset in best.ranking_] == names, "other sets are best"
        scores = [subset.score for subset in best.ranking_]
        assert np.allclose(scores, [gain for _, gain in right], rtol=0, atol=1e-9)
    took = race(
        {
            "tacit": (lambda: unasked(table), lambda new: search(new, None)),
            "grown": lambda: search(table, grown),
            "plain": lambda: best_by_numpy(table, numpy.plain, size),
            "tuned": lambda: best_by_numpy(table, numpy.tuned, size),
            "over numpy": lambda: search(table, numpy),
        },
        repeats(size),
        warm_up=size < 4,  # the check has run most of it
    )
    n_sets = math.comb(table.n_columns - 1, size)
    seconds = took["tacit"]
    return (
        str(size), f"{n_sets:,}", f"{best.n_scored_:,}", milliseconds(seconds),
        per_item(seconds, n_sets),
        milliseconds(took["grown"]), milliseconds(took["plain"]), f"{took['plain'] / seconds:.1f}×",
        milliseconds(took["tuned"]), f"{took['tuned'] / seconds:.1f}×",
        milliseconds(took["over numpy"]), f"{took['over numpy'] / seconds:.1f}×",
        "10×" if size == 3 else "–",
    )  # fmt: skip


def best_by_numpy(
    table: tacit.Table, count: Count, size: int
) -> list[tuple[tuple[int, ...], float]]:
    """Score every set; return the best, and the first of those that score the same."""
    target = table.schema.position(TARGET)
    m, arity = table.n_records, int(table.schema.arities[target])
    whole = np.arange(m + 1)
    xlogx = whole * np.log(np.maximum(whole, 1))  # of every count there can be
    classes = xlogx[m] - xlogx[count([target])].sum()
    gains = []
    for places in combinations([c for c in range(table.n_columns) if c != target], size):
        cells = count([*places, target])
        rows = cells.reshape(-1, arity).sum(axis=1)
        rest = xlogx[rows].sum() - xlogx[cells].sum()
        gains.append((places, float(classes - rest) / m))
    return sorted(gains, key=lambda gain: (-round(gain[1], 12), gain[0]))[:KEPT]


def rules(section: Section) -> None:
    section.part(
        "Rule finding",
        f"Adult 3: the {KEPT} rules of n conditions with the highest confidence for "
        f"class {VALUE} that at least {MIN_SUPPORT} records match, after the paper's table 6. "
        "NumPy counts the table of every set of n columns with the class and looks through its "
        "rows, passing over those that cannot be among the best any more. Both give the same rules "
        "in the same order. `RuleFinder` begins with a Table that was never asked.",
    )
    table = adult("both", complete=True)
    numpy = NumpyCounter(table)
    rows = []
    for size in SIZES:
        finder = tacit.RuleFinder(
            target=TARGET, value=VALUE, n_conditions=size, min_support=MIN_SUPPORT, n_rules=KEPT
        )
        right, n_rules = rules_by_numpy(table, numpy.tuned, size)
        listed = [
            (tuple(rule.conditions.items()), rule.support, rule.hits)
            for rule in finder.fit(table).rules_
        ]
        assert listed == right, f"other rules of {size} conditions are best"
        took = race(
            {
                "tacit": (lambda: unasked(table), finder.fit),
                "plain": partial(rules_by_numpy, table, numpy.plain, size),
                "tuned": partial(rules_by_numpy, table, numpy.tuned, size),
            },
            repeats(size),
            warm_up=size < 4,
        )
        rows.append(
            (
                str(size), f"{n_rules:,}", milliseconds(took["tacit"]),
                per_item(took["tacit"], n_rules), milliseconds(took["plain"]),
                f"{took['plain'] / took['tacit']:.1f}×", milliseconds(took["tuned"]),
                f"{took['tuned'] / took['tacit']:.1f}×",
                "10×" if size == 4 else "–",
            )
        )  # fmt: skip
    head = ("n", "rules with that support", "`RuleFinder`", "a rule", PLAIN, "ratio", TUNED,
            "ratio", "goal")  # fmt: skip
    section.table(head, rows)


def rules_by_numpy(table: tacit.Table, count: Count, size: int) -> tuple[list[Any], int]:
    """Return the best rules, each with support and hits, and how many have the support."""
    schema = table.schema
    target = schema.position(TARGET)
    code, arity = schema.column(target).code(VALUE), int(schema.arities[target])
    best: list[tuple[Any, ...]] = []
    worst, n_rules = -1.0, 0
    for places in combinations([c for c in range(len(schema)) if c != target], size):
        cells = count([*places, target]).reshape(-1, arity)
        support = cells.sum(axis=1)
        rows = np.flatnonzero(support >= MIN_SUPPORT)
        n_rules += len(rows)
        hits, matching = cells[rows, code], support[rows]
        confidence = hits / matching
        for k in np.flatnonzero(confidence >= worst):
            shape = schema.arities[list(places)]
            codes = tuple(int(index) for index in np.unravel_index(rows[k], shape))
            best.append((-float(confidence[k]), -int(matching[k]), places, codes, int(hits[k])))
        if len(best) > KEPT:
            best = sorted(best)[:KEPT]
            worst = -best[-1][0]
    listed = [
        (
            tuple(
                (schema.names[c], schema.labels[c][index])
                for c, index in zip(places, codes, strict=True)
            ),
            -support,
            hits,
        )
        for _, support, places, codes, hits in sorted(best)[:KEPT]
    ]
    return listed, n_rules
