"""Options that several commands have: one name, one meaning, one help text."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Json",
    "Output",
    "Outputs",
    "RandomState",
    "Target",
    "Test",
    "TestFraction",
    "Top",
    "written_option",
]

written_option = partial(typer.Option, rich_help_panel="What is shown and written")

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Target = Annotated[str, typer.Option(help="The column to predict.")]
RandomState = Annotated[int, typer.Option(min=0, help="Seed of all random draws.")]
Test = Annotated[
    Path | None, typer.Option(metavar="FILE2", help="Other records to test on, read as FILE is.")
]
TestFraction = Annotated[
    float,
    typer.Option(min=0, max=1, help="The fraction of records to hold out and test on; 0 for none."),
]
Top = Annotated[int, written_option(min=1, help="How many to show, the best first.")]
Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="OUT", help="The file or folder to write.")
]
Outputs = Annotated[
    list[Path] | None,
    written_option(
        "--output",
        "-o",
        metavar="OUT",
        help="Write to a file; its ending says what, as listed above. Can be repeated.",
    ),
]
