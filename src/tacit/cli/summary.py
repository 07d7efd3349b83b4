"""``tacit summary``: what a table looks like, in a few numbers."""

from __future__ import annotations

from typing import Annotated

import typer

from tacit.cli.options import Json
from tacit.cli.output import json_label, make_console, print_json, put
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import column_grid, facts_grid

__all__ = ["COMMAND", "summary"]


def summary(
    source: Source,
    json: Json = False,
    columns: Annotated[bool, typer.Option("--columns", help="List the columns too.")] = False,
) -> None:
    """Report size, sparsity and memory of a table.

    JSON: an object with records, columns, stored, factor (null if nothing is stored), values,
    largest_arity, missing_columns, weighted, n_bytes and dense_bytes; with --columns also details,
    a list of objects with name, kind, labels, default, default_fraction, missing_fraction and
    reason (why it is of that kind).

    Example: `tacit summary visits.csv --columns`
    """
    table = source.read_table()
    facts = table.summary(columns=columns)
    if json:
        numbers = facts.as_dict()
        for detail, column in zip(numbers.get("details", ()), table.schema, strict=False):
            detail["default"] = json_label(column.default_label)
        print_json(numbers)
        return
    console = make_console()
    put(console, facts_grid(facts.rows()))
    if columns:
        console.print()
        put(console, column_grid(facts.details))


COMMAND = reads_file(summary, partitions=True)
