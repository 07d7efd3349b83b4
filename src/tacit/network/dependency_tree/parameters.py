"""The parameters of a dependency tree, made of what structure learning has counted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tacit.network.dependency_tree.links import (
    ClassNormals,
    ClassPosterior,
    Link,
    Regression,
    TableLink,
)
from tacit.network.dependency_tree.rooted import Rooted, choose_root, root_tree
from tacit.network.inference.net import Net
from tacit.network.structure.statistics import ClassMoments, Moments, PairMoments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.network.dependency_tree.layout import Layout
    from tacit.network.structure.learn import Structure

    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["LazyDensity", "TreeDensity", "make_density"]

_FLOOR = 1e-9  # least variance of what is left of a number, as a fraction of its variance
_CONSTANT = 1e-6  # standard deviation of a constant column, as a fraction of its size
_CLOSE = 1e-9  # by how much the margins of a pair may differ from those of its columns
_ROUNDS = 50


@dataclass(frozen=True)
class TreeDensity:
    """A joint distribution of columns in the shape of a tree."""

    names: Sequence[str]
    numeric: NDArray[np.bool_]
    arities: NDArray[np.int64]  # number of labels; 0 for numbers
    # Mean and standard deviation of numbers; links are in these units
    centre: Floats
    scale: Floats
    marginals: list[Floats | None]  # of each discrete column by itself; None for numbers
    tree: Rooted
    links: list[Link | None]  # P(column | parent) of each column; None for the root

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.numeric)

    @property
    def n_numeric(self) -> int:
        """Number of columns of numbers."""
        return int(np.count_nonzero(self.numeric))

    def link(self, column: int) -> Link:
        """Return P(column | parent) of a column that has a parent."""
        link = self.links[column]
        assert link is not None
        return link

    @cached_property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        total = 2 if self.numeric[self.tree.root] else int(self.arities[self.tree.root]) - 1
        for column, parent in enumerate(self.tree.parents.tolist()):
            if parent < 0:
                continue
            r, above = int(self.arities[column]), int(self.arities[parent])
            if self.numeric[column]:
                total += 3 if self.numeric[parent] else 2 * above
            else:
                total += 3 * r - 1 if self.numeric[parent] else above * (r - 1)
        return total


class LazyDensity:
    """A distribution that is made when somebody asks for it, and only once.

    An estimator holds this and not the distribution itself, so that fitting need not make it, and
    predicting changes no attribute of the estimator.
    """

    def __init__(self, layout: Layout, structure: Structure, smoothing: float) -> None:
        self._layout = layout
        self._structure = structure
        self._smoothing = smoothing
        self._made: TreeDensity | None = None
        self._net: Net | None = None

    def get(self) -> TreeDensity:
        """Return the distribution."""
        if self._made is None:
            layout = self._layout
            self._made = make_density(
                layout.names, layout.numeric, layout.arities, self._structure, self._smoothing
            )
        return self._made

    def net(self) -> Net:
        """Return the distribution of discrete columns as a net; made only once, too."""
        if self._net is None:
            density, schema = self.get(), self._layout.schema
            assert schema is not None
            tables: list[Floats] = []
            for link, marginals in zip(density.links, density.marginals, strict=True):
                assert marginals is not None
                tables.append(
                    link.probabilities if isinstance(link, TableLink) else marginals[None]
                )
            parents = tuple((p,) if p >= 0 else () for p in density.tree.parents.tolist())
            self._net = Net(schema, parents, tuple(tables))
        return self._net


def make_density(
    names: Sequence[str],
    numeric: NDArray[np.bool_],
    arities: NDArray[np.int64],
    structure: Structure,
    smoothing: float,
) -> TreeDensity:
    """Make the distribution that a structure's statistics speak for.

    Statistics may have codes beyond the arities, for what is missing; they are left out. Smoothing
    is in pseudo-records, spread evenly over the labels of a column or the cells of a pair.
    """
    n = len(numeric)
    tree = root_tree(n, structure.edges, choose_root(numeric, structure.edges))
    centre, scale = np.zeros(n), np.ones(n)
    marginals: list[Floats | None] = [None] * n
    for c, node in enumerate(structure.nodes):
        if isinstance(node, Moments):
            centre[c], scale[c] = node.mean, _spread(node)
        else:
            marginals[c] = _fractions(node[: arities[c]], smoothing)
    links: list[Link | None] = [None] * n
    for c in tree.order[1:].tolist():
        above, pair = int(tree.parents[c]), structure.pairs[int(tree.edge[c])]
        if isinstance(pair, PairMoments):
            links[c] = _regression(pair)
        elif isinstance(pair, ClassMoments):
            number, other = (c, above) if numeric[c] else (above, c)
            fraction, means, variances = _classes(
                pair, int(arities[other]), centre[number], scale[number], smoothing
            )
            links[c] = (
                ClassNormals(means, variances)
                if numeric[c]
                else ClassPosterior(fraction, means, variances)
            )
        else:
            counts = pair if above < c else pair.T
            child, parent = marginals[c], marginals[above]
            assert child is not None
            assert parent is not None
            links[c] = TableLink(_conditional(counts, parent, child, smoothing))
    return TreeDensity(names, numeric, arities, centre, scale, marginals, tree, links)


def _spread(node: Moments) -> float:
    if node.variance > 0:
        return float(np.sqrt(node.variance))
    return _CONSTANT * max(abs(node.mean), 1.0)


def _fractions(counts: Floats, smoothing: float) -> Floats:
    total = counts.sum() + smoothing
    if total <= 0:
        return np.full(len(counts), 1.0 / len(counts))
    fractions: Floats = (counts + smoothing / len(counts)) / total
    return fractions


def _regression(pair: PairMoments) -> Regression:
    """Return the regression on standardised numbers, which is the same both ways."""
    size = np.sqrt(pair.var_a) * np.sqrt(pair.var_b)
    rho = float(np.clip(pair.cov / size, -1.0, 1.0)) if size > 0 else 0.0
    left = max(1.0 - rho * rho, _FLOOR)
    return Regression(0.0, float(np.copysign(np.sqrt(1.0 - left), rho)), left)


def _classes(
    pair: ClassMoments, arity: int, centre: float, scale: float, smoothing: float
) -> tuple[Floats, Floats, Floats]:
    """Return fraction, mean and variance of each class, in units of the column of all records.

    Pseudo-records are spread evenly over the classes, and have the column's own distribution.
    """
    counts, extra = pair.counts[:arity], smoothing / arity
    means = (pair.means[:arity] - centre) / scale
    squares = pair.variances[:arity] / scale**2 + means**2
    total = counts + extra
    known = total > 0
    safe = np.where(known, total, 1.0)
    mean = np.where(known, counts * means / safe, 0.0)
    square = np.where(known, (counts * squares + extra) / safe, 1.0)
    variance = np.maximum(square - mean**2, _FLOOR)
    return _fractions(counts, smoothing), mean, variance


def _conditional(counts: Floats, parent: Floats, child: Floats, smoothing: float) -> Floats:
    """Return P(child | parent) of a pair whose margins are those of the two columns."""
    cells = counts[: len(parent), : len(child)]
    joint = _fit_margins(_fractions(cells.ravel(), smoothing).reshape(cells.shape), parent, child)
    rows = joint.sum(axis=1, keepdims=True)
    safe = np.where(rows > 0, rows, 1.0)
    return np.where(rows > 0, joint / safe, child)


def _fit_margins(joint: Floats, parent: Floats, child: Floats) -> Floats:
    """Return the pair with other margins and the same odds ratios.

    Margins differ where pairs were counted on other records than columns: on a sample, or on those
    where neither value is missing.
    """
    for _ in range(_ROUNDS):
        rows, columns = joint.sum(axis=1), joint.sum(axis=0)
        away = max(np.abs(rows - parent).max(), np.abs(columns - child).max())
        if away < _CLOSE:
            break
        joint = joint * np.divide(parent, rows, out=np.zeros_like(rows), where=rows > 0)[:, None]
        columns = joint.sum(axis=0)
        joint = joint * np.divide(child, columns, out=np.zeros_like(columns), where=columns > 0)
    return joint
