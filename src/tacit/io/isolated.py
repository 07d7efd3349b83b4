"""Reading in a process of its own: whatever a file does to it, this one goes on.

What can be checked of a file is checked anyway. What a library does with the rest, nobody can
promise: it may end the process. The other process reads the file, writes a Table to a temporary
file, and that is loaded, which takes no more on trust than any saved file.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit import store
from tacit.errors import FileError, InputError
from tacit.machine import available_memory, limit_memory

if TYPE_CHECKING:
    from tacit.io.opening import PathLike
    from tacit.table import Table

__all__ = ["main", "read_isolated"]

_MODULE = "tacit.io.isolated"


def read_isolated(path: PathLike, options: dict[str, Any]) -> Table:
    """Return what :func:`tacit.read` makes of a file, by way of another process."""
    try:
        request = pickle.dumps((os.fspath(path), options, available_memory()))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(f"isolated: the options cannot be sent: {error}") from None
    with tempfile.TemporaryDirectory(prefix="tacit-") as folder:
        target = Path(folder) / "read.tacit"
        # -P: no module is taken from the folder that the data are in.
        done = subprocess.run(
            [sys.executable, "-P", "-m", _MODULE, str(target)],
            input=request,
            capture_output=True,
            check=False,
        )
        said = _answer(done.stdout)
        if done.returncode == 0 and said is None and target.exists():
            loaded: Table = store.load(target)
            return loaded
    if said is not None:
        if "problem" in said:
            raise FileError(path, said["problem"])
        raise (TypeError if said.get("type") == "TypeError" else InputError)(said["message"])
    raise FileError(path, f"cannot be read: the process that read it {_end_of(done.returncode)}")


def _answer(text: bytes) -> dict[str, str] | None:
    lines = text.splitlines()
    try:
        answer = json.loads(lines[-1]) if lines else None
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


def _end_of(code: int) -> str:
    if code >= 0:
        return f"ended with {code}"
    try:
        return f"ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"ended by signal {-code}"


def main() -> None:
    """Read what the standard input asks for, and write it, or say what is wrong."""
    from tacit.io.read import read

    path, options, room = pickle.load(sys.stdin.buffer)
    limit_memory(room)
    answer: dict[str, str] | None = None
    try:
        read(path, **options).save(sys.argv[1])
    except FileError as error:
        same = os.fspath(error.path) == path
        answer = {"problem": error.problem} if same else {"message": str(error)}
    except InputError as error:
        answer = {"message": str(error)}
    except MemoryError:
        answer = {"problem": "does not fit into memory"}
    except TypeError as error:  # of what the caller gave, not of the file
        answer = {"type": "TypeError", "message": str(error)}
    except Exception as error:
        answer = {"problem": f"cannot be read: {type(error).__name__}: {error}"}
    if answer is not None:
        print(json.dumps(answer))


if __name__ == "__main__":
    main()
