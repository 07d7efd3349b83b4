"""Trees and dependency networks: growth against peers and the dense view, and what is learnt.

Names of parts may be given: one, rows, columns, learnt.
"""

from __future__ import annotations

import functools
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

import tacit
from benchmarks.adult import unasked
from benchmarks.counts.__main__ import dense_view
from benchmarks.report import Section, milliseconds, race
from benchmarks.trees.checks import graphs, recommendations
from benchmarks.trees.sparse_rows import sparse_rows
from tacit import _core
from tacit.datasets import make_msnbc, make_msweb, make_television

if TYPE_CHECKING:
    from collections.abc import Callable

LEAVES = 32
SAMPLED = 3  # targets of the large table that scikit-learn grows trees for
ROW = 100  # fits timed in a row where one is short
PAPER = {"television": 13, "msweb": 35, "msnbc": 127}
TREE: dict[str, Any] = {"criterion": "entropy", "max_leaf_nodes": LEAVES}


cpu_race = functools.partial(race, clock=time.process_time)


def times_of(ratio: float) -> str:
    return f"{ratio:.1f}×" if ratio < 100 else f"{ratio:,.0f}×"


def popular(table: tacit.Table) -> int:
    """Return the column at the 95th percentile of popularity."""
    order = np.argsort(table.one_way().stored, kind="stable")
    return int(order[int(0.95 * len(order))])


def matrix(table: tacit.Table, *, without: int | None = None) -> sparse.csc_matrix:
    """Return a binary table as zeros and ones, as scikit-learn's trees want it."""
    start, rows = table.postings
    ones = np.ones(len(rows), np.float32)
    columns = sparse.csc_matrix((ones, rows, start.astype(np.int32)), shape=table.shape)
    if without is None:
        return columns
    return columns[:, np.arange(table.n_columns) != without].tocsc()


def likelihood(counts: Any) -> float:
    """Return the log-likelihood of leaves, given their class counts."""
    counts = np.asarray(counts, np.float64)
    fractions = counts / counts.sum(axis=1, keepdims=True)
    return float((counts * np.log(np.where(counts > 0, fractions, 1.0))).sum())


def of_sklearn(tree: Any) -> tuple[int, float]:
    inner = tree.tree_
    leaves = inner.children_left < 0
    counts = inner.value[leaves, 0, :] * inner.weighted_n_node_samples[leaves, None]
    return int(leaves.sum()), likelihood(counts)


def of_ours(tree: Any) -> tuple[int, float]:
    return tree.n_leaves_, tree.log_likelihood_


def same(name: str, ours: tuple[int, float], theirs: tuple[int, float]) -> None:
    """Refuse to compare times of trees that are not equally good."""
    assert ours[0] == theirs[0], (name, ours, theirs)
    assert abs(ours[1] - theirs[1]) <= 1e-6 * abs(theirs[1]), (name, ours, theirs)


def one_tree(section: Section, tables: dict[str, tacit.Table]) -> None:
    section.part(
        "One tree",
        f"The column at the 95th percentile of popularity given all others, entropy, at most "
        f"{LEAVES} leaves, one thread, CPU time. scikit-learn's tree has the same number of leaves "
        "and the same training likelihood (checked). XGBoost and LightGBM grow one tree of another kind "
        'by gradients; their matrix is built once and timed apart. "From scratch" is tacit\'s '
        "tree with the value-wise view of the table, which is made once and kept, built anew. On "
        f'the two small tables {ROW} fits in a row are timed, on both sides; "alone" is one fit, '
        "right after a garbage collection that has emptied the caches.",
    )
    rows = []
    for name, table in tables.items():
        target = popular(table)
        label = table.schema.names[target]
        y = (table.codes(target) != table.schema.defaults[target]).astype(np.int32)
        x = matrix(table, without=target)
        model = tacit.DecisionTreeClassifier(**TREE)
        peer = DecisionTreeClassifier(**TREE, random_state=0)
        same(name, of_ours(model.fit(table, label)), of_sklearn(peer.fit(x, y)))
        large = table.n_records > 100_000
        row = 1 if large else ROW
        fits = {
            "ours": lambda m=model, t=table, k=label, n=row: in_a_row(lambda: m.fit(t, k), n),
            "theirs": lambda p=peer, x=x, y=y, n=row: in_a_row(lambda: p.fit(x, y), n),
        }
        ours, theirs = (taken / row for taken in cpu_race(fits, 1 if large else 7).values())
        fast = cpu_race(
            {
                "alone": lambda m=model, t=table, k=label: m.fit(t, k),
                "scratch": (lambda t=table: unasked(t), lambda t, m=model, k=label: m.fit(t, k)),
            },
            9,
        )
        boost, build = xgboost_tree(x, y)
        light = lightgbm_tree(x, y)
        rows.append(
            (
                name,
                milliseconds(ours),
                milliseconds(fast["alone"]),
                milliseconds(fast["scratch"]),
                f"{milliseconds(theirs)} ({times_of(theirs / ours)})",
                f"{milliseconds(boost)} + {milliseconds(build)} "
                f"({times_of((boost + build) / fast['scratch'])})",
                f"{milliseconds(light)} ({times_of(light / ours)})",
            )
        )
    section.table(
        (
            "table",
            "tacit",
            "alone",
            "from scratch",
            "scikit-learn (asked 50×)",
            "XGBoost + matrix, against from scratch (asked 5× on msnbc)",
            "LightGBM",
        ),
        rows,
    )


def in_a_row(work: Callable[[], Any], n: int) -> None:
    for _ in range(n):
        work()


def xgboost_tree(x: Any, y: Any) -> tuple[float, float]:
    """Return the seconds of one tree, and those of the matrix that it needs."""
    import xgboost

    rows = x.tocsr()
    settings = {
        "objective": "binary:logistic", "tree_method": "hist", "grow_policy": "lossguide",
        "max_leaves": LEAVES, "max_depth": 0, "nthread": 1, "min_child_weight": 0, "lambda": 0,
    }  # fmt: skip
    made = cpu_race({"m": lambda: xgboost.QuantileDMatrix(rows, y, nthread=1)}, 3)["m"]
    data = xgboost.QuantileDMatrix(rows, y, nthread=1)
    tree = cpu_race({"t": lambda: xgboost.train(settings, data, num_boost_round=1)}, 3)["t"]
    return tree, made


def lightgbm_tree(x: Any, y: Any) -> float:
    """Return the seconds of one tree, its matrix included, which is made only when it is needed."""
    import lightgbm

    rows = x.tocsr()
    settings = {
        "objective": "binary", "num_leaves": LEAVES, "min_data_in_leaf": 1, "num_threads": 1,
        "min_sum_hessian_in_leaf": 0.0, "verbose": -1,
    }  # fmt: skip

    def run() -> None:
        lightgbm.train(settings, lightgbm.Dataset(rows, y), num_boost_round=1)

    return cpu_race({"l": run}, 1, warm_up=x.shape[0] < 100_000)["l"]


def network(section: Section, tables: dict[str, tacit.Table]) -> None:
    section.part(
        "A tree for every column",
        f"`DependencyNetwork`, entropy, at most {LEAVES} leaves, with the pair counts and the "
        "value-wise view it makes. scikit-learn grows one tree after another; on msnbc for "
        f"{SAMPLED} targets drawn at random, scaled up. Where two columns gain the same, tacit "
        "takes the first and scikit-learn a random one, and what grows below may differ: the "
        "table says how many trees have the same likelihood, and how the sums of all compare. "
        "All trees have the same number of leaves (checked).",
    )
    rows = []
    for (name, table), asked in zip(tables.items(), (50, 50, 150), strict=True):
        large = table.n_records > 100_000
        drawn = np.arange(table.n_columns)
        if large:
            drawn = np.sort(np.random.default_rng(0).choice(drawn, SAMPLED, replace=False))
        web = tacit.DependencyNetwork(**TREE, n_jobs=1)
        one = seconds(lambda t=table, w=web: w.fit(unasked(t)), 1 if large else 5)
        both = tacit.DependencyNetwork(**TREE, n_jobs=2)
        two = seconds(lambda t=table, w=both: w.fit(unasked(t)), 1 if large else 5)
        bayes = tacit.DependencyNetwork(max_leaf_nodes=LEAVES, n_jobs=1)
        score = seconds(lambda t=table, w=bayes: w.fit(unasked(t)), 1 if large else 5)
        columns = matrix(table)
        theirs, pairs = 0.0, []
        for target in drawn.tolist():
            x = columns[:, np.arange(table.n_columns) != target].tocsc()
            y = columns[:, [target]].toarray().ravel().astype(np.int32)
            peer = DecisionTreeClassifier(**TREE, random_state=0)
            began = time.perf_counter()
            peer.fit(x, y)
            theirs += time.perf_counter() - began
            pairs.append((of_ours(web.tree(target)), of_sklearn(peer)))
        theirs *= table.n_columns / len(drawn)
        rows.append(
            (
                name,
                milliseconds(one),
                f"{milliseconds(two)} ({one / two:.2f}×)",
                milliseconds(theirs) if theirs < 3600 else f"{theirs / 3600:.1f} h",
                times_of(theirs / one),
                f"{asked}×",
                milliseconds(score),
                likeness(name, pairs),
            )
        )
    section.table(
        (
            "table",
            "one thread",
            "two threads (asked 1.7×)",
            "scikit-learn",
            "ratio",
            "asked",
            "Bayes factor, one thread",
            "trees as likely",
        ),
        rows,
    )


def likeness(name: str, pairs: list[tuple[tuple[int, float], tuple[int, float]]]) -> str:
    """Say how many trees are equally likely on both sides, and how the sums compare."""
    assert all(ours[0] == theirs[0] for ours, theirs in pairs), name
    ours, theirs = (np.array([one[1] for one in side]) for side in zip(*pairs, strict=True))
    same = np.isclose(ours, theirs, rtol=1e-9)
    better = 100 * (theirs.sum() / ours.sum() - 1)
    assert abs(better) < 1, name
    return f"{same.sum()} of {len(same)}, sums {better:+.2f} %"


def seconds(work: Callable[[], Any], repeats: int) -> float:
    return race({"w": work}, repeats, warm_up=repeats > 1)["w"]


def counting(table: tacit.Table, targets: Any) -> tuple[float, float]:
    """Return the seconds that growth spends on counting, and the summed gains of all splits."""
    settings = {
        "criterion": "entropy", "unit": 1.0, "prior": "k2", "prior_weight": 1.0, "log_kappa": 0.0,
        "leaf_prices": False, "split_prices": (),
        "min_leaf": 1, "max_depth": -1, "max_leaves": LEAVES, "min_gain": 0.0, "binary": True,
        "complete": False, "merge": False, "timed": True,
    }  # fmt: skip
    schema = table.schema
    given = _core.TreeTable(
        table.indptr, table.values, *table.postings, schema.offsets, schema.defaults, None, None
    )
    trees, spent = _core.grow_forest(given, np.asarray(targets, np.int64), None, settings, 1)
    return spent, float(trees[9].sum())


def against_dense(section: Section, tables: dict[str, tacit.Table]) -> None:
    section.part(
        "Time spent in counting, against the dense view",
        "The same code on a table in which every value is stored. As in the paper: trees for all "
        "columns, but on msnbc for one; there on every 20th record, for both sides. Pair counts "
        "are not shared among targets here, and counts of larger siblings come by subtraction on "
        "both sides. The trees gain the same (checked).",
    )
    rows = []
    for name, table in tables.items():
        sampled, targets = table, np.arange(table.n_columns)
        if table.n_records > 100_000:
            sampled, targets = (
                table.take(np.arange(0, table.n_records, 20)),
                np.array([popular(table)]),
            )
        full = dense_view(sampled)
        sparse_time, gain = min(counting(sampled, targets) for _ in range(5))
        dense_time, gain_too = min(counting(full, targets) for _ in range(2))
        assert abs(gain - gain_too) < 1e-6 * gain, (name, gain, gain_too)
        rows.append(
            (
                name,
                milliseconds(sparse_time),
                milliseconds(dense_time),
                times_of(dense_time / sparse_time),
                f"{PAPER[name]}×",
                f"{sampled.summary().factor:.0f}",
            )
        )
    section.table(("table", "sparse", "dense view", "ratio", "the paper", "m·n/l"), rows)


def made() -> dict[str, tacit.Table]:
    return {"television": make_television(), "msweb": make_msweb(), "msnbc": make_msnbc()}


def columns(section: Section) -> None:
    """Write what takes a tree for every column."""
    tables = made()
    network(section, tables)
    against_dense(section, tables)


def learnt(section: Section) -> None:
    """Write what is learnt from real data."""
    recommendations(section)
    graphs(section)


PARTS: dict[str, tuple[str, Callable[[Section], None]]] = {
    "one": ("Decision trees", lambda section: one_tree(section, made())),
    "rows": ("Decision trees of sparse rows", sparse_rows),
    "columns": ("Dependency networks", columns),
    "learnt": ("What trees and networks learn", learnt),
}


def main() -> None:
    """Write the sections."""
    for name in sys.argv[1:] or PARTS:
        title, measure = PARTS[name]
        section = Section(f"trees-{name}", title)
        section.made_with("scikit-learn", "xgboost", "lightgbm", "numpy", "scipy")
        measure(section)
        section.write()


if __name__ == "__main__":
    main()
