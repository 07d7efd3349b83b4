"""What nets of resampled records have in common: the result of `BayesNet.arc_strengths`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tacit.machine import check_int
from tacit.network.bayes_net.picture import arcs_scene
from tacit.network.bootstrap.consensus import directions, find_threshold, join_arcs
from tacit.network.density import shorten
from tacit.parameters import check_number
from tacit.plot.html import Result, frame_html, picture_html

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tacit.network.bayes_net.bayes_net import BayesNet
    from tacit.plot.scene import Scene
    from tacit.schema import Schema

__all__ = ["ArcStrengths"]

_MOST_DRAWN = 150  # columns that notebooks show as a picture
_THIN, _WIDE = 0.6, 4.0  # arcs that few nets have, and that all have


@dataclass(frozen=True, repr=False, eq=False)
class ArcStrengths(Result):
    """How often nets of resampled records have each arc.

    Attributes
    ----------
    schema : Schema
        The columns.
    names : tuple of str
        Their names.
    n_bootstrap : int
        Number of nets.
    n_arcs : int64 array of shape (n_columns, n_columns)
        How many nets have the arc from the one column to the other.
    n_compelled : int64 array of shape (n_columns, n_columns)
        How many essential graphs have it: in all nets that are equivalent to these, it points so.
    threshold : float
        The least strength that is significant by the rule of Scutari and Nagarajan: of all
        distributions of strengths that are 0 or 1, the one that is nearest to theirs says how many
        pairs are there by chance.

    Examples
    --------
    >>> import tacit
    >>> visits = tacit.datasets.load_visits().select(["sports", "scores", "cart", "checkout"])
    >>> net = tacit.BayesNet(algorithm="climb", n_restarts=0, random_state=0)
    >>> strengths = net.arc_strengths(visits, n_bootstrap=20)
    >>> strengths.strength("sports", "scores")
    1.0
    >>> strengths.averaged_net(visits).n_arcs_ == len(strengths.averaged_arcs())
    True
    """

    schema: Schema
    n_bootstrap: int
    n_arcs: NDArray[np.int64]
    n_compelled: NDArray[np.int64]
    _settings: BayesNet  # with which the nets were learnt

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.schema.names

    @cached_property
    def threshold(self) -> float:
        """The least strength that is significant."""
        upper = np.triu_indices(len(self.names), 1)
        return find_threshold(self._strengths[upper])

    @property
    def _strengths(self) -> NDArray[np.float64]:
        return (self.n_arcs + self.n_arcs.T) / self.n_bootstrap

    def strength(self, a: str | int, b: str | int) -> float:
        """Return the fraction of the nets that join two columns, in whichever direction.

        Parameters
        ----------
        a, b : str or int
        """
        one, other = self.schema.position(a, "a"), self.schema.position(b, "b")
        return float(self._strengths[one, other])

    def averaged_arcs(self, threshold: float | None = None) -> list[tuple[str, str]]:
        """Return arcs (from, to) between all columns that enough nets join; they have no cycle.

        Arcs come in the order of their strength, and point where most essential graphs do. One that
        would close a cycle with those before it is turned round; but where no net has it so, it is
        left out.

        Parameters
        ----------
        threshold : float, optional
            The least strength; that of the rule of Scutari and Nagarajan by default.
        """
        return [(self.names[a], self.names[b]) for a, b in self._averaged(threshold)]

    def _averaged(self, threshold: float | None) -> list[tuple[int, int]]:
        least = check_number(self.threshold if threshold is None else threshold, "threshold", 0, 1)
        # Strengths are fractions of nets, and so is the threshold, up to rounding.
        n_least = int(np.ceil(least * self.n_bootstrap - 1e-9))
        return join_arcs(self.n_arcs, self.n_compelled, self.names, n_least)

    def averaged_net(
        self, X: Any, threshold: float | None = None, *, sample_weight: Any = None
    ) -> BayesNet:
        """Return the net of :meth:`averaged_arcs`, with tables estimated from records.

        Parameters
        ----------
        X : Table, frame, mapping of columns, array or sparse array
            The records that the strengths are from, or others.
        threshold : float, optional
            As for :meth:`averaged_arcs`.
        sample_weight : array-like of shape (n_records,), optional
        """
        return self._settings._of_arcs(X, sample_weight, self.averaged_arcs(threshold))

    # Showing

    def to_frame(self, top: int | None = None) -> pl.DataFrame:
        """Return a row for each pair of columns that some net joins, the strongest first.

        `strength` is the fraction of the nets that join them. Of these, `direction` is the fraction
        that point from the one to the other, and `essential_direction` that of their essential
        graphs, where edges without a direction count half: 0.5 says that records do not tell.

        Parameters
        ----------
        top : int, optional
            How many rows; all by default.
        """
        own, essential = directions(self.n_arcs, self.n_compelled)
        upper = np.triu(self.n_arcs + self.n_arcs.T, 1)
        rows = []
        for pair in np.argwhere(upper > 0).tolist():
            a, b = sorted(pair, key=self.names.__getitem__)
            if (essential[b, a], own[b, a]) > (essential[a, b], own[a, b]):
                a, b = b, a
            rows.append((self.names[a], self.names[b], float(self._strengths[a, b]),
                         float(own[a, b]), float(essential[a, b])))  # fmt: skip
        rows.sort(key=lambda row: (-row[2], -row[4], -row[3], row[0], row[1]))
        names = ("from", "to", "strength", "direction", "essential_direction")
        types = (pl.String, pl.String, pl.Float64, pl.Float64, pl.Float64)
        kept = rows if top is None else rows[: check_int(top, "top", 0)]
        return pl.DataFrame(kept, dict(zip(names, types, strict=True)), orient="row")

    def to_text(self, top: int | None = None) -> str:
        """Return the strongest pairs, a line each.

        Parameters
        ----------
        top : int, optional
            How many; all by default.
        """
        frame = self.to_frame()
        width = max(map(len, self.names))
        lines = [self._line()]
        for a, b, strength, direction, essential in frame.iter_rows():
            lines.append(
                f"  {a:<{width}} → {b:<{width}}  {strength:6.1%}  direction {direction:6.1%}, "
                f"essential {essential:6.1%}"
            )
        return shorten(lines, top, "pair")

    def _line(self) -> str:
        return (
            f"Arcs of {self.n_bootstrap:,} nets of {len(self.names):,} columns; "
            f"significant from {self.threshold:.1%} on"
        )

    def __repr__(self) -> str:
        return self.to_text(20)

    def to_dot(self, threshold: float | None = None) -> str:
        """Return :meth:`averaged_arcs` in the language of Graphviz, the wider the stronger.

        Parameters
        ----------
        threshold : float, optional
            As for :meth:`averaged_arcs`.
        """
        quoted = [json.dumps(name, ensure_ascii=False) for name in self.names]
        lines = [
            "digraph arc_strengths {",
            "  node [shape=box, style=rounded, fontname=Helvetica];",
        ]
        lines += [f"  {name};" for name in quoted]
        strengths = self._strengths
        for a, b in self._averaged(threshold):
            width, label = _width(strengths[a, b]), f"{strengths[a, b]:.2f}"
            lines.append(f'  {quoted[a]} -> {quoted[b]} [penwidth={width:.2f}, label="{label}"];')
        return "\n".join([*lines, "}"]) + "\n"

    def _scene(self, threshold: float | None) -> Scene:
        arcs, strengths = self._averaged(threshold), self._strengths
        parents: list[list[int]] = [[] for _ in self.names]
        for a, b in arcs:
            parents[b].append(a)
        essential = directions(self.n_arcs, self.n_compelled)[1]
        shown = {
            (a, b): (
                _width(strengths[a, b]),
                f": {strengths[a, b]:.1%} of the nets, direction {essential[a, b]:.1%}",
            )
            for a, b in arcs
        }
        return arcs_scene(self.schema, [sorted(above) for above in parents], self._line(), shown)

    def to_svg(self, threshold: float | None = None) -> str:
        """Return a picture of :meth:`averaged_arcs`, the wider the stronger: the text of an SVG.

        Parameters
        ----------
        threshold : float, optional
            As for :meth:`averaged_arcs`.
        """
        from tacit.plot.scene import scene_svg

        return scene_svg(self._scene(threshold))

    def plot(self, ax: Axes | None = None, *, threshold: float | None = None) -> Axes:
        """Draw :meth:`averaged_arcs` with Matplotlib, the wider the stronger.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        threshold : float, optional
            As for :meth:`averaged_arcs`.
        """
        from tacit.plot.scene import draw_scene

        return draw_scene(self._scene(threshold), ax)

    def _html(self) -> str:
        table = frame_html(self.to_frame(), title=self._line(), note="see to_frame()")
        if len(self.names) > _MOST_DRAWN:
            return table
        return table + picture_html(self.to_svg())


def _width(strength: float) -> float:
    return _THIN + (_WIDE - _THIN) * float(strength)
