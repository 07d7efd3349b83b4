"""``tacit count``: how often combinations of labels occur."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.options import Json
from tacit.cli.output import json_label, make_console, print_json, put
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import contingency_grid, contingency_title, interval, occurring
from tacit.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from tacit.counts import ContingencyTable, Counter
    from tacit.scale import PartitionedTable
    from tacit.schema import Column, Label, Schema

__all__ = [
    "COMMAND",
    "Given",
    "check_given",
    "count",
    "counts_json",
    "parse_given",
    "parse_label",
    "print_counts",
]

Given = Annotated[
    list[str] | None,
    typer.Option(
        "--given",
        "-g",
        metavar="COLUMN=LABEL",
        help="Count only records with this label; can be repeated. No label means missing.",
    ),
]


def count(
    source: Source,
    columns: Annotated[
        list[str] | None,
        typer.Argument(metavar="COLUMN", help="The columns to count, one or more."),
    ] = None,
    given: Given = None,
    json: Json = False,
) -> None:
    """Count the combinations of some columns' labels, or just the records that match.

    FILE can also be a tree that `tacit adtree` saved.

    JSON: an object with columns (names), given (an object of labels by column), total (the number
    of matching records, or the sum of their weights) and counts, a list of objects with labels (one
    for each column) and count. Combinations that do not occur are left out. Missing is null; dates
    and times are text. A tree without small counts gives each count a lower and an upper bound.

    Example: `tacit count visits.csv region news --given weather=True`
    """
    check_given(given)
    counter = source.counter()
    query = parse_given(counter.schema, given or ())
    if columns:
        counts = counter.table(columns, query)
        if json:
            print_json(counts_json(counts, query))
        else:
            print_counts(make_console(), counts)
        return
    total, *bounds = _count_query(counter, query)
    if json:
        cells = [_json_cell([], total, *bounds)] if max([total, *bounds]) > 0 else []
        print_json(_json_object([], query, total, cells))
    else:
        typer.echo(interval(total, *bounds))


def _count_query(counter: Counter | PartitionedTable, query: dict[str, Any]) -> list[int | float]:
    """Return how many records match, with both bounds where a tree knows no more than those."""
    if not query or getattr(counter, "exact", True):
        return [counter.count(query)]
    name, label = next(iter(query.items()))
    counts = counter.table([name], query)
    return [counts[label], *counts.interval(label)]


def counts_json(counts: ContingencyTable, query: dict[str, Any]) -> dict[str, Any]:
    """Return a table's counts as JSON has them."""
    cells = [_json_cell(*cell) for cell in occurring(counts)]
    return _json_object(list(counts.names), query, counts.total, cells)


def _json_object(
    columns: list[str], query: dict[str, Any], total: int | float, cells: list[dict[str, Any]]
) -> dict[str, Any]:
    given = {name: json_label(label) for name, label in query.items()}
    return {"columns": columns, "given": given, "total": total, "counts": cells}


def _json_cell(labels: Sequence[Any], count: int | float, *bounds: int | float) -> dict[str, Any]:
    cell = {"labels": [json_label(x) for x in labels], "count": count}
    return cell | dict(zip(("lower", "upper"), bounds, strict=False))


def print_counts(console: Console, counts: ContingencyTable) -> None:
    """Print a table's counts below a line that says what they are."""
    console.print(contingency_title(counts))
    put(console, contingency_grid(counts))


def check_given(given: Sequence[str] | None) -> None:
    """Refuse texts that cannot be a condition, before a file is read."""
    for text in given or ():
        if "=" not in text:
            raise typer.BadParameter(f"{text!r} is not COLUMN=LABEL", param_hint="--given")


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
        query[name] = parse_label(column, label)
    return query


def parse_label(column: Column, text: str) -> Label:
    """Return the label of a column that a text means."""
    try:
        return column.labels[column.labels.code_of_text(text)]
    except KeyError:
        column.code(text)  # says which labels there are
        raise


def _split(schema: Schema, text: str) -> tuple[str, str]:
    """Cut at the first ``=`` that has a column's name before it; names may have one too."""
    parts = text.split("=")
    for k in range(1, len(parts)):
        name = "=".join(parts[:k])
        if name in schema.names:
            return name, "=".join(parts[k:])
    return parts[0], "=".join(parts[1:])


COMMAND = reads_file(count, partitions=True)
