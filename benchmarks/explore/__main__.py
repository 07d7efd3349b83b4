"""Drags over linked views: the explorer's server, DuckDB, Polars and falcon's cubes.

``python -m benchmarks.explore``, or with some of 1M, 10M, 100M and adult. The parts of 100M flights
are drawn once, into a folder that BENCHMARK_FLIGHTS names.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import tacit
from benchmarks.adult import adult
from benchmarks.explore.peers import DuckDB, Falcon, Polars
from benchmarks.explore.workload import Step, asked_for_drag, asked_for_step, by_view, drags
from benchmarks.report import Section, milliseconds
from tacit.counts import Distinct
from tacit.explore import Explorer
from tacit.explore.partitions import shown_codes
from tacit.explore.questions import answer
from tacit.machine import human_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


PART = 1_000_000  # flights of a file
SIZES = {"1M": 1, "10M": 10, "100M": 100}  # such parts
SESSIONS, STEPS = 3, 20  # of each view
MEMORY = "10GB"  # the limit of what reads the files
BUDGET = 15.0  # seconds for the steps of a peer
CHECKED = 6  # steps whose answers are compared


def flights(folder: Path, n_parts: int) -> str:
    """Draw flights into files, unless they are there; return a pattern of them."""
    for k in range(n_parts):
        path = folder / f"{k:03}.parquet"
        if not path.exists():
            tacit.datasets.make_flights(PART, random_state=k).write_parquet(path)
    chosen = folder / f"first-{n_parts}"
    chosen.mkdir(exist_ok=True)
    for k in range(n_parts):
        link = chosen / f"{k:03}.parquet"
        if not link.exists():
            link.symlink_to(folder / f"{k:03}.parquet")
    return str(chosen / "*.parquet")


def percentiles(seconds: Sequence[float]) -> list[str]:
    return [milliseconds(float(np.percentile(seconds, p))) for p in (50, 95, 99)]


class Taken(NamedTuple):
    """Seconds by the clock, and of all threads."""

    clock: float
    cpu: float


def timed(work: Callable[[], Any]) -> tuple[Taken, Any]:
    start, cpu = time.perf_counter(), time.process_time()
    result = work()
    return Taken(time.perf_counter() - start, time.process_time() - cpu), result


def picture(explorer: Explorer) -> bytes:
    """Return what the page asks for first: a histogram of every column."""
    n = len(explorer.views.schema)
    return explorer.tables({"ask": [{"given": "", "sets": [[c] for c in range(n)]}]})


def wait_for_cache() -> None:
    import threading

    for thread in threading.enumerate():
        if thread.name == "tacit-cache":
            thread.join()


def run_explorer(
    explorer: Explorer, steps: list[Step], views: list[list[int]]
) -> tuple[list[Taken], list[Taken]]:
    """Return the seconds of each step, asked as it is, and of the cubes of each switch."""
    asked, switched = [], []
    n = len(explorer.views.schema)
    for step in steps:
        if step.switches:
            request = asked_for_drag(step, n)
            switched.append(timed(lambda: explorer.tables(request))[0])  # noqa: B023
        question = asked_for_step(step, views)
        asked.append(timed(lambda: explorer.tables(question))[0])  # noqa: B023
    return asked, switched


def run_peer(
    peer: Any, steps: list[Step], wanted: Callable[[Step], Any]
) -> tuple[list[Taken], list[Taken]]:
    """Return the seconds of as many steps as the budget lets through, and of their switches."""
    asked: list[Taken] = []
    switched: list[Taken] = []
    order = np.random.default_rng(1).permutation(len(steps))
    prepares = hasattr(peer, "switch")
    if prepares:  # whole drags, from where they begin
        starts = [k for k in order if steps[k].switches]
        order = np.concatenate([np.arange(k, k + STEPS) for k in starts])
    start = time.perf_counter()
    for turn, k in enumerate(order.tolist()):
        step = steps[k]
        if prepares and step.switches:
            if turn and time.perf_counter() - start > BUDGET:
                break
            switched.append(timed(lambda: peer.switch(step))[0])  # noqa: B023
        elif not prepares and turn >= 3 and time.perf_counter() - start > BUDGET:
            break
        seconds, found = timed(lambda: peer.step(step))  # noqa: B023
        asked.append(seconds)
        if turn < CHECKED:
            for view, counts in wanted(step).items():
                assert (found[view] == counts).all(), (peer.name, step, view)
    return asked, switched


def of_flights(size: str, folder: Path) -> None:
    """Write the section of so many flights."""
    n_parts = SIZES[size]
    pattern = flights(folder, n_parts)
    n = n_parts * PART
    section = Section(f"explore_{size}", f"Linked views: {n:,} flights")
    section.made_with("duckdb", "polars", "numpy")
    seconds, explorer = timed(lambda: Explorer(tacit.scan(pattern, memory=MEMORY)))
    first, _ = timed(lambda: picture(explorer))
    counter = explorer.counter
    assert isinstance(counter, Distinct)
    wait_for_cache()
    arities = counter.schema.arities.tolist()
    views = [[c] for c in range(len(arities))]
    section.say(
        f"Drags over seven linked histograms ({', '.join(f'{x} bins' for x in arities)}): "
        f"{SESSIONS} sessions in which each view is dragged over in turn, {STEPS} steps each, and "
        "keeps its range; all histograms follow each step. Flights are drawn "
        "(`tacit.datasets.make_flights`). Of tacit the time is that of the server's answer to a "
        "step that is asked as it is; the page asks once, when the active view changes, for cubes, "
        "and needs nothing while it drags. Others have the codes of the bins in memory, a byte "
        f"each, and were stopped after {BUDGET:.0f} s; the first {CHECKED} of their answers are "
        "compared. CPU is that of all threads.",
        "",
        f"From {n_parts} Parquet file{'s' * (n_parts > 1)} to the first picture: "
        f"{milliseconds(seconds.clock + first.clock)} by the clock, "
        f"{milliseconds(seconds.cpu + first.cpu)} of CPU. "
        f"Kept: {counter.n_distinct:,} distinct records and cached tables, "
        f"{human_bytes(counter.nbytes)}.",
        "",
    )
    steps = drags(arities, SESSIONS, STEPS)
    asked, switched = run_explorer(explorer, steps, views)
    rows = [_row("tacit", asked, switched)]

    def wanted(step: Step) -> Any:
        counts = answer(counter, asked_for_step(step, views)["ask"])
        return by_view(step, views, counts, arities)

    codes = shown_codes(tacit.scan(pattern, memory=MEMORY), explorer.views)
    for make in (Falcon, DuckDB, Polars):
        peer = make(codes, arities)
        rows.append(_row(peer.name, *run_peer(peer, steps, wanted)))
        print(rows[-1], flush=True)
        del peer
    section.table(HEAD, rows)
    section.write()


HEAD = (
    "", "steps", "p50", "p95", "p99", "CPU: p50", "p95", "p99",
    "switching the view: p50", "slowest", "CPU: p50", "slowest",
)  # fmt: skip


def _row(name: str, asked: list[Taken], switched: list[Taken]) -> list[str]:
    row = [name, f"{len(asked):,}"]
    for seconds in zip(*asked, strict=True):
        row += percentiles(seconds)
    if not switched:
        return [*row, "", "", "", ""]
    for seconds in zip(*switched, strict=True):
        row += [milliseconds(float(np.median(seconds))), milliseconds(max(seconds))]
    return row


def of_adult() -> None:
    """Write the section of many views of a small table."""
    section = Section("explore_adult", "Linked views: thirty of Adult")
    section.made_with("numpy")
    explorer = Explorer(adult("both", complete=False))
    counter = explorer.counter
    arities = counter.schema.arities.tolist()
    n = len(arities)
    views = [*([c] for c in range(n)), *([c, (c + 4) % n] for c in range(n))]
    steps = drags(arities, SESSIONS, STEPS)
    asked, switched = run_explorer(explorer, steps, views)
    scan = tacit.counts.Scan(explorer.table)
    for step in steps[:: len(steps) // 40]:
        request = asked_for_step(step, views)["ask"]
        for one, other in zip(answer(counter, request), answer(scan, request), strict=True):
            assert (one == other).all()
    section.say(
        f"{explorer.views.n_records:,} records; {n} histograms and as many heat maps of two "
        "columns, all of them linked, each given the conditions on columns that it does not show. "
        "Answers are compared with those of `Scan`.",
        "",
    )
    section.table(HEAD, [_row("tacit", asked, switched)])
    section.write()


def main() -> None:
    chosen = sys.argv[1:] if Path(sys.argv[0]).parent.name == "explore" else []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(os.environ.get("BENCHMARK_FLIGHTS", scratch))
        for part in chosen or (*SIZES, "adult"):
            if part == "adult":
                of_adult()
            else:
                of_flights(part, folder)


if __name__ == "__main__":
    main()
