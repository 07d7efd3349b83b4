"""``tacit show``: what is in a saved file, whatever it is."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path  # noqa: TC003 - Typer looks at annotations
from typing import Annotated, Any

import typer

from tacit import store
from tacit.cli.cluster import traits_json
from tacit.cli.output import make_console, print_json, put, working
from tacit.cli.render import facts_grid, summary_grid
from tacit.counts import ADTree
from tacit.table import Table

__all__ = ["register", "show"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(show)


def show(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.tacit", help="A saved table, tree of counts or model.")
    ],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what a saved file holds: a table's summary, a tree's size, a model in words.

    JSON: an object with kind, the name of a class. For a table also what `tacit summary` prints,
    for a tree its numbers, for a mixture clusters as `tacit cluster` prints them, for another model
    text.
    """
    with working(f"reading {file}"):
        found = store.load(file)
    if json:
        print_json({"kind": type(found).__name__} | _as_json(found))
        return
    console = make_console()
    console.print(f"{file}: {_line(found)}", soft_wrap=True)
    console.print()
    if isinstance(found, Table):
        put(console, summary_grid(found.summary()))
    elif isinstance(found, ADTree):
        put(console, facts_grid(found.stats().rows()))
    else:
        console.print(found.to_text(), soft_wrap=True)


def _line(found: Any) -> str:
    return " ".join(repr(found).split())


def _as_json(found: Any) -> dict[str, Any]:
    if isinstance(found, Table):
        return found.summary().as_dict()
    if isinstance(found, ADTree):
        numbers = asdict(found.stats())
        return {name: x if math.isfinite(x) else None for name, x in numbers.items()}
    if hasattr(found, "profile"):
        return {"clusters": [traits_json(traits) for traits in found.profile().traits()]}
    return {"text": found.to_text()}
