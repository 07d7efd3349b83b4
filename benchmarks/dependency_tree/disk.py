"""Trees of a file that is never read as a whole: MIST against a blocked product."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.report import milliseconds

if TYPE_CHECKING:
    from benchmarks.report import Section

N_RECORDS, N_COLUMNS = 1_000_000, 1_000
BATCH = 20_000
FAN_OUT = 3

# Every way is a program of its own, so that its memory is its own: VmHWM, which counts pages of a
# mapped file as well. Only `work` is timed.
PROGRAM = """
import json, sys, time
import numpy as np
path = sys.argv[1]
{code}
start, cpu = time.perf_counter(), time.process_time()
edges, extra = work()
taken, cpu = time.perf_counter() - start, time.process_time() - cpu
with open("/proc/self/status") as status:
    kept = dict(line.split(":", 1) for line in status)
peak = int(kept["VmHWM"].split()[0]) * 1024
print(json.dumps([taken, cpu, peak, sorted(map(list, edges)), extra]))
"""

MIST = """
import tacit
from benchmarks.dependency_tree.peers import as_set
def work():
    tree = tacit.DependencyTree("mist", random_state=0, n_jobs=1).fit(path)
    return as_set(tree.edges_), [float(tree.edge_usage_), int(tree.n_read_)]
"""

# Σxy of each batch as one symmetric product (NumPy sees that both factors are the same), shifted by
# the means of the first batch so that nothing cancels.
BLOCKED = """
import pyarrow as pa
from benchmarks.dependency_tree.peers import spanning
def work():
    with pa.memory_map(path) as source:
        reader = pa.ipc.open_file(source)
        total = products = shift = None
        n = 0
        for k in range(reader.num_record_batches):
            batch = reader.get_batch(k)
            block = np.empty((batch.num_columns, batch.num_rows), np.{dtype})
            for c in range(batch.num_columns):
                block[c] = batch.column(c).to_numpy()
            if shift is None:
                shift = block.mean(axis=1, keepdims=True)
                total = np.zeros(len(block))
                products = np.zeros((len(block), len(block)))
            block -= shift
            total += block.sum(axis=1, dtype=np.float64)
            products += block @ block.T
            n += batch.num_rows
    mean = total / n
    covariance = products / n - np.outer(mean, mean)
    scale = np.sqrt(np.diag(covariance))
    square = np.abs(covariance / np.outer(scale, scale))
    np.fill_diagonal(square, 0.0)
    return spanning(square), None
"""


def write(path: Path) -> None:
    """Write records of one tree, batch by batch, as an Arrow file of 32-bit numbers.

    They are distributed as those of `make_dependency_tree`, which draws 64 bits, all at once.
    """
    import pyarrow as pa

    rng = np.random.default_rng(0)

    names = [f"x{c}" for c in range(N_COLUMNS)]
    schema = pa.schema([(name, pa.float32()) for name in names])
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for _ in range(N_RECORDS // BATCH):
            columns = rng.standard_normal((N_COLUMNS, BATCH), np.float32)
            for c in range(1, N_COLUMNS):
                columns[c] += columns[(c - 1) // FAN_OUT]
            writer.write_batch(
                pa.record_batch([pa.array(column) for column in columns], names=names)
            )


def run(code: str, path: Path) -> tuple[float, float, int, list[list[int]], Any]:
    """Run a program of its own with one thread; return seconds, CPU seconds, peak bytes, edges."""
    root = Path(__file__).parents[2]
    one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    paths = os.pathsep.join([str(root), str(root / "src")])
    env = os.environ | one | {"POLARS_MAX_THREADS": "1", "PYTHONPATH": paths}
    program = [sys.executable, "-c", PROGRAM.replace("{code}", code), str(path)]
    done = subprocess.run(program, capture_output=True, text=True, env=env, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return tuple(json.loads(done.stdout))  # type: ignore[return-value]


def from_disk(section: Section) -> None:
    section.part("From disk")
    if importlib.util.find_spec("pyarrow") is None:
        section.say("Not run: pyarrow is not installed.", "")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.arrow"
        write(path)
        size = path.stat().st_size
        run(BLOCKED.replace("{dtype}", "float32"), path)  # the file is in the page cache for all
        mist = min(run(MIST, path) for _ in range(2))
        single = min(run(BLOCKED.replace("{dtype}", "float32"), path) for _ in range(2))
        double = min(run(BLOCKED.replace("{dtype}", "float64"), path) for _ in range(2))
    same = mist[3] == single[3] == double[3]
    section.say(
        f"{N_RECORDS:,} × {N_COLUMNS:,} 32-bit numbers in an Arrow file of {size / 1e9:.1f} GB, in "
        f"batches of {BATCH:,} records, all of it in the page cache. The baseline reads batch "
        "after batch and adds up symmetric products (BLAS `syrk`, one thread), then SciPy's "
        "spanning tree. Each way runs twice in a process of its own, the faster "
        "run counts; its peak is that of the whole process, with Python, libraries and "
        "pages of mapped files (the baseline maps the file; the system could drop those pages). "
        f"{'All find the same tree' if same else 'They do NOT all find the same tree'} (checked). "
        f"MIST read {mist[4][0]:.4f} of all record-pairs, {mist[4][1]:,} records of the pair that "
        "needed most.",
        "",
    )
    rows = [
        (name, milliseconds(costs[0]), milliseconds(costs[1]), f"{costs[2] / 1e6:,.0f} MB", ratio)
        for name, costs, ratio in (
            ('`DependencyTree("mist")`', mist, "–"),
            ("blocked product, 32 bits", single, f"{single[0] / mist[0]:.1f}×"),
            ("blocked product, 64 bits", double, f"{double[0] / mist[0]:.1f}×"),
        )
    ]
    section.table(("way", "time", "CPU time", "peak (asked below 1 GB)", "ratio (asked 10×)"), rows)
