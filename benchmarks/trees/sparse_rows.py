"""One tree of sparse rows as they come, with all preparation, beside XGBoost."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

import tacit
from benchmarks.report import cpu_seconds, milliseconds, on_one_core
from tacit.datasets import make_baskets

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.report import Section

RECORDS, ITEMS, LENGTH = 88_162, 16_470, 10.3  # as many as the baskets of a Belgian shop
LEAVES = 32
REPEATS = 9
RANKS = (1, 20, 200)  # of the items that are predicted, by popularity
XGBOOST = {
    "objective": "binary:logistic", "tree_method": "hist", "grow_policy": "lossguide",
    "max_leaves": LEAVES, "max_depth": 0, "nthread": 1, "min_child_weight": 0, "lambda": 0,
}  # fmt: skip


def sparse_rows(section: Section) -> None:
    """Compare the CPU time of one tree, from a SciPy matrix to a fitted model."""
    section.part(
        "From a SciPy matrix, with all preparation",
        f"`make_baskets` with {RECORDS:,} baskets of {ITEMS:,} items as a CSR matrix of float64 "
        f"ones and an array of classes. One item is predicted from the others by one tree of "
        f"{LEAVES} leaves on one thread; CPU time, medians of {REPEATS} runs in turns. XGBoost's "
        "`hist` has the faster of `DMatrix` and `QuantileDMatrix`, with their construction. Both "
        "trees have as many leaves (checked). The log-likelihood is that of the training classes "
        "by the fractions in the leaves: XGBoost's gain is of second order, so that its tree is "
        "another one.",
    )
    table = make_baskets(RECORDS, ITEMS, LENGTH)
    start, rows = table.postings
    ones = sparse.csc_matrix((np.ones(len(rows)), rows, start), shape=table.shape)
    popularity = np.argsort(-np.diff(start), kind="stable")
    cells = []
    for rank in RANKS:
        target = popularity[rank - 1]
        y = np.asarray(ones[:, [target]].todense()).ravel().astype(np.int64)
        x = ones[:, np.arange(ITEMS) != target].tocsr()
        x.sort_indices()
        with on_one_core():
            cells.append((f"no. {rank}, {y.mean():.1%}", *_raced(x, y)))
    section.table(
        ("item", "tacit", "XGBoost", "ratio (asked 5×)", "log-likelihood", "XGBoost's"), cells
    )


def _raced(x: Any, y: Any) -> tuple[str, ...]:
    import xgboost

    def ours() -> Any:
        return tacit.DecisionTreeClassifier("entropy", max_leaf_nodes=LEAVES, n_jobs=1).fit(x, y)

    def theirs(make: Callable[..., Any]) -> Any:
        return xgboost.train(XGBOOST, make(x, y, nthread=1), num_boost_round=1)

    works = {
        "ours": ours,
        "plain": lambda: theirs(xgboost.DMatrix),
        "quantile": lambda: theirs(xgboost.QuantileDMatrix),
    }
    taken: dict[str, list[float]] = {name: [] for name in works}
    fitted: dict[str, Any] = {}
    for _ in range(REPEATS + 1):  # the first is to warm up
        for name, work in works.items():
            seconds, fitted[name] = cpu_seconds(work)
            taken[name].append(seconds)
    medians = {name: statistics.median(seconds[1:]) for name, seconds in taken.items()}
    peer = min(("plain", "quantile"), key=medians.__getitem__)
    leaves, likelihood = _leaves_of(fitted[peer].predict(xgboost.DMatrix(x), pred_leaf=True), y)
    assert fitted["ours"].n_leaves_ == leaves == LEAVES, leaves
    return (
        milliseconds(medians["ours"]),
        milliseconds(medians[peer]),
        f"{medians[peer] / medians['ours']:.1f}×",
        f"{fitted['ours'].log_likelihood_:,.0f}",
        f"{likelihood:,.0f}",
    )


def _leaves_of(leaves: Any, y: Any) -> tuple[int, float]:
    """Return how many leaves records fall into, and the log-likelihood of their classes there."""
    _, leaf = np.unique(leaves, return_inverse=True)
    counts = np.stack([np.bincount(leaf, y == k) for k in (0, 1)])
    fractions = counts / counts.sum(axis=0)
    logs = np.log(np.where(counts > 0, fractions, 1.0))
    return counts.shape[1], float((counts * logs).sum())
