"""How the time of a pass grows with the stored values, on disk."""

from __future__ import annotations

import time
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

import tacit
from benchmarks.report import milliseconds
from tacit.datasets import make_mixture
from tacit.scale.local import Local
from tacit.scale.partitioned_table import Metadata, PartitionedTable, PassRunner
from tacit.scale.partitions import Partitions, PartitionSource, Reader
from tacit.statistic import MergeTree

if TYPE_CHECKING:
    from benchmarks.report import Section

FOLDER = Path(__file__).parents[2] / "docs" / "_static"
CLUSTERS = 20
N_COLUMNS = 2_922
STORED = 1_000_000  # of a partition
RECORDS = 85_000
PARTITIONS = (1, 3, 10, 30, 100)


@dataclass(frozen=True)
class MadeSource(PartitionSource):
    """A partition that is drawn when it is asked for."""

    seed: int
    _: KW_ONLY
    name: str = "a partition that is drawn"
    disk_bytes: int = 0
    load_bytes: int = 3 * STORED
    kept_bytes: int = 3 * STORED


class MadeReader(Reader):
    def load(self, source: MadeSource, n_jobs: int) -> tacit.Table:
        return make_mixture(RECORDS, N_COLUMNS, STORED, noun="story", random_state=source.seed)


def made(n: int) -> PartitionedTable:
    """Return a table of n partitions of a million stored values each; nothing is drawn yet."""
    schema = MadeReader().load(MadeSource(0), 1).schema
    firsts = tuple(RECORDS * k for k in range(n))
    parts = Partitions(tuple(MadeSource(k) for k in range(n)), MadeReader(), firsts)
    metadata = Metadata(schema, parts, np.full(n, RECORDS, np.int64), n * STORED, False)
    return PartitionedTable._of(metadata, PassRunner(Local("100MB")), "drawn records")


def growth(section: Section, folder: Path) -> None:
    section.part(
        "Growth",
        f"Files of {STORED:,} stored values and {RECORDS:,} records each, {N_COLUMNS:,} columns, "
        "mapped; one thread; the least of three passes. Merging is what adding up the partials of "
        f"an E-step with {CLUSTERS} clusters takes by itself.",
    )
    largest = made(max(PARTITIONS)).materialise(folder)
    first = made(1).collect()
    model = tacit.NaiveBayesMixture(CLUSTERS, n_init=1, max_iter=2, random_state=0).fit(first)
    merging = _merging(model, first)
    rows, taken = [], []
    for n in PARTITIONS:
        parts = _some(largest, n)
        passes = {
            "one-way counts": lambda parts=parts: parts.one_way(),
            "all pairs": lambda parts=parts: parts.pairs(),
            "E-step": lambda parts=parts: model.expected_counts(parts),
        }
        took = {name: _least(work) for name, work in passes.items()}
        taken.append(took)
        merge = merging * (n - 1)
        rows.append(
            (
                f"{n * STORED:,}",
                *(
                    f"{milliseconds(seconds)} ({seconds / (n * STORED) * 1e9:.2f} ns a value)"
                    for seconds in took.values()
                ),
                f"{milliseconds(merge)} ({merge / took['E-step']:.1%})".replace("%", " %"),
            )
        )
    section.table(("stored values", *taken[0], "merging"), rows)
    _draw(taken)
    section.say("![Seconds of a pass against stored values](_static/scale-growth.svg)", "")


def _some(parts: PartitionedTable, n: int) -> PartitionedTable:
    """Return the table of the first n partitions."""
    known = parts._metadata
    every = known.partitions
    first = Partitions(every.sources[:n], every.reader, every.firsts[:n])
    metadata = Metadata(known.schema, first, known.sizes[:n], n * STORED, False)
    return PartitionedTable._of(metadata, PassRunner(Local()), "some partitions")


def _least(work: Any) -> float:
    """Return the seconds of the fastest of three passes; the one before maps the files."""
    work()
    taken = []
    for _ in range(3):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def _merging(model: tacit.NaiveBayesMixture, table: tacit.Table) -> float:
    """Return the seconds of merging two partials."""
    n = 32
    counts = [model.expected_counts(table) for _ in range(n)]
    tree = MergeTree(lambda a, b: a + b, n)
    begin = time.perf_counter()
    for index, partial in enumerate(counts):
        tree.put(index, partial)
    return (time.perf_counter() - begin) / (n - 1)


def _draw(taken: list[dict[str, float]]) -> None:
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "tacit"
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    sizes = [n * STORED for n in PARTITIONS]
    for name in taken[0]:
        axes.loglog(sizes, [took[name] for took in taken], "o-", label=name)
    axes.set_xlabel("stored values")
    axes.set_ylabel("seconds of a pass, one thread")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(FOLDER / "scale-growth.svg", metadata={"Date": None})
    plt.close(figure)
