"""Dependency trees: MIST against exact trees, and exact trees against what a user would run."""

from __future__ import annotations

import lzma
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import tacit
from benchmarks import report
from benchmarks.dependency_tree.disk import from_disk
from benchmarks.dependency_tree.figures import figures
from benchmarks.dependency_tree.peers import (
    as_set,
    binary_information,
    by_corrcoef,
    by_product,
    correlations,
    libraries,
    nats,
    spanning,
)
from benchmarks.report import Section, cpu_seconds, milliseconds, on_one_core, race
from tacit.datasets import make_dependency_tree

if TYPE_CHECKING:
    from benchmarks.dependency_tree.peers import Edges

RUNS = 100
# Mean log-likelihood of test records under Chow–Liu trees, as papers on density estimation report
# it for these splits, to two digits.
PUBLISHED = {
    "nltcs": -6.76, "baudio": -44.37, "jester": -58.23, "bnetflix": -60.25, "accidents": -33.17,
    "pumsb_star": -30.79,
}  # fmt: skip
SETS = (*PUBLISHED, "mushrooms", "moviereview", "nips", "voting")


def weight_of(edges: Edges, weights: Any) -> float:
    return float(sum(weights[edge] for edge in edges))


def same_trees(section: Section) -> None:
    section.part(
        "The same tree",
        'Data sets drawn anew for each run; `DependencyTree("mist")` with '
        "default settings against the tree of all records by NumPy and SciPy. Where trees differ, "
        "the weight of MIST's tree, measured on all records, as a share of the best.",
    )
    rows = []
    for kind, n_records, n_columns, runs in (
        ("numeric", 100_000, 100, RUNS),
        ("binary", 100_000, 100, RUNS),
        ("numeric", 400_000, 200, RUNS // 10),
        ("binary", 400_000, 200, RUNS // 10),
    ):
        same, worst, usage = 0, 1.0, []
        for seed in range(runs):
            drawn = make_dependency_tree(n_records, n_columns, kind=kind, random_state=seed)
            dense = drawn.data if kind == "numeric" else drawn.data.to_numpy()
            weights = nats(correlations(dense)) if kind == "numeric" else binary_information(dense)
            best = spanning(weights)
            tree = tacit.DependencyTree("mist", random_state=seed, n_jobs=1).fit(drawn.data)
            found = as_set(tree.edges_)
            usage.append(float(tree.edge_usage_))
            same += found == best
            worst = min(worst, weight_of(found, weights) / weight_of(best, weights))
        rows.append(
            (
                f"{kind}, {n_records:,} × {n_columns}",
                f"{same} of {runs}",
                "–" if same == runs else f"{100 * worst:.4f} %",
                f"{np.median(usage):.4f}",
                f"{max(usage):.4f}",
            )
        )
    section.table(
        (
            "data",
            "same tree (asked 97 %)",
            "least weight (asked 99.99 %)",
            "edge usage, median",
            "most",
        ),
        rows,
    )


def in_memory(section: Section) -> None:
    section.part(
        "Against `numpy.corrcoef` and SciPy's spanning tree",
        "Numeric data in memory, 64 bits, records side by side (C order) but in the last row, one "
        "thread. The same tree on both sides (checked). The exact tree of tacit reads all; ratios "
        "are the peer's time over tacit's.",
    )
    rows = []
    crossover: dict[int, str] = {}
    for n_records, n_columns, order in (
        (10_000, 100, "C"), (25_000, 100, "C"), (50_000, 100, "C"), (100_000, 100, "C"),
        (400_000, 100, "C"), (10_000, 200, "C"), (50_000, 200, "C"), (200_000, 200, "C"),
        (1_000_000, 200, "C"), (1_000_000, 200, "F"),
    ):  # fmt: skip
        drawn = make_dependency_tree(n_records, n_columns, random_state=0).data
        x = np.asarray(drawn, order=order)
        del drawn
        mist = tacit.DependencyTree("mist", random_state=0, n_jobs=1)
        exact = tacit.DependencyTree("exact", n_jobs=1)
        best = by_corrcoef(x)
        assert as_set(mist.fit(x).edges_) == as_set(exact.fit(x).edges_) == best
        times = race(
            {
                "mist": lambda m=mist, x=x: m.fit(x),
                "exact": lambda m=exact, x=x: m.fit(x),
                "peer": lambda x=x: by_corrcoef(x),
            },
            3 if n_records * n_columns > 2e7 else 9,
        )
        ratio = times["peer"] / times["mist"]
        if ratio >= 1:
            crossover.setdefault(n_columns, f"{n_records:,} records of {n_columns} columns")
        asked = {(1_000_000, 200): "5×", (100_000, 100): "at least 0.83×"}
        rows.append(
            (
                f"{n_records:,} × {n_columns}{', column-major' if order == 'F' else ''}",
                milliseconds(times["mist"]),
                milliseconds(times["exact"]),
                milliseconds(times["peer"]),
                f"{ratio:.2f}×",
                asked.get((n_records, n_columns), "–"),
                f"{mist.edge_usage_:.4f}",
            )
        )
    section.table(
        ("data", "MIST", "exact", "corrcoef + MST", "MIST's ratio", "asked", "edge usage"), rows
    )
    section.say(f"MIST is the faster way from {' and from '.join(crossover.values())} on.", "")


def binary(section: Section) -> None:
    section.part("Exact Chow–Liu trees of binary columns")
    drawn = make_dependency_tree(100_000, 100, kind="binary", random_state=0)
    table = drawn.data
    dense = table.to_numpy()
    best = by_product(dense)
    small = dense.astype(np.uint8)
    exact = tacit.DependencyTree("exact", n_jobs=1)
    assert as_set(exact.fit(table).edges_) == as_set(exact.fit(small).edges_) == best
    times = race(
        {
            "fit_bytes": lambda: exact.fit(small),
            "fit": lambda: exact.fit(table),
            "bytes": lambda: by_product(small),
            "int64": lambda: by_product(dense),
        },
        15,
    )
    others, absent = libraries()
    rows = [
        ("tacit, `DependencyTree.fit` of bytes", milliseconds(times["fit_bytes"]), "–"),
        ("tacit, `DependencyTree.fit` of a Table", milliseconds(times["fit"]), "–"),
        *(
            (
                f"NumPy float32 product of {what}, MI, SciPy MST",
                milliseconds(times[key]),
                f"{times[key] / times['fit_bytes']:.1f}×, {times[key] / times['fit']:.1f}×",
            )
            for key, what in (("bytes", "bytes"), ("int64", "64-bit integers"))
        ),
    ]
    for name, (prepare, make) in others.items():
        ready = prepare(small)
        taken, edges = cpu_seconds(lambda make=make, ready=ready: make(ready))
        assert edges == best, name
        rows.append(
            (
                name,
                milliseconds(taken),
                f"{taken / times['fit_bytes']:,.0f}×, {taken / times['fit']:,.0f}×",
            )
        )
    section.say(
        "100,000 × 100 binary, one thread; all find the same tree (checked). The two ratios are to "
        "tacit's fit of the bytes and of the Table, whose pairs are counted anew. Asked: 5× NumPy. "
        + " ".join(absent),
        "",
    )
    section.table(("way", "time", "ratios"), rows)


def debd(name: str, part: str) -> tacit.Table:
    """Return one part of a data set; both labels are declared, also where one does not occur."""
    path = report.SHARED / "debd" / name / f"{name}.{part}.data.xz"
    with lzma.open(path, "rt") as stream:
        codes = np.loadtxt(stream, delimiter=",", dtype=np.int8)
    labels = np.array(["0", "1"])[codes]
    kind = pl.Enum(["0", "1"])
    return tacit.Table(
        {f"x{c}": pl.Series(column, dtype=kind) for c, column in enumerate(labels.T)}
    )


def held_out(section: Section) -> None:
    section.part("Test log-likelihood of Chow–Liu trees")
    if not (report.SHARED / "debd").exists():
        section.say("Not run: the data sets are not at hand.", "")
        return
    rows = []
    for name in SETS:
        train, test = debd(name, "train"), debd(name, "test")
        tree = tacit.DependencyTree("exact").fit(train)
        rows.append(held_out_row(name, train.shape, tree.score(test)))
    folder = report.SHARED / "msweb"
    train = tacit.read_msweb(folder / "anonymous-msweb.data.gz")
    test = tacit.read_msweb(folder / "anonymous-msweb.test.gz")
    tree = tacit.DependencyTree("exact").fit(train)
    score = tree.score(test.conform(train.schema, unseen="default"))
    rows.append(held_out_row("msweb", train.shape, score))
    section.say(
        "Mean of test records, in nats, with one pseudo-record for each pair of columns. "
        "Published: what papers on density estimation report for Chow–Liu trees on these splits, "
        "to two digits, quoted from memory. msweb is UCI's own split of the log.",
        "",
    )
    section.table(("data", "training records × columns", "tacit", "published", "difference"), rows)


def held_out_row(name: str, shape: tuple[int, int], score: float) -> tuple[str, ...]:
    known = PUBLISHED.get(name)
    size = f"{shape[0]:,} × {shape[1]:,}"
    if known is None:
        return name, size, f"{score:.3f}", "–", "–"
    return name, size, f"{score:.3f}", f"{known:.2f}", f"{score - known:+.3f}"


def main() -> None:
    section = Section("dependency_tree", "Dependency trees")
    note = "The process is bound to one core, and BLAS to one thread."
    section.made_with("numpy", "scipy", note=note)
    with on_one_core():
        same_trees(section)
        figures(section)
        in_memory(section)
        from_disk(section)
        binary(section)
        held_out(section)
    section.write()


if __name__ == "__main__":
    main()
