"""Files of trees: models, pictures, rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.cli.writing import write_frame

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ENDINGS", "save_figure", "write_tree"]

ENDINGS = (".tacit", ".svg", ".png", ".pdf", ".dot", ".csv", ".parquet")
_LEAST_DPI = 150


def write_tree(model: Any, path: Path, levels: int | None) -> None:
    """Write a model, its picture or its rules, as the end of the name says."""
    match path.suffix.lower():
        case ".tacit":
            model.save(path)
        case ".svg":
            path.write_text(model.to_svg(max_depth=levels), "utf-8")
        case ".dot":
            path.write_text(model.to_dot(), "utf-8")
        case ".png" | ".pdf":
            save_figure(model.plot(max_depth=levels), path)
        case _:
            write_frame(model.to_frame(), path)


def save_figure(ax: Any, path: Path) -> None:
    """Write a figure and forget it."""
    from matplotlib import pyplot as plt

    figure = ax.get_figure(root=True)
    figure.savefig(path, dpi=_LEAST_DPI)
    plt.close(figure)
