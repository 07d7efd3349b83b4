"""Minimum cuts: SNC on Letter for many balances, and a single cut that is hard."""

from __future__ import annotations

import ctypes
import functools
import lzma
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import tacit
from benchmarks.report import SHARED, Section, milliseconds, on_one_core, race
from tacit.similarity.cuts.minimum_cut import NodeTerms, degree_rate, first_indices

try:
    import maxflow
except ImportError:
    maxflow = None
try:
    from ortools.graph.python import max_flow
except ImportError:
    max_flow = None
try:
    from pseudoflow.python import hpf
except ImportError:
    hpf = None

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from scipy import sparse

    Sides = list[NDArray[np.bool_]]

BALANCES = np.concatenate(([0.0], np.geomspace(1e-3, 30, 19)))
HARD_BALANCES = (0.0, 0.2, 1.0)
FIRST_HALF = "ABCDEFGHIJKLM"
REPEATS = 3


def letter() -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """The 20,000 letters and their 16 attributes."""
    path = SHARED / "letter" / "letter-recognition.data.xz"
    with lzma.open(path, "rt") as file:
        _, *rows = (line.rstrip().split(",") for line in file)  # the first line is a header
    return np.array([row[1:] for row in rows], np.float64), np.array([row[0] for row in rows])


@dataclass(frozen=True)
class Instance:
    """A graph of unlabelled objects; all that is labelled is contracted to source and sink."""

    name: str
    graph: sparse.csr_array
    source: NDArray[np.float64]
    sink: NDArray[np.float64]
    degrees: NDArray[np.float64]

    def value(self, members: NDArray[np.bool_], rate: float) -> float:
        """C(S, S̄) with source and sink, where λ of the degrees is added to the source."""
        between = float(members @ (self.graph @ ~members))
        source = self.source + rate * self.degrees
        return between + float(source[~members].sum() + self.sink[members].sum())

    def edges(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """Each edge once."""
        both = self.graph.tocoo()
        once = both.coords[0] < both.coords[1]
        return both.coords[0][once], both.coords[1][once], both.data[once]


def instance(positive: str, scale: float, unlabelled: float) -> Instance:
    """SNC of some letters against the rest, on raw attributes, grid of 20 × 20 × 20."""
    X, y = letter()
    computation = tacit.SparseComputation(20, 3, "exact_pca").fit(X)
    graph = computation.similarity(kind="exponential", scale=scale)
    unknown = np.random.default_rng(0).permutation(len(y)) < unlabelled * len(y)
    rows = graph[unknown]
    member = np.isin(y, list(positive))
    source, sink = (
        rows @ (member & ~unknown).astype(float),
        rows @ (~member & ~unknown).astype(float),
    )
    inner = rows[:, unknown]
    inner.sort_indices()
    who = "A–M" if positive == FIRST_HALF else positive
    name = f"{who}, ε = {scale:g}, {unlabelled:.0%} unlabelled"
    return Instance(name, inner, source, sink, source + sink + inner.sum(axis=1))


def ours(problem: Instance, rates: NDArray[np.float64]) -> Sides:
    """All cuts at once."""
    first = first_indices(
        problem.graph, NodeTerms(problem.sink - problem.source, problem.degrees), rates
    )
    return [first <= k for k in range(len(rates))]


def ours_one_by_one(problem: Instance, rates: NDArray[np.float64]) -> Sides:
    """Each cut on its own."""
    return [ours(problem, rates[k : k + 1])[0] for k in range(len(rates))]


def pymaxflow(problem: Instance, edges: Any, rates: NDArray[np.float64], way: str) -> Sides:
    """PyMaxflow: the graph is built for each cut, or updated, with or without its search trees."""
    n, (i, j, w) = len(problem.source), edges
    sides = []
    net, before = None, 0.0
    for rate in rates:
        if net is None or way == "built":
            net = maxflow.Graph[float](n, len(w))
            nodes = net.add_nodes(n)
            net.add_edges(i, j, w, w)
            net.add_grid_tedges(nodes, problem.source + rate * problem.degrees, problem.sink)
            net.maxflow()
        else:
            net.add_grid_tedges(nodes, (rate - before) * problem.degrees, np.zeros(n))
            if way == "trees":
                net.mark_grid_nodes(nodes)
            net.maxflow(reuse_trees=way == "trees")
        before = rate
        sides.append(~net.get_grid_segments(nodes))
    return sides


def ortools(problem: Instance, rate: float) -> Callable[[], NDArray[np.bool_]]:
    """OR-Tools, which takes whole capacities: scaled so that their sum is just below 2^62."""
    n, (i, j, w) = len(problem.source), problem.edges()
    supply = problem.source + rate * problem.degrees - problem.sink
    out, into = np.flatnonzero(supply > 0), np.flatnonzero(supply < 0)
    tails = np.concatenate((i, j, np.full(len(out), n), into)).astype(np.int32)
    heads = np.concatenate((j, i, out, np.full(len(into), n + 1))).astype(np.int32)
    capacity = np.concatenate((w, w, supply[out], -supply[into]))
    whole = np.round(capacity * (2.0**61 / capacity.sum())).astype(np.int64)

    def solve() -> NDArray[np.bool_]:
        net = max_flow.SimpleMaxFlow()
        net.add_arcs_with_capacity(tails, heads, whole)
        assert net.solve(n, n + 1) == net.OPTIMAL
        members = np.zeros(n + 2, bool)
        members[net.get_source_side_min_cut()] = True
        return members[:n]

    return solve


def pseudoflow(problem: Instance, rate: float) -> tuple[float, NDArray[np.bool_]]:
    """Seconds of pseudoflow's compiled core alone, and its cut; source 0, sink the last node."""
    n, (i, j, w) = len(problem.source), problem.edges()
    supply = problem.source + rate * problem.degrees - problem.sink
    out, into = np.flatnonzero(supply > 0), np.flatnonzero(supply < 0)
    tails = np.concatenate((i + 1, j + 1, np.zeros(len(out)), into + 1))
    heads = np.concatenate((j + 1, i + 1, out + 1, np.full(len(into), n + 1)))
    capacity = np.concatenate((w, w, supply[out], -supply[into]))
    arcs = np.ascontiguousarray(
        np.column_stack((tails, heads, capacity, np.zeros(len(w) * 2 + len(out) + len(into))))
    )
    given = {
        "numNodes": ctypes.c_int(n + 2),
        "numArcs": ctypes.c_int(len(arcs)),
        "source": ctypes.c_int(0),
        "sink": ctypes.c_int(n + 1),
        "arcMatrix": (ctypes.c_double * arcs.size).from_buffer(arcs),
        "lambdaRange": (ctypes.c_double * 2)(0.0, 0.0),
        "roundNegativeCapacity": ctypes.c_int(0),
    }
    output = hpf._create_c_output()
    hpf._solve(given, output)
    members = np.array([output["cuts"][k + 1] for k in range(n)]) == 1
    seconds = output["times"][1] + output["times"][2]  # reading its input is left out
    hpf._cleanup(output)
    return seconds, members


def check(
    problem: Instance, rates: Any, sides: Sides, peer: str, others: Sides, most: float
) -> None:
    """Both must have found cuts of the same value."""
    for rate, members, other in zip(rates, sides, others, strict=True):
        mine, theirs = problem.value(members, rate), problem.value(other, rate)
        gap = abs(mine - theirs) / max(mine, 1e-300)
        assert gap <= most, f"{problem.name}, {peer}, λ' = {rate}: {mine} and {theirs}"


def along_the_balance(section: Section) -> None:
    """Add the section of twenty balances."""
    section.part(
        f"Cuts for {len(BALANCES)} balances: SNC on Letter",
        "20,000 × 16, grid of 20 × 20 × 20, exponential similarities of raw attributes; labelled "
        "objects are contracted on both sides. Values of all cuts agree to nine digits.",
    )
    if maxflow is None:
        section.say("(PyMaxflow is not at hand and was left out.)", "")
    rates = degree_rate(BALANCES)
    rows = []
    for positive, scale in (("O", 1), ("O", 5), (FIRST_HALF, 1), (FIRST_HALF, 5)):
        problem = instance(positive, scale, 0.2)
        works: dict[str, Callable[[], Sides]] = {
            "tacit": lambda problem=problem: ours(problem, rates),
            "tacit, one by one": lambda problem=problem: ours_one_by_one(problem, rates),
        }
        if maxflow is not None:
            for way, name in (
                ("built", "PyMaxflow, graph built each time"),
                ("updated", "PyMaxflow, graph updated"),
                ("trees", "PyMaxflow, graph updated and search trees kept"),
            ):
                works[name] = functools.partial(pymaxflow, problem, problem.edges(), rates, way)
        mine = ours(problem, rates)
        for name, work in works.items():
            check(problem, rates, mine, name, work(), 1e-9)
        took = race(works, REPEATS, warm_up=False)
        what = f"{problem.name}: {len(problem.source):,} nodes, {problem.graph.nnz // 2:,} edges"
        for name, seconds in took.items():
            rows.append((what, name, milliseconds(seconds), f"{seconds / took['tacit']:.1f}×"))
            what = ""
    section.table(("instance", "who", f"{len(BALANCES)} cuts", "this / tacit"), rows)


def one_hard_cut(section: Section) -> None:
    """Add the section of single cuts with half of the nodes unlabelled."""
    section.part(
        "A single cut, half of the objects unlabelled, ε = 1",
        "OR-Tools takes whole numbers only: capacities are scaled to 61 bits, and its time has "
        "the building of its graph from arrays. Of pseudoflow only the compiled core is timed, "
        "without reading its input; its Python interface takes seconds more.",
    )
    rows = []
    for positive in ("O", FIRST_HALF):
        problem = instance(positive, 1, 0.5)
        for balance in HARD_BALANCES:
            rows += _hard_rows(problem, balance)
    section.table(("instance", "who", "a cut", "this / tacit"), rows)


def _hard_rows(problem: Instance, balance: float) -> list[tuple[str, str, str, str]]:
    rates = degree_rate(np.array([balance]))
    works: dict[str, Callable[[], Any]] = {"tacit": lambda: ours(problem, rates)[0]}
    if max_flow is not None:
        works["OR-Tools"] = ortools(problem, rates[0])
    mine = works["tacit"]()
    for name, work in works.items():
        check(problem, rates, [mine], name, [work()], 1e-6)
    took = race(works, REPEATS, warm_up=False)
    if hpf is not None:
        runs = [pseudoflow(problem, rates[0]) for _ in range(REPEATS)]
        check(problem, rates, [mine], "pseudoflow", [runs[0][1]], 1e-9)
        took["pseudoflow, core only"] = float(np.median([seconds for seconds, _ in runs]))
    size = f"{len(problem.source):,} nodes, {problem.graph.nnz // 2:,} edges"
    what = f"{problem.name}, λ = {balance:g}: {size}"
    rows = []
    for name, seconds in took.items():
        rows.append((what, name, milliseconds(seconds), f"{seconds / took['tacit']:.1f}×"))
        what = ""
    return rows


def all_breakpoints(section: Section) -> None:
    """Add the section of all breakpoints."""
    section.part("All cuts of all balances")
    rows = []
    for positive, scale, unlabelled in (("O", 1, 0.2), (FIRST_HALF, 1, 0.2), (FIRST_HALF, 1, 0.5)):
        problem = instance(positive, scale, unlabelled)
        works = {
            "all": lambda problem=problem: breakpoints(problem),
            "twenty": lambda problem=problem: ours(problem, degree_rate(BALANCES)),
        }
        enters = works["all"]()
        for rate, members in zip(degree_rate(BALANCES), works["twenty"](), strict=True):
            assert ((enters < rate) == members).all(), f"{problem.name}: λ' = {rate}"
        took = race(works, REPEATS, warm_up=False)
        n_points = len(np.unique(enters[np.isfinite(enters)]))
        rows.append(
            (problem.name, f"{n_points:,}", milliseconds(took["all"]), milliseconds(took["twenty"]))
        )
    section.table(("instance", "breakpoints", "all of them", "20 balances"), rows)


def breakpoints(problem: Instance) -> NDArray[np.float64]:
    """For each node the λ of degrees beyond which it is a member."""
    graph, base = problem.graph, problem.sink - problem.source
    indptr, indices = graph.indptr.astype(np.int64), graph.indices.astype(np.int32)
    return tacit._core.cut_breakpoints(
        indptr, indices, graph.data, base, problem.degrees, 0.0, 1.0, 1
    )


def cuts(section: Section) -> None:
    """Add all sections."""
    with on_one_core():
        for part in (along_the_balance, one_hard_cut, all_breakpoints):
            part(section)
