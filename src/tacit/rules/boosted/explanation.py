"""Why a record gets its prediction: the rules that cover it, and what each of them adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.errors import InputError, did_you_mean
from tacit.machine import check_int
from tacit.plot.html import html_frame, table_html
from tacit.rules.boosted.rule_set import BoostedRule, score_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.rules.conditions import Condition

__all__ = ["Explanation"]


@dataclass(frozen=True)
class Explanation:
    """What boosted rules say of one record.

    Attributes
    ----------
    prediction
        What is predicted: a class, a tuple of labels, a number or a tuple of numbers.
    default : dict
        ``{output: score, …}``, what every record starts with.
    rules : tuple of BoostedRule
        The rules that cover the record, in the order in which they were learnt.
    decision : dict
        ``{output: score, …}``: the default score plus what the rules add.
    """

    prediction: Any
    default: dict[Any, float]
    rules: tuple[BoostedRule, ...]
    decision: dict[Any, float]

    def contributions(self, output: Any = None) -> list[tuple[str, float]]:
        """Return conditions and what rules with them add to one output, the largest first.

        Parameters
        ----------
        output : label, optional
            By default the only one, or the one with the highest score.
        """
        output = self._output(output)
        total: dict[frozenset[Condition], float] = {}
        texts: dict[frozenset[Condition], str] = {}
        for rule in self.rules:
            if output in rule.head:
                key = frozenset(rule.conditions)
                texts.setdefault(key, rule.condition)
                total[key] = total.get(key, 0.0) + rule.head[output]
        pairs = [(texts[key], score) for key, score in total.items()]
        return sorted(pairs, key=lambda pair: -abs(pair[1]))

    def _output(self, output: Any) -> Any:
        if output is None:
            return max(self.decision, key=lambda label: self.decision[label])
        if output not in self.decision:
            listed = ", ".join(repr(label) for label in list(self.decision)[:6])
            hint = did_you_mean(output, self.decision)
            raise InputError(f"output: there is no {output!r}; there are {listed}{hint}")
        return output

    def to_text(self, top: int = 10, output: Any = None) -> str:
        """Return the explanation as text.

        Parameters
        ----------
        top : int, default 10
            How many lines; rules with the same conditions are one, and the rest is added up.
        output : label, optional
            As for :meth:`contributions`.
        """
        top, output = check_int(top, "top", 0), self._output(output)
        pairs = self.contributions(output)
        lines = [
            f"{self._said()}; score of {output}: {score_text(self.decision[output])}",
            f"  {score_text(self.default[output])} always",
        ]
        lines += [f"  {score_text(score)} {text}" for text, score in pairs[:top]]
        rest = pairs[top:]
        if rest:
            total = sum(score for _, score in rest)
            lines.append(f"  {score_text(total)} {len(rest):,} more")
        return "\n".join(lines)

    def _said(self) -> str:
        if not isinstance(self.prediction, tuple):
            return f"prediction {self.prediction}"
        return "prediction " + (", ".join(map(str, self.prediction)) or "no label")

    def to_frame(self) -> pl.DataFrame:
        """Return what covering rules add as a Polars frame: rule, conditions, output and score.

        The default rule comes first, and has no number.
        """
        rows: list[tuple[int | None, str, Any, float]] = [
            (None, "always", output, score) for output, score in self.default.items()
        ]
        for rule in self.rules:
            rows += [(rule.number, rule.condition, output, s) for output, s in rule.head.items()]
        columns: list[Sequence[Any]] = list(zip(*rows, strict=True))
        return pl.DataFrame(
            {
                "rule": pl.Series(columns[0], dtype=pl.Int64),
                "conditions": columns[1],
                "output": pl.Series(columns[2], strict=False),
                "score": columns[3],
            }
        )

    def plot(self, ax: Any = None, *, top: int = 12, output: Any = None) -> Any:
        """Draw what the rules add as bars, with Matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
        top : int, default 12
            How many rules to draw; the others are one bar.
        output : label, optional
            As for :meth:`contributions`.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from tacit.rules.boosted.explanation_plot import plot_explanation

        return plot_explanation(self, ax, check_int(top, "top", 1), output)

    def to_svg(self, *, top: int = 12, output: Any = None) -> str:
        """Return the bars as a picture: the text of an SVG file.

        Parameters
        ----------
        top, output
            As for :meth:`plot`.
        """
        from tacit.plot.scene import scene_svg
        from tacit.rules.boosted.explanation_plot import explanation_scene

        return scene_svg(explanation_scene(self, check_int(top, "top", 1), output))

    def to_html(self, top: int = 10, output: Any = None) -> str:
        """Return the explanation as HTML.

        Parameters
        ----------
        top, output
            As for :meth:`to_text`.
        """
        headline, *lines = self.to_text(top, output).splitlines()
        rows = [line.strip().partition(" ")[::2] for line in lines]
        return html_frame(table_html(["adds", "if"], rows, title=headline))

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()
