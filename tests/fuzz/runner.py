"""The parent: starts workers, sees them die or hang, and goes on behind the input that did it."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

TARGETS = ("text", "columnar", "models", "calls")
PATIENCE = 30.0  # seconds for one input, on a machine that may be busy
_TESTS = Path(__file__).parents[1]


@dataclass
class Campaign:
    """What came of it."""

    target: str
    n_inputs: int = 0
    found: list[str] = field(default_factory=list)


def _environment():
    paths = [str(_TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    threads = {"POLARS_MAX_THREADS": "2", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **threads}


def make_corpus(folder):
    """Write the files to begin with."""
    subprocess.run(
        [sys.executable, "-m", "fuzz.corpus", str(folder)], check=True, env=_environment()
    )


def campaign(target, *, first=0, count=None, seconds=None, corpus=None):
    """Throw `count` inputs, or as many as there is time for, and return what was found."""
    done = Campaign(target)
    end = None if seconds is None else time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="tacit-fuzz-") as name:
        folder = Path(name)
        if corpus is None and target != "calls":
            corpus = folder / "corpus"
            corpus.mkdir()
            make_corpus(corpus)
        last = None if count is None else first + count
        number = first
        while (last is None or number < last) and (end is None or time.monotonic() < end):
            number = _work(folder, target, number, last, end, corpus, done)
        done.n_inputs = number - first
        report = folder / "found"
        if report.exists():
            done.found += [json.loads(line) for line in report.read_text().splitlines()]
    return done


def _work(folder, target, first, last, end, corpus, done):
    """Run a worker from an input on, until it stops; return which input comes next."""
    progress, errors = folder / "progress", folder / "stderr"
    progress.write_bytes(struct.pack("<q", first - 1))
    command = [
        sys.executable, "-m", "fuzz.worker", target, str(first), str(last or -1), str(corpus or ""),
        str(folder), str(-1.0 if end is None else end - time.monotonic()),
    ]  # fmt: skip
    with errors.open("wb") as stderr:
        worker = subprocess.Popen(command, stderr=stderr, env=_environment())
        seen, since, hangs = first - 1, time.monotonic(), False
        while worker.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                worker.wait(0.2)
            at = struct.unpack("<q", progress.read_bytes())[0]
            if at != seen:
                seen, since = at, time.monotonic()
            elif time.monotonic() - since > PATIENCE:
                hangs = True
                worker.kill()
                worker.wait()
    (at,) = struct.unpack("<q", progress.read_bytes())
    if worker.returncode == 0:
        return at + 1
    text = errors.read_text(errors="replace").strip().splitlines()
    what = "no answer" if hangs else f"ended with {worker.returncode}"
    shown = "\n".join(line for line in text if "panicked" in line or "memory" in line) or "\n".join(
        text[-3:]
    )
    done.found.append(f"{target} {at}: {what}: {shown[-600:]}")
    if at < first:  # it did not even begin
        raise RuntimeError("\n".join(text[-20:]))
    return at + 1
