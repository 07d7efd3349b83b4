"""What a fitted tree holds, and what is worked out of it when it is asked for."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import special

from tacit.table.input_spec import InputSpec
from tacit.tree.averaging import average_on_the_way
from tacit.tree.growth.bins import nodes_without

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.schema import Schema
    from tacit.table.input_spec import Origin
    from tacit.tree.nodes import Nodes

__all__ = [
    "TreeModel",
    "class_probabilities",
    "class_score",
    "leaf_means",
    "number_score",
    "paid_for_leaves",
]


@dataclass(eq=False, repr=False)
class TreeModel:
    """A grown tree with the columns it asks about."""

    _grown: Nodes
    _schema: Schema  # of the ids in the nodes: that of the Table it was fitted on, or of features
    # The position of the target among the columns of the schema; it is not one of the model's.
    _target: int | None = None
    _input: InputSpec | None = None  # what X was like, where that is known already
    _: KW_ONLY
    origin: Origin = "table"
    target_name: str | None = None
    # As the tree was grown; parameters of an estimator may change later.
    criterion: str
    prior: str
    prior_weight: float
    kappa: float | Literal["auto"]
    log_structure: float = 0.0  # the logarithm of the prior probability of its splits
    # Whether probabilities are averages over the ways to a leaf that end earlier.
    averaged: bool = False
    # The mean of a numeric target in each node, and its prior: mean (a deviation from the base),
    # kappa, alpha and beta.
    means: NDArray[np.float64] = field(init=False)
    normal: tuple[float, float, float, float] = field(init=False)

    @cached_property
    def nodes(self) -> Nodes:
        """The nodes, in value ids of the model's columns, the target not among them."""
        if self._target is None:
            return self._grown
        return nodes_without(self._target, self._grown, self._schema)

    @cached_property
    def input(self) -> InputSpec:
        """What X was like."""
        if self._input is not None:
            return self._input
        spec = InputSpec.of_schema(self._schema, self.origin)
        return spec if self._target is None else spec.without(self._target)

    @cached_property
    def depth(self) -> int:
        """The longest way from the root to a leaf."""
        return self.nodes.depth

    @cached_property
    def importances(self) -> NDArray[np.float64]:
        """The gain of each column's splits as a fraction of all; zero where there is no split."""
        split = self.nodes.column >= 0
        gains = np.maximum(self.nodes.gain[split], 0.0)
        n_columns = len(self._schema) - (self._target is not None)
        by_column: NDArray[Any] = np.bincount(self.nodes.column[split], gains, n_columns)
        total = by_column.sum()
        return by_column / total if total > 0 else by_column

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """The probability of each class in each node."""
        nodes = self.nodes
        own = class_probabilities(nodes, self.prior, self.prior_weight)
        if not self.averaged:
            return own
        above = np.full(nodes.n_nodes, -1)
        for node in np.flatnonzero(nodes.column >= 0).tolist():
            above[nodes.children_of(node)] = node
        begin = np.arange(nodes.n_nodes) * own.shape[1]
        return average_on_the_way(own.ravel(), begin, above, nodes.gain).reshape(own.shape)

    @cached_property
    def log_likelihood(self) -> float:
        """That of the training records in nats, by the class frequencies of the leaves."""
        return _log_likelihood(self.nodes.counts[self.nodes.leaves])


def _log_likelihood(counts: NDArray[np.float64]) -> float:
    """Return Σ c log(c / N), summed over leaves and classes."""
    totals = counts.sum(axis=1)
    return float(special.xlogy(counts, counts).sum() - special.xlogy(totals, totals).sum())


def _pseudocounts(nodes: Nodes, prior: str, prior_weight: float) -> NDArray[np.float64]:
    """Return the prior's count of each class in each node."""
    each = np.full(nodes.n_nodes, prior_weight)
    if prior == "bdeu":
        each *= nodes.prior_fraction / nodes.counts.shape[1]
    return each


def class_probabilities(nodes: Nodes, prior: str, prior_weight: float) -> NDArray[np.float64]:
    """Return each node's class probabilities: (c + a)/(N + A), a being the prior's.

    Without a prior they are the class frequencies, and those of a parent where a node is empty.
    """
    counts, pseudocounts = nodes.counts, _pseudocounts(nodes, prior, prior_weight)
    totals = counts.sum(axis=1) + pseudocounts * counts.shape[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        probabilities: NDArray[np.float64] = (counts + pseudocounts[:, None]) / totals[:, None]
    empty = totals <= 0
    if empty.any():
        for node in range(nodes.n_nodes):  # parents come before their children
            below = nodes.children_of(node)
            below = below[empty[below]]
            probabilities[below] = probabilities[node]
    return probabilities


def class_score(model: TreeModel) -> float:
    """Return what growth maximises: the leaves' scores, and the price of their parameters.

    In nats, but for "gini", which is a number of records.
    """
    return float(_class_scores(model, model.nodes.leaves).sum()) + model.log_structure


def paid_for_leaves(model: TreeModel) -> float:
    """Return the logarithm of the prior probability of a tree's splits: what its gains lack."""
    split, root = model.nodes.column >= 0, np.zeros(1, np.int64)
    own = float(_class_scores(model, root).sum() - _class_scores(model, model.nodes.leaves).sum())
    return min(own + math.fsum(model.nodes.gain[split].tolist()), 0.0)


def _class_scores(model: TreeModel, chosen: NDArray[Any]) -> NDArray[np.float64]:
    """Return what each of the chosen nodes adds to the score as a leaf."""
    nodes = model.nodes
    counts = nodes.counts[chosen]
    totals = counts.sum(axis=1)
    n_classes = counts.shape[1]
    if model.criterion == "bayes_factor":
        prior = _pseudocounts(nodes, model.prior, model.prior_weight)[chosen]
        each = special.gammaln(prior[:, None] + counts).sum(axis=1)
        each -= n_classes * special.gammaln(prior)
        each += special.gammaln(n_classes * prior) - special.gammaln(n_classes * prior + totals)
        return np.asarray(each + (n_classes - 1) * _log_kappa(model))
    if model.criterion == "gini":
        return np.asarray((counts**2).sum(axis=1) / np.maximum(totals, 1e-300))
    likelihoods = special.xlogy(counts, counts).sum(axis=1) - special.xlogy(totals, totals)
    if model.criterion == "bic":
        price = 0.5 * math.log(max(float(nodes.counts[0].sum()), 1.0))
        likelihoods = likelihoods - (n_classes - 1) * price
    return np.asarray(likelihoods)


def _log_kappa(model: TreeModel) -> float:
    """Return what a parameter adds to the score."""
    return 0.0 if model.kappa == "auto" else math.log(model.kappa)


def leaf_means(
    leaves: NDArray[Any], numbers: NDArray[np.float64], weights: Any, nodes: Nodes
) -> NDArray[np.float64]:
    """Return the mean of a target in each node.

    That of a leaf is made of its records, that of another node, or of a leaf that has none, of the
    means below or above it.
    """
    if weights is None:
        weights = np.ones(len(numbers))
    total = np.bincount(leaves, weights, nodes.n_nodes)
    positive = np.maximum(total, np.finfo(np.float64).tiny)
    means = np.bincount(leaves, weights * numbers, nodes.n_nodes) / positive
    # Once more for what rounding left: a leaf of one number alone has just that mean.
    means += np.bincount(leaves, weights * (numbers - means[leaves]), nodes.n_nodes) / positive
    split = np.flatnonzero(nodes.column >= 0).tolist()
    for node in reversed(split):  # children come after their parents
        below = nodes.children_of(node)
        total[node] = total[below].sum()
        means[node] = (total[below] / total[node] * means[below]).sum()
    if (total <= 0).any():
        for node in split:
            below = nodes.children_of(node)
            means[below] = np.where(total[below] > 0, means[below], means[node])
    return means


def number_score(model: TreeModel) -> float:
    """Return what growth of a regression tree maximises: nats, or minus the squared error."""
    nodes = model.nodes
    counts = nodes.counts[nodes.leaves]
    n_leaves = len(counts)
    weight, first, second = counts[counts[:, 0] > 0].T
    spread = np.maximum(second - first**2 / weight, 0.0)
    if model.criterion == "squared_error":
        return -float(spread.sum())
    mean0, kappa0, alpha0, beta0 = model.normal
    kappas, alphas = kappa0 + weight, alpha0 + weight / 2
    betas = beta0 + spread / 2 + kappa0 * weight * (first / weight - mean0) ** 2 / (2 * kappas)
    each = (
        special.gammaln(alphas)
        - special.gammaln(alpha0)
        + alpha0 * math.log(beta0)
        - alphas * np.log(betas)
    )
    each += 0.5 * np.log(kappa0 / kappas) - weight / 2 * math.log(2 * math.pi)
    return float(each.sum()) + 2 * n_leaves * _log_kappa(model) + model.log_structure
