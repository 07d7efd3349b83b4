"""The result of tuning: the best combination, the scores of all, and how to show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.errors import InputError, did_you_mean
from tacit.plot.drawing import new_axes, scale_skewed
from tacit.plot.html import Result, frame_html

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MEASURES", "Tuning"]

MEASURES = ("accuracy", "f1")


@dataclass(frozen=True)
class Tuning(Result):
    """The result of :func:`tacit.tune`.

    Attributes
    ----------
    best_estimator : classifier
        With the best parameters, fitted to all objects; or to the training objects alone, if tuning
        was not to refit.
    best_params : dict
    best_score : float
        Of the validation objects.
    test_score : float or None
        Of the test objects, by a classifier that was fitted to the training objects alone. None if
        there are none.
    scoring : {"accuracy", "f1"}
    frame : polars.DataFrame
        A row for each combination, in the order in which they were tried: its parameters, accuracy
        and f1. Values of different types are texts.
    sizes : tuple of int
        How many objects were trained, validated and tested on.
    seconds : dict of str to float
        Time by stage: combinations, test, refit.
    """

    best_estimator: Any
    best_params: dict[str, Any]
    best_score: float
    test_score: float | None
    scoring: str
    frame: pl.DataFrame
    sizes: tuple[int, int, int]
    seconds: dict[str, float]

    def to_frame(self, top: int | None = None) -> pl.DataFrame:
        """Return combinations and their scores, the best first.

        Parameters
        ----------
        top : int, optional
            How many; by default all.
        """
        best = self.frame.sort(self.scoring, descending=True, maintain_order=True)
        return best if top is None else best.head(top)

    def to_text(self, top: int = 5) -> str:
        """Return the best combinations and their scores, in words.

        Parameters
        ----------
        top : int, default 5
        """
        named = ", ".join(f"{name}={value!r}" for name, value in self.best_params.items())
        tested = "" if self.test_score is None else f", tested: {self.test_score:.4f}"
        lines = [
            f"{type(self.best_estimator).__name__}: {named}",
            f"{self.scoring} validated: {self.best_score:.4f}{tested}; "
            f"{self.frame.height:,} combinations in {self.seconds['combinations']:.2f} s",
            *(
                "  " + ", ".join(f"{name}={_short(value)}" for name, value in row.items())
                for row in self.to_frame(top).iter_rows(named=True)
            ),
        ]
        return "\n".join(lines)

    def to_html(self, *, title: str | None = None) -> str:
        """Return a page with the best combinations, and curves of the score by parameter.

        Parameters
        ----------
        title : str, optional
        """
        from tacit.similarity.report.page import tuning_page

        return tuning_page(title or f"Tuning of {type(self.best_estimator).__name__}", self)

    def plot(self, ax: Axes | None = None, *, parameter: str | None = None) -> Axes:
        """Draw the best score for each value of a parameter, over all others.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        parameter : str, optional
            By default the first one that numbers were tried for.
        """
        name = parameter or next(iter(self.numeric_parameters), self.frame.columns[0])
        if name not in self.best_params:
            raise InputError(
                f"parameter must be one of {', '.join(self.best_params)}; got {name!r}"
                + did_you_mean(name, self.best_params)
            )
        ax = new_axes(ax, 7.0, 4.0)
        for label, points in self.curves(name).items():
            values, scores = zip(*points, strict=True)
            ax.plot(values, scores, marker="o", markersize=3, label=f"columns {label}")
            if not isinstance(values[0], str):
                scale_skewed(ax, values)
        ax.set(xlabel=name, ylabel=self.scoring)
        ax.legend(frameon=False)
        return ax

    @property
    def numeric_parameters(self) -> list[str]:
        """Parameters that several numbers were tried for."""
        return [
            name
            for name in self.frame.columns
            if name not in MEASURES
            and self.frame[name].dtype.is_numeric()
            and self.frame[name].drop_nulls().n_unique() > 1
        ]

    def curves(self, parameter: str) -> dict[str, list[tuple[Any, float]]]:
        """Return the best score for each value of a parameter, by how columns are measured.

        Parameters
        ----------
        parameter : str
        """
        points: dict[str, list[tuple[Any, float]]] = {}
        frame = self.frame.drop_nulls(parameter)
        best = frame.group_by("normalize", parameter).agg(pl.col(self.scoring).max().alias("score"))
        for row in best.sort("normalize", parameter).iter_rows(named=True):
            label = "scaled to [0, 1]" if row["normalize"] else "as they are"
            points.setdefault(label, []).append((row[parameter], row["score"]))
        return points

    def _html(self) -> str:
        headline = self.to_text(0).partition("\n")
        return frame_html(self.to_frame(), title=headline[0], top=10, note=headline[2])

    def __repr__(self) -> str:
        return f"<Tuning of {self.to_text(0)}>"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
