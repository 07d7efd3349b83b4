"""``tacit show``: what is in a saved file, whatever it is."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

import tacit
from tacit.cli.options import Json
from tacit.cli.output import make_console, print_json, put, working
from tacit.cli.render import facts_grid

__all__ = ["COMMAND", "show"]


def show(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.tacit", help="A saved table, tree of counts or model.")
    ],
    json: Json = False,
) -> None:
    """Say what a saved file holds: a table's summary, a tree's size, a model in words.

    JSON: an object with kind, the name of a class. For a table also what `tacit summary` prints,
    for a tree its numbers, for a model of clusters these as `tacit cluster` prints them, for
    another model text.

    Example: `tacit show model.tacit`
    """
    with working(f"reading {file}"):
        saved = tacit.load(file)
    if json:
        print_json({"kind": type(saved).__name__} | _as_json(saved))
        return
    console = make_console()
    console.print(f"{file}: {_line(saved)}", soft_wrap=True)
    console.print()
    if isinstance(saved, tacit.Table):
        put(console, facts_grid(saved.summary().rows()))
    elif isinstance(saved, tacit.ADTree):
        put(console, facts_grid(saved.stats().rows()))
    else:
        console.print(saved.to_text(), soft_wrap=True)


def _line(saved: Any) -> str:
    return " ".join(repr(saved).split())


def _as_json(saved: Any) -> dict[str, Any]:
    if isinstance(saved, tacit.Table):
        return saved.summary().as_dict()
    if isinstance(saved, tacit.ADTree):
        numbers = asdict(saved.stats())
        return {name: x if math.isfinite(x) else None for name, x in numbers.items()}
    if hasattr(saved, "profile"):
        from tacit.cli.cluster import traits_json

        return {"clusters": [traits_json(traits) for traits in saved.profile().traits()]}
    return {"text": saved.to_text()}


COMMAND = show
