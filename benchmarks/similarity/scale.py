"""Five million objects with grouping: minutes and memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks.report import milliseconds

if TYPE_CHECKING:
    from benchmarks.report import Section

OBJECTS = 5_000_000
COLUMNS = 16
RESOLUTION = 80

PROGRAM = """
import json, resource, sys, time
import numpy as np
import tacit
from tacit.datasets import make_objects
n, d, k = map(int, sys.argv[1:])
X, y = make_objects(n, d, n_clusters=12, spread=0.5)
last = 4 * n // 5
report = {"data": X.nbytes}
def timed(name, work):
    begun = time.perf_counter()
    result = work()
    report[name] = time.perf_counter() - begun
    return result
sc = tacit.SparseComputation(resolution=k, n_dimensions=3, random_state=0)
timed("projection and grid", lambda: sc.fit(X))
groups = timed("grouping", lambda: sc.group(y))
report["groups"] = len(groups.weights)
report["pairs"] = sc.n_pairs_
del sc, groups
for name, model in (
    ("KNN", tacit.SparseKNeighborsClassifier(3, resolution=k, n_dimensions=3, group_width=1.0)),
    ("SNC", tacit.NormalizedCutClassifier(resolution=k, n_dimensions=3, group_width=1.0)),
):
    timed(name + ", fit", lambda: model.fit(X[:last], y[:last]))
    guess = timed(name + ", predict", lambda: model.predict(X[last:]))
    report[name + ", accuracy"] = float((guess == y[last:]).mean())
report["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps(report))
"""


def scale(section: Section) -> None:
    """Add the section on five million objects."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(OBJECTS), str(COLUMNS), str(RESOLUTION)],
        capture_output=True, text=True, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    report = json.loads(done.stdout)
    section.part(
        f"{OBJECTS:,} objects",
        f"{OBJECTS:,} × {COLUMNS} numbers in 12 clusters of two classes "
        f"({report['data'] / 1e9:.2f} GB), three dimensions, k = {RESOLUTION}, group_width = 1: "
        f"{report['groups']:,} representatives instead of {report['pairs']:,} near pairs. "
        "Classifiers learn from four fifths and classify the rest; one thread. Peak memory of the "
        f"process, data and all: {report['peak'] / 1e9:.1f} GB.",
    )
    steps = [name for name in report if name not in ("data", "groups", "pairs", "peak")]
    section.table(
        ("step", "time"),
        [(name, milliseconds(report[name])) for name in steps if "accuracy" not in name],
    )
    section.table(
        ("classifier", "accuracy"),
        [(n.removesuffix(", accuracy"), f"{report[n]:.2%}") for n in steps if "accuracy" in n],
    )
