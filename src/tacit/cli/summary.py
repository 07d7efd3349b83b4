"""``tacit summary``: what a table looks like, in a few numbers."""

from __future__ import annotations

from typing import Annotated

import typer

from tacit.cli.options import Json
from tacit.cli.output import json_label, make_console, print_json, put
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import column_grid, column_rows, facts_grid

__all__ = ["COMMAND", "summary"]


def summary(
    source: Source,
    json: Json = False,
    columns: Annotated[bool, typer.Option("--columns", help="List the columns too.")] = False,
) -> None:
    """Report size, sparsity and memory of a table.

    JSON: an object with records, columns, stored, factor (null if nothing is stored), values,
    largest_arity, missing_columns, weighted, n_bytes and dense_bytes; with --columns also
    column_details, a list of objects with name, arity, default and default_fraction.

    Example: `tacit summary visits.csv --columns`
    """
    table = source.read_table()
    facts = table.summary()
    if json:
        data = facts.as_dict()
        if columns:
            data["column_details"] = [
                {
                    "name": name,
                    "arity": arity,
                    "default": json_label(default),
                    "default_fraction": fraction,
                }
                for name, arity, default, fraction in column_rows(table)
            ]
        print_json(data)
        return
    console = make_console()
    put(console, facts_grid(facts.rows()))
    if columns:
        console.print()
        put(console, column_grid(table))


COMMAND = reads_file(summary, partitions=True)
