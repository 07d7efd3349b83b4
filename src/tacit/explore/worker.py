"""A process that learns one model: ``… -m tacit.explore.worker TABLE PARENT < request > model``."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from typing import Any

import tacit
from tacit.errors import InputError
from tacit.explore.models import learn

__all__ = ["main"]


def _end_with(parent: int) -> None:
    """End when the process that waits for the model is gone, however it ended."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def main() -> None:
    """Read a request from standard input, and write the model or what is wrong as JSON."""
    threading.Thread(target=_end_with, args=(int(sys.argv[2]),), daemon=True).start()
    answer: dict[str, Any]
    try:
        answer = {"model": learn(tacit.load(sys.argv[1], mmap=True), json.load(sys.stdin))}
    except InputError as error:
        answer = {"problem": str(error)}
    except MemoryError:
        answer = {"problem": "there is not enough memory"}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
