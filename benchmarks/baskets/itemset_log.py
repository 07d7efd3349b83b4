"""Itemsets of many baskets: in memory, and streamed from a log in Parquet."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.report import Section, milliseconds

WIDE = (1_832_691, 11_161, 12)  # baskets, items, items a basket
WIDE_SUPPORT = 0.0005
N_BASKETS, N_ITEMS, PER_BASKET = 20_000_000, 200_000, 5
SUPPORT, LONGEST = 0.001, 3
LIMIT = "2GB"
CHUNK = 1_000_000  # baskets written, or rows read, at once

PEAK = """
def peak():
    with open("/proc/self/status") as status:
        return next(int(l.split()[1]) for l in status if l.startswith("VmHWM")) * 1024

def told(sets):
    from benchmarks.baskets.itemset_peers import digest
    return digest(sets, 2**62)
"""
WIDE_CODE = {
    "tacit": """
import tacit
table = tacit.datasets.make_baskets(*{wide})
before = peak()
start = time.perf_counter()
model = tacit.FrequentItemsets(min_support={support}, kind="{kind}", n_jobs={n_jobs}).fit(table)
seconds = time.perf_counter() - start
found = model.itemsets_
sets = found.sizes, (found.cells // 2).astype("int64"), found.counts
""",
    "rusket": """
import numpy as np, tacit
from scipy import sparse
from rusket import mine
table = tacit.datasets.make_baskets(*{wide})
ones = np.ones(len(table.values), np.int8)
X = sparse.csr_matrix((ones, table.values.astype(np.int32), table.indptr), shape={wide}[:2])
del table, ones
before = peak()
start = time.perf_counter()
frame = mine(X, min_support={support}, method="fpgrowth", use_colnames=False)
seconds = time.perf_counter() - start
from benchmarks.baskets.itemset_peers import from_lists
counts = np.rint(frame["support"].to_numpy() * X.shape[0]).astype(np.int64)
sets = from_lists(list(zip(frame["itemsets"], counts.tolist())))
""",
}
STREAMED_CODE = {
    "tacit": """
import numpy as np, tacit
start = time.perf_counter()
parts = tacit.scan("{path}", long=("basket", "item"), memory="{limit}", n_jobs={n_jobs})
model = tacit.FrequentItemsets(min_support={support}, kind="all", max_size={longest},
                               n_jobs={n_jobs}).fit(parts)
seconds = time.perf_counter() - start
found = model.itemsets_
names = np.array([int(name) for name in found.items.schema.names], np.int64)
columns = np.searchsorted(found.items.schema.cells, found.cells, "right") - 1
sets = found.sizes, names[columns] if len(columns) else columns, found.counts
""",
    "rusket": """
import numpy as np, pyarrow.parquet
from rusket import FPMiner
from benchmarks.baskets.itemset_peers import from_lists
start = time.perf_counter()
miner = FPMiner({n_items}, max_ram_mb={max_ram})
for batch in pyarrow.parquet.ParquetFile("{path}").iter_batches({chunk}):
    miner.add_arrow_batch(batch, "basket", "item")
frame = miner.mine(min_support={support}, max_len={longest}, use_colnames=False)
seconds = time.perf_counter() - start
counts = np.rint(frame["support"].to_numpy() * {n_baskets}).astype(np.int64)
sets = from_lists(list(zip(frame["itemsets"], counts.tolist())))
""",
    "reading alone": """
import numpy as np, pyarrow.parquet
start = time.perf_counter()
for batch in pyarrow.parquet.ParquetFile("{path}").iter_batches({chunk}):
    batch.column("item").to_numpy(zero_copy_only=False)
seconds = time.perf_counter() - start
sets = tuple(np.zeros(0, np.int64) for _ in range(3))
""",
}


def run(code: str, n_jobs: int, timeout: float, **values: Any) -> dict[str, Any] | str:
    """Run code in a process of its own; return its figures, or how it ended."""
    code = code.format(n_jobs=n_jobs, **values)
    show = 'print(json.dumps({"seconds": seconds, "peak": top, "sets": told(sets)}))'
    program = f"import json, time\n{PEAK}\n{code}\ntop = peak()\n{show}"
    env = os.environ | {"RAYON_NUM_THREADS": str(n_jobs)}
    try:
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=env,
            timeout=timeout,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"more than {timeout:g} s"
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return f"ended with {done.returncode}"
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def row(name: str, found: dict[str, Any] | str) -> list[str]:
    if isinstance(found, str):
        return [name, "–", found, "–"]
    sets = found["sets"].split()[0]
    return [name, sets, milliseconds(found["seconds"]), f"{found['peak'] / 1e9:.2f} GB"]


def same(found: list[dict[str, Any] | str]) -> None:
    answers = {one["sets"] for one in found if not isinstance(one, str)}
    assert len(answers) <= 1, answers


def wide(n_jobs: int, timeout: float = 120.0) -> None:
    """Mine more baskets than mlxtend can, in memory."""
    m, n, per = WIDE
    section = Section("itemsets-wide", f"Itemsets: {m:,} baskets, {n:,} items", 3)
    here = [name for name in ("rusket",) if importlib.util.find_spec(name)]
    section.made_with(*here)
    section.say(
        f"Drawn by `make_baskets`, {per} items a basket; support {WIDE_SUPPORT:.2%}, {n_jobs} "
        "threads. Seconds from records in memory (a Table; a sparse matrix for rusket) to sets in "
        "memory; the peak is of the whole process, the records and their drawing included. mlxtend "
        f"asks for {m * n / 1e9:.0f} GB for a frame of booleans alone.",
        "",
    )
    rows = []
    for kind in ("all", "closed", "maximal"):
        names = ["tacit", *here] if kind == "all" else ["tacit"]
        values = {"wide": WIDE, "support": WIDE_SUPPORT, "kind": kind}
        found = [run(WIDE_CODE[name], n_jobs, timeout, **values) for name in names]
        same(found)
        rows += [[kind, *row(name, one)] for name, one in zip(names, found, strict=True)]
        print(rows, flush=True)
    section.table(("sets", "", "found", "seconds", "peak"), rows)
    section.write()


def write_log(path: Path, law: str) -> None:
    """Write rows of basket and item, those of a basket together."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    chances = np.cumsum(1 / np.arange(1, N_ITEMS + 1))
    names = rng.permutation(N_ITEMS).astype(np.int32)
    schema = pa.schema({"basket": pa.int64(), "item": pa.int32()})
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, N_BASKETS, CHUNK):
            m = min(CHUNK, N_BASKETS - first)
            baskets = np.repeat(np.arange(first, first + m), PER_BASKET)
            if law == "uniform":
                items = rng.integers(0, N_ITEMS, PER_BASKET * m, dtype=np.int32)
            else:
                drawn = rng.random(PER_BASKET * m) * chances[-1]
                items = names[np.searchsorted(chances, drawn)]
            writer.write_table(pa.table([baskets, items], schema=schema))


LAWS = {
    "zipf": "By Zipf's law there is something to be found. ",
    "uniform": "Items are drawn uniformly, as rusket's benchmark of this size does, so that none "
    "is frequent: what is measured is how they are counted. (Its authors give 10.1 s for mining a "
    "matrix in memory on an Apple M-series, after 124 s for making it of the rows.) ",
}


def streamed(law: str, n_jobs: int, timeout: float = 120.0) -> None:
    """Mine a log that is read from Parquet, within a limit of memory."""
    section = Section(
        f"itemsets-streamed-{law}", f"Itemsets: {N_BASKETS:,} baskets from Parquet, {law}", 3
    )
    here = [name for name in ("rusket",) if importlib.util.find_spec(name)]
    section.made_with(*here, "pyarrow")
    section.say(
        f"A log of {N_BASKETS * PER_BASKET:,} rows of basket and item, {N_ITEMS:,} items, the rows "
        f"of a basket together; sets of up to {LONGEST} items with a support of {SUPPORT:.1%}. "
        f"{LAWS[law]}From the file to sets in memory, one run each, {n_jobs} threads: tacit by "
        f"`scan(…, long=…, memory={LIMIT!r})`, rusket by FPMiner with max_ram_mb=2000 and without "
        "a limit. The peak is of the whole process, all that is imported included.",
        "",
    )
    tried = [("reading alone", "reading alone", -1), ("tacit", "tacit", -1)]
    if here:
        tried += [("rusket, 2 GB", "rusket", 2000), ("rusket", "rusket", None)]
    rows, found = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{law}.parquet"
        write_log(path, law)
        values = {
            "path": path, "limit": LIMIT, "support": SUPPORT, "longest": LONGEST,
            "n_items": N_ITEMS, "n_baskets": N_BASKETS, "chunk": 5 * CHUNK,
        }  # fmt: skip
        for name, code, ram in tried:
            one = run(STREAMED_CODE[code], n_jobs, timeout, max_ram=ram, **values)
            cells = row(name, one)
            if code == "reading alone":
                cells[1] = "–"
            else:
                found.append(one)
            rows.append(cells)
            print(cells, flush=True)
    same(found)
    section.table(("", "found", "seconds", "peak"), rows)
    section.write()
