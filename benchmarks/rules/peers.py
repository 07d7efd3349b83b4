"""Learners of rules and boosted trees that others make: what each takes, and how well it predicts.

All run on one thread, and times are CPU seconds of fit alone.
"""

from __future__ import annotations

import importlib.util
import json
import multiprocessing
import os
import subprocess
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from benchmarks.report import cpu_seconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SCRIPT = Path(__file__).with_name("boomer.py")
OWN_ENVIRONMENT = Path(__file__).parents[2] / ".venv-boomer" / "bin" / "python"
LONG = 900  # seconds after which a peer is given up


@dataclass(frozen=True)
class Outcome:
    """What a learner took, and what it says of other records.

    Attributes
    ----------
    seconds : float
        Of fit; NaN where it was given up.
    labels : ndarray or None
    probabilities : ndarray or None
        Probabilities of the second class.
    """

    seconds: float
    labels: NDArray[Any] | None = None
    probabilities: NDArray[np.float64] | None = None


def boomer_python() -> str | None:
    """Return the interpreter that has mlrl-boomer, which asks for other versions of NumPy."""
    named = os.environ.get("TACIT_BOOMER_PYTHON")
    if named:
        return named
    return str(OWN_ENVIRONMENT) if OWN_ENVIRONMENT.exists() else None


def boomer(
    X: Any,
    Y: NDArray[Any],
    T: Any,
    *,
    as_sparse: bool = True,
    nominal: list[int] | None = None,
    repeats: int = 1,
    seed: int = 1,
    seconds: float = LONG,
    **settings: Any,
) -> Outcome | None:
    """Fit mlrl-boomer on X and Y and predict T; None where it is not at hand."""
    python = boomer_python()
    if python is None:
        return None
    with tempfile.TemporaryDirectory(prefix="tacit-rules-") as name:
        folder = Path(name)
        for part, data in (("X", X), ("T", T)):
            sparse.save_npz(folder / f"{part}.npz", sparse.csc_matrix(data), compressed=False)
        np.save(folder / "Y.npy", Y.reshape(len(Y), -1))
        asked = {
            "folder": name, "settings": settings, "nominal": nominal or [], "sparse": as_sparse,
            "repeats": repeats, "seed": seed,
        }  # fmt: skip
        try:
            done = subprocess.run(
                [python, str(SCRIPT)],
                input=json.dumps(asked), capture_output=True, text=True, check=True,
                timeout=seconds, env=os.environ | {"OMP_NUM_THREADS": "1"},
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Outcome(float("nan"))
        path = folder / "S.npy"
        return Outcome(
            json.loads(done.stdout)["fit"],
            np.load(folder / "P.npy").reshape(T.shape[0], -1),
            np.load(path) if path.exists() else None,
        )


def conditions(most: int) -> str:
    """Return mlrl-boomer's way to say how long rules may be."""
    return f"top-down-greedy{{max_conditions={most}}}"


def trees(kind: str, X: Any, Y: NDArray[Any], T: Any, repeats: int = 1) -> Outcome | None:
    """Fit LightGBM or XGBoost as they come, one model for each label."""
    if importlib.util.find_spec(kind) is None:
        return None
    make = _lightgbm if kind == "lightgbm" else _xgboost

    def fit() -> list[Any]:
        varies = [0 < column.sum() < len(column) for column in Y.T]
        return [
            make().fit(X, y) if varied else int(y[0]) for y, varied in zip(Y.T, varies, strict=True)
        ]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds, models = min((cpu_seconds(fit) for _ in range(repeats)), key=lambda run: run[0])
        probabilities = np.empty((T.shape[0], len(models)))
        for k, model in enumerate(models):
            probabilities[:, k] = model if isinstance(model, int) else model.predict_proba(T)[:, 1]
    return Outcome(seconds, (probabilities > 0.5).astype(np.uint8), probabilities[:, 0])


def _lightgbm() -> Any:
    import lightgbm

    return lightgbm.LGBMClassifier(n_jobs=1, verbose=-1)


def _xgboost() -> Any:
    import xgboost

    return xgboost.XGBClassifier(n_jobs=1)


def given_time(fit: Callable[..., Outcome], seconds: float, *data: Any) -> Outcome:
    """Run a slow learner in a process of its own, and give it up in time."""
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(theirs, fit, data))
    process.start()
    theirs.close()
    try:
        outcome: Outcome = mine.recv() if mine.poll(seconds) else Outcome(float("nan"))
    except EOFError:  # it failed, and has said why on stderr
        outcome = Outcome(float("nan"))
    process.kill()
    process.join()
    return outcome


def _send(pipe: Any, fit: Callable[..., Outcome], data: tuple[Any, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipe.send(fit(*data))
    pipe.close()


def rule_learners() -> dict[str, Callable[[Any, NDArray[Any], Any], Outcome]]:
    """Return those of wittgenstein and imodels that are at hand, by name."""
    learners: dict[str, Callable[[Any, NDArray[Any], Any], Outcome]] = {}
    if importlib.util.find_spec("wittgenstein"):
        learners |= {"wittgenstein IREP": _irep, "wittgenstein RIPPER": _ripper}
    if importlib.util.find_spec("imodels"):
        learners |= {
            "imodels SkopeRules": _skope,
            "imodels RuleFit": _rule_fit,
            "imodels BoostedRules": _boosted,
        }
    return learners


def _named(X: NDArray[np.float64]) -> Any:
    import pandas as pd

    return pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])


def _fitted(make: Callable[[], Any], X: Any, y: NDArray[Any], T: Any) -> Outcome:
    seconds, model = cpu_seconds(lambda: _fit(make(), X, y))
    labels = np.asarray(model.predict(T)).astype(np.uint8)
    try:
        probabilities = np.asarray(model.predict_proba(T))[:, 1]
    except (AttributeError, NotImplementedError, ValueError, IndexError):
        probabilities = None
    return Outcome(seconds, labels.reshape(-1, 1), probabilities)


def _fit(model: Any, X: Any, y: NDArray[Any]) -> Any:
    model.fit(X, y)
    return model


def _irep(X: Any, y: NDArray[Any], T: Any) -> Outcome:
    import wittgenstein

    return _fitted(lambda: wittgenstein.IREP(random_state=0), _named(X), y, _named(T))


def _ripper(X: Any, y: NDArray[Any], T: Any) -> Outcome:
    import wittgenstein

    return _fitted(lambda: wittgenstein.RIPPER(random_state=0), _named(X), y, _named(T))


def _skope(X: Any, y: NDArray[Any], T: Any) -> Outcome:
    import imodels

    return _fitted(lambda: imodels.SkopeRulesClassifier(random_state=0), _named(X), y, _named(T))


def _rule_fit(X: Any, y: NDArray[Any], T: Any) -> Outcome:
    import imodels

    make = lambda: imodels.RuleFitClassifier(max_rules=500, random_state=0)  # noqa: E731
    return _fitted(make, _named(X), y, _named(T))


def _boosted(X: Any, y: NDArray[Any], T: Any) -> Outcome:
    import imodels

    make = lambda: imodels.BoostedRulesClassifier(n_estimators=500)  # noqa: E731
    return _fitted(make, _named(X), y, _named(T))
