"""Where results, JSON and progress go."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext
from datetime import date, time
from math import isfinite
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from tacit.progress import Notes, show_notes
from tacit.terminal import STEERING, visible

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl
    from rich.console import RenderableType
    from rich.text import Text

    from tacit.schema import Label

__all__ = [
    "echo",
    "json_label",
    "json_rows",
    "json_text",
    "make_console",
    "notes_shown",
    "print_json",
    "print_written",
    "put",
    "working",
]

_UNLIMITED = 10_000  # so that a pipe gets each row of a table in one line


class _Plain(Console):
    """Prints names and labels as they are, with what would steer a terminal spelt out."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text to print, as everything that is laid out comes by here."""
        return super().render_str(visible(text), **options)


def echo(text: str, *, err: bool = False) -> None:
    """Print a line, with what would steer a terminal spelt out."""
    typer.echo(visible(text), err=err)


def make_console(*, piped_width: int = _UNLIMITED) -> Console:
    """Return a console on stdout that prints names and labels as they are."""
    console = _Plain()
    if not console.is_terminal:
        console.width = piped_width
    return console


def put(console: Console, grid: RenderableType) -> None:
    """Print something laid out in columns; a pipe gets it without blanks at the ends of lines."""
    if console.is_terminal:
        console.print(grid)
        return
    with console.capture() as captured:
        console.print(grid)
    lines = [line.rstrip() for line in captured.get().splitlines()]
    console.print("\n".join(lines), soft_wrap=True)


def print_written(console: Console, paths: Sequence[Path]) -> None:
    """Say which files were written, if any."""
    if paths:
        console.print(f"\nwritten: {', '.join(map(str, paths))}", soft_wrap=True)


def print_json(data: Any) -> None:
    """Print JSON in UTF-8, whatever the encoding of the terminal."""
    typer.echo(json_text(data).encode(), nl=False)


def json_text(data: Any) -> str:
    """Return JSON as it is printed; what would steer a terminal is in escapes of JSON."""
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    return STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"


def json_rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame for JSON, which has no infinite numbers: null stands for them."""
    return [
        {name: None if isinstance(x, float) and not isfinite(x) else x for name, x in row.items()}
        for row in frame.iter_rows(named=True)
    ]


def json_label(label: Label) -> str | int | float | bool | None:
    """Return a label as JSON has it: dates and times as text, missing as null."""
    if label is None or isinstance(label, str | int | float):
        return label
    return label.isoformat() if isinstance(label, date | time) else str(label)


class _Notes(Notes):
    """Names options as they are on the command line."""

    def say(self, message: str) -> None:
        """Print it as a note."""
        message = message.replace("set discretise= or kinds=", "set --discretise or --kinds")
        echo(f"note: {message}", err=True)


def notes_shown() -> AbstractContextManager[None]:
    """Show on stderr what the library logs about files, and about numbers that it cuts."""
    return show_notes(True, _Notes(), ("tacit.io",))


def working(message: str) -> AbstractContextManager[Any]:
    """Show on stderr that something is going on, if someone is looking."""
    console = _Plain(stderr=True)
    return console.status(message) if console.is_terminal else nullcontext()
