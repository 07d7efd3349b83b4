"""A process that learns one model: ``… -m tacit.explore.worker TABLE PARENT MODEL < request``.

It writes lines of JSON: how far it has come, and at last what it found or what is wrong. A model
that answers further questions is saved to the file MODEL.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any

import tacit
from tacit.errors import InputError
from tacit.explore.jobs import FOLDER
from tacit.explore.models import learn
from tacit.machine import available_memory, limit_memory
from tacit.progress import hear_progress

__all__ = ["main"]

_OFTEN = 0.2  # seconds between lines about progress


def _end_with(parent: int, folder: Path) -> None:
    """End when the process that waits for the model is gone, however it ended.

    Where that was killed, nobody else is there to remove its folder.
    """
    while os.getppid() == parent:
        time.sleep(1)
    if folder.name.startswith(FOLDER):
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _limit(path: Path) -> None:
    """Take no more memory than is free; a table that is mapped takes addresses only."""
    room = available_memory()
    limit_memory(None if room is None else room + path.stat().st_size)


class _Teller:
    def __init__(self) -> None:
        self._last = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        """Say how far it is, now and then."""
        if time.monotonic() - self._last > _OFTEN:
            self._last = time.monotonic()
            _write({"progress": {"what": what, "done": done, "total": total}})


def _write(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


def main() -> None:
    """Read a request from standard input, and write the model or what is wrong as JSON."""
    path, parent, saved = sys.argv[1:4]
    threading.Thread(target=_end_with, args=(int(parent), Path(path).parent), daemon=True).start()
    answer: dict[str, Any]
    try:
        _limit(Path(path))
        with hear_progress(_Teller()):
            found, model = learn(tacit.load(path, mmap=True), json.load(sys.stdin))
        if model is not None:
            model.save(saved)
        answer = {"model": found}
    except InputError as error:
        answer = {"problem": str(error)}
    except MemoryError:
        answer = {"problem": "there is not enough memory"}
    except OSError as error:
        answer = {"problem": f"the model cannot be kept: {error}"}
    _write(answer)


if __name__ == "__main__":
    main()
