"""What cuts are: sets of nodes, and the sets along a parameter; how to show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.errors import InputError
from tacit.plot.drawing import new_axes, scale_skewed
from tacit.plot.html import Result, frame_html, pairs_html

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

__all__ = ["Cut", "CutPath", "MinimumCut"]


@dataclass(frozen=True, repr=False)
class _NodeSet(Result):
    """Members of a graph, against the rest."""

    members: NDArray[np.bool_]

    def to_text(self) -> str:
        """Return how many nodes are members, and what that costs."""
        facts = [f"{int(self.members.sum()):,} of {len(self.members):,} nodes"]
        return "; ".join(facts + [f"{name} {value:.6g}" for name, value in self._numbers().items()])

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each node: its number, and whether it is a member."""
        return pl.DataFrame({"node": np.arange(len(self.members)), "member": self.members})

    def plot(self, ax: Axes | None = None, *, coords: Any) -> Axes:
        """Draw nodes in two dimensions, members in another colour.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        coords : array-like of shape (n_nodes, n_dimensions)
            Where nodes are; the first two dimensions are drawn.
        """
        points = np.asarray(coords, np.float64)
        if points.ndim != 2 or points.shape[1] < 2 or len(points) != len(self.members):
            raise InputError(
                f"coords must have two dimensions or more for each of {len(self.members)} nodes, "
                f"got shape {points.shape}"
            )
        ax = new_axes(ax, 6.0, 5.0)
        for chosen, colour, label in (
            (~self.members, "#b9b7ac", "the rest"),
            (self.members, "#0b7a75", "members"),
        ):
            x, y = points[chosen, :2].T
            ax.scatter(x, y, s=9, color=colour, linewidths=0, label=label)
        ax.legend(frameon=False)
        ax.set(xlabel="first dimension", ylabel="second dimension")
        ax.set_title(self.to_text(), fontsize="medium")
        return ax

    def _numbers(self) -> dict[str, float]:
        raise NotImplementedError

    def _html(self) -> str:
        members = f"{int(self.members.sum()):,} of {len(self.members):,} nodes"
        numbers = [(name, f"{value:.6g}") for name, value in self._numbers().items()]
        return pairs_html([("members", members), *numbers], title=type(self).__name__)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.to_text()}>"


@dataclass(frozen=True, repr=False)
class MinimumCut(_NodeSet):
    """A minimum cut between a source and a sink.

    Attributes
    ----------
    members : ndarray of bool, shape (n_nodes,)
        Nodes on the source's side; the fewest possible.
    value : float
        The capacity of the cut.
    """

    value: float

    def _numbers(self) -> dict[str, float]:
        return {"capacity": self.value}


@dataclass(frozen=True, repr=False)
class Cut(_NodeSet):
    """A set of nodes that are similar to each other and not to the rest.

    Attributes
    ----------
    members : ndarray of bool, shape (n_nodes,)
    between : float
        Similarity between members and the rest, C(S, S̄).
    within : float
        Similarity among members, C(S, S), each pair once; or the sum of their node weights.
    balance : float
        The λ of the objective. For the best ratio, that ratio.
    """

    between: float
    within: float
    balance: float

    @property
    def value(self) -> float:
        """The objective: between - balance · within."""
        return self.between - self.balance * self.within

    @property
    def ratio(self) -> float:
        """Similarity to the rest, divided by that among members."""
        return self.between / self.within if self.within > 0 else np.inf

    def _numbers(self) -> dict[str, float]:
        return {
            "between": self.between,
            "within": self.within,
            "ratio": self.ratio,
            "balance": self.balance,
        }


@dataclass(frozen=True, repr=False)
class CutPath(Result):
    """The cuts of a graph for all balances.

    Attributes
    ----------
    enters : ndarray of shape (n_nodes,)
        The balance beyond which each node is a member: -inf for nodes that always are, inf for
        those that never are.
    """

    enters: NDArray[np.float64]

    @property
    def breakpoints(self) -> NDArray[np.float64]:
        """Balances at which the set of members changes, in ascending order."""
        balances = np.unique(self.enters)
        return balances[np.isfinite(balances)]

    def members(self, balance: float) -> NDArray[np.bool_]:
        """Return which nodes are members at a balance: the fewest that are optimal."""
        return self.enters < balance

    def to_text(self) -> str:
        """Return how many sets there are, and how many nodes are never or always members."""
        always, never = (int((self.enters == end).sum()) for end in (-np.inf, np.inf))
        return (
            f"{len(self.breakpoints):,} balances at which the members of {len(self.enters):,} "
            f"nodes change; {always:,} nodes always are members, {never:,} never"
        )

    def to_frame(self) -> pl.DataFrame:
        """Return a row for each breakpoint: the balance, and how many members there are beyond."""
        balances = self.breakpoints
        n_members = np.searchsorted(np.sort(self.enters), balances, side="right")
        return pl.DataFrame({"balance": balances, "n_members": n_members})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the number of members by balance.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        """
        ax = new_axes(ax, 6.0, 4.0)
        ax.step(*self.to_frame().to_numpy().T, where="post")
        ax.set(xlabel="balance", ylabel="members (nodes)")
        scale_skewed(ax, self.breakpoints.tolist())
        return ax

    def _html(self) -> str:
        return frame_html(self.to_frame(), title="CutPath", note=self.to_text())

    def __repr__(self) -> str:
        return f"<CutPath: {self.to_text()}>"
