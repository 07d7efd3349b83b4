"""Whether a leaf's prior had better be centred on fractions above it: a prototype in NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import betaln

import tacit
from benchmarks.mixture.held_out import debd
from benchmarks.report import SHARED, Section

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SETS = (
    "accidents", "baudio", "groceries", "jester", "moviereview", "mushrooms", "nips", "nltcs",
    "pumsb_star", "voting",
)  # fmt: skip
FOLDS, RECORDS, TARGETS = 3, 4500, 170
CENTRES = ("uniform", "root", "parent")
WEIGHTS = (1.0, 0.5)


class Question(NamedTuple):
    """A node: a column and its children, or no column and P(1)."""

    column: int
    ones: float
    children: tuple[Any, ...] = ()


def grow(X: NDArray[Any], y: NDArray[Any], target: int, centre: str, weight: float) -> Question:
    """Grow a tree of a binary target by Bayes factors; the prior is worth 2 · weight records."""
    price = np.log(max(X.shape[1] - 1, 10))
    root = (y.sum() + 1) / (len(y) + 2)

    def prior_of(mean: float) -> tuple[float, float]:
        return 2 * weight * mean, 2 * weight * (1 - mean)

    def evidence(ones: Any, zeros: Any, prior: tuple[float, float]) -> Any:
        return betaln(ones + prior[0], zeros + prior[1]) - betaln(*prior)

    def node(rows: NDArray[Any], above: float) -> Question:
        n, ones = len(rows), y[rows].sum()
        prior = prior_of({"uniform": 0.5, "root": root, "parent": above}[centre])
        mean = (ones + prior[0]) / (n + sum(prior))
        if ones in (0, n):
            return Question(-1, mean)
        held = X[rows]
        inside, inside_ones = held.sum(axis=0), y[rows] @ held
        below = prior_of(mean) if centre == "parent" else prior
        gains = evidence(inside_ones, inside - inside_ones, below)
        gains += evidence(ones - inside_ones, n - ones - inside + inside_ones, below)
        gains -= evidence(ones, n - ones, below) + price
        gains[(inside == 0) | (inside == n)] = -1.0
        gains[target] = -1.0
        column = int(gains.argmax())
        if gains[column] <= 1e-9:
            return Question(-1, mean)
        goes = held[:, column] > 0
        return Question(column, mean, (node(rows[goes], mean), node(rows[~goes], mean)))

    return node(np.arange(len(y)), root)


def answer(tree: Question, X: NDArray[Any], rows: NDArray[Any], out: NDArray[Any]) -> None:
    if tree.column < 0:
        out[rows] = tree.ones
        return
    goes = X[rows, tree.column] > 0
    for child, part in zip(tree.children, (rows[goes], rows[~goes]), strict=True):
        answer(child, X, part, out)


def held_out(X: NDArray[Any], targets: NDArray[Any], make: Callable[..., Question]) -> float:
    """Return the log-likelihood of the targets given all else, a record, over folds."""
    part, total = np.arange(len(X)) % FOLDS, 0.0
    for fold in range(FOLDS):
        train, test = X[part != fold], X[part == fold]
        ones = np.empty(len(test))
        for target in targets.tolist():
            tree = make(train, train[:, target].astype(np.float64), target)
            answer(tree, test, np.arange(len(test)), ones)
            total += np.log(np.where(test[:, target] > 0, ones, 1 - ones)).mean() / FOLDS
    return total


def centred_priors(section: Section) -> None:
    """Write the table."""
    section.say(
        f"Conditional log-likelihood over {FOLDS} folds of training parts ({RECORDS:,} records and "
        f"{TARGETS} targets at most; a prototype that grows the trees of binary columns). A leaf's "
        "prior is worth two records or one, shared evenly (1 and ½ for each label), or as all "
        "records are, or as those of the node above are; growth and probabilities use the same.",
        "",
    )
    choices = [(centre, weight) for centre in CENTRES for weight in WEIGHTS]
    rows = []
    for name in SETS:
        X, targets = _codes(name)
        scores = [
            held_out(X, targets, lambda *given, how=how: grow(*given, *how)) for how in choices
        ]
        best = max(scores)
        rows.append([name, *(f"**{x:.3f}**" if x == best else f"{x:.3f}" for x in scores)])
        print(rows[-1], flush=True)
    section.table(("data", *(f"{centre}, {2 * weight:g}" for centre, weight in choices)), rows)


def _codes(name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    path = SHARED / "groceries" / "groceries.csv.xz"
    table = tacit.read(path, format="baskets") if name == "groceries" else debd(name, "train")
    rng = np.random.default_rng(0)
    table = table.take(rng.permutation(table.n_records)[:RECORDS])
    X = np.zeros((table.n_records, len(table.schema)), np.float32)
    records = np.repeat(np.arange(table.n_records), np.diff(table.indptr))
    X[records, table.schema.value_columns[table.values]] = 1
    return X, np.sort(rng.permutation(X.shape[1])[:TARGETS])
