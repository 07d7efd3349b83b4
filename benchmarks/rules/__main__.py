"""Boosted and covering rules: what the search takes, how it grows, and what is learnt."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

import tacit
from benchmarks.report import Section, cpu_seconds, milliseconds, on_one_core
from benchmarks.rules import quality
from benchmarks.rules.checks import adult_rules, five_sets
from benchmarks.rules.data import drawn
from benchmarks.rules.peers import Outcome, boomer, boomer_python, conditions, trees

if TYPE_CHECKING:
    from benchmarks.rules.data import Task

REPEATS = 3


def fit(task: Task, repeats: int = REPEATS, seed: int = 1, **settings: Any) -> Outcome:
    """Fit boosted rules; return the least CPU seconds of several runs, and what is predicted."""
    make = lambda: tacit.BoostedRulesClassifier(n_jobs=1, random_state=seed, **settings)  # noqa: E731
    y = task.Y[:, 0] if task.Y.shape[1] == 1 else task.Y
    runs = [cpu_seconds(lambda: make().fit(task.X, y)) for _ in range(repeats)]
    return Outcome(min(seconds for seconds, _ in runs), runs[-1][1].predict(task.T))


def cell(outcome: Outcome | None, task: Task) -> str:
    """Write what a learner took, and its fraction of wrong labels."""
    if outcome is None:
        return "not at hand"
    if math.isnan(outcome.seconds) or outcome.labels is None:
        return "given up"
    return f"{milliseconds(outcome.seconds)}, {task.wrong(outcome.labels):.4f}"


def ratio(peer: Outcome | None, ours: Outcome) -> str:
    if peer is None or math.isnan(peer.seconds):
        return "–"
    return f"{peer.seconds / ours.seconds:.1f}×"


def sparse_numbers(section: Section) -> None:
    """Rules from sparse real numbers, beside mlrl-boomer and boosted trees."""
    section.part(
        "Sparse numbers and 20 labels",
        "Records of `make_labelled_records`: non-negative numbers, most of them zero; each label "
        "is what eight rules say, and 2 % of all labels are turned over, so that no learner can do "
        "better than 0.02. A cell is the time of `fit` and the fraction of wrong labels (Hamming "
        "loss) of other records. mlrl-boomer gets CSC and its defaults, but for what the row "
        "says; boosted trees get CSR and their defaults, one model for each label.",
    )
    rows = []
    small = drawn(10_000, 1000, 0.01)
    large = drawn(100_000, 5000, 0.002)
    works = [
        ("10,000 × 1,000, 1 %, 5,000 rules, ≤ 3 conditions, log₂ n columns tried", small,
         {"n_rules": 5000, "max_conditions": 3, "feature_fraction": "log2"},
         {"max_rules": 5000, "rule_induction": conditions(3)}),
        ("the same, all columns tried", small, {"n_rules": 5000, "max_conditions": 3}, None),
        ("100 rules, ≤ 5 conditions, all columns tried", small,
         {"n_rules": 100, "max_conditions": 5},
         {"max_rules": 100, "rule_induction": conditions(5), "feature_sampling": "none"}),
        ("100,000 × 5,000, 0.2 %, 500 rules, ≤ 3 conditions, log₂ n columns tried", large,
         {"n_rules": 500, "max_conditions": 3, "feature_fraction": "log2"},
         {"max_rules": 500, "rule_induction": conditions(3)}),
        ("the same, all columns tried", large, {"n_rules": 500, "max_conditions": 3}, None),
    ]  # fmt: skip
    for name, task, mine, theirs in works:
        ours = fit(task, **mine)
        peer = None
        if theirs is not None:
            peer = boomer(task.X, task.Y, task.T, feature_format="sparse", **theirs)
        rows.append((name, cell(ours, task), cell(peer, task) if theirs else "", ratio(peer, ours)))
    one = drawn(10_000, 1000, 0.01, 1)
    ours = fit(one, n_rules=100, max_conditions=1)
    theirs = {"max_rules": 100, "rule_induction": conditions(1), "feature_sampling": "none"}
    peer = boomer(one.X, one.Y, one.T, feature_format="sparse", **theirs)
    rows.append(
        (
            "one label, 100 rules of one condition",
            cell(ours, one),
            cell(peer, one),
            ratio(peer, ours),
        )
    )
    section.table(("work", "tacit", "mlrl-boomer, CSC", "faster"), rows)
    rows = []
    for name, task in (("10,000 × 1,000, 1 %", small),):
        X, T = sparse.csr_matrix(task.X), sparse.csr_matrix(task.T)
        others = [trees(kind, X, task.Y, T) for kind in ("lightgbm", "xgboost")]
        rows.append((name, cell(fit(task, n_rules=5000, max_conditions=3), task),
                     *(cell(other, task) for other in others)))  # fmt: skip
    section.table(("records", "tacit, 5,000 rules", "LightGBM", "XGBoost"), rows)


def same_rules(section: Section) -> None:
    """Check that rules do not depend on how records are stored; show what the peer finds."""
    section.part("The same rules, however records are stored")
    x, y = np.array([[0.0], [0], [0], [0], [1], [2]]), np.array([0, 0, 0, 0, 1, 1])
    stored = sparse.csc_array(x)
    rules = set()
    for X in (x, stored, sparse.csr_array(x)):
        for defaults in ("auto", "zero", "none", [1.0], [2.0]):
            model = tacit.BoostedRulesClassifier(
                n_rules=1, max_conditions=1, defaults=defaults
            ).fit(X, y)
            rules.add((model.rules_[0].condition, tuple(model.rules_[0].head.values())))
    assert len(rules) == 1, rules
    said = "is not at hand"
    between = np.array([[0.25], [0.75]])
    peers = [
        boomer(
            X, y, between, as_sparse=as_sparse, max_rules=5, rule_induction=conditions(1),
            feature_sampling="none", probability_predictor="output-wise",
        )
        for X, as_sparse in ((x, False), (stored, True))
    ]  # fmt: skip
    told = [peer.shares for peer in peers if peer is not None and peer.shares is not None]
    if len(told) == 2:
        ways = ["apart" if np.ptp(shares) > 0 else "not apart" for shares in told]
        said = f"tells x = 0.25 and 0.75 {ways[0]} from dense records and {ways[1]} from CSC"
    section.say(
        "Of x = 0, 0, 0, 0, 1, 2 and y = 0, 0, 0, 0, 1, 1 the first rule has to ask for 0.5. Ours "
        f"is `{next(iter(rules))[0]}` from dense records, CSC and CSR, and with any default "
        f"value. mlrl-boomer {said}.",
        "",
    )


def growth(section: Section) -> None:
    """Show that time follows stored values."""
    section.part(
        "Time follows stored values",
        "10,000 × 1,000 numbers of growing density, one label, 100 rules of one condition, all "
        "columns tried. Columns that cannot hold the best condition are passed over, so that fewer "
        "values are read than there are. The time to code columns is apart.",
    )
    rows = []
    for density in (0.001, 0.003, 0.01, 0.03, 0.1):
        task = drawn(10_000, 1000, density, 1)
        none = fit(task, n_rules=1, max_conditions=1)
        some = fit(task, n_rules=101, max_conditions=1)
        each = (some.seconds - none.seconds) / 100
        rows.append(
            (
                f"{density:.1%}",
                f"{task.X.nnz:,}",
                milliseconds(none.seconds),
                f"{each * 1e6:,.0f} µs",
                f"{each / task.X.nnz * 1e9:.2f} ns",
                f"{each / task.X.shape[0] * 1e9:.2f} ns",
            )
        )
    section.table(
        (
            "stored",
            "stored values",
            "columns coded, first rule",
            "each rule",
            "each rule and value",
            "each rule and record",
        ),
        rows,
    )


def histograms(section: Section) -> None:
    """Exact search beside bins, at 10 % stored."""
    section.part("Bins")
    rows = []
    for density in (0.01, 0.1):
        task = drawn(10_000, 1000, density)
        settings = {"n_rules": 500, "max_conditions": 3}
        exact = fit(task, 1, **settings)
        for n_bins in (32, 64):
            bins = fit(task, 1, algorithm="histogram", n_bins=n_bins, **settings)
            rows.append(
                (
                    f"{density:.0%}, {n_bins} bins",
                    cell(exact, task),
                    cell(bins, task),
                    ratio(exact, bins),
                )
            )
    section.table(("stored", "exact search", "bins", "faster"), rows)


def main() -> None:
    section = Section("rules", "Boosted and covering rules")
    boomer_is = "mlrl-boomer 0.12.3 has an environment of its own. " if boomer_python() else ""
    section.made_with(
        "numpy",
        "scikit-learn",
        note=f"{boomer_is}One thread on one core; CPU seconds of `fit`, the least of {REPEATS} "
        "runs of ours and one of a peer, on the same splits.",
    )
    with on_one_core():
        same_rules(section)
        sparse_numbers(section)
        five_sets(section, fit)
        adult_rules(section)
        growth(section)
        histograms(section)
    section.write()
    quality.main()


if __name__ == "__main__":
    if sys.argv[1:] == ["quality"]:
        quality.main()
    else:
        main()
