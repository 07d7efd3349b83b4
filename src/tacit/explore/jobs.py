"""Models in the background: each in a process of its own, which can be stopped at any time."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tacit
from tacit.errors import FileError, InputError
from tacit.explore.models import ask, check_request

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.table import Table

__all__ = ["FOLDER", "Jobs"]

MOST_JOBS = 2  # at a time
_UNASKED = 60.0  # seconds after which nobody is taken to wait for a model any more
_KEPT = 20  # models that were learnt
FOLDER = "tacit-explore-"  # what the name of a folder of tables and models begins with
_TABLE = "table.tacit"


class Jobs:
    """The models that are being learnt of a table, and those that were.

    The table is asked for when there is something to learn; it may be an error that there is none.
    """

    def __init__(self, table: Callable[[], Table]) -> None:
        self._table = table
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._jobs: dict[str, _Job] = {}
        self._lock = threading.Lock()

    def start(self, request: Any) -> dict[str, Any]:
        """Start learning a model, and return the name of the job."""
        checked = check_request(self._table(), request)
        with self._lock:
            running = [job for job in self._jobs.values() if job.state == "running"]
            if len(running) >= MOST_JOBS:
                raise InputError(f"{MOST_JOBS} models are being learnt; wait, or cancel one")
            if self._folder is None:
                self._folder = self._written()
            for old in [name for name, job in self._jobs.items() if job.state != "running"][
                :-_KEPT
            ]:
                self._jobs.pop(old).forget()
            name = secrets.token_hex(9)
            self._jobs[name] = _Job(self._path, self._path.with_name(f"{name}.tacit"), checked)
        return {"job": name}

    def _written(self) -> tempfile.TemporaryDirectory[str]:
        """Write the table for the processes that learn."""
        folder = tempfile.TemporaryDirectory(prefix=FOLDER)
        try:
            self._table().save(Path(folder.name) / _TABLE)
        except FileError as error:
            folder.cleanup()
            raise InputError(f"the table cannot be written for models: {error.problem}") from error
        return folder

    @property
    def _path(self) -> Path:
        assert self._folder is not None
        return Path(self._folder.name) / _TABLE

    def ask(self, request: Any) -> dict[str, Any]:
        """Return how far a job is, stop it, or ask the model that it learnt."""
        name = request.get("job") if isinstance(request, dict) else None
        job = self._jobs.get(name) if isinstance(name, str) else None
        if job is None:
            raise InputError(
                "job: there is no such model; if the server was started again, learn it anew"
            )
        if request.get("cancel") is True:
            job.stop("cancelled")
        if "question" in request:
            if job.state != "done":
                raise InputError("job: the model has not been learnt")
            return ask(self._table(), job.request, job.model, request["question"])
        return job.report()

    def close(self) -> None:
        """Stop all jobs, and remove the file that they read."""
        for job in self._jobs.values():
            job.stop("cancelled")
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


class _Job:
    def __init__(self, path: Path, saved: Path, request: dict[str, Any]) -> None:
        self.state = "running"
        self.request = request
        self._saved = saved
        self._progress: dict[str, Any] = {}
        self._answer: dict[str, Any] = {}
        self._started = self._asked = time.monotonic()
        self._seconds: float | None = None
        self._process = subprocess.Popen(
            # -P: no module is taken from the folder that the data are in.
            [
                *(sys.executable, "-P", "-m", "tacit.explore.worker"),
                *(str(path), str(os.getpid()), str(saved)),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        threading.Thread(target=self._wait, args=(json.dumps(request),), daemon=True).start()
        threading.Thread(target=self._watch, daemon=True).start()

    def _wait(self, request: str) -> None:
        last: dict[str, Any] = {}
        with self._process as process:
            assert process.stdin is not None
            assert process.stdout is not None
            with contextlib.suppress(OSError), process.stdin as pipe:
                pipe.write(request.encode())
            for line in process.stdout:
                try:
                    last = json.loads(line)
                except ValueError:  # it was killed in the middle
                    last = {}
                self._progress = last.get("progress", self._progress)
        self._seconds = time.monotonic() - self._started
        if self.state != "running":
            return
        if "model" not in last and "problem" not in last:
            last = {"problem": "the model could not be learnt: its process ended"}
        self._answer = last
        self.state = "done" if "model" in last else "failed"

    @cached_property
    def model(self) -> Any:
        """The model to be asked, or None."""
        return tacit.load(self._saved) if self._saved.exists() else None

    def forget(self) -> None:
        """Remove the file of the model."""
        self._saved.unlink(missing_ok=True)

    def _watch(self) -> None:
        """Stop when nobody asks any more: the page was closed."""
        while self.state == "running":
            time.sleep(0.5)
            if time.monotonic() - self._asked > _UNASKED:
                self.stop("cancelled")

    def stop(self, state: str) -> None:
        if self.state == "running":
            self.state = state
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    def report(self) -> dict[str, Any]:
        self._asked = time.monotonic()
        seconds = self._asked - self._started if self._seconds is None else self._seconds
        progress = self._progress if self.state == "running" else {}
        return {"state": self.state, "seconds": seconds, **progress, **self._answer}
