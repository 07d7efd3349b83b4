"""Statistics beyond memory: streamed passes, workers, a limit kept by the system, and growth."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import tacit
from benchmarks.report import Section, milliseconds, race
from benchmarks.scale.growth import growth
from benchmarks.scale.limit import limit
from benchmarks.scale.model import Nothing, check
from benchmarks.scale.peers import peers
from tacit.datasets import make_msnbc
from tacit.mixture.em.partitioned import ExpectAll

if TYPE_CHECKING:
    from tacit.scale import PartitionedTable

CLUSTERS = 20
FIVE = "E-step of five starts"
PARTITIONS = 16
STREAMED, WORKERS = 1.3, 1.5  # what is asked for: at most, at least


def main() -> None:
    section = Section("scale", "Partitions: streamed, and on a cluster")
    section.made_with("dask", "distributed", "polars", "duckdb")
    with tempfile.TemporaryDirectory() as folder:
        table = make_msnbc()
        parts = tacit.scale.partition(table, PARTITIONS).materialise(Path(folder) / "msnbc")
        streamed(section, table, parts)
        on_workers = workers(section, table, parts)
        check(section, first_model(table), table, parts, on_workers)
        del table, parts
        peers(section, Path(folder) / "peers")
        limit(section, Path(folder) / "limit")
        growth(section, Path(folder) / "growth")
    section.write()


def first_model(table: tacit.Table) -> tacit.NaiveBayesMixture:
    """Return a mixture that has taken two passes: where it stands does not matter here."""
    return tacit.NaiveBayesMixture(CLUSTERS, n_init=1, max_iter=2, random_state=0).fit(table)


def streamed(section: Section, table: tacit.Table, parts: PartitionedTable) -> None:
    section.part(
        "A streamed pass",
        f"{table.n_records:,} records × {table.n_columns:,} columns with {table.n_stored:,} stored "
        f"values in {PARTITIONS} partitions, once as one table in memory and once as a folder of "
        "mapped files. A pass is an E-step of a mixture with "
        f"{CLUSTERS} clusters, or a count; results agree (10⁻¹², counts to the bit).",
    )
    model = first_model(table)
    rows = []
    for jobs in (1, 2):
        model.n_jobs = jobs
        one, other = model.expected_counts(table), model.expected_counts(parts)
        assert np.allclose(one.stored, other.stored, rtol=1e-12, atol=1e-12)
        assert np.isclose(one.log_likelihood, other.log_likelihood, rtol=1e-12)
        assert np.array_equal(parts.one_way(n_jobs=jobs).counts, table.one_way().counts)
        works: dict[str, tuple[Any, Any]] = {
            "E-step": (lambda: model.expected_counts(table), lambda: model.expected_counts(parts)),
            "one-way counts": (
                lambda jobs=jobs: table.fresh().one_way(n_jobs=jobs),
                lambda jobs=jobs: parts.one_way(n_jobs=jobs),
            ),
            "all pairs": (
                lambda jobs=jobs: table.pairs(n_jobs=jobs),
                lambda jobs=jobs: parts.pairs(n_jobs=jobs),
            ),
        }
        for name, (held, read) in works.items():
            took = race({"held": held, "read": read}, 9)
            ratio = took["read"] / took["held"]
            rows.append(
                (
                    name,
                    str(jobs),
                    milliseconds(took["held"]),
                    milliseconds(took["read"]),
                    f"{ratio:.2f}×" + (f" (asked: ≤ {STREAMED}×)" if name == "E-step" else ""),
                )
            )
    section.table(("pass", "threads", "in memory", "streamed", "ratio"), rows)


def workers(
    section: Section, table: tacit.Table, parts: PartitionedTable
) -> dict[int, tuple[float, float]]:
    """Return the seconds of an E-step and of a pass of nothing, by the number of workers."""
    from distributed import Client, LocalCluster

    section.part(
        "Workers",
        "The same partitions on a Dask cluster of worker processes on this machine, one thread "
        "each, after the pass in which they are loaded. The driver and the scheduler share the "
        "two cores with the workers. Five starts of EM in one pass are what a mixture with "
        "`n_init=5` asks for; a pass of nothing shows what Dask takes for itself.",
    )
    model = first_model(table)
    expected = model.expected_counts(table)
    pairs = table.pairs()
    five = ExpectAll([model._parameters] * 5)
    took: dict[int, dict[str, float]] = {}
    for n in (1, 2):
        with (
            LocalCluster(n_workers=n, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster) as client,
            tacit.scale.on_dask(client),
        ):
            counted = model.expected_counts(parts)
            assert np.allclose(counted.stored, expected.stored, rtol=1e-12, atol=1e-12)
            assert np.array_equal(parts.pairs().stored, pairs.stored)
            took[n] = race(
                {
                    "E-step": lambda: model.expected_counts(parts),
                    FIVE: lambda: parts.reduce(five),
                    "all pairs": lambda: parts.pairs(),
                    "one-way counts": lambda: parts.one_way(),
                    "nothing": lambda: parts.reduce(Nothing()),
                },
                15,
            )
    rows = [
        (
            name,
            milliseconds(took[1][name]),
            milliseconds(took[2][name]),
            f"{took[1][name] / took[2][name]:.2f}×"
            + (f" (asked: ≥ {WORKERS}×)" if name in ("E-step", FIVE) else ""),
        )
        for name in took[1]
    ]
    section.table(("pass", "one worker", "two workers", "faster"), rows)
    return {n: (times["E-step"], times["nothing"]) for n, times in took.items()}


if __name__ == "__main__":
    main()
