"""Many users of one server of the explorer at once.

``python -m benchmarks.explore.load`` writes its section of the page.
"""

from __future__ import annotations

import http.client
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import tacit
from benchmarks import report
from tacit.machine import human_bytes

USERS, SECONDS = 50, 60.0
_PAUSE = (0.1, 0.9)  # seconds between what one user does


class Users:
    """Simulated users: each selects something, has all views counted, and comes near another one.

    Parameters
    ----------
    url : str
        With the token.
    users : int
    seconds : float
    """

    def __init__(self, url: str, users: int, seconds: float) -> None:
        self._address = urlsplit(url)
        self._until = time.monotonic() + seconds
        self._lock = threading.Lock()
        self.taken: list[float] = []
        self.wrong: list[str] = []
        self._threads = [threading.Thread(target=self._use, args=(k,)) for k in range(users)]
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        """Wait until all have gone."""
        for thread in self._threads:
            thread.join()

    def _use(self, seed: int) -> None:
        draw = random.Random(seed)
        try:
            connection = http.client.HTTPConnection(self._address.netloc, timeout=60)
            connection.request("GET", f"/?{self._address.query}")
            answer = connection.getresponse()
            answer.read()
            cookie = (answer.getheader("set-cookie") or "").partition(";")[0]
            connection.request("GET", "/api/schema", headers={"Cookie": cookie})
            columns = json.loads(connection.getresponse().read())["columns"]
            while time.monotonic() < self._until:
                time.sleep(draw.uniform(*_PAUSE))
                start = time.perf_counter()
                body = json.dumps({"ask": _question(draw, columns)})
                connection.request("POST", "/api/tables", body, headers={"Cookie": cookie})
                answer = connection.getresponse()
                said = answer.read()
                with self._lock:
                    self.taken.append(time.perf_counter() - start)
                    if answer.status != 200:
                        self.wrong.append(f"{answer.status} {said[:100]!r}")
        except (OSError, http.client.HTTPException, ValueError) as error:
            with self._lock:
                self.wrong.append(repr(error))


def _question(draw: random.Random, columns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what the page asks when something is selected, or when a drag is near."""
    arities = [len(column["labels"]) for column in columns]
    every = range(len(arities))
    chosen = {}
    for c in draw.sample(every, draw.randint(0, 3)):
        low = draw.randrange(arities[c])
        chosen[c] = f"{c}:{low}-{draw.randrange(low, arities[c])}"
    active = draw.choice([None, *every])

    def given(*without: int | None) -> str:
        return ";".join(text for c, text in chosen.items() if c not in without)

    if active is None:
        return [{"given": given(c), "sets": [[c]]} for c in every]
    return [{"given": given(active, c), "sets": [[active, c]]} for c in every if c != active]


def memory(process: int) -> int:
    """Return the resident bytes of a process."""
    lines = Path(f"/proc/{process}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) * 1024


def main() -> None:
    """Write the section."""
    section = report.Section("explore-load", "Many users of one explorer")
    section.made_with("starlette", "uvicorn")
    section.say(
        f"{USERS} users for {SECONDS:.0f} s, simulated by threads of another process on the same "
        f"machine, each with pauses of {_PAUSE[0]} to {_PAUSE[1]} s: they select something and "
        "have all histograms counted, or come near one and have its tables with all others. "
        "Times are those that users see, with waiting for each other.",
        "",
    )
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "flights.parquet"
        tacit.datasets.make_flights(1_000_000).write_parquet(path)
        rows.append(_served("flights, 1,000,000 × 7", path))
    section.table(
        ["data", "answers", "errors", "median", "95 %", "99 %", "memory after 10 s",
         "after 35 s", "at the end"], rows,
    )  # fmt: skip
    section.write()


def _served(name: str, path: Path) -> list[str]:
    command = [sys.executable, "-m", "tacit", "explore", str(path), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        users = Users(url, USERS, SECONDS)
        resident = []
        for pause in (10, 25):
            time.sleep(pause)
            resident.append(memory(server.pid))
        users.join()
        resident.append(memory(server.pid))
        server.terminate()
    for wrong in users.wrong[:5]:
        print(wrong, file=sys.stderr)
    taken = sorted(users.taken)
    at = [report.milliseconds(taken[int(part * (len(taken) - 1))]) for part in (0.5, 0.95, 0.99)]
    return [name, f"{len(taken):,}", str(len(users.wrong)), *at, *map(human_bytes, resident)]


if __name__ == "__main__":
    main()
