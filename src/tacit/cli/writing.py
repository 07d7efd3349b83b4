"""Files that commands write: checked before work begins, written when it is done."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import typer

from tacit.cli.output import json_text, working
from tacit.errors import FileError, InputError
from tacit.writing import write_text, written_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    import polars as pl

__all__ = [
    "FRAMES",
    "PICTURES",
    "check_ending",
    "check_outputs",
    "check_target",
    "save_figure",
    "write_frame",
    "write_frames",
    "write_model",
]

FRAMES = (".parquet", ".csv", ".tsv", ".arrow", ".ipc", ".feather")
PICTURES = (".svg", ".png", ".pdf")
_DPI = 150


def check_ending(path: Path | None, option: str, endings: tuple[str, ...]) -> None:
    """Refuse a name that does not say how to write the file."""
    if path is not None and path.suffix.lower() not in endings:
        known = f"{', '.join(endings[:-1])} or {endings[-1]}" if endings[1:] else endings[0]
        raise typer.BadParameter(f"{str(path)!r} must end in {known}", param_hint=option)


def check_target(path: Path | None, option: str, endings: tuple[str, ...], *inputs: Path) -> None:
    """Refuse what cannot be written in the end, or would destroy an input, before work begins."""
    check_ending(path, option, endings)
    if path is None:
        return
    if not path.parent.is_dir():
        raise InputError(f"{option}: the folder {str(path.parent)!r} does not exist")
    if path.is_dir():
        raise InputError(f"{option}: {str(path)!r} is a folder")
    if any(path.exists() and given.exists() and path.samefile(given) for given in inputs):
        raise InputError(f"{option}: {str(path)!r} is what is read; it would be lost")


def check_outputs(
    paths: Iterable[Path] | None, endings: tuple[str, ...], *inputs: Path | None
) -> list[Path]:
    """Return what --output names, after :func:`check_target` of each."""
    outputs = list(paths or ())
    for path in outputs:
        check_target(path, "--output", endings, *(given for given in inputs if given is not None))
    return outputs


def write_model(
    model: Any,
    path: Path,
    *,
    frame: Callable[[], pl.DataFrame] | None = None,
    page: Callable[[], str] | None = None,
    data: Callable[[], Any] | None = None,
    shown: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Write a model, a page about it, a picture, DOT, JSON or a frame, as the end of the name says.

    `frame` and `page` make what is not to be as the model has it, `data` makes what JSON holds; its
    pictures take what is `shown`.
    """
    with working(f"writing {path}"):
        match path.suffix.lower():
            case ".tacit":
                model.save(path)
            case ".html" | ".htm":
                write_text(path, _page(model.to_html() if page is None else page(), path))
            case ".svg" if hasattr(model, "to_svg"):
                write_text(path, model.to_svg(**shown))
            case ".json" if data is not None:
                write_text(path, json_text(data()))
            case ".dot":
                write_text(path, model.to_dot())
            case ending if ending in PICTURES:
                save_figure(model.plot(**shown), path)
            case _:
                write_frame(model.to_frame() if frame is None else frame(), path)


def _page(text: str, path: Path) -> str:
    """Return a page as it is, and a table as a page of its own."""
    if text.startswith("<!DOCTYPE"):
        return text
    from tacit.plot.page import PAGE_STYLE, document

    return document(path.stem, PAGE_STYLE, text)


def save_figure(ax: Any, path: Path) -> None:
    """Write a figure and forget it."""
    from matplotlib import pyplot as plt

    figure = ax.get_figure(root=True)
    with written_whole(path) as new:
        figure.savefig(new, dpi=_DPI, format=path.suffix[1:].lower())
    plt.close(figure)


def write_frame(frame: pl.DataFrame, path: Path) -> None:
    """Write a frame as the end of the name says."""
    from tacit.io.opening import POLARS_ERRORS, first_line

    try:
        with working(f"writing {path}"), written_whole(path) as new:
            match path.suffix.lower():
                case ".csv":
                    _flat(frame).write_csv(new)
                case ".tsv":
                    _flat(frame).write_csv(new, separator="\t")
                case ".parquet":
                    frame.write_parquet(new)
                case _:
                    frame.write_ipc(new)
    except POLARS_ERRORS as error:
        raise FileError(path, f"cannot be written: {first_line(error)}") from error


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with lists of names as text, as CSV needs them."""
    from polars import List, selectors

    return frame.with_columns(selectors.by_dtype(List(str)).list.join(", "))


def write_frames(frames: Iterable[pl.DataFrame], path: Path | None) -> int:
    """Write frames one behind another, or print them as CSV as they come; return their length."""
    total, kept = 0, []
    for frame in frames:
        if path is None:
            typer.echo(frame.write_csv(include_header=not total), nl=False)
        else:
            kept.append(frame)
        total += frame.height
    if path is not None:
        import polars as pl

        write_frame(pl.concat(kept), path)
    return total
