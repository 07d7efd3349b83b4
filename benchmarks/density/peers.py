"""Circuits of deeprob-kit and SPFlow, each in an environment of its own, within a limit of time."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.density.circuits import LEARNERS
from benchmarks.density.data import DataSet, dense

ROOT = Path(__file__).parents[2]
LIMIT = 60  # CPU seconds for all settings of a learner on one set


class Result(NamedTuple):
    """The best on validation records, or why there is none."""

    test: float | None
    seconds: float | None
    complete: bool  # all settings were tried in time


def python(learner: str) -> Path:
    """Return the interpreter that has the package of a learner."""
    return ROOT / f".venv-{LEARNERS[learner].package}" / "bin" / "python"


def at_hand() -> list[str]:
    """Return the learners whose environment is there."""
    return [name for name in LEARNERS if python(name).exists()]


def learn(data: DataSet, learner: str, seed: int = 0) -> Result:
    """Let a learner try its settings until it is done, or the time is up."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "parts.npz"
        np.savez(file, train=dense(data.train), valid=dense(data.valid), test=dense(data.test))
        asked = {"learner": learner, "seed": seed, "limit": LIMIT, "file": str(file)}
        script = Path(__file__).with_name("circuits.py")
        done = subprocess.run(
            [str(python(learner)), str(script)], input=json.dumps(asked),
            capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"},
            check=False,
        )  # fmt: skip
    if done.returncode not in (0, -signal.SIGXCPU, -signal.SIGKILL):  # the last two: out of time
        raise RuntimeError(done.stderr)
    complete = done.returncode == 0
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return Result(None, None, complete)
    best = max(lines, key=lambda line: -math.inf if math.isnan(line["valid"]) else line["valid"])
    return Result(best["test"], lines[-1]["seconds"], complete)


def learn_all(data: DataSet) -> dict[str, Result]:
    """Return the result of each learner that is at hand."""
    return {name: learn(data, name) for name in at_hand()}
