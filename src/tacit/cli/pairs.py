"""``tacit pairs``: which values go together."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from tacit.cli.options import Json, Top
from tacit.cli.output import make_console, print_json, put, working
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import number, pairs_grid

__all__ = ["COMMAND", "pairs"]


def pairs(
    source: Source,
    top: Top = 20,
    by: Annotated[
        Literal["leverage", "lift", "count"],
        typer.Option(
            help="Records beyond those expected, their ratio, or just how many there are."
        ),
    ] = "leverage",
    min_count: Annotated[
        float, typer.Option(min=0, help="Leave out pairs that occur less often.")
    ] = 1,
    json: Json = False,
) -> None:
    """List the pairs of values that go together most.

    Only values other than their column's default are paired. A value is called by its column if its
    label is True and it has no third, and else column=label.

    JSON: an object with records (their number, or the sum of their weights), by, and pairs, a list
    of objects with a, b, count, expected (if the two were independent), lift, and a_column,
    a_label, b_column and b_label; the strongest first.

    Example: `tacit pairs baskets.dat --top 10 --by lift --min-count 50`
    """
    table = source.read_table()
    with working(f"counting all pairs of {table.n_columns:,} columns"):
        counted = table.pairs(n_jobs=source.n_jobs)
        strongest = counted.strongest(top, by=by, min_count=min_count, detail=json)
    if json:
        print_json({"records": counted.total, "by": by, "pairs": strongest.to_dicts()})
        return
    console = make_console()
    console.print(f"The strongest pairs by {by}, {number(counted.total)} records")
    put(console, pairs_grid(strongest))


COMMAND = reads_file(pairs, partitions=True)
