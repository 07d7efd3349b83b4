"""A table of four times the memory that the system gives to the process."""

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

ROOM = 64_000_000  # bytes that the process may ask for beyond what it has after its imports
N_FILES, N_RECORDS, N_COLUMNS = 8, 1_000_000, 20

PROGRAM = """
import json, resource, sys
import numpy as np, polars as pl
import tacit
folder, room = sys.argv[1], int(sys.argv[2])
tacit.DependencyTree, tacit.NaiveBayesMixture  # what they import is no part of the limit
tacit.scan(folder + "/small/*.parquet", n_jobs=2).pairs()  # threads and what they need are there

def held():
    with open("/proc/self/status") as status:
        return int(dict(line.split(":", 1) for line in status)["VmData"].split()[0]) * 1024

limit = held() + room
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
logs = tacit.scan(folder + "/*.parquet", memory="16MB", n_jobs=2)
n_bytes = logs.summary().n_bytes
counts = logs.one_way().counts.tolist()
tree = tacit.DependencyTree("exact", n_jobs=2).fit(logs)
logs = logs.materialise(folder + "/kept")
pairs = int(logs.pairs(n_jobs=2).stored.sum())
mixture = tacit.NaiveBayesMixture(2, n_init=1, max_iter=3, random_state=0, n_jobs=2).fit(logs)
try:
    whole = [np.ones(n_bytes // 8, np.int64)]
except MemoryError:
    whole = []
answers = [n_bytes, counts, pairs, mixture.log_likelihood_, tree.edges_.tolist(), len(whole)]
print(json.dumps(answers))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    (path / "small").mkdir()
    for k in range(N_FILES):
        columns = {}
        for c in range(N_COLUMNS):
            drawn = rng.integers(0, 256, N_RECORDS, np.uint8)
            # A column goes with the one before it: a tree that can be told.
            before = columns.get(f"c{c - 1}", drawn % 4)
            columns[f"c{c}"] = np.where(drawn < 40 + 5 * c, before, drawn % 4).astype(np.int8)
        frame = pl.DataFrame(columns)
        frame.write_parquet(path / f"{k}.parquet", row_group_size=20_000)
        if k == 0:
            frame[:5000].write_parquet(path / "small" / "0.parquet")
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
def test_counts_mixture_and_tree_within_the_limit(folder):
    # Stacks of threads count as well, eight megabytes each if nothing is said.
    smaller = ["sh", "-c", 'ulimit -s 1024 && exec "$@"', "sh"]
    run = subprocess.run(
        [*smaller, sys.executable, "-c", PROGRAM, str(folder), str(ROOM)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    n_bytes, counts, pairs, likelihood, edges, whole = json.loads(run.stdout)
    assert n_bytes >= 4 * ROOM
    assert whole == 0, "the limit is none"
    frame = pl.concat([pl.read_parquet(path) for path in sorted(folder.glob("*.parquet"))])
    expected = [frame[name].value_counts().sort(name)["count"].to_list() for name in frame.columns]
    assert counts == [n for column_counts in expected for n in column_counts]
    stored = frame.height * N_COLUMNS - sum(max(column_counts) for column_counts in expected)
    assert pairs > stored
    assert edges == [[c, c + 1] for c in range(N_COLUMNS - 1)]
    assert likelihood < 0
