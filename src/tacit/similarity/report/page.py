"""A classifier by similarity as a page: one file to send to somebody.

Colours are those of whoever looks: text and paper come from the browser, light or dark.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.similarity.report.svg import COLOURS, grid_map, score_curves

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from tacit.similarity.tuning.tune import Tuning

__all__ = ["page"]

_MOST_CLASSES = 40  # that a confusion is drawn for
_MEASURES = ("accuracy", "f1")
_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0; font: 15px/1.45 system-ui, -apple-system, "Segoe UI", sans-serif;
  font-variant-numeric: tabular-nums; }
main { max-width: 70rem; margin: 0 auto; padding: 2rem 1.25rem 3rem; }
h1 { font-size: 1.7rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 1.8em 0 .4em; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1.25rem; margin: 1.25rem 0; }
dt { opacity: .7; }
dd { margin: 0; overflow-wrap: anywhere; }
p.note { opacity: .75; max-width: 60em; }
figure { margin: 0; overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: .25em .7em; text-align: right; font-weight: normal; }
thead th, tbody th { opacity: .75; }
.key { margin-right: 1.2em; white-space: nowrap; }
svg { max-width: 100%; height: auto; }
@media print { main { padding: 0; max-width: none; } body { font-size: 11px; } }
"""


def page(
    title: str,
    facts: Sequence[tuple[str, str]],
    confusion: NDArray[np.int64],
    names: Sequence[str],
    model: Any,
    training: tuple[NDArray[np.float64], NDArray[np.int32]],
    tuning: Tuning | None = None,
) -> str:
    """Return the whole page.

    Parameters
    ----------
    title : str
    facts : pairs of str
    confusion : ndarray of shape (n_names, n_names)
        How many objects of each class, by row, were taken for each, by column.
    names : sequence of str
        Of classes; those of the model first.
    model : classifier
        A fitted one.
    training : coordinates and numbers of classes
        Of the training objects.
    tuning : Tuning, optional
    """
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts)
    known = [str(label) for label in model.classes_.tolist()]
    drawing = grid_map(*training, model.computation_.grid_, known)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{escape(title)}</h1>\n<dl>{rows}</dl>\n"
        f"<h2>What was taken for what</h2>\n{_confusion(confusion, names)}\n"
        f"{'' if tuning is None else _tuning(tuning)}"
        '<h2>The grid</h2>\n<p class="note">Training objects in the first two dimensions of the '
        "projection. The colour of a block is that of its commonest class, the stronger the more "
        "objects it holds and the fewer of them are of another class. Objects are compared if they "
        f"are in the same block or in blocks that touch.</p>\n{_key(known)}\n"
        f"<figure>{drawing}</figure>\n</main>\n</body>\n</html>\n"
    )


def _key(names: Sequence[str]) -> str:
    keys = "".join(
        f'<span class="key"><span style="color:{COLOURS[k % len(COLOURS)]}">■</span> '
        f"{escape(name)}</span>"
        for k, name in enumerate(names[:_MOST_CLASSES])
    )
    return f"<p>{keys}</p>"


def _confusion(counts: NDArray[np.int64], names: Sequence[str]) -> str:
    """Return a table with a row for each class; the stronger the colour, the larger the share."""
    if len(names) > _MOST_CLASSES:
        return f"<p>There are {len(names):,} classes, too many to show.</p>"
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    rows = []
    for k, name in enumerate(names):
        total = max(1, int(counts[k].sum()))
        cells = "".join(
            f'<td style="background:{_tint(COLOURS[0 if j == k else 1], count / total)}">'
            f"{count:,}</td>"
            for j, count in enumerate(counts[k].tolist())
        )
        rows.append(f"<tr><th>{escape(name)}</th>{cells}</tr>")
    return (
        f"<figure><table><thead><tr><th>is \\ taken for</th>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></figure>"
    )


def _tint(colour: str, share: float) -> str:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},{0.75 * share:.3f})"


def _tuning(tuning: Tuning) -> str:
    """Return curves of the score by each parameter that was tuned."""
    frame, score = tuning.frame, tuning.score
    named = [name for name in frame.columns if name not in _MEASURES]
    numeric = [
        name for name in named if frame[name].dtype.is_numeric() and frame[name].n_unique() > 1
    ]
    drawings = []
    for name in numeric:
        best = frame.group_by("normalise", name).agg(pl.col(score).max())
        curves: dict[str, list[tuple[float, float]]] = {}
        for way, value, height in best.sort("normalise", name).iter_rows():
            label = "scaled to [0, 1]" if way else "as they are"
            curves.setdefault(label, []).append((float(value), float(height)))
        chosen = float(tuning.best_params[name])
        keys = _key([f"columns {label}" for label in curves])
        drawings.append(f"{keys}<figure>{score_curves(curves, name, score, chosen)}</figure>")
    chosen_text = ", ".join(f"{name} = {value}" for name, value in tuning.best_params.items())
    return (
        "<h2>Tuning</h2>\n"
        f'<p class="note">{frame.height:,} combinations, fitted to {tuning.sizes[0]:,} objects and '
        f"scored on {tuning.sizes[1]:,} others. Each point is the best {escape(score)} over all "
        f"other parameters. Chosen: {escape(chosen_text)}; {escape(score)} "
        f"{tuning.best_score:.4f}.</p>\n{''.join(drawings)}\n"
    )
