"""Significant rules: the time of permutations, and how often anything is found in noise."""

from __future__ import annotations

import functools
import lzma
import re
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import stats

import tacit
from benchmarks import adult
from benchmarks.baskets import naive_permutations as naive
from benchmarks.report import SHARED, Section, milliseconds, on_one_core, times

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.baskets.naive_permutations import FisherTable, Hypotheses

ALPHA = 0.05
N_PERMUTATIONS = 1000
SOME = 10  # permutations that the slow peer is timed on
MANY, FEWER = 20_000, 200  # hypotheses above which the fast peer takes fewer permutations, too
N_RUNS = 200  # on permuted labels
AT_LEAST = 50


class Task(NamedTuple):
    name: str
    table: tacit.Table
    target: str
    max_size: int
    value: object = None

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Which records are positive."""
        column = self.table.to_frame()[self.target].to_numpy()
        return np.asarray(column == (True if self.value is None else self.value), np.bool_)


def groceries() -> tacit.Table:
    path = SHARED / "groceries" / "groceries.csv.xz"
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return tacit.Table.from_baskets(
            [re.split(r"\s*,\s*", line.strip()) for line in file if line.strip()]
        )


def tasks() -> list[Task]:
    """Return the tables, of which all numbers are cut, and what is asked of them."""
    census = adult.adult("both", complete=False)
    shop = groceries()
    return [
        Task("mushroom, type", adult.mushroom(), "type", 3, "p"),
        Task("Adult, class", census, "class", 2, ">50K"),
        Task("Adult, class", census, "class", 3, ">50K"),
        Task("groceries, whole milk", shop, "whole milk", 3),
    ]


def search(task: Task, correction: Any = "permutation") -> tacit.SignificantRules:
    """Search for all that is significant."""
    return tacit.SignificantRules(
        ALPHA, correction=correction, value=task.value, n_permutations=N_PERMUTATIONS,
        max_size=task.max_size, redundant=True, random_state=0, n_jobs=1,
    ).fit(task.table, task.target)  # fmt: skip


def check_rules(
    task: Task, ours: tacit.SignificantRules, found: Hypotheses, table: FisherTable
) -> NDArray[np.float64]:
    """Check that the peer finds the same below our threshold; return its p-values of our rules."""
    positive = task.positive
    positives = naive.counts(found.bits & naive.pack(positive[None]))
    p_values = table(found.support, positives)
    limit = ours.threshold_
    is_below = p_values < limit * (1 - 1e-7)
    assert is_below.sum() <= len(ours.rules_) <= (p_values < limit * (1 + 1e-7)).sum(), task.name
    columns = {name: task.table.to_frame()[name] for name in task.table.to_frame().columns}
    theirs = np.sort(p_values)[: len(ours.rules_)]
    mine = np.array([rule.p_value for rule in ours.rules_])
    np.testing.assert_allclose(mine, theirs, rtol=2e-7, atol=1e-300)
    # Each rule is a hypothesis of the peer, with the same counts and p-value.
    for rule in ours.rules_[:: max(1, len(ours.rules_) // 200)]:
        held = np.ones(task.table.n_records, np.bool_)
        for name, label in rule.conditions.items():
            values = columns[name]
            same = values.is_null() if label is None else values == label
            held &= same.fill_null(False).to_numpy()
        place = found.place_of(held)
        assert (rule.support, rule.positives) == (found.support[place], positives[place])
        np.testing.assert_allclose(rule.p_value, p_values[place], rtol=2e-7, atol=1e-300)
    return theirs


def check_bound(task: Task, found: Hypotheses, table: FisherTable) -> None:
    """Check Tarone's bound: the same divisor, and as many testable hypotheses, exactly."""
    ours = search(task, "tarone")
    least = np.sort(table.least[found.support])
    n_tests = 1
    while (n_testable := int((least <= ALPHA / n_tests * (1 + 1e-9)).sum())) > n_tests:
        n_tests += 1
    assert ours.n_testable_ == n_testable, (ours.n_testable_, n_testable)
    np.testing.assert_allclose(ours.threshold_, ALPHA / n_tests, rtol=1e-8)


def check_permutations(
    ours: tacit.SignificantRules, theirs: NDArray[np.float64], minima: NDArray[np.float64]
) -> None:
    """Check thresholds and adjusted p-values against other permutations: within their error."""
    each = 1 / N_PERMUTATIONS + 1 / len(minima)  # both are estimates
    limit = ours.threshold_
    below, up_to = ((minima < limit * (1 + side)).mean() for side in (-1e-7, 1e-7))
    error = 4 * np.sqrt(ALPHA * (1 - ALPHA) * each)
    assert below - error <= ALPHA <= up_to + error, (below, up_to)
    peer = (1 + (minima[None] <= theirs[:, None] * (1 + 1e-7)).sum(axis=1)) / (1 + len(minima))
    mine = np.array([rule.adjusted_p_value for rule in ours.rules_])
    error = 5 * np.sqrt(np.maximum(peer, 1 / len(minima)) * (1 - peer) * each)
    assert (np.abs(mine - peer) <= error + 1 / len(minima)).all(), np.abs(mine - peer).max()


def compare(task: Task) -> list[str]:
    """Search once, and by both ways of NumPy; return a row of the table."""
    positive, table = task.positive, task.table
    frame = table.to_frame().drop(task.target)
    seconds = float(np.median(times(functools.partial(search, task), 3)))
    ours = search(task)
    found = naive.find_hypotheses(frame, task.max_size)
    p_values = naive.FisherTable.of(table.n_records, int(positive.sum()), found.support)
    before = found.seconds + p_values.seconds
    start = time.perf_counter()
    permuted = naive.permute(positive, N_PERMUTATIONS, 1)
    before += time.perf_counter() - start
    start = time.perf_counter()
    n_at_once = N_PERMUTATIONS if len(found.bits) < MANY else FEWER
    minima = naive.all_at_once(found, p_values, permuted[:n_at_once])
    at_once = (time.perf_counter() - start) * N_PERMUTATIONS / n_at_once
    start = time.perf_counter()
    some = naive.one_by_one(found, p_values, permuted[:SOME])
    one_by_one = (time.perf_counter() - start) * N_PERMUTATIONS / SOME
    np.testing.assert_array_equal(some, minima[:SOME])
    theirs = check_rules(task, ours, found, p_values)
    check_bound(task, found, p_values)
    check_permutations(ours, theirs, minima)
    peers = [before + one_by_one, before + at_once]
    row = [
        f"{task.name}, ≤ {task.max_size} conditions",
        f"{table.n_records:,}",
        f"{len(found.bits):,}",
        f"{ours.n_testable_:,}",
        f"{ours.n_significant_:,}",
        milliseconds(seconds),
        *(milliseconds(peer) for peer in peers),
        *(f"{peer / seconds:,.0f}×" for peer in peers),
    ]
    print(row, f"before {before:.1f} s", flush=True)
    return row


def write_times() -> None:
    """Write how long searches take."""
    section = Section("significant-rules", "Significant rules", 3)
    section.made_with("numpy", "scipy", note="One thread on one core.")
    section.say(
        f"All conjunctions that a target depends on, Fisher's test, two-sided, {N_PERMUTATIONS:,} "
        "permutations (Westfall and Young), all that is significant reported. Hypotheses are the "
        "distinct sets of records that conjunctions have. NumPy finds them level by level, tables "
        "p-values by support, and counts positives of all hypotheses: of one permutation after the "
        f"other, by rows of bits (timed on {SOME} of them and scaled), or of all at once, by "
        f"products of matrices in single precision, as well as NumPy can ({FEWER} of them, scaled, "
        f"where there are more than {MANY:,} hypotheses). Checked: the "
        "p-values of all that is reported (relative 2·10⁻⁷), the same hypotheses below the "
        "threshold, the same number of tests and of testable hypotheses by Tarone's bound, "
        "threshold and adjusted p-values within the Monte Carlo error of the peer's own "
        f"permutations. Asked for: {AT_LEAST}× of the test that takes permutations one by one.",
        "",
    )
    with on_one_core():
        rows = [compare(task) for task in tasks()]
    section.table(
        (
            "data", "records", "hypotheses", "testable", "significant", "tacit",
            "NumPy, one by one", "NumPy, all at once", "faster", "faster than all at once",
        ),
        rows,
    )  # fmt: skip
    section.write()


def write_errors() -> None:
    """Write how often anything is reported where the target depends on nothing."""
    most = int(stats.binom.ppf(0.999, N_RUNS, ALPHA))
    section = Section("significant-rules-noise", "Significant rules of permuted labels", 3)
    section.say(
        f"The same data, {N_RUNS} times with permuted labels, so that all that is reported is "
        f"wrong; `alpha` is {ALPHA}. By chance anything is reported in more than {most} of "
        f"{N_RUNS} runs once in a thousand times, if it is {ALPHA:.0%} of them on average. "
        "Permutations keep it exactly; Tarone's bound and false discovery rates are on the safe "
        "side.",
        "",
    )
    rng = np.random.default_rng(0)
    kinds = (("fwer", "permutation"), ("fwer", "tarone"), ("fdr", "yekutieli"), ("fdr", "hochberg"))
    rows = []
    for task in tasks():
        if task.name.startswith("Adult") and task.max_size > 2:  # the same as with two
            continue
        reported = dict.fromkeys(kinds, 0)
        others = task.table.select([c for c in task.table.to_frame().columns if c != task.target])
        for run in range(N_RUNS):
            y = rng.permutation(task.positive)
            for control, correction in kinds:
                found = tacit.SignificantRules(
                    ALPHA, control=control, correction=correction, n_permutations=999,
                    max_size=task.max_size, random_state=run,
                ).fit(others, y)  # fmt: skip
                reported[control, correction] += len(found.rules_) > 0
        assert max(reported.values()) <= most, reported
        shown = [f"{count} ({count / N_RUNS:.1%})" for count in reported.values()]
        rows.append([f"{task.name}, ≤ {task.max_size} conditions", *shown])
        print(rows[-1], flush=True)
    names = [f"{control}, {correction}" for control, correction in kinds]
    section.table(("runs that report anything", *names), rows)
    section.write()


def main(*parts: str) -> None:
    """Write the sections, or the one of "times" or "errors"."""
    if "times" in parts or not parts:
        write_times()
    if "errors" in parts or not parts:
        write_errors()


if __name__ == "__main__":
    main(*sys.argv[1:])
