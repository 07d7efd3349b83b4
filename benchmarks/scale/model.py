"""The cost model of a pass, its constants measured here and its forecasts compared with passes."""

from __future__ import annotations

import pickle
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import tacit
from benchmarks.report import milliseconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.report import Section
    from tacit.scale import PartitionedTable

SMALL = 1_000  # partitions of the table that shows what a partition costs by itself
BILLION, WORKERS, LINE = 1_000_000_000, 100, 1.25e9  # records, threads, bytes a second (10 Gbit/s)


def median(work: Callable[[], Any], repeats: int = 9) -> float:
    work()
    taken = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


@dataclass(frozen=True)
class Constants:
    """Seconds: of a stored value, of a partition, of merging two partials, of a pass of nothing."""

    value: float
    partition: float
    merging: float
    waiting: float = 0.0

    def forecast(self, stored: float, partitions: int, threads: int) -> float:
        """Return the seconds of a pass."""
        each = stored * self.value / threads + partitions / threads * self.partition
        return each + partitions / threads * self.merging + self.waiting


class Nothing:
    def partial(self, part: Any) -> int:
        return 1

    def merge(self, one: int, other: int) -> int:
        return one + other


def constants(model: tacit.NaiveBayesMixture, table: tacit.Table) -> tuple[Constants, int]:
    """Measure, with one thread, what an E-step takes; return its partial's bytes, too."""
    model.n_jobs = 1
    value = median(lambda: model.expected_counts(table)) / table.n_stored
    small = tacit.scale.partition(table.take(range(SMALL)), SMALL)
    one = small.take([0])
    work = median(lambda: model.expected_counts(one))  # sums begin at zero, once a partition
    partition = median(lambda: small.reduce(Nothing(), n_jobs=1)) / SMALL + work
    fitted = model.expected_counts(table)
    merging = median(lambda: fitted + fitted)
    return Constants(value, partition, merging), len(pickle.dumps(fitted))


def check(
    section: Section,
    model: tacit.NaiveBayesMixture,
    table: tacit.Table,
    parts: PartitionedTable,
    on_workers: dict[int, tuple[float, float]],
) -> None:
    """Compare forecasts with passes; `on_workers` are seconds of an E-step, and of nothing."""
    fitted, n_bytes = constants(model, table)
    section.part(
        "The cost model",
        "A pass takes l·c/w + (p/w)·(o + a) + waiting: l stored values, w threads, p partitions. "
        f"Measured by themselves for an E-step of {model.n_clusters} clusters: "
        f"c = {fitted.value * 1e9:.2f} ns a stored value, o = {fitted.partition * 1e6:.0f} µs a "
        f"partition, a = {fitted.merging * 1e6:.0f} µs to merge two partials of {n_bytes:,} bytes. "
        "Waiting is what Dask takes for a pass in which nothing is done, measured beside each "
        "pass. A record of this table takes "
        f"{table.nbytes / table.n_records:.1f} bytes.",
    )
    rows = []
    for n in (16, 256):
        cut = parts if n == 16 else tacit.scale.partition(table, n)
        took = median(lambda cut=cut: model.expected_counts(cut))
        rows.append(
            _row(f"one thread, {n} partitions", fitted.forecast(table.n_stored, n, 1), took)
        )
    for n, (took, nothing) in on_workers.items():
        waited = Constants(fitted.value, fitted.partition, fitted.merging, nothing)
        rows.append(_row(f"Dask, {n} workers", waited.forecast(table.n_stored, 16, n), took))
    section.table(("pass", "forecast", "measured", "ratio"), rows)
    _billion(section, fitted, n_bytes, table, on_workers[2][1])


def _row(name: str, forecast: float, took: float) -> tuple[str, ...]:
    return name, milliseconds(forecast), milliseconds(took), f"{took / forecast:.2f}"


def _billion(
    section: Section, fitted: Constants, n_bytes: int, table: tacit.Table, nothing: float
) -> None:
    """Say what the model says of more than there is here."""
    scale = BILLION / table.n_records
    held = table.nbytes * scale
    stored = table.n_stored * scale
    partitions = 10_000
    tasks = 2 * WORKERS
    cpu = stored * fitted.value / WORKERS
    each = partitions / WORKERS * (fitted.partition + fitted.merging)
    hops = 3 * 8 * n_bytes / LINE  # three levels of merging, eight partials each
    out = tasks * n_bytes / LINE  # the question, to all tasks, out of one machine
    total = cpu + each + hops + out + nothing
    section.say(
        f"Forecast, not measured: {BILLION:,} such records ({stored:.3g} stored values, "
        f"{held / 1e9:.0f} GB in all, {held / WORKERS / 1e6:.0f} MB a worker) in "
        f"{partitions:,} partitions on {WORKERS} workers of one thread: "
        f"{cpu:.2f} s for values, {each:.2f} s for partitions and their merging, "
        f"{hops * 1e3:.0f} ms for partials on a line of 10 Gbit/s, {out * 1e3:.0f} ms to send the "
        f"question, {nothing * 1e3:.0f} ms of waiting as here: {total:.1f} s a pass, "
        f"{stored * fitted.value / total:.0f} times faster than one thread. Dask's scheduler adds "
        f"about a millisecond for each of some {tasks * 1.2:.0f} tasks: 0.2 s.",
        "",
    )
