"""A data set of four times the memory that the system allows."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tacit.machine import human_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.report import Section

LIMIT = 600_000_000  # bytes that the process may ask for, interpreter and libraries included
FOR_DATA = "80MB"  # of these, for partitions
N_FILES, N_RECORDS, N_COLUMNS = 28, 1_000_000, 100
GROUP = 50_000  # records of a row group
STORED = 0.42

PROGRAM = """
import json, resource, sys, time
limit, folder, memory = int(sys.argv[1]), sys.argv[2], sys.argv[3]
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
import tacit
steps = []
def step(name, work):
    begin, before = time.perf_counter(), logs.cost
    work()
    cost = logs.cost
    steps.append([name, time.perf_counter() - begin, cost.passes - before.passes])
logs = tacit.scan(folder + "/*.parquet", memory=memory, n_jobs=2)
step("labels and defaults", logs.summary)
step("one-way counts", logs.one_way)
facts = logs.summary().as_dict()
begin = time.perf_counter()
kept = logs.materialise(folder + "/kept")
steps.append(["writing mapped files", time.perf_counter() - begin, 1])
logs = kept
step("all pairs", logs.pairs)
mixture = tacit.NaiveBayesMixture(5, n_init=2, max_iter=20, random_state=0, n_jobs=2)
step("mixture of 5 clusters", lambda: mixture.fit(logs))
tree = tacit.DependencyTree("exact", n_jobs=2)
step("dependency tree", lambda: tree.fit(logs))
with open("/proc/self/status") as status:
    held = dict(line.split(":", 1) for line in status)
peak = int(held["VmData"].split()[0]) * 1024
try:
    in_memory = len(logs.collect().values)
except (MemoryError, tacit.InputError) as error:
    in_memory = type(error).__name__
print(json.dumps([facts, steps, peak, in_memory, mixture.log_likelihood_, len(tree.edges_)]))
"""


def write(folder: Path) -> int:
    """Write the data set, and return its bytes on disk."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    names = [f"column {c}" for c in range(N_COLUMNS)]
    # Two groups of records that differ in which labels they have: something to find.
    probabilities = rng.dirichlet(np.full(4, 0.7), (2, N_COLUMNS))
    common = probabilities.argmax(axis=2)
    for g in range(2):
        for c in range(N_COLUMNS):
            column = probabilities[g, c]
            column[common[0, c]] = 0.0
            column *= STORED * (0.6 + 0.8 * g) / column.sum()
            column[common[0, c]] = 1.0 - column.sum()
    lookup = np.array(
        [
            [
                np.repeat(np.arange(4, dtype=np.int8), _spread(256, probabilities[g, c]))
                for g in range(2)
            ]
            for c in range(N_COLUMNS)
        ]
    )
    total = 0
    for k in range(N_FILES):
        group = (rng.random(N_RECORDS) < 0.5).astype(np.int64)
        drawn = rng.integers(0, 256, (N_COLUMNS, N_RECORDS), np.uint8)
        columns = {name: lookup[c][group, drawn[c]] for c, name in enumerate(names)}
        path = folder / f"part-{k:02}.parquet"
        pl.DataFrame(columns).write_parquet(path, row_group_size=GROUP)
        total += path.stat().st_size
    return total


def _spread(n: int, probabilities: np.ndarray) -> np.ndarray:
    """Return how many of n each probability is, n in all."""
    ends = np.rint(np.cumsum(probabilities) * n).astype(np.int64)
    ends[-1] = n
    return np.diff(ends, prepend=0)


def limit(section: Section, folder: Path) -> None:
    section.part("More than memory")
    on_disk = write(folder)
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(LIMIT), str(folder), FOR_DATA],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    facts, steps, peak, in_memory, likelihood, edges = json.loads(run.stdout)
    assert facts["n_bytes"] >= 4 * LIMIT
    assert edges == N_COLUMNS - 1
    assert likelihood < 0
    section.say(
        f"{N_FILES} Parquet files of {human_bytes(on_disk)} in all: {facts['records']:,} records × "
        f"{facts['columns']:,} columns, {facts['stored']:,} stored values. As one Table in memory "
        f"that would be {human_bytes(facts['n_bytes'])}, as a frame of bytes "
        f"{human_bytes(facts['dense_bytes'])}. The system refuses the process more than "
        f"{human_bytes(LIMIT)} (`RLIMIT_DATA`, which counts the interpreter, its libraries and "
        f"all threads, but not mapped files), {facts['n_bytes'] / LIMIT:.1f} times less; "
        f'partitions were given `memory="{FOR_DATA}"`. Two threads. At the end the process had '
        f"{human_bytes(peak)}; reading all of it into one Table ended in {in_memory}.",
        "",
    )
    section.table(
        ("step", "seconds", "passes"),
        [(name, f"{seconds:.1f}", str(passes)) for name, seconds, passes in steps],
    )
