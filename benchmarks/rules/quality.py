"""How well rules predict as they come, beside boosted trees, a tree and other rules."""

from __future__ import annotations

import importlib.util
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.metrics import log_loss
from sklearn.tree import DecisionTreeClassifier

import tacit
from benchmarks.adult import NotAtHandError
from benchmarks.report import Section, cpu_seconds, milliseconds, on_one_core
from benchmarks.rules.peers import boomer, boomer_python, given_time
from benchmarks.rules.quality_data import CLASSES, LISTS, NUMBERS, split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from benchmarks.rules.quality_data import Records, Split

SEEDS = range(1, 6)
PATIENCE = 60  # seconds for a learner that may take hours
BEFORE: dict[str, Any] = {"n_rules": 500, "learning_rate": 0.3, "l2": 1.0, "sample": "none"}


class Trial(NamedTuple):
    """What a learner did on one split: its score, CPU seconds of fit, and the model's size."""

    score: float
    seconds: float
    parts: float = float("nan")  # rules, or leaves
    conditions: float = float("nan")
    loss: float = float("nan")


Learner = "Callable[[Split, int], Trial | None]"


def _fitted(model: Any, X: Any, y: Any) -> tuple[float, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cpu_seconds(lambda: model.fit(X, y))


def _ours(kind: Any, **settings: Any) -> Callable[[Split, int], Trial]:
    def learn(data: Split, seed: int) -> Trial:
        seconds, model = _fitted(kind(random_state=seed, n_jobs=1, **settings), data.X, data.y)
        loss = float("nan")
        if hasattr(model, "predict_proba"):
            loss = log_loss(data.truth, model.predict_proba(data.T), labels=model.classes_)
        score = model.score(data.T, data.truth)
        return Trial(score, seconds, model.n_rules_, len(model.rules_.arrays.columns), loss)

    return learn


def _peer(make: Callable[[int], Any], *, classes: bool) -> Callable[[Split, int], Trial]:
    def learn(data: Split, seed: int) -> Trial:
        y, truth = data.y, data.truth
        if classes:  # codes, as XGBoost asks for
            names = np.unique(y)
            y, truth = np.searchsorted(names, y), np.searchsorted(names, truth)
        seconds, model = _fitted(make(seed), data.wide, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            score = float(model.score(data.wide_test, truth))
            loss = float("nan")
            if classes:
                loss = log_loss(truth, model.predict_proba(data.wide_test), labels=model.classes_)
        return Trial(score, seconds, loss=loss)

    return learn


def _trees(kind: str) -> dict[str, Callable[[int], Any]]:
    """Return boosted trees that are at hand, each with its defaults and one thread."""
    made: dict[str, Callable[[int], Any]] = {}
    if importlib.util.find_spec("lightgbm"):
        import lightgbm

        lgb = getattr(lightgbm, f"LGBM{kind}")
        made["LightGBM"] = lambda s: lgb(n_jobs=1, verbose=-1, random_state=s)
    from sklearn import ensemble

    histogram = getattr(ensemble, f"HistGradientBoosting{kind}")
    made["HistGradientBoosting"] = lambda s: histogram(random_state=s)
    if importlib.util.find_spec("xgboost"):
        import xgboost

        xgb = getattr(xgboost, f"XGB{kind}")
        made["XGBoost"] = lambda s: xgb(n_jobs=1, random_state=s)
    if importlib.util.find_spec("catboost"):
        import catboost

        cat = getattr(catboost, f"CatBoost{kind}")
        made["CatBoost"] = lambda s: cat(
            thread_count=1, verbose=False, random_seed=s, allow_writing_files=False
        )
    return made


def _boomer(data: Split, seed: int) -> Trial | None:
    """Fit mlrl-boomer on a label for each class; the most probable one is predicted."""
    names, codes = np.unique(data.y, return_inverse=True)
    labels = (codes[:, None] == np.arange(len(names))).astype(np.uint8)
    labels = labels[:, 1:] if len(names) == 2 else labels
    done = boomer(
        data.wide, labels, data.wide_test, as_sparse=False, seed=seed, seconds=PATIENCE,
        probability_predictor="output-wise",
    )  # fmt: skip
    if done is None or done.probabilities is None:
        return None
    told = done.probabilities
    best = (told > 0.5).astype(int) if told.ndim == 1 else told.argmax(axis=1)
    return Trial(float(np.mean(names[best] == data.truth)), done.seconds)


def _cart(data: Split, seed: int) -> Trial:
    seconds, model = _fitted(DecisionTreeClassifier(random_state=seed), data.wide, data.y)
    return Trial(float(model.score(data.wide_test, data.truth)), seconds, model.get_n_leaves())


def _ripper(data: Split, seed: int) -> Trial | None:
    """Fit wittgenstein's RIPPER, which is for two classes; it is given up in time."""
    names = np.unique(data.y)
    if len(names) > 2 or not importlib.util.find_spec("wittgenstein"):
        return None
    rare = names[np.argmin([(data.y == name).sum() for name in names])]
    frames = [_pandas(X) for X in (data.X, data.T)]  # before the fork, which Polars does not like
    answers = [y == rare for y in (data.y, data.truth)]
    trial: Any = given_time(_wittgenstein, PATIENCE, *frames, *answers, seed)
    return trial if isinstance(trial, Trial) else None


def _pandas(X: Any) -> Any:
    import pandas as pd

    if isinstance(X, np.ndarray):
        return pd.DataFrame(X).add_prefix("x")
    frame = X.to_pandas()
    words = frame.select_dtypes(["object", "string"]).columns
    frame[words] = frame[words].fillna("?").astype(object)
    return frame


def _wittgenstein(X: Any, T: Any, y: Any, truth: Any, seed: int) -> Trial:
    import wittgenstein

    model = wittgenstein.RIPPER(random_state=seed)
    seconds, _ = cpu_seconds(lambda: model.fit(X, y.astype(int)))
    rules = model.ruleset_.rules
    score = float(np.mean(np.asarray(model.predict(T)) == truth))
    return Trial(score, seconds, len(rules), sum(len(rule.conds) for rule in rules))


def tried(
    load: Callable[[int], Records],
    learners: Mapping[str, Callable[[Split, int], Trial | None]],
    once: Iterable[str] = (),
    most: int | None = None,
) -> dict[str, list[Trial]]:
    """Return what each learner does on the splits of all seeds; of some, on the first alone."""
    done: dict[str, list[Trial]] = {name: [] for name in learners}
    for seed in SEEDS:
        records = load(seed)
        data = split(records, seed, most) if most else split(records, seed)
        for name, learn in learners.items():
            if seed > SEEDS[0] and (name in once or not done[name]):
                continue
            trial = learn(data, seed)
            done[name] += [] if trial is None else [trial]
    return done


def _score(trials: list[Trial]) -> str:
    if not trials:
        return "–"
    scores = [trial.score for trial in trials]
    spread = f" ± {np.std(scores, ddof=1):.3f}" if len(scores) > 1 else ""
    return f"{np.mean(scores):.3f}{spread}"


def _seconds(trials: list[Trial]) -> str:
    return milliseconds(float(np.mean([t.seconds for t in trials]))) if trials else "–"


def _size(trials: list[Trial]) -> str:
    if not trials:
        return "–"
    parts, conditions = (np.mean([getattr(t, k) for t in trials]) for k in ("parts", "conditions"))
    return f"{parts:,.0f}" + ("" if np.isnan(conditions) else f", {conditions:,.0f}")


def _loss(trials: list[Trial]) -> str:
    losses = [trial.loss for trial in trials if not np.isnan(trial.loss)]
    return f"{np.mean(losses):.3f}" if losses else "–"


def _tables(
    section: Section,
    sets: Mapping[str, Callable[[int], Records]],
    learners: Mapping[str, Callable[[Split, int], Trial | None]],
    columns: Mapping[str, tuple[Callable[[list[Trial]], str], Iterable[str]]],
    **how: Any,
) -> None:
    """Add a table for each of several views of the same trials: a row for each set."""
    trials = {}
    for name, load in sets.items():
        try:
            trials[name] = tried(load, learners, **how)
        except NotAtHandError as absent:
            section.say(f"{absent}.", "")
    for head, (view, shown) in columns.items():
        names = list(shown) or list(learners)
        rows = [
            [name, *(view(done[learner]) for learner in names)] for name, done in trials.items()
        ]
        section.table((head, *names), rows)


def numbers(section: Section) -> None:
    """Boosted rules for numbers."""
    section.part(
        "Boosted rules: numbers",
        f"R² of test records, means of {len(SEEDS)} seeds with the standard deviation, at most "
        "2,500 records to learn from. All with their defaults; “larger steps” are "
        + ", ".join(f"{name}={value!r}" for name, value in BEFORE.items())
        + ".",
    )
    kind = tacit.BoostedRulesRegressor
    ours = {"tacit": _ours(kind), "tacit, larger steps": _ours(kind, **BEFORE)}
    peers = {name: _peer(make, classes=False) for name, make in _trees("Regressor").items()}
    _tables(
        section,
        NUMBERS,
        ours | peers,
        {"R²": (_score, ()), "fit, CPU": (_seconds, ()), "rules, conditions": (_size, ours)},
    )


def classes(section: Section) -> None:
    """Boosted rules for classes."""
    section.part(
        "Boosted rules: classes",
        f"Accuracy on test records, means of {len(SEEDS)} seeds with the standard deviation, at "
        "most 2,500 records to learn from. All with their defaults; CatBoost and mlrl-boomer (a "
        "label for each class, of which the most probable is predicted) on the first seed alone. "
        f"“–” is not at hand or given up after {PATIENCE} s.",
    )
    kind = tacit.BoostedRulesClassifier
    ours = {"tacit": _ours(kind), 'tacit, heads="single"': _ours(kind, heads="single")}
    peers: dict[str, Any] = {
        name: _peer(make, classes=True) for name, make in _trees("Classifier").items()
    }
    if boomer_python():
        peers["mlrl-boomer"] = _boomer
    _tables(
        section,
        CLASSES,
        ours | peers,
        {
            "accuracy": (_score, ()),
            "log-loss": (_loss, [*ours, *(name for name in peers if name != "mlrl-boomer")]),
            "fit, CPU": (_seconds, ()),
            "rules, conditions": (_size, ours),
        },
        once=("CatBoost", "mlrl-boomer"),
    )


def lists(section: Section) -> None:
    """Lists of covering rules."""
    section.part(
        "Lists of covering rules",
        f"Accuracy on test records, means of {len(SEEDS)} seeds with the standard deviation, all "
        "with their defaults. Three quarters of the records are learnt from, at most 15,000. "
        "wittgenstein's RIPPER is for two classes, on the first seed alone; “–” is given up after "
        f"{PATIENCE} s.",
    )
    kind = tacit.CoveringRulesClassifier
    ours = {
        "tacit": _ours(kind),
        "tacit, n_optimisations=0": _ours(kind, n_optimisations=0),
        "tacit, prune=False": _ours(kind, prune=False),
    }
    learners = ours | {"scikit-learn's CART": _cart, "wittgenstein's RIPPER": _ripper}
    _tables(
        section,
        LISTS,
        learners,
        {
            "accuracy": (_score, ()),
            "fit, CPU": (_seconds, ()),
            "rules (leaves), conditions": (_size, ()),
        },
        once=("wittgenstein's RIPPER",),
        most=15_000,
    )


def main() -> None:
    section = Section("rules-quality", "Boosted and covering rules: how well they predict")
    here = [
        name
        for name in ("lightgbm", "xgboost", "catboost", "wittgenstein")
        if importlib.util.find_spec(name)
    ]
    boomer_is = "mlrl-boomer 0.12.3 has an environment of its own. " if boomer_python() else ""
    section.made_with(
        "numpy", "scikit-learn", *here,
        note=f"{boomer_is}One thread on one core; CPU seconds of `fit`, means. Defaults were "
        "chosen by cross-validation on one half of each set, always the same; test records are a "
        "quarter of the set, drawn from the other half, and all others are learnt from (of sets "
        "that are generated, choices saw other draws). Numbers of rules and of conditions are "
        "those of all rules together.",
    )  # fmt: skip
    with on_one_core():
        numbers(section)
        classes(section)
        lists(section)
    section.write()
