"""Mixed trees on a grid: what message passing does where numbers have no closed form.

Something may be known below a label that hangs below a missing number. Then the message that goes
up is no normal density any more. So all missing numbers take one of many evenly spaced values
instead, and the tree is passed through as one of labels. Numbers that are known stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tacit.network.dependency_tree.links import (
    ClassNormals,
    ClassPosterior,
    Regression,
    TableLink,
    add_logs,
    multiply_logs,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tacit.network.dependency_tree.links import Link
    from tacit.network.dependency_tree.parameters import TreeDensity

    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["GRID", "grid_moments", "on_grid"]

GRID = np.linspace(-12.0, 12.0, 1201)  # standard deviations
_STEP = float(GRID[1] - GRID[0])
_NARROWEST = (2 * _STEP) ** 2  # a variance below falls through the grid


def on_grid(model: TreeDensity) -> TreeDensity | None:
    """Return a tree all of whose numbers, where they are missing, lie on the grid.

    ``None`` if a number is known so precisely from its parent that it falls through the grid.
    """
    variances = [np.min(getattr(link, "variance", 1.0)) for link in model.links]
    variances += [np.min(getattr(link, "variances", 1.0)) for link in model.links]
    if min(variances) < _NARROWEST:
        return None
    links = [None if link is None else _grid_link(link) for link in model.links]
    arities = np.where(model.numeric, len(GRID), model.arities)
    numeric = np.zeros(model.n_columns, np.bool_)
    return replace(model, numeric=numeric, arities=arities, links=links)


def grid_moments(message: Floats) -> tuple[Floats, Floats]:
    """Return mean and variance of a number from a message on the grid."""
    probability = np.exp(message - add_logs(message)[:, None])
    mean = probability @ GRID
    return mean, probability @ GRID**2 - mean**2


def _grid_link(link: Link) -> Link:
    if isinstance(link, TableLink):
        return link
    if isinstance(link, Regression):
        return _GridLink(link, GRID, GRID)
    if isinstance(link, ClassNormals):
        return _GridLink(link, GRID, np.arange(len(link.means)))
    assert isinstance(link, ClassPosterior)
    return _GridLink(link, np.arange(len(link.means)), GRID)


@dataclass(frozen=True)
class _GridLink:
    """A link one or both of whose ends are numbers; messages are arrays over `below`, `above`."""

    link: Any
    below: NDArray[Any]
    above: NDArray[Any]

    @property
    def _width(self) -> float:
        """What a point of the child stands for, so that sums over it are integrals."""
        return _STEP if self.below is GRID else 1.0

    @cached_property
    def _logs(self) -> Floats:
        """The logarithm of P(child | parent) for all pairs of points, parents first."""
        return self._beside(self.above)

    def _beside(self, parents: NDArray[Any]) -> Floats:
        """Return log P(· | parent) for some parents."""
        shape = (len(parents), len(self.below))
        child, parent = np.broadcast_to(self.below, shape), np.broadcast_to(parents, shape[::-1]).T
        logs: Floats = self.link.at(child.ravel(), parent.ravel()).reshape(shape)
        logs += np.log(self._width)
        return logs

    def at(self, child: Any, parent: Any) -> Floats:
        """Ask the link: both are known."""
        logs: Floats = self.link.at(child, parent)
        return logs

    def from_child(self, child: Any) -> Floats:
        """Return the link at all points of the parent."""
        shape = (len(child), len(self.above))
        parent = np.broadcast_to(self.above, shape)
        logs: Floats = self.link.at(np.repeat(child, shape[1]), parent.ravel()).reshape(shape)
        return logs

    def up(self, message: Floats) -> Floats:
        """Sum over the child's points."""
        return multiply_logs(message, np.exp(self._logs).T)

    def up_at(self, message: Floats, parent: Any) -> Floats:
        """Sum over the child's points."""
        return add_logs(message + self._beside(parent))

    def given(self, parent: Any) -> Floats:
        """Return the link at all points of the child."""
        return self._beside(parent)

    def down(self, message: Floats) -> Floats:
        """Sum over the parent's points, each of which has its width in its message already."""
        return multiply_logs(message, np.exp(self._logs))

    def draw(self, parent: Any, rng: np.random.Generator) -> Any:
        """Draw as ever."""
        return self.link.draw(parent, rng)
