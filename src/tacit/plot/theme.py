"""Colours of pictures, each with the one that takes its place on a dark page.

Pictures are drawn in the light colours. A style sheet in the SVG replaces them where the reader's
browser, notebook or page is dark; programs that know no style sheets show the light ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "DARK",
    "EDGE",
    "EMPTY",
    "FAINT",
    "FILL",
    "INK",
    "LIFTS",
    "LINE",
    "LOWERS",
    "PAPER",
    "RAISES",
    "SHADE",
    "STROKE",
    "VARIES",
    "WARM",
    "dark_rules",
    "picture_style",
]

INK, FAINT, PAPER = "#1a1a1a", "#5b6673", "#ffffff"  # texts, minor texts, background
LINE, STROKE, EDGE = "#c3c8cf", "#7a8794", "#cfd6de"  # borders: pale, plain; broad edges
FILL, WARM, EMPTY = "#f0f4f9", "#fcf3e3", "#eef0f3"  # boxes, other boxes, bars with nothing in them
SHADE = "#2f6690"  # lines that are to be seen first
RAISES, LOWERS, VARIES = "#0b6aa8", "#b4530a", "#66727f"  # the first two for the colour-blind, too
# From weak to strong associations: green to blue to dark, and dark to light on a dark page, so that
# lightness alone tells them apart.
LIFTS = ("#58b5a4", "#2e9dbb", "#2279b5", "#27559f", "#2b3585", "#12144f")

DARK = {
    INK: "#e8edf3",
    FAINT: "#a3afbc",
    PAPER: "#14181d",
    LINE: "#566270",
    STROKE: "#8896a5",
    EDGE: "#3d4854",
    FILL: "#222a33",
    WARM: "#3a3022",
    EMPTY: "#2c353f",
    SHADE: "#6aa7d6",
    RAISES: "#63b7f0",
    LOWERS: "#f0a35e",
    VARIES: "#9aa7b6",
    **dict(
        zip(LIFTS, ("#46639f", "#3f83b8", "#48a6c2", "#7cc8ba", "#bfe3b4", "#fbfac9"), strict=True)
    ),
}

# Notebooks and pages that say themselves whether they are light or dark.
_LIGHT_ROOT = ':not([data-theme="light"]):not([theme="light"])'
_LIGHT_BODY = ':not([data-jp-theme-light="true"]):not(.vscode-light)'
_DARK = (
    'body[data-jp-theme-light="false"]',
    "body.vscode-dark",
    'html[data-theme="dark"]',
    'html[theme="dark"]',
)


def dark_rules(selector: str, declarations: str) -> str:
    """Return style rules that hold for a selector where it is dark.

    That is where the browser prefers it, unless the page or the notebook (JupyterLab, VS Code,
    Colab, Sphinx) says that it is light; and where they say that it is dark.
    """
    chosen = f"{selector}:root,html{_LIGHT_ROOT} body{_LIGHT_BODY} {selector}"
    forced = ",".join(f"{place} {selector}" for place in _DARK)
    return (
        f"@media (prefers-color-scheme:dark){{{chosen}{{{declarations}}}}}\n"
        f"{forced}{{{declarations}}}\n"
    )


def picture_style(colours: Iterable[str], selector: str) -> str:
    """Return the style sheet of a picture that uses these colours as fills and strokes."""
    used = sorted(DARK.keys() & set(colours))
    names = {colour: f"--tacit-{colour[1:]}" for colour in used}
    rules = "".join(
        f'{selector} [{kind}="{colour}"]{{{kind}:var({names[colour]},{colour})}}\n'
        for colour in used
        for kind in ("fill", "stroke")
    )
    values = ";".join(f"{names[colour]}:{DARK[colour]}" for colour in used)
    # Programs without variables do not know @supports either, and keep the colours as written.
    own = f"{selector}:root{{color-scheme:light dark}}\n"  # a file that is opened by itself
    return f"{own}@supports (--a:0){{\n{rules}}}\n{dark_rules(selector, values)}"
