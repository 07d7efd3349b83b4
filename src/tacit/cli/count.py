"""``tacit count``: how often combinations of labels occur."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.output import json_label, make_console, print_json, put
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import contingency_grid, number, occurring
from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.schema import Schema

__all__ = ["count", "parse_given", "register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(reads_file(count))


def count(
    source: Source,
    columns: Annotated[
        list[str] | None,
        typer.Argument(metavar="COLUMN", help="The columns to count, one or more."),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--given",
            "-g",
            metavar="COLUMN=LABEL",
            help="Count only records with this label; can be repeated. No label means missing.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Count the combinations of some columns' labels, or just the records that match.

    JSON: an object with columns (names), given (an object of labels by column), total (the number
    of matching records, or the sum of their weights) and counts, a list of objects with labels (one
    for each column) and count. Combinations that do not occur are left out. Missing is null; dates
    and times are text.
    """
    for text in given or ():
        if "=" not in text:
            raise typer.BadParameter(f"{text!r} is not COLUMN=LABEL", param_hint="--given")
    table = source.read()
    query = parse_given(table.schema, given or ())
    if columns:
        counts = table.contingency(columns, given=query)
        total = counts.total
    else:
        total = table.count(query)
    if json:
        cells = occurring(counts) if columns else [([], total)] if total else []
        print_json(
            {
                "columns": columns or [],
                "given": {name: json_label(label) for name, label in query.items()},
                "total": total,
                "counts": [
                    {"labels": [json_label(x) for x in labels], "count": n} for labels, n in cells
                ],
            }
        )
    elif columns:
        console = make_console()
        console.print(f"{' × '.join(columns)}, {number(total)} records")
        put(console, contingency_grid(counts))
    else:
        typer.echo(number(total))


def parse_given(schema: Schema, conditions: Sequence[str]) -> dict[str, Any]:
    """Turn texts like ``column=label`` into a query.

    >>> import tacit
    >>> schema = tacit.Table({"rain": [False, True], "x=y": [3, 4]}).schema
    >>> parse_given(schema, ["rain=True", "x=y=3"])
    {'rain': True, 'x=y': 3}
    """
    query: dict[str, Any] = {}
    for text in conditions:
        name, label = _split(schema, text)
        column = schema.column(schema.position(name, "--given"))
        if name in query:
            raise InputError(f"--given: column {name!r} is there twice")
        try:
            query[name] = column.labels[column.labels.code_of_text(label)]
        except KeyError:
            column.code(label)  # says which labels there are
            raise
    return query


def _split(schema: Schema, text: str) -> tuple[str, str]:
    """Cut at the first ``=`` that has a column's name before it; names may have one too."""
    parts = text.split("=")
    for k in range(1, len(parts)):
        name = "=".join(parts[:k])
        if name in schema.names:
            return name, "=".join(parts[k:])
    return parts[0], "=".join(parts[1:])
