"""What benchmarks share: timing, memory, and the page they write."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib.metadata
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

import tacit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    Work: TypeAlias = Callable[[], Any] | tuple[Callable[[], Any], Callable[[Any], Any]]

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
SHARED = Path(__file__).parents[2] / "shared" / "data"
TITLE = """# Benchmarks

Each table is one run on one machine: tacit and the peer a user would pick instead, the same answer
checked on both sides before times are compared. Times are medians of repeated runs.
"""


def times(work: Callable[[], Any], repeats: int = 7) -> list[float]:
    """Return the seconds of each of several runs, garbage collection kept out of them."""
    work()
    taken = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        result = work()
        taken.append(time.perf_counter() - start)
        del result
    return taken


def compare(
    ours: Callable[[], Any], peer: Callable[[], Any], repeats: int = 7
) -> tuple[float, float]:
    """Return the median seconds of both, run in turns so that noise hits them alike."""
    mine: list[float] = []
    theirs: list[float] = []
    ours(), peer()
    for _ in range(repeats):
        mine += times_once(ours)
        theirs += times_once(peer)
    return statistics.median(mine), statistics.median(theirs)


def times_once(
    work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    gc.collect()
    gc.disable()  # as timeit does: passes over all that a benchmark has imported are not its work
    start = clock()
    result = work()
    taken = clock() - start
    gc.enable()
    del result
    return [taken]


def race(
    works: Mapping[str, Work],
    repeats: int = 5,
    *,
    warm_up: bool = True,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Return the median seconds of each piece of work, run in turns so that noise hits all alike.

    A piece of work is something to call, or a pair: what to call before, which takes no part in
    the time, and what to call with its result. Without `warm_up`, all has run before.
    """
    taken: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(repeats + warm_up):
        for name, work in works.items():
            if callable(work):
                seconds = times_once(work, clock)
            else:
                prepare, timed = work
                seconds = times_once(functools.partial(timed, prepare()), clock)
            if turn >= warm_up:
                taken[name] += seconds
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


def peak_bytes(code: str) -> tuple[int, int]:
    """Run code in a process of its own; return what its last step took at most, and its output.

    The code defines ``prepare()`` and ``work(prepared)``; `work` returns the output's size.
    """
    program = f"""
import resource
{code}
prepared = prepare()
def resident():
    with open("/proc/self/status") as status:
        return next(int(l.split()[1]) for l in status if l.startswith("VmRSS")) * 1024
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # forget the peak so far
before = resident()
size = work(prepared)
with open("/proc/self/status") as status:
    peak = next(int(l.split()[1]) for l in status if l.startswith("VmHWM")) * 1024
print(peak - before, size)
"""
    env = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=env
    )
    peak, size = done.stdout.split()
    return int(peak), int(size)


@contextlib.contextmanager
def on_one_core() -> Iterator[None]:
    """Bind this process to one core and BLAS to one thread, whatever a library asks for."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        with threadpool_limits(1):
            yield
    finally:
        os.sched_setaffinity(0, before)


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds of this process that a piece of work takes, and its result."""
    gc.collect()
    gc.disable()
    start = time.process_time()
    result = work()
    taken = time.process_time() - start
    gc.enable()
    return taken, result


def per_item(seconds: float, n_items: int) -> str:
    """Write what one of several items took."""
    micro = seconds / n_items * 1e6
    return f"{micro:,.0f} µs" if micro >= 100 else f"{micro:.3g} µs"


def milliseconds(seconds: float) -> str:
    if seconds >= 10:
        return f"{seconds:.1f} s"
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.3g} ms"


def machine() -> str:
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return (
        f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"
    )


def versions(*packages: str) -> str:
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages)


class Section:
    """One benchmark's part of the page: paragraphs and tables, printed as they come."""

    def __init__(self, name: str, title: str, level: int = 2) -> None:
        self.name = name
        self.level = level
        self.lines: list[str] = []
        self.say(f"{'#' * level} {title}", "")

    def say(self, *lines: str) -> None:
        """Add lines, and print them."""
        for line in lines:
            print(line, flush=True)
        self.lines += lines

    def made_with(self, *packages: str, note: str = "") -> None:
        """Say on which machine and with which versions the section was made, and what else."""
        listed = f"tacit {tacit.__version__}, {versions(*packages)}"
        self.say(f"{machine()}; {listed}. {note}".rstrip(), "")

    def part(self, title: str, *paragraphs: str) -> None:
        """Begin a part: its heading, and what is said before its figures."""
        for text in (f"{'#' * (self.level + 1)} {title}", *paragraphs):
            self.say(text, "")

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table."""
        self.say(
            "| " + " | ".join(head) + " |",
            "|" + "---|" * len(head),
            *("| " + " | ".join(row) + " |" for row in rows),
            "",
        )

    def write(self) -> None:
        """Put the section in its place on the page, leaving the others alone."""
        begin, end = f"<!-- {self.name} -->", f"<!-- /{self.name} -->"
        page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else TITLE
        body = "\n".join([begin, "", *self.lines, end])
        if begin in page:
            head, _, rest = page.partition(begin)
            page = head + body + rest.partition(end)[2]
        else:
            page = (
                (page if page.startswith("# Benchmarks") and "median" in page else TITLE).rstrip()
                + "\n\n"
                + body
                + "\n"
            )
        PAGE.write_text(page, encoding="utf-8")
