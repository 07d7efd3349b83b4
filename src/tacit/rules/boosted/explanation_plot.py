"""An explanation as bars: what each rule adds to the score of one output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.plot.drawing import INK
from tacit.plot.scene import Box, Scene, Words, draw_scene, fit
from tacit.rules.boosted.rule_set import score_text

if TYPE_CHECKING:
    from tacit.rules.boosted.explanation import Explanation

__all__ = ["explanation_scene", "plot_explanation"]

_FOR, _AGAINST, _SUM = "#2f7fc1", "#d97a2b", "#7a7a7a"
_TEXT, _BARS, _SCORE, _ROW = 330.0, 260.0, 56.0, 22.0
_SIZE = 11.5


def explanation_scene(explanation: Explanation, top: int, output: Any = None) -> Scene:
    """Return the picture: the default, the `top` rules that matter most, the rest, and the sum.

    `output` is by default the only one, or the one with the highest score.
    """
    output = explanation._output(output)
    pairs = explanation.contributions(output)
    rows = [("always", explanation.default[output])]
    rows += pairs[:top]
    rest = pairs[top:]
    if rest:
        rows.append((f"{len(rest):,} more", sum(score for _, score in rest)))
    total = explanation.decision[output]
    low = min(0.0, total, *(score for _, score in rows))
    high = max(0.0, total, *(score for _, score in rows))
    scale = _BARS / ((high - low) or 1.0)
    zero = _TEXT + _SCORE - low * scale
    title = f"{output}: {score_text(total)}"
    scene = Scene(_TEXT + _BARS + 2 * _SCORE, _ROW * (len(rows) + 2) + 16, title)
    scene.items.append(Words(8, _ROW, title, 13, INK, bold=True))
    for line, (text, score) in enumerate([*rows, ("sum", total)], start=1):
        colour = _SUM if line > len(rows) else _FOR if score > 0 else _AGAINST
        _add_row(scene, text, score, _ROW * line + 12, zero, scale, colour)
    scene.items.append(Box(zero - 0.5, _ROW + 10, 1.0, _ROW * (len(rows) + 1), INK))
    return scene


def _add_row(
    scene: Scene, text: str, score: float, y: float, zero: float, scale: float, colour: str
) -> None:
    end = zero + score * scale
    base = y + _ROW / 2 + 4
    scene.items += [
        Words(_TEXT, base, fit(text, _TEXT - 12, _SIZE), _SIZE, INK, anchor="end", title=text),
        Box(
            min(zero, end), y + 3, abs(end - zero), _ROW - 6, colour, title=f"{text}: {score:+.6g}"
        ),
        Words(
            end + (4 if score >= 0 else -4),
            base,
            score_text(score),
            10,
            INK,
            anchor="start" if score >= 0 else "end",
        ),
    ]


def plot_explanation(explanation: Explanation, ax: Any, top: int, output: Any) -> Any:
    """Draw the picture with Matplotlib."""
    return draw_scene(explanation_scene(explanation, top, output), ax)
