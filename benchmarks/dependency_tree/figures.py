"""How much MIST reads, after the paper's figures 4 to 10: tables and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import tacit
from benchmarks import report
from benchmarks.dependency_tree.peers import (
    as_set,
    binary_information,
    correlations,
    nats,
    spanning,
)
from tacit.datasets import make_dependency_tree

if TYPE_CHECKING:
    from benchmarks.report import Section

FOLDER = report.PAGE.parent / "_static"
RECORDS = (12_500, 25_000, 50_000, 100_000, 200_000, 400_000, 800_000)
COLUMNS = (10, 20, 40, 80, 160, 320)
NOISE = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
DELTAS = (1e-5, 1e-4, 1e-3, 1e-2, 0.05, 0.1, 0.2)
EPSILONS = (0.0, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.05)
SEEDS = 3
HARD = 0.8  # share of noise where delta and epsilon are varied
PAPER: dict[str, Any] = {"share": "decision", "tree_edges": "exact"}
WAYS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "500 records first": {"initial_sample": 500},
    "as in the paper": PAPER,
    "as in the paper, 500 first": PAPER | {"initial_sample": 500},
}


def one(drawn: Any, seed: int, best: Any = None, **settings: Any) -> tuple[float, float]:
    """Return edge usage and what the tree's log-likelihood is short of, in nats a record.

    With all records for the parameters of both trees that is the difference of their weights.
    """
    tree = tacit.DependencyTree("mist", random_state=seed, n_jobs=1, **settings).fit(drawn.data)
    if best is None:
        return float(tree.edge_usage_), 0.0
    weights, edges = best
    short = sum(weights[e] for e in edges) - sum(weights[e] for e in as_set(tree.edges_))
    return float(tree.edge_usage_), float(short)


def full(drawn: Any) -> tuple[Any, Any]:
    """Return the weights of all pairs and the best tree."""
    if isinstance(drawn.data, tacit.Table):
        weights = binary_information(drawn.data.to_numpy())
    else:
        weights = nats(correlations(drawn.data))
    return weights, spanning(weights)


def by_size(kind: str) -> dict[str, dict[str, list[float]]]:
    """Return edge usage against records and columns, for both ways."""
    usage: dict[str, dict[str, list[float]]] = {way: {"records": [], "columns": []} for way in WAYS}
    for axis, sizes in (
        ("records", [(m, 100) for m in RECORDS]),
        ("columns", [(100_000, n) for n in COLUMNS]),
    ):
        for m, n in sizes:
            drawn = [make_dependency_tree(m, n, kind=kind, random_state=s) for s in range(SEEDS)]
            for way, settings in WAYS.items():
                runs_ = [one(each, s, **settings)[0] for s, each in enumerate(drawn)]
                usage[way][axis].append(float(np.median(runs_)))
    return usage


def figures(section: Section) -> None:
    sizes = {kind: by_size(kind) for kind in ("numeric", "binary")}
    section.part(
        "How much is read",
        f'Edge usage: record-pairs read over all of them, the median of {SEEDS} data sets. "As in '
        'the paper" gives `delta` to each decision and reads edges of the tree in full; the '
        "defaults share `delta` over all decisions, and edges of the tree have intervals too. "
        "Either begins with 5,000 records for all pairs, or with 500.",
    )
    for axis, values, rest in (
        ("records", RECORDS, "100 columns"),
        ("columns", COLUMNS, "100,000 records"),
    ):
        rows = [
            (f"{kind}, {way}", *(f"{u:.4f}" for u in sizes[kind][way][axis]))
            for kind in sizes
            for way in WAYS
        ]
        section.table((f"{axis}, {rest}", *(f"{v:,}" for v in values)), rows)
    draw_sizes(sizes)
    section.say("![Edge usage against records and columns](_static/mist-sizes.svg)", "")
    knobs(section)


def knobs(section: Section) -> None:
    hard = [make_dependency_tree(100_000, 100, noise=HARD, random_state=s) for s in range(SEEDS)]
    best = [full(each) for each in hard]
    noise: dict[str, list[float]] = {"epsilon 0": [], "epsilon 0.01": []}
    for share in NOISE:
        samples = [
            make_dependency_tree(100_000, 100, noise=share, random_state=s) for s in range(SEEDS)
        ]
        for name, epsilon in (("epsilon 0", 0.0), ("epsilon 0.01", 0.01)):
            usage = [one(each, s, epsilon=epsilon)[0] for s, each in enumerate(samples)]
            noise[name].append(float(np.median(usage)))
    delta = {d: [one(e, s, best[s], delta=d) for s, e in enumerate(hard)] for d in DELTAS}
    epsilon = {x: [one(e, s, best[s], epsilon=x) for s, e in enumerate(hard)] for x in EPSILONS}
    section.say(
        "The share of records that are noise in all columns, 100,000 × 100 numbers:",
        "",
    )
    section.table(
        ("noise", *(f"{share:.0%}" for share in NOISE)),
        [(name, *(f"{u:.4f}" for u in usage)) for name, usage in noise.items()],
    )
    section.say(
        f"{HARD:.0%} of the records noise; edge usage, and how many nats a record the "
        "log-likelihood of MIST's tree is short of the best tree's:",
        "",
    )
    for name, runs in (("delta", delta), ("epsilon", epsilon)):
        section.table(
            (name, *(f"{value:g}" for value in runs)),
            [
                ("edge usage", *(f"{np.median([u for u, _ in run]):.4f}" for run in runs.values())),
                ("short by", *(f"{np.mean([s for _, s in run]):.2g}" for run in runs.values())),
            ],
        )
    draw_knobs(noise, delta, epsilon)
    section.say("![Edge usage against noise, delta and epsilon](_static/mist-knobs.svg)", "")


def _axes(n: int) -> tuple[Any, Any]:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    mpl.rcParams.update({"font.size": 8, "svg.hashsalt": "tacit", "axes.spines.top": False})
    mpl.rcParams["axes.spines.right"] = False
    return plt.subplots(1, n, figsize=(3.3 * n, 2.7), layout="constrained")


def _save(figure: Any, name: str) -> None:
    figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
    figure.clear()


def draw_sizes(sizes: dict[str, dict[str, dict[str, list[float]]]]) -> None:
    figure, (left, right) = _axes(2)
    colours = dict(zip(WAYS, ("#1f77b4", "#009e73", "#d55e00", "#cc79a7"), strict=True))
    for kind, ways in sizes.items():
        for way, usage in ways.items():
            look: dict[str, Any] = {"color": colours[way], "marker": "o"}
            if kind == "numeric":
                look |= {"label": way, "markersize": 3, "linewidth": 1.2}
            else:  # binary: often the very same, so that only a ring is drawn
                look |= {"markersize": 6, "linestyle": "none", "fillstyle": "none"}
            left.plot(RECORDS, usage["records"], **look)
            right.plot(COLUMNS, usage["columns"], **look)
    right.plot(COLUMNS, 2 / np.array(COLUMNS), ":", color="grey", label="2 / columns")
    left.axhline(0.04, linestyle=":", color="grey")
    left.text(RECORDS[-1], 0.043, "0.04, the paper", color="grey", ha="right")
    left.set(xlabel="thousand records (100 columns)", ylabel="edge usage (rings: binary)")
    right.set(xlabel="columns (100,000 records)")
    for axes, values, names in (
        (left, RECORDS, [f"{m / 1000:g}" for m in RECORDS]),
        (right, COLUMNS, [str(n) for n in COLUMNS]),
    ):
        axes.set(xscale="log", yscale="log")
        axes.set_xticks(values, names)
        axes.set_yticks((0.001, 0.01, 0.1), ("0.001", "0.01", "0.1"))
        axes.minorticks_off()
    figure.legend(
        *right.get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=7
    )
    _save(figure, "mist-sizes")


def draw_knobs(noise: dict[str, list[float]], delta: Any, epsilon: Any) -> None:
    figure, (left, middle, right) = _axes(3)
    for name, usage in noise.items():
        left.plot(np.array(NOISE) * 100, usage, "-o", markersize=3, label=name)
    left.set(xlabel="noise, % of records", ylabel="edge usage")
    left.legend(frameon=False)
    for axes, runs, name in ((middle, delta, "delta"), (right, epsilon, "epsilon, nats")):
        values = list(runs)
        usage = [np.median([u for u, _ in run]) for run in runs.values()]
        short = [np.mean([s for _, s in run]) for run in runs.values()]
        axes.plot(values, usage, "-o", markersize=3, color="#1f77b4")
        axes.set(xlabel=f"{name} ({HARD:.0%} noise)")
        axes.set_ylim(bottom=0)
        other = axes.twinx()
        other.plot(values, short, "--s", markersize=3, color="#d55e00")
        other.set_ylim(0, max(*short, 1e-4) * 1.05)
        other.set_ylabel("nats a record short of the best tree", color="#d55e00")
        other.spines["right"].set_visible(True)
    middle.set_xscale("log")
    middle.set_ylabel("edge usage", color="#1f77b4")
    _save(figure, "mist-knobs")
