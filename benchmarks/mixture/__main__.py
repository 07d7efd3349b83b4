"""Mixtures by sparse EM, and k-means: passes against peers, convergence, and what is found."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

import numpy as np

import tacit
from benchmarks.mixture.clusters import clusters
from benchmarks.mixture.held_out import between_seeds, held_out
from benchmarks.mixture.kmeans import kmeans
from benchmarks.mixture.peers import (
    NumpyDense,
    ScipySparse,
    StepMixDense,
    Tacit,
    responsibilities,
)
from benchmarks.report import (
    SHARED,
    Section,
    milliseconds,
    peak_bytes,
    race,
)
from tacit.datasets import make_msnbc, make_msweb, make_ratings, make_television
from tacit.mixture.em.iterations import TableProblem, run_em
from tacit.mixture.em.prior import make_prior
from tacit.mixture.em.starts import make_start
from tacit.schema import Labels, Schema

if TYPE_CHECKING:
    from collections.abc import Callable

CLUSTERS = 20
SLICE = 10_000  # records of the large table that dense forms are measured on
STARTS = 10
ROW = 25  # steps timed in a row where one is short
PAPER = {"television": 14, "msweb": 40, "msnbc": 55}


def times_of(ratio: float) -> str:
    return f"{ratio:.1f}×" if ratio < 100 else f"{ratio:,.0f}×"


def agree(ours: Any, theirs: Any, tolerance: float) -> None:
    """Take two steps on both sides; the log-likelihoods must be the same."""
    for _ in range(2):
        a, b = ours.step(), theirs.step()
        assert abs(a - b) <= tolerance * abs(a), (type(theirs).__name__, a, b)


def steps(work: Any, n: int) -> Callable[[], None]:
    """Return n steps in a row, as EM takes them."""

    def run() -> None:
        for _ in range(n):
            work.step()

    return run


def passes(section: Section, tables: dict[str, tacit.Table]) -> None:
    section.part(
        "A step of EM",
        f"{CLUSTERS} clusters, one thread, maximum likelihood, all from the same start and with "
        "the same log-likelihood after each of two steps (10⁻⁹ in double, 10⁻⁵ in single "
        "precision). "
        "A step is an M-step and an E-step. `scipy.sparse` multiplies the table as a CSR matrix "
        "with the logarithms of the corrections and its transpose with the responsibilities. NumPy "
        f"and StepMix take the dense table; of the largest one they see {SLICE:,} records, and "
        "their times are scaled up to all of them.",
    )
    rows = []
    for name, table in tables.items():
        start = responsibilities(table, CLUSTERS)
        own = Tacit(table, start)
        peer = ScipySparse(table, start)
        agree(own, peer, 1e-9)
        fast = Tacit(table, start, single=True)
        fast_peer = ScipySparse(table, start, np.float32)
        agree(fast, fast_peer, 1e-5)
        large = table.n_records > 100_000
        n = 1 if large else ROW
        works = {"own": own, "peer": peer, "fast": fast, "fast_peer": fast_peer}
        took = race({name: steps(work, n) for name, work in works.items()}, 7)
        took = {name: seconds / n for name, seconds in took.items()}
        del peer, fast_peer, works
        part = table.take(np.arange(SLICE)) if large else table
        scale = table.n_records / part.n_records
        start = start[: part.n_records]
        for label, dense in (("numpy", NumpyDense), ("stepmix", StepMixDense)):
            rival = dense(part, start)
            agree(Tacit(part, start), rival, 1e-9)
            took[label] = scale * race({"rival": steps(rival, 3)}, 3)["rival"] / 3
        about = "≈ " if large else ""
        rows.append(
            (
                f"{name}: {table.n_records:,} × {table.n_columns:,}",
                milliseconds(took["own"]),
                f"{milliseconds(took['peer'])} ({times_of(took['peer'] / took['own'])})",
                f"{about}{milliseconds(took['numpy'])} ({times_of(took['numpy'] / took['own'])})",
                f"{about}{milliseconds(took['stepmix'])} "
                f"({times_of(took['stepmix'] / took['own'])})",
                milliseconds(took["fast"]),
                f"{milliseconds(took['fast_peer'])} ({times_of(took['fast_peer'] / took['fast'])})",
            )
        )
    head = ("table", "tacit, double", "scipy.sparse", "NumPy, dense", "StepMix", "tacit, single",
            "scipy.sparse, float32")  # fmt: skip
    section.table(head, rows)


def dense_view(table: tacit.Table) -> tacit.Table:
    """Return a table with every value stored: the default is a label that no record has."""
    labels = Labels([False, True, None], "Boolean")
    schema = Schema(table.schema.names, [labels] * table.n_columns, np.full(table.n_columns, 2))
    codes = table.to_numpy()
    values = codes + 2 * np.arange(table.n_columns)
    indptr = np.arange(table.n_records + 1) * table.n_columns
    return tacit.Table.from_stored(schema, indptr, values.ravel())


def against_dense(section: Section, tables: dict[str, tacit.Table]) -> None:
    section.part(
        "Against the dense view",
        "The same code on a table in which every value is stored: what the paper compares with. "
        f"Of the largest table the dense view has {SLICE:,} records, and its time is scaled up. "
        "The factor to be expected is m·n/l.",
    )
    rows = []
    for name, table in tables.items():
        part = table.take(np.arange(SLICE)) if table.n_records > 100_000 else table
        start = responsibilities(table, CLUSTERS)
        own, dense = Tacit(table, start), Tacit(dense_view(part), start[: part.n_records])
        agree(Tacit(part, start[: part.n_records]), dense, 1e-9)
        n = 1 if part is not table else ROW
        took = race({"own": steps(own, n), "dense": steps(dense, 1)}, 7)
        ratio = took["dense"] * table.n_records / part.n_records / took["own"] * n
        expected = table.n_records * table.n_columns / table.n_stored
        rows.append((name, times_of(ratio), times_of(PAPER[name]), times_of(expected)))
    section.table(("table", "faster than the dense view", "in the paper", "m·n/l"), rows)


def threads(section: Section, table: tacit.Table) -> None:
    section.part("Two threads, and memory")
    start = responsibilities(table, CLUSTERS)
    one, two = Tacit(table, start), Tacit(table, start, n_jobs=2)
    for _ in range(2):
        assert one.step() == two.step()
    took = race({"one": one.step, "two": two.step}, 9)
    peak, _ = peak_bytes(
        """
import ctypes
import tacit
from benchmarks.mixture.__main__ import CLUSTERS
from tacit.mixture.em.iterations import TableProblem
from tacit.mixture.em.prior import make_prior
from tacit.mixture.em.starts import make_start
import numpy as np
def prepare():
    table = tacit.datasets.make_msnbc()
    prior = make_prior(table.one_way(), 1.0, "marginals", "ignore")
    problem = TableProblem(table, prior)
    counts = make_start(problem, CLUSTERS, "seeds", np.random.default_rng(0))
    ctypes.CDLL(None).malloc_trim(0)  # what is free already must not hide what a step takes
    return problem, counts
def work(prepared):
    problem, counts = prepared
    for _ in range(3):
        counts = problem.expect(problem.maximise(counts))
    return counts.stored.nbytes
"""
    )
    section.say(
        f"On the largest table two threads are {took['one'] / took['two']:.2f} times as fast as "
        f"one ({milliseconds(took['two'])} against {milliseconds(took['one'])} a step) and give "
        f"the same numbers bit for bit. A step takes {peak / 1e6:.0f} MB beside the table.",
        "",
    )


def convergence(section: Section, tables: dict[str, tacit.Table]) -> None:
    section.part(
        "Passes to convergence",
        f"From each of {STARTS} random starts: passes of plain EM until a pass gains less than "
        "10⁻⁷ of the objective, against passes with momentum until the same objective is reached "
        "(to 10⁻⁶ of it). Momentum may end at another maximum, lower or higher; where it never "
        "gets as high it counts as not faster at all (0×).",
    )
    rows = []
    for name, table in tables.items():
        prior = make_prior(table.one_way(), 1.0, "marginals", "state")
        problem = TableProblem(table, prior, 2)
        ratios, counts, differences = [], [], []
        for seed in range(STARTS):
            start = make_start(problem, CLUSTERS, "random", np.random.default_rng(seed))
            plain = run_em(problem, start, max_iter=3000, tol=1e-7, accelerate=False)
            quick = run_em(problem, start, max_iter=3000, tol=1e-7)
            assert (np.diff(plain.trace) >= -1e-12 * abs(plain.objective)).all()
            assert (np.diff(quick.trace) >= 0).all()
            goal = plain.objective - 1e-6 * abs(plain.objective)
            slow = first_at(plain.trace, goal)
            fast = first_at(quick.trace, goal)
            ratios.append(0.0 if fast is None else slow / fast)
            counts.append(slow)
            differences.append((quick.objective - plain.objective) / abs(plain.objective))
        rows.append(
            (
                name,
                f"{statistics.median(counts):.0f}",
                f"{statistics.median(ratios):.2f}×",
                ", ".join(f"{r:.1f}" for r in sorted(ratios)),
                f"{statistics.median(differences):+.1e}",
            )
        )
    section.table(
        ("table", "passes, plain", "fewer with momentum, median", "all starts",
         "objective at the end, median relative difference"),
        rows,
    )  # fmt: skip


def first_at(trace: list[float], goal: float) -> int | None:
    """Return how many passes it took to come so far."""
    there = np.flatnonzero(np.array(trace) >= goal)
    return int(there[0]) + 1 if len(there) else None


def wide_ratings() -> tacit.Table:
    """Draw who rated which film: few people, and many more films."""
    log = make_ratings(610, 9_724, 150_000, exponent=0.8)
    return tacit.Table.from_long(log, record="userId", item="movieId")


def real_msweb(which: str) -> tacit.Table:
    return tacit.read_msweb(SHARED / "msweb" / f"anonymous-msweb.{which}.gz")


def speed() -> None:
    """Write how long things take."""
    section = Section("mixture", "Naive-Bayes mixtures by sparse EM, and k-means")
    section.made_with("numpy", "scipy", "scikit-learn", "stepmix")
    tables = {"television": make_television(), "msweb": make_msweb(), "msnbc": make_msnbc()}
    passes(section, tables | {"ratings": wide_ratings()})
    against_dense(section, tables)
    threads(section, tables["msnbc"])
    kmeans(section)
    section.write()


def found() -> None:
    """Write what is found: none of it depends on the machine, but for a few times."""
    section = Section("mixture-found", "What mixtures find")
    tables = {"television": make_television(), "msweb": make_msweb()}
    if SHARED.exists():
        tables["msweb, the real one"] = real_msweb("data")
    convergence(section, tables)
    clusters(section)
    held_out(section)
    between_seeds(section)
    section.write()


def main() -> None:
    speed()
    found()


if __name__ == "__main__":
    main()
