"""``tacit count``: how often combinations of labels occur."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from tacit.cli.conditions import Given, check_given, json_given, parse_conditions
from tacit.cli.options import Json
from tacit.cli.output import echo, json_label, make_console, print_json, put
from tacit.cli.reading import Source, reads_file
from tacit.cli.render import contingency_grid, contingency_title, interval, occurring

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from tacit.counts import ADTree, ContingencyTable, Counter
    from tacit.scale import PartitionedTable

__all__ = ["COMMAND", "count", "counts_json", "print_counts"]


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

    JSON: an object with columns (names), given (an object by column: a label, a list of labels, or
    an object that says between which two, or what to exclude), total (the number of matching
    records, or the sum of their weights) and counts, a list of objects with labels (one for each
    column) and count. Combinations that do not occur are left out. Missing is null; dates and times
    are text. A tree without small counts gives each count a lower and an upper bound.

    Example: `tacit count visits.csv region news --given weather=True --given device!=phone`
    """
    check_given(given)
    counter = source.counter()
    query = parse_conditions(counter.schema, given or ())
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
        echo(interval(total, *bounds))


def _count_query(counter: Counter | PartitionedTable, query: dict[str, Any]) -> list[int | float]:
    """Return how many records match, with both bounds where a tree knows no more than those."""
    if not query or getattr(counter, "exact", True):
        return [counter.count(query)]
    tree = cast("ADTree", counter)
    return [tree.count(query), *tree.interval(query)]


def counts_json(counts: ContingencyTable, query: dict[str, Any]) -> dict[str, Any]:
    """Return a table's counts as JSON has them."""
    cells = [_json_cell(*cell) for cell in occurring(counts)]
    return _json_object(list(counts.names), query, counts.total, cells)


def _json_object(
    columns: list[str], query: dict[str, Any], total: int | float, cells: list[dict[str, Any]]
) -> dict[str, Any]:
    return {"columns": columns, "given": json_given(query), "total": total, "counts": cells}


def _json_cell(labels: Sequence[Any], count: int | float, *bounds: int | float) -> dict[str, Any]:
    cell = {"labels": [json_label(x) for x in labels], "count": count}
    return cell | dict(zip(("lower", "upper"), bounds, strict=False))


def print_counts(console: Console, counts: ContingencyTable) -> None:
    """Print a table's counts below a line that says what they are."""
    console.print(contingency_title(counts))
    put(console, contingency_grid(counts))


COMMAND = reads_file(count, partitions=True)
