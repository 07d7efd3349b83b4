"""Pages about classifiers by similarity and their tuning: one file to send to somebody.

Colours are those of the reader: text and background come from the browser, light or dark.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from tacit.plot.html import frame_html, html_frame
from tacit.plot.page import COLOURS, PAGE_STYLE, document, facts_list
from tacit.similarity.report.svg import grid_map, score_curves

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from tacit.similarity.tuning.result import Tuning

__all__ = ["page", "tuning_page"]

_MAX_CLASSES = 40  # that a confusion matrix is drawn for
_STYLE = """
:root { --width: 70rem; }
body { font-variant-numeric: tabular-nums; }
h2 { font-size: 1.2rem; margin: 1.8em 0 .4em; }
p.note { opacity: .75; max-width: 60em; }
table { border-collapse: collapse; }
th, td { padding: .25em .7em; text-align: right; font-weight: normal; }
.many th, .many td { padding: .2em .3em; font-size: .87em; }
tbody th { overflow-wrap: anywhere; max-width: 14em; }
thead th, tbody th { opacity: .75; }
.keys { display: flex; flex-wrap: wrap; gap: .1em 1.2em; }
.key { overflow-wrap: anywhere; }
"""


def page(
    title: str,
    facts: Sequence[tuple[str, str]],
    model: Any,
    confusion: tuple[Sequence[Any], NDArray[np.int64]] | None = None,
    tuning: Tuning | None = None,
) -> str:
    """Return a page about a fitted classifier: its grid, confusion matrix and tuning."""
    known = [str(label) for label in model.classes_.tolist()]
    coords, codes = model._training_classes()
    drawing = grid_map(coords, codes, model.computation_.grid_, known)
    sections = [
        "" if confusion is None else f"<h2>Confusion matrix</h2>\n{_confusion(*confusion)}\n",
        "" if tuning is None else f"<h2>Tuning</h2>\n{_tuning(tuning)}\n",
        '<h2>The grid</h2>\n<p class="note">Training objects in the first two dimensions of the '
        "projection. The colour of a block is that of its most common class, the stronger the more "
        "objects it holds and the fewer of them are of another class. Objects are compared if they "
        f"are in the same block or in blocks that touch.</p>\n{_key(known)}\n"
        f"<figure>{drawing}</figure>\n",
    ]
    return document(title, PAGE_STYLE + _STYLE, f"{facts_list(facts)}\n{''.join(sections)}")


def tuning_page(title: str, tuning: Tuning) -> str:
    """Return a page about tuning alone."""
    facts = [(name, str(value)) for name, value in tuning.best_params.items()]
    facts.append((f"{tuning.scoring}, validated", f"{tuning.best_score:.4f}"))
    if tuning.test_score is not None:
        facts.append((f"{tuning.scoring}, tested", f"{tuning.test_score:.4f}"))
    table = html_frame(frame_html(tuning.to_frame(), title="Best combinations"))
    return document(
        title, PAGE_STYLE + _STYLE, f"{facts_list(facts)}\n{_tuning(tuning)}\n{table}\n"
    )


def _key(names: Sequence[str]) -> str:
    keys = "".join(
        f'<span class="key"><span style="color:{COLOURS[k % len(COLOURS)]}">■</span> '
        f"{escape(name)}</span>"
        for k, name in enumerate(names[:_MAX_CLASSES])
    )
    return f'<p class="keys">{keys}</p>'


def _confusion(labels: Sequence[Any], matrix: NDArray[np.int64]) -> str:
    """Return a table with a row for each class; colours are as strong as fractions of it."""
    names = [escape(str(label)) for label in labels]
    if len(names) > _MAX_CLASSES:
        return f"<p>There are {len(names):,} classes, too many to show.</p>"
    head = "".join(f"<th>{name}</th>" for name in names)
    many = ' class="many"' if len(names) > 12 else ""
    rows = []
    for k, name in enumerate(names):
        total = max(1, int(matrix[k].sum()))
        cells = "".join(
            f'<td style="background:{_tint(COLOURS[0 if j == k else 1], count / total)}">'
            f"{count:,}</td>"
            for j, count in enumerate(matrix[k].tolist())
        )
        rows.append(f"<tr><th>{name}</th>{cells}</tr>")
    return (
        f"<figure><table{many}><thead><tr><th>true \\ predicted</th>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></figure>"
    )


def _tint(colour: str, strength: float) -> str:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},{0.75 * strength:.3f})"


def _tuning(tuning: Tuning) -> str:
    """Return curves of the score by each parameter that was tuned."""
    scoring, drawings = tuning.scoring, []
    for name in tuning.numeric_parameters:
        curves = tuning.curves(name)
        keys = _key([f"columns {label}" for label in curves])
        drawing = score_curves(curves, name, scoring, tuning.best_params[name])
        drawings.append(f"{keys}<figure>{drawing}</figure>")
    chosen = ", ".join(f"{name} = {value}" for name, value in tuning.best_params.items())
    return (
        f'<p class="note">{tuning.frame.height:,} combinations, fitted to {tuning.sizes[0]:,} '
        f"objects and scored on {tuning.sizes[1]:,} others. Each point is the best "
        f"{escape(scoring)} over all other parameters. Chosen: {escape(chosen)}; "
        f"{escape(scoring)} {tuning.best_score:.4f}.</p>\n{''.join(drawings)}"
    )
