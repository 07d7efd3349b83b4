"""An explanation as bars: what each rule adds to the score of one output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from tacit.plot.scene import Box, Scene, Words, draw_scene, fit, text_width
from tacit.plot.theme import FAINT, INK
from tacit.rules.boosted.rule_set import score_text

if TYPE_CHECKING:
    from tacit.rules.boosted.explanation import Explanation

__all__ = ["explanation_scene", "plot_explanation"]

_FOR, _AGAINST, _SUM = "#2f7fc1", "#d97a2b", "#7a7a7a"
_BARS, _SCORE, _ROW, _LINE = 260.0, 64.0, 22.0, 15.0
_WIDEST = 380.0  # pixels of a line of conditions
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
    rows.append(("sum", total))
    texts = [_wrap(text) for text, _ in rows]
    title = f"Score of {output}: {score_text(total)}"
    left = 12 + max([text_width(line, _SIZE) for lines in texts for line in lines])
    wide = max(left + _BARS + 2 * _SCORE, text_width(title, 13, bold=True) + 16)
    zero = left + _SCORE - low * scale
    scene = Scene(wide, 0, title)
    scene.items.append(Words(8, _ROW, title, 13, INK, bold=True))
    y = _ROW + 12
    for k, ((text, score), lines) in enumerate(zip(rows, texts, strict=True)):
        height = _ROW + _LINE * (len(lines) - 1)
        colour = _SUM if k == len(rows) - 1 else _FOR if score > 0 else _AGAINST
        for n, line in enumerate(lines):
            base = y + 15 + _LINE * n
            scene.items.append(Words(left, base, line, _SIZE, INK, "end", title=text))
        middle = y + height / 2
        _add_bar(scene, f"{text}: {score:+.6g}", score, middle, zero, scale, colour)
        y += height
    scene.items.append(Box(zero - 0.5, _ROW + 10, 1.0, y - _ROW - 8, INK))
    note = "what the rules that hold add to the score"
    scene.items.append(Words(left + _SCORE + _BARS / 2, y + 16, note, 10, FAINT, "middle"))
    scene.height = y + 28
    return scene


def _add_bar(
    scene: Scene, title: str, score: float, middle: float, zero: float, scale: float, colour: str
) -> None:
    end = zero + score * scale
    side = 4 if score >= 0 else -4
    anchor: Literal["start", "end"] = "start" if score >= 0 else "end"
    scene.items += [
        Box(min(zero, end), middle - 8, abs(end - zero), 16, colour, title=title),
        Words(end + side, middle + 4, score_text(score), 10, INK, anchor),
    ]


def _wrap(text: str) -> list[str]:
    """Return conditions in as many lines as they need; only a single one is ever cut short.

    >>> _wrap("age ≤ 30 and sex = Male")
    ['age ≤ 30 and sex = Male']
    """
    lines = [""]
    for part in text.split(" and "):
        longer = f"{lines[-1]} and {part}" if lines[-1] else part
        if lines[-1] and text_width(longer, _SIZE) > _WIDEST:
            lines[-1] += " and"
            lines.append(part)
        else:
            lines[-1] = longer
    return [fit(line, 1.5 * _WIDEST, _SIZE) for line in lines]


def plot_explanation(explanation: Explanation, ax: Any, top: int, output: Any) -> Any:
    """Draw the picture with Matplotlib."""
    return draw_scene(explanation_scene(explanation, top, output), ax)
