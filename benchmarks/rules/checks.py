"""What rules find in real data: five multi-label sets, and Adult."""

from __future__ import annotations

import importlib.metadata
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.metrics import roc_auc_score

import tacit
from benchmarks.adult import NotAtHandError
from benchmarks.report import cpu_seconds, milliseconds
from benchmarks.rules.data import SETS, adult, multilabel
from benchmarks.rules.peers import Outcome, boomer, given_time, rule_learners, trees

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.report import Section
    from benchmarks.rules.data import Task

# One setting for all sets: of 28, the one with the least loss in cross-validation on the training
# parts, relative to the best for each set.
SETTING: dict[str, Any] = {
    "heads": "complete", "max_conditions": 4, "sample": "subsample", "feature_fraction": 0.1,
    "learning_rate": 0.2, "l2": 3.0,
}  # fmt: skip
SEEDS = range(1, 6)
ADULT: dict[str, Any] = {"l2": 5.0}  # of ten settings, the best AUC in cross-validation
PATIENCE = 120  # seconds for learners that may take hours


def five_sets(section: Section, fit: Callable[..., Outcome]) -> None:
    """1,000 rules for each of five sets."""
    section.part("Five multi-label sets, 1,000 rules")
    said = ", ".join(f"{name}={value!r}" for name, value in SETTING.items())
    section.say(
        f"The usual splits; Hamming loss of the test part and time of `fit`. tacit with {said} for "
        "all sets, of 28 settings the best in cross-validation on the training parts (losses of "
        "the test parts were seen meanwhile); mlrl-boomer and boosted "
        "trees (one model for each label) with their defaults, not tuned. Rules are random: means "
        "of "
        f"{len(SEEDS)} seeds, least and greatest loss, and the least time.",
        "",
    )
    rows, totals = [], np.zeros(4)
    for name in SETS:
        try:
            task = multilabel(name)
        except NotAtHandError as absent:
            section.say(f"{absent}.", "")
            return
        X, T = (sparse.csr_matrix(z) if sparse.issparse(z) else z for z in (task.X, task.T))
        is_sparse = sparse.issparse(task.X)
        outcomes = [
            [fit(task, 1, seed, n_rules=1000, **SETTING) for seed in SEEDS],
            [
                boomer(task.X, task.Y, task.T, as_sparse=is_sparse, seed=seed, max_rules=1000)
                for seed in SEEDS
            ],
            [trees("lightgbm", X, task.Y, T)],
            [trees("xgboost", X, task.Y, T)],
        ]
        totals += [min(run.seconds if run else math.nan for run in runs) for runs in outcomes]
        rows.append((name, *(_cell(runs, task) for runs in outcomes)))
    rows.append(("all", *("–" if math.isnan(x) else milliseconds(x) for x in totals)))
    section.table(("set", "tacit", "mlrl-boomer", "LightGBM", "XGBoost"), rows)


def _cell(runs: Sequence[Outcome | None], task: Task) -> str:
    finished = [run for run in runs if run is not None and run.labels is not None]
    if not finished:
        return "not at hand"
    losses = [task.wrong(run.labels) for run in finished]
    spread = f" ({min(losses):.4f}–{max(losses):.4f})" if len(losses) > 1 else ""
    seconds = milliseconds(min(run.seconds for run in finished))
    return f"{np.mean(losses):.4f}{spread} in {seconds}"


def adult_rules(section: Section) -> None:
    """500 boosted rules for Adult, a decision list, and what others do."""
    section.part(
        "Adult",
        "The usual split; all learners with their defaults, but for what the name says. `l2=5` had "
        "the best AUC of ten settings in cross-validation on the training records; most of them "
        "differ by less than chance.",
    )
    try:
        data = adult()
    except NotAtHandError as absent:
        section.say(f"{absent}.", "")
        return
    (X, T), (y, truth) = data.frames, data.y

    def quality(labels: Any, probabilities: Any) -> tuple[str, str]:
        area = "–" if probabilities is None else f"{roc_auc_score(truth, probabilities):.4f}"
        return f"{np.mean(labels.ravel() == truth):.4f}", area

    rows = []
    for name, make in _ours().items():
        runs = [cpu_seconds(lambda make=make: make().fit(X, y)) for _ in range(3)]
        model = runs[-1][1]
        rows.append(
            (
                name,
                milliseconds(min(seconds for seconds, _ in runs)),
                *quality(model.predict(T), model.predict_proba(T)[:, 1]),
            )
        )
    flags, others = data.flags
    (coded, coded_others), wide = data.coded, y.reshape(-1, 1)
    peers: dict[str, Outcome | None] = {
        "mlrl-boomer, 500 rules": boomer(
            coded, wide, coded_others, as_sparse=False, nominal=data.nominal, max_rules=500,
            probability_predictor="output-wise",
        ),
        "mlrl-boomer, 500 rules, all columns tried": boomer(
            coded, wide, coded_others, as_sparse=False, nominal=data.nominal, max_rules=500,
            probability_predictor="output-wise", feature_sampling="none",
        ),
        **{
            _with_version(name, kind): trees(kind, flags, wide, others, 3)
            for name, kind in (("LightGBM", "lightgbm"), ("XGBoost", "xgboost"))
        },
        **{
            name: given_time(learn, PATIENCE, flags, y, others)
            for name, learn in rule_learners().items()
        },
    }  # fmt: skip
    for name, outcome in peers.items():
        if outcome is None:
            continue
        if outcome.labels is None:
            rows.append((name, f"given up after {PATIENCE} s", "–", "–"))
        else:
            rows.append(
                (
                    name,
                    milliseconds(outcome.seconds),
                    *quality(outcome.labels, outcome.probabilities),
                )
            )
    section.table(("learner", "fit", "accuracy", "AUC"), rows)


def _ours() -> dict[str, Callable[[], Any]]:
    return {
        "tacit, 500 boosted rules": lambda: tacit.BoostedRulesClassifier(random_state=1, n_jobs=1),
        "tacit, 500 boosted rules, l2=5": lambda: tacit.BoostedRulesClassifier(
            **ADULT, random_state=1, n_jobs=1
        ),
        "tacit, 500 boosted rules, 64 bins": lambda: tacit.BoostedRulesClassifier(
            algorithm="histogram", random_state=1, n_jobs=1
        ),
        "tacit, a list of covering rules": lambda: tacit.CoveringRulesClassifier(
            random_state=1, n_jobs=1
        ),
    }


def _with_version(name: str, package: str) -> str:
    try:
        return f"{name} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return name
