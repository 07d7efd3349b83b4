"""A process that learns one model: ``python -m tacit.explore.worker TABLE < request > model``."""

from __future__ import annotations

import json
import sys
from typing import Any

import tacit
from tacit.errors import InputError
from tacit.explore.models import learn

__all__ = ["main"]


def main() -> None:
    """Read a request from standard input, and write the model or what is wrong as JSON."""
    answer: dict[str, Any]
    try:
        answer = {"model": learn(tacit.load(sys.argv[1]), json.load(sys.stdin))}
    except InputError as error:
        answer = {"problem": str(error)}
    except MemoryError:
        answer = {"problem": "there is not enough memory"}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
